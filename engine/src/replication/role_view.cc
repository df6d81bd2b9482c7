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
  return acknowledgements.active && acknowledgements.quorum.wait_count > 0 ? log.unapplied + log.shown : 0;
}

// Whoever is fenced still knows: nobody's lease was renewed by it since.
std::optional<double> RoleView::seconds_since_heartbeat() const {
  if (!receiver.last_heard) return std::nullopt;
  if (receiver.state == ReceiverState::Off && role != Role::Fenced) return std::nullopt;
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
      if (receiver.state == ReceiverState::Receiving)
        return offline.empty() ? std::nullopt : Text("clients are sent away: " + std::string(offline));
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
      {"offline", number(offline.empty() ? 0 : 1)},
      {"disk_bytes", number(surroundings.disk_bytes)},
      {"disk_free_bytes", number(surroundings.disk_free_bytes)},
      {"certificate_not_before", surroundings.certificate_not_before},
      {"certificate_not_after", surroundings.certificate_not_after},
      {"data_format", surroundings.data_format},
      {"tls_digest", surroundings.tls_digest},
      {"built_in_accounts", surroundings.built_in_accounts},
  };
}

}  // namespace commitd::replication
