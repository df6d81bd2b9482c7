#include "binlog/event_spool.h"

#include <algorithm>

#include "base/error_codes.h"

namespace commitd::binlog {

Status EventSpool::spill(const TemporaryPlace& place, size_t up_to) {
  if (up_to <= on_disk_) return {};
  if (!file_) {
    auto opened = open_temporary_file(place);
    if (!opened) return std::move(opened).error();
    file_ = std::move(*opened);
  }
  const size_t length = up_to - on_disk_;
  const std::string_view front = std::string_view(tail_).substr(0, length);
  COMMITD_RETURN_IF_ERROR(file_->write_at(on_disk_, std::span(&front, 1)));
  tail_.erase(0, length);
  on_disk_ += length;
  return {};
}

// The file keeps its size: what is behind on_disk_ is overwritten, or goes with it.
void EventSpool::truncate(size_t size) {
  tail_.resize(size > on_disk_ ? size - on_disk_ : 0);
  on_disk_ = std::min(on_disk_, size);
}

void EventSpool::clear() {
  file_.reset();
  on_disk_ = 0;
  tail_.clear();
}

Status EventSpool::overwrite(size_t offset, std::string_view bytes) {
  const size_t in_file = offset < on_disk_ ? std::min(bytes.size(), on_disk_ - offset) : 0;
  if (in_file != 0) {
    const std::string_view front = bytes.substr(0, in_file);
    COMMITD_RETURN_IF_ERROR(file_->write_at(offset, std::span(&front, 1)));
  }
  if (in_file < bytes.size()) bytes.copy(tail_.data() + offset + in_file - on_disk_, bytes.size(), in_file);
  return {};
}

Status EventSpool::read(size_t offset, std::span<char> into) const {
  const size_t in_file = offset < on_disk_ ? std::min(into.size(), on_disk_ - offset) : 0;
  if (in_file != 0) {
    auto got = file_->read_at(offset, into.first(in_file));
    if (!got) return std::move(got).error();
    if (*got != in_file) {
      return make_error(er::kErrorOnRead, "A transaction's temporary file ends at {}, {} bytes wanted at {}",
                        offset + *got, in_file, offset);
    }
  }
  if (in_file < into.size())
    tail_.copy(into.data() + in_file, into.size() - in_file, offset + in_file - on_disk_);
  return {};
}

}  // namespace commitd::binlog
