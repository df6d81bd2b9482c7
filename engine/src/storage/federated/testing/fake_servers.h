// Other servers that answer from a list, for tests. They note what is asked of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "storage/federated/remote_server.h"

namespace commitd::storage::testing {

class FakeServers final : public RemoteServers {
 public:
  using Row = std::vector<std::optional<std::string>>;
  std::map<std::string, std::vector<Row>> answers;  // by statement
  std::map<std::string, Error> refusals;            // by statement, told as the server's error
  std::optional<Error> unreachable;
  int losses = 0;  // so many of the next SELECTs meet a connection that is gone
  int losses_behind_a_row = 0;
  std::vector<std::string> asked;  // "connect HOST", statements but for SET, "quit", "dropped"

  Task<Result<std::unique_ptr<RemoteConnection>>> connect(const RemoteTable& at, ConnectionData&) override {
    if (unreachable) co_return *unreachable;
    asked.push_back("connect " + at.host);
    std::unique_ptr<RemoteConnection> connection = std::make_unique<Connection>(*this);
    co_return std::move(connection);
  }

 private:
  class Connection final : public RemoteConnection {
   public:
    explicit Connection(FakeServers& servers) : servers_(servers) {}
    ~Connection() override {
      if (!ended_) servers_.asked.push_back("dropped");
    }

    Task<Status> query(std::string_view sql, RemoteRows& rows, std::chrono::milliseconds) override {
      const std::string statement(sql);
      if (statement.starts_with("SET ")) co_return Status();
      servers_.asked.push_back(statement);
      if (servers_.losses > 0) co_return lost(servers_.losses);
      if (const auto refused = servers_.refusals.find(statement); refused != servers_.refusals.end())
        co_return refused->second;
      usable_ = false;
      for (const Row& row : servers_.answers[statement]) {
        const std::vector<RemoteRows::Field> fields(row.begin(), row.end());
        COMMITD_CO_RETURN_IF_ERROR(rows.row(fields));
        if (servers_.losses_behind_a_row > 0) co_return lost(servers_.losses_behind_a_row);
      }
      usable_ = true;
      co_return Status();
    }
    bool usable() const override { return usable_; }
    void shutdown() override {}
    Task<void> quit() override {
      servers_.asked.push_back("quit");
      ended_ = true;
      co_return;
    }

   private:
    Error lost(int& count) {
      --count;
      usable_ = false;
      return Error{er::kClientServerLost, "Lost connection"};
    }

    FakeServers& servers_;
    bool usable_ = true, ended_ = false;
  };
};

}  // namespace commitd::storage::testing
