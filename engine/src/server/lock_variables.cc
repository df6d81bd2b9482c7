#include "server/lock_variables.h"

#include "server/thread_handling.h"

namespace commitd::server {
namespace {

using txn::DeadlockPolicyName;

constexpr const char* kDetector = "commitd_deadlock_detector";
constexpr const char* kDetect = "innodb_deadlock_detect";

DeadlockPolicyName policy_of(const std::string& text) {
  if (text == "background") return DeadlockPolicyName::Background;
  if (text == "recursive") return DeadlockPolicyName::Recursive;
  return DeadlockPolicyName::Incremental;
}

// It blocks the thread it runs on, for long, and with it every session of a reactor.
Status check_threads(const sql::SystemVariables& variables, DeadlockPolicyName policy) {
  if (policy != DeadlockPolicyName::Recursive) return {};
  return require_thread_per_connection(variables, kDetector, "recursive",
                                       "it keeps every other thread out while it searches");
}

sql::VariableDefinition detector_variable(const sql::SystemVariables& variables,
                                          sql::ServerContext& context) {
  sql::VariableDefinition definition;
  definition.name = kDetector;
  definition.type = sql::VariableType::Enum;
  definition.initial = Value::string("incremental");
  definition.choices = {"incremental", "background", "recursive"};
  definition.on_update = [&](const Value& value) -> Status {
    txn::Services* services = context.transactions;
    if (services == nullptr) return {};  // lock_options() checks it
    const DeadlockPolicyName policy = policy_of(value.to_text());
    COMMITD_RETURN_IF_ERROR(check_threads(variables, policy));
    services->locks.set_deadlock_policy(policy);
    return {};
  };
  return definition;
}

sql::VariableDefinition detect_variable(sql::ServerContext& context) {
  sql::VariableDefinition definition;
  definition.name = kDetect;
  definition.aliases = {"deadlock_detect"};
  definition.type = sql::VariableType::Boolean;
  definition.initial = Value::integer(1);
  definition.on_update = [&context](const Value& value) -> Status {
    if (txn::Services* services = context.transactions)
      services->locks.set_deadlock_detect(value.as_int() != 0);
    return {};
  };
  return definition;
}

}  // namespace

void define_lock_variables(sql::SystemVariables& variables, sql::ServerContext& context) {
  variables.define(detector_variable(variables, context));
  variables.define(detect_variable(context));
}

Result<txn::LockManager::Options> lock_options(const sql::SystemVariables& variables) {
  txn::LockManager::Options options;
  options.deadlock_policy = policy_of(variables.global(kDetector).to_text());
  COMMITD_RETURN_IF_ERROR(check_threads(variables, options.deadlock_policy));
  options.detect_deadlocks = variables.global(kDetect).as_int() != 0;
  return options;
}

}  // namespace commitd::server
