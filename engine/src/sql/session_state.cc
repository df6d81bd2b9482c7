#include "sql/session_state.h"

#include "base/error_codes.h"

namespace commitd::sql {
SessionState::SessionState(ServerContext& server_of, uint32_t id)
    : server(server_of), connection_id(id), variables(*server_of.variables) {
  lock_owner.set_connection(id);
  table_locks.owner().set_connection(id);
  start_variables(nullptr);
}

void SessionState::set_up_diagnostics() {
  diagnostics.set_limit(settings.max_error_count);
  diagnostics.keep_notes(variables.boolean(kSqlNotes));
}

void SessionState::refresh_settings() {
  settings = settings_of(variables.values());
  set_up_diagnostics();
}

void SessionState::start_variables(const Collation* names) {
  variables.start(names);
  settings = variables.defaults().settings;
  if (settings.system_time_zone) settings.time_zone_offset = system_time_zone_offset();
  set_up_diagnostics();
}

void SessionState::refresh_account() {
  if (server.accounts == nullptr || server.accounts->version() == record_version) return;
  record_version = server.accounts->version();
  record = server.accounts->record_of(account);
}

bool SessionState::has_privilege(Privileges wanted) {
  refresh_account();
  return record != nullptr && (record->global & wanted) == wanted;
}

Status SessionState::require(Privileges wanted, std::string_view what) {
  if (has_privilege(wanted)) return {};
  return make_error(er::kSpecificAccessDenied,
                    "Access denied; you need (at least one of) the {} privilege(s) for this operation", what);
}

Status SessionState::require_on_database(std::string_view db, Privileges wanted) {
  refresh_account();
  if (record != nullptr && (record->on_database(db) & wanted) == wanted) return {};
  return make_error(er::kDbAccessDenied, "Access denied for user '{}'@'{}' to database '{}'", account.user,
                    account.host, db);
}

Status SessionState::require_on_table(std::string_view db, std::string_view table, Privileges wanted,
                                      std::string_view command) {
  refresh_account();
  if (record != nullptr && (record->on_table(db, table) & wanted) == wanted) return {};
  return make_error(er::kTableaccessDenied, "{} command denied to user '{}'@'{}' for table '{}'", command,
                    account.user, client_host, table);
}

}  // namespace commitd::sql
