#include "server/commit_variables.h"

#include <spdlog/spdlog.h>

#include "base/error_codes.h"
#include "server/thread_handling.h"
#include "server/variable_definitions.h"

namespace commitd::server {
namespace {

using binlog::CommitSettings;
using sql::VariableDefinition;
using sql::VariableType;
using storage::GtidSettings;

constexpr const char* kDurability = "commitd_durability";
constexpr const char* kPrepareCommitMutex = "commitd_prepare_commit_mutex";
constexpr const char* kOrderCommits = "binlog_order_commits";
constexpr const char* kFlushLog = "flush_log_at_trx_commit";
constexpr const char* kErrorAction = "binlog_error_action";
constexpr const char* kLogBin = "log_bin";
constexpr const char* kSyncBinlog = "sync_binlog";
constexpr const char* kLogReplicaUpdates = "log_replica_updates";
constexpr const char* kNothingToFlush =
    "The value is kept and has no effect: with commitd_durability=single_log the storage engine has no log "
    "that could be flushed";
constexpr uint64_t kLargestDelay = 1000000;

VariableDefinition on_by_default(const char* name, const std::shared_ptr<CommitSettings>& settings,
                                 std::atomic<bool> CommitSettings::*field) {
  auto definition = variable(name, VariableType::Boolean, Value::integer(1));
  definition.on_update = [settings, field](const Value& value) -> Status {
    settings.get()->*field = value.as_int() != 0;
    return {};
  };
  return definition;
}

// A way that MySQL once had beside ours.
template <class Settings>
VariableDefinition legacy_choice(const char* name, const char* ours, const char* legacy,
                                 const std::shared_ptr<Settings>& settings,
                                 std::atomic<bool> Settings::*field) {
  auto definition = choice(name, {ours, legacy});
  definition.on_update = [settings, field, legacy](const Value& value) -> Status {
    settings.get()->*field = value.to_text() == legacy;
    return {};
  };
  return definition;
}

bool is_on(const sql::SystemVariables& variables, const char* name) {
  return variables.global(name).as_int() != 0;
}

Error needs_xa(const char* name, const char* value, const char* why) {
  return make_error(er::kWrongValueForVar,
                    "Variable '{}' can't be set to the value of '{}': {}. It needs --commitd-durability=xa",
                    name, value, why);
}

Status check_mutex(bool on, const sql::SystemVariables& variables) {
  if (!on || uses_xa(variables)) return {};
  return needs_xa(kPrepareCommitMutex, "ON", "the only log cannot be serialised with a second one");
}

Status check_order(bool on, const sql::SystemVariables& variables) {
  if (on) return {};
  if (!uses_xa(variables)) {
    return needs_xa(kOrderCommits, "OFF",
                    "recovery rolls the storage engine forward from one position of the binary log, which "
                    "only means something when commits happen in its order");
  }
  return require_thread_per_connection(
      variables, kOrderCommits, "OFF",
      "each session's thread then waits for the storage engine's log itself");
}

Status check_error_action(bool ignore, bool xa) {
  if (!ignore || xa) return {};
  return needs_xa(kErrorAction, "IGNORE_ERROR", "without the binary log nothing would be durable");
}

// A server without the log writes none for its replicas either.
Status check_log(const sql::SystemVariables& variables) {
  const bool xa = uses_xa(variables);
  for (const char* name : {kLogBin, kLogReplicaUpdates}) {
    if (!is_on(variables, name) && !xa) return needs_xa(name, "OFF", "the binary log is the only log");
  }
  return {};
}

// What a member of a cluster acknowledges must survive a loss of power: a master that comes back with less
// would be taken for one that has everything.
Status check_sync(uint64_t period, const sql::ServerContext& server) {
  if (period == 1 || server.instance == nullptr || !server.instance->serves_under_epochs()) return {};
  return make_error(
      er::kWrongValueForVar,
      "Variable '{}' can't be set to the value of '{}': this server belongs to a cluster, where what "
      "it acknowledges must survive a loss of power. Only 1 is possible",
      kSyncBinlog, period);
}

// A number that goes into the settings.
template <class Settings>
VariableDefinition setting(std::string name, std::shared_ptr<Settings> settings,
                           std::atomic<uint64_t> Settings::*place, uint64_t max) {
  auto definition = variable(std::move(name), VariableType::Integer,
                             Value::unsigned_integer((settings.get()->*place).load()));
  definition.max = max;
  definition.on_update = [settings = std::move(settings), place](const Value& value) -> Status {
    (settings.get()->*place).store(value.as_uint());
    return {};
  };
  return definition;
}

VariableDefinition flush_setting(sql::SystemVariables& variables, std::shared_ptr<CommitSettings> settings) {
  auto definition = setting(kFlushLog, std::move(settings), &CommitSettings::flush_log_at_trx_commit, 2);
  definition.aliases = {"innodb_flush_log_at_trx_commit"};
  definition.warning = [&variables](const Value&) -> std::string {
    return uses_xa(variables) ? "" : kNothingToFlush;
  };
  return definition;
}

// A switch that only some modes allow. While options are read the mode may still be to come: `running` says
// that it is known.
VariableDefinition checked_switch(sql::SystemVariables& variables, const char* name, bool initial,
                                  std::shared_ptr<const bool> running,
                                  Status (*check)(bool on, const sql::SystemVariables&),
                                  std::function<void(bool)> store) {
  auto definition = variable(name, VariableType::Boolean, Value::integer(initial));
  definition.on_update = [&variables, running = std::move(running), check,
                          store = std::move(store)](const Value& value) -> Status {
    const bool on = value.as_int() != 0;
    if (*running) COMMITD_RETURN_IF_ERROR(check(on, variables));
    store(on);
    return {};
  };
  return definition;
}

}  // namespace

void CommitVariables::define() {
  auto durability = choice(kDurability, {"single_log", "xa"});
  durability.dynamic = false;
  variables_.define(std::move(durability));

  auto sync = setting(kSyncBinlog, settings_, &CommitSettings::sync_binlog, UINT32_MAX);
  sync.on_update = [this, store = std::move(sync.on_update)](const Value& value) -> Status {
    COMMITD_RETURN_IF_ERROR(check_sync(value.as_uint(), server_));
    return store(value);
  };
  variables_.define(std::move(sync));
  variables_.define(setting("binlog_group_commit_sync_delay", settings_,
                            &CommitSettings::sync_delay_microseconds, kLargestDelay));
  variables_.define(setting("binlog_group_commit_sync_no_delay_count", settings_,
                            &CommitSettings::sync_no_delay_count, kLargestDelay));
  variables_.define(
      setting("binlog_cache_size", settings_, &CommitSettings::transaction_cache_bytes, UINT64_MAX));
  variables_.define(flush_setting(variables_, settings_));
  variables_.define(checked_switch(variables_, kPrepareCommitMutex, false, running_, check_mutex,
                                   [settings = settings_](bool on) { settings->one_at_a_time = on; }));
  variables_.define(checked_switch(variables_, kOrderCommits, true, running_, check_order,
                                   [settings = settings_](bool on) { settings->order_commits = on; }));

  variables_.define(
      on_by_default("commitd_early_lock_release", settings_, &CommitSettings::early_lock_release));
  variables_.define(
      on_by_default("commitd_adaptive_group_commit", settings_, &CommitSettings::wait_for_others));

  variables_.define(
      legacy_choice("commitd_wakeup", "targeted", "broadcast", settings_, &CommitSettings::wake_everybody));
  variables_.define(legacy_choice("commitd_ack_wait", "pipelined", "in_commit_stage", settings_,
                                  &CommitSettings::acknowledged_in_turn));
  variables_.define(legacy_choice("commitd_relay_lock", "none", "log_lock", settings_,
                                  &CommitSettings::applier_takes_log_lock));
  variables_.define(legacy_choice("commitd_gtid_persister", "merged", "append_only", gtids_,
                                  &GtidSettings::persister_appends));
  variables_.define(
      setting("gtid_executed_compression_period", gtids_, &GtidSettings::compression_period, UINT32_MAX));

  auto error_action = choice(kErrorAction, {"IGNORE_ERROR", "ABORT_SERVER"});
  error_action.initial = Value::string("ABORT_SERVER");
  error_action.on_update = [this](const Value& value) -> Status {
    const bool ignore = value.to_text() == "IGNORE_ERROR";
    if (*running_) COMMITD_RETURN_IF_ERROR(check_error_action(ignore, uses_xa(variables_)));
    settings_->ignore_log_errors = ignore;
    return {};
  };
  variables_.define(std::move(error_action));
}

Status CommitVariables::check() {
  const bool xa = uses_xa(variables_);
  COMMITD_RETURN_IF_ERROR(check_mutex(is_on(variables_, kPrepareCommitMutex), variables_));
  COMMITD_RETURN_IF_ERROR(check_order(is_on(variables_, kOrderCommits), variables_));
  COMMITD_RETURN_IF_ERROR(
      check_error_action(variables_.global(kErrorAction).to_text() == "IGNORE_ERROR", xa));
  COMMITD_RETURN_IF_ERROR(check_log(variables_));
  if (!is_on(variables_, kLogBin))
    COMMITD_RETURN_IF_ERROR(variables_.set_at_start(kLogReplicaUpdates, "OFF"));
  if (!xa && variables_.global(kFlushLog).as_uint() != 1) spdlog::warn("{}: {}", kFlushLog, kNothingToFlush);
  *running_ = true;
  return {};
}

Status CommitVariables::check_for_clusters() const {
  return check_sync(settings_->sync_binlog, server_);
}

bool uses_xa(const sql::SystemVariables& variables) {
  return variables.global(kDurability).to_text() == "xa";
}

}  // namespace commitd::server
