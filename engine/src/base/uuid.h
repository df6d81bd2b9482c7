#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace commitd {

struct Uuid {
  std::array<uint8_t, 16> bytes{};

  static Uuid random();
  static std::optional<Uuid> parse(std::string_view text);  // 8-4-4-4-12 hexadecimal digits
  std::string to_string() const;
  bool is_nil() const { return bytes == std::array<uint8_t, 16>{}; }

  auto operator<=>(const Uuid&) const = default;
};

}  // namespace commitd
