#include "sql/session_state.h"

#include <cmath>
#include <ctime>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "sql/expression/conversion.h"

namespace commitd::sql {
namespace {

int32_t system_offset() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return static_cast<int32_t>(local.tm_gmtoff);
}

}  // namespace

txn::Isolation isolation_of(std::string_view name) {
  if (name == "READ-UNCOMMITTED") return txn::Isolation::ReadUncommitted;
  if (name == "READ-COMMITTED") return txn::Isolation::ReadCommitted;
  if (name == "SERIALIZABLE") return txn::Isolation::Serializable;
  return txn::Isolation::RepeatableRead;
}

std::optional<int32_t> parse_time_zone(std::string_view text) {
  if (text == "SYSTEM" || text == "system") return system_offset();
  if (text == "UTC" || text == "GMT") return 0;
  const size_t colon = text.find(':');
  if (text.size() < 5 || (text[0] != '+' && text[0] != '-') || colon == std::string_view::npos)
    return std::nullopt;
  const auto hours = static_cast<int32_t>(leading_integer(text.substr(1, colon - 1)));
  const auto minutes = static_cast<int32_t>(leading_integer(text.substr(colon + 1)));
  if (hours > 14 || minutes > 59) return std::nullopt;
  const int32_t offset = hours * 3600 + minutes * 60;
  return text[0] == '-' ? -offset : offset;
}

SessionState::SessionState(ServerContext& server_of, uint32_t id)
    : server(server_of), connection_id(id), variables(*server_of.variables) {
  lock_owner.set_connection(id);
  table_locks.owner().set_connection(id);
  if (server.transactions != nullptr) transaction.emplace(*server.transactions, lock_owner);
  refresh_settings();
}

void SessionState::refresh_settings() {
  settings.autocommit = variables.boolean(kAutocommit);
  settings.read_only = variables.boolean(kTransactionReadOnly);
  settings.ship = variables.boolean(kSqlLogBin);
  settings.sql_mode = sql_mode::bits(variables.text(kSqlMode));
  settings.isolation = isolation_of(variables.text(kTransactionIsolation));
  settings.lock_wait_timeout = std::chrono::seconds(variables.number(kLockWaitTimeout));
  settings.table_lock_wait_timeout = std::chrono::seconds(variables.number(kMetadataLockWaitTimeout));
  settings.select_limit = variables.number(kSqlSelectLimit);
  settings.auto_increment_increment = variables.number(kAutoIncrementIncrement);
  settings.auto_increment_offset = variables.number(kAutoIncrementOffset);
  settings.long_query_time =
      std::chrono::microseconds(std::llround(variables.get(kLongQueryTime).as_double() * 1e6));
  diagnostics.set_limit(variables.number(kMaxErrorCount));
  settings.time_zone_offset = parse_time_zone(variables.text(kTimeZone)).value_or(0);
  if (const Collation* found = find_collation(variables.text(kCollationConnection)))
    settings.connection_collation = found->id;
  if (const CharsetInfo* charset = find_charset(variables.text(kCharacterSetClient))) {
    settings.client_collation = find_collation(charset->default_collation)->id;
  }
}

void SessionState::refresh_account() {
  if (server.accounts == nullptr || server.accounts->version() == record_version) return;
  record_version = server.accounts->version();
  record = account.is_operator ? server.accounts->operator_record()
                               : server.accounts->record(account.user, account.host);
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
  constexpr uint16_t kTableAccessDenied = 1142;
  return make_error(kTableAccessDenied, "{} command denied to user '{}'@'{}' for table '{}'", command,
                    account.user, client_host, table);
}

}  // namespace commitd::sql
