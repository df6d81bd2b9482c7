// For tests and fuzzers: what sessions need, over a real storage engine, log, commit pipeline and catalog in
// a directory of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "commit/commit_pipeline.h"
#include "sql/accounts/accounts.h"
#include "sql/process_list.h"
#include "sql/server_context.h"
#include "sql/session.h"
#include "sql/variables/system_variables.h"
#include "storage/engine_router.h"

namespace commitd::sql::testing {

enum class Syncs : uint8_t { Yes, No };  // whether commits are made durable

class SqlServer {
 public:
  // Whatever is in the directory goes.
  explicit SqlServer(std::filesystem::path directory, Syncs syncs = Syncs::Yes);
  ~SqlServer();
  SqlServer(const SqlServer&) = delete;

  std::unique_ptr<Session> connect(std::string_view user = "root");
  ServerContext& context() { return context_; }
  std::filesystem::path log_directory() const { return directory_ / "log"; }

 private:
  void initialize();

  class NoApplier final : public binlog::EventApplier {
    Result<Outcome> build(std::string_view, How, WriteSet&) override {
      return Error{1, "nothing is applied from events here"};
    }
  };
  std::filesystem::path directory_;
  std::unique_ptr<storage::EngineRouter> engine_;
  NoApplier applier_;
  std::unique_ptr<binlog::CommitPipeline> pipeline_;
  txn::LockManager locks_;
  std::unique_ptr<txn::Services> services_;
  std::unique_ptr<Catalog> catalog_;
  Accounts accounts_{std::nullopt};
  SystemVariables variables_;
  ProcessList processes_;
  ServerContext context_;
  uint32_t last_connection_ = 0;
};

}  // namespace commitd::sql::testing
