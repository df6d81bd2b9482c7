// The replica's side of a dump stream: connects to the source, agrees with it on a common history, receives
// transactions into the own log, and acknowledges each one when it is durable there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "commit/commit_pipeline.h"
#include "replication/apply_gate.h"
#include "replication/filter_rules.h"
#include "replication/source_stand.h"
#include "runtime/reactor.h"
#include "sql/instance_control.h"

namespace commitd::plugins {
class Observers;
}

namespace commitd::replication {

enum class ReceiverState : uint8_t { Off, Connecting, Receiving, Error, Diverged };
std::string_view receiver_state_name(ReceiverState state);

// What the receiver shows to the outside; written on its reactor, read from anywhere.
struct ReceiverReport {
  ReceiverState state = ReceiverState::Off;
  std::optional<Error> error;
  std::string source_file;
  uint64_t source_position = 0;
  bool all_is_logged = true;  // what stands in front of that is durable here
  std::optional<Clock::time_point> last_heard;
  uint64_t error_at = 0;  // microseconds
  uint64_t heartbeats = 0, heartbeat_at = 0;
  int64_t clock_difference = 0;  // seconds that our clock is ahead of the source's
  bool acknowledges = false;
  Uuid source_uuid;  // as it has said
  uint32_t source_server_id = 0;
};

class Reception;

class Receiver {
 public:
  struct Environment {
    binlog::CommitPipeline* pipeline = nullptr;
    Reactor* reactor = nullptr;
    uint32_t server_id = 0;
    uint16_t port = 0;
    Uuid server_uuid;
    bool acknowledges = true;  // where the source asks for it
    std::shared_ptr<ApplyGate> gate;
    std::shared_ptr<const FilterRules> filter;  // null: everything is taken
    plugins::Observers* observers = nullptr;
    // Makes a GNO floor durable before anything is cut off the log.
    std::function<Status(uint64_t floor)> save_gno_floor;
    // Outside of clusters: received transactions say where they stand in the source's log.
    std::optional<uint64_t> place_series;
    SourceStand stand;  // by file and position
    // Makes durable where the source's log is read on. What is logged later says it itself.
    std::function<Status(const SourceStand& stand)> save_stand;
  };
  struct Target {
    sql::FollowTarget source;
    std::optional<uint64_t> epoch;  // under an operator: only the master of this epoch will do
  };

  ~Receiver();

  // Starts to receive in the background; stop() must have returned before. Goes on trying until it is stopped
  // or has diverged.
  void start(Environment environment, Target target);
  // When this returns, nothing that was received is still on its way into the log, nothing more will come and
  // nothing will be acknowledged.
  Task<void> stop();

  ReceiverReport report() const;

 private:
  mutable Mutex mutex_;
  std::shared_ptr<Reception> current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::replication
