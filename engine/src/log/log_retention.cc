// What of the log is kept, and what is known to be gone.
#include <algorithm>

#include "base/error_codes.h"
#include "log/log_impl.h"

namespace commitd::binlog {

// The index forgets a file before it goes, so that a listed file is never missing.
Result<PurgeReport> Log::Impl::purge(uint32_t first_kept) {
  PurgeReport report;
  std::vector<uint32_t> kept, dropped;
  {
    MutexLock lock(mutex);
    const std::vector<uint32_t> numbers = index.numbers(LogKind::Binary);
    // Where the relay log is written, the last binary log file in front of it stays.
    const auto behind = std::upper_bound(numbers.begin(), numbers.end(), std::min(first_kept, end.file));
    first_kept = behind == numbers.begin() ? numbers.front() : *std::prev(behind);
    report.wanted = std::lower_bound(numbers.begin(), numbers.end(), first_kept) - numbers.begin();
    if (!holds.empty() && *holds.begin() < first_kept) {
      first_kept = std::max(*holds.begin(), numbers.front());
      report.readers = holds.count(*holds.begin());
    }
    for (uint32_t number : index.numbers()) {
      const bool goes = number < first_kept && index.kind(number) == LogKind::Binary;
      (goes ? dropped : kept).push_back(number);
    }
    report.first_kept = *std::lower_bound(numbers.begin(), numbers.end(), first_kept);
    if (dropped.empty()) return report;
    COMMITD_RETURN_IF_ERROR(index.store(std::move(kept)));
    for (uint32_t number : dropped) file_states.erase(number);
  }
  for (uint32_t number : dropped) {
    const std::string path = index.path(number);
    if (!fs.exists(path)) {
      report.missing.push_back(path);
      continue;
    }
    COMMITD_RETURN_IF_ERROR(fs.remove(path));
    ++report.removed;
  }
  COMMITD_RETURN_IF_ERROR(fs.sync_directory(options.directory));
  return report;
}

// A file was written to until its successor was started. Unlike the file's own time this survives copying.
Result<uint32_t> Log::Impl::first_written_since(int64_t time) {
  std::vector<uint32_t> numbers;
  {
    MutexLock lock(mutex);
    numbers = index.numbers(LogKind::Binary);
  }
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    auto successor = header(numbers[i + 1]);
    if (!successor) return std::move(successor).error();
    if (successor->started >= time) return numbers[i];
  }
  return numbers.back();
}

uint64_t Log::Impl::bytes_between(LogPosition from, LogPosition to) {
  if (to <= from) return 0;
  if (from.file == to.file) return to.offset - from.offset;
  MutexLock lock(mutex);
  uint64_t bytes = to.offset;
  for (auto state = file_states.lower_bound(from.file); state != file_states.end() && state->first < to.file;
       ++state)
    bytes += state->second.size;
  return bytes - (file_states.contains(from.file) ? std::min(bytes, from.offset) : 0);
}

std::string added_purged_path(const LogOptions& options) {
  return fmt::format("{}/{}.purged", options.directory, options.base_name);
}

Status Log::Impl::load_added_purged() {
  if (!fs.exists(added_purged_path(options))) return {};
  auto text = read_whole_file(fs, added_purged_path(options));
  if (!text) return std::move(text).error();
  while (!text->empty() && text->back() == '\n') text->pop_back();
  auto gtids = GtidSet::parse(*text);
  if (!gtids) return make_error(er::kErrorOnRead, "'{}' is damaged: {}", added_purged_path(options), *text);
  MutexLock lock(mutex);
  added_purged = std::move(*gtids);
  return {};
}

Status Log::Impl::add_purged(const GtidSet& gtids) {
  GtidSet all;
  {
    MutexLock lock(mutex);
    all = added_purged;
  }
  all.add(gtids);
  COMMITD_RETURN_IF_ERROR(write_file_atomically(fs, added_purged_path(options), all.to_string() + "\n"));
  MutexLock lock(mutex);
  added_purged = std::move(all);
  return {};
}

Result<GtidSet> Log::Impl::purged() {
  uint32_t first = 0;
  {
    MutexLock lock(mutex);
    first = index.numbers().front();
  }
  auto previous = previous_gtids(first);
  if (!previous) return std::move(previous).error();
  MutexLock lock(mutex);
  previous->add(added_purged);
  return previous;
}

}  // namespace commitd::binlog
