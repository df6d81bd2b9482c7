// CREATE, ALTER, DROP USER; SET PASSWORD; GRANT and REVOKE.
#include "sql/ast/accounts.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

// 'user'@'host', user@host, user; the lexer gives the host part as a user variable (`@'%'`).
ast::AccountName Grammar::account_name() {
  ast::AccountName name;
  if (accept(Word::CurrentUser)) {
    if (accept('(')) expect(')');
    name.user = "\1current";
    return name;
  }
  name.user = string_or_identifier();
  if (peek().kind == TokenKind::UserVariable) {
    name.host = peek().text;
    advance();
  }
  return name;
}

void Grammar::account_authentication(ast::AccountSpec& account) {
  if (!accept(Word::Identified)) return;
  account.has_authentication = true;
  if (accept(Word::With)) account.plugin = string_or_identifier();
  if (accept(Word::By)) {
    if (accept(Word::Password)) {  // the old spelling of a hash
      account.has_hash = true;
      account.plugin = "mysql_native_password";
      account.hash = string_literal();
      return;
    }
    account.has_password = true;
    account.password = string_literal();
  } else if (accept(Word::As)) {
    account.has_hash = true;
    if (peek().kind == TokenKind::Hex) {
      const ast::Expr* hex = literal();
      char* bytes = arena_.bytes(hex->text.size() / 2 + 1);
      auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
      size_t length = 0;
      for (size_t i = hex->text.size() % 2; i + 1 < hex->text.size(); i += 2) {
        bytes[length++] = static_cast<char>(digit(hex->text[i]) * 16 + digit(hex->text[i + 1]));
      }
      account.hash = {bytes, length};
    } else {
      account.hash = string_literal();
    }
  }
}

void Grammar::tls_requirement(ast::UserStatement& user) {
  if (accept(Word::None))
    user.require = TlsRequirement::None;
  else if (accept_plain("ssl"))
    user.require = TlsRequirement::Tls;
  else if (accept_plain("x509"))
    user.require = TlsRequirement::Certificate;
  else
    unsupported("REQUIRE of anything but SSL, X509 and NONE");
}

ast::Statement* Grammar::user_statement(ast::StatementKind kind) {
  auto* user = arena_.make<ast::UserStatement>(kind, arena_.resource());
  advance();
  if (kind == ast::StatementKind::SetPassword) {
    ast::AccountSpec account;
    account.name.user = "\1current";
    if (accept(Word::For)) account.name = account_name();
    if (!accept('=')) expect(Word::To);
    account.has_authentication = account.has_password = true;
    account.password = string_literal();
    user->accounts.push_back(account);
    // MariaDB's mysqladmin turns the general log on again in the same statement; there is none.
    while (accept(',')) {
      expect_plain("sql_log_off");
      expect('=');
      unsigned_number();
    }
    return user;
  }
  user->if_exists = kind == ast::StatementKind::CreateUser ? if_not_exists() : if_exists();
  do {
    ast::AccountSpec account;
    account.name = account_name();
    if (kind != ast::StatementKind::DropUser) account_authentication(account);
    user->accounts.push_back(account);
  } while (accept(','));
  while (!failed() && peek().kind == TokenKind::Identifier && kind != ast::StatementKind::DropUser) {
    if (accept(Word::Account)) {
      user->locked = !accept(Word::Unlock);
      if (*user->locked) expect(Word::Lock);
    } else if (accept(Word::Require)) {
      tls_requirement(*user);
    } else if (accept(Word::Password)) {
      expect(Word::Expire);
      if (!accept(Word::Never)) accept(Word::Default);
    } else if (accept(Word::Comment)) {
      string_literal();
    } else {
      fail();
    }
  }
  return user;
}

void Grammar::privileges(ast::GrantStatement& grant) {
  if (accept(Word::All)) {
    accept(Word::PrivilegeList);
    grant.privileges.push_back("ALL");
    if (accept(',')) {
      expect(Word::Grant);
      expect(Word::Option);
      grant.privileges.push_back("GRANT OPTION");
    }
    return;
  }
  do {
    const char* begin = peek().begin;
    while (!failed() && !is(',') && !is(Word::On) && !is(Word::To) && peek().kind == TokenKind::Identifier)
      advance();
    if (is('(')) unsupported("column privileges");
    if (previous_end_to(begin).empty()) fail();
    grant.privileges.push_back(upper(previous_end_to(begin)));
  } while (accept(','));
}

ast::Statement* Grammar::grant(bool revoke) {
  auto* grant = node<ast::GrantStatement>();
  grant->revoke = revoke;
  advance();
  privileges(*grant);
  if (revoke && is(Word::From) && grant->privileges.size() == 2 && grant->privileges[1] == "GRANT OPTION") {
    grant->everything = true;
  } else {
    grant_object(*grant);
  }
  if (revoke)
    expect(Word::From);
  else
    expect(Word::To);
  do {
    grant->accounts.push_back(account_name());
    if (is(Word::Identified)) unsupported("GRANT … IDENTIFIED: create the account first");
  } while (accept(','));
  if (accept(Word::With)) {
    expect(Word::Grant);
    expect(Word::Option);
    grant->with_grant_option = true;
  }
  return grant;
}

// ON *.*, db.*, *, db.table or table
void Grammar::grant_object(ast::GrantStatement& grant) {
  if (!is(Word::On)) unsupported("roles");
  expect(Word::On);
  accept(Word::Table);
  if (accept('*')) {
    grant.global = accept('.');
    if (grant.global) expect('*');
  } else {
    grant.db = identifier();
    if (accept('.')) {
      if (!accept('*')) grant.table = identifier();
    } else {
      grant.table = grant.db;
      grant.db = {};
    }
  }
}

}  // namespace commitd::sql
