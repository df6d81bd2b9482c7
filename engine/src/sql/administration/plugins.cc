// INSTALL PLUGIN and UNINSTALL PLUGIN.
#include "base/error_codes.h"
#include "plugins/plugin_errors.h"
#include "plugins/registry.h"
#include "sql/ast/administration.h"
#include "sql/executor/statements.h"
#include "sql/information_schema/built_in_plugins.h"

namespace commitd::sql {
namespace {

// As MySQL, whose list of plugins is this table.
Status check_privilege(SessionState& session, bool install) {
  constexpr std::string_view kDatabase = "mysql", kTable = "plugin";
  return install ? session.require_on_table(kDatabase, kTable, privilege::kInsert, "INSERT")
                 : session.require_on_table(kDatabase, kTable, privilege::kDelete, "DELETE");
}

}  // namespace

Task<Result<OkInfo>> execute_plugin(SessionState& session, const ast::PluginStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(check_privilege(session, statement.install));
  COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  const std::string name(statement.name);
  if (is_built_in_plugin(name)) {
    if (statement.install) co_return plugins::is_installed(name);
    session.diagnostics.warn(plugins::built_in_stays());
    co_return plugins::does_not_exist(name);
  }
  if (session.server.plugins == nullptr)
    co_return make_error(er::kNotSupportedYet, "This server has no plugins");
  plugins::Registry& registry = *session.server.plugins;
  Status done;
  if (statement.install) {
    done = co_await registry.install(name, std::string(statement.library));
  } else {
    done = co_await registry.uninstall(name);
  }
  if (!done.ok()) co_return std::move(done).error();
  co_return OkInfo{};
}

}  // namespace commitd::sql
