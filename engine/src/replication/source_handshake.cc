#include "replication/source_handshake.h"

#include <charconv>
#include <ctime>
#include <limits>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/replication_error_codes.h"

namespace commitd::replication {
namespace {

constexpr auto kQueryTimeout = std::chrono::seconds(5);
constexpr uint16_t kFlagSecondHeartbeat = 2;

using Rows = std::vector<wire::Client::TextRow>;

Task<Result<Rows>> ask(wire::Client& client, std::string sql) {
  const Deadline deadline = Clock::now() + kQueryTimeout;
  co_return co_await client.query(sql, deadline);
}

Task<Result<std::string>> ask_one(wire::Client& client, std::string sql) {
  Result<Rows> rows = co_await ask(client, sql);
  if (!rows.ok()) co_return std::move(rows).error();
  if (rows->empty() || rows->front().empty()) {
    co_return make_error(er::kSourceFatalReadingBinlog, "The source answered '{}' with nothing", sql);
  }
  co_return rows->front().front().value_or("");
}

uint64_t as_number(const std::optional<std::string>& text) {
  uint64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

bool is_on(std::string_view value) {
  return value == "1" || value == "ON";
}

Task<Result<bool>> source_waits_for_acknowledgements(wire::Client& client) {
  for (const char* name : {"rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled"}) {
    Result<std::string> enabled = co_await ask_one(client, fmt::format("SELECT @@global.{}", name));
    if (enabled.ok()) co_return is_on(*enabled);
    if (enabled.error().code != er::kUnknownSystemVariable) co_return std::move(enabled).error();
  }
  co_return false;
}

// The log must be compared with, and continued from, the master of the very epoch that this server was told
// to follow.
Task<Status> ask_master_of_epoch(wire::Client& client, uint64_t epoch, SourceTraits& traits) {
  Result<Rows> rows = co_await ask(client,
                                   "SELECT gtid_logged, role, epoch, log_epoch_before, gno_before FROM "
                                   "performance_schema.commitd_instance");
  if (!rows.ok()) co_return std::move(rows).error();
  if (rows->size() != 1 || rows->front().size() != 5) {
    co_return make_error(er::kSourceFatalReadingBinlog, "The source does not tell its role");
  }
  const wire::Client::TextRow& row = rows->front();
  const std::string role = row[1].value_or("");
  const std::string its_epoch = row[2].value_or("");
  if (role != "master" || its_epoch != std::to_string(epoch)) {
    co_return make_error(er::kSourceFatalReadingBinlog,
                         "The source is {} in epoch {}; waiting for it to become the master of epoch {}",
                         role, its_epoch, epoch);
  }
  auto logged = GtidSet::parse(row[0].value_or(""));
  if (!logged.ok()) co_return std::move(logged).error();
  traits.logged = std::move(*logged);
  traits.log_epoch_before = as_number(row[3]);
  traits.gno_before = as_number(row[4]);
  co_return Status{};
}

// MariaDB has other GTIDs, and no UUID.
Status check_mariadb(const sql::SourceOptions& options) {
  if (options.auto_position)
    return make_error(er::kSourceFatalReadingBinlog,
                      "The source is a MariaDB, whose GTIDs are of another kind: it can be followed by "
                      "SOURCE_LOG_FILE and SOURCE_LOG_POS, with SOURCE_AUTO_POSITION = 0");
  if (!options.assigns_gtids())
    return make_error(er::kReplicaFatalError,
                      "Fatal error: The source is a MariaDB, whose transactions have no GTIDs that this "
                      "server could keep: set ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS to LOCAL or a UUID");
  return {};
}

// By file and position, a source without GTIDs needs somebody who gives them.
Task<Status> check_gtid_mode(wire::Client& client, const sql::SourceOptions& options) {
  Result<std::string> mode = co_await ask_one(client, "SELECT @@GLOBAL.GTID_MODE");
  if (!mode.ok()) co_return std::move(mode).error();
  if (*mode == "ON" || (!options.auto_position && options.assigns_gtids())) co_return Status{};
  if (!options.auto_position)
    co_return make_error(er::kReplicaFatalError,
                         "Fatal error: The replication receiver thread cannot start because the source has "
                         "GTID_MODE = {} and this server has GTID_MODE = ON.",
                         *mode);
  co_return make_error(er::kSourceFatalReadingBinlog, "The source has gtid_mode={}: set it to ON there",
                       *mode);
}

Task<Status> identify_source(wire::Client& client, const Receiver::Environment& environment,
                             const sql::FollowTarget& source, SourceTraits& traits) {
  const Uuid& expected = source.source_uuid;
  Result<std::string> version = co_await ask_one(client, "SELECT VERSION()");
  if (!version.ok()) co_return std::move(version).error();
  traits.commitd = version->ends_with("-commitd");
  traits.mariadb = version->find("MariaDB") != std::string::npos;
  Result<std::string> server_id = co_await ask_one(client, "SELECT @@GLOBAL.SERVER_ID");
  if (!server_id.ok()) co_return std::move(server_id).error();
  traits.server_id = static_cast<uint32_t>(as_number(*server_id));
  Result<std::string> clock = co_await ask_one(client, "SELECT UNIX_TIMESTAMP()");
  if (!clock.ok()) co_return std::move(clock).error();
  traits.clock_difference =
      static_cast<int64_t>(std::time(nullptr)) - static_cast<int64_t>(as_number(*clock));
  if (traits.mariadb) co_return check_mariadb(source.options);
  Result<std::string> uuid = co_await ask_one(client, "SELECT @@GLOBAL.SERVER_UUID");
  if (!uuid.ok()) co_return std::move(uuid).error();
  traits.uuid = Uuid::parse(*uuid).value_or(Uuid{});
  if (!expected.is_nil() && traits.uuid != expected) {
    co_return make_error(er::kSourceFatalReadingBinlog, "The server at this address is {}, not the source {}",
                         *uuid, expected.to_string());
  }
  if (traits.uuid == environment.server_uuid) {
    co_return make_error(er::kSourceFatalReadingBinlog,
                         "The source has this server's own UUID {}: remove auto.cnf on one of them", *uuid);
  }
  co_return co_await check_gtid_mode(client, source.options);
}

Task<Status> introduce_ourselves(wire::Client& client, const Receiver::Environment& environment,
                                 const Receiver::Target& target, SourceTraits& traits) {
  const std::optional<uint64_t> epoch = target.epoch;
  const auto period =
      std::chrono::nanoseconds(std::chrono::milliseconds(target.source.options.heartbeat_milliseconds))
          .count();
  std::vector<std::string> statements = {
      fmt::format("SET @master_heartbeat_period = {0}, @source_heartbeat_period = {0}", period),
      "SET @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = "
      "@@global.binlog_checksum",
      fmt::format("SET @slave_uuid = '{0}', @replica_uuid = '{0}'", environment.server_uuid.to_string()),
  };
  if (traits.semisync) statements.push_back("SET @rpl_semi_sync_replica = 1, @rpl_semi_sync_slave = 1");
  if (traits.commitd) statements.push_back("SET @commitd_reader = 1");
  if (epoch) statements.push_back(fmt::format("SET @commitd_epoch = {}", *epoch));
  for (const std::string& statement : statements) {
    Result<Rows> done = co_await ask(client, statement);
    if (!done.ok()) co_return std::move(done).error();
  }
  Result<std::string> checksum = co_await ask_one(client, "SELECT @source_binlog_checksum");
  if (!checksum.ok()) co_return std::move(checksum).error();
  traits.checksummed = *checksum == "CRC32";
  co_return Status{};
}

}  // namespace

GtidSet log_before_epoch(const SourceTraits& source) {
  GtidSet before = source.logged;
  before.subtract_interval(source.uuid, source.gno_before + 1, kMaxGno + 1);
  return before;
}

Task<Result<SourceTraits>> greet_source(wire::Client& client, const Receiver::Environment& environment,
                                        const Receiver::Target& target) {
  SourceTraits traits;
  COMMITD_CO_RETURN_IF_ERROR(co_await identify_source(client, environment, target.source, traits));
  if (traits.commitd || !environment.acknowledges) {
    traits.semisync = environment.acknowledges;
  } else {
    Result<bool> waits = co_await source_waits_for_acknowledgements(client);
    if (!waits.ok()) co_return std::move(waits).error();
    traits.semisync = *waits;
  }
  COMMITD_CO_RETURN_IF_ERROR(co_await introduce_ourselves(client, environment, target, traits));
  if (target.epoch) COMMITD_CO_RETURN_IF_ERROR(co_await ask_master_of_epoch(client, *target.epoch, traits));
  co_return traits;
}

std::string register_replica_payload(uint32_t server_id, uint16_t port) {
  std::string payload;
  ByteWriter writer(payload);
  writer.le32(server_id);
  writer.u8(0);  // host, user and password are not told
  writer.u8(0);
  writer.u8(0);
  writer.le16(port);
  writer.le32(0);  // rank
  writer.le32(0);  // the source's id: not known
  return payload;
}

std::string dump_gtid_payload(uint32_t server_id, const GtidSet& have) {
  std::string payload;
  ByteWriter writer(payload);
  writer.le16(kFlagSecondHeartbeat);
  writer.le32(server_id);
  writer.le32(0);  // no file name
  writer.le64(4);
  const std::string set = have.encode();
  writer.le32(static_cast<uint32_t>(set.size()));
  writer.bytes(set);
  return payload;
}

std::string dump_payload(uint32_t server_id, const SourceStand& from, bool mariadb) {
  std::string payload;
  ByteWriter writer(payload);
  // A larger place than the protocol can name is in no file either: the source says so.
  writer.le32(static_cast<uint32_t>(std::min<uint64_t>(from.position, std::numeric_limits<uint32_t>::max())));
  writer.le16(mariadb ? 0 : kFlagSecondHeartbeat);  // there it asks for events with the statements' texts
  writer.le32(server_id);
  writer.bytes(from.file);
  return payload;
}

}  // namespace commitd::replication
