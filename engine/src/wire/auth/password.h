// The arithmetic of MySQL's two authentication methods, for both ends. `salt`: the 20 bytes the server sent.
#pragma once

#include <string>
#include <string_view>

namespace commitd::wire {

inline constexpr std::string_view kNativePassword = "mysql_native_password";
inline constexpr std::string_view kCachingSha2 = "caching_sha2_password";
inline constexpr std::string_view kGreetingMethod = kCachingSha2;  // what the server proposes
inline constexpr size_t kSaltSize = 20;

std::string random_salt();

std::string sha256(std::string_view bytes);
std::string xor_with(std::string_view bytes, std::string_view repeated_key);

// What a client sends for a password; empty for an empty one.
std::string native_response(std::string_view password, std::string_view salt);
std::string sha2_response(std::string_view password, std::string_view salt);
// What a server checks it with: SHA1(SHA1(password)) and SHA256(SHA256(password)).
bool check_native_response(std::string_view response, std::string_view salt, std::string_view double_hash);
bool check_sha2_response(std::string_view response, std::string_view salt, std::string_view double_hash);

// MySQL's stored form "$A$005$" + 20 bytes of salt + 43 characters: SHA-crypt with SHA-256. False for
// anything else.
bool is_sha2_crypt(std::string_view stored);
bool check_sha2_crypt(std::string_view password, std::string_view stored);
// The 43 characters for a password (Drepper's SHA-crypt, without its prefix and with salts of any length).
std::string sha256_crypt(std::string_view password, std::string_view salt, int rounds);

bool equal_in_constant_time(std::string_view left, std::string_view right);

}  // namespace commitd::wire
