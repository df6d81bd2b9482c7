// What statements ask of the server's housekeeping, from the start on: while there is no data, it can be
// cloned from elsewhere, and nothing else.
#pragma once

#include "sql/clone_control.h"
#include "sql/maintenance.h"
#include "sql/server_context.h"

namespace commitd::server {

class Upkeep final : public sql::Maintenance {
 public:
  explicit Upkeep(sql::CloneControl& clones) : clones_(clones) {}
  // Null: there is none any more.
  void data_is_there(sql::Maintenance* of_data) { of_data_ = of_data; }

  Task<Status> checkpoint() override { return of_data_->checkpoint(); }
  Task<Result<binlog::PurgeReport>> purge_logs(uint32_t first_kept) override {
    return of_data_->purge_logs(first_kept);
  }
  Task<Status> reset_logs() override { return of_data_->reset_logs(); }
  Task<Result<sql::BackupReport>> backup(std::string directory) override {
    return of_data_->backup(std::move(directory));
  }
  sql::CloneControl* clones() override { return &clones_; }

 private:
  sql::CloneControl& clones_;
  // Statements that need data look first whether there is some.
  sql::Published<sql::Maintenance> of_data_;
};

}  // namespace commitd::server
