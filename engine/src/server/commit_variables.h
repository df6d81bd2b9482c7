// The variables of the commit path: how durable a commit is, how groups form, and the legacy ways of doing
// it.
#pragma once

#include <memory>

#include "base/result.h"
#include "commit/commit_settings.h"
#include "sql/server_context.h"
#include "sql/variables/system_variables.h"
#include "storage/gtid_storage.h"

namespace commitd::server {

class CommitVariables {
 public:
  // Values go to `settings`, at start and while the server runs.
  CommitVariables(sql::SystemVariables& variables, std::shared_ptr<binlog::CommitSettings> settings,
                  std::shared_ptr<storage::GtidSettings> gtids, const sql::ServerContext& server)
      : variables_(variables), settings_(std::move(settings)), gtids_(std::move(gtids)), server_(server) {}

  void define();
  // Once all options are read: refuses what the durability mode does not allow. From then on each SET is
  // checked when it comes.
  Status check();
  // Once it is known whether this server belongs to a cluster.
  Status check_for_clusters() const;

 private:
  sql::SystemVariables& variables_;
  const std::shared_ptr<binlog::CommitSettings> settings_;
  const std::shared_ptr<storage::GtidSettings> gtids_;
  const sql::ServerContext& server_;
  const std::shared_ptr<bool> running_ = std::make_shared<bool>(false);
};

bool uses_xa(const sql::SystemVariables& variables);

}  // namespace commitd::server
