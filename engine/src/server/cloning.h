// CLONE INSTANCE: another server's data, fetched into this one's data directory or into a new one.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/mutex.h"
#include "replication/clone_reception.h"
#include "replication/role_manager.h"
#include "server/backup.h"
#include "sql/clone_control.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

// clone_valid_donor_list, clone_max_data_bandwidth, clone_ssl_…
struct CloneVariables {
  std::atomic<uint64_t> bytes_per_second{0};  // 0: no limit
  void define(sql::SystemVariables& variables);
};

class Cloning final : public sql::CloneControl {
 public:
  struct Environment {
    FileSystem* fs = nullptr;
    binlog::LogOptions log;  // of this server; its directory is the data directory
    bool xa = false;
    Uuid server_uuid;
    const sql::SystemVariables* variables = nullptr;
    const CloneVariables* settings = nullptr;
    replication::RoleManager* roles = nullptr;
    std::function<void()> restart;
  };
  // Remembers the clone that this data directory came from.
  explicit Cloning(Environment environment);

  Task<Status> clone(sql::CloneRequest request, storage::ConnectionData& waits,
                     std::function<bool()> interrupted) override;
  std::optional<sql::CloneReport> last() const override;

 private:
  struct Target {
    std::string directory;
    bool in_place = false;
  };
  Result<Target> target_of(const sql::CloneRequest& request) const;
  Status check_donor(const sql::CloneRequest& request) const;
  Status accept(const replication::CloneHeader& header, const Target& target);
  Result<replication::CloneSource> source_of(const sql::CloneRequest& request) const;
  Task<Status> fetch(const sql::CloneRequest& request, const Target& target, storage::ConnectionData& waits,
                     const std::function<bool()>& interrupted);
  Task<Status> fetch_with(WorkerThread& disk, const sql::CloneRequest& request, const Target& target,
                          storage::ConnectionData& waits, const std::function<bool()>& interrupted);
  Status complete(const replication::CloneHeader& header, const Target& target);
  Task<Status> put_in_place();
  void begin_report(const sql::CloneRequest& request, const Target& target);
  void end_report(const Status& status);
  void remember_former();

  const Environment environment_;
  std::atomic<bool> busy_{false};
  std::atomic<uint64_t> received_{0};
  mutable Mutex mutex_;
  std::optional<sql::CloneReport> report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace commitd::server
