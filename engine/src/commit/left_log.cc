#include "commit/left_log.h"

#include <array>
#include <charconv>

#include "base/error_codes.h"

namespace commitd::binlog {
namespace {

// Always as long, and within one sector: to write it again needs no room, and a crash leaves one text or the
// other.
constexpr size_t kNoteLength = 64;
constexpr std::string_view kNoNote = "not left";

std::string note_path(const LogOptions& options) {
  return fmt::format("{}/{}.left", options.directory, options.base_name);
}

Status write_note(FileSystem& fs, const LogOptions& options, std::string_view text) {
  const std::string note = fmt::format("{:<{}}\n", text, kNoteLength - 1);
  if (!fs.exists(note_path(options))) return write_file_atomically(fs, note_path(options), note);
  auto file = fs.open(note_path(options), FileSystem::Open::ReadWrite);
  if (!file) return std::move(file).error();
  const std::array<std::string_view, 1> pieces{note};
  COMMITD_RETURN_IF_ERROR((*file)->write_at(0, pieces));
  return (*file)->sync_data();
}

std::optional<LogPosition> parse_note(std::string_view text) {
  LogPosition at;
  const char* const end = text.data() + text.size();
  const auto file = std::from_chars(text.data(), end, at.file);
  if (file.ec != std::errc{} || file.ptr == end || *file.ptr != ' ') return std::nullopt;
  const auto offset = std::from_chars(file.ptr + 1, end, at.offset);
  if (offset.ec != std::errc{} || offset.ptr == end || *offset.ptr != ' ') return std::nullopt;
  return at;
}

}  // namespace

Status reserve_note_of_leaving(FileSystem& fs, const LogOptions& options) {
  return fs.exists(note_path(options)) ? Status{} : write_note(fs, options, kNoNote);
}

Status note_leaving(FileSystem& fs, const LogOptions& options, LogPosition at) {
  return write_note(fs, options, fmt::format("{} {}", at.file, at.offset));
}

Status note_return(FileSystem& fs, const LogOptions& options) {
  return write_note(fs, options, kNoNote);
}

Result<std::optional<LogPosition>> place_of_leaving(FileSystem& fs, const LogOptions& options) {
  if (!fs.exists(note_path(options))) return std::optional<LogPosition>();
  auto text = read_whole_file(fs, note_path(options));
  if (!text) return std::move(text).error();
  if (text->starts_with(kNoNote)) return std::optional<LogPosition>();
  auto at = parse_note(*text);
  if (!at) return make_error(er::kErrorOnRead, "'{}' is damaged: {}", note_path(options), *text);
  return at;
}

Status look_for_left_log(FileSystem& fs, LogOptions& options, const storage::CommitPoint& point) {
  auto left = place_of_leaving(fs, options);
  if (!left) return std::move(left).error();
  if (*left && point.position > **left) {
    left->reset();
    COMMITD_RETURN_IF_ERROR(note_return(fs, options));
  }
  if (*left) options.left_at = **left;
  const bool has_all = *left && point.position == **left;
  if (has_all || point.position.file == 0) options.initial_gtids = point.executed;
  return {};
}

}  // namespace commitd::binlog
