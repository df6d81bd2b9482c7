// Ranges of rows in front of RocksDB, kept up to date by the commits. To RocksDB each version of a row is a
// key of its own, which every scan steps over, and a step of its iterators costs more than all else that is
// done with a row; here a range is an array.
//
// Of each range there are versions, each for the snapshots from one sequence number to another. Invariant: a
// version that find() gives has exactly the rows that RocksDB has at that snapshot. It holds because
//  * a commit closes the newest versions of what it changes before RocksDB gets the batch, so that no
//    snapshot that sees the batch finds them, and adds new ones only when RocksDB has it;
//  * what a reader has read is taken in only if nothing of the range was changed since its snapshot, which
//    the log of recent changes tells; where that does not reach back far enough, it is not taken in.
// A range that is missing, or has no version for a snapshot, is read from RocksDB.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>

#include "storage/rocks/cached_rows.h"

namespace commitd::storage {

class RowCache {
 public:
  using Sequence = uint64_t;  // RocksDB's

  explicit RowCache(uint64_t capacity) : capacity_(capacity) {}

  struct Place {
    std::shared_ptr<const CachedRows> rows;  // null: RocksDB is to be read,
    std::string gap_end;                     // up to here; empty: no end
    bool may_fill = false;                   // and put() may have it
  };
  Place find(std::string_view key, Sequence snapshot);  // counted, by what came of it
  // What RocksDB has in the range at `snapshot`.
  void put(std::shared_ptr<const CachedRows> rows, Sequence snapshot);

  // The committing thread, around its write. Keys and values must stay until after_write().
  struct Change {
    std::string_view key;
    std::optional<std::string_view> value;
    std::string_view erased_up_to = {};  // not empty: all from `key` to here go
  };
  // `latest`: RocksDB's newest sequence number now. By after_write() it is that or a newer one than the
  // batch's last.
  void before_write(std::span<const Change> changes, Sequence latest);
  void after_write(Sequence latest, bool written);

  // Old versions are kept for those who may still read them.
  void snapshot_taken(Sequence snapshot);
  void snapshot_released(Sequence snapshot);

  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr Sequence kOpen = UINT64_MAX;

  struct Version {
    Sequence from, to;
    std::shared_ptr<const CachedRows> rows;
  };
  struct Range {
    std::string upper;
    std::vector<Version> versions;  // the newest last
    bool used = true;               // since eviction last came by
  };
  using Ranges = absl::btree_map<std::string, Range, std::less<>>;  // by their lower ends; none overlap
  struct Logged {
    Sequence up_to;  // the batch's sequence numbers are not above it; kOpen while it is written
    std::vector<std::string> keys;
  };
  // A range that the batch which is being written changes.
  struct Touched {
    std::shared_ptr<const CachedRows> rows;
    CachedRows::Changes changes;
  };

  Place look_up(std::string_view key, Sequence snapshot);
  Ranges::iterator range_with(std::string_view key);
  void close(const Change& change, Sequence latest);
  void erase_between(std::string_view begin, std::string_view end);
  void log(std::span<const Change> changes);
  bool changed_since(Sequence snapshot, const CachedRows& rows) const;
  void publish(std::string_view lower, const Touched& touched, std::shared_ptr<const CachedRows> rows,
               Sequence latest);
  void drop_old_versions(Range& range);
  Ranges::iterator erase(Ranges::iterator range);
  void make_room();
  void count(const CachedRows& rows);
  void discount(const CachedRows& rows);

  const uint64_t capacity_;
  std::atomic<uint64_t> bytes_{0};
  std::mutex mutex_;
  Ranges ranges_;
  std::string hand_;  // where eviction goes on
  std::deque<Logged> log_;
  size_t logged_keys_ = 0;
  Sequence log_begins_ = 0;  // all changes above this number are in the log
  absl::btree_map<Sequence, size_t> snapshots_;
  absl::btree_map<std::string, Touched> touched_;  // the committing thread's own
};

}  // namespace commitd::storage
