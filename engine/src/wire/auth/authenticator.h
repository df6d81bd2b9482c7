// The server's side of a login: from the first answer of a client to the account it may use.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "runtime/task.h"
#include "sql/account.h"
#include "wire/auth/rsa_key.h"
#include "wire/packet_channel.h"

namespace commitd::wire {

struct LoginAttempt {
  std::string user, client_host;
  std::string plugin;  // the method the client answered with; empty: ask again in any case
  std::string response;
  std::string salt;               // the response was made with it
  bool was_asked = false;         // for this method: an empty answer is one
  bool secure_transport = false;  // passwords travel as they are (TLS, unix socket)
};

class Authenticator {
 public:
  explicit Authenticator(sql::AccountDirectory& accounts) : accounts_(accounts) {}
  void use_key(RsaKey key) { rsa_.emplace(std::move(key)); }

  // Whom an attempt is about. One that is not known is compared like one that is.
  struct Candidate {
    sql::Account account;
    bool known = false;
  };
  Candidate candidate(const LoginAttempt& attempt) const;

  // Error 1045 without a hint whether the user or the password was wrong, 3118 for a locked account, or what
  // broke the channel.
  Task<Status> authenticate(PacketChannel& channel, const Candidate& candidate, LoginAttempt& attempt,
                            Deadline deadline);
  // The same verdict where what the client has said suffices for it; none: it has to be asked for more.
  static std::optional<Status> authenticate_now(const Candidate& candidate, const LoginAttempt& attempt);

 private:
  Task<Result<bool>> check_sha2(PacketChannel& channel, const sql::Account& account,
                                const LoginAttempt& attempt, Deadline deadline);
  Task<Result<std::string>> full_password(PacketChannel& channel, const LoginAttempt& attempt,
                                          Deadline deadline);
  std::optional<std::string> cached_double_hash(const std::string& stored);
  void remember(const std::string& stored, std::string_view password);

  sql::AccountDirectory& accounts_;
  std::optional<RsaKey> rsa_;
  // SHA256(SHA256(password)) of logins that went the long way, by the stored crypt string (which has a salt
  // of its own, so it names one password of one account; a changed password is a new string).
  std::mutex cache_mutex_;
  std::unordered_map<std::string, std::string> cache_;
};

}  // namespace commitd::wire
