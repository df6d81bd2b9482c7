// SHOW, EXPLAIN, DESCRIBE.
#include "base/error_codes.h"
#include "sql/ast/accounts.h"
#include "sql/ast/administration.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

using ast::ShowWhat;

void Grammar::explain_format() {
  expect('=');
  const std::string_view format = string_or_identifier();
  const std::string_view name = upper(format);
  if (name == "JSON") unsupported("EXPLAIN FORMAT=JSON");
  if (name == "TREE") unsupported("EXPLAIN FORMAT=TREE");
  if (name != "TRADITIONAL")
    fail(make_error(er::kUnknownExplainFormat, "Unknown EXPLAIN format name: '{}'", format));
}

ast::Statement* Grammar::explain() {
  advance();
  if (accept(Word::Analyze)) unsupported("EXPLAIN ANALYZE");
  if (accept(Word::Format)) explain_format();
  accept(Word::Extended);
  const Word word = peek().word;
  const bool statement_follows = word == Word::Select || word == Word::Insert || word == Word::Update ||
                                 word == Word::Delete || word == Word::Replace || is('(');
  if (statement_follows) {
    auto* explain = arena_.make<ast::ExplainStatement>();
    explain->statement = statement();
    return explain;
  }
  auto* show = arena_.make<ast::ShowStatement>();
  show->what = ShowWhat::Columns;
  show->table = table_name();
  if (peek().kind == TokenKind::String || at_identifier()) {
    show->has_like = true;
    show->like = string_or_identifier();
  }
  return show;
}

ast::Statement* Grammar::show() {
  auto* show = arena_.make<ast::ShowStatement>();
  advance();
  for (;;) {
    if (accept(Word::Full) || accept(Word::Extended))
      show->full = true;
    else if (accept(Word::Global))
      show->scope = ast::VariableScope::Global;
    else if (accept(Word::Session) || accept(Word::Local))
      show->scope = ast::VariableScope::Session;
    else
      break;
  }
  show_what(*show);
  return show;
}

void Grammar::show_filter(ast::ShowStatement& show) {
  if (accept(Word::Like)) {
    show.has_like = true;
    show.like = string_literal();
  } else if (accept(Word::Where)) {
    show.where = expression();
  }
}

// SHOW … FROM: tables, columns, indexes, definitions.
bool Grammar::show_tables(ast::ShowStatement& show) {
  auto from_database = [&] {
    if (accept(Word::From) || accept(Word::In)) show.table.db = identifier();
  };
  if (accept(Word::Tables)) {
    show.what = ShowWhat::Tables;
    from_database();
  } else if (accept(Word::Table, Word::Status)) {
    show.what = ShowWhat::TableStatus;
    from_database();
  } else if (accept(Word::Open)) {
    expect(Word::Tables);
    show.what = ShowWhat::OpenTables;
    from_database();
  } else if (is(Word::Triggers) || is(Word::Events)) {
    show.what = accept(Word::Events) ? ShowWhat::Events : ShowWhat::Triggers;
    accept(Word::Triggers);
    from_database();
  } else if (is(Word::Columns) || is(Word::Fields) || is(Word::Index) || is(Word::Indexes) ||
             is(Word::Keys)) {
    show.what = is(Word::Columns) || is(Word::Fields) ? ShowWhat::Columns : ShowWhat::Indexes;
    advance();
    if (!accept(Word::From)) expect(Word::In);
    show.table = table_name();
    if (accept(Word::From) || accept(Word::In)) show.table.db = identifier();
  } else if (accept(Word::Create)) {
    if (accept(Word::Table)) {
      show.what = ShowWhat::CreateTable;
      show.table = table_name();
    } else if (accept(Word::Database) || accept(Word::Schema)) {
      show.if_not_exists = if_not_exists();
      show.what = ShowWhat::CreateDatabase;
      show.table.db = identifier();
    } else {
      unsupported("SHOW CREATE of this kind of object");
    }
  } else {
    return false;
  }
  show_filter(show);
  return true;
}

bool Grammar::show_logs(ast::ShowStatement& show) {
  if (is(Word::Master) || is(Word::Binary)) {
    advance();
    if (accept(Word::Logs)) {
      show.what = ShowWhat::BinaryLogs;
    } else {
      accept(Word::Log);
      expect(Word::Status);
      show.what = ShowWhat::BinaryLogStatus;
    }
  } else if (is(Word::Binlog) || is_plain(peek(), "relaylog")) {
    show.what = is(Word::Binlog) ? ShowWhat::BinlogEvents : ShowWhat::RelaylogEvents;
    advance();
    expect(Word::Events);
    if (accept(Word::In)) show.log_name = string_literal();
    if (accept(Word::From)) show.log_position = unsigned_number();
    limit(show.limit, show.offset);
    if (show.what == ShowWhat::RelaylogEvents) channel(false);
  } else if (accept(Word::Replica) || accept(Word::Slave)) {
    show.what = accept(Word::Hosts) ? ShowWhat::Replicas : ShowWhat::ReplicaStatus;
    if (show.what == ShowWhat::ReplicaStatus) {
      expect(Word::Status);
      if (!accept(Word::Nonblocking)) accept(Word::Nolock);
      channel(false);
    }
  } else if (accept(Word::Replicas)) {
    show.what = ShowWhat::Replicas;
  } else {
    return false;
  }
  return true;
}

void Grammar::show_what(ast::ShowStatement& show) {
  if (show_tables(show) || show_logs(show)) return;
  if (accept(Word::Databases) || accept(Word::Schemas))
    show.what = ShowWhat::Databases;
  else if (accept(Word::Variables))
    show.what = ShowWhat::Variables;
  else if (accept(Word::Status))
    show.what = ShowWhat::Status;
  else if (accept(Word::Warnings))
    show.what = ShowWhat::Warnings;
  else if (accept(Word::Errors))
    show.what = ShowWhat::Errors;
  else if (accept(Word::Processlist))
    show.what = ShowWhat::Processlist;
  else if (accept(Word::Plugins))
    show.what = ShowWhat::Plugins;
  else if (accept(Word::PrivilegeList))
    show.what = ShowWhat::Privileges;
  else if (accept(Word::Charset) || accept(Word::Character, Word::Set) || accept(Word::Char, Word::Set))
    show.what = ShowWhat::CharacterSets;
  else if (accept(Word::Collation))
    show.what = ShowWhat::Collations;
  else if (accept(Word::Engines) || accept(Word::Storage, Word::Engines))
    show.what = ShowWhat::Engines;
  else if (accept(Word::Engine)) {
    show.what = ShowWhat::EngineStatus;
    show.engine = identifier();
    expect(Word::Status);
    return;
  } else if (accept(Word::Procedure, Word::Status) || accept(Word::Function, Word::Status))
    show.what = ShowWhat::ProcedureStatus;
  else if (accept(Word::Grants)) {
    show.what = ShowWhat::Grants;
    if (accept(Word::For)) {
      if (accept(Word::CurrentUser)) {
        if (accept('(')) expect(')');
      } else {
        const ast::AccountName name = account_name();
        show.user = name.user;
        show.host = name.host;
      }
    }
    return;
  } else if (accept_plain("count")) {
    expect('(');
    if (!is('*')) fail();
    advance();
    expect(')');
    if (!accept(Word::Warnings)) expect(Word::Errors);
    show.what = ShowWhat::CountWarnings;
    return;
  } else {
    fail();
    return;
  }
  show_filter(show);
  limit(show.limit, show.offset);
}

}  // namespace commitd::sql
