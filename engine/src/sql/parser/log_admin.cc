// Statements about the log's files and what backups need: FLUSH, PURGE, BACKUP, LOCK TABLES.
#include "sql/ast/administration.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

using ast::StatementKind;

// FLUSH [BINARY | ENGINE | ERROR | GENERAL | RELAY | SLOW] LOGS.
void Grammar::flush_logs(ast::FlushStatement& flush) {
  const bool all = is(Word::Logs);
  if (all || is(Word::Binary)) flush.binary_logs = true;
  if (all || is(Word::Relay)) flush.relay_logs = true;
  if (all || is(Word::Engine)) flush.engine_logs = true;
  if (all || is(Word::Slow)) flush.slow_logs = true;
  const bool relay = is(Word::Relay);
  if (!all) advance();  // the other logs are not files of ours that could be reopened
  accept(Word::Logs);
  if (relay) channel(false);
}

ast::Statement* Grammar::flush() {
  auto* flush = arena_.make<ast::FlushStatement>();
  advance();
  if (!accept(Word::Local)) accept_plain("no_write_to_binlog");
  do {
    if (accept(Word::Tables) || accept(Word::Table)) {
      while (at_identifier() && !is(Word::With) && !is(Word::For)) {
        table_name();
        if (!accept(',')) break;
      }
      if (accept(Word::For)) unsupported("FLUSH TABLES … FOR EXPORT");
      if (accept(Word::With)) {
        expect(Word::Read);
        expect(Word::Lock);
        flush->tables_with_read_lock = true;
      }
    } else if (accept(Word::Status)) {
      flush->status = true;
    } else if (accept(Word::PrivilegeList) || accept(Word::Hosts) || accept_plain("user_resources") ||
               accept_plain("optimizer_costs")) {
      // Nothing is cached that could be stale.
    } else {
      flush_logs(*flush);
    }
  } while (accept(','));
  return flush;
}

ast::Statement* Grammar::purge() {
  auto* purge = arena_.make<ast::PurgeLogsStatement>();
  advance();
  if (!accept(Word::Binary)) expect(Word::Master);
  expect(Word::Logs);
  if (accept(Word::Before)) {
    purge->before = expression();
  } else {
    expect(Word::To);
    purge->to = string_literal();
  }
  return purge;
}

// BACKUP TO 'dir'; CLONE LOCAL DATA DIRECTORY 'dir'; CLONE INSTANCE FROM user@host:port IDENTIFIED BY
// 'password' [DATA DIRECTORY 'dir'] [REQUIRE [NO] SSL]
ast::Statement* Grammar::backup() {
  if (accept_plain("clone")) {
    auto* clone = arena_.make<ast::CloneStatement>();
    const auto directory = [&] {
      expect_plain("data");
      expect_plain("directory");
      accept('=');
      clone->directory = string_literal();
    };
    clone->local = accept(Word::Local);
    if (clone->local) {
      directory();
      return clone;
    }
    expect(Word::Instance);
    expect(Word::From);
    const ast::AccountName donor = account_name();
    clone->user = donor.user;
    clone->host = donor.host;
    expect(':');
    clone->port = unsigned_number();
    expect(Word::Identified);
    expect(Word::By);
    clone->password = string_literal();
    if (!failed() && peek().kind == TokenKind::Identifier && !is(Word::Require)) directory();
    if (accept(Word::Require)) {
      using Tls = ast::CloneStatement::Tls;
      clone->tls = accept(Word::No) ? Tls::Refused : Tls::Required;
      expect_plain("ssl");
    }
    return clone;
  }
  auto* backup = arena_.make<ast::BackupStatement>();
  advance();
  expect(Word::To);
  backup->directory = string_literal();
  return backup;
}

ast::Statement* Grammar::lock_tables() {
  const bool unlock = is(Word::Unlock);
  advance();
  if (!accept(Word::Tables)) {
    if (is(Word::Instance)) unsupported("LOCK INSTANCE FOR BACKUP");
    expect(Word::Table);
  }
  if (unlock) return arena_.make<ast::Statement>(StatementKind::UnlockTables);
  auto* lock = node<ast::LockTablesStatement>();
  do {
    ast::LockTablesStatement::Table table;
    table.name = table_name();
    optional_alias(false);
    if (accept(Word::Read)) {
      accept(Word::Local);
    } else {
      accept(Word::LowPriority);
      expect(Word::Write);
      table.write = true;
    }
    lock->tables.push_back(table);
  } while (accept(','));
  return lock;
}

}  // namespace commitd::sql
