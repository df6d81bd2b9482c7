#include "replication/role_view.h"

namespace commitd::replication {
namespace {

using Text = std::optional<std::string>;

Text number(uint64_t value) {
  return std::to_string(value);
}
Text seconds(double value) {
  return fmt::format("{:.3f}", value);
}

Text yes_or_no(bool yes) {
  return yes ? "Yes" : "No";
}

}  // namespace

bool RoleView::writes_blocked() const {
  if (!writable || log.failure || !may_serve_clients || refuses_commits) return true;
  return acknowledgements.active &&
         acknowledgements.attached_voters.size() < acknowledgements.quorum.wait_count;
}

std::optional<Error> RoleView::applier_stopped() const {
  return log.failure ? log.failure : log.apply_error;
}

uint64_t RoleView::ack_waiting() const {
  return acknowledgements.active && acknowledgements.quorum.wait_count > 0 ? log.unapplied : 0;
}

std::optional<double> RoleView::seconds_since_heartbeat() const {
  if (!receiver.last_heard) return std::nullopt;
  return std::chrono::duration<double>(Clock::now() - *receiver.last_heard).count();
}

std::optional<std::string> RoleView::not_ready() const {
  if (log.failure) return log.failure->message;
  switch (role) {
    case Role::Uninitialized:
      return "there is no data yet";
    case Role::Undecided:
      return "no role has been given yet";
    case Role::Fenced:
      return "fenced";
    case Role::Replica:
      if (log.apply_error) return "the applier has stopped: " + log.apply_error->message;
      if (receiver.state == ReceiverState::Receiving) return std::nullopt;
      return fmt::format("the receiver is {}{}", receiver_state_name(receiver.state),
                         receiver.error ? ": " + receiver.error->message : std::string());
    case Role::Master:
    case Role::Standalone:
      if (!writes_blocked() || (super_read_only && !log.failure)) return std::nullopt;
      if (!may_serve_clients) return "too few members are heard for its lease";
      if (handed_over) return "its mastership is being handed over";
      if (log.apply_error) return "the applier has stopped: " + log.apply_error->message;
      if (role == Role::Standalone && !writable) return "received transactions are still being applied";
      return writable ? "too few members acknowledge" : "the epoch transaction is not acknowledged yet";
  }
  return std::nullopt;
}

sql::NamedValues RoleView::instance_row() const {
  const bool has_source = role == Role::Replica || receiver.state != ReceiverState::Off;
  const auto of_source = [&](std::string text) { return has_source ? Text(std::move(text)) : std::nullopt; };
  const double waiting =
      ack_waiting() > 0 ? std::chrono::duration<double>(log.oldest_unacknowledged).count() : 0;
  const auto heard = seconds_since_heartbeat();
  const sql::SemisyncTerms& terms = acknowledgements.quorum.terms;
  return {
      {"server_uuid", server_uuid.to_string()},
      {"server_id", number(server_id)},
      {"version", version},
      {"role", std::string(role_name(role))},
      {"epoch", number(epoch)},
      {"quorum_version", number(acknowledgements.quorum.version)},
      {"last_log_epoch", number(log.last_log_epoch)},
      {"gtid_executed", log.executed.to_string()},
      {"gtid_logged", log.logged.to_string()},
      {"wait_count", number(acknowledgements.quorum.wait_count)},
      {"members", join_uuids(acknowledgements.quorum.members)},
      {"semisync_clients", join_uuids(acknowledgements.attached_voters)},
      {"acked_members", join_uuids(acknowledgements.holders)},
      {"writes_blocked", number(writes_blocked() ? 1 : 0)},
      {"ack_waiting", number(ack_waiting())},
      {"ack_waiting_seconds", seconds(waiting)},
      {"source_uuid", of_source(source.source_uuid.to_string())},
      {"source_host", of_source(source.host)},
      {"source_port", of_source(std::to_string(source.port))},
      {"receiver_state", std::string(receiver_state_name(receiver.state))},
      {"receiver_error", receiver.error ? receiver.error->message : std::string()},
      {"seconds_since_heartbeat", heard ? seconds(*heard) : std::nullopt},
      {"unapplied_transactions", number(log.unapplied)},
      {"log_epoch_before", number(log_epoch_before)},
      {"gno_before", number(gno_before)},
      {"applier_state", applier_stopped() ? "error" : "running"},
      {"applier_error", applier_stopped() ? applier_stopped()->message : std::string()},
      {"semisync_timeout", number(static_cast<uint64_t>(terms.timeout.count()))},
      {"semisync_on_timeout", std::string(name_of(terms.on_timeout))},
      {"semisync_wait_point", std::string(name_of(terms.wait_point))},
      {"source_lease", number(static_cast<uint64_t>(terms.lease.count()))},
      {"lease_held", number(may_serve_clients ? 1 : 0)},
      {"handed_over", number(handed_over ? 1 : 0)},
      {"disk_bytes", number(surroundings.disk_bytes)},
      {"disk_free_bytes", number(surroundings.disk_free_bytes)},
      {"certificate_not_before", surroundings.certificate_not_before},
      {"certificate_not_after", surroundings.certificate_not_after},
  };
}

sql::NamedValues RoleView::replica_status() const {
  if (source.host.empty()) return {};
  const bool receiving = receiver.state == ReceiverState::Receiving;
  const bool running = receiver.state == ReceiverState::Connecting || receiver.state == ReceiverState::Error;
  const Text receiver_errno = number(receiver.error ? receiver.error->code : 0);
  const Text receiver_error = receiver.error ? receiver.error->message : std::string();
  const std::optional<Error> stopped = applier_stopped();
  const Text applier_errno = number(stopped ? stopped->code : 0);
  const Text applier_error = stopped ? stopped->message : std::string();
  const auto heard = seconds_since_heartbeat();
  const Text behind = stopped                           ? std::nullopt
                      : log.unapplied == 0 && receiving ? Text("0")
                      : heard                           ? Text(fmt::format("{:.0f}", *heard))
                                                        : std::nullopt;
  const Text empty = std::string();
  const sql::SourceOptions& options = source.options;
  const Uuid& source_uuid = source.source_uuid.is_nil() ? receiver.source_uuid : source.source_uuid;
  return {
      {"Replica_IO_State", receiving ? "Waiting for source to send event"
                           : running ? "Connecting to source"
                                     : ""},
      {"Source_Host", source.host},
      {"Source_User", source.user},
      {"Source_Port", number(source.port)},
      {"Connect_Retry", number(options.connect_retry)},
      {"Source_Log_File", receiver.source_file},
      {"Read_Source_Log_Pos", number(receiver.source_position)},
      {"Relay_Log_File", empty},
      {"Relay_Log_Pos", "0"},
      {"Relay_Source_Log_File", receiver.source_file},
      {"Replica_IO_Running", receiving ? "Yes"
                             : running ? "Connecting"
                                       : "No"},
      {"Replica_SQL_Running", stopped ? "No" : "Yes"},
      {"Replicate_Do_DB", empty},
      {"Replicate_Ignore_DB", empty},
      {"Replicate_Do_Table", empty},
      {"Replicate_Ignore_Table", empty},
      {"Replicate_Wild_Do_Table", empty},
      {"Replicate_Wild_Ignore_Table", empty},
      {"Last_Errno", applier_errno},
      {"Last_Error", applier_error},
      {"Skip_Counter", "0"},
      {"Exec_Source_Log_Pos", number(receiver.source_position)},
      {"Relay_Log_Space", "0"},
      {"Until_Condition", "None"},
      {"Until_Log_File", empty},
      {"Until_Log_Pos", "0"},
      {"Source_SSL_Allowed", yes_or_no(options.tls)},
      {"Source_SSL_CA_File", options.ca},
      {"Source_SSL_CA_Path", options.ca_directory},
      {"Source_SSL_Cert", options.certificate},
      {"Source_SSL_Cipher", options.ciphers},
      {"Source_SSL_Key", options.key},
      {"Seconds_Behind_Source", behind},
      {"Source_SSL_Verify_Server_Cert", yes_or_no(options.verify_server)},
      {"Last_IO_Errno", receiver_errno},
      {"Last_IO_Error", receiver_error},
      {"Last_SQL_Errno", applier_errno},
      {"Last_SQL_Error", applier_error},
      {"Replicate_Ignore_Server_Ids", empty},
      {"Source_Server_Id", number(receiver.source_server_id)},
      {"Source_UUID", source_uuid.is_nil() ? empty : Text(source_uuid.to_string())},
      {"Source_Info_File", empty},
      {"SQL_Delay", "0"},
      {"SQL_Remaining_Delay", std::nullopt},
      {"Replica_SQL_Running_State", stopped ? ""
                                    : log.unapplied == 0
                                        ? "Replica has read all relay log; waiting for more updates"
                                        : "Applying batch of row changes"},
      {"Source_Retry_Count", number(options.retry_count)},
      {"Source_Bind", empty},
      {"Last_IO_Error_Timestamp", empty},
      {"Last_SQL_Error_Timestamp", empty},
      {"Source_SSL_Crl", options.revoked},
      {"Source_SSL_Crlpath", options.revoked_directory},
      {"Retrieved_Gtid_Set", log.logged.to_string()},
      {"Executed_Gtid_Set", log.executed.to_string()},
      {"Auto_Position", number(options.auto_position ? 1 : 0)},
      {"Replicate_Rewrite_DB", empty},
      {"Channel_Name", empty},
      {"Source_TLS_Version", options.tls_versions},
      {"Source_public_key_path", options.public_key_path},
      {"Get_Source_public_key", number(options.get_public_key ? 1 : 0)},
      {"Network_Namespace", empty},
  };
}

}  // namespace commitd::replication
