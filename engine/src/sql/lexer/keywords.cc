#include "sql/lexer/keywords.h"

#include <absl/container/flat_hash_map.h>

namespace commitd::sql {
namespace {

constexpr size_t kLongestWord = 24;

const absl::flat_hash_map<std::string_view, Word>& words() {
  static const absl::flat_hash_map<std::string_view, Word> all = {
#define COMMITD_PAIR(name, text) {text, Word::name},
      COMMITD_RESERVED_WORDS(COMMITD_PAIR) COMMITD_FREE_WORDS(COMMITD_PAIR)
#undef COMMITD_PAIR
  };
  return all;
}

}  // namespace

Word find_word(std::string_view identifier) {
  if (identifier.size() > kLongestWord) return Word::NotAWord;
  char lower[kLongestWord];
  for (size_t i = 0; i < identifier.size(); ++i) {
    const char c = identifier[i];
    lower[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  }
  const auto found = words().find(std::string_view(lower, identifier.size()));
  return found == words().end() ? Word::NotAWord : found->second;
}

}  // namespace commitd::sql
