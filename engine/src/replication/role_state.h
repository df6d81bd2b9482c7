// What a server remembers about its role across restarts: the epoch it has promised, what it was granted in
// that epoch, and the number above which its GTIDs must start. Kept in one small text file that is replaced
// atomically.
//
// Invariant: nothing that depends on a state is done or answered before save_role_state() has returned
// success for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/log_position.h"
#include "base/result.h"
#include "base/uuid.h"
#include "replication/source_stand.h"
#include "sql/instance_control.h"

namespace commitd::replication {

// What was granted in the promised epoch. None: no epoch has been promised yet.
enum class Grant : uint8_t { None, Fenced, Replica, Master };
std::string_view grant_name(Grant grant);
std::string_view name_of(sql::OnSemisyncTimeout on_timeout);
std::string_view name_of(sql::WaitPoint wait_point);

// Whose acknowledgements a commit waits for.
struct Quorum {
  uint64_t version = 0;
  uint32_t wait_count = 0;
  std::vector<Uuid> members;  // sorted, without duplicates
  sql::SemisyncTerms terms = {};

  bool operator==(const Quorum&) const = default;
  bool same_but_for_version(const Quorum& other) const {
    return wait_count == other.wait_count && members == other.members && terms == other.terms;
  }
};

// What CHANGE REPLICATION SOURCE TO begins with, as in MySQL: a person says what is to be trusted. Sources
// that an operator names begin with what SourceOptions says.
sql::FollowTarget unknown_source();

struct RoleState {
  uint64_t epoch = 0;
  Grant grant = Grant::None;
  Quorum quorum;  // of a master
  // Of a replica. The password is only kept for a source set by CHANGE REPLICATION SOURCE: an operator gives
  // it with every role.
  sql::FollowTarget source = unknown_source();
  // START REPLICA was the last word about the thread, so a restart resumes it.
  bool start_replica = false;  // the receiver
  bool start_applier = false;
  // What was received behind `applied_to` waits for START REPLICA: then nothing local is behind it.
  bool apply_held = false;
  LogPosition applied_to;  // in the own log: a start applies at least what stands in front
  // The source's log is read on at source.options.log_file and log_position, as of this place in the own log.
  // Transactions behind that say where they stand there, by the number of the present series.
  LogPosition stand_as_of;
  uint64_t place_series = 0;
  uint64_t gno_floor = 0;

  SourceStand stand() const { return {source.options.log_file, source.options.log_position, stand_as_of}; }
  void set_stand(const SourceStand& stand);

  std::string encode() const;
  static Result<RoleState> decode(std::string_view text);
};

// A file that is not there is the state of a new server.
Result<RoleState> load_role_state(FileSystem& fs, const std::string& path);
Status save_role_state(FileSystem& fs, const std::string& path, const RoleState& state);
// A server whose disk is full must still be able to promise an epoch: it could not be fenced. So the room for
// the next state is there beforehand, in a spare file; every save sees to it, too.
void keep_room_for_role_state(FileSystem& fs, const std::string& path);

// "uuid,uuid,…"
std::string join_uuids(const std::vector<Uuid>& uuids);
std::vector<Uuid> sorted_uuids(std::vector<Uuid> uuids);

}  // namespace commitd::replication
