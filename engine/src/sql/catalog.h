// Databases and tables. Readers take immutable definitions by shared pointer; DDL makes a new version in a write set and publishes it when the
// engine has committed it, so that what a statement sees and what the engine holds never differ.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "binlog/events.h"
#include "storage/engine.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

class Catalog {
 public:
  explicit Catalog(storage::Engine& engine);
  ~Catalog();

  Status load();         // from the engine, at start and whenever the engine's content was replaced
  Status initialize(WriteSet& writes);  // system databases of an empty datadir

  TablePtr find_table(std::string_view db, std::string_view table) const;  // nullptr when there is none
  bool has_database(std::string_view db) const;
  std::vector<std::string> databases() const;
  std::vector<TablePtr> tables(std::string_view db) const;

  class Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

struct ServerContext;

// Executes a statement that was logged as a query event (DDL, accounts) during replay or on a replica: its effect as writes, and what must be
// published when they are committed. The catalog shows everything before it. Unknown statements are an error: replay stops there.
Result<std::function<void()>> apply_logged_statement(ServerContext& server, const binlog::QueryEvent& event, WriteSet& writes);

}  // namespace commitd::sql
