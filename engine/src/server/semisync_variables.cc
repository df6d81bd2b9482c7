#include "server/semisync_variables.h"

#include <algorithm>

#include "base/error_codes.h"
#include "server/variable_definitions.h"

namespace commitd::server {
namespace {

using replication::OnSemisyncTimeout;
using replication::SemisyncPolicy;
using replication::WaitPoint;
using sql::VariableDefinition;
using sql::VariableType;

constexpr uint64_t kMostReplicas = 65535;

VariableDefinition boolean(std::string name, bool initial) {
  return variable(std::move(name), VariableType::Boolean, Value::integer(initial));
}

VariableDefinition number(std::string name, uint64_t initial, int64_t min, uint64_t max) {
  auto definition = variable(std::move(name), VariableType::Integer, Value::unsigned_integer(initial));
  definition.min = min;
  definition.max = max;
  return definition;
}

const std::vector<std::string>& timeout_choices() {
  static const std::vector<std::string> names = {"async", "block", "error"};
  return names;
}

const std::vector<std::string>& wait_points() {
  static const std::vector<std::string> names = {"AFTER_SYNC", "AFTER_COMMIT"};
  return names;
}

}  // namespace

struct SemisyncVariables::Names {
  std::string source, replica, wait_count, wait_no_replica;
};

void SemisyncVariables::connect(std::function<SemisyncPolicy()> in_force, std::function<void()> changed) {
  in_force_ = std::move(in_force);
  changed_ = std::move(changed);
}

Status SemisyncVariables::set(const std::string& name, const std::function<void(SemisyncPolicy&)>& store) {
  if (server_.instance != nullptr && server_.instance->serves_under_epochs()) {
    return make_error(
        er::kOptionPreventsStatement,
        "Variable '{}' belongs to the role of this server: ALTER INSTANCE PROMOTE and QUORUM say "
        "who has to acknowledge",
        name);
  }
  settings_->change(store);
  changed_();
  return {};
}

void SemisyncVariables::define_one(VariableDefinition definition,
                                   std::function<void(SemisyncPolicy&, const Value&)> store,
                                   std::function<Value(const SemisyncPolicy&)> read) {
  definition.on_update = [this, name = definition.name, store = std::move(store)](const Value& value) {
    return set(name, [&](SemisyncPolicy& policy) { store(policy, value); });
  };
  definition.read = [this, read = std::move(read)] { return read(in_force_()); };
  variables_.define(std::move(definition));
}

void SemisyncVariables::define() {
  define_under(
      {"rpl_semi_sync_source_", "rpl_semi_sync_replica_", "wait_for_replica_count", "wait_no_replica"});
  define_under({"rpl_semi_sync_master_", "rpl_semi_sync_slave_", "wait_for_slave_count", "wait_no_slave"});
  define_one(
      choice("commitd_semi_sync_on_timeout", timeout_choices()),
      [](SemisyncPolicy& policy, const Value& value) {
        const auto& names = timeout_choices();
        const auto found = std::find(names.begin(), names.end(), value.to_text());
        policy.on_timeout = static_cast<OnSemisyncTimeout>(found - names.begin());
      },
      [](const SemisyncPolicy& policy) {
        return Value::string(timeout_choices()[static_cast<size_t>(policy.on_timeout)]);
      });
}

void SemisyncVariables::define_under(const Names& names) {
  const SemisyncPolicy initial;
  define_one(
      boolean(names.source + "enabled", initial.enabled),
      [](SemisyncPolicy& policy, const Value& value) { policy.enabled = value.as_int() != 0; },
      [](const SemisyncPolicy& policy) { return Value::integer(policy.enabled); });
  define_one(
      number(names.source + names.wait_count, initial.wait_count, 1, kMostReplicas),
      [](SemisyncPolicy& policy, const Value& value) {
        policy.wait_count = static_cast<uint32_t>(value.as_uint());
      },
      [](const SemisyncPolicy& policy) { return Value::unsigned_integer(policy.wait_count); });
  define_one(
      number(names.source + "timeout", static_cast<uint64_t>(initial.timeout.count()), 0, UINT32_MAX),
      [](SemisyncPolicy& policy, const Value& value) {
        policy.timeout = std::chrono::milliseconds(value.as_uint());
      },
      [](const SemisyncPolicy& policy) {
        return Value::unsigned_integer(static_cast<uint64_t>(policy.timeout.count()));
      });
  define_one(
      boolean(names.source + names.wait_no_replica, initial.wait_no_replica),
      [](SemisyncPolicy& policy, const Value& value) { policy.wait_no_replica = value.as_int() != 0; },
      [](const SemisyncPolicy& policy) { return Value::integer(policy.wait_no_replica); });
  define_one(
      boolean(names.replica + "enabled", initial.replica_enabled),
      [](SemisyncPolicy& policy, const Value& value) { policy.replica_enabled = value.as_int() != 0; },
      [](const SemisyncPolicy& policy) { return Value::integer(policy.replica_enabled); });
  for (const auto& side : {names.source, names.replica})
    variables_.define(number(side + "trace_level", 32, 0, UINT32_MAX));

  define_one(
      choice(names.source + "wait_point", wait_points()),
      [](SemisyncPolicy& policy, const Value& value) {
        policy.wait_point =
            value.to_text() == wait_points().front() ? WaitPoint::AfterSync : WaitPoint::AfterCommit;
      },
      [](const SemisyncPolicy& policy) {
        return Value::string(wait_points()[static_cast<size_t>(policy.wait_point)]);
      });
}

}  // namespace commitd::server
