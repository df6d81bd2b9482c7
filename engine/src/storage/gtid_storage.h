// How the GTIDs of what is committed are kept, where an engine keeps them: what of it changes while it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace commitd::storage {

struct GtidSettings {
  // gtid_executed_compression_period; 0: gtid_executed is stored as a row for each transaction, not for each
  // interval.
  std::atomic<uint64_t> compression_period{1000};
  // commitd_gtid_persister=append_only: what is committed is added to a list of intervals as well.
  std::atomic<bool> persister_appends{false};
};

class GtidStorage {
 public:
  virtual ~GtidStorage() = default;
  // Before use; what there is without it has the defaults.
  virtual void keep_gtids_by(std::shared_ptr<const GtidSettings> settings) = 0;
  virtual std::shared_ptr<const GtidSettings> gtid_settings() const = 0;
};

class Engine;
// Null: the engine knows no such settings.
GtidStorage* gtid_storage_of(Engine& engine);
std::shared_ptr<const GtidSettings> gtid_settings_of(Engine& engine);

}  // namespace commitd::storage
