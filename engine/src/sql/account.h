#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace commitd::sql {

enum class TlsRequirement : uint8_t { None, Tls, Certificate };  // REQUIRE SSL, REQUIRE X509

// An account as authentication needs it.
struct Account {
  std::string user, host;
  std::string plugin;  // caching_sha2_password or mysql_native_password
  // caching_sha2_password: SHA256(SHA256(password)) or MySQL's $A$005$ crypt string; mysql_native_password:
  // SHA1(SHA1(password)). Empty = no password.
  std::string auth_string;
  bool locked = false;
  bool is_operator = false;  // the built-in account of --operator-password-file
  TlsRequirement require = TlsRequirement::None;
};

class AccountDirectory {
 public:
  virtual ~AccountDirectory() = default;
  // The most specific account for a user connecting from an address (host name patterns as in MySQL).
  virtual std::optional<Account> find(std::string_view user, std::string_view client_host) = 0;
};

}  // namespace commitd::sql
