// What a prepared SELECT keeps from one execution to the next: its names resolved, its access path chosen,
// its columns described. It holds as long as nothing has changed that binding read: definitions, what the
// user may do, variables of the session, its database, the kinds of the parameters.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/executor/select.h"
#include "sql/kept_columns.h"
#include "storage/record/wanted_columns.h"

namespace commitd::sql {

class KeptSelect {
 public:
  // nullptr: no statement whose plan is worth keeping, or depends on nothing but what is listed above.
  static std::unique_ptr<KeptSelect> of(const ast::Statement& statement);
  explicit KeptSelect(const ast::SelectStatement& select) : select_(select) {}

  // Before each execution. False: with these the statement is to be bound for this one execution.
  bool take_parameters(std::span<const Value> parameters);
  // The plan refers to them.
  std::span<const Value> parameters() const { return parameters_; }

  const ast::SelectStatement& select() const { return select_; }
  void keep(const SessionState& session, PlannedSelect planned);
  bool holds(const SessionState& session) const;
  // The catalog still shows the same table: to be asked under the table's lock, or behind the read of the
  // row.
  bool has_present_table(const SessionState& session) const;
  const TableDef& table() const { return *planned_.bound->scope.sources[0].definition; }
  PlannedSelect& planned() { return planned_; }
  KeptColumns& columns() { return columns_; }
  // It reads one row by its primary key, without a lock.
  bool is_point() const { return is_point_; }
  // Of a point: what is decoded of its row; nullopt: all.
  const std::optional<WantedColumns>& wanted_columns() const { return wanted_columns_; }
  // An execution did with what was kept.
  static void count_reuse();

  // Memory of the execution that runs, kept for the next if it is little.
  struct Buffers {
    std::string stored;
    Row row, output;
    std::vector<Value> key;
  };
  Buffers& buffers() { return buffers_; }
  void shrink();

 private:
  // What binding read; see keep() and holds().
  struct Basis {
    uint64_t accounts = 0, sql_mode = 0;
    int32_t time_zone_offset = 0;
    uint16_t connection_collation = 0, client_collation = 0;
    std::string database;
    bool lasts = false;
  };

  const ast::SelectStatement& select_;
  std::vector<Value> parameters_;
  PlannedSelect planned_;
  KeptColumns columns_;
  Basis basis_;
  bool is_point_ = false;
  std::optional<WantedColumns> wanted_columns_;  // refers to the table of the plan
  Buffers buffers_;
};

}  // namespace commitd::sql
