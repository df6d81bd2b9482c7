#include "sql/information_schema/virtual_table.h"

#include <algorithm>
#include <map>

#include "base/text_case.h"
#include "sql/information_schema/clone_tables.h"
#include "sql/information_schema/gtid_tables.h"
#include "sql/information_schema/history_tables.h"

namespace commitd::sql {
namespace {

// By schema and name, without case. Every table of every statement is looked for here first: without
// allocating.
struct NameOrder {
  using is_transparent = void;
  static bool before(std::string_view left, std::string_view right) {
    return std::lexicographical_compare(
        left.begin(), left.end(), right.begin(), right.end(),
        [](unsigned char l, unsigned char r) { return std::tolower(l) < std::tolower(r); });
  }
  template <class Left, class Right>
  bool operator()(const Left& left, const Right& right) const {
    if (before(left.first, right.first)) return true;
    return !before(right.first, left.first) && before(left.second, right.second);
  }
};
using Registry = std::map<std::pair<std::string, std::string>, VirtualTable, NameOrder>;

const Registry& registry() {
  static const Registry tables = [] {
    Registry all;
    for (auto* group : {&schema_tables, &server_tables, &absent_tables, &variable_tables, &account_tables,
                        &foreign_server_tables, &performance_tables, &lock_tables, &wait_tables,
                        &thread_tables, &clone_tables, &plugin_tables, &regression_tables,
                        &replication_tables, &history_tables, &gtid_tables}) {
      for (auto& table : (*group)())
        all[{lower_case(table.definition->db), lower_case(table.definition->name)}] = std::move(table);
    }
    return all;
  }();
  return tables;
}

ColumnDef column(std::string name, FieldType type, uint32_t length, uint16_t collation) {
  ColumnDef definition;
  definition.name = std::move(name);
  definition.type = type;
  definition.length = length;
  definition.collation = collation;
  return definition;
}

constexpr uint16_t kUtf8mb3GeneralCi = 33;

}  // namespace

const VirtualTable* find_virtual_table(std::string_view db, std::string_view name) {
  auto found = registry().find(std::pair(db, name));
  return found == registry().end() ? nullptr : &found->second;
}

std::vector<const VirtualTable*> virtual_tables(std::string_view db) {
  std::vector<const VirtualTable*> tables;
  for (const auto& [key, table] : registry()) {
    if (key.first == lower_case(db)) tables.push_back(&table);
  }
  return tables;
}

bool is_virtual_database(std::string_view db) {
  std::string name = lower_case(db);
  return name == "information_schema" || name == "performance_schema";
}

namespace virtual_column {

ColumnDef text(std::string name, uint32_t length) {
  return column(std::move(name), FieldType::VarChar, length, kUtf8mb3GeneralCi);
}
ColumnDef long_text(std::string name) {
  return column(std::move(name), FieldType::LongBlob, UINT32_MAX, kUtf8mb3GeneralCi);
}
ColumnDef number(std::string name) {
  auto definition = column(std::move(name), FieldType::LongLong, 21, 63);
  definition.is_unsigned = true;
  return definition;
}
ColumnDef signed_number(std::string name) {
  return column(std::move(name), FieldType::LongLong, 21, 63);
}
ColumnDef datetime(std::string name) {
  return column(std::move(name), FieldType::DateTime2, 19, 63);
}

}  // namespace virtual_column

TablePtr virtual_definition(std::string db, std::string name, std::vector<ColumnDef> columns) {
  auto table = std::make_shared<TableDef>();
  table->db = std::move(db);
  table->name = std::move(name);
  table->engine = "MEMORY";
  table->columns = std::move(columns);
  table->indexes.emplace_back();
  return table;
}

}  // namespace commitd::sql
