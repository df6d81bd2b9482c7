// SHA-crypt with SHA-256, after Ulrich Drepper's specification ("Unix crypt using SHA-256 and SHA-512"); the
// step numbers are its own.
#include <cstdint>

#include "wire/auth/password.h"

namespace commitd::wire {

namespace {

constexpr std::string_view kPrefix = "$A$005$";
constexpr int kMySqlRounds = 5 * 1000;
constexpr size_t kHashSize = 43;

// `size` bytes of `block`, repeated as often as it takes.
std::string stretched(std::string_view block, size_t size) {
  std::string result;
  while (result.size() + block.size() <= size) result += block;
  result += block.substr(0, size - result.size());
  return result;
}

std::string repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Steps 1 to 12.
std::string first_digest(std::string_view password, std::string_view salt) {
  std::string b = sha256(std::string(password).append(salt).append(password));
  std::string a = std::string(password).append(salt);
  a += stretched(b, password.size());
  for (size_t bits = password.size(); bits > 0; bits >>= 1) a += (bits & 1) ? std::string_view(b) : password;
  return sha256(a);
}

// Step 22: crypt's own base 64, three bytes at a time in an order of its own.
std::string encode(std::string_view digest) {
  static constexpr char kDigits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  static constexpr uint8_t kOrder[10][3] = {{0, 10, 20}, {21, 1, 11}, {12, 22, 2}, {3, 13, 23}, {24, 4, 14},
                                            {15, 25, 5}, {6, 16, 26}, {27, 7, 17}, {18, 28, 8}, {9, 19, 29}};
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(digest[i])); };
  std::string text;
  auto put = [&](uint32_t bits, int digits) {
    for (int i = 0; i < digits; ++i, bits >>= 6) text.push_back(kDigits[bits & 0x3f]);
  };
  for (const auto& triple : kOrder) put(byte(triple[0]) << 16 | byte(triple[1]) << 8 | byte(triple[2]), 4);
  put(byte(31) << 8 | byte(30), 3);
  return text;
}

}  // namespace

std::string sha256_crypt(std::string_view password, std::string_view salt, int rounds) {
  std::string digest = first_digest(password, salt);
  std::string p = stretched(sha256(repeated(password, password.size())), password.size());  // 13–16
  std::string s =
      stretched(sha256(repeated(salt, 16u + static_cast<uint8_t>(digest[0]))), salt.size());  // 17–20
  for (int round = 0; round < rounds; ++round) {                                              // 21
    std::string input = (round & 1) ? p : digest;
    if (round % 3 != 0) input += s;
    if (round % 7 != 0) input += p;
    input += (round & 1) ? digest : p;
    digest = sha256(input);
  }
  return encode(digest);
}

bool is_sha2_crypt(std::string_view stored) {
  return stored.size() == kPrefix.size() + kSaltSize + kHashSize &&
         stored.substr(0, kPrefix.size()) == kPrefix;
}

bool check_sha2_crypt(std::string_view password, std::string_view stored) {
  if (!is_sha2_crypt(stored)) return false;
  std::string_view salt = stored.substr(kPrefix.size(), kSaltSize);
  return equal_in_constant_time(sha256_crypt(password, salt, kMySqlRounds),
                                stored.substr(kPrefix.size() + kSaltSize));
}

}  // namespace commitd::wire
