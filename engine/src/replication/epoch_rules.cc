#include "replication/epoch_rules.h"

#include "base/error_codes.h"

namespace commitd::replication {
namespace {

Status refuse_older(const RoleState& durable, uint64_t epoch) {
  if (epoch == 0) return make_error(er::kStaleEpoch, "Epochs start at 1");
  if (epoch < durable.epoch) {
    return make_error(er::kStaleEpoch, "Epoch {} is older than the epoch {} this server has promised", epoch,
                      durable.epoch);
  }
  return {};
}

Error role_taken(const RoleState& durable, std::string_view wanted) {
  return make_error(er::kStaleEpoch, "In epoch {} this server was made {}; to make it {}, use a higher epoch",
                    durable.epoch, grant_name(durable.grant), wanted);
}

}  // namespace

Result<Verdict> judge_fence(const RoleState& durable, uint64_t epoch) {
  COMMITD_RETURN_IF_ERROR(refuse_older(durable, epoch));
  if (epoch > durable.epoch) return Verdict::Grant;
  if (durable.grant == Grant::Fenced) return Verdict::SameAgain;
  return role_taken(durable, grant_name(Grant::Fenced));
}

Result<Verdict> judge_promote(const RoleState& durable, uint64_t epoch, const Quorum& quorum) {
  COMMITD_RETURN_IF_ERROR(refuse_older(durable, epoch));
  if (quorum.wait_count > quorum.members.size()) {
    return make_error(er::kWrongArguments, "WAIT_COUNT {} can never be reached: MEMBERS names {} servers",
                      quorum.wait_count, quorum.members.size());
  }
  if (epoch > durable.epoch || durable.grant == Grant::Fenced) return Verdict::Grant;
  if (durable.grant != Grant::Master) return role_taken(durable, grant_name(Grant::Master));
  if (!durable.quorum.same_but_for_version(quorum)) {
    return make_error(er::kStaleEpoch,
                      "In epoch {} this server waits for {} of the members {} (version {}), or on other "
                      "terms; change that with ALTER INSTANCE QUORUM and a "
                      "larger version, or promote with a higher epoch",
                      epoch, durable.quorum.wait_count, join_uuids(durable.quorum.members),
                      durable.quorum.version);
  }
  return Verdict::SameAgain;
}

Result<Verdict> judge_follow(const RoleState& durable, uint64_t epoch, const sql::FollowTarget& target) {
  COMMITD_RETURN_IF_ERROR(refuse_older(durable, epoch));
  if (epoch > durable.epoch || durable.grant == Grant::Fenced) return Verdict::Grant;
  if (durable.grant != Grant::Replica) return role_taken(durable, grant_name(Grant::Replica));
  // An epoch has one master; it may be reached under another address, but it cannot be another server.
  if (durable.source.source_uuid != target.source_uuid) {
    return make_error(er::kStaleEpoch, "In epoch {} this server follows {}; to follow {}, use a higher epoch",
                      epoch, durable.source.source_uuid.to_string(), target.source_uuid.to_string());
  }
  return Verdict::SameAgain;
}

Result<Verdict> judge_quorum(const RoleState& durable, uint64_t epoch, const Quorum& quorum) {
  COMMITD_RETURN_IF_ERROR(refuse_older(durable, epoch));
  if (epoch > durable.epoch || durable.grant != Grant::Master) {
    return make_error(er::kStaleEpoch,
                      "Only the master of an epoch changes its quorum; in epoch {} this server is {}",
                      durable.epoch, grant_name(durable.grant));
  }
  if (quorum.wait_count > quorum.members.size()) {
    return make_error(er::kWrongArguments, "WAIT_COUNT {} can never be reached: MEMBERS names {} servers",
                      quorum.wait_count, quorum.members.size());
  }
  if (quorum == durable.quorum) return Verdict::SameAgain;
  if (quorum.version <= durable.quorum.version) {
    return make_error(er::kStaleEpoch, "Quorum version {} is not newer than version {}, which is in force",
                      quorum.version, durable.quorum.version);
  }
  return Verdict::Grant;
}

Status judge_handover(const RoleState& durable, uint64_t epoch) {
  COMMITD_RETURN_IF_ERROR(refuse_older(durable, epoch));
  if (epoch == durable.epoch && durable.grant == Grant::Master) return {};
  return make_error(er::kStaleEpoch,
                    "Only the master of an epoch hands it over; in epoch {} this server is {}", durable.epoch,
                    grant_name(durable.grant));
}

bool keeps_promises(const RoleState& durable, const RoleState& next) {
  if (next.epoch < durable.epoch || next.gno_floor < durable.gno_floor) return false;
  if (next.epoch > durable.epoch || durable.grant == Grant::Fenced) return true;
  if (next.grant != durable.grant) return false;
  return next.grant != Grant::Master || next.quorum == durable.quorum ||
         next.quorum.version > durable.quorum.version;
}

}  // namespace commitd::replication
