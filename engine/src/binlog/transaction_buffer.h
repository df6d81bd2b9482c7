// A transaction's events, encoded while it executes and written to the log exactly as they stand here, but
// for fields of fixed width (end_log_pos and the CRC of each event) and the GTID event in front, which only
// the commit order can give. A large one is moved to a temporary file, all but its end (spill()).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "binlog/event_spool.h"
#include "binlog/events.h"
#include "storage/record/table_def.h"

namespace commitd::binlog {

class TransactionBuffer {
 public:
  struct Context {
    uint32_t server_id = 1;
    uint32_t thread_id = 0;
    uint64_t sql_mode = 0;
    std::string time_zone = "SYSTEM";
    uint16_t client_collation = 45, connection_collation = 45, server_collation = 45;
    bool minimal_images = false;  // binlog_row_image=MINIMAL
  };
  explicit TransactionBuffer(Context context) : context_(std::move(context)) {}

  bool empty() const { return spool_.empty() && open_.images.empty(); }
  size_t size() const { return spool_.size() + open_.images.size(); }
  size_t in_memory() const { return spool_.in_memory() + open_.images.size(); }
  bool spilled() const { return spool_.on_disk() != 0; }
  const Context& context() const { return context_; }
  void set_context(Context context) { context_ = std::move(context); }
  // Where spill() goes; without a place it does nothing.
  void may_spill_to(TemporaryPlace place) { place_ = std::move(place); }
  // Frees the memory of all events but the last rows event, which end_statement() may still mark. An error
  // changes nothing.
  Status spill();
  // False when the transaction is one statement (its GTID event says so).
  bool row_events_only() const { return !is_statement_; }

  // Row changes (whole images as row_image.h makes them; with minimal_images only the primary key of `before`
  // and the changed columns of `after` are logged). Rows of one kind, table and statement share an event up
  // to 8 KiB. `row_id` is given for tables without a primary key on update and erase.
  void insert_row(const TableDef& table, std::string_view image);
  void update_row(const TableDef& table, std::string_view before, std::string_view after,
                  uint64_t row_id = 0);
  void delete_row(const TableDef& table, std::string_view before, uint64_t row_id = 0);
  void end_statement();  // the last rows event of the statement gets STMT_END

  // A transaction that is one statement (DDL, CREATE USER …): a query event instead of BEGIN … XID.
  void set_statement(std::string_view db, std::string_view sql);
  // A transaction without changes that has a GTID nevertheless (SET gtid_next): BEGIN, XID.
  void set_empty();
  // An epoch transaction: BEGIN, epoch event, XID.
  void set_epoch(uint64_t epoch);

  // Savepoints and failed statements.
  struct Mark {
    size_t bytes = 0;
  };
  Mark mark();
  void rollback_to(Mark mark);
  void clear();

  // Closes the transaction (XID event). No change after this.
  void finish(uint64_t xid);
  std::string& bytes() { return spool_.tail(); }  // of one that is not spilled
  const EventSpool& spool() const { return spool_; }
  // An error when a change of what is in the file failed: the transaction cannot be logged.
  const Status& status() const { return status_; }

 private:
  // The rows event that is being filled: written out when a row of another kind comes, since what must stand
  // in front of it (table map, row ids) is complete only then.
  struct OpenRows {
    EventType type{};
    uint64_t table_id = 0;
    size_t columns = 0;
    std::string before_columns, after_columns;  // bitmaps (partial_image.h); after: UPDATE only
    std::string images;
    std::vector<uint64_t> row_ids;
  };

  void begin_if_needed();
  struct Columns {
    std::string before, after;
  };
  OpenRows& rows_for(EventType type, const TableDef& table, Columns columns);
  // The columns of `before` that a change of a row needs to name it.
  std::string identifying_columns(const TableDef& table) const;
  void write_open_rows();
  void mark_statement_end();

  Context context_;
  TemporaryPlace place_;
  EventSpool spool_;
  Status status_;
  OpenRows open_;
  uint64_t mapped_table_ = 0;           // the table whose rows events need no further TABLE_MAP; 0 = none
  std::vector<size_t> statement_rows_;  // rows events of this statement: where they start in spool_
  bool is_statement_ = false;
};

}  // namespace commitd::binlog
