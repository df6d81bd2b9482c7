#include "sql/session_settings.h"

#include <cmath>
#include <ctime>

#include "sql/expression/conversion.h"

namespace commitd::sql {
namespace {

bool boolean(std::span<const Value> values, SessionVariable variable) {
  return values[variable].as_int() != 0;
}
uint64_t number(std::span<const Value> values, SessionVariable variable) {
  return values[variable].as_uint();
}
std::string_view text(std::span<const Value> values, SessionVariable variable) {
  return values[variable].as_string();
}

void set_time_zone(SessionSettings& settings, std::string_view zone) {
  settings.system_time_zone = zone == "SYSTEM" || zone == "system";
  settings.time_zone_offset = parse_time_zone(zone).value_or(0);
}

void set_collations(SessionSettings& settings, std::span<const Value> values) {
  if (const Collation* found = find_collation(text(values, kCollationConnection)))
    settings.connection_collation = found->id;
  if (const CharsetInfo* charset = find_charset(text(values, kCharacterSetClient)))
    settings.client_collation = find_collation(charset->default_collation)->id;
}

}  // namespace

txn::Isolation isolation_of(std::string_view name) {
  if (name == "READ-UNCOMMITTED") return txn::Isolation::ReadUncommitted;
  if (name == "READ-COMMITTED") return txn::Isolation::ReadCommitted;
  if (name == "SERIALIZABLE") return txn::Isolation::Serializable;
  return txn::Isolation::RepeatableRead;
}

// Offsets change at whole quarters of an hour, so one answer of the C library, which looks through the zone's
// rules, does for the rest of it.
int32_t system_time_zone_offset() {
  constexpr std::time_t kQuarter = 15 * 60;
  static thread_local std::time_t known_quarter = -1;
  static thread_local int32_t offset = 0;
  const std::time_t now = std::time(nullptr);
  if (now / kQuarter == known_quarter) return offset;
  std::tm local{};
  localtime_r(&now, &local);
  known_quarter = now / kQuarter;
  offset = static_cast<int32_t>(local.tm_gmtoff);
  return offset;
}

std::optional<int32_t> parse_time_zone(std::string_view text) {
  if (text == "SYSTEM" || text == "system") return system_time_zone_offset();
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

SessionSettings settings_of(std::span<const Value> values) {
  SessionSettings settings;
  settings.autocommit = boolean(values, kAutocommit);
  settings.read_only = boolean(values, kTransactionReadOnly);
  settings.ship = boolean(values, kSqlLogBin);
  settings.sql_mode = sql_mode::bits(text(values, kSqlMode));
  settings.isolation = isolation_of(text(values, kTransactionIsolation));
  settings.lock_wait_timeout = std::chrono::seconds(number(values, kLockWaitTimeout));
  settings.table_lock_wait_timeout = std::chrono::seconds(number(values, kMetadataLockWaitTimeout));
  settings.select_limit = number(values, kSqlSelectLimit);
  if (!boolean(values, kSqlBigSelects)) settings.most_rows_examined = number(values, kMaxJoinSize);
  settings.auto_increment_increment = number(values, kAutoIncrementIncrement);
  settings.auto_increment_offset = number(values, kAutoIncrementOffset);
  settings.long_query_time =
      std::chrono::microseconds(std::llround(values[kLongQueryTime].as_double() * 1e6));
  settings.max_error_count = number(values, kMaxErrorCount);
  set_time_zone(settings, text(values, kTimeZone));
  set_collations(settings, values);
  return settings;
}

std::shared_ptr<const SessionDefaults> make_session_defaults(const SessionValues& globals,
                                                             const Collation* names) {
  auto defaults = std::make_shared<SessionDefaults>();
  defaults->values = globals;
  if (names != nullptr) {
    for (const size_t ordinal : {kCharacterSetClient, kCharacterSetConnection, kCharacterSetResults})
      defaults->values[ordinal] = Value::string(std::string(charset_info(names->charset).name));
    defaults->values[kCollationConnection] = Value::string(std::string(names->name));
  }
  defaults->settings = settings_of(defaults->values);
  return defaults;
}

}  // namespace commitd::sql
