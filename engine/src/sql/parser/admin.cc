// Transactions, SET, administration and the control statements of CONTROL.md.
#include "sql/ast/administration.h"
#include "sql/ast/definitions.h"
#include "sql/ast/session_statements.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

using ast::StatementKind;
using ast::VariableScope;

ast::Statement* Grammar::start() {
  if (is(Word::Stop) || next_is(Word::Replica) || next_is(Word::Slave)) return replica_threads();
  auto* begin = arena_.make<ast::BeginStatement>();
  if (accept(Word::Begin)) {
    accept(Word::Work);
    return begin;
  }
  advance();
  expect(Word::Transaction);
  while (!failed()) {
    if (accept(Word::Read)) {
      if (begin->read_only) fail();
      begin->read_only = is(Word::Only);
      if (!accept(Word::Only)) expect(Word::Write);
    } else if (accept(Word::With)) {
      expect(Word::Consistent);
      expect(Word::Snapshot);
      begin->consistent_snapshot = true;
    } else {
      break;
    }
    if (!accept(',')) break;
  }
  return begin;
}

ast::Statement* Grammar::rollback() {
  advance();
  accept(Word::Work);
  if (!accept(Word::To)) {
    completion();
    return arena_.make<ast::Statement>(StatementKind::Rollback);
  }
  accept(Word::Savepoint);
  auto* to = arena_.make<ast::NameStatement>(StatementKind::RollbackToSavepoint);
  to->name = identifier();
  return to;
}

// [AND [NO] CHAIN] [[NO] RELEASE]
void Grammar::completion() {
  if (accept(Word::And)) {
    const bool chain = !accept(Word::No);
    expect(Word::Chain);
    if (chain && !failed()) unsupported("AND CHAIN");
  }
  if (is(Word::Release)) unsupported("COMMIT or ROLLBACK … RELEASE");
  if (accept(Word::No)) expect(Word::Release);
}

ast::Statement* Grammar::set_transaction(VariableScope scope) {
  auto* set = arena_.make<ast::SetTransactionStatement>();
  set->scope = scope;
  expect(Word::Transaction);
  do {
    if (accept(Word::Isolation)) {
      if (!set->isolation.empty()) fail();
      expect(Word::Level);
      if (accept(Word::Serializable))
        set->isolation = "SERIALIZABLE";
      else if (accept(Word::Repeatable)) {
        expect(Word::Read);
        set->isolation = "REPEATABLE-READ";
      } else {
        expect(Word::Read);
        set->isolation = is(Word::Committed) ? "READ-COMMITTED" : "READ-UNCOMMITTED";
        if (!accept(Word::Committed)) expect(Word::Uncommitted);
      }
    } else {
      if (set->read_only) fail();
      expect(Word::Read);
      set->read_only = is(Word::Only);
      if (!accept(Word::Only)) expect(Word::Write);
    }
  } while (accept(','));
  return set;
}

ast::Statement* Grammar::set() {
  advance();
  VariableScope scope = VariableScope::Unspecified;
  if ((is(Word::Global) || is(Word::Session) || is(Word::Local)) && next_is(Word::Transaction)) {
    scope = is(Word::Global) ? VariableScope::Global : VariableScope::Session;
    advance();
  }
  if (is(Word::Transaction)) return set_transaction(scope);
  if (is(Word::Password)) return user_statement(StatementKind::SetPassword);
  if (is(Word::Role)) unsupported("roles");
  auto* statement = node<ast::SetStatement>();
  do {
    set_item(*statement);
  } while (accept(','));
  return statement;
}

void Grammar::set_item(ast::SetStatement& statement) {
  using What = ast::SetItem::What;
  ast::SetItem item;
  const bool names = is(Word::Names);
  if (accept(Word::Names) || accept(Word::Charset) || accept(Word::Character, Word::Set) ||
      accept(Word::Char, Word::Set)) {
    item.what = names ? What::Names : What::CharacterSet;
    item.name = accept(Word::Default) ? std::string_view("utf8mb4") : string_or_identifier();
    if (accept(Word::Collate)) item.collation = string_or_identifier();
    statement.items.push_back(item);
    return;
  }
  if (peek().kind == TokenKind::UserVariable) {
    item.what = What::UserVariable;
    item.name = peek().text;
    advance();
  } else {
    const bool prefixed = peek().kind == TokenKind::SystemVariable;
    if (prefixed) advance();
    const Word word = peek().word;
    const bool dotted = peek_next().kind == TokenKind::Symbol && peek_next().symbol == symbol('.');
    if (prefixed ? dotted : !(peek_next().kind == TokenKind::Symbol)) {
      if (word == Word::Global)
        item.scope = VariableScope::Global;
      else if (word == Word::Session || word == Word::Local)
        item.scope = VariableScope::Session;
      else if (word == Word::Persist)
        item.scope = VariableScope::Persist;
      else if (word == Word::PersistOnly)
        item.scope = VariableScope::PersistOnly;
      if (item.scope != VariableScope::Unspecified) {
        advance();
        if (prefixed) expect('.');
      }
    }
    item.name = peek().text;
    if (peek().kind != TokenKind::Identifier && peek().kind != TokenKind::QuotedIdentifier) fail();
    advance();
  }
  if (!accept('=') && !accept(Symbol::Assign)) fail();
  if (item.what == What::SystemVariable &&
      (is(Word::Default) || is(Word::On) || is(Word::All) || is(Word::Binary))) {
    // Words that are values here although they are reserved.
    if (!is(Word::Default)) {
      item.value = make(ast::ExprKind::String);
      item.value->text = peek().text;
    }
    advance();
  } else {
    item.value = expression();
    // SET sql_mode = ANSI: a bare word is a string.
    if (item.what == What::SystemVariable && item.value->kind == ast::ExprKind::Column &&
        item.value->table.empty()) {
      item.value->kind = ast::ExprKind::String;
    }
  }
  statement.items.push_back(item);
}

ast::Statement* Grammar::binlog() {
  auto* binlog = arena_.make<ast::BinlogStatement>();
  binlog->events = string_literal();
  return binlog;
}

ast::Statement* Grammar::kill() {
  auto* kill = arena_.make<ast::KillStatement>();
  advance();
  kill->query_only = accept(Word::Query);
  if (!kill->query_only) accept(Word::Connection);
  kill->id = expression();
  return kill;
}

ast::Statement* Grammar::alter_instance() {
  using What = ast::ControlInstanceStatement::What;
  auto* control = arena_.make<ast::ControlInstanceStatement>();
  if (accept(Word::Initialize)) return control;
  if (accept_plain("reload")) {
    expect_plain("tls");
    if (accept(Word::No)) {  // what is loaded stays in use after an error, as without it
      accept(Word::Rollback);
      expect(Word::On);
      expect_plain("error");
    }
    control->what = What::ReloadTls;
    return control;
  }
  if (accept(Word::Fence))
    control->what = What::Fence;
  else if (accept(Word::Promote))
    control->what = What::Promote;
  else if (accept(Word::Follow))
    control->what = What::Follow;
  else if (accept(Word::Quorum))
    control->what = What::Quorum;
  else if (accept_plain("handover"))
    control->what = What::Handover;
  else
    fail();
  expect(Word::Epoch);
  control->epoch = unsigned_number();
  while (!failed() && peek().kind == TokenKind::Identifier) {
    if (control_term(*control)) continue;
    const Word word = peek().word;
    advance();
    switch (word) {
      case Word::Version:
        control->version = unsigned_number();
        break;
      case Word::WaitCount:
        control->wait_count = unsigned_number();
        break;
      case Word::Members:
        control->members = string_literal();
        break;
      case Word::SourceHost:
        control->host = string_literal();
        break;
      case Word::SourcePort:
        control->port = unsigned_number();
        break;
      case Word::SourceUuid:
        control->uuid = string_literal();
        break;
      case Word::SourceUser:
        control->user = string_literal();
        break;
      case Word::SourcePassword:
        control->password = string_literal();
        break;
      default:
        fail();
    }
  }
  return control;
}

// Of PROMOTE and QUORUM, and HANDOVER's TIMEOUT: milliseconds. FOLLOW's SOURCE_SSL_NAME.
bool Grammar::control_term(ast::ControlInstanceStatement& control) {
  using What = ast::ControlInstanceStatement::What;
  if (control.what == What::Follow && accept_plain("source_ssl_name")) {
    control.source_name = string_literal();
    return true;
  }
  const bool quorum = control.what == What::Promote || control.what == What::Quorum;
  if (!quorum && control.what != What::Handover) return false;
  if (accept_plain("timeout"))
    control.timeout = unsigned_number();
  else if (quorum && accept_plain("on_timeout"))
    control.on_timeout = string_literal();
  else if (quorum && accept_plain("wait_point"))
    control.wait_point = string_literal();
  else if (quorum && accept_plain("source_lease"))
    control.lease = unsigned_number();
  else
    return false;
  return true;
}

ast::Statement* Grammar::prepare() {
  if (accept(Word::Deallocate)) {
    expect(Word::Prepare);
    auto* named = arena_.make<ast::NameStatement>(StatementKind::Deallocate);
    named->name = identifier();
    return named;
  }
  advance();
  auto* prepare = arena_.make<ast::PrepareStatement>();
  prepare->name = identifier();
  expect(Word::From);
  if (peek().kind == TokenKind::UserVariable) {
    prepare->source_variable = peek().text;
    advance();
  } else {
    prepare->source = string_literal();
  }
  return prepare;
}

ast::Statement* Grammar::execute() {
  advance();
  auto* execute = node<ast::ExecuteStatement>();
  execute->name = identifier();
  if (accept(Word::Using)) {
    do {
      if (peek().kind != TokenKind::UserVariable) fail();
      execute->variables.push_back(peek().text);
      advance();
    } while (accept(','));
  }
  return execute;
}

ast::Statement* Grammar::table_maintenance() {
  auto* maintenance = node<ast::MaintenanceStatement>();
  switch (peek().word) {
    case Word::Check:
      maintenance->what = ast::Maintenance::Check;
      break;
    case Word::Optimize:
      maintenance->what = ast::Maintenance::Optimize;
      break;
    case Word::Repair:
      maintenance->what = ast::Maintenance::Repair;
      break;
    case Word::Checksum:
      maintenance->what = ast::Maintenance::Checksum;
      break;
    default:
      break;
  }
  advance();
  if (!accept(Word::Local)) accept_plain("no_write_to_binlog");
  if (!accept(Word::Tables)) expect(Word::Table);
  do {
    maintenance->tables.push_back(table_name());
  } while (accept(','));
  while (!failed() && peek().kind == TokenKind::Identifier) {  // FAST, MEDIUM, FOR UPGRADE: one check here
    if (is(Word::Update)) unsupported("histograms");
    maintenance->quick |= is(Word::Quick);
    advance();
  }
  return maintenance;
}

ast::Statement* Grammar::reset() {
  advance();
  if (is(Word::Binary) || is(Word::Master)) return reset_logs();
  if (is(Word::Replica) || is(Word::Slave)) return reset_replica();
  if (!accept(Word::Persist)) unsupported("RESET of this kind");
  auto* reset = arena_.make<ast::ResetPersistStatement>();
  reset->if_exists = if_exists();
  if (at_identifier()) reset->name = identifier();
  return reset;
}

// RESET BINARY LOGS AND GTIDS, or RESET MASTER as it was called before.
ast::Statement* Grammar::reset_logs() {
  if (!accept(Word::Master)) {
    advance();
    expect(Word::Logs);
    expect(Word::And);
    expect_plain("gtids");
  }
  if (is(Word::To)) unsupported("RESET BINARY LOGS AND GTIDS TO");
  return arena_.make<ast::NameStatement>(StatementKind::ResetLogs);
}

ast::Statement* Grammar::plugin() {
  auto* plugin = arena_.make<ast::PluginStatement>();
  plugin->install = is(Word::Install);
  advance();
  if (is_plain(peek(), "component")) unsupported("INSTALL COMPONENT");
  expect(Word::Plugin);
  plugin->name = identifier();
  if (plugin->install) {
    expect(Word::Soname);
    plugin->library = string_literal();
  }
  return plugin;
}

}  // namespace commitd::sql
