#include "server/option_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/error_codes.h"

namespace commitd::server {
namespace {

constexpr int kDeepestInclude = 10;  // MySQL's
constexpr std::string_view kSpaces = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

char escaped(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 's':
      return ' ';
    default:
      return letter;
  }
}

// A value may stand in quotes; # begins a comment outside of them; \n and the like are what they say.
std::string value_of(std::string_view text) {
  std::string value;
  char quote = 0;
  if (!text.empty() && (text.front() == '\'' || text.front() == '"')) {
    quote = text.front();
    text.remove_prefix(1);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote != 0 ? text[i] == quote : text[i] == '#') break;
    constexpr std::string_view kEscapes = "btnrs\\'\"";
    if (text[i] == '\\' && i + 1 < text.size() && kEscapes.find(text[i + 1]) != std::string_view::npos) {
      value += escaped(text[++i]);
    } else {
      value += text[i];
    }
  }
  return quote != 0 ? value : std::string(trimmed(value));
}

class Reader {
 public:
  Reader(const std::string& suffix, const TakeOption& take) : take_(take) {
    for (const char* group : {"mysqld", "server", "commitd", "mysqld-8.4"}) {
      groups_.emplace_back(group);
      if (!suffix.empty()) groups_.push_back(group + suffix);
    }
  }

  Status read(const std::string& path, int depth) {
    if (depth > kDeepestInclude)
      return make_error(er::kErrorOnRead, "{}: files include one another more than {} deep", path,
                        kDeepestInclude);
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path))
      return make_error(er::kErrorOnRead, "cannot read the option file '{}'", path);
    bool ours = false;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      Status taken = take_line(trimmed(line), path, depth, ours);
      if (!taken.ok())
        return make_error(taken.error().code, "{}:{}: {}", path, number, taken.error().message);
    }
    return {};
  }

 private:
  Status take_line(std::string_view line, const std::string& path, int depth, bool& ours) {
    if (line.empty() || line[0] == '#' || line[0] == ';') return {};
    if (line.front() == '!') return include(line, path, depth);
    if (line.front() == '[') {
      const auto end = line.find(']');
      if (end == std::string_view::npos) return make_error(er::kParse, "'{}' has no ]", line);
      ours = std::find(groups_.begin(), groups_.end(), trimmed(line.substr(1, end - 1))) != groups_.end();
      return {};
    }
    if (!ours) return {};
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return take_(value_of(line), std::nullopt);
    return take_(std::string(trimmed(line.substr(0, equals))), value_of(trimmed(line.substr(equals + 1))));
  }

  // Paths are relative to the file that names them.
  Status include(std::string_view line, const std::string& path, int depth) {
    const bool directory = line.starts_with("!includedir");
    const size_t word = std::string_view(directory ? "!includedir" : "!include").size();
    if (!line.starts_with("!include") || line.size() <= word || line[word] != ' ')
      return make_error(er::kParse, "'{}' is neither !include FILE nor !includedir DIRECTORY", line);
    const std::filesystem::path named(trimmed(line.substr(word)));
    const std::filesystem::path target = std::filesystem::path(path).parent_path() / named;
    if (!directory) return read(target, depth + 1);
    std::vector<std::string> files;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(target, problem)) {
      if (entry.path().extension() == ".cnf") files.push_back(entry.path());
    }
    if (problem) return make_error(er::kErrorOnRead, "cannot read '{}'", target.string());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) COMMITD_RETURN_IF_ERROR(read(file, depth + 1));
    return {};
  }

  const TakeOption& take_;
  std::vector<std::string> groups_;
};

}  // namespace

Status read_option_file(const std::string& path, const std::string& suffix, const TakeOption& take) {
  return Reader(suffix, take).read(path, 0);
}

}  // namespace commitd::server
