// Who has acknowledged how much of the log: the source's side of semisync. Feeds the commit pipeline with the
// position up to which enough members hold the log durably. Knows nothing of connections; a dump session is
// only a token here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log_position.h"
#include "base/uuid.h"
#include "observe/mutex.h"
#include "replication/role_state.h"
#include "runtime/timer.h"

namespace commitd::replication {

class AckTracker {
 public:
  // `acknowledge` is called with ascending positions, under the tracker's lock.
  // `readers_changed`, when somebody has attached or detached, or enough hold more than before; likewise.
  explicit AckTracker(
      std::function<void(LogPosition)> acknowledge, std::function<void()> readers_changed = [] {});

  enum class Voters { Members /* those of the quorum */, Anybody /* outside clusters */ };
  // From now on acknowledgements count, for this quorum. What was acknowledged before stays so.
  void configure(Voters voters, Quorum quorum);
  // Announces nothing below `position`, the end of this epoch's epoch transaction. Invariant: what an earlier
  // epoch left in the log counts only together with this epoch. Otherwise a transaction could become visible
  // here and still lose the next election to a server that never had it, but whose log ends with a later
  // epoch than the transaction's.
  void announce_from(LogPosition position);
  // Nothing counts any more: when this has returned, `acknowledge` is not called until the next configure(),
  // and no quorum is in force. Forgets all positions: they were places in a log that may now be cut.
  void stop();
  // The same, but the positions are still good: semisync outside a cluster is switched off for a while.
  void pause();

  // A reader that acknowledges has attached and holds the log durably up to `held`. A second session of the
  // same server takes the first one's place; what comes with the first token is ignored from then on.
  // Invariant: a server that comes back with less than it once acknowledged counts for no more than it holds
  // now.
  using Token = uint64_t;
  Token attach(const Uuid& server, LogPosition held);
  void acknowledged(Token token, LogPosition held);
  void detach(Token token);

  // That session's server has answered a question that was asked at `asked`. Gives the latest moment of which
  // that is true of enough voters; nullopt: it is true of too few, at any moment.
  std::optional<Clock::time_point> heard(Token token, Clock::time_point asked);

  bool is_voter(const Uuid& server) const;
  size_t attached() const;                // all readers that acknowledge
  LogPosition announced() const;          // what enough of them hold
  bool is_held(LogPosition up_to) const;  // by enough of them; by all, where nobody has to

  struct Snapshot {
    Quorum quorum;
    bool active = false;
    std::vector<Uuid> attached_voters;
    std::vector<Uuid> holders;  // voters that hold everything that is acknowledged
    uint64_t attached = 0;      // all readers that acknowledge
  };
  // `acknowledged` says up to where the pipeline counts the log as acknowledged; asked under the tracker's
  // lock, so that holders and quorum belong to that place.
  Snapshot snapshot(const std::function<LogPosition()>& acknowledged) const;

 private:
  struct Server {
    LogPosition held;
    Token token = 0;  // 0 = not attached now
    std::optional<Clock::time_point> heard = std::nullopt;
  };

  bool counts(const Uuid& server) const;
  void advance();

  std::function<void(LogPosition)> acknowledge_;
  std::function<void()> readers_changed_;
  mutable observe::Mutex mutex_{"wait/synch/mutex/semisync/LOCK_binlog_"};
  bool active_ = false;
  Voters voters_ = Voters::Members;
  Quorum quorum_;
  std::map<Uuid, Server> servers_;
  LogPosition announced_;
  LogPosition floor_;
  Token last_token_ = 0;
};

}  // namespace commitd::replication
