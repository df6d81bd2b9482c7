// CREATE, ALTER and DROP SERVER.
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/planning.h"

namespace commitd::sql::ddl {
namespace {

constexpr size_t kMostCharacters = 64, kMostOfHost = 255;  // as mysql.servers has them

Error no_such_server(std::string_view name) {
  return make_error(
      er::kForeignServerDoesntExist,
      "The foreign server name you are trying to reference does not exist. Data source error:  {}", name);
}

// What a password is stands in no message: replicas would write it to their error log.
Status check_length(std::string_view text, std::string_view what, size_t most = kMostCharacters) {
  if (character_count(text) <= most) return {};
  return make_error(er::kWrongStringLength, "String '{}' is too long for {} (should be no longer than {})",
                    what == "password" ? "…" : text, what, most);
}

Status set_options(ServerDef& server, const ast::ServerStatement& statement) {
  struct Option {
    const std::optional<std::string_view>& given;
    std::string& kept;
    std::string_view what;
    size_t most = kMostCharacters;
  };
  const Option options[] = {{statement.host, server.host, "host name", kMostOfHost},
                            {statement.db, server.db, "database name"},
                            {statement.user, server.user, "user name"},
                            {statement.password, server.password, "password"},
                            {statement.socket, server.socket, "socket"},
                            {statement.owner, server.owner, "owner"}};
  for (const Option& option : options) {
    if (!option.given) continue;
    COMMITD_RETURN_IF_ERROR(check_length(*option.given, option.what, option.most));
    option.kept = *option.given;
  }
  if (statement.port) server.port = *statement.port;
  return {};
}

Effect changed(CatalogChange& change) {
  Effect effect = finished(change);
  effect.affected_rows = 1;
  return effect;
}

Result<Effect> create_server(const ast::ServerStatement& statement, Context& context) {
  COMMITD_RETURN_IF_ERROR(check_length(statement.name, "server name"));
  COMMITD_RETURN_IF_ERROR(check_length(statement.wrapper, "wrapper name"));
  if (context.catalog.find_server(statement.name)) {
    return make_error(er::kForeignServerExists,
                      "The foreign server, {}, you are trying to create already exists.", statement.name);
  }
  ServerDef server;
  server.name = statement.name;
  server.wrapper = statement.wrapper;
  COMMITD_RETURN_IF_ERROR(set_options(server, statement));
  CatalogChange change(context.catalog);
  change.put_server(std::move(server));
  return changed(change);
}

Result<Effect> alter_server(const ast::ServerStatement& statement, Context& context) {
  auto server = context.catalog.find_server(statement.name);
  if (!server) return no_such_server(statement.name);
  COMMITD_RETURN_IF_ERROR(set_options(*server, statement));
  CatalogChange change(context.catalog);
  change.put_server(*std::move(server));
  return changed(change);
}

// Tables that name it stay, and cannot be read any more.
Result<Effect> drop_server(const ast::ServerStatement& statement, Context& context) {
  if (!context.catalog.find_server(statement.name)) {
    if (statement.if_exists) return nothing_to_do();
    return no_such_server(statement.name);
  }
  CatalogChange change(context.catalog);
  change.drop_server(statement.name);
  return changed(change);
}

}  // namespace

Result<Effect> plan_server(const ast::ServerStatement& statement, Context& context) {
  if (statement.kind == ast::StatementKind::CreateServer) return create_server(statement, context);
  if (statement.kind == ast::StatementKind::AlterServer) return alter_server(statement, context);
  return drop_server(statement, context);
}

}  // namespace commitd::sql::ddl
