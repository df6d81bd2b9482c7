// The RSA key pair that protects passwords on their way over an unencrypted connection.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <openssl/evp.h>

#include "base/result.h"

namespace commitd::wire {

class RsaKey {
 public:
  // private_key.pem of the directory; made at the first start.
  static Result<RsaKey> load_or_create(const std::string& directory);

  const std::string& public_pem() const { return public_pem_; }
  std::optional<std::string> decrypt(std::string_view encrypted) const;

 private:
  struct FreeKey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
  explicit RsaKey(Key key);
  static Result<RsaKey> create(const std::string& path);

  Key key_;
  std::string public_pem_;
};

// With a public key in PEM form, as a client does. nullopt when it is none.
std::optional<std::string> rsa_encrypt(const std::string& public_pem, std::string_view plain);

}  // namespace commitd::wire
