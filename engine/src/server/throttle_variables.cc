#include "server/throttle_variables.h"

#include "server/variable_definitions.h"

namespace commitd::server {
namespace {

constexpr uint64_t kYear = 31536000;

}  // namespace

void define_max_replica_lag(sql::SystemVariables& variables, std::shared_ptr<replication::LagLimit> limit,
                            std::function<void()> changed) {
  auto lag = variable("commitd_max_replica_lag", sql::VariableType::Real, Value::real(0));
  lag.max = kYear;
  lag.on_update = [limit = std::move(limit), changed = std::move(changed)](const Value& value) -> Status {
    *limit = value.as_double();
    changed();
    return {};
  };
  lag.warning = [](const Value& value) -> std::string {
    const double seconds = value.as_double();
    if (seconds <= 0 || seconds >= replication::kLeastLagLimit) return "";
    return fmt::format("A lag below {} s is not measured: that is the limit in force",
                       replication::kLeastLagLimit);
  };
  variables.define(std::move(lag));
}

}  // namespace commitd::server
