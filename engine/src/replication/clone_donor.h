// Gives this server's data to another one (COM_CLONE): the engine's files as of one commit point, while
// commits go on.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/file.h"
#include "base/uuid.h"
#include "commit/commit_pipeline.h"
#include "replication/clone_protocol.h"
#include "replication/signal.h"
#include "runtime/worker_thread.h"
#include "storage/engine.h"
#include "wire/replication_commands.h"

namespace commitd::replication {

class CloneDonor final : public wire::CloneHandler {
 public:
  struct Environment {
    FileSystem* fs = nullptr;
    std::string directory;                     // the copies are made below it
    std::function<storage::Engine*()> engine;  // nullptr while there is no data
    std::function<binlog::CommitPipeline*()> pipeline;
    std::function<bool(const sql::Session&, const wire::Channel&)> may_have_it;  // BACKUP_ADMIN
    Uuid server_uuid;
    std::string version;
    uint32_t format = 0;
    const std::atomic<uint64_t>* bytes_per_second = nullptr;
  };
  explicit CloneDonor(Environment environment) : environment_(std::move(environment)) {}

  // Nobody gets anything any more; returns when the last who does is told so.
  Task<void> close();

  Task<Status> give(sql::Session& session, wire::Channel& channel, std::string_view request) override;

 private:
  class Copy;
  Task<Status> give_copy(sql::Session& session, wire::Channel& channel);
  Status take(Copy& copy);
  Task<Status> send(sql::Session& session, wire::Channel& channel, WorkerThread& disk, Copy& copy);

  const Environment environment_;
  DrainGate gate_;
  std::atomic<bool> closing_{false};
  std::atomic<uint64_t> copies_{0};
};

}  // namespace commitd::replication
