// A server and its peer around an Order, small enough to be walked through: a log of which a crash may lose
// what is not synced, an engine that comes up as an earlier prefix, a peer that holds what it was sent, roles
// that change. Each step is one that the pipeline's threads, replication or an operator take between two
// locks.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "commit/order.h"

namespace commitd::binlog::testing {

// What a driver of Order may do wrong.
enum class Mistake : uint8_t {
  None,
  ForgetsReceivedNumbers,   // they do not raise the next one
  ForgetsFloor,             // no GNO floor is durable before a cut
  AcknowledgesEverything,   // what the peer does not hold is acknowledged
  ShipsBeforeSync,          // durable() is called for what a crash may lose
  CutsAcknowledged,         // the cut goes back to what is applied
  AppliesTwice,             // a batch is reported twice
  ReportsBehindTheWritten,  // durable() names a place that was not written
  ReplaysTheTail,           // a start takes the unacknowledged tail into the engine
  DropsWithoutRoom,         // what the engine has no room for does not come back
  SkipsWithoutRoom,         // it is skipped as if it could not be applied
  FindsTwice,               // a start meets a transaction of the log twice
  FindsWhatIsThere,         // or one that the engine has
  AnswersWhatIsShown,       // AFTER_COMMIT: in the engine is enough for an answer
  ShowsWhatItFinds,         // AFTER_COMMIT: the tail that a start finds is shown first as well
};

struct World {
  struct Config {
    bool alone = false;        // no peer: durable is enough
    bool synced = true;        // sync_binlog=1
    bool shown_first = false;  // AFTER_COMMIT
    size_t most_transactions = 3;
    int crashes = 1, role_changes = 2, rotations = 0, freezes = 0, stops = 0, full_disks = 0;
    Mistake mistake = Mistake::None;
  };
  explicit World(const Config& config);

  // Every world that is one step away. An invariant that does not hold is thrown, as a std::runtime_error.
  std::vector<World> next() const;
  // Equal for worlds with the same future.
  std::string key() const;

 private:
  enum class Role : uint8_t { Master, Replica, Undecided };
  enum class Stage : uint8_t { None, Numbered, Written };
  struct Entry {
    int id = 0;
    Gtid gtid = {};  // empty: sql_log_bin=0
    uint64_t epoch = 0;
    LogPosition start = {}, end = {};
  };

  template <class Step>
  void step(std::vector<World>& to, const char* name, Step take) const;
  void add_log_steps(std::vector<World>& to) const;
  void add_engine_steps(std::vector<World>& to) const;
  void add_peer_steps(std::vector<World>& to) const;
  void add_role_steps(std::vector<World>& to) const;
  void check() const;

  void number_local(std::vector<Entry> group);
  void number_received();
  void place_group();
  void fail_group();
  void write();
  void make_durable();
  void rotate();
  void persist();
  void applied();
  void stop_applying(Order::Stop why);
  void add_stopped_steps(std::vector<World>& to) const;
  void ship();
  void crash(size_t kept);
  void find_in_log(const Entry& entry);
  void follow();
  void promote();

  static PendingTransaction pending_of(const Entry& entry, bool of_session);
  void set_gate();
  void answer_acknowledged();
  void end_sessions();
  const Entry* last_held_by_peer() const;
  const Entry* next_to_ship() const;
  const Entry* next_to_receive() const;
  size_t durable_entries() const;
  bool peer_has(int id) const;
  bool log_has(int id) const;
  GtidSet of_peer() const;
  void name(const Entry& entry);

  Config config_;
  std::string path_;  // the steps that led here
  LogPosition log_end_{1, 0};
  Order order_;
  Role role_ = Role::Master;
  std::vector<Entry> log_;  // ours
  size_t synced_ = 0;       // entries that a crash cannot lose
  std::vector<Entry> peer_;
  std::vector<Entry> handed_;  // by the receiver, not numbered yet
  std::vector<Entry> group_;   // with the log thread
  uint64_t group_next_gno_ = 0;
  Stage stage_ = Stage::None;
  std::vector<PendingTransaction> in_engine_;
  std::vector<int> engine_, persisted_;  // ids, in order
  storage::CommitPoint point_, persisted_point_;
  uint64_t floor_ = 0, peer_gno_ = 0, epoch_ = 0;
  bool epoch_due_ = false, frozen_ = false, lacks_room_ = false;
  int ids_ = 0;
  std::map<Gtid, int> named_;  // by anybody, for ever
  std::set<int> answered_;     // told to a client
  std::set<int> waiting_;      // shown first: their sessions wait
  std::set<int> of_sessions_;  // may be shown first
};

}  // namespace commitd::binlog::testing
