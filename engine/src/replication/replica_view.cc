#include "replication/replica_view.h"

#include <algorithm>

#include "replication/moment_text.h"

namespace commitd::replication {
namespace {

using Text = std::optional<std::string>;
using sql::NamedValues;

constexpr uint64_t kSecond = kMicrosecondsPerSecond;

Text number(uint64_t value) {
  return std::to_string(value);
}
Text number(const std::optional<uint64_t>& value) {
  return value ? number(*value) : std::nullopt;
}
Text yes_or_no(bool yes) {
  return yes ? "Yes" : "No";
}
Text shouted(bool yes) {
  return yes ? "YES" : "NO";
}
Text on_or_off(bool on) {
  return on ? "ON" : "OFF";
}

// As SHOW REPLICA STATUS has it.
Text stamp(uint64_t microseconds) {
  return microseconds == 0 ? std::string() : formatted_moment("%y%m%d %H:%M:%S", microseconds);
}

Text moment(uint64_t microseconds) {
  return moment_text(microseconds);
}

std::string rules_of(const std::vector<std::string>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

void add_error(NamedValues& values, const std::optional<Error>& error, uint64_t at) {
  values.emplace_back("LAST_ERROR_NUMBER", number(error ? error->code : 0));
  values.emplace_back("LAST_ERROR_MESSAGE", error ? error->message : std::string());
  values.emplace_back("LAST_ERROR_TIMESTAMP", moment(error ? at : 0));
}

void add_transaction(NamedValues& values, const std::string& what, const ReceivedEntry& entry) {
  values.emplace_back(what, entry.gtid.to_string());
  values.emplace_back(what + "_ORIGINAL_COMMIT_TIMESTAMP", moment(entry.first_committed_at));
  values.emplace_back(what + "_IMMEDIATE_COMMIT_TIMESTAMP", moment(entry.committed_at));
}

ReceivedEntry entry_of(const binlog::GtidEvent& event) {
  ReceivedEntry entry;
  entry.gtid = event.gtid;
  entry.committed_at = event.immediate_commit_timestamp;
  entry.first_committed_at = event.original_commit_timestamp;
  return entry;
}

}  // namespace

bool ReplicaView::connects() const {
  return role.receiver.state == ReceiverState::Connecting || role.receiver.state == ReceiverState::Error;
}

// NULL where nothing can be said: MySQL's rule.
std::optional<uint64_t> ReplicaView::seconds_behind() const {
  if (!applier_runs()) return std::nullopt;
  if (role.log.unapplied == 0) return receives() ? std::optional<uint64_t>(0) : std::nullopt;
  if (!next || next->committed_at == 0) return 0;
  const auto behind = static_cast<int64_t>(now / kSecond) -
                      static_cast<int64_t>(next->committed_at / kSecond) - role.receiver.clock_difference;
  return static_cast<uint64_t>(std::max<int64_t>(behind, 0));
}

std::optional<uint64_t> ReplicaView::remaining_delay() const {
  if (!applier_runs() || !next || rule.delay == rule.delay.zero()) return std::nullopt;
  const uint64_t due = next->committed_at + static_cast<uint64_t>(rule.delay.count()) * kSecond;
  if (due <= now) return std::nullopt;
  return (due - now + kSecond - 1) / kSecond;
}

std::string ReplicaView::applier_state() const {
  if (!applier_runs()) return {};
  if (role.log.unapplied == 0) return "Replica has read all relay log; waiting for more updates";
  if (remaining_delay()) return "Waiting until SOURCE_DELAY seconds after source executed event";
  return "Applying batch of row changes";
}

std::string ReplicaView::until_condition() const {
  if (!until) return "None";
  using Kind = sql::ApplyUntil::Kind;
  switch (until->kind) {
    case Kind::BeforeGtids:
      return "SQL_BEFORE_GTIDS";
    case Kind::AfterGtids:
      return "SQL_AFTER_GTIDS";
    case Kind::SourcePlace:
      return "Source";
    case Kind::AfterGaps:
      return "SQL_AFTER_MTS_GAPS";
  }
  return "None";
}

ReplicaView::Place ReplicaView::read_place() const {
  if (!role.receiver.source_file.empty()) return {role.receiver.source_file, role.receiver.source_position};
  return role.source.options.auto_position ? Place{} : Place{stand.file, stand.position};
}

// With auto-position not known behind a restart, until something is applied.
ReplicaView::Place ReplicaView::executed_place() const {
  if (role.log.unapplied == 0 && role.receiver.all_is_logged)
    if (Place all = read_place(); !all.file.empty()) return all;
  if (last_applied) return {last_applied->source_file, last_applied->source_position};
  if (next) return {next->source_file, next->source_begin};
  return {};
}

std::string ReplicaView::source_uuid() const {
  const Uuid& uuid = role.source.source_uuid.is_nil() ? role.receiver.source_uuid : role.source.source_uuid;
  return uuid.is_nil() ? std::string() : uuid.to_string();
}

NamedValues ReplicaView::status() const {
  const sql::FollowTarget& source = role.source;
  if (source.host.empty()) return {};
  const ReceiverReport& receiver = role.receiver;
  const sql::SourceOptions& options = source.options;
  const std::optional<Error> stopped = apply_error();
  const Text applier_errno = number(stopped ? stopped->code : 0);
  const Text applier_error = stopped ? stopped->message : std::string();
  const Place executed = executed_place(), read = read_place();
  const Text empty = std::string();
  return {
      {"Replica_IO_State", receives()   ? "Waiting for source to send event"
                           : connects() ? "Connecting to source"
                                        : ""},
      {"Source_Host", source.host},
      {"Source_User", source.user},
      {"Source_Port", number(source.port)},
      {"Connect_Retry", number(options.connect_retry)},
      {"Source_Log_File", read.file},
      {"Read_Source_Log_Pos", number(read.position)},
      {"Relay_Log_File", relay_file},
      {"Relay_Log_Pos", number(relay_position)},
      {"Relay_Source_Log_File", executed.file},
      {"Replica_IO_Running", receives()   ? "Yes"
                             : connects() ? "Connecting"
                                          : "No"},
      {"Replica_SQL_Running", yes_or_no(applier_runs())},
      {"Replicate_Do_DB", rules_of(filter.do_db)},
      {"Replicate_Ignore_DB", rules_of(filter.ignore_db)},
      {"Replicate_Do_Table", rules_of(filter.do_table)},
      {"Replicate_Ignore_Table", rules_of(filter.ignore_table)},
      {"Replicate_Wild_Do_Table", rules_of(filter.wild_do_table)},
      {"Replicate_Wild_Ignore_Table", rules_of(filter.wild_ignore_table)},
      {"Last_Errno", applier_errno},
      {"Last_Error", applier_error},
      {"Skip_Counter", "0"},
      {"Exec_Source_Log_Pos", number(executed.position)},
      {"Relay_Log_Space", number(relay_bytes)},
      {"Until_Condition", until_condition()},
      {"Until_Log_File", until ? until->file : std::string()},
      {"Until_Log_Pos", number(until ? until->position : 0)},
      {"Source_SSL_Allowed", yes_or_no(options.tls)},
      {"Source_SSL_CA_File", options.ca},
      {"Source_SSL_CA_Path", options.ca_directory},
      {"Source_SSL_Cert", options.certificate},
      {"Source_SSL_Cipher", options.ciphers},
      {"Source_SSL_Key", options.key},
      {"Seconds_Behind_Source", number(seconds_behind())},
      {"Source_SSL_Verify_Server_Cert", yes_or_no(options.verify_server || !options.server_name.empty())},
      {"Last_IO_Errno", number(receiver.error ? receiver.error->code : 0)},
      {"Last_IO_Error", receiver.error ? receiver.error->message : std::string()},
      {"Last_SQL_Errno", applier_errno},
      {"Last_SQL_Error", applier_error},
      {"Replicate_Ignore_Server_Ids", empty},
      {"Source_Server_Id", number(receiver.source_server_id)},
      {"Source_UUID", source_uuid()},
      {"Source_Info_File", empty},
      {"SQL_Delay", number(options.delay)},
      {"SQL_Remaining_Delay", number(remaining_delay())},
      {"Replica_SQL_Running_State", applier_state()},
      {"Source_Retry_Count", number(options.retry_count)},
      {"Source_Bind", empty},
      {"Last_IO_Error_Timestamp", stamp(receiver.error ? receiver.error_at : 0)},
      {"Last_SQL_Error_Timestamp", stamp(stopped ? apply_error_at.value_or(0) : 0)},
      {"Source_SSL_Crl", options.revoked},
      {"Source_SSL_Crlpath", options.revoked_directory},
      {"Retrieved_Gtid_Set", role.log.logged.to_string()},
      {"Executed_Gtid_Set", role.log.executed.to_string()},
      {"Auto_Position", number(options.auto_position ? 1 : 0)},
      {"Replicate_Rewrite_DB", rewritten_databases_text(filter)},
      {"Channel_Name", empty},
      {"Source_TLS_Version", options.tls_versions},
      {"Source_public_key_path", options.public_key_path},
      {"Get_Source_public_key", number(options.get_public_key ? 1 : 0)},
      {"Network_Namespace", empty},
  };
}

std::vector<NamedValues> ReplicaView::rows(sql::ReplicationTable table) const {
  using Table = sql::ReplicationTable;
  if (table == Table::ApplierGlobalFilters) return filters;
  if (role.source.host.empty()) return {};
  switch (table) {
    case Table::ConnectionConfiguration:
      return {connection_configuration()};
    case Table::ConnectionStatus:
      return {connection_status()};
    case Table::ApplierConfiguration:
      return {{{"DESIRED_DELAY", number(role.source.options.delay)},
               {"PRIVILEGE_CHECKS_USER", std::nullopt},
               {"REQUIRE_ROW_FORMAT", "YES"},
               {"REQUIRE_TABLE_PRIMARY_KEY_CHECK", "STREAM"},
               {"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE", assigns_gtids_by()},
               {"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE", assigns_gtids_of()}}};
    case Table::ApplierStatus:
      return {applier_status()};
    case Table::ApplierStatusByWorker:
      return worker_status();
    case Table::ApplierFilters:
    case Table::ApplierGlobalFilters:
      return filters;
  }
  return {};
}

std::string ReplicaView::assigns_gtids_by() const {
  const std::string& assign = role.source.options.assign_gtids;
  return assign == "OFF" || assign == "LOCAL" ? assign : "UUID";
}

std::optional<std::string> ReplicaView::assigns_gtids_of() const {
  const sql::SourceOptions& options = role.source.options;
  if (!options.assigns_gtids()) return std::nullopt;
  return assigns_gtids_by() == "LOCAL" ? role.server_uuid.to_string() : options.assign_gtids;
}

NamedValues ReplicaView::connection_configuration() const {
  const sql::FollowTarget& source = role.source;
  const sql::SourceOptions& options = source.options;
  return {
      {"HOST", source.host},
      {"PORT", number(source.port)},
      {"USER", source.user},
      {"AUTO_POSITION", number(options.auto_position ? 1 : 0)},
      {"SSL_ALLOWED", shouted(options.tls)},
      {"SSL_CA_FILE", options.ca},
      {"SSL_CA_PATH", options.ca_directory},
      {"SSL_CERTIFICATE", options.certificate},
      {"SSL_CIPHER", options.ciphers},
      {"SSL_KEY", options.key},
      {"SSL_VERIFY_SERVER_CERTIFICATE", shouted(options.verify_server || !options.server_name.empty())},
      {"SSL_CRL_FILE", options.revoked},
      {"SSL_CRL_PATH", options.revoked_directory},
      {"CONNECTION_RETRY_INTERVAL", number(options.connect_retry)},
      {"CONNECTION_RETRY_COUNT", number(options.retry_count)},
      {"HEARTBEAT_INTERVAL", fmt::format("{:.3f}", options.heartbeat_milliseconds / 1000.0)},
      {"TLS_VERSION", options.tls_versions},
      {"PUBLIC_KEY_PATH", options.public_key_path},
      {"GET_PUBLIC_KEY", shouted(options.get_public_key)},
      {"COMPRESSION_ALGORITHM", "uncompressed"},
      {"TLS_CIPHERSUITES", options.ciphersuites.empty() ? std::nullopt : Text(options.ciphersuites)},
      {"SOURCE_CONNECTION_AUTO_FAILOVER", "0"},
      {"GTID_ONLY", number(options.auto_position ? 1 : 0)},
  };
}

NamedValues ReplicaView::connection_status() const {
  const ReceiverReport& receiver = role.receiver;
  NamedValues values = {
      {"SOURCE_UUID", source_uuid()},
      {"THREAD_ID", std::nullopt},
      {"SERVICE_STATE", receives()   ? Text("ON")
                        : connects() ? Text("CONNECTING")
                                     : Text("OFF")},
      {"COUNT_RECEIVED_HEARTBEATS", number(receiver.heartbeats)},
      {"LAST_HEARTBEAT_TIMESTAMP", moment(receiver.heartbeat_at)},
      {"RECEIVED_TRANSACTION_SET", role.log.logged.to_string()},
  };
  add_error(values, receiver.error, receiver.error_at);
  if (newest && newest->durable_at != 0) {
    add_transaction(values, "LAST_QUEUED_TRANSACTION", *newest);
    values.emplace_back("LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP", moment(newest->queued_at));
    values.emplace_back("LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP", moment(newest->durable_at));
  }
  return values;
}

NamedValues ReplicaView::applier_status() const {
  return {{"SERVICE_STATE", on_or_off(applier_runs())},
          {"REMAINING_DELAY", number(remaining_delay())},
          {"COUNT_TRANSACTIONS_RETRIES", "0"}};
}

// Number 0 takes everything into the engine, in order, and meets the errors; the others make writes for it.
std::vector<NamedValues> ReplicaView::worker_status() const {
  std::vector<NamedValues> rows = {
      {{"WORKER_ID", "0"}, {"THREAD_ID", std::nullopt}, {"SERVICE_STATE", on_or_off(applier_runs())}}};
  NamedValues& first = rows.front();
  add_error(first, apply_error(), apply_error_at.value_or(0));
  if (last_applied && !last_applied->gtid.empty())
    add_transaction(first, "LAST_APPLIED_TRANSACTION", *last_applied);
  if (next && (apply_error() || (applier_runs() && !remaining_delay())))
    add_transaction(first, "APPLYING_TRANSACTION", *next);
  for (size_t i = 0; i < workers.size(); ++i) rows.push_back(worker_status(i + 1, workers[i]));
  return rows;
}

NamedValues ReplicaView::worker_status(uint64_t number_of_worker, const binlog::AheadWorker& worker) const {
  NamedValues values = {{"WORKER_ID", number(number_of_worker)},
                        {"THREAD_ID", std::nullopt},
                        {"SERVICE_STATE", on_or_off(applier_runs())}};
  if (!worker.latest.gtid.empty()) {
    add_transaction(values, "LAST_APPLIED_TRANSACTION", entry_of(worker.latest));
    values.emplace_back("LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP", moment(worker.began_at));
    values.emplace_back("LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP", moment(worker.ended_at));
  }
  if (!worker.current.gtid.empty()) {
    add_transaction(values, "APPLYING_TRANSACTION", entry_of(worker.current));
    values.emplace_back("APPLYING_TRANSACTION_START_APPLY_TIMESTAMP", moment(worker.current_since));
  }
  return values;
}

}  // namespace commitd::replication
