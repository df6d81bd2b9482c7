// Users and what they may do. Records are immutable and shared; account statements make changed ones in a
// write set and publish them when the engine has committed, so that accounts replicate and recover like data.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/account.h"
#include "sql/accounts/privileges.h"
#include "storage/engine.h"
#include "storage/write_set.h"

namespace commitd::sql {

inline constexpr std::string_view kOperatorUser = "commitlab_operator";

struct AccountRecord {
  std::string user, host;
  std::string plugin = "caching_sha2_password";
  std::string auth_string;  // raw bytes, see Account
  bool locked = false;
  TlsRequirement require = TlsRequirement::None;
  Privileges global = 0;
  std::map<std::string, Privileges> databases;  // by database name (patterns are kept as written)
  std::map<std::pair<std::string, std::string>, Privileges> tables;  // by database and table

  // Global and database privileges together.
  Privileges on_database(std::string_view db) const;
  // And those on the table.
  Privileges on_table(std::string_view db, std::string_view table) const;
  // True when there is any privilege on this database: SHOW DATABASES, USE.
  bool sees_database(std::string_view db) const;
};
using AccountPtr = std::shared_ptr<const AccountRecord>;

class Accounts : public AccountDirectory {
 public:
  // `operator_password`: enables the built-in operator account, which no statement can see or change.
  explicit Accounts(std::optional<std::string> operator_password);

  Status load(storage::Engine& engine);
  // root@'%' and root@localhost of a new datadir.
  void initialize(WriteSet& writes, const std::string& root_password) const;

  std::optional<Account> find(std::string_view user, std::string_view client_host) override;
  // What a session holds: the record of the account it authenticated as; the operator's has every privilege.
  AccountPtr record(std::string_view user, std::string_view host) const;  // exact user and host
  AccountPtr operator_record() const { return operator_; }
  std::vector<AccountPtr> all() const;
  // Grows with every change: sessions look their record up again when it has moved.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

  // A new or changed account, or its end: enters the write set; call the result once that is committed.
  std::function<void()> put(WriteSet& writes, AccountRecord record);
  std::function<void()> remove(WriteSet& writes, const std::string& user, const std::string& host);

  // The stored form of a password for a plugin (empty for an empty password); nullopt for a plugin we do not
  // have.
  static std::optional<std::string> hash_password(std::string_view plugin, std::string_view password);

 private:
  using Key = std::pair<std::string, std::string>;
  AccountPtr match(std::string_view user, std::string_view client_host) const;

  mutable std::mutex mutex_;
  std::map<Key, AccountPtr> records_;
  AccountPtr operator_;
  std::atomic<uint64_t> version_{1};
};

// MySQL's host patterns: % and _ as in LIKE, without case.
bool host_matches(std::string_view pattern, std::string_view client_host);

}  // namespace commitd::sql
