// Turns a logged transaction back into writes: what a replica does with what it received, and recovery with
// what it finds in the log.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "binlog/events.h"
#include "commit/commit_pipeline.h"
#include "replication/row_finder.h"
#include "sql/catalog.h"
#include "storage/record/table_def.h"

namespace commitd::replication {

class EventApplier final : public binlog::EventApplier {
 public:
  // Applies a statement that was logged as text; sql::apply_logged_statement with the server's context.
  using StatementApplier = std::function<Result<std::function<void()>>(const binlog::QueryEvent&, WriteSet&)>;
  using TableFinder = std::function<TablePtr(std::string_view db, std::string_view table)>;

  // `storage`: for rows that are logged by their key only, and for those that are compared.
  EventApplier(TableFinder find_table, StatementApplier apply_statement, RowStorage storage);
  EventApplier(sql::Catalog& catalog, sql::ServerContext& server);

  Result<Outcome> build(std::string_view events, How how, WriteSet& writes) override;
  Result<Outcome> build_from(const Events& next, How how, WriteSet& writes) override;
  void build_ahead(std::string_view events, bool compare, Ahead& into) const override;
  bool take(const Ahead& ahead) override;
  uint64_t turn() const override { return unstored_.turn(); }
  void stored_up_to(uint64_t turn) override { unstored_.stored_up_to(turn); }
  void all_is_stored() override;

 private:
  TableFinder find_table_;
  StatementApplier apply_statement_;
  RowStorage storage_;
  UnstoredKeys unstored_;  // while rows are compared
};

}  // namespace commitd::replication
