// CREATE, ALTER and DROP SERVER.
#include <algorithm>

#include "sql/ast/definitions.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {

// OPTIONS (HOST 'h', PORT 3306 …): of one that is named twice the last counts.
void Grammar::server_options(ast::ServerStatement& server) {
  expect_plain("options");
  expect('(');
  do {
    if (accept_plain("port"))
      server.port = static_cast<uint32_t>(std::min<uint64_t>(unsigned_number(), UINT32_MAX));
    else if (accept_plain("host"))
      server.host = string_literal();
    else if (accept(Word::Database))
      server.db = string_literal();
    else if (accept(Word::User))
      server.user = string_literal();
    else if (accept(Word::Password))
      server.password = string_literal();
    else if (accept_plain("socket"))
      server.socket = string_literal();
    else if (accept_plain("owner"))
      server.owner = string_literal();
    else
      fail();
  } while (accept(','));
  expect(')');
}

ast::Statement* Grammar::server_statement(ast::StatementKind kind) {
  auto* server = arena_.make<ast::ServerStatement>(kind);
  if (kind == ast::StatementKind::DropServer) server->if_exists = if_exists();
  server->name = string_or_identifier();
  if (kind == ast::StatementKind::CreateServer) {
    expect(Word::Foreign);
    expect_plain("data");
    expect_plain("wrapper");
    server->wrapper = string_or_identifier();
  }
  if (kind != ast::StatementKind::DropServer) server_options(*server);
  return server;
}

}  // namespace commitd::sql
