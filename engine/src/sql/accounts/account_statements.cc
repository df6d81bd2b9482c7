#include "sql/accounts/account_statements.h"

#include <map>

#include "base/error_codes.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;
constexpr std::string_view kDefaultPlugin = "caching_sha2_password";
constexpr std::string_view kCurrentUser = "\1current";

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string account_text(const AccountRecord& account) {
  return quoted(account.user) + "@" + quoted(account.host);
}

std::string hexadecimal(std::string_view bytes) {
  std::string out = "0x";
  for (unsigned char byte : bytes) out += fmt::format("{:02X}", byte);
  return out;
}

std::string identified(const AccountRecord& account) {
  std::string out = " IDENTIFIED WITH " + quoted(account.plugin);
  return account.auth_string.empty() ? out : out + " AS " + hexadecimal(account.auth_string);
}

class Planner {
 public:
  Planner(Accounts& accounts, const AccountRecord* current, Diagnostics& diagnostics)
      : accounts_(accounts), current_(current), diagnostics_(diagnostics) {}

  Status create_or_alter(const ast::UserStatement& statement);
  Status drop(const ast::UserStatement& statement);
  Status grant(const ast::GrantStatement& statement);
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
  Diagnostics& diagnostics_;
  AccountEffect effect_;
  std::vector<std::function<void()>> publish_;
};

Result<Planner::Name> Planner::resolve(const ast::AccountName& name) const {
  if (name.user != kCurrentUser) {
    if (name.user == kOperatorUser) {
      return make_error(er::kCannotUser, "Operation failed for '{}': it is commitd's built-in account",
                        name.user);
    }
    return Name(name.user, name.host);
  }
  if (!current_) return make_error(er::kCannotUser, "There is no current user here");
  return Name(current_->user, current_->host);
}

Status Planner::authenticate(AccountRecord& account, const ast::AccountSpec& spec) const {
  if (!spec.has_authentication) return {};
  account.plugin = spec.plugin.empty() ? kDefaultPlugin : spec.plugin;
  auto hash = Accounts::hash_password(account.plugin, spec.password);
  if (!hash) return make_error(1524, "Plugin '{}' is not loaded", account.plugin);
  account.auth_string = spec.has_hash ? std::string(spec.hash) : std::move(*hash);
  size_t expected = account.plugin == kDefaultPlugin ? 32 : 20;
  if (!account.auth_string.empty() && account.auth_string.size() != expected) {
    return make_error(1827, "The password hash doesn't have the expected format.");
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
    if (statement.locked) account.locked = *statement.locked;
    log(verb, account_text(account) + identified(account));
    put(std::move(account));
  }
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
  Privileges privileges = statement.with_grant_option ? privilege::kGrantOption : 0;
  for (std::string_view name : statement.privileges) {
    if (name == "ALL" || name == "ALL PRIVILEGES") {
      privileges |= statement.global ? privilege::kAllGlobal : privilege::kAllOnDatabase;
      continue;
    }
    auto bit = privilege::parse(name);
    if (!bit)
      return make_error(er::kNotSupportedYet,
                        "This version of commitd doesn't yet support the privilege '{}'", name);
    if (!statement.global && (*bit & ~(privilege::kAllOnDatabase | privilege::kGrantOption))) {
      return make_error(1221, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES");
    }
    privileges |= *bit;
  }
  return privileges;
}

Status Planner::grant(const ast::GrantStatement& statement) {
  if (!statement.table.empty()) {
    return make_error(
        er::kNotSupportedYet,
        "This version of commitd doesn't yet support 'privileges on single tables': grant them on {}.*",
        statement.db);
  }
  auto privileges = granted(statement);
  if (!privileges.ok()) return std::move(privileges).error();
  for (const auto& account_name : statement.accounts) {
    auto name = resolve(account_name);
    if (!name.ok()) return std::move(name).error();
    AccountPtr existing = accounts_.record(name->first, name->second);
    if (!existing) {
      if (statement.revoke)
        return make_error(1141, "There is no such grant defined for user '{}' on host '{}'", name->first,
                          name->second);
      return make_error(1410, "You are not allowed to create a user with GRANT");
    }
    AccountRecord account = *existing;
    Privileges& held = statement.global ? account.global : account.databases[std::string(statement.db)];
    held = statement.revoke ? held & ~*privileges : held | *privileges;
    if (!statement.global && held == 0) account.databases.erase(std::string(statement.db));
    put(std::move(account));
  }
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
                                             const AccountRecord* current, Diagnostics& diagnostics) {
  Planner planner(accounts, current, diagnostics);
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
