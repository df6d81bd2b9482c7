// CHANGE REPLICATION SOURCE TO and FILTER; START, STOP and RESET REPLICA.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "base/error_codes.h"
#include "base/replication_error_codes.h"
#include "sql/administration/require_control.h"
#include "sql/ast/administration.h"
#include "sql/executor/statements.h"
#include "sql/instance_control.h"

namespace commitd::sql {
namespace {

constexpr uint64_t kLongestHeartbeat = 4294967;  // seconds
constexpr uint64_t kLongestDelay = INT32_MAX;    // seconds
constexpr uint64_t kFirstPosition = 4;           // in a log file

Status take(const ast::SourceOption& option, std::string& into) {
  into = option.text;
  return {};
}

Status take(const ast::SourceOption& option, bool& into) {
  into = option.number != 0;
  return {};
}

Status take(const ast::SourceOption& option, uint64_t& into) {
  into = option.number;
  return {};
}

Status take(const ast::SourceOption& option, uint32_t& into) {
  into = static_cast<uint32_t>(std::min<uint64_t>(option.number, std::numeric_limits<uint32_t>::max()));
  return {};
}

Status take_port(const ast::SourceOption& option, uint16_t& into) {
  if (option.number == 0 || option.number > UINT16_MAX)
    return make_error(er::kWrongArguments, "SOURCE_PORT must be from 1 to 65535");
  into = static_cast<uint16_t>(option.number);
  return {};
}

Status take_delay(const ast::SourceOption& option, uint32_t& into) {
  if (option.number > kLongestDelay)
    return make_error(er::kSourceDelayValueOutOfRange,
                      "The requested value {} for the source delay exceeds the maximum {}", option.number,
                      kLongestDelay);
  into = static_cast<uint32_t>(option.number);
  return {};
}

// Without any, a source that says nothing cannot be told from one that is lost.
Status take_heartbeat(const ast::SourceOption& option, uint32_t& into) {
  const double seconds = std::strtod(std::string(option.text).c_str(), nullptr);
  if (seconds > kLongestHeartbeat)
    return make_error(
        er::kReplicaHeartbeatValueOutOfRange,
        "The requested value for the heartbeat period is either negative or exceeds the maximum "
        "allowed ({} seconds).",
        kLongestHeartbeat);
  if (seconds == 0)
    return make_error(er::kNotSupportedYet,
                      "This version of MySQL doesn't yet support 'SOURCE_HEARTBEAT_PERIOD = 0'");
  into = static_cast<uint32_t>(std::max(1.0, std::ceil(seconds * 1000)));
  return {};
}

Status take_assigned_gtids(const ast::SourceOption& option, std::string& into) {
  const bool is_uuid = Uuid::parse(option.text).has_value();
  if (!is_uuid && option.text != "OFF" && option.text != "LOCAL")
    return make_error(er::kWrongValue, "Incorrect UUID value: '{}'", option.text);
  into = option.text;
  return {};
}

Status take_option(const ast::SourceOption& option, FollowTarget& target) {
  if (option.name == "SOURCE_HOST") return take(option, target.host);
  if (option.name == "SOURCE_USER") return take(option, target.user);
  if (option.name == "SOURCE_PASSWORD") return take(option, target.password);
  if (option.name == "SOURCE_PORT") return take_port(option, target.port);
  if (option.name == "SOURCE_DELAY") return take_delay(option, target.options.delay);
  if (option.name == "SOURCE_HEARTBEAT_PERIOD")
    return take_heartbeat(option, target.options.heartbeat_milliseconds);
  if (option.name == "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS")
    return take_assigned_gtids(option, target.options.assign_gtids);
  Status taken;
  visit_source_options(target.options, [&](std::string_view name, auto& value) {
    if (name == option.name) taken = take(option, value);
  });
  return taken;
}

bool names(const ast::ChangeSourceStatement& change, std::string_view option) {
  return std::any_of(change.options.begin(), change.options.end(),
                     [option](const ast::SourceOption& one) { return one.name == option; });
}

// What is not named stays, but for what cannot be true of another server.
Status change_target(const ast::ChangeSourceStatement& change, FollowTarget& target) {
  if (names(change, "SOURCE_HOST") || names(change, "SOURCE_PORT")) {
    target.source_uuid = Uuid{};
    target.options.log_file.clear();
    target.options.log_position = kFirstPosition;
  }
  const bool names_file = names(change, "SOURCE_LOG_FILE");
  if (names_file) target.options.log_position = kFirstPosition;
  for (const ast::SourceOption& option : change.options) COMMITD_RETURN_IF_ERROR(take_option(option, target));
  target.options.log_position = std::max(target.options.log_position, kFirstPosition);
  const bool names_place = names_file || names(change, "SOURCE_LOG_POS");
  if (names_place && target.options.auto_position)
    return make_error(
        er::kBadReplicaAutoPosition,
        "Parameters SOURCE_LOG_FILE, SOURCE_LOG_POS, RELAY_LOG_FILE and RELAY_LOG_POS cannot be "
        "set when SOURCE_AUTO_POSITION is active.");
  if (target.options.auto_position && target.options.assigns_gtids())
    return make_error(er::kCantCombineAnonymousToGtidAndAutoPosition,
                      "The options ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS = LOCAL|<UUID> and "
                      "SOURCE_AUTO_POSITION = 1 cannot be used together.");
  return {};
}

Result<std::optional<ApplyUntil>> until_place(const ast::ReplicaThreadStatement& statement) {
  if (statement.until_file.empty() || statement.until_position == 0)
    return make_error(er::kBadReplicaUntilCond,
                      "Incorrect parameter or combination of parameters for START REPLICA UNTIL");
  return std::optional(ApplyUntil{
      ApplyUntil::Kind::SourcePlace, {}, std::string(statement.until_file), statement.until_position});
}

Result<std::optional<ApplyUntil>> until_of(const ast::ReplicaThreadStatement& statement) {
  using Until = ast::ReplicaThreadStatement::Until;
  if (statement.until == Until::None) return std::optional<ApplyUntil>();
  if (statement.until == Until::AfterGaps) return std::optional(ApplyUntil{ApplyUntil::Kind::AfterGaps, {}});
  if (statement.until == Until::SourcePlace) return until_place(statement);
  auto gtids = GtidSet::parse(statement.until_gtids);
  if (!gtids)
    return make_error(er::kMalformedGtidSetSpecification, "Malformed GTID set specification '{}'.",
                      statement.until_gtids);
  const auto kind =
      statement.until == Until::BeforeGtids ? ApplyUntil::Kind::BeforeGtids : ApplyUntil::Kind::AfterGtids;
  return std::optional(ApplyUntil{kind, std::move(*gtids)});
}

Task<Result<OkInfo>> start_replica(SessionState& session, const ast::ReplicaThreadStatement& statement,
                                   ReplicaThreads threads) {
  auto until = until_of(statement);
  if (!until) co_return std::move(until).error();
  const bool has_until = until->has_value();
  auto begins = co_await session.server.instance->start_replica(threads, std::move(*until));
  if (!begins) co_return std::move(begins).error();
  if (has_until && !*begins) {
    session.diagnostics.warn(
        make_error(er::kUntilCondIgnored, "SQL thread is not to be started so UNTIL options are ignored"));
  }
  co_return OkInfo{};
}

Task<Result<OkInfo>> answer(Task<Status> task) {
  auto status = co_await task;
  if (!status.ok()) co_return std::move(status).error();
  co_return OkInfo{};
}

}  // namespace

Task<Result<OkInfo>> execute_change_source(SessionState& session,
                                           const ast::ChangeSourceStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_control(session));
  InstanceControl::SourceChange change = [&statement](FollowTarget& target) {
    return change_target(statement, target);
  };
  co_return co_await answer(session.server.instance->change_source(std::move(change)));
}

Task<Result<OkInfo>> execute_replica_thread(SessionState& session,
                                            const ast::ReplicaThreadStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_control(session));
  InstanceControl& instance = *session.server.instance;
  const ReplicaThreads threads{statement.receiver, statement.applier};
  if (statement.start) co_return co_await start_replica(session, statement, threads);
  co_return co_await answer(instance.stop_replica(threads));
}

Task<Result<OkInfo>> execute_reset_replica(SessionState& session,
                                           const ast::ResetReplicaStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_control(session));
  co_return co_await answer(session.server.instance->reset_replica(statement.all));
}

// A rule that is named is replaced, the others stay.
Task<Result<OkInfo>> execute_change_filter(SessionState& session,
                                           const ast::ChangeFilterStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(require_control(session));
  const auto change = [&statement](ReplicationFilter& filter) {
    for (const auto& rule : statement.rules) {
      const std::span values(statement.values.data() + rule.first, rule.end - rule.first);
      if (rule.name == kRewriteRule) {
        filter.rewrite_db.clear();
        for (size_t i = 0; i + 1 < values.size(); i += 2)
          filter.rewrite_db.emplace_back(values[i], values[i + 1]);
      }
      visit_replication_filter(filter, [&](std::string_view name, std::vector<std::string>& into) {
        if (name == rule.name) into.assign(values.begin(), values.end());
      });
    }
  };
  std::vector<std::string> rules;
  for (const auto& rule : statement.rules) rules.emplace_back(rule.name);
  co_return co_await answer(session.server.instance->change_filter(change, std::move(rules)));
}

}  // namespace commitd::sql
