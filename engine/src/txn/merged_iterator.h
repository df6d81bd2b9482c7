// The engine's keys in a range with a transaction's own writes laid over them. The write set may change
// between two steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/engine.h"
#include "storage/write_set.h"

namespace commitd::txn {

class MergedIterator {
 public:
  // Keys in [lower, upper), ascending or descending; an empty `upper` is no bound.
  // `ordered` lies between the engine's and the transaction's own.
  MergedIterator(storage::Engine& engine, storage::SnapshotPtr snapshot, WriteSet::Map ordered,
                 const WriteSet& writes, std::string lower, std::string upper, bool backwards);

  // False at the end. Key and value stay until the next step.
  Result<bool> next() {
    if (ended_) return false;
    return writes_.entries().empty() && ordered_.empty() ? next_committed() : next_merged();
  }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  using OwnEntry = const WriteSet::Map::value_type*;
  OwnEntry next_in(const WriteSet::Map& entries) const;
  OwnEntry next_uncommitted() const;
  Result<bool> next_committed();
  Result<bool> next_merged();
  bool position_committed();
  bool own_comes_first(OwnEntry own) const;
  void take_committed();
  void keep_key();

  const WriteSet::Map ordered_;
  const WriteSet& writes_;
  std::string lower_, upper_;
  const bool backwards_;
  std::unique_ptr<storage::Iterator> committed_;
  bool started_ = false, ended_ = false;
  bool committed_is_next_ = false;  // committed_ stands on a key that has not been passed yet
  // Where the engine's iterator or the write set has them, which neither keeps behind a step.
  std::string_view key_, value_;
  std::string own_key_, own_value_;
};

}  // namespace commitd::txn
