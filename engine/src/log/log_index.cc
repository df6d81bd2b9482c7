#include "log/log_index.h"

#include <algorithm>
#include <charconv>

#include "base/error_codes.h"

namespace commitd::binlog {

LogIndex::LogIndex(FileSystem& fs, std::string directory, std::string base_name)
    : fs_(fs), directory_(std::move(directory)), base_name_(std::move(base_name)) {}

bool LogIndex::exists(FileSystem& fs, const std::string& directory, const std::string& base_name) {
  return fs.exists(LogIndex(fs, directory, base_name).index_path());
}

std::string LogIndex::index_path() const {
  return directory_ + "/" + base_name_ + ".index";
}
std::string LogIndex::name(uint32_t number) const {
  return fmt::format("{}.{:06}", base_name_, number);
}
std::string LogIndex::path(uint32_t number) const {
  return directory_ + "/" + name(number);
}

bool LogIndex::contains(uint32_t number) const {
  return std::binary_search(numbers_.begin(), numbers_.end(), number);
}

std::optional<uint32_t> LogIndex::number(std::string_view name) const {
  const size_t prefix = base_name_.size() + 1;
  if (name.size() < prefix + 6 || !name.starts_with(base_name_) || name[prefix - 1] != '.')
    return std::nullopt;
  uint32_t value = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + prefix, end, value);
  if (error != std::errc{} || stop != end || value == 0) return std::nullopt;
  return value;
}

Result<bool> LogIndex::load() {
  if (!fs_.exists(index_path())) return false;
  auto content = read_whole_file(fs_, index_path());
  if (!content) return std::move(content).error();
  std::vector<uint32_t> numbers;
  std::string_view rest = *content;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with("./")) line.remove_prefix(2);
    const auto of_line = number(line);
    if (!of_line || (!numbers.empty() && *of_line != numbers.back() + 1)) {
      return make_error(er::kErrorOnRead, "'{}' has an unexpected line '{}': its files must be consecutive",
                        index_path(), line);
    }
    numbers.push_back(*of_line);
  }
  numbers_ = std::move(numbers);
  return true;
}

Status LogIndex::store(std::vector<uint32_t> numbers) {
  std::string content;
  for (uint32_t number : numbers) content += "./" + name(number) + "\n";
  COMMITD_RETURN_IF_ERROR(write_file_atomically(fs_, index_path(), content));
  numbers_ = std::move(numbers);
  return {};
}

Result<std::vector<uint32_t>> LogIndex::numbers_on_disk() const {
  auto names = fs_.list(directory_);
  if (!names) return std::move(names).error();
  std::vector<uint32_t> numbers;
  for (const std::string& name : *names) {
    if (auto of_name = number(name)) numbers.push_back(*of_name);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace commitd::binlog
