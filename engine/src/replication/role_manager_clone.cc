// What a role says about CLONE INSTANCE, which replaces the data of this server.
#include "base/error_codes.h"
#include "replication/role_manager.h"

namespace commitd::replication {
namespace {

Error disallowed(std::string_view when) {
  return make_error(er::kCloneDisallowed, "The clone operation cannot be executed when {}.", when);
}

}  // namespace

// A promise of this epoch's mastership would be good for data that it was not given for.
Status RoleManager::check_data_may_go() const {
  const Role now = role();
  // Who has diverged follows nobody any more, and is shown as fenced.
  if (now == Role::Replica && receiver_.report().state != ReceiverState::Diverged)
    return disallowed("this server is a replica: STOP REPLICA, or FENCE, comes first");
  const RoleState promised = state();
  if (now == Role::Master || (promised.epoch > 0 && promised.grant == Grant::Master))
    return disallowed("this server is the master of its epoch: FENCE with a higher one comes first");
  return {};
}

Task<Status> RoleManager::give_up_data(std::function<Status()> decide) {
  AsyncMutex::Guard guard = co_await control_.lock();
  COMMITD_CO_RETURN_IF_ERROR(check_data_may_go());
  COMMITD_CO_RETURN_IF_ERROR(decide());
  data_goes_ = true;
  co_return Status{};
}

}  // namespace commitd::replication
