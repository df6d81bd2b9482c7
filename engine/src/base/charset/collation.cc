#include "base/charset/collation.h"

#include <algorithm>
#include <array>

namespace commitd {

namespace {

constexpr std::array<CharsetInfo, 5> kCharsets = {{
    {Charset::Ascii, "ascii", "US ASCII", "ascii_general_ci", 1},
    {Charset::Binary, "binary", "Binary pseudo charset", "binary", 1},
    {Charset::Latin1, "latin1", "cp1252 West European", "latin1_swedish_ci", 1},
    {Charset::Utf8mb3, "utf8mb3", "UTF-8 Unicode", "utf8mb3_general_ci", 3},
    {Charset::Utf8mb4, "utf8mb4", "UTF-8 Unicode", "utf8mb4_general_ci", 4},
}};

// MySQL's numbers and names.
constexpr std::array<Collation, 11> kCollations = {{
    {8, "latin1_swedish_ci", Charset::Latin1, Order::SwedishCi, true},
    {11, "ascii_general_ci", Charset::Ascii, Order::GeneralCi, true},
    {33, "utf8mb3_general_ci", Charset::Utf8mb3, Order::GeneralCi, true},
    {45, "utf8mb4_general_ci", Charset::Utf8mb4, Order::GeneralCi, true},
    {46, "utf8mb4_bin", Charset::Utf8mb4, Order::CodePoint, true},
    {47, "latin1_bin", Charset::Latin1, Order::CodePoint, true},
    {63, "binary", Charset::Binary, Order::Bytes, false},
    {65, "ascii_bin", Charset::Ascii, Order::CodePoint, true},
    {83, "utf8mb3_bin", Charset::Utf8mb3, Order::CodePoint, true},
    {255, "utf8mb4_0900_ai_ci", Charset::Utf8mb4, Order::Uca0900, false},
    {309, "utf8mb4_0900_bin", Charset::Utf8mb4, Order::CodePoint, false},
}};

// Asked for with every text that is read or compared.
constexpr auto kCharsetsByNumber = [] {
  std::array<const CharsetInfo*, kCharsets.size()> charsets{};
  for (const CharsetInfo& info : kCharsets) charsets[static_cast<size_t>(info.charset)] = &info;
  return charsets;
}();
constexpr auto kCollationsById = [] {
  std::array<const Collation*, kCollations.back().id + 1> collations{};
  for (const Collation& collation : kCollations) collations[collation.id] = &collation;
  return collations;
}();

bool same_name(std::string_view left, std::string_view right) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char l, char r) { return lower(l) == lower(r); });
}

}  // namespace

std::span<const CharsetInfo> all_charsets() {
  return kCharsets;
}
std::span<const Collation> all_collations() {
  return kCollations;
}

const CharsetInfo& charset_info(Charset charset) {
  return *kCharsetsByNumber[static_cast<size_t>(charset)];
}

const CharsetInfo* find_charset(std::string_view name) {
  if (same_name(name, "utf8")) return &charset_info(Charset::Utf8mb3);
  for (const CharsetInfo& info : kCharsets) {
    if (same_name(name, info.name)) return &info;
  }
  return nullptr;
}

const Collation* find_collation(std::string_view name) {
  for (const Collation& collation : kCollations) {
    if (same_name(name, collation.name)) return &collation;
  }
  return nullptr;
}

const Collation* find_collation(uint16_t id) {
  return id < kCollationsById.size() ? kCollationsById[id] : nullptr;
}

const Collation& collation_or_binary(uint16_t id) {
  const Collation* collation = find_collation(id);
  return collation != nullptr ? *collation : *find_collation(kBinaryCollation);
}

}  // namespace commitd
