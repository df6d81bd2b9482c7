// information_schema.plugins, and mysql.plugin: what a start installs again.
#include <algorithm>

#include "plugins/registry.h"
#include "sql/bind/scope.h"
#include "sql/information_schema/built_in_plugins.h"
#include "sql/information_schema/virtual_table.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

constexpr const char* kActive = "ACTIVE";
constexpr const char* kOwnVersion = "1.0";

std::string version_text(uint16_t version) {
  return fmt::format("{}.{}", version >> 8, version & 0xff);
}

std::vector<plugins::PluginInfo> installed(const SessionState& session) {
  return session.server.plugins == nullptr ? std::vector<plugins::PluginInfo>()
                                           : session.server.plugins->list();
}

std::vector<Row> plugins_rows(SessionState& session) {
  std::vector<Row> rows;
  for (const auto& plugin : built_in_plugins()) {
    rows.push_back({text_value(plugin.name), text_value(kOwnVersion), text_value(kActive),
                    text_value(plugin.type), text_value(kOwnVersion), Value::null(), Value::null(),
                    text_value("commitlab"), text_value(plugin.description), text_value("Apache-2.0"),
                    text_value("FORCE")});
  }
  for (const auto& plugin : installed(session)) {
    const std::string interface = version_text(COMMITD_PLUGIN_INTERFACE << 8);
    rows.push_back({text_value(plugin.named.name), text_value(version_text(plugin.version)),
                    text_value(kActive), text_value("REPLICATION"), text_value(interface),
                    text_value(plugin.named.library), text_value(interface), text_value(plugin.author),
                    text_value(plugin.description), text_value(plugin.license), text_value("ON")});
  }
  return rows;
}

std::vector<Row> plugin_rows(SessionState& session) {
  std::vector<Row> rows;
  for (const auto& plugin : installed(session)) {
    if (plugin.stays) rows.push_back({text_value(plugin.named.name), text_value(plugin.named.library)});
  }
  return rows;
}

}  // namespace

std::vector<BuiltInPlugin> built_in_plugins() {
  std::vector<BuiltInPlugin> all{{"binlog", "STORAGE ENGINE", "The binary log"},
                                 {"caching_sha2_password", "AUTHENTICATION", "Caching SHA2 authentication"},
                                 {"mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"}};
  for (const auto& engine : storage::table_engines())
    all.push_back({engine.name, "STORAGE ENGINE", engine.comment});
  return all;
}

bool is_built_in_plugin(std::string_view name) {
  const auto all = built_in_plugins();
  return std::any_of(all.begin(), all.end(),
                     [&](const BuiltInPlugin& plugin) { return same_name(plugin.name, name); });
}

std::vector<VirtualTable> plugin_tables() {
  return {
      {virtual_definition("information_schema", "PLUGINS",
                          {text("PLUGIN_NAME"), text("PLUGIN_VERSION", 20), text("PLUGIN_STATUS", 10),
                           text("PLUGIN_TYPE", 80), text("PLUGIN_TYPE_VERSION", 20), text("PLUGIN_LIBRARY"),
                           text("PLUGIN_LIBRARY_VERSION", 20), text("PLUGIN_AUTHOR"),
                           long_text("PLUGIN_DESCRIPTION"), text("PLUGIN_LICENSE", 80), text("LOAD_OPTION")}),
       plugins_rows},
      {virtual_definition("mysql", "plugin", {text("name"), text("dl", 128)}), plugin_rows},
  };
}

}  // namespace commitd::sql
