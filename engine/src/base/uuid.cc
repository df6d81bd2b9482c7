#include "base/uuid.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace commitd {

namespace {

constexpr size_t kTextSize = 36;

bool is_hyphen_place(size_t i) {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Uuid Uuid::random() {
  Uuid uuid;
  // Up to 256 bytes getrandom gives all or nothing.
  while (getrandom(uuid.bytes.data(), uuid.bytes.size(), 0) < 0) {
    if (errno != EINTR) std::abort();
  }
  uuid.bytes[6] = static_cast<uint8_t>((uuid.bytes[6] & 0x0f) | 0x40);  // version 4
  uuid.bytes[8] = static_cast<uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);  // RFC 4122 variant
  return uuid;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  Uuid uuid;
  size_t digits = 0;
  for (size_t i = 0; i < kTextSize; ++i) {
    if (is_hyphen_place(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    int digit = hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    uint8_t& byte = uuid.bytes[digits / 2];
    byte = static_cast<uint8_t>((byte << 4) | digit);
    ++digits;
  }
  return uuid;
}

std::string Uuid::to_string() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(kTextSize);
  for (uint8_t byte : bytes) {
    if (is_hyphen_place(text.size())) text.push_back('-');
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0x0f]);
  }
  return text;
}

}  // namespace commitd
