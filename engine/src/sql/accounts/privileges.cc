#include "sql/accounts/privileges.h"

#include <array>
#include <utility>

namespace commitd::sql::privilege {
namespace {

constexpr std::array<std::pair<std::string_view, Privileges>, 31> kNames = {{
    {"SELECT", kSelect},
    {"INSERT", kInsert},
    {"UPDATE", kUpdate},
    {"DELETE", kDelete},
    {"CREATE", kCreate},
    {"DROP", kDrop},
    {"RELOAD", kReload},
    {"SHUTDOWN", kShutdown},
    {"PROCESS", kProcess},
    {"FILE", kFile},
    {"REFERENCES", kReferences},
    {"INDEX", kIndex},
    {"ALTER", kAlter},
    {"SHOW DATABASES", kShowDatabases},
    {"SUPER", kSuper},
    {"CREATE TEMPORARY TABLES", kCreateTemporaryTables},
    {"LOCK TABLES", kLockTables},
    {"EXECUTE", kExecute},
    {"REPLICATION SLAVE", kReplicationSlave},
    {"REPLICATION CLIENT", kReplicationClient},
    {"CREATE VIEW", kCreateView},
    {"SHOW VIEW", kShowView},
    {"CREATE ROUTINE", kCreateRoutine},
    {"ALTER ROUTINE", kAlterRoutine},
    {"CREATE USER", kCreateUser},
    {"EVENT", kEvent},
    {"TRIGGER", kTrigger},
    {"CONNECTION_ADMIN", kConnectionAdmin},
    {"SYSTEM_VARIABLES_ADMIN", kSystemVariablesAdmin},
    {"BACKUP_ADMIN", kBackupAdmin},
    {"REPLICATION_SLAVE_ADMIN", kReplicationSlaveAdmin},
}};

}  // namespace

std::optional<Privileges> parse(std::string_view name) {
  if (name == "USAGE") return 0;
  if (name == "GRANT OPTION") return kGrantOption;
  for (const auto& [known, bit] : kNames) {
    if (known == name) return bit;
  }
  return std::nullopt;
}

std::vector<std::string_view> names(Privileges privileges) {
  std::vector<std::string_view> out;
  for (const auto& [name, bit] : kNames) {
    if ((privileges & bit) != 0) out.push_back(name);
  }
  return out;
}

std::string to_text(Privileges privileges, Privileges all) {
  if ((privileges & all) == all) return "ALL PRIVILEGES";
  std::string out;
  for (std::string_view name : names(privileges)) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out.empty() ? "USAGE" : out;
}

}  // namespace commitd::sql::privilege
