// Which role statements a server may obey: a pure decision from what it has promised durably. See "Epochs" in
// engine/CONTROL.md.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "replication/role_state.h"

namespace commitd::replication {

// What to do with a statement that carries an epoch.
enum class Verdict : uint8_t {
  Grant,      // a new promise or a role within the promised epoch: make it durable, then obey
  SameAgain,  // the durable state says this already: make sure it is in force
};

// Invariants: the durable epoch never falls; within one epoch a server is granted at most one of the roles
// master and replica; a master's quorum changes within an epoch only by a larger version. Everything else is
// refused with error 3000.
Result<Verdict> judge_fence(const RoleState& durable, uint64_t epoch);
Result<Verdict> judge_promote(const RoleState& durable, uint64_t epoch, const Quorum& quorum);
Result<Verdict> judge_follow(const RoleState& durable, uint64_t epoch, const sql::FollowTarget& target);
Result<Verdict> judge_quorum(const RoleState& durable, uint64_t epoch, const Quorum& quorum);
// Only the master of the very epoch hands it over.
Status judge_handover(const RoleState& durable, uint64_t epoch);
// Whether `next` may become durable behind `durable`: the invariants, whoever asks. The GNO floor never
// falls.
bool keeps_promises(const RoleState& durable, const RoleState& next);

}  // namespace commitd::replication
