#include "storage/federated/federated_tables.h"

#include <map>
#include <tuple>
#include <utility>

#include "base/error_codes.h"

namespace commitd::storage {
namespace {

// Rows come as UTC, and literals mean the same everywhere, whatever the other server's settings are.
constexpr std::string_view kSettings = "SET time_zone = '+00:00', sql_mode = '', autocommit = 1";

// What one login reaches: its tables share a connection.
using Login = std::tuple<std::string, uint16_t, std::string, std::string>;

Login login_of(const RemoteTable& table) {
  return {table.host, table.port, table.user, table.password};
}

std::string quoted(const Error& error) {
  return fmt::format("error: {}  '{}'", error.code, error.message);
}

Error cannot_connect(const Error& why) {
  return make_error(er::kConnectToForeignDataSource, "Unable to connect to foreign data source: {}",
                    quoted(why));
}

bool is_missing_table(const Error& error) {
  return error.code == er::kNoSuchTable || error.code == er::kBadDb;
}

Error cannot_read(const Error& why) {
  if (is_missing_table(why)) {
    return make_error(
        er::kForeignDataSourceDoesntExist,
        "The foreign data source you are trying to reference does not exist. Data source error: "
        " {}",
        quoted(why));
  }
  return make_error(er::kQueryOnForeignDataSource,
                    "There was a problem processing the query on the foreign data source. Data source error: "
                    "{}",
                    quoted(why));
}

class NoRows final : public RemoteRows {
  Status row(std::span<const Field>) override { return {}; }
};

// Remembers what came of the rows that it passes on.
class PassedRows final : public RemoteRows {
 public:
  explicit PassedRows(RemoteRows& taker) : taker_(taker) {}
  Status row(std::span<const Field> fields) override {
    any_ = true;
    refused_ = taker_.row(fields);
    return refused_;
  }
  bool any() const { return any_; }
  const Status& refused() const { return refused_; }

 private:
  RemoteRows& taker_;
  bool any_ = false;
  Status refused_;
};

}  // namespace

struct FederatedTables::Connections final : ConnectionData::Part {
  std::map<Login, std::unique_ptr<RemoteConnection>> by_login;

  static Connections& of(ConnectionData& data) {
    if (data.federated == nullptr) data.federated = std::make_unique<Connections>();
    return static_cast<Connections&>(*data.federated);
  }
};

Task<Result<RemoteConnection*>> FederatedTables::connect(Connections& all, ConnectionData& data,
                                                         const RemoteTable& table,
                                                         const Patience& patience) const {
  if (servers_ == nullptr) co_return make_error(er::kConnectToForeignDataSource, "No server can be reached");
  auto made = co_await servers_->connect(table, data);
  if (!made.ok()) co_return cannot_connect(made.error());
  NoRows none;
  Status set;
  {
    const ConnectionData::Wait wait(data, [connection = made->get()] { connection->shutdown(); });
    set = co_await (*made)->query(kSettings, none, patience.read_timeout);
  }
  if (!set.ok()) co_return cannot_connect(set.error());
  RemoteConnection* connection = made->get();
  all.by_login[login_of(table)] = *std::move(made);
  co_return connection;
}

Task<Status> FederatedTables::read(ConnectionData& data, const RemoteTable& table, std::string_view select,
                                   RemoteRows& rows, const Patience& patience) const {
  Connections& all = Connections::of(data);
  for (;;) {
    const auto known = all.by_login.find(login_of(table));
    const bool kept = known != all.by_login.end();
    RemoteConnection* connection = kept ? known->second.get() : nullptr;
    if (!kept) {
      auto made = co_await connect(all, data, table, patience);
      if (!made.ok()) co_return std::move(made).error();
      connection = *made;
    }
    PassedRows passed(rows);
    Status status;
    {
      const ConnectionData::Wait wait(data, [connection] { connection->shutdown(); });
      if (patience.interrupted())
        co_return make_error(er::kQueryInterrupted, "Query execution was interrupted");
      status = co_await connection->query(select, passed, patience.read_timeout);
    }
    const bool usable = connection->usable();
    if (!usable) all.by_login.erase(login_of(table));
    if (status.ok() || !passed.refused().ok()) co_return status;
    // While it was idle the other server may have ended it.
    const bool lost = status.error().code == er::kClientServerLost && !patience.interrupted();
    if (kept && lost && !passed.any()) continue;
    co_return cannot_read(status.error());
  }
}

Task<void> FederatedTables::close(ConnectionData& data) {
  if (data.federated == nullptr) co_return;
  const auto connections = std::exchange(data.federated, nullptr);
  for (auto& [login, connection] : static_cast<Connections&>(*connections).by_login)
    co_await connection->quit();
}

}  // namespace commitd::storage
