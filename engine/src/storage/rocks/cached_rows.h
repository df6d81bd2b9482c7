// The rows of one range of keys, as they were at one moment: what RowCache keeps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace commitd::storage {

class CachedRows {
 public:
  // What happens to keys; nullopt: the key goes.
  using Changes = std::map<std::string_view, std::optional<std::string_view>>;

  // Of [lower, …); rows are added in the order of their keys.
  explicit CachedRows(std::string_view lower) : lower_(lower) {}
  void add(std::string_view key, std::string_view value);
  void end_at(std::string_view upper) { upper_ = upper; }

  std::string_view lower() const { return lower_; }
  std::string_view upper() const { return upper_; }
  size_t size() const { return places_.size(); }
  std::string_view key(size_t i) const { return between(places_[i].key, places_[i].value); }
  std::string_view value(size_t i) const { return between(places_[i].value, end(i)); }
  size_t lower_bound(std::string_view key) const;  // the first one that is not below `key`
  bool get(std::string_view key, std::string& value) const;
  uint64_t bytes() const;  // of memory

  // The same range with these changes, all of them in it.
  std::shared_ptr<const CachedRows> changed(const Changes& changes) const;

 private:
  struct Place {
    uint32_t key, value;  // where they begin in data_; a value ends where the next key begins
  };
  void add_run(const CachedRows& other, size_t first, size_t last);  // of its rows, without `last`
  size_t end(size_t i) const { return i + 1 < places_.size() ? places_[i + 1].key : data_.size(); }
  std::string_view between(size_t from, size_t to) const { return {data_.data() + from, to - from}; }

  std::string lower_, upper_;
  std::string data_;
  std::vector<Place> places_;
};

}  // namespace commitd::storage
