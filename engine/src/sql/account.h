#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace commitd::sql {

enum class TlsRequirement : uint8_t { None, Tls, Certificate };  // REQUIRE SSL, REQUIRE X509

// Accounts that are options of the server, not rows of mysql.user: they work in every state, are not
// replicated, and do not count as clients.
enum class BuiltIn : uint8_t { No, Operator, Replication };

// An account as authentication needs it.
struct Account {
  std::string user, host;
  std::string plugin;  // caching_sha2_password or mysql_native_password
  // caching_sha2_password: SHA256(SHA256(password)) or MySQL's $A$005$ crypt string; mysql_native_password:
  // SHA1(SHA1(password)). Empty = no password.
  std::string auth_string;
  bool locked = false;
  BuiltIn built_in = BuiltIn::No;
  TlsRequirement require = TlsRequirement::None;

  bool is_operator() const { return built_in == BuiltIn::Operator; }
  bool is_built_in() const { return built_in != BuiltIn::No; }
};

class AccountDirectory {
 public:
  virtual ~AccountDirectory() = default;
  // The most specific account for a user connecting from an address (host name patterns as in MySQL).
  virtual std::optional<Account> find(std::string_view user, std::string_view client_host) = 0;
};

}  // namespace commitd::sql
