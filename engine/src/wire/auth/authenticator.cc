#include "wire/auth/authenticator.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/auth/password.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {

constexpr char kRequestPublicKey = 0x02;
constexpr char kFastAuthSuccess = 0x03;
constexpr char kPerformFullAuthentication = 0x04;

bool is_empty_password(std::string_view response) {
  return response.empty() || response == std::string_view("\0", 1);
}

Error access_denied(const LoginAttempt& attempt) {
  return make_error(er::kAccessDenied, "Access denied for user '{}'@'{}' (using password: {})", attempt.user,
                    attempt.client_host, is_empty_password(attempt.response) ? "NO" : "YES");
}

// What an unknown user is compared with, so that the exchange looks like that of a known one.
sql::Account decoy(const std::string& user) {
  sql::Account account;
  account.user = user;
  account.plugin = kCachingSha2;
  account.auth_string = sha256(random_salt());
  return account;
}

void write_auth_switch(PacketChannel& channel, std::string_view plugin, std::string_view salt) {
  ByteWriter out(channel.begin_packet());
  out.u8(kAuthSwitch);
  out.nul_string(plugin);
  out.nul_string(salt);
  channel.end_packet();
}

void write_more_data(PacketChannel& channel, std::string_view data) {
  ByteWriter out(channel.begin_packet());
  out.u8(kAuthMoreData);
  out.bytes(data);
  channel.end_packet();
}

// None: caching_sha2_password, where more may have to be said.
std::optional<bool> check_now(const sql::Account& account, const LoginAttempt& attempt) {
  if (account.auth_string.empty()) return is_empty_password(attempt.response);
  if (is_empty_password(attempt.response)) return false;
  if (account.plugin == kNativePassword)
    return check_native_response(attempt.response, attempt.salt, account.auth_string);
  if (account.plugin == kCachingSha2) return {};
  return false;
}

// A client that does not know the greeting's method answers with one that it knows, without a password: it
// waits to be asked.
bool must_be_asked(const sql::Account& account, const LoginAttempt& attempt) {
  if (attempt.plugin != account.plugin) return true;
  return !attempt.was_asked && account.plugin != kGreetingMethod && !account.auth_string.empty() &&
         is_empty_password(attempt.response);
}

Status verdict(const Authenticator::Candidate& candidate, bool right, const LoginAttempt& attempt) {
  if (!right || !candidate.known) return access_denied(attempt);
  if (candidate.account.locked) {
    return make_error(er::kAccountLocked, "Access denied for user '{}'@'{}'. Account is locked.",
                      attempt.user, attempt.client_host);
  }
  return {};
}

std::string without_trailing_zero(std::string text) {
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

Authenticator::Candidate Authenticator::candidate(const LoginAttempt& attempt) const {
  auto found = accounts_.find(attempt.user, attempt.client_host);
  if (found.has_value()) return {std::move(*found), true};
  return {decoy(attempt.user), false};
}

std::optional<Status> Authenticator::authenticate_now(const Candidate& candidate,
                                                      const LoginAttempt& attempt) {
  if (must_be_asked(candidate.account, attempt)) return {};
  const auto right = check_now(candidate.account, attempt);
  if (!right) return {};
  return verdict(candidate, *right, attempt);
}

Task<Status> Authenticator::authenticate(PacketChannel& channel, const Candidate& candidate,
                                         LoginAttempt& attempt, Deadline deadline) {
  if (must_be_asked(candidate.account, attempt)) {
    attempt.was_asked = true;
    attempt.plugin = candidate.account.plugin;
    attempt.salt = random_salt();
    write_auth_switch(channel, attempt.plugin, attempt.salt);
    COMMITD_CO_RETURN_IF_ERROR(co_await channel.flush());
    auto response = co_await channel.read_packet(deadline);
    if (!response.ok()) co_return std::move(response).error();
    attempt.response = std::move(*response);
  }
  if (auto verdict_now = authenticate_now(candidate, attempt)) co_return *std::move(verdict_now);
  auto right = co_await check_sha2(channel, candidate.account, attempt, deadline);
  if (!right.ok()) co_return std::move(right).error();
  co_return verdict(candidate, *right, attempt);
}

Task<Result<bool>> Authenticator::check_sha2(PacketChannel& channel, const sql::Account& account,
                                             const LoginAttempt& attempt, Deadline deadline) {
  bool crypt = is_sha2_crypt(account.auth_string);
  auto double_hash = crypt ? cached_double_hash(account.auth_string) : std::optional(account.auth_string);
  if (double_hash && check_sha2_response(attempt.response, attempt.salt, *double_hash)) {
    write_more_data(channel, {&kFastAuthSuccess, 1});
    co_return true;
  }
  if (!crypt) co_return false;
  write_more_data(channel, {&kPerformFullAuthentication, 1});
  COMMITD_CO_RETURN_IF_ERROR(co_await channel.flush());
  auto password = co_await full_password(channel, attempt, deadline);
  if (!password.ok()) co_return std::move(password).error();
  if (!check_sha2_crypt(*password, account.auth_string)) co_return false;
  remember(account.auth_string, *password);
  co_return true;
}

// The password itself: encrypted with our public key when the client asks for that, in clear where nobody can
// listen.
Task<Result<std::string>> Authenticator::full_password(PacketChannel& channel, const LoginAttempt& attempt,
                                                       Deadline deadline) {
  auto packet = co_await channel.read_packet(deadline);
  if (!packet.ok()) co_return std::move(packet).error();
  bool asks_for_key = packet->size() == 1 && packet->front() == kRequestPublicKey;
  if (attempt.secure_transport && !asks_for_key) co_return without_trailing_zero(std::move(*packet));
  if (!rsa_) co_return access_denied(attempt);
  if (asks_for_key) {
    write_more_data(channel, rsa_->public_pem());
    COMMITD_CO_RETURN_IF_ERROR(co_await channel.flush());
    packet = co_await channel.read_packet(deadline);
    if (!packet.ok()) co_return std::move(packet).error();
  }
  auto masked = rsa_->decrypt(*packet);
  if (!masked) co_return access_denied(attempt);
  co_return without_trailing_zero(xor_with(*masked, attempt.salt));
}

std::optional<std::string> Authenticator::cached_double_hash(const std::string& stored) {
  std::lock_guard lock(cache_mutex_);
  auto found = cache_.find(stored);
  return found == cache_.end() ? std::nullopt : std::optional(found->second);
}

void Authenticator::remember(const std::string& stored, std::string_view password) {
  std::lock_guard lock(cache_mutex_);
  cache_[stored] = sha256(sha256(password));
}

}  // namespace commitd::wire
