// Garbage in an engine that writes a new version of a row beside the old one: versions that were overwritten
// or erased, and the tombstones that hide them. Scans step over it, until it is purged.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace commitd::storage {

class Purging {
 public:
  // What purging is measured in.
  static constexpr uint64_t kPageBytes = 16 << 10;

  struct Garbage {
    uint32_t index_id;
    uint64_t entries;  // versions and tombstones
  };

  virtual ~Purging() = default;
  // Of all indexes that have some, in the order of their ids. What became garbage before the engine was
  // opened, and what TRUNCATE or DROP leaves, is not counted.
  virtual std::vector<Garbage> garbage() const = 0;
  virtual uint64_t history_length() const = 0;  // all of it
  // From so long a history on the garbage that scans step over is counted.
  virtual void watch_scans_from(uint64_t history_length) = 0;

  struct Slice {
    uint64_t pages = 0;  // that were merged
    bool last = true;    // of its round
  };
  // One piece of a round of purging: about as many pages, at least a file of each of two levels; what was in
  // memory is one piece. 0: all that there is, clean or not, in one go; nothing else is merged beside it. One
  // thread at a time.
  virtual Result<Slice> purge(uint64_t pages) = 0;
  // From any thread: nothing more is purged; what is under way is given up where that is possible.
  virtual void stop_purging() = 0;
};

// Null: the engine keeps no old versions.
class Engine;
Purging* purging_of(Engine& engine);

}  // namespace commitd::storage
