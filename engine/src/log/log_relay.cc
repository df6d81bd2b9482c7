// The relay log: how readers pass over its files, and how those go.
#include <algorithm>

#include "log/log_impl.h"

namespace commitd::binlog {

// False when nothing of the binary log stands between `from` and `limit`. `from` may be a place in a file of
// the relay log that is gone meanwhile.
bool Log::Impl::skip_relay_files(LogPosition& from, LogPosition limit) {
  MutexLock lock(mutex);
  const auto state = file_states.find(from.file);
  const bool in_binary = state != file_states.end() && index.kind(from.file) == LogKind::Binary;
  if (in_binary && (from.offset < state->second.size || from.file >= limit.file)) return true;
  auto next = file_states.upper_bound(from.file);
  // Purged: read() says so.
  if (state == file_states.end() && next == file_states.begin()) return true;
  while (next != file_states.end() && index.kind(next->first) == LogKind::Relay) ++next;
  if (next == file_states.end() || next->first > limit.file) return false;
  from = {next->first, kFileMagic.size()};
  return true;
}

LogPosition Log::Impl::binary_end(LogPosition at) {
  MutexLock lock(mutex);
  auto behind = file_states.upper_bound(at.file);
  while (behind != file_states.begin()) {
    const auto& [number, state] = *--behind;
    if (index.kind(number) == LogKind::Binary)
      return number == at.file ? at : LogPosition{number, state.size};
  }
  return at;
}

// What is behind the place up to which the engine has everything, unless something of this server's own may
// be there.
Status Log::Impl::drop_relay_tail(LogPosition applied) {
  const auto behind = std::upper_bound(index.numbers().begin(), index.numbers().end(), applied.file);
  const auto is_relay = [this](uint32_t number) { return index.kind(number) == LogKind::Relay; };
  if (!index.contains(applied.file) || !std::all_of(behind, index.numbers().end(), is_relay)) return {};
  auto file = open_file(applied.file);
  if (!file) return std::move(file).error();
  if (is_relay(applied.file)) return cut({applied.file, std::min(applied.offset, file->second)});
  return behind == index.numbers().end() ? Status{} : cut({applied.file, file->second});
}

// Each file's PREVIOUS_GTIDS say what stands in front of it.
Result<GtidSet> Log::Impl::in_relay_files(const std::vector<uint32_t>& files, const GtidSet& logged) {
  GtidSet inside;
  for (uint32_t number : files) {
    std::optional<uint32_t> next;
    {
      MutexLock lock(mutex);
      const auto behind = std::upper_bound(index.numbers().begin(), index.numbers().end(), number);
      if (behind != index.numbers().end()) next = *behind;
    }
    auto up_to = next ? previous_gtids(*next) : Result<GtidSet>(logged);
    if (!up_to) return up_to;
    auto in_front = previous_gtids(number);
    if (!in_front) return in_front;
    up_to->subtract(*in_front);
    inside.add(*up_to);
  }
  return inside;
}

// Their transactions are noted before the index forgets them.
Result<size_t> Log::Impl::purge_relay(uint32_t first_kept) {
  std::vector<uint32_t> kept, dropped;
  for (uint32_t number : index.numbers()) {
    const bool goes = number < std::min(first_kept, end.file) && index.kind(number) == LogKind::Relay;
    (goes ? dropped : kept).push_back(number);
  }
  if (dropped.empty()) return size_t{0};
  auto gone = in_relay_files(dropped, {});
  if (!gone) return std::move(gone).error();
  COMMITD_RETURN_IF_ERROR(add_purged(*gone));
  std::vector<std::string> paths;
  {
    MutexLock lock(mutex);
    for (uint32_t number : dropped) paths.push_back(index.path(number));
    COMMITD_RETURN_IF_ERROR(index.store(std::move(kept)));
    for (uint32_t number : dropped) file_states.erase(number);
  }
  for (const std::string& path : paths) {
    if (fs.exists(path)) COMMITD_RETURN_IF_ERROR(fs.remove(path));
  }
  COMMITD_RETURN_IF_ERROR(fs.sync_directory(options.directory));
  return dropped.size();
}

}  // namespace commitd::binlog
