#include "storage/rocks/cached_rows.h"

#include <algorithm>

namespace commitd::storage {

void CachedRows::add(std::string_view key, std::string_view value) {
  const auto at = static_cast<uint32_t>(data_.size());
  places_.push_back({at, at + static_cast<uint32_t>(key.size())});
  data_.append(key);
  data_.append(value);
}

size_t CachedRows::lower_bound(std::string_view wanted) const {
  size_t first = 0;
  for (size_t left = size(); left > 0;) {
    const size_t half = left / 2;
    if (key(first + half) < wanted) {
      first += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return first;
}

bool CachedRows::get(std::string_view wanted, std::string& found) const {
  const size_t at = lower_bound(wanted);
  if (at == size() || key(at) != wanted) return false;
  found.assign(value(at));
  return true;
}

uint64_t CachedRows::bytes() const {
  return sizeof(CachedRows) + lower_.capacity() + upper_.capacity() + data_.capacity() +
         places_.capacity() * sizeof(Place);
}

void CachedRows::add_run(const CachedRows& other, size_t first, size_t last) {
  if (first == last) return;
  const uint32_t from = other.places_[first].key;
  const auto shift = static_cast<uint32_t>(data_.size()) - from;  // modulo 2^32, as are the sums below
  data_.append(other.between(from, other.end(last - 1)));
  for (size_t i = first; i < last; ++i)
    places_.push_back({other.places_[i].key + shift, other.places_[i].value + shift});
}

std::shared_ptr<const CachedRows> CachedRows::changed(const Changes& changes) const {
  auto after = std::make_shared<CachedRows>(lower_);
  after->end_at(upper_);
  after->data_.reserve(data_.size());
  after->places_.reserve(size() + changes.size());
  size_t next = 0;
  for (const auto& [key, value] : changes) {
    const size_t at = lower_bound(key);
    after->add_run(*this, next, at);
    next = at < size() && this->key(at) == key ? at + 1 : at;
    if (value) after->add(key, *value);
  }
  after->add_run(*this, next, size());
  return after;
}

}  // namespace commitd::storage
