// The variables that every server has, with MySQL 8.4's defaults unless the design says otherwise. The first
// ones stand in the order of enum SessionVariable; those of the server's own options are defined in server/.
#include <algorithm>

#include <zlib.h>

#include "sql/expression/regular_expression.h"
#include "sql/variables/persisted_variables.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {
namespace {

using Type = VariableType;
using Scope = VariableScope;

const std::vector<std::string>& sql_modes() {
  // In the order of their bits. NO_…_OPTIONS are of MySQL 5.7, without effect: mysqldump --skip-opt of
  // MariaDB sets them.
  static const std::vector<std::string> names = {"REAL_AS_FLOAT",
                                                 "PIPES_AS_CONCAT",
                                                 "ANSI_QUOTES",
                                                 "IGNORE_SPACE",
                                                 "NOT_USED",
                                                 "ONLY_FULL_GROUP_BY",
                                                 "NO_UNSIGNED_SUBTRACTION",
                                                 "NO_DIR_IN_CREATE",
                                                 "NOT_USED_9",
                                                 "NOT_USED_10",
                                                 "NOT_USED_11",
                                                 "NOT_USED_12",
                                                 "NOT_USED_13",
                                                 "NO_KEY_OPTIONS",
                                                 "NO_TABLE_OPTIONS",
                                                 "NO_FIELD_OPTIONS",
                                                 "NOT_USED_17",
                                                 "NOT_USED_18",
                                                 "ANSI",
                                                 "NO_AUTO_VALUE_ON_ZERO",
                                                 "NO_BACKSLASH_ESCAPES",
                                                 "STRICT_TRANS_TABLES",
                                                 "STRICT_ALL_TABLES",
                                                 "NO_ZERO_IN_DATE",
                                                 "NO_ZERO_DATE",
                                                 "ALLOW_INVALID_DATES",
                                                 "ERROR_FOR_DIVISION_BY_ZERO",
                                                 "TRADITIONAL",
                                                 "NOT_USED_29",
                                                 "HIGH_NOT_PRECEDENCE",
                                                 "NO_ENGINE_SUBSTITUTION",
                                                 "PAD_CHAR_TO_FULL_LENGTH",
                                                 "TIME_TRUNCATE_FRACTIONAL"};
  return names;
}

VariableDefinition boolean(std::string name, Scope scope, bool initial,
                           std::vector<std::string> aliases = {}) {
  VariableDefinition definition;
  definition.name = std::move(name);
  definition.type = Type::Boolean;
  definition.scope = scope;
  definition.initial = Value::integer(initial);
  definition.aliases = std::move(aliases);
  return definition;
}

VariableDefinition number(std::string name, Scope scope, uint64_t initial, int64_t min, uint64_t max,
                          std::vector<std::string> aliases = {}) {
  VariableDefinition definition;
  definition.name = std::move(name);
  definition.type = Type::Integer;
  definition.scope = scope;
  definition.initial = Value::unsigned_integer(initial);
  definition.min = min;
  definition.max = max;
  definition.aliases = std::move(aliases);
  return definition;
}

// Kept where it is used.
VariableDefinition limit(std::string name, std::atomic<int32_t>& where, int64_t min, uint64_t max) {
  VariableDefinition definition =
      number(std::move(name), Scope::Global, static_cast<uint64_t>(where), min, max);
  definition.on_update = [&where](const Value& value) {
    where = static_cast<int32_t>(value.as_uint());
    return Status();
  };
  return definition;
}

// With fractions.
VariableDefinition seconds(std::string name, Scope scope, double initial, uint64_t max = 31536000) {
  VariableDefinition definition;
  definition.name = std::move(name);
  definition.type = Type::Real;
  definition.scope = scope;
  definition.initial = Value::real(initial);
  definition.max = max;
  return definition;
}

VariableDefinition text(std::string name, Scope scope, std::string initial,
                        std::vector<std::string> aliases = {}) {
  VariableDefinition definition;
  definition.name = std::move(name);
  definition.scope = scope;
  definition.initial = Value::string(std::move(initial));
  definition.aliases = std::move(aliases);
  return definition;
}

VariableDefinition no_text(std::string name, Scope scope) {  // NULL
  auto definition = text(std::move(name), scope, "");
  definition.initial = Value::null();
  return definition;
}

VariableDefinition choice(std::string name, Scope scope, std::string initial,
                          std::vector<std::string> choices, std::vector<std::string> aliases = {}) {
  auto definition = text(std::move(name), scope, std::move(initial), std::move(aliases));
  definition.type = Type::Enum;
  definition.choices = std::move(choices);
  return definition;
}

VariableDefinition read_only(VariableDefinition definition) {
  definition.dynamic = false;
  return definition;
}

// What its other values would ask for is not there.
VariableDefinition fixed(VariableDefinition definition) {
  definition.fixed = true;
  return definition;
}

// MySQL 8.4's. None of them changes an answer, and most are of strategies that commitd has not.
VariableDefinition optimizer_switch_variable() {
  auto definition = text("optimizer_switch", Scope::Both, "");
  definition.type = Type::Flags;
  constexpr std::string_view kOff[] = {"batched_key_access", "use_invisible_indexes", "subquery_to_derived",
                                       "hypergraph_optimizer"};
  definition.choices = {"index_merge",
                        "index_merge_union",
                        "index_merge_sort_union",
                        "index_merge_intersection",
                        "engine_condition_pushdown",
                        "index_condition_pushdown",
                        "mrr",
                        "mrr_cost_based",
                        "block_nested_loop",
                        "batched_key_access",
                        "materialization",
                        "semijoin",
                        "loosescan",
                        "firstmatch",
                        "duplicateweedout",
                        "subquery_materialization_cost_based",
                        "use_index_extensions",
                        "condition_fanout_filter",
                        "derived_merge",
                        "use_invisible_indexes",
                        "skip_scan",
                        "hash_join",
                        "subquery_to_derived",
                        "prefer_ordering_index",
                        "hypergraph_optimizer",
                        "derived_condition_pushdown",
                        "hash_set_operations"};
  std::string initial;
  for (const std::string& flag : definition.choices) {
    const bool off = std::ranges::find(kOff, flag) != std::end(kOff);
    initial += (initial.empty() ? "" : ",") + flag + (off ? "=off" : "=on");
  }
  definition.initial = Value::string(std::move(initial));
  return definition;
}

VariableDefinition sql_mode_variable() {
  auto definition = text("sql_mode", Scope::Both,
                         "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_"
                         "DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION");
  definition.type = Type::Set;
  definition.choices = sql_modes();
  definition.absent =
      sql_mode::kAllowInvalidDates | sql_mode::kTimeTruncateFractional | sql_mode::kPadCharToFullLength;
  definition.groups = {
      {"ANSI", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY"},
      {"TRADITIONAL",
       "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
       "NO_ENGINE_SUBSTITUTION"}};
  return definition;
}

constexpr uint64_t kMaxTimeout = 31536000;

std::vector<VariableDefinition> session_variables() {
  return {
      boolean("autocommit", Scope::Both, true),
      sql_mode_variable(),
      choice("transaction_isolation", Scope::Both, "REPEATABLE-READ",
             {"READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"}, {"tx_isolation"}),
      boolean("transaction_read_only", Scope::Both, false, {"tx_read_only"}),
      number("innodb_lock_wait_timeout", Scope::Both, 50, 1, 1073741824),
      text("character_set_client", Scope::Both, "utf8mb4"),
      text("character_set_connection", Scope::Both, "utf8mb4"),
      text("character_set_results", Scope::Both, "utf8mb4"),
      text("collation_connection", Scope::Both, "utf8mb4_general_ci"),
      text("time_zone", Scope::Both, "SYSTEM"),
      boolean("sql_log_bin", Scope::Session, true),
      number("max_allowed_packet", Scope::Both, 64u << 20, 1024, 1u << 30),
      number("wait_timeout", Scope::Both, 28800, 1, kMaxTimeout),
      boolean("sql_safe_updates", Scope::Both, false),
      number("insert_id", Scope::Session, 0, 0, UINT64_MAX),
      number("last_insert_id", Scope::Session, 0, 0, UINT64_MAX, {"identity"}),
      seconds("timestamp", Scope::Session, 0, INT32_MAX),
      boolean("foreign_key_checks", Scope::Both, true),
      boolean("unique_checks", Scope::Both, true),
      choice("session_track_gtids", Scope::Both, "OFF", {"OFF", "OWN_GTID", "ALL_GTIDS"}),
      number("group_concat_max_len", Scope::Both, 1024, 4, UINT64_MAX),
      number("auto_increment_increment", Scope::Both, 1, 1, 65535),
      number("auto_increment_offset", Scope::Both, 1, 1, 65535),
      number("max_execution_time", Scope::Both, 0, 0, UINT32_MAX),
      number("sql_select_limit", Scope::Both, UINT64_MAX, 0, UINT64_MAX),
      choice("binlog_row_image", Scope::Both, "FULL", {"MINIMAL", "NOBLOB", "FULL"}),
      text("gtid_next", Scope::Session, "AUTOMATIC"),
      number("pseudo_thread_id", Scope::Session, 0, 0, UINT32_MAX),
      number("net_write_timeout", Scope::Both, 60, 1, kMaxTimeout),
      number("net_read_timeout", Scope::Both, 30, 1, kMaxTimeout),
      number("interactive_timeout", Scope::Both, 28800, 1, kMaxTimeout),
      text("character_set_database", Scope::Both, "utf8mb4"),
      text("collation_database", Scope::Both, "utf8mb4_general_ci"),
      fixed(boolean("sql_quote_show_create", Scope::Both, true)),
      boolean("sql_notes", Scope::Both, true),
      fixed(text("lc_time_names", Scope::Both, "en_US")),
      text("default_storage_engine", Scope::Both, "ROCKS", {"storage_engine"}),
      fixed(boolean("explicit_defaults_for_timestamp", Scope::Both, true)),
      number("max_sort_length", Scope::Both, 1024, 4, 8388608),
      fixed(boolean("sql_auto_is_null", Scope::Both, false)),
      boolean("sql_require_primary_key", Scope::Both, false),
      boolean("sql_big_selects", Scope::Both, true),
      boolean("session_track_schema", Scope::Both, true),
      boolean("session_track_state_change", Scope::Both, false),
      text("session_track_system_variables", Scope::Both,
           "time_zone,autocommit,character_set_client,character_set_results,character_set_connection"),
      number("lock_wait_timeout", Scope::Both, kMaxTimeout, 1, kMaxTimeout),
      boolean("sql_log_off", Scope::Session, false),
      boolean("sql_buffer_result", Scope::Both, false),
      boolean("sql_warnings", Scope::Both, false),
      boolean("low_priority_updates", Scope::Both, false),
      number("max_join_size", Scope::Both, UINT64_MAX, 1, UINT64_MAX),
      choice("completion_type", Scope::Both, "NO_CHAIN", {"NO_CHAIN"}),
      number("information_schema_stats_expiry", Scope::Both, 86400, 0, kMaxTimeout),
      text("default_tmp_storage_engine", Scope::Both, "ROCKS"),
      // mysqlbinlog's output sets these; what has no effect here takes only the value that changes nothing.
      boolean("pseudo_replica_mode", Scope::Session, false, {"pseudo_slave_mode"}),
      number("max_delayed_threads", Scope::Both, 20, 0, 16384),
      number("check_constraint_checks", Scope::Session, 1, 1, 1),
      number("system_versioning_insert_history", Scope::Session, 0, 0, 0),
      text("collation_server", Scope::Both, "utf8mb4_general_ci"),
      seconds("long_query_time", Scope::Both, 10),
      number("min_examined_row_limit", Scope::Both, 0, 0, UINT32_MAX),
      number("max_error_count", Scope::Both, 1024, 0, 65535),
      choice("binlog_format", Scope::Both, "ROW", {"ROW"}),
      optimizer_switch_variable(),
  };
}

std::vector<VariableDefinition> global_variables() {
  return {
      read_only(text("version_comment", Scope::Global, "commitlab commitd")),
      read_only(text("version_compile_os", Scope::Global, "Linux")),
      read_only(text("version_compile_machine", Scope::Global, "x86_64")),
      read_only(text("protocol_version", Scope::Global, "10")),
      read_only(text("character_set_server", Scope::Global, "utf8mb4")),
      read_only(text("character_set_system", Scope::Global, "utf8mb3")),
      text("character_set_filesystem", Scope::Global, "binary"),
      read_only(number("lower_case_table_names", Scope::Global, 0, 0, 2)),
      read_only(text("license", Scope::Global, "Apache-2.0")),
      read_only(text("system_time_zone", Scope::Global, "UTC")),
      text("init_connect", Scope::Global, ""),
      read_only(boolean("log_bin", Scope::Global, true)),
      read_only(boolean("log_replica_updates", Scope::Global, true, {"log_slave_updates"})),
      read_only(choice("binlog_checksum", Scope::Global, "CRC32", {"NONE", "CRC32"})),
      read_only(choice("binlog_row_metadata", Scope::Global, "MINIMAL", {"MINIMAL", "FULL"})),
      read_only(choice("gtid_mode", Scope::Global, "ON", {"OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"})),
      read_only(choice("enforce_gtid_consistency", Scope::Global, "ON", {"OFF", "ON", "WARN"})),
      read_only(
          choice("thread_handling", Scope::Global, "reactor", {"reactor", "one-thread-per-connection"})),
      read_only(boolean("innodb_rollback_on_timeout", Scope::Global, false)),
      read_only(boolean("performance_schema", Scope::Global, true)),
      read_only(boolean("general_log", Scope::Global, false)),
      boolean("log_queries_not_using_indexes", Scope::Global, false),
      boolean("log_slow_admin_statements", Scope::Global, false),
      read_only(choice("log_output", Scope::Global, "FILE", {"FILE"})),
      read_only(boolean("event_scheduler", Scope::Global, false)),
      read_only(boolean("skip_networking", Scope::Global, false)),
      read_only(boolean("skip_name_resolve", Scope::Global, true)),
      read_only(boolean("large_files_support", Scope::Global, true)),
      read_only(boolean("old_passwords", Scope::Global, false)),
      read_only(boolean("partial_revokes", Scope::Global, false)),
      read_only(boolean("log_bin_trust_function_creators", Scope::Global, false)),
      read_only(text("log_error", Scope::Global, "stderr")),
      read_only(text("mandatory_roles", Scope::Global, "")),
      read_only(text("version_compile_zlib", Scope::Global, ZLIB_VERSION)),
      read_only(text("character_sets_dir", Scope::Global, "")),
      read_only(number("query_cache_size", Scope::Global, 0, 0, 0)),
      read_only(choice("query_cache_type", Scope::Global, "OFF", {"OFF"})),
      number("net_buffer_length", Scope::Global, 16384, 1024, 1048576),
      number("max_heap_table_size", Scope::Global, 16 << 20, 16384, UINT64_MAX),
      number("max_prepared_stmt_count", Scope::Global, 16382, 0, 4194304),
      limit("regexp_time_limit", regexp_time_limit, 0, INT32_MAX),
      limit("regexp_stack_limit", regexp_stack_limit, 0, INT32_MAX),
      boolean("local_infile", Scope::Global, false),
      read_only(no_text("secure_file_priv", Scope::Global)),
  };
}

}  // namespace

SystemVariables::~SystemVariables() = default;

SystemVariables::SystemVariables() : persisted_(std::make_unique<PersistedVariables>()) {
  for (auto& definition : session_variables()) define(std::move(definition));
  for (auto& definition : global_variables()) define(std::move(definition));
}

namespace {

uint64_t parse_modes(std::string_view modes) {
  const std::vector<std::string>& names = sql_modes();
  uint64_t out = 0;
  while (!modes.empty()) {
    auto comma = modes.find(',');
    std::string_view word = modes.substr(0, comma);
    modes = comma == std::string_view::npos ? std::string_view() : modes.substr(comma + 1);
    const auto found = std::find(names.begin(), names.end(), word);
    if (found != names.end()) out |= uint64_t{1} << (found - names.begin());
  }
  return out;
}

}  // namespace

// Sessions mostly have the mode of the one before.
uint64_t sql_mode::bits(std::string_view modes) {
  thread_local std::pair<std::string, uint64_t> last;
  if (last.first != modes) last = {std::string(modes), parse_modes(modes)};
  return last.second;
}

}  // namespace commitd::sql
