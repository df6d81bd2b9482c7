// Values of session variables in the form in which statements use them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/charset/collation.h"
#include "sql/variables/system_variables.h"
#include "txn/transaction.h"

namespace commitd::sql {

// Refreshed when a variable is SET.
struct SessionSettings {
  bool autocommit = true;
  bool read_only = false;
  bool ship = true;  // sql_log_bin
  uint64_t sql_mode = 0;
  txn::Isolation isolation = txn::Isolation::RepeatableRead;
  std::chrono::seconds lock_wait_timeout{50};
  std::chrono::seconds table_lock_wait_timeout{31536000};
  uint64_t select_limit = UINT64_MAX;
  uint64_t most_rows_examined = UINT64_MAX;  // max_join_size, unless sql_big_selects is ON
  uint64_t auto_increment_increment = 1, auto_increment_offset = 1;
  int32_t time_zone_offset = 0;   // seconds east of UTC
  bool system_time_zone = false;  // whose offset changes by itself
  std::chrono::microseconds long_query_time{10'000'000};
  size_t max_error_count = 1024;
  uint16_t connection_collation = 45, client_collation = 45;

  bool strict() const {
    return (sql_mode & (sql_mode::kStrictTransTables | sql_mode::kStrictAllTables)) != 0;
  }
};

// Made of the values of the first kSessionVariableCount variables.
SessionSettings settings_of(std::span<const Value> values);

// What sessions start with: the global values as of some moment. Those that start with the same share it.
struct SessionDefaults {
  SessionValues values;
  SessionSettings settings;
};
// `names`: the collation whose SET NAMES has been executed; none: that of the values.
std::shared_ptr<const SessionDefaults> make_session_defaults(const SessionValues& globals,
                                                             const Collation* names);

// By the name that transaction_isolation has for it.
txn::Isolation isolation_of(std::string_view name);

// Offset in seconds of "+02:00", "SYSTEM" or "UTC"; nullopt when it is not known.
std::optional<int32_t> parse_time_zone(std::string_view text);
int32_t system_time_zone_offset();

}  // namespace commitd::sql
