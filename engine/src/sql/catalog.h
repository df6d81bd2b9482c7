// Databases, tables and the servers of CREATE SERVER. Readers take immutable definitions by shared pointer;
// DDL makes a new version in a write set and publishes it when the engine has committed it, so that what a
// statement sees and what the engine holds never differ.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "binlog/events.h"
#include "observe/mutex.h"
#include "sql/catalog/catalog_codec.h"
#include "storage/engine.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

class Catalog {
 public:
  explicit Catalog(storage::Engine& engine) : engine_(engine) {}

  Status load();  // from the engine, at start and whenever the engine's content was replaced
  static void initialize(WriteSet& writes);  // system databases of an empty datadir

  TablePtr find_table(std::string_view db, std::string_view table) const;  // nullptr when there is none
  std::optional<DatabaseDef> find_database(std::string_view db) const;
  bool has_database(std::string_view db) const { return find_database(db).has_value(); }
  std::optional<ServerDef> find_server(std::string_view name) const;
  std::vector<ServerDef> servers() const;                   // in order of name
  std::vector<std::string> databases() const;               // in order of name
  std::vector<TablePtr> tables(std::string_view db) const;  // in order of name

 private:
  friend class CatalogChange;
  // Names are looked up as "db\0table" without building the key on the heap more than once per look-up.
  struct State {
    std::unordered_map<std::string, DatabaseDef> databases;
    std::unordered_map<std::string, TablePtr> tables;
    std::map<std::string, ServerDef> servers;  // by name in lower case
    CatalogIds ids;
  };
  static std::string table_name_key(std::string_view db, std::string_view table);

  storage::Engine& engine_;
  mutable observe::SharedMutex mutex_{"wait/synch/rwlock/commitd/catalog"};
  State state_;
};

// What one DDL statement changes: gathered here, entered into a write set, and shown by the catalog when the
// function that finish() returns is called (behind the engine commit). Only one change may be under way at a
// time: DDL is serialised by a metadata lock.
class CatalogChange {
 public:
  explicit CatalogChange(Catalog& catalog);

  uint64_t new_table_id() { return ids_.next_table++; }
  uint32_t new_index_id();

  void put_database(DatabaseDef database);
  void drop_database(std::string_view db);  // its tables must be dropped one by one
  void put_table(TableDef table);           // new, changed (same id) or renamed (same id, other name)
  void drop_table(const TableDef& table);   // also erases its rows and index entries
  void put_server(ServerDef server);
  void drop_server(std::string_view name);
  // All keys of these indexes go (DROP INDEX, TRUNCATE).
  void erase_index(const IndexDef& index);

  WriteSet& writes() { return writes_; }
  // Entries for data go into the same write set. After finish() take both.
  std::function<void()> finish();

 private:
  Catalog& catalog_;
  CatalogIds ids_;
  WriteSet writes_;
  std::vector<std::function<void(Catalog::State&)>> edits_;
};

struct ServerContext;

// Executes a statement that was logged as a query event (DDL, accounts) during replay or on a replica: its
// effect as writes, and what must be published when they are committed. The catalog shows everything before
// it. Unknown statements are an error: replay stops there.
Result<std::function<void()>> apply_logged_statement(ServerContext& server, const binlog::QueryEvent& event,
                                                     WriteSet& writes);

}  // namespace commitd::sql
