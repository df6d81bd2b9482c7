#include "log/log.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "log/log_impl.h"
#include "observe/metrics.h"

namespace commitd::binlog {
namespace {

// Positions in events are 32 bits wide.
constexpr uint64_t kLargestFile = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kRotateEventRoom = 512;

observe::Counter& fsyncs() {
  static auto& counter =
      observe::counter("commitd_binlog_fsyncs_total", "fdatasync calls on the binary log.");
  return counter;
}
observe::Counter& writes() {
  static auto& counter = observe::counter("commitd_binlog_writes_total", "Write calls on the binary log.");
  return counter;
}
observe::Counter& bytes_written() {
  static auto& counter =
      observe::counter("commitd_binlog_bytes_written_total", "Bytes written to the binary log.");
  return counter;
}

}  // namespace

EventOrigin Log::Impl::origin() const {
  return {options.server_id, static_cast<uint32_t>(std::time(nullptr))};
}

// Space ahead of the end is only a help to the file system: without it appending works as well, so failures
// do not matter.
void Log::Impl::reserve(uint64_t up_to) {
  const bool zeros = options.prefill_bytes != 0;
  const uint64_t ahead = zeros ? options.prefill_bytes : options.preallocate_bytes;
  if (ahead == 0 || up_to + (zeros ? kHeaderLength : 0) <= reserved_to) return;
  const uint64_t start = std::max(reserved_to, end.offset);
  reserved_to = std::min(up_to + ahead, kLargestFile);
  if (!zeros) {
    (void)writer->preallocate(start, reserved_to - start);
  } else if (!write_zeros(start, reserved_to)) {
    reserved_to = 0;
    (void)writer->truncate(end.offset);
  }
}

bool Log::Impl::write_zeros(uint64_t from, uint64_t to) {
  static const std::string zeros(1 << 20, '\0');
  while (from < to) {
    const std::string_view piece = std::string_view(zeros).substr(0, to - from);
    if (!writer->write_at(from, std::span(&piece, 1)).ok()) return false;
    from += piece.size();
  }
  return true;
}

// The header of an ignorable event that has the zeros from `at` on as its body: tools that read the file from
// disk while it grows find events up to its end. The next group overwrites it. It has no checksum.
std::string Log::Impl::filler(uint64_t at) const {
  if (options.prefill_bytes == 0 || at + kHeaderLength > reserved_to) return {};
  std::string header(kHeaderLength, '\0');
  header[4] = static_cast<char>(EventType::Ignorable);
  store_le32(header.data() + 5, options.server_id);
  store_le32(header.data() + 9, static_cast<uint32_t>(reserved_to - at));
  store_le32(header.data() + 13, static_cast<uint32_t>(reserved_to));
  store_le16(header.data() + 17, kFlagIgnorable);
  return header;
}

// Takes the zeros away from a file that is finished.
Status Log::Impl::trim() {
  reserved_to = 0;
  auto trimmed = writer->truncate(end.offset);
  if (!trimmed.ok()) usable = false;
  return trimmed;
}

Status Log::Impl::append(std::shared_ptr<const std::string> bytes) {
  reserve(end.offset + bytes->size());
  COMMITD_RETURN_IF_ERROR(write_behind_end(*bytes, filler(end.offset + bytes->size())));
  MutexLock lock(mutex);
  const LogPosition start = end;
  move_end(bytes->size());
  pages.add(start, std::move(bytes));
  return {};
}

// Nothing is reserved ahead of a part that another one follows.
Status Log::Impl::append_part(std::string_view bytes, bool is_last) {
  if (is_last) reserve(end.offset + bytes.size());
  COMMITD_RETURN_IF_ERROR(
      write_behind_end(bytes, is_last ? filler(end.offset + bytes.size()) : std::string()));
  MutexLock lock(mutex);
  move_end(bytes.size());
  return {};
}

Status Log::Impl::write_behind_end(std::string_view bytes, std::string_view filler) {
  const std::array<std::string_view, 2> pieces{bytes, filler};
  if (auto written = writer->write_at(end.offset, pieces); !written.ok()) {
    usable = writer->truncate(end.offset).ok();
    reserved_to = 0;
    return written;
  }
  writes().add();
  bytes_written().add(bytes.size());
  return {};
}

void Log::Impl::move_end(size_t bytes) {
  end.offset += bytes;
  file_states[end.file].size = end.offset;
}

Status Log::Impl::sync_writer() {
  auto synced = writer->sync_data();
  fsyncs().add();
  if (!synced.ok()) usable = false;
  return synced;
}

Status Log::Impl::open_writer(LogPosition at) {
  std::string path;
  {
    MutexLock lock(mutex);
    path = index.path(at.file);
  }
  auto file = fs.open(path, FileSystem::Open::ReadWrite);
  if (!file) return std::move(file).error();
  writer = std::move(*file);
  reserved_to = 0;
  MutexLock lock(mutex);
  end = at;
  file_states[at.file].size = at.offset;
  return {};
}

// The order matters: the file is durable and complete before the index lists it, so that a listed file is
// never missing.
Status Log::Impl::start_new_file(uint32_t number, const GtidSet& previous, LogKind kind) {
  const std::string header = log_file_header(origin(), options.server_version, previous);
  const std::string path = index.path(number, kind);
  if (auto created = create_log_file(fs, options.directory, path, header); !created.ok()) {
    (void)fs.remove(path);
    return created;
  }
  {
    MutexLock lock(mutex);
    COMMITD_RETURN_IF_ERROR(index.add(number, kind));
    if (kind == LogKind::Relay) has_relay = true;
  }
  return open_writer({number, header.size()});
}

Status Log::Impl::rotate(const GtidSet& logged, LogKind kind) {
  const LogPosition before = end;
  auto event = std::make_shared<std::string>();
  if (kind == LogKind::Relay && index.kind(before.file) == LogKind::Binary) {
    append_stop(*event, origin());
  } else {
    append_rotate(*event, origin(), index.name(before.file + 1, kind));
  }
  seal_event(event->data(), before.offset);
  COMMITD_RETURN_IF_ERROR(append(std::move(event)));
  COMMITD_RETURN_IF_ERROR(trim());
  COMMITD_RETURN_IF_ERROR(sync_writer());
  auto started = start_new_file(before.file + 1, logged, kind);
  // A log that goes on in a file with such an event inside would mislead readers: take the event back.
  if (!started.ok() && !cut(before).ok()) usable = false;
  return started;
}

Status Log::Impl::cut(LogPosition position) {
  const bool drops_files = position.file < index.numbers().back();
  if (drops_files) {
    const std::string note = fmt::format("{}:{}\n", index.name(position.file), position.offset);
    COMMITD_RETURN_IF_ERROR(write_file_atomically(fs, cut_note_path(options), note));
  }
  std::vector<std::string> dropped;
  {
    MutexLock lock(mutex);
    COMMITD_RETURN_IF_ERROR(forget_behind(position.file, dropped));
    pages.drop_behind(position);
  }
  for (const std::string& path : dropped) COMMITD_RETURN_IF_ERROR(fs.remove(path));
  if (drops_files) {
    COMMITD_RETURN_IF_ERROR(fs.sync_directory(options.directory));
    COMMITD_RETURN_IF_ERROR(fs.remove(cut_note_path(options)));
  }
  COMMITD_RETURN_IF_ERROR(open_writer(position));
  COMMITD_RETURN_IF_ERROR(writer->truncate(position.offset));
  return sync_writer();
}

// Files of one kind at a time, the newest first: a crash leaves a log that is only longer.
Status Log::Impl::forget_behind(uint32_t last_kept, std::vector<std::string>& dropped) {
  std::vector<uint32_t> kept = index.numbers();
  while (!kept.empty() && kept.back() > last_kept) {
    const LogKind kind = index.kind(kept.back());
    for (; !kept.empty() && kept.back() > last_kept && index.kind(kept.back()) == kind; kept.pop_back()) {
      dropped.push_back(index.path(kept.back()));
      file_states.erase(kept.back());
    }
    COMMITD_RETURN_IF_ERROR(index.store(kept));
  }
  return {};
}

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

// Gives back the space that was reserved ahead of the end.
Log::~Log() {
  if (impl_->writer && impl_->usable) (void)impl_->writer->truncate(impl_->end.offset);
}

Result<std::unique_ptr<Log>> Log::open(FileSystem& fs, LogOptions options, LogPosition scan_from,
                                       OpenReport* report) {
  auto impl = std::make_unique<Impl>(fs, std::move(options));
  COMMITD_RETURN_IF_ERROR(impl->open(scan_from, *report));
  return std::unique_ptr<Log>(new Log(std::move(impl)));
}

std::unique_ptr<Log> Log::none(FileSystem& fs, LogOptions options) {
  return std::unique_ptr<Log>(new Log(std::make_unique<Impl>(fs, std::move(options))));
}

bool Log::exists(FileSystem& fs, const LogOptions& options) {
  return LogIndex::exists(fs, options.directory, options.base_name);
}

LogPosition Log::end() const {
  MutexLock lock(impl_->mutex);
  return impl_->end;
}

Status Log::append(std::shared_ptr<const std::string> bytes) {
  return impl_->append(std::move(bytes));
}
Status Log::append_part(std::string_view bytes, bool is_last) {
  return impl_->append_part(bytes, is_last);
}
bool Log::usable() const {
  return impl_->usable;
}
Status Log::sync() {
  return impl_->sync_writer();
}
Status Log::rotate(const GtidSet& logged, LogKind kind) {
  return impl_->rotate(logged, kind);
}
LogKind Log::kind() const {
  return impl_->has_relay ? impl_->index.kind(impl_->end.file) : LogKind::Binary;
}
bool Log::wants_rotation() const {
  return impl_->end.offset >= impl_->max_file_size;
}
bool Log::would_overflow(uint64_t bytes) const {
  return impl_->end.offset + bytes + kRotateEventRoom > kLargestFile;
}
Status Log::reset() {
  return impl_->reset();
}
Status Log::check_unread() const {
  return impl_->check_unread();
}
FileSystem& Log::file_system() const {
  return impl_->fs;
}
const LogOptions& Log::options() const {
  return impl_->options;
}
Status Log::cut(LogPosition position) {
  return impl_->cut(position);
}
Result<PurgeReport> Log::purge(uint32_t first_kept) {
  return impl_->purge(first_kept);
}
Result<size_t> Log::purge_relay(uint32_t first_kept) {
  return impl_->purge_relay(first_kept);
}
Result<GtidSet> Log::in_relay_files(const GtidSet& logged) {
  if (!impl_->has_relay) return GtidSet();
  std::vector<uint32_t> files;
  {
    MutexLock lock(impl_->mutex);
    files = impl_->index.numbers(LogKind::Relay);
  }
  return impl_->in_relay_files(files, logged);
}
Result<uint32_t> Log::first_written_since(int64_t time) {
  return impl_->first_written_since(time);
}
Result<GtidSet> Log::purged() {
  return impl_->purged();
}
Status Log::add_purged(const GtidSet& gtids) {
  return impl_->add_purged(gtids);
}
uint64_t Log::bytes_between(LogPosition from, LogPosition to) const {
  return impl_->bytes_between(from, to);
}
void Log::set_max_file_size(uint64_t bytes) {
  impl_->max_file_size = bytes;
}

Result<LogChunk> Log::read(LogPosition from, LogPosition limit, size_t max_bytes) {
  return impl_->read(from, limit, max_bytes);
}
Result<LogChunk> Log::read_binary(LogPosition from, LogPosition limit, size_t max_bytes) {
  if (impl_->has_relay && !impl_->skip_relay_files(from, limit)) return LogChunk{nullptr, {}, limit};
  return impl_->read(from, limit, max_bytes);
}
Result<std::vector<LogFileInfo>> Log::files(LogKind kind) const {
  return impl_->files(kind);
}
Result<std::vector<LogFileInfo>> Log::all_files() const {
  return impl_->files(std::nullopt);
}
std::string Log::file_name(uint32_t number) const {
  if (!impl_->has_relay) return impl_->index.name(number, LogKind::Binary);
  MutexLock lock(impl_->mutex);
  return impl_->index.name(number);
}
Result<uint32_t> Log::file_number(std::string_view name, LogKind kind) const {
  return impl_->file_number(name, kind);
}
LogPosition Log::binary_end(LogPosition at) const {
  return impl_->has_relay ? impl_->binary_end(at) : at;
}
Result<GtidSet> Log::previous_gtids(uint32_t file) {
  return impl_->previous_gtids(file);
}
Result<LogPosition> Log::start_for(const GtidSet& have, const GtidSet& gone) {
  return impl_->start_for(have, gone);
}
std::unique_ptr<Log::Hold> Log::hold(uint32_t first_needed) {
  return std::make_unique<Hold>(*impl_, first_needed);
}

Log::Hold::Hold(Impl& log, uint32_t first_needed) : log_(log), first_needed_(first_needed) {
  MutexLock lock(log_.mutex);
  log_.holds.insert(first_needed_);
}

Log::Hold::~Hold() {
  MutexLock lock(log_.mutex);
  log_.holds.erase(log_.holds.find(first_needed_));
}

void Log::Hold::move_to(uint32_t first_needed) {
  MutexLock lock(log_.mutex);
  log_.holds.erase(log_.holds.find(first_needed_));
  log_.holds.insert(first_needed);
  first_needed_ = first_needed;
}

}  // namespace commitd::binlog
