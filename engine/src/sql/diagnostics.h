// Warnings of the last statement: what SHOW WARNINGS lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace commitd::sql {

class Diagnostics {
 public:
  enum class Level : uint8_t { Note, Warning, Error };
  struct Condition {
    Level level;
    uint16_t code;
    std::string message;
  };
  void clear() {
    conditions_.clear();
    total_ = 0;
  }
  // max_error_count: what is beyond it is counted only.
  void set_limit(size_t limit) { limit_ = limit; }
  void keep_notes(bool kept) { notes_kept_ = kept; }  // sql_notes
  void add(Level level, Error error) {
    ++total_;
    if (conditions_.size() < limit_) conditions_.push_back({level, error.code, std::move(error.message)});
  }
  void warn(Error error) { add(Level::Warning, std::move(error)); }
  void note(Error error) {
    if (notes_kept_) add(Level::Note, std::move(error));
  }
  const std::vector<Condition>& conditions() const { return conditions_; }
  uint16_t count() const { return static_cast<uint16_t>(std::min<size_t>(total_, UINT16_MAX)); }

 private:
  std::vector<Condition> conditions_;
  size_t total_ = 0;
  size_t limit_ = 1024;
  bool notes_kept_ = true;
};

}  // namespace commitd::sql
