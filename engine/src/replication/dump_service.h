// Readers of the log as a whole: who may read, one stream per reader, and ending them all when the role
// changes.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "replication/dump_stream.h"
#include "replication/signal.h"
#include "sql/instance_control.h"
#include "wire/replication_commands.h"

namespace commitd::replication {

class DumpService final : public wire::DumpHandler {
 public:
  struct Environment {
    std::function<binlog::CommitPipeline*()> pipeline;  // nullptr while there is none
    AckTracker* acknowledgements = nullptr;
    SourceLease* lease = nullptr;
    ReplicaProgress* progress = nullptr;
    uint32_t server_id = 0;
    Uuid server_uuid;
    plugins::Observers* observers = nullptr;
  };
  explicit DumpService(Environment environment);

  // Readers are refused with `why` from now on, and those that are attached are cut off; returns when the
  // last has gone.
  Task<void> close(Error why);
  // The same, without waiting.
  void refuse(Error why);
  // `epoch`: members of a cluster must name the same one.
  void open(uint64_t epoch);
  // What readers get, or are asked, has changed: others are members from now on, or marks are wanted.
  void look_again();
  size_t stream_count() const;
  std::vector<sql::AttachedReplica> replicas() const;

  Task<Status> dump(sql::Session& session, wire::Channel& channel, wire::DumpRequest request) override;

 private:
  Task<Status> run_stream(sql::Session& session, wire::Channel& channel, wire::DumpRequest request);
  Status admit(const std::shared_ptr<DumpStream>& stream);
  void dismiss(const std::shared_ptr<DumpStream>& stream);

  Environment environment_;
  FramedPages pages_;
  DrainGate gate_;
  mutable Mutex mutex_;
  std::list<std::shared_ptr<DumpStream>> streams_ ABSL_GUARDED_BY(mutex_);
  uint64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Error> refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::replication
