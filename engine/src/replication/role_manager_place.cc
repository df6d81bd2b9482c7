// Where this server stands in its source's log, by file and position. Each received transaction says it, in
// the own log. What the role file says is for what is older than that: files of the own log may go.
#include <spdlog/spdlog.h>

#include "replication/role_manager.h"

namespace commitd::replication {

// The role file's, or that of what was received since.
RoleState RoleManager::at_present_stand(RoleState state) const {
  const SourceStand logged = gate_->received().stand();
  if (logged.as_of > state.stand_as_of) state.set_stand(logged);
  return state;
}

// A place that somebody names, or in another source's log: what the own log says so far is of the former one.
void RoleManager::begin_place_series(RoleState& next) const {
  ++next.place_series;
  next.stand_as_of = pipeline_.load()->durable_end();
}

ApplyGate::Received RoleManager::received_so_far() const {
  const RoleState now = state();
  ApplyGate::Received received{now.place_series};
  if (!starts_undecided() && !now.source.options.auto_position && !now.source.host.empty())
    received.stand = now.stand();
  return received;
}

std::optional<uint32_t> RoleManager::first_log_of_stand() const {
  const RoleState now = state();
  if (starts_undecided() || now.source.options.auto_position || now.source.host.empty()) return std::nullopt;
  return now.stand_as_of.file;
}

// Called by the receiver, beside the role statements.
Status RoleManager::save_stand(const SourceStand& stand) {
  MutexLock saving(save_mutex_);
  if (data_goes_) return {};
  COMMITD_RETURN_IF_ERROR(pipeline_.load()->sync());  // what it stands on, whatever sync_binlog is
  RoleState next = state();
  next.set_stand(stand);
  COMMITD_RETURN_IF_ERROR(persist(std::move(next)));
  if (stand_hold_) stand_hold_->move_to(stand.as_of.file);
  return {};
}

// Nothing that says where this server stands goes while more comes.
void RoleManager::hold_stand() {
  MutexLock saving(save_mutex_);
  const RoleState now = state();
  if (!now.source.options.auto_position) stand_hold_ = pipeline_.load()->log().hold(now.stand_as_of.file);
}

// The receiver has stopped.
Status RoleManager::settle_stand() {
  {
    MutexLock saving(save_mutex_);
    stand_hold_.reset();
  }
  binlog::CommitPipeline* pipeline = pipeline_.load();
  if (pipeline == nullptr || starts_undecided() || state().source.host.empty()) return {};
  const RoleState now = state();
  RoleState next = at_present_stand(now);
  const LogPosition end = pipeline->durable_end();
  const bool as_it_was =
      next.source.options.auto_position ? next.stand_as_of == now.stand_as_of : now.stand_as_of == end;
  if (as_it_was) return {};
  COMMITD_RETURN_IF_ERROR(pipeline->sync());
  next.stand_as_of = end;
  return save(std::move(next));
}

}  // namespace commitd::replication
