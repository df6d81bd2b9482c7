#include <algorithm>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "log/log_impl.h"

namespace commitd::binlog {
namespace {

Error no_longer_here(std::string_view what) {
  return make_error(er::kSourceFatalReadingBinlog,
                    "Cannot replicate because the source purged required binary logs{}. Provision the "
                    "replica anew from a backup",
                    what);
}

}  // namespace

Result<LogChunk> Log::Impl::read(LogPosition from, LogPosition limit, size_t max_bytes) {
  std::shared_ptr<File> file;
  uint64_t stop = 0;
  {
    MutexLock lock(mutex);
    auto state = file_states.find(from.file);
    if (state != file_states.end() && from.offset >= state->second.size && from.file < limit.file) {
      ++state;
      from = {state == file_states.end() ? from.file + 1 : state->first, kFileMagic.size()};
    }
    if (state == file_states.end()) {
      return make_error(er::kSourceFatalReadingBinlog, "Could not find '{}' in the binary log index",
                        index.name(from.file));
    }
    stop = from.file < limit.file ? state->second.size : std::min(limit.offset, state->second.size);
    if (from.file > limit.file || from.offset >= stop) return LogChunk{nullptr, {}, from};
    if (auto page = pages.find(from)) {
      const uint64_t skip = from.offset - page->start.offset;
      const std::string_view bytes = std::string_view(*page->bytes).substr(skip, stop - from.offset);
      return LogChunk{page->bytes,
                      bytes.size() <= max_bytes ? bytes : bytes.substr(0, whole_events(bytes, max_bytes)),
                      from};
    }
    auto opened = reader(from.file);
    if (!opened) return std::move(opened).error();
    file = *opened;
  }
  uint64_t wanted = std::min<uint64_t>(stop - from.offset, std::max<size_t>(max_bytes, kHeaderLength));
  for (;;) {
    auto bytes = read_exactly(*file, from.offset, wanted);
    if (!bytes) return std::move(bytes).error();
    const size_t whole = whole_events(*bytes, wanted);
    if (whole != 0) {
      auto storage = std::make_shared<const std::string>(std::move(*bytes));
      return LogChunk{storage, std::string_view(*storage).substr(0, whole), from};
    }
    const size_t length = event_length(*bytes);
    if (length <= wanted || length > stop - from.offset) {
      return make_error(er::kSourceFatalReadingBinlog, "No event starts at offset {} of '{}'", from.offset,
                        index.name(from.file));
    }
    wanted = length;  // the first event alone is larger than asked for
  }
}

Result<std::pair<std::shared_ptr<File>, uint64_t>> Log::Impl::open_file(uint32_t number) {
  MutexLock lock(mutex);
  auto file = reader(number);
  if (!file) return std::move(file).error();
  return std::pair(std::move(*file), file_states[number].size);
}

Result<std::shared_ptr<File>> Log::Impl::reader(uint32_t number) {
  FileState& state = file_states[number];
  if (!state.reader) {
    auto file = fs.open(index.path(number), FileSystem::Open::Read);
    if (!file) return std::move(file).error();
    state.reader = std::move(*file);
  }
  return state.reader;
}

Result<LogFileHeader> Log::Impl::header(uint32_t number) {
  MutexLock lock(mutex);
  if (!index.contains(number)) {
    return make_error(er::kSourceFatalReadingBinlog, "Could not find '{}' in the binary log index",
                      index.name(number));
  }
  FileState& state = file_states[number];
  if (!state.header) {
    auto file = reader(number);
    if (!file) return std::move(file).error();
    auto header = read_log_file_header(**file, index.path(number));
    if (!header) return std::move(header).error();
    state.header = std::move(*header);
  }
  return *state.header;
}

Result<GtidSet> Log::Impl::previous_gtids(uint32_t number) {
  auto found = header(number);
  if (!found) return std::move(found).error();
  return std::move(found->previous);
}

Result<LogPosition> Log::Impl::start_for(const GtidSet& have, const GtidSet& also_gone) {
  auto gone = purged();
  if (!gone) return std::move(gone).error();
  gone->add(also_gone);
  gone->subtract(have);
  if (!gone->empty()) return no_longer_here(fmt::format(" (missing: {})", gone->to_string()));
  std::vector<uint32_t> numbers;
  {
    MutexLock lock(mutex);
    numbers = index.numbers(LogKind::Binary);
  }
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    auto previous = previous_gtids(*number);
    if (!previous) return std::move(previous).error();
    if (have.contains(*previous)) return LogPosition{*number, kFileMagic.size()};
  }
  return no_longer_here("");
}

// nullopt: of both kinds.
std::vector<LogFileInfo> Log::Impl::files(std::optional<LogKind> kind) {
  MutexLock lock(mutex);
  std::vector<LogFileInfo> infos;
  for (uint32_t number : index.numbers()) {
    if (kind && index.kind(number) != *kind) continue;
    infos.push_back({number, index.name(number), file_states[number].size});
  }
  return infos;
}

Result<uint32_t> Log::Impl::file_number(std::string_view name, LogKind kind) {
  MutexLock lock(mutex);
  const auto number = index.number(name, kind);
  if (!number || !index.contains(*number) || index.kind(*number) != kind) {
    return make_error(er::kSourceFatalReadingBinlog,
                      "Could not find first log file name in binary log index file ('{}')", name);
  }
  return *number;
}

}  // namespace commitd::binlog
