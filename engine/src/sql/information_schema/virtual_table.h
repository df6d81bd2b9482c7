// Tables that are computed when they are read: information_schema, performance_schema, and what SHOW lists. A
// definition and a function that makes the rows; everything else about them is an ordinary SELECT.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/session_state.h"
#include "storage/record/row_image.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

struct VirtualTable {
  TablePtr definition;
  std::function<std::vector<Row>(SessionState&)> rows;
  std::function<void()> truncate = nullptr;  // TRUNCATE TABLE, where it means something
};

// Names have no case, as in MySQL; nullptr when there is none.
const VirtualTable* find_virtual_table(std::string_view db, std::string_view name);
std::vector<const VirtualTable*> virtual_tables(std::string_view db);
bool is_virtual_database(std::string_view db);

// For the files of this folder and SHOW: definitions in one line.
namespace virtual_column {
ColumnDef text(std::string name, uint32_t length = 64);
ColumnDef long_text(std::string name);
ColumnDef number(std::string name);
ColumnDef signed_number(std::string name);
ColumnDef datetime(std::string name);
}  // namespace virtual_column
TablePtr virtual_definition(std::string db, std::string name, std::vector<ColumnDef> columns);

inline Value text_value(std::string_view text) {
  return Value::string(std::string(text));
}
inline Value number_value(uint64_t number) {
  return Value::unsigned_integer(number);
}

// What information_schema.columns says about one table.
std::vector<Row> columns_rows_of(const TableDef& table);

// The tables of each file.
std::vector<VirtualTable> schema_tables();  // schemata, tables, columns, statistics, key_column_usage …
std::vector<VirtualTable>
server_tables();  // engines, processlist, character_sets, collations, user_privileges
std::vector<VirtualTable> plugin_tables();    // plugins; mysql.plugin
std::vector<VirtualTable> variable_tables();  // performance_schema: variables, their sources, persisted ones
std::vector<VirtualTable> account_tables();   // mysql.user, db, tables_priv …; TABLE_PRIVILEGES …
std::vector<VirtualTable> foreign_server_tables();  // mysql.servers
std::vector<VirtualTable> regression_tables();      // commitd_regressions
std::vector<VirtualTable> absent_tables();          // routines, triggers, partitions …: there, and empty
std::vector<VirtualTable> performance_tables();     // performance_schema
std::vector<VirtualTable> replication_tables();     // performance_schema: replication_…
std::vector<VirtualTable> thread_tables();          // performance_schema: threads, processlist
std::vector<VirtualTable> wait_tables();  // performance_schema: events_waits_… and summaries of I/O
std::vector<VirtualTable> lock_tables();  // performance_schema: data_locks, data_lock_waits, metadata_locks

}  // namespace commitd::sql
