#include "log/log_index.h"

#include <algorithm>
#include <charconv>

#include "base/error_codes.h"

namespace commitd::binlog {

LogIndex::LogIndex(FileSystem& fs, std::string directory, std::string base_name)
    : fs_(fs), directory_(std::move(directory)), base_name_(std::move(base_name)) {}

bool LogIndex::exists(FileSystem& fs, const std::string& directory, const std::string& base_name) {
  return fs.exists(LogIndex(fs, directory, base_name).index_path(LogKind::Binary));
}

const std::string& LogIndex::base_name(LogKind kind) const {
  return kind == LogKind::Relay ? relay_name_ : base_name_;
}
std::string LogIndex::index_path(LogKind kind) const {
  return directory_ + "/" + base_name(kind) + ".index";
}
std::string LogIndex::name(uint32_t number, LogKind kind) const {
  return fmt::format("{}.{:06}", base_name(kind), number);
}
std::string LogIndex::path(uint32_t number, LogKind kind) const {
  return directory_ + "/" + name(number, kind);
}

bool LogIndex::contains(uint32_t number) const {
  return std::binary_search(numbers_.begin(), numbers_.end(), number);
}

std::vector<uint32_t> LogIndex::numbers(LogKind kind) const {
  std::vector<uint32_t> those;
  std::copy_if(numbers_.begin(), numbers_.end(), std::back_inserter(those),
               [&](uint32_t number) { return this->kind(number) == kind; });
  return those;
}

std::optional<uint32_t> LogIndex::number(std::string_view name, LogKind kind) const {
  const std::string& base = base_name(kind);
  const size_t prefix = base.size() + 1;
  if (name.size() < prefix + 6 || !name.starts_with(base) || name[prefix - 1] != '.') return std::nullopt;
  uint32_t value = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix, end, value);
  if (error != std::errc{} || stop != end || value == 0) return std::nullopt;
  return value;
}

// The relay log's files go when they are applied, so that behind them numbers are missing.
Result<bool> LogIndex::load() {
  if (!fs_.exists(index_path(LogKind::Binary))) return false;
  const bool had_relay = fs_.exists(index_path(LogKind::Relay));
  auto numbers = load(LogKind::Binary, !had_relay);
  if (!numbers) return std::move(numbers).error();
  std::vector<uint32_t> relay;
  if (had_relay) {
    auto loaded = load(LogKind::Relay, false);
    if (!loaded) return std::move(loaded).error();
    relay = std::move(*loaded);
  }
  numbers->insert(numbers->end(), relay.begin(), relay.end());
  std::sort(numbers->begin(), numbers->end());
  if (auto twice = std::adjacent_find(numbers->begin(), numbers->end()); twice != numbers->end()) {
    return make_error(er::kErrorOnRead, "'{}' and '{}' both have a file {:06}", index_path(LogKind::Binary),
                      index_path(LogKind::Relay), *twice);
  }
  numbers_ = std::move(*numbers);
  relay_ = {relay.begin(), relay.end()};
  return true;
}

Result<std::vector<uint32_t>> LogIndex::load(LogKind kind, bool consecutive) const {
  auto content = read_whole_file(fs_, index_path(kind));
  if (!content) return std::move(content).error();
  std::vector<uint32_t> numbers;
  std::string_view rest = *content;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with("./")) line.remove_prefix(2);
    const auto of_line = number(line, kind);
    const uint32_t last = numbers.empty() ? 0 : numbers.back();
    const bool goes_on = numbers.empty() || (consecutive ? of_line == last + 1 : of_line.value_or(0) > last);
    if (!of_line || !goes_on) {
      return make_error(er::kErrorOnRead, "'{}' has an unexpected line '{}': its files must be {}",
                        index_path(kind), line, consecutive ? "consecutive" : "in order");
    }
    numbers.push_back(*of_line);
  }
  return numbers;
}

Status LogIndex::store(std::vector<uint32_t> numbers) {
  LogIndex next = *this;
  next.numbers_ = std::move(numbers);
  std::erase_if(next.relay_, [&](uint32_t number) { return !next.contains(number); });
  for (LogKind kind : {LogKind::Binary, LogKind::Relay}) {
    auto of_kind = next.numbers(kind);
    if (of_kind != this->numbers(kind)) COMMITD_RETURN_IF_ERROR(write(kind, of_kind));
  }
  numbers_ = std::move(next.numbers_);
  relay_ = std::move(next.relay_);
  return {};
}

Status LogIndex::add(uint32_t number, LogKind kind) {
  std::vector<uint32_t> those = numbers(kind);
  those.push_back(number);
  COMMITD_RETURN_IF_ERROR(write(kind, those));
  numbers_.push_back(number);
  if (kind == LogKind::Relay) relay_.insert(number);
  return {};
}

Status LogIndex::write(LogKind kind, const std::vector<uint32_t>& numbers) {
  std::string content;
  for (uint32_t number : numbers) content += "./" + name(number, kind) + "\n";
  return write_file_atomically(fs_, index_path(kind), content);
}

Result<std::vector<uint32_t>> LogIndex::numbers_on_disk(LogKind kind) const {
  auto names = fs_.list(directory_);
  if (!names) return std::move(names).error();
  std::vector<uint32_t> numbers;
  for (const std::string& name : *names) {
    if (auto of_name = number(name, kind)) numbers.push_back(*of_name);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status LogIndex::remove_relay_files() {
  auto numbers = numbers_on_disk(LogKind::Relay);
  if (!numbers) return std::move(numbers).error();
  for (uint32_t number : *numbers) COMMITD_RETURN_IF_ERROR(fs_.remove(path(number, LogKind::Relay)));
  const std::string index = index_path(LogKind::Relay);
  return fs_.exists(index) ? fs_.remove(index) : Status{};
}

}  // namespace commitd::binlog
