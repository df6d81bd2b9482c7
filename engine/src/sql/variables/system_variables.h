// System variables: their names, types, ranges and global values. Sessions keep a SessionVariables beside it
// for what they may set themselves.
//
// Names are found in any case, with - or _, and by their aliases (the master/slave spellings, InnoDB's
// names). server/ defines further variables for its options before the first session starts; after that
// definitions do not change, values do.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/result.h"
#include "base/value.h"
#include "observe/mutex.h"

namespace commitd {
struct Collation;
}

namespace commitd::sql {

class PersistedVariables;  // persisted_variables.h
struct SessionDefaults;    // sql/session_settings.h

// Flags: a Set whose members are written as name=on, name=off or name=default.
enum class VariableType : uint8_t { Boolean, Integer, Real, String, Enum, Set, Flags };
enum class VariableScope : uint8_t { Global, Session, Both };

struct VariableDefinition {
  std::string name;
  VariableType type = VariableType::String;
  VariableScope scope = VariableScope::Global;
  bool dynamic = true;     // false: only at start (error 1238 afterwards)
  bool persistent = true;  // false: SET PERSIST is error 1238
  bool fixed = false;      // no value but the first one: 1231, for what others ask for is not there
  Value initial;
  int64_t min = 0;
  uint64_t max = UINT64_MAX;
  std::vector<std::string> choices;  // members of Enum, Set and Flags, in MySQL's order
  uint64_t absent = 0;  // Set: members (bits) that are refused, since what they ask for is not there
  bool refuses_what_is_absent() const { return fixed || absent != 0; }
  std::vector<std::pair<std::string, std::string>> groups;  // Set: members that stand for others, too
  std::vector<std::string> aliases;
  // Called with a checked value before it is taken, outside all locks; an error refuses the SET. Also called
  // for values given at start.
  std::function<Status(const Value&)> on_update;
  // The text of a warning that goes with a value of SET GLOBAL; empty: none.
  std::function<std::string(const Value&)> warning;
  // For variables whose value is computed (gtid_executed): read instead of the stored one.
  std::function<Value()> read;
};

// Where a variable's global value comes from, as performance_schema.variables_info says it.
struct VariableOrigin {
  enum class Source : uint8_t { Compiled, CommandLine, Persisted, Dynamic } source = Source::Compiled;
  uint64_t microseconds = 0;  // since 1970, of the SET
  std::string user, host;
};

class SystemVariables {
 public:
  SystemVariables();  // with everything that sessions know (definitions.cc)
  ~SystemVariables();

  // Adds a definition, or replaces the one with this name.
  void define(VariableDefinition definition);

  static constexpr size_t kNone = SIZE_MAX;
  size_t find(std::string_view name) const;  // ordinal, kNone when unknown
  const VariableDefinition& definition(size_t ordinal) const { return definitions_[ordinal]; }
  size_t count() const { return definitions_.size(); }
  std::vector<std::string> names() const;  // with aliases

  Value global(size_t ordinal) const;
  Value global(std::string_view name) const;  // must exist
  // What a session starts with; `names`: the collation its client asks for, none: that of the global values.
  std::shared_ptr<const SessionDefaults> session_defaults(const Collation* names) const;
  // SET GLOBAL. Errors: 1193 unknown, 1238 read only, 1228 session only, 1231 bad value, 1232 bad type.
  Status set_global(size_t ordinal, const Value& value);
  // SET PERSIST and mysqld-auto.cnf.
  PersistedVariables& persisted() { return *persisted_; }
  VariableOrigin origin(size_t ordinal) const;
  void set_origin(size_t ordinal, VariableOrigin origin);
  // A value from mysqld-auto.cnf, in SHOW VARIABLES' form.
  Status set_persisted(size_t ordinal, const std::string& text, VariableOrigin origin);

  Status reset_global(size_t ordinal) { return set_global(ordinal, definitions_[ordinal].initial); }
  // A value from the command line or an option file: also for variables that cannot be set later. 1193 when
  // unknown.
  Status set_at_start(std::string_view name, const std::string& text);

  // Checks and converts a value for a variable (ON/OFF/1/0, enum by name or number, ranges are clamped as in
  // MySQL). `before`: what Flags that are not named keep.
  Result<Value> convert(size_t ordinal, const Value& value, const Value& before) const;
  // As SHOW VARIABLES prints it: ON/OFF for Boolean.
  std::string to_text(size_t ordinal, const Value& value) const;

 private:
  static Result<Value> convert_to_type(const VariableDefinition& variable, const Value& value,
                                       const Value& before);
  Status store(size_t ordinal, const Value& value);
  Status store_text(size_t ordinal, const std::string& text);

  std::vector<VariableDefinition> definitions_;
  std::unordered_map<std::string, size_t> by_name_;  // names and aliases, lower case with _
  // Guards values_.
  mutable observe::Mutex mutex_{"wait/synch/mutex/sql/LOCK_global_system_variables"};
  std::vector<Value> values_;
  std::vector<VariableOrigin> origins_;  // also guarded by mutex_
  // Made of values_ as they are, by the collation's number (0: none); also guarded by mutex_.
  mutable absl::flat_hash_map<uint16_t, std::shared_ptr<const SessionDefaults>> session_defaults_;
  std::unique_ptr<PersistedVariables> persisted_;
};

// Ordinals of the variables that sessions read on every statement; the order is that of definitions.cc.
enum SessionVariable : size_t {
  kAutocommit,
  kSqlMode,
  kTransactionIsolation,
  kTransactionReadOnly,
  kLockWaitTimeout,
  kCharacterSetClient,
  kCharacterSetConnection,
  kCharacterSetResults,
  kCollationConnection,
  kTimeZone,
  kSqlLogBin,
  kMaxAllowedPacket,
  kWaitTimeout,
  kSqlSafeUpdates,
  kInsertId,
  kLastInsertId,
  kTimestamp,
  kForeignKeyChecks,
  kUniqueChecks,
  kSessionTrackGtids,
  kGroupConcatMaxLen,
  kAutoIncrementIncrement,
  kAutoIncrementOffset,
  kMaxExecutionTime,
  kSqlSelectLimit,
  kBinlogRowImage,
  kGtidNext,
  kPseudoThreadId,
  kNetWriteTimeout,
  kNetReadTimeout,
  kInteractiveTimeout,
  kCharacterSetDatabase,
  kCollationDatabase,
  kSqlQuoteShowCreate,
  kSqlNotes,
  kLcTimeNames,
  kDefaultStorageEngine,
  kExplicitDefaultsForTimestamp,
  kMaxSortLength,
  kSqlAutoIsNull,
  kSqlRequirePrimaryKey,
  kSqlBigSelects,
  kSessionTrackSchema,
  kSessionTrackStateChange,
  kSessionTrackSystemVariables,
  kMetadataLockWaitTimeout,
  kSqlLogOff,
  kSqlBufferResult,
  kSqlWarnings,
  kLowPriorityUpdates,
  kMaxJoinSize,
  kCompletionType,
  kInformationSchemaStatsExpiry,
  kDefaultTmpStorageEngine,
  kPseudoReplicaMode,
  kMaxDelayedThreads,
  kCheckConstraintChecks,
  kSystemVersioningInsertHistory,
  kCollationServer,
  kLongQueryTime,
  kMinExaminedRowLimit,
  kMaxErrorCount,
  kBinlogFormat,
  kOptimizerSwitch,
  kSessionVariableCount
};

using SessionValues = std::array<Value, kSessionVariableCount>;

// One session's values: the global ones as of its start, then what SET SESSION changed. Those of sessions
// that change none are shared.
class SessionVariables {
 public:
  explicit SessionVariables(SystemVariables& system) : system_(system) { start(nullptr); }

  void start(const Collation* names);  // also COM_RESET_CONNECTION, COM_CHANGE_USER
  bool are_defaults() const { return own_ == nullptr; }
  const SessionDefaults& defaults() const { return *defaults_; }
  const SessionValues& values() const { return *values_; }
  const Value& get(size_t ordinal) const { return (*values_)[ordinal]; }
  Value read(size_t ordinal) const;  // session value; the global one where there is no session value
  Status set(size_t ordinal, const Value& value);

  bool boolean(SessionVariable variable) const { return get(variable).as_int() != 0; }
  uint64_t number(SessionVariable variable) const { return get(variable).as_uint(); }
  const std::string& text(SessionVariable variable) const { return get(variable).as_string(); }

 private:
  SystemVariables& system_;
  std::shared_ptr<const SessionDefaults> defaults_;
  std::unique_ptr<SessionValues> own_;  // once one was set
  const SessionValues* values_ = nullptr;
};

// The bits of sql_mode that the binlog and the executor use, as MySQL numbers them.
namespace sql_mode {
inline constexpr uint64_t kRealAsFloat = 1u << 0, kPipesAsConcat = 1u << 1, kAnsiQuotes = 1u << 2,
                          kIgnoreSpace = 1u << 3, kOnlyFullGroupBy = 1u << 5,
                          kNoUnsignedSubtraction = 1u << 6, kNoDirInCreate = 1u << 7,
                          kNoAutoValueOnZero = 1u << 19, kNoBackslashEscapes = 1u << 20,
                          kStrictTransTables = 1u << 21, kStrictAllTables = 1u << 22,
                          kNoZeroInDate = 1u << 23, kNoZeroDate = 1u << 24,
                          kErrorForDivisionByZero = 1u << 26, kHighNotPrecedence = 1u << 29,
                          kNoEngineSubstitution = 1u << 30, kPadCharToFullLength = 1ull << 31,
                          kAllowInvalidDates = 1u << 25, kTimeTruncateFractional = 1ull << 32;
uint64_t bits(std::string_view text);
}  // namespace sql_mode

}  // namespace commitd::sql
