#include "log/log_archive.h"

#include <algorithm>

#include "base/error_codes.h"
#include "binlog/transaction_scanner.h"
#include "log/log_file.h"

namespace commitd::binlog {
namespace {

constexpr uint64_t kMicroseconds = 1'000'000;

// When the transaction that starts with this event was committed first.
Result<uint64_t> commit_time(const EventView& event) {
  if (event.header.type != EventType::Gtid) return event.header.timestamp * kMicroseconds;
  auto gtid = parse_gtid_event(event, true);
  if (!gtid) return std::move(gtid).error();
  return gtid->original_commit_timestamp != 0 ? gtid->original_commit_timestamp
                                              : event.header.timestamp * kMicroseconds;
}

}  // namespace

Result<LogArchive> LogArchive::open(FileSystem& fs, const std::string& directory,
                                    const std::string& base_name, LogPosition from) {
  LogIndex index(fs, directory, base_name);
  auto numbers = index.numbers_on_disk();
  if (!numbers) return std::move(numbers).error();
  std::erase_if(*numbers, [&](uint32_t number) { return number < from.file; });
  if (numbers->empty() || numbers->front() != from.file) {
    return make_error(er::kErrorOnRead, "'{}' lacks '{}', in which the data's position {} lies", directory,
                      index.name(from.file), from.offset);
  }
  for (size_t i = 1; i < numbers->size(); ++i) {
    if ((*numbers)[i] != (*numbers)[i - 1] + 1)
      return make_error(er::kErrorOnRead, "'{}' lacks '{}'", directory, index.name((*numbers)[i - 1] + 1));
  }
  return LogArchive(fs, std::move(index), std::move(*numbers), from);
}

Status LogArchive::visit(const Visit& visit) {
  for (uint32_t number : files_) {
    auto go_on = visit_file(number, visit);
    if (!go_on) return std::move(go_on).error();
    if (!*go_on) break;
  }
  return {};
}

Result<bool> LogArchive::visit_file(uint32_t number, const Visit& visit) {
  const std::string path = index_.path(number);
  auto file = fs_.open(path, FileSystem::Open::Read);
  if (!file) return std::move(file).error();
  auto size = (*file)->size();
  if (!size) return std::move(size).error();
  auto header = read_log_file_header(**file, path);
  if (!header) return std::move(header).error();
  const uint64_t start = number == from_.file ? std::max(from_.offset, header->length) : header->length;

  EventReader reader(**file, start, *size);
  TransactionScanner scanner;
  std::string events;
  uint64_t committed_at = 0;
  for (;;) {
    EventView event;
    auto outcome = reader.next(event);
    if (!outcome) return std::move(outcome).error();
    if (*outcome == EventReader::Outcome::End) return true;
    if (*outcome == EventReader::Outcome::Invalid) {
      if (number == files_.back()) return true;
      return make_error(er::kErrorOnRead, "'{}' is damaged at offset {}, and later files follow", path,
                        reader.offset());
    }
    if (!scanner.inside()) {
      events.clear();
      auto time = commit_time(event);
      if (!time) return std::move(time).error();
      committed_at = *time;
    }
    events += event.bytes;
    auto place = scanner.feed(event, reader.offset());
    if (!place) return make_error(er::kErrorOnRead, "'{}' is damaged: {}", path, place.error().message);
    if (!TransactionScanner::completes(*place)) continue;
    const TransactionScanner::Transaction& found = scanner.transaction();
    auto go_on =
        visit({{number, found.start}, {number, found.end}, found.gtid, found.epoch, committed_at, events});
    if (!go_on || !*go_on) return go_on;
  }
}

}  // namespace commitd::binlog
