#include "txn/merged_iterator.h"

namespace commitd::txn {

MergedIterator::MergedIterator(storage::Engine& engine, storage::SnapshotPtr snapshot, WriteSet::Map ordered,
                               const WriteSet& writes, std::string lower, std::string upper, bool backwards)
    : ordered_(std::move(ordered)),
      writes_(writes),
      lower_(std::move(lower)),
      upper_(std::move(upper)),
      backwards_(backwards),
      committed_(engine.iterate(std::move(snapshot), lower_, upper_)) {}

MergedIterator::OwnEntry MergedIterator::next_uncommitted() const {
  const OwnEntry own = next_in(writes_.entries());
  const OwnEntry ordered = next_in(ordered_);
  if (own == nullptr || ordered == nullptr) return own != nullptr ? own : ordered;
  if (own->first == ordered->first) return own;
  return (own->first < ordered->first) != backwards_ ? own : ordered;
}

// The next entry behind key_, found anew each time because the write set may have changed.
MergedIterator::OwnEntry MergedIterator::next_in(const WriteSet::Map& own) const {
  if (own.empty()) return nullptr;
  if (!backwards_) {
    const auto at = started_ ? own.upper_bound(key_) : own.lower_bound(std::string_view(lower_));
    return at == own.end() || (!upper_.empty() && at->first >= upper_) ? nullptr : &*at;
  }
  const std::string_view bound = started_ ? key_ : std::string_view(upper_);
  auto at = bound.empty() ? own.end() : own.lower_bound(bound);
  if (at == own.begin()) return nullptr;
  --at;
  return at->first < lower_ ? nullptr : &*at;
}

// Whether the engine has a key that has not been passed yet.
bool MergedIterator::position_committed() {
  if (!started_) {
    if (!backwards_) {
      committed_->seek(lower_);
    } else {
      // The engine's own bounds keep this below `upper`.
      committed_->seek_for_prev(upper_.empty() ? std::string(64, '\xFF') : upper_);
    }
  } else if (!committed_is_next_ && committed_->valid()) {
    backwards_ ? committed_->prev() : committed_->next();
  }
  committed_is_next_ = committed_->valid();
  return committed_is_next_;
}

bool MergedIterator::own_comes_first(OwnEntry own) const {
  if (own == nullptr) return false;
  if (!committed_is_next_) return true;
  return backwards_ ? own->first >= committed_->key() : own->first <= committed_->key();
}

void MergedIterator::take_committed() {
  key_ = committed_->key();
  value_ = committed_->value();
  committed_is_next_ = false;
}

Result<bool> MergedIterator::next_committed() {
  const bool there = position_committed();
  started_ = true;
  if (!there) {
    ended_ = true;
    COMMITD_RETURN_IF_ERROR(committed_->status());
    return false;
  }
  take_committed();
  return true;
}

// The write set is searched behind key_, which may be the engine's iterator's.
void MergedIterator::keep_key() {
  if (!started_ || key_.data() == own_key_.data()) return;
  own_key_.assign(key_);
  key_ = own_key_;
}

Result<bool> MergedIterator::next_merged() {
  while (true) {
    keep_key();
    if (!position_committed()) COMMITD_RETURN_IF_ERROR(committed_->status());
    const OwnEntry own = next_uncommitted();
    const bool take_own = own_comes_first(own);
    started_ = true;
    if (!take_own) {
      ended_ = !committed_is_next_;
      if (ended_) return false;
      take_committed();
      return true;
    }
    if (committed_is_next_ && committed_->key() == own->first) committed_is_next_ = false;  // overwritten
    own_key_ = own->first;
    key_ = own_key_;
    if (!own->second.value) continue;
    COMMITD_RETURN_IF_ERROR(writes_.read_value(own->second, own_value_));
    value_ = own_value_;
    return true;
  }
}

}  // namespace commitd::txn
