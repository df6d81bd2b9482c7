// Opening the log: what a crash may have left is told apart from damage, a torn tail is cut, half-made files
// are removed.
#include <algorithm>
#include <ctime>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "binlog/transaction_scanner.h"
#include "log/log_impl.h"

namespace commitd::binlog {
namespace {

// What is looked through at a time: a torn transaction may be larger than memory.
constexpr uint64_t kWindow = 1 << 20;
constexpr uint64_t kLargestGroupOpen = 128;

// Where groups start that were opened when everything before them was durable. `position`: of `bytes` in the
// file.
std::vector<size_t> group_opens_in(std::string_view bytes, uint64_t position) {
  std::vector<size_t> found;
  const std::string mark = std::string(kOwnMagic) + static_cast<char>(OwnKind::GroupOpen);
  for (size_t at = bytes.find(mark); at != bytes.npos; at = bytes.find(mark, at + 1)) {
    if (at < kHeaderLength) continue;
    const size_t start = at - kHeaderLength;
    auto event = parse_event(bytes.substr(start));
    if (!event || event->header.end_position != position + start + event->bytes.size() ||
        !checksum_matches(*event))
      continue;
    const auto group = parse_group_open(*event, true);
    if (group && group->earlier_is_durable) found.push_back(start);
  }
  return found;
}

}  // namespace

struct Log::Impl::FileScan {
  uint64_t boundary =
      0;  // end of the last complete transaction, or of the last event that stands outside of one
  uint64_t invalid_at = 0;  // where the first unreadable event stands; 0 = there is none
  uint64_t size = 0;
  bool ends_with_rotate = false;
  GtidSet previous, gtids;
};

Status Log::Impl::open(LogPosition scan_from, OpenReport& report) {
  COMMITD_RETURN_IF_ERROR(fs.make_directory(options.directory));
  auto listed = index.load();
  if (!listed) return std::move(listed).error();
  if (!*listed || index.numbers().empty()) COMMITD_RETURN_IF_ERROR(open_first(scan_from));
  COMMITD_RETURN_IF_ERROR(remove_unlisted_files(scan_from));
  COMMITD_RETURN_IF_ERROR(open_files());
  if (options.left_at != LogPosition()) COMMITD_RETURN_IF_ERROR(drop_behind(options.left_at));
  if (options.relay_recovery_at != LogPosition())
    COMMITD_RETURN_IF_ERROR(drop_relay_tail(options.relay_recovery_at));
  COMMITD_RETURN_IF_ERROR(load_added_purged());
  return scan(scan_from, report);
}

Status create_log(FileSystem& fs, const LogOptions& options, uint32_t number) {
  LogIndex index(fs, options.directory, options.base_name);
  const EventOrigin origin{options.server_id, static_cast<uint32_t>(std::time(nullptr))};
  const std::string header = log_file_header(origin, options.server_version, options.initial_gtids);
  COMMITD_RETURN_IF_ERROR(index.remove_relay_files());
  if (fs.exists(index.path(number))) COMMITD_RETURN_IF_ERROR(fs.remove(index.path(number)));
  COMMITD_RETURN_IF_ERROR(create_log_file(fs, options.directory, index.path(number), header));
  return index.store({number});
}

std::string log_file_name(const LogOptions& options, uint32_t number) {
  return fmt::format("{}.{:06}", options.base_name, number);
}

// No index: the first start, or a crash during it. Any other log files are somebody's data that we do not
// understand.
Status Log::Impl::open_first(LogPosition scan_from) {
  auto on_disk = index.numbers_on_disk();
  if (!on_disk) return std::move(on_disk).error();
  if (scan_from.file != 0 && options.initial_gtids.empty()) {
    return make_error(er::kErrorOnRead,
                      "The data goes with position {} of '{}', but '{}' holds no binary log. Restore the log "
                      "files, or empty the datadir",
                      scan_from.offset, index.name(scan_from.file), options.directory);
  }
  const std::string header = log_file_header(origin(), options.server_version, options.initial_gtids);
  for (uint32_t number : *on_disk) {
    auto file = fs.open(index.path(number), FileSystem::Open::Read);
    if (!file) return std::move(file).error();
    auto size = (*file)->size();
    if (!size) return std::move(size).error();
    if (on_disk->size() > 1 || *size > header.size()) {
      return make_error(er::kErrorOnRead,
                        "'{}' holds binary log files but no index of them ('{}.index'). Restore it",
                        options.directory, options.base_name);
    }
    COMMITD_RETURN_IF_ERROR(fs.remove(index.path(number)));
  }
  return start_new_file(scan_from.file + 1, options.initial_gtids);
}

std::string cut_note_path(const LogOptions& options) {
  return fmt::format("{}/{}.cut", options.directory, options.base_name);
}

// Left by a rotation, a purge or a cut that a crash interrupted. Anything else is not the index's to decide:
// it may have lost lines.
Status Log::Impl::remove_unlisted_files(LogPosition scan_from) {
  const std::string note = cut_note_path(options);
  const bool was_cut = fs.exists(note);
  std::vector<std::string> unlisted;
  for (LogKind kind : {LogKind::Binary, LogKind::Relay}) {
    auto on_disk = index.numbers_on_disk(kind);
    if (!on_disk) return std::move(on_disk).error();
    for (uint32_t number : *on_disk) {
      if (index.contains(number) && index.kind(number) == kind) continue;
      if (!was_cut) COMMITD_RETURN_IF_ERROR(check_unlisted_file(number, kind, scan_from));
      unlisted.push_back(index.path(number, kind));
    }
  }
  for (const std::string& path : unlisted) COMMITD_RETURN_IF_ERROR(fs.remove(path));
  if (!was_cut) return {};
  COMMITD_RETURN_IF_ERROR(fs.sync_directory(options.directory));
  return fs.remove(note);
}

// A purge takes the oldest files of a kind, and none that the engine needs; a rotation leaves a header at
// most.
Status Log::Impl::check_unlisted_file(uint32_t number, LogKind kind, LogPosition scan_from) {
  const std::vector<uint32_t> listed = index.numbers(kind);
  const bool is_needed = scan_from.file != 0 && number >= scan_from.file;
  if (!is_needed && number < (listed.empty() ? index.numbers().back() : listed.front())) return {};
  const std::string path = index.path(number, kind);
  auto file = fs.open(path, FileSystem::Open::Read);
  if (!file) return std::move(file).error();
  auto size = (*file)->size();
  if (!size) return std::move(size).error();
  auto header = read_log_file_header(**file, path);
  if (!header || *size <= header->length) return {};
  return make_error(
      er::kErrorOnRead,
      "'{}' holds more than a header, but '{}' does not name it. Nothing was changed: restore the "
      "index's lines, or move the file away if it is not this server's",
      path, index.index_path(kind));
}

Status Log::Impl::open_files() {
  for (uint32_t number : index.numbers()) {
    auto file = fs.open(index.path(number), FileSystem::Open::Read);
    if (!file) return std::move(file).error();
    auto size = (*file)->size();
    if (!size) return std::move(size).error();
    MutexLock lock(mutex);
    file_states[number].size = *size;
  }
  has_relay = index.has_relay();
  return {};
}

// Of what was not synced when the log was left, less may be there.
Status Log::Impl::drop_behind(LogPosition left_at) {
  const auto behind = std::upper_bound(index.numbers().begin(), index.numbers().end(), left_at.file);
  if (behind == index.numbers().begin()) {
    return make_error(er::kErrorOnRead, "The binary log was left in '{}', which is not there any more",
                      index.path(left_at.file));
  }
  const uint32_t last = *std::prev(behind);
  auto file = open_file(last);
  if (!file) return std::move(file).error();
  const uint64_t size = file->second;
  const LogPosition at{last, last == left_at.file ? std::min(size, left_at.offset) : size};
  if (behind == index.numbers().end() && at.offset == size) return {};
  return cut(at);
}

Status Log::Impl::scan(LogPosition scan_from, OpenReport& report) {
  const uint32_t first = index.numbers().front(), last = index.numbers().back();
  // A clone's data goes with a position in front of its first file. Whether that fits is for replay to say,
  // which knows the GTIDs.
  const uint32_t start = std::max(first, scan_from.file);
  auto gone = purged();
  if (!gone) return std::move(gone).error();
  report.purged = std::move(*gone);
  GtidSet in_front;  // of the next file, as far as it was read
  for (uint32_t number : index.numbers()) {
    if (number < start) continue;
    if (number == last) break;
    auto found = scan_file(number, report);
    if (!found) return std::move(found).error();
    COMMITD_RETURN_IF_ERROR(check_previous(number, *found, in_front));
    in_front = found->previous;
    in_front.add(found->gtids);
    if (found->invalid_at != 0 || found->boundary != found->size) {
      return make_error(
          er::kErrorOnRead,
          "The binary log file '{}' is damaged at offset {} and later files follow. Nothing was changed",
          index.path(number), found->invalid_at != 0 ? found->invalid_at : found->boundary);
    }
  }
  report.last_sequence_number = 0;
  auto found = scan_file(last, report);
  if (!found) return std::move(found).error();
  COMMITD_RETURN_IF_ERROR(check_previous(last, *found, in_front));
  report.logged = found->previous;
  report.logged.add(found->gtids);
  const LogPosition end_found{last, found->boundary};
  if (scan_from > end_found && options.left_at == LogPosition()) {
    return make_error(
        er::kErrorOnRead,
        "The binary log ends at offset {} of '{}', before position {} of '{}' that the data goes with",
        end_found.offset, index.name(last), scan_from.offset, index.name(scan_from.file));
  }
  return finish_last_file(last, *found, report);
}

// It may know of more: of what was purged on purpose, or committed while the log was left.
Status Log::Impl::check_previous(uint32_t number, const FileScan& found, const GtidSet& in_front) const {
  if (found.previous.contains(in_front)) return {};
  GtidSet missing = in_front;
  missing.subtract(found.previous);
  return make_error(
      er::kErrorOnRead,
      "The binary log file '{}' does not go on where the file in front of it ends, which has {}. "
      "Nothing was changed; restore the file from a replica or a backup",
      index.path(number), missing.to_string());
}

// Groups are written one behind the other, and know of acknowledgements in front of them.
bool Log::Impl::fits_its_place(const GroupOpen& group, const GroupOpen& before, LogPosition at) {
  return group.number > before.number && group.acknowledged <= at;
}

Result<Log::Impl::FileScan> Log::Impl::scan_file(uint32_t number, OpenReport& report) {
  auto opened = open_file(number);
  if (!opened) return std::move(opened).error();
  const auto& [file, size] = *opened;
  auto header = read_log_file_header(*file, index.path(number));
  if (!header) return std::move(header).error();

  FileScan found;
  found.size = size;
  found.boundary = header->length;
  found.previous = std::move(header->previous);
  EventReader events(*file, header->length, found.size);
  TransactionScanner scanner;
  const auto misplaced = [&](std::string_view what) {
    return make_error(
        er::kErrorOnRead,
        "The binary log file '{}' is damaged: {} at offset {} does not belong there. Nothing was "
        "changed; restore the file from a replica or a backup",
        index.path(number), what, events.offset());
  };
  GroupOpen last_group;
  for (;;) {
    EventView event;
    auto outcome = events.next(event);
    if (!outcome) return std::move(outcome).error();
    if (*outcome == EventReader::Outcome::End) return found;
    if (*outcome == EventReader::Outcome::Invalid) {
      found.invalid_at = events.offset();
      return found;
    }
    if (event.header.end_position != 0 && event.header.end_position != events.next_offset())
      return misplaced("the event");
    if (auto group = parse_group_open(event, true)) {
      if (!fits_its_place(*group, last_group, {number, events.offset()}))
        return misplaced("the commit group");
      last_group = *group;
      report.last_group = std::max(report.last_group, group->number);
      report.acknowledged = std::max(report.acknowledged, group->acknowledged);
      continue;  // no boundary: without its transactions it goes as well
    }
    auto place = scanner.feed(event, events.offset());
    if (!place) {
      return make_error(er::kErrorOnRead, "The binary log file '{}' is damaged: {}. Nothing was changed",
                        index.path(number), place.error().message);
    }
    if (TransactionScanner::completes(*place)) {
      const TransactionScanner::Transaction& ended = scanner.transaction();
      if (found.previous.contains(ended.gtid) || found.gtids.contains(ended.gtid)) {
        return make_error(er::kErrorOnRead,
                          "The binary log file '{}' gives {} to two transactions, the second at offset {}. "
                          "Nothing was changed; restore the file from a replica or a backup",
                          index.path(number), ended.gtid.to_string(), ended.start);
      }
      if (!ended.gtid.empty()) found.gtids.add(ended.gtid);
      report.last_epoch = std::max(report.last_epoch, ended.epoch);
      if (ended.sequence_number != 0) report.last_sequence_number = ended.sequence_number;
    }
    if (!scanner.inside()) found.boundary = events.next_offset();
    found.ends_with_rotate = event.header.type == EventType::Rotate || event.header.type == EventType::Stop;
  }
}

Status Log::Impl::finish_last_file(uint32_t number, const FileScan& found, OpenReport& report) {
  if (found.invalid_at != 0) {
    auto later = later_group(number, found.invalid_at);
    if (!later) return std::move(later).error();
    if (*later) {
      return make_error(er::kErrorOnRead,
                        "The binary log file '{}' is damaged at offset {}: a later commit group follows at "
                        "offset {}, so this is no torn tail. "
                        "Nothing was changed; restore the file from a replica or a backup",
                        index.path(number), found.invalid_at, **later);
    }
  }
  auto only_filler = is_filler(number, found.boundary);
  if (!only_filler) return std::move(only_filler).error();
  COMMITD_RETURN_IF_ERROR(open_writer({number, found.boundary}));
  report.truncated_bytes = *only_filler ? 0 : found.size - found.boundary;
  if (found.size != found.boundary) COMMITD_RETURN_IF_ERROR(writer->truncate(found.boundary));
  // What was read may so far be in the page cache only.
  COMMITD_RETURN_IF_ERROR(sync_writer());
  if (found.ends_with_rotate) {
    COMMITD_RETURN_IF_ERROR(start_new_file(number + 1, report.logged, index.kind(number)));
    report.last_sequence_number = 0;
  }
  report.end = end;
  return {};
}

// Whether nothing stands from `from` on but zeros that were written ahead of the end, and their header.
Result<bool> Log::Impl::is_filler(uint32_t number, uint64_t from) {
  auto opened = open_file(number);
  if (!opened) return std::move(opened).error();
  const auto& [file, size] = *opened;
  const uint64_t length = size - from;
  if (length < kHeaderLength) return false;
  auto header = read_exactly(*file, from, kHeaderLength);
  if (!header) return std::move(header).error();
  const bool has_header =
      static_cast<EventType>((*header)[4]) == EventType::Ignorable && event_length(*header) == length;
  bool only_zeros = has_header || header->find_first_not_of('\0') == std::string::npos;
  for (uint64_t at = kHeaderLength; at < length && only_zeros; at += kWindow) {
    auto zeros = read_exactly(*file, from + at, std::min(length - at, kWindow));
    if (!zeros) return std::move(zeros).error();
    only_zeros = zeros->find_first_not_of('\0') == std::string::npos;
  }
  return only_zeros;
}

// Looks for a group that was opened behind `behind` when everything before it was already durable. The
// position inside the event must be its own, so that a copy of a log in somebody's BLOB does not count.
Result<std::optional<uint64_t>> Log::Impl::later_group(uint32_t number, uint64_t behind) {
  auto opened = open_file(number);
  if (!opened) return std::move(opened).error();
  const auto& [file, size] = *opened;
  for (uint64_t at = behind; at < size; at += kWindow) {
    auto window = read_exactly(*file, at, std::min(size - at, kWindow + kLargestGroupOpen));
    if (!window) return std::move(window).error();
    for (size_t start : group_opens_in(*window, at)) {
      if (start != 0 || at != behind) return std::optional(at + start);
    }
  }
  return std::optional<uint64_t>();
}

}  // namespace commitd::binlog
