#include "replication/unstored_keys.h"

#include <absl/hash/hash.h>

#include <algorithm>

namespace commitd::replication {
namespace {

// With more, every key counts as written: once, and the count begins anew.
constexpr size_t kMostKeys = 1 << 17;

}  // namespace

UnstoredKeys::Hash UnstoredKeys::hash_of(std::string_view key) {
  return absl::HashOf(key);
}

void UnstoredKeys::append_hashes(const WriteSet& writes, std::vector<Hash>& to) {
  to.reserve(to.size() + writes.entries().size());
  for (const auto& [key, entry] : writes.entries()) to.push_back(hash_of(key));
}

void UnstoredKeys::add(std::span<const Hash> written) {
  if (turns_.size() + written.size() > kMostKeys) return forget();
  ++turn_;
  for (const Hash key : written) turns_.insert_or_assign(key, turn_);
}

void UnstoredKeys::add(const WriteSet& writes) {
  if (turns_.size() + writes.entries().size() > kMostKeys) return forget();
  ++turn_;
  for (const auto& [key, entry] : writes.entries()) turns_.insert_or_assign(hash_of(key), turn_);
}

void UnstoredKeys::forget() {
  turns_.clear();
  everything_ = ++turn_;
}

bool UnstoredKeys::has_changed(Hash key, uint64_t turn) const {
  if (everything_ > turn) return true;
  const auto found = turns_.find(key);
  return found != turns_.end() && found->second > turn;
}

bool UnstoredKeys::have_changed(std::span<const Hash> keys, uint64_t turn) const {
  return std::any_of(keys.begin(), keys.end(), [&](Hash key) { return has_changed(key, turn); }) ||
         everything_ > turn;
}

}  // namespace commitd::replication
