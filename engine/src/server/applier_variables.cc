#include "server/applier_variables.h"

#include "server/variable_definitions.h"

namespace commitd::server {
namespace {

// As in MySQL.
constexpr uint64_t kMostWorkers = 1024, kRetries = 10;

}  // namespace

void define_applier_variables(sql::SystemVariables& variables,
                              std::shared_ptr<binlog::CommitSettings> settings) {
  auto workers = variable("replica_parallel_workers", sql::VariableType::Integer,
                          Value::unsigned_integer(settings->parallel_workers));
  workers.max = kMostWorkers;
  workers.aliases = {"slave_parallel_workers"};
  workers.on_update = [settings = std::move(settings)](const Value& value) -> Status {
    settings->parallel_workers = value.as_uint();
    return {};
  };
  variables.define(std::move(workers));

  auto retries =
      variable("replica_transaction_retries", sql::VariableType::Integer, Value::unsigned_integer(kRetries));
  retries.aliases = {"slave_transaction_retries"};
  retries.warning = [](const Value&) -> std::string {
    return "The value is kept and has no effect: the applier takes no locks, so it meets neither deadlocks "
           "nor "
           "lock waits that run into their limit; on a full disk it goes on, without a limit, once there is "
           "room";
  };
  variables.define(std::move(retries));

  // Which transactions may go beside each other is found out by what they write, and their order is kept:
  // there is no other way to choose.
  auto type = choice("replica_parallel_type", {"LOGICAL_CLOCK", "DATABASE"});
  type.fixed = true;
  type.aliases = {"slave_parallel_type"};
  variables.define(std::move(type));
  auto order = variable("replica_preserve_commit_order", sql::VariableType::Boolean, Value::integer(1));
  order.fixed = true;
  order.aliases = {"slave_preserve_commit_order"};
  variables.define(std::move(order));
}

}  // namespace commitd::server
