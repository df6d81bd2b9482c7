// The bytes of one transaction's events, which only grow at the end and shrink from there. The end is in
// memory; what is in front of it may have been moved to a temporary file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/temporary_file.h"

namespace commitd::binlog {

class EventSpool {
 public:
  size_t size() const { return on_disk_ + tail_.size(); }
  bool empty() const { return size() == 0; }
  size_t on_disk() const { return on_disk_; }
  size_t in_memory() const { return tail_.size(); }
  // What is in memory: append to it.
  std::string& tail() { return tail_; }

  // Moves what stands in front of `up_to` to the file. On failure everything is where it was.
  Status spill(const TemporaryPlace& place, size_t up_to);
  void truncate(size_t size);
  void clear();  // and the file is gone
  // Overwrites bytes that are there, wherever they are.
  Status overwrite(size_t offset, std::string_view bytes);
  // All of `into`; it must be within size().
  Status read(size_t offset, std::span<char> into) const;

 private:
  std::unique_ptr<File> file_;
  size_t on_disk_ = 0;
  std::string tail_;
};

}  // namespace commitd::binlog
