#include "sql/accounts/accounts.h"

#include <openssl/sha.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "storage/record/key_codec.h"

namespace commitd::sql {
namespace {

constexpr uint8_t kRecordFormat = 2;  // 2 has privileges on tables
constexpr std::string_view kCachingSha2 = "caching_sha2_password";
constexpr std::string_view kNative = "mysql_native_password";

std::string account_key(const std::string& user, const std::string& host) {
  std::string key;
  append_index_id(key, storage::kAccountsIndexId);
  return key + user + '\0' + host;
}

void put_text(std::string& out, std::string_view text) {
  char length[4];
  store_le32(length, static_cast<uint32_t>(text.size()));
  out.append(length, sizeof length).append(text);
}

void put_number(std::string& out, uint64_t number) {
  char bytes[8];
  store_le64(bytes, number);
  out.append(bytes, sizeof bytes);
}

// Bit 0: locked; from bit 8 on: what TLS is required.
constexpr uint64_t kLockedFlag = 1;
constexpr int kRequireShift = 8;

uint64_t flags_of(const AccountRecord& record) {
  return (record.locked ? kLockedFlag : 0) | static_cast<uint64_t>(record.require) << kRequireShift;
}

std::string encode(const AccountRecord& record) {
  std::string out(1, static_cast<char>(kRecordFormat));
  put_text(out, record.user);
  put_text(out, record.host);
  put_text(out, record.plugin);
  put_text(out, record.auth_string);
  put_number(out, flags_of(record));
  put_number(out, record.global);
  put_number(out, record.databases.size());
  for (const auto& [db, privileges] : record.databases) {
    put_text(out, db);
    put_number(out, privileges);
  }
  put_number(out, record.tables.size());
  for (const auto& [name, privileges] : record.tables) {
    put_text(out, name.first);
    put_text(out, name.second);
    put_number(out, privileges);
  }
  return out;
}

Result<AccountRecord> decode(std::string_view bytes) {
  ByteReader reader(bytes);
  uint8_t format = reader.u8();
  if (format == 0 || format > kRecordFormat)
    return make_error(er::kErrorOnRead, "An account record has the unknown format {}", format);
  auto text = [&] { return std::string(reader.bytes(reader.le32())); };
  AccountRecord record;
  record.user = text();
  record.host = text();
  record.plugin = text();
  record.auth_string = text();
  const uint64_t flags = reader.le64();
  record.locked = (flags & kLockedFlag) != 0;
  record.require = static_cast<TlsRequirement>(flags >> kRequireShift & 0xff);
  record.global = reader.le64();
  for (uint64_t left = reader.le64(); left > 0 && reader.ok(); --left) {
    std::string db = text();
    record.databases[db] = reader.le64();
  }
  for (uint64_t left = format >= 2 ? reader.le64() : 0; left > 0 && reader.ok(); --left) {
    std::string db = text();
    std::string table = text();
    record.tables[{db, table}] = reader.le64();
  }
  if (!reader.ok() || !reader.at_end()) return make_error(er::kErrorOnRead, "An account record is damaged");
  return record;
}

std::string sha256(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return std::string(reinterpret_cast<char*>(digest), sizeof digest);
}

std::string sha1(std::string_view text) {
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return std::string(reinterpret_cast<char*>(digest), sizeof digest);
}

// LIKE without escapes but for \_ and \%.
bool like(std::string_view pattern, std::string_view text, bool fold_case) {
  auto fold = [fold_case](char c) {
    return fold_case ? std::tolower(static_cast<unsigned char>(c)) : static_cast<unsigned char>(c);
  };
  for (; !pattern.empty() && pattern[0] != '%'; pattern.remove_prefix(1), text.remove_prefix(1)) {
    if (text.empty()) return false;
    const bool any = pattern[0] == '_';
    if (pattern[0] == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
    if (!any && fold(pattern[0]) != fold(text[0])) return false;
  }
  if (pattern.empty()) return text.empty();
  if (pattern.size() == 1) return true;
  for (size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (like(pattern.substr(1), text.substr(skipped), fold_case)) return true;
  }
  return false;
}

// More specific hosts first: those without a wildcard, then by how long the text before the first wildcard
// is.
size_t specificity(std::string_view host) {
  auto wildcard = host.find_first_of("%_");
  return wildcard == std::string_view::npos ? SIZE_MAX : wildcard;
}

Account to_account(const AccountRecord& record, BuiltIn built_in) {
  return {record.user,   record.host, record.plugin, record.auth_string,
          record.locked, built_in,    record.require};
}

AccountPtr built_in_account(std::string_view user, const std::optional<std::string>& password,
                            Privileges global) {
  if (!password) return nullptr;
  AccountRecord record;
  record.user = user;
  record.host = "%";
  record.auth_string = *Accounts::hash_password(record.plugin, *password);
  record.global = global;
  return std::make_shared<const AccountRecord>(std::move(record));
}

}  // namespace

bool host_matches(std::string_view pattern, std::string_view client_host) {
  if (pattern == "%" || pattern == client_host) return true;
  if (pattern == "localhost" && (client_host == "127.0.0.1" || client_host == "::1")) return true;
  return like(pattern, client_host, true);
}

Privileges AccountRecord::on_database(std::string_view db) const {
  Privileges privileges = global;
  for (const auto& [pattern, granted] : databases) {
    if (like(pattern, db, false)) privileges |= granted;
  }
  return privileges;
}

Privileges AccountRecord::on_table(std::string_view db, std::string_view table) const {
  auto found = tables.find({std::string(db), std::string(table)});
  return on_database(db) | (found == tables.end() ? 0 : found->second);
}

bool AccountRecord::sees_database(std::string_view db) const {
  constexpr Privileges kSeeing = privilege::kAllOnDatabase | privilege::kShowDatabases;
  for (const auto& [name, privileges] : tables) {
    if (name.first == db) return true;
  }
  return db == "information_schema" || db == "performance_schema" || (on_database(db) & kSeeing) != 0;
}

Accounts::Accounts(const BuiltInPasswords& passwords)
    : operator_(built_in_account(kOperatorUser, passwords.of_operator,
                                 privilege::kAllGlobal | privilege::kGrantOption)),
      replication_(built_in_account(kReplicationUser, passwords.of_replication,
                                    privilege::kReplicationSlave | privilege::kBackupAdmin)) {}

Status Accounts::load(storage::Engine& engine) {
  std::string prefix;
  append_index_id(prefix, storage::kAccountsIndexId);
  std::map<Key, AccountPtr> records;
  auto iterator = engine.iterate(engine.snapshot(), prefix, prefix_end(prefix));
  for (iterator->seek(prefix); iterator->valid(); iterator->next()) {
    auto record = decode(iterator->value());
    if (!record.ok()) return std::move(record).error();
    Key key{record->user, record->host};
    records[key] = std::make_shared<const AccountRecord>(std::move(*record));
  }
  COMMITD_RETURN_IF_ERROR(iterator->status());
  std::lock_guard lock(mutex_);
  records_ = std::move(records);
  version_.fetch_add(1, std::memory_order_release);
  return {};
}

void Accounts::initialize(WriteSet& writes, const std::string& root_password) const {
  for (const char* host : {"localhost", "%"}) {
    AccountRecord root;
    root.user = "root";
    root.host = host;
    root.auth_string = *hash_password(root.plugin, root_password);
    root.global = privilege::kAllGlobal | privilege::kGrantOption;
    writes.put(account_key(root.user, root.host), encode(root));
  }
}

std::optional<Account> Accounts::find(std::string_view user, std::string_view client_host) {
  if (const BuiltIn which = built_in(user); which != BuiltIn::No) {
    Account account = to_account(*built_in_record(which), which);
    account.require = built_in_require_.load();
    return account;
  }
  auto found = match(user, client_host);
  if (!found) return std::nullopt;
  return to_account(*found, BuiltIn::No);
}

BuiltIn Accounts::built_in(std::string_view user) const {
  if (operator_ && user == kOperatorUser) return BuiltIn::Operator;
  if (replication_ && user == kReplicationUser) return BuiltIn::Replication;
  return BuiltIn::No;
}

std::string Accounts::built_in_names() const {
  std::string names;
  for (const AccountPtr& account : {operator_, replication_}) {
    if (account) names += (names.empty() ? "" : ",") + account->user;
  }
  return names;
}

AccountPtr Accounts::record_of(const Account& account) const {
  return account.is_built_in() ? built_in_record(account.built_in) : record(account.user, account.host);
}

AccountPtr Accounts::match(std::string_view user, std::string_view client_host) const {
  const auto rank = [](const AccountRecord& account) {
    return std::pair(specificity(account.host), !account.user.empty());
  };
  std::lock_guard lock(mutex_);
  const AccountPtr* best = nullptr;
  const auto look_at_those_of = [&](std::string_view name) {
    for (auto at = records_.lower_bound(Key(name, std::string_view()));
         at != records_.end() && at->first.first == name; ++at) {
      const AccountRecord& record = *at->second;
      if (!host_matches(record.host, client_host)) continue;
      if (best == nullptr || rank(record) > rank(**best)) best = &at->second;
    }
  };
  look_at_those_of({});  // the anonymous are anybody
  if (!user.empty()) look_at_those_of(user);
  return best == nullptr ? nullptr : *best;
}

AccountPtr Accounts::record(std::string_view user, std::string_view host) const {
  std::lock_guard lock(mutex_);
  auto found = records_.find(Key(user, host));
  return found == records_.end() ? nullptr : found->second;
}

std::vector<AccountPtr> Accounts::all() const {
  std::lock_guard lock(mutex_);
  std::vector<AccountPtr> out;
  for (const auto& [key, record] : records_) out.push_back(record);
  return out;
}

std::function<void()> Accounts::put(WriteSet& writes, AccountRecord record) {
  writes.put(account_key(record.user, record.host), encode(record));
  auto shared = std::make_shared<const AccountRecord>(std::move(record));
  return [this, shared] {
    std::lock_guard lock(mutex_);
    records_[Key(shared->user, shared->host)] = shared;
    version_.fetch_add(1, std::memory_order_release);
  };
}

std::function<void()> Accounts::remove(WriteSet& writes, const std::string& user, const std::string& host) {
  writes.erase(account_key(user, host));
  return [this, key = Key(user, host)] {
    std::lock_guard lock(mutex_);
    records_.erase(key);
    version_.fetch_add(1, std::memory_order_release);
  };
}

std::optional<std::string> Accounts::hash_password(std::string_view plugin, std::string_view password) {
  if (plugin != kCachingSha2 && plugin != kNative) return std::nullopt;
  if (password.empty()) return std::string();
  return plugin == kCachingSha2 ? sha256(sha256(password)) : sha1(sha1(password));
}

}  // namespace commitd::sql
