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
// Reads the log and fetches clones, and nothing else.
inline constexpr std::string_view kReplicationUser = "commitlab_replication";

// Those of the built-in accounts; without one there is no such account.
struct BuiltInPasswords {
  std::optional<std::string> of_operator, of_replication;
};

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
  // The built-in accounts cannot be seen or changed by any statement.
  explicit Accounts(const BuiltInPasswords& passwords);

  Status load(storage::Engine& engine);
  // root@'%' and root@localhost of a new datadir.
  void initialize(WriteSet& writes, const std::string& root_password) const;

  std::optional<Account> find(std::string_view user, std::string_view client_host) override;
  // What a session holds: the record of the account it authenticated as; the operator's has every privilege.
  AccountPtr record_of(const Account& account) const;
  AccountPtr record(std::string_view user, std::string_view host) const;  // exact user and host; not built in
  // Whether the name is that of a built-in account that there is.
  bool is_built_in(std::string_view user) const { return built_in(user) != BuiltIn::No; }
  // Their names, with commas between them.
  std::string built_in_names() const;
  // How those must connect: commitd_built_in_accounts_require.
  void require_of_built_in(TlsRequirement require) { built_in_require_.store(require); }
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
  BuiltIn built_in(std::string_view user) const;
  const AccountPtr& built_in_record(BuiltIn which) const {
    return which == BuiltIn::Operator ? operator_ : replication_;
  }

  mutable std::mutex mutex_;
  std::map<Key, AccountPtr> records_;
  AccountPtr operator_, replication_;  // null: there is none
  std::atomic<TlsRequirement> built_in_require_{TlsRequirement::None};
  std::atomic<uint64_t> version_{1};
};

// MySQL's host patterns: % and _ as in LIKE, without case.
bool host_matches(std::string_view pattern, std::string_view client_host);

}  // namespace commitd::sql
