#include "sql/accounts/account_statements.h"

#include <charconv>
#include <map>

#include "base/error_codes.h"
#include "sql/ast/accounts.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;
constexpr std::string_view kDefaultPlugin = "caching_sha2_password";
constexpr std::string_view kNativePlugin = "mysql_native_password";
constexpr std::string_view kCurrentUser = "\1current";

std::string in_quotes(char quote, std::string_view text) {
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote) out += c;
    out += c;
  }
  return out + quote;
}

std::string quoted_name(std::string_view name) {
  return in_quotes('`', name);
}

// The same to every sql_mode: what a backslash in a string is hangs on it.
std::string quoted(std::string_view text) {
  const bool has_backslash = text.find('\\') != std::string_view::npos;
  return in_quotes(has_backslash ? '`' : '\'', text);
}

std::string account_text(const AccountRecord& account) {
  return quoted(account.user) + "@" + quoted(account.host);
}

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  for (unsigned char byte : bytes) out += fmt::format("{:02X}", byte);
  return out;
}

// Replicas read it, MariaDB's among them, which know of mysql_native_password only the text form.
std::string hash_text(const AccountRecord& account) {
  const std::string digits = hexadecimal(account.auth_string);
  return account.plugin == kNativePlugin ? "'*" + digits + "'" : "0x" + digits;
}

std::string_view require_text(TlsRequirement require) {
  switch (require) {
    case TlsRequirement::Tls:
      return " REQUIRE SSL";
    case TlsRequirement::Certificate:
      return " REQUIRE X509";
    default:
      return " REQUIRE NONE";
  }
}

std::string identified(const AccountRecord& account) {
  std::string out = " IDENTIFIED WITH " + quoted(account.plugin);
  return account.auth_string.empty() ? out : out + " AS " + hash_text(account);
}

class Planner {
 public:
  Planner(Accounts& accounts, const AccountRecord* current, std::string_view default_db,
          Diagnostics& diagnostics)
      : accounts_(accounts), current_(current), default_db_(default_db), diagnostics_(diagnostics) {}

  Status create_or_alter(const ast::UserStatement& statement);
  Status drop(const ast::UserStatement& statement);
  Status grant(const ast::GrantStatement& statement);
  Status change_privileges(AccountRecord& account, const ast::GrantStatement& statement,
                           const std::string& db) const;
  AccountEffect finish(std::string_view fallback_text);

 private:
  using Name = std::pair<std::string, std::string>;

  Result<Name> resolve(const ast::AccountName& name) const;
  Status authenticate(AccountRecord& account, const ast::AccountSpec& spec) const;
  void put(AccountRecord account) { publish_.push_back(accounts_.put(effect_.writes, std::move(account))); }
  void log(std::string_view verb, std::string_view account) {
    effect_.logged +=
        effect_.logged.empty() ? fmt::format("{} {}", verb, account) : fmt::format(", {}", account);
  }

  Accounts& accounts_;
  const AccountRecord* current_;
  std::string_view default_db_;
  Diagnostics& diagnostics_;
  AccountEffect effect_;
  std::vector<std::function<void()>> publish_;
};

Result<Planner::Name> Planner::resolve(const ast::AccountName& name) const {
  if (name.user != kCurrentUser) {
    // What was logged before there was such an account is applied all the same.
    if (name.user == kOperatorUser || (current_ && accounts_.is_built_in(name.user))) {
      return make_error(er::kCannotUser, "Operation failed for '{}': it is commitd's built-in account",
                        name.user);
    }
    return Name(name.user, name.host);
  }
  if (!current_) return make_error(er::kCannotUser, "There is no current user here");
  return Name(current_->user, current_->host);
}

// The hash of mysql_native_password in its text form; nullopt for anything else. Clients of MariaDB send it
// in SET PASSWORD (mysqladmin password).
std::optional<std::string> native_hash(std::string_view text) {
  constexpr size_t kDigits = 40;
  if (text.size() != kDigits + 1 || text[0] != '*') return std::nullopt;
  std::string bytes;
  for (size_t i = 1; i < text.size(); i += 2) {
    uint8_t byte = 0;
    const auto [end, problem] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (problem != std::errc() || end != text.data() + i + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

Status Planner::authenticate(AccountRecord& account, const ast::AccountSpec& spec) const {
  if (!spec.has_authentication) return {};
  account.plugin = spec.plugin.empty() ? kDefaultPlugin : spec.plugin;
  auto hash = Accounts::hash_password(account.plugin, spec.password);
  if (!hash) return make_error(er::kPluginIsNotLoaded, "Plugin '{}' is not loaded", account.plugin);
  account.auth_string = spec.has_hash ? std::string(spec.hash) : std::move(*hash);
  if (account.plugin == kNativePlugin)
    account.auth_string = native_hash(account.auth_string).value_or(account.auth_string);
  size_t expected = account.plugin == kDefaultPlugin ? 32 : 20;
  if (!account.auth_string.empty() && account.auth_string.size() != expected) {
    return make_error(er::kPasswordFormat, "The password hash doesn't have the expected format.");
  }
  return {};
}

Status Planner::create_or_alter(const ast::UserStatement& statement) {
  bool create = statement.kind == StatementKind::CreateUser;
  std::string_view verb = create ? "CREATE USER" : "ALTER USER";
  for (const auto& spec : statement.accounts) {
    auto name = resolve(spec.name);
    if (!name.ok()) return std::move(name).error();
    AccountPtr existing = accounts_.record(name->first, name->second);
    if (create == (existing != nullptr)) {
      Error refused =
          make_error(er::kCannotUser, "Operation {} failed for '{}'@'{}'", verb, name->first, name->second);
      if (!statement.if_exists) return refused;
      diagnostics_.note(std::move(refused));
      continue;
    }
    AccountRecord account = existing ? *existing : AccountRecord{};
    account.user = name->first;
    account.host = name->second;
    COMMITD_RETURN_IF_ERROR(authenticate(account, spec));
    if (statement.kind == StatementKind::SetPassword) {
      if (auto hash = native_hash(spec.password)) {
        account.plugin = kNativePlugin;
        account.auth_string = *std::move(hash);
      }
    }
    if (statement.locked) account.locked = *statement.locked;
    if (statement.require) account.require = *statement.require;
    log(verb, account_text(account) + identified(account));
    put(std::move(account));
  }
  if (statement.require && !effect_.logged.empty()) effect_.logged += require_text(*statement.require);
  if (statement.locked && !effect_.logged.empty())
    effect_.logged += *statement.locked ? " ACCOUNT LOCK" : " ACCOUNT UNLOCK";
  return {};
}

Status Planner::drop(const ast::UserStatement& statement) {
  for (const auto& spec : statement.accounts) {
    auto name = resolve(spec.name);
    if (!name.ok()) return std::move(name).error();
    AccountPtr existing = accounts_.record(name->first, name->second);
    if (!existing) {
      Error refused =
          make_error(er::kCannotUser, "Operation DROP USER failed for '{}'@'{}'", name->first, name->second);
      if (!statement.if_exists) return refused;
      diagnostics_.note(std::move(refused));
      continue;
    }
    log("DROP USER", account_text(*existing));
    publish_.push_back(accounts_.remove(effect_.writes, existing->user, existing->host));
  }
  return {};
}

Result<Privileges> granted(const ast::GrantStatement& statement) {
  const bool on_table = !statement.table.empty();
  const Privileges all = statement.global ? privilege::kAllGlobal
                         : on_table       ? privilege::kAllOnTable
                                          : privilege::kAllOnDatabase;
  Privileges privileges = statement.with_grant_option ? privilege::kGrantOption : 0;
  for (std::string_view name : statement.privileges) {
    if (name == "ALL") {
      privileges |= all;
      continue;
    }
    auto bit = privilege::parse(name);
    if (!bit)
      return make_error(er::kNotSupportedYet,
                        "This version of commitd doesn't yet support the privilege '{}'", name);
    if (!statement.global && (*bit & ~(all | privilege::kGrantOption))) {
      if (on_table)
        return make_error(er::kIllegalGrantForTable,
                          "Illegal GRANT/REVOKE command; please consult the manual to see which privileges "
                          "can be used");
      return make_error(er::kWrongUsage, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES");
    }
    privileges |= *bit;
  }
  return privileges;
}

Error no_such_grant(const ast::GrantStatement& statement, std::string_view user, std::string_view host) {
  if (statement.table.empty())
    return make_error(er::kNonexistingGrant, "There is no such grant defined for user '{}' on host '{}'",
                      user, host);
  return make_error(er::kNonexistingTableGrant,
                    "There is no such grant defined for user '{}' on host '{}' on table '{}'", user, host,
                    statement.table);
}

// Which of an account's sets of privileges the statement is about. `db` is the database named or meant.
Privileges& held_privileges(AccountRecord& account, const ast::GrantStatement& statement,
                            const std::string& db) {
  if (statement.global) return account.global;
  if (statement.table.empty()) return account.databases[db];
  return account.tables[{db, std::string(statement.table)}];
}

// With the database and the accounts named, so that it means the same wherever it is replayed.
std::string logged_grant(const ast::GrantStatement& statement, const std::string& db,
                         const std::string& accounts) {
  std::string privileges;
  for (std::string_view name : statement.privileges)
    privileges += fmt::format("{}{}", privileges.empty() ? "" : ", ", name);
  std::string object;
  if (!statement.everything) {
    object = " ON " + (statement.global ? "*.*"
                                        : quoted_name(db) + "." +
                                              (statement.table.empty() ? "*" : quoted_name(statement.table)));
  }
  return fmt::format("{} {}{} {} {}{}", statement.revoke ? "REVOKE" : "GRANT", privileges, object,
                     statement.revoke ? "FROM" : "TO", accounts,
                     statement.with_grant_option ? " WITH GRANT OPTION" : "");
}

Status Planner::change_privileges(AccountRecord& account, const ast::GrantStatement& statement,
                                  const std::string& db) const {
  if (statement.everything) {
    account.global = 0;
    account.databases.clear();
    account.tables.clear();
    return {};
  }
  auto privileges = granted(statement);
  if (!privileges.ok()) return std::move(privileges).error();
  Privileges& held = held_privileges(account, statement, db);
  if (statement.revoke && !statement.global && held == 0)
    return no_such_grant(statement, account.user, account.host);
  held = statement.revoke ? held & ~*privileges : held | *privileges;
  std::erase_if(account.databases, [](const auto& entry) { return entry.second == 0; });
  std::erase_if(account.tables, [](const auto& entry) { return entry.second == 0; });
  return {};
}

Status Planner::grant(const ast::GrantStatement& statement) {
  const std::string db(statement.db.empty() ? default_db_ : statement.db);
  if (db.empty() && !statement.global && !statement.everything)
    return make_error(er::kNoDb, "No database selected");
  std::string accounts;
  for (const auto& account_name : statement.accounts) {
    auto name = resolve(account_name);
    if (!name.ok()) return std::move(name).error();
    AccountPtr existing = accounts_.record(name->first, name->second);
    if (!existing && statement.revoke) return no_such_grant(statement, name->first, name->second);
    if (!existing)
      return make_error(er::kCantCreateUserWithGrant, "You are not allowed to create a user with GRANT");
    AccountRecord account = *existing;
    COMMITD_RETURN_IF_ERROR(change_privileges(account, statement, db));
    accounts += (accounts.empty() ? "" : ", ") + account_text(account);
    put(std::move(account));
  }
  effect_.logged = logged_grant(statement, db, accounts);
  return {};
}

AccountEffect Planner::finish(std::string_view fallback_text) {
  effect_.nothing = publish_.empty();
  if (effect_.logged.empty()) effect_.logged = fallback_text;
  effect_.publish = [all = std::move(publish_)] {
    for (const auto& publish : all) publish();
  };
  return std::move(effect_);
}

}  // namespace

bool is_account_statement(StatementKind kind) {
  return kind == StatementKind::CreateUser || kind == StatementKind::AlterUser ||
         kind == StatementKind::DropUser || kind == StatementKind::SetPassword ||
         kind == StatementKind::Grant;
}

Result<AccountEffect> plan_account_statement(const ast::Statement& statement, Accounts& accounts,
                                             const AccountRecord* current, std::string_view default_db,
                                             Diagnostics& diagnostics) {
  Planner planner(accounts, current, default_db, diagnostics);
  Status status;
  switch (statement.kind) {
    case StatementKind::DropUser:
      status = planner.drop(ast::as<ast::UserStatement>(statement));
      break;
    case StatementKind::Grant:
      status = planner.grant(ast::as<ast::GrantStatement>(statement));
      break;
    default:
      status = planner.create_or_alter(ast::as<ast::UserStatement>(statement));
      break;
  }
  if (!status.ok()) return std::move(status).error();
  return planner.finish(statement.text);
}

}  // namespace commitd::sql
