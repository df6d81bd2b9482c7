#include "wire/auth/password.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstdlib>
#include <span>

namespace commitd::wire {

namespace {

std::string digest(const EVP_MD* method, std::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), out, &size, method, nullptr) != 1) std::abort();
  return {reinterpret_cast<char*>(out), size};
}

std::string sha1(std::string_view bytes) {
  return digest(EVP_sha1(), bytes);
}

std::string concatenate(std::string_view left, std::string_view right) {
  std::string both(left);
  both += right;
  return both;
}

// Random bytes for many salts at a time: a call of OpenSSL costs as much as all else in a greeting, and a
// system call.
class RandomBytes {
 public:
  std::span<const unsigned char, kSaltSize> next() {
    if (used_ == bytes_.size()) {
      if (RAND_bytes(bytes_.data(), static_cast<int>(bytes_.size())) != 1) std::abort();
      used_ = 0;
    }
    used_ += kSaltSize;
    return std::span<const unsigned char, kSaltSize>(&bytes_[used_ - kSaltSize], kSaltSize);
  }

 private:
  std::array<unsigned char, 64 * kSaltSize> bytes_;
  size_t used_ = bytes_.size();
};

}  // namespace

std::string random_salt() {
  static thread_local RandomBytes random;
  std::string salt(kSaltSize, '\0');
  const auto bytes = random.next();
  // Clients read the salt as text: no zero byte, and MySQL avoids '$' as well.
  for (size_t i = 0; i < kSaltSize; ++i) {
    const char c = static_cast<char>(bytes[i] % 94 + 33);
    salt[i] = c == '$' ? '!' : c;
  }
  return salt;
}

std::string sha256(std::string_view bytes) {
  return digest(EVP_sha256(), bytes);
}

std::string xor_with(std::string_view bytes, std::string_view repeated_key) {
  std::string result(bytes);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<char>(result[i] ^ repeated_key[i % repeated_key.size()]);
  return result;
}

std::string native_response(std::string_view password, std::string_view salt) {
  if (password.empty()) return {};
  std::string once = sha1(password);
  return xor_with(once, sha1(concatenate(salt, sha1(once))));
}

std::string sha2_response(std::string_view password, std::string_view salt) {
  if (password.empty()) return {};
  std::string once = sha256(password);
  return xor_with(once, sha256(concatenate(sha256(once), salt)));
}

bool check_native_response(std::string_view response, std::string_view salt, std::string_view double_hash) {
  std::string mask = sha1(concatenate(salt, double_hash));
  if (response.size() != mask.size()) return false;
  return equal_in_constant_time(sha1(xor_with(response, mask)), double_hash);
}

bool check_sha2_response(std::string_view response, std::string_view salt, std::string_view double_hash) {
  std::string mask = sha256(concatenate(double_hash, salt));
  if (response.size() != mask.size()) return false;
  return equal_in_constant_time(sha256(xor_with(response, mask)), double_hash);
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace commitd::wire
