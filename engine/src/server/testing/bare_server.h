// A whole server without sockets, roles and options, on any file system: an Instance as users' servers have
// it, with settings of its own, and SQL sessions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <rocksdb/env.h>

#include "base/file.h"
#include "server/instance.h"
#include "sql/accounts/accounts.h"
#include "sql/process_list.h"
#include "sql/server_context.h"
#include "sql/session.h"
#include "sql/variables/system_variables.h"

namespace commitd::server::testing {

inline constexpr std::string_view kLogDirectory = "/log", kEngineDirectory = "/engine";
// Larger transactions are spilled, and taken into the engine in parts.
inline constexpr uint64_t kTransactionCacheBytes = 4000, kPartBytes = 2000;

class BareServer {
 public:
  using Wrap = std::function<std::unique_ptr<storage::Engine>(std::unique_ptr<storage::Engine>)>;

  // `wrap`: puts something of the test's own around the engine.
  explicit BareServer(FileSystem& files, Wrap wrap = {});
  ~BareServer();  // as a process that dies: the engine is not made durable by us

  // Makes system tables and the first log file in an empty file system.
  Status create();
  // Opens, cuts a torn tail, replays, and goes on.
  Status start();

  std::unique_ptr<sql::Session> connect();
  // The result of one statement as sql::testing::TextSink renders it.
  std::string run(sql::Session& session, std::string_view statement);
  std::string run(std::string_view statement);

  storage::Engine& engine() { return instance_->engine(); }
  binlog::CommitPipeline& pipeline() { return instance_->pipeline(); }
  sql::Catalog& catalog() { return instance_->catalog(); }
  replication::EventApplier& applier() { return instance_->applier(); }

  // Only engine, catalog and applier, for a test that walks through the log by itself.
  Status open_engine();
  Result<std::unique_ptr<binlog::Log>> open_log(binlog::OpenReport& found);

  uint64_t max_file_size = 12'000;
  uint64_t write_buffer_bytes = 64 << 10;
  std::string server_uuid = "11111111-2222-3333-4444-555555555555";
  uint64_t parallel_workers = 4;  // replica_parallel_workers
  bool xa = false;                // commitd_durability
  bool order_commits = true;      // binlog_order_commits
  bool log_bin = true;            // false: --skip-log-bin, on a log that is there

 private:
  InstanceSettings settings() const;

  FileSystem& files_;
  std::unique_ptr<rocksdb::Env> env_;
  const OpenEngine open_engine_;
  sql::Accounts accounts_{sql::BuiltInPasswords{}};
  sql::SystemVariables variables_;
  sql::ProcessList processes_;
  sql::ServerContext context_;
  std::unique_ptr<Instance> instance_;
  std::atomic<uint32_t> last_connection_{0};
  std::unique_ptr<sql::Session> session_;
};

}  // namespace commitd::server::testing
