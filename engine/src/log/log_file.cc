#include "log/log_file.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/error_codes.h"

namespace commitd::binlog {
namespace {

constexpr uint64_t kReadAhead = 1 << 20;

}  // namespace

std::string log_file_header(EventOrigin origin, std::string_view server_version, const GtidSet& previous) {
  std::string header(kFileMagic);
  const size_t format = header.size();
  append_format_description(header, origin, server_version);
  const size_t gtids = header.size();
  append_previous_gtids(header, origin, previous);
  seal_event(header.data() + format, format);
  seal_event(header.data() + gtids, gtids);
  return header;
}

Status create_log_file(FileSystem& fs, const std::string& directory, const std::string& path,
                       std::string_view header) {
  auto file = fs.open(path, FileSystem::Open::Create);
  if (!file) return std::move(file).error();
  COMMITD_RETURN_IF_ERROR((*file)->write_at(0, std::span(&header, 1)));
  COMMITD_RETURN_IF_ERROR((*file)->sync_data());
  return fs.sync_directory(directory);
}

Result<LogFileHeader> read_log_file_header(File& file, const std::string& path) {
  auto size = file.size();
  if (!size) return std::move(size).error();
  std::string magic(kFileMagic.size(), '\0');
  auto got = file.read_at(0, magic);
  if (!got) return std::move(got).error();
  if (magic != kFileMagic) return make_error(er::kErrorOnRead, "'{}' is not a binary log file", path);

  LogFileHeader header;
  EventReader reader(file, kFileMagic.size(), *size);
  for (const EventType expected : {EventType::FormatDescription, EventType::PreviousGtids}) {
    EventView event;
    auto outcome = reader.next(event);
    if (!outcome) return std::move(outcome).error();
    if (*outcome != EventReader::Outcome::Event || event.header.type != expected) {
      return make_error(er::kErrorOnRead,
                        "The binary log file '{}' is damaged at offset {}: its header is incomplete", path,
                        reader.offset());
    }
    if (expected == EventType::FormatDescription) header.started = event.header.timestamp;
    if (expected == EventType::FormatDescription && load_le16(event.body(true).data()) != 4) {
      return make_error(er::kErrorOnRead, "'{}' has binary log format {}; this server reads format 4", path,
                        load_le16(event.body(true).data()));
    }
    if (expected == EventType::PreviousGtids) {
      auto previous = GtidSet::decode(event.body(true));
      if (!previous) return std::move(previous).error();
      header.previous = std::move(*previous);
    }
  }
  header.length = reader.next_offset();
  return header;
}

Result<bool> EventReader::fill(uint64_t length) {
  const uint64_t have_end = buffer_start_ + buffer_.size();
  if (next_ >= buffer_start_ && next_ + length <= have_end) return true;
  if (next_ + length > end_) return false;
  const uint64_t wanted = std::min(end_ - next_, std::max(length, kReadAhead));
  buffer_.resize(wanted);
  auto got = file_.read_at(next_, buffer_);
  if (!got) return std::move(got).error();
  buffer_.resize(*got);
  buffer_start_ = next_;
  return *got >= length;
}

Result<EventReader::Outcome> EventReader::next(EventView& event) {
  offset_ = next_;
  if (next_ >= end_) return Outcome::End;
  auto have_header = fill(kHeaderLength);
  if (!have_header) return std::move(have_header).error();
  if (!*have_header) return Outcome::Invalid;
  const uint32_t length = load_le32(buffer_.data() + (next_ - buffer_start_) + 9);
  if (length < kHeaderLength + kChecksumLength) return Outcome::Invalid;
  auto have_event = fill(length);
  if (!have_event) return std::move(have_event).error();
  if (!*have_event) return Outcome::Invalid;
  auto parsed = parse_event(std::string_view(buffer_).substr(next_ - buffer_start_));
  if (!parsed || !checksum_matches(*parsed)) return Outcome::Invalid;
  event = *parsed;
  next_ += length;
  return Outcome::Event;
}

Result<std::string> read_exactly(File& file, uint64_t offset, uint64_t length) {
  std::string bytes(length, '\0');
  auto got = file.read_at(offset, bytes);
  if (!got) return std::move(got).error();
  if (*got != length) {
    return make_error(er::kErrorOnRead, "The binary log ends at offset {}, before the {} bytes wanted at {}",
                      offset + *got, length, offset);
  }
  return bytes;
}

}  // namespace commitd::binlog
