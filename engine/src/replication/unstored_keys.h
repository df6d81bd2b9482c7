// Which keys the latest transactions have written, and in whose turn: those of which the engine may not have
// the newest value yet, and those that have changed since somebody looked. May name a key that nobody wrote,
// and never misses one.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "storage/write_set.h"

namespace commitd::replication {

class UnstoredKeys {
 public:
  using Hash = uint64_t;
  static Hash hash_of(std::string_view key);
  static void append_hashes(const WriteSet& writes, std::vector<Hash>& to);

  // Of the next transaction.
  void add(std::span<const Hash> written);
  void add(const WriteSet& writes);
  uint64_t turn() const { return turn_; }  // of the latest
  // From here on any key may have been written.
  void forget();

  // The engine has what was written up to that turn, and shows it. From any thread, as is stored().
  void stored_up_to(uint64_t turn) { stored_.store(turn, std::memory_order_release); }
  uint64_t stored() const { return stored_.load(std::memory_order_acquire); }

  bool may_have(std::string_view key) const { return has_changed(hash_of(key), stored()); }
  // Behind that turn.
  bool have_changed(std::span<const Hash> keys, uint64_t turn) const;

 private:
  bool has_changed(Hash key, uint64_t turn) const;

  absl::flat_hash_map<Hash, uint64_t> turns_;  // in which it was written last
  uint64_t turn_ = 0;
  uint64_t everything_ = 0;  // the turn in which every key counts as written
  std::atomic<uint64_t> stored_{0};
};

}  // namespace commitd::replication
