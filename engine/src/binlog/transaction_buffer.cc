#include "binlog/transaction_buffer.h"

#include <ctime>

#include "base/bytes.h"
#include "binlog/event_writer.h"
#include "binlog/table_map.h"
#include "observe/metrics.h"
#include "storage/record/partial_image.h"

namespace commitd::binlog {
namespace {

constexpr size_t kRowsEventSize = 8192;
constexpr size_t kRowsFlagsOffset = kHeaderLength + 6;

EventOrigin origin_of(const TransactionBuffer::Context& context) {
  return {context.server_id, static_cast<uint32_t>(std::time(nullptr))};
}

observe::Counter& disk_use() {
  static auto& counter = observe::counter("commitd_binlog_cache_disk_use_total",
                                          "Transactions whose events were moved to a temporary file.");
  return counter;
}

// Images that are made here from whole ones of the same table: they cannot be damaged.
void append_columns(const TableDef& table, std::string_view columns, std::string_view image,
                    std::string& out) {
  if (columns.find_first_not_of('\xff') == columns.npos) {
    out += image;
  } else {
    (void)append_partial_image(table, columns, image, out);
  }
}

}  // namespace

void TransactionBuffer::begin_if_needed() {
  if (spool_.empty()) append_query(spool_.tail(), origin_of(context_), context_, "", "BEGIN");
}

TransactionBuffer::OpenRows& TransactionBuffer::rows_for(EventType type, const TableDef& table,
                                                         Columns columns) {
  const bool fits = open_.type == type && open_.table_id == table.id &&
                    open_.images.size() < kRowsEventSize && open_.before_columns == columns.before &&
                    open_.after_columns == columns.after;
  if (!fits) write_open_rows();
  if (mapped_table_ != table.id) {
    end_statement();  // a reader takes all table maps of a statement before its rows: one table per statement
                      // end
    begin_if_needed();
    append_table_map(spool_.tail(), origin_of(context_), table);
    mapped_table_ = table.id;
  }
  open_.type = type;
  open_.table_id = table.id;
  open_.columns = table.columns.size();
  open_.before_columns = std::move(columns.before);
  open_.after_columns = std::move(columns.after);
  return open_;
}

std::string TransactionBuffer::identifying_columns(const TableDef& table) const {
  return context_.minimal_images && table.has_primary_key() ? key_columns(table) : all_columns(table);
}

void TransactionBuffer::insert_row(const TableDef& table, std::string_view image) {
  rows_for(EventType::WriteRows, table, {all_columns(table), {}}).images += image;
}

void TransactionBuffer::update_row(const TableDef& table, std::string_view before, std::string_view after,
                                   uint64_t row_id) {
  Columns columns{identifying_columns(table), all_columns(table)};
  if (context_.minimal_images) {
    if (auto changed = changed_columns(table, before, after); changed.ok())
      columns.after = *std::move(changed);
  }
  OpenRows& rows = rows_for(EventType::UpdateRows, table, std::move(columns));
  append_columns(table, rows.before_columns, before, rows.images);
  append_columns(table, rows.after_columns, after, rows.images);
  if (row_id != 0) rows.row_ids.push_back(row_id);
}

void TransactionBuffer::delete_row(const TableDef& table, std::string_view before, uint64_t row_id) {
  OpenRows& rows = rows_for(EventType::DeleteRows, table, {identifying_columns(table), {}});
  append_columns(table, rows.before_columns, before, rows.images);
  if (row_id != 0) rows.row_ids.push_back(row_id);
}

void TransactionBuffer::write_open_rows() {
  if (open_.images.empty()) return;
  const EventOrigin origin = origin_of(context_);
  if (!open_.row_ids.empty()) {
    std::string payload;
    ByteWriter w(payload);
    w.le64(open_.table_id);
    w.le32(open_.row_ids.size());
    for (uint64_t id : open_.row_ids) w.le64(id);
    append_own(spool_.tail(), origin, OwnKind::RowIds, payload);
  }
  std::string& out = spool_.tail();
  const size_t start = begin_event(out, open_.type, origin);
  ByteWriter w(out);
  w.le48(open_.table_id);
  w.le16(0);  // flags: end_statement() marks the last one
  w.le16(2);  // length of the extra data, itself included
  w.lenenc(open_.columns);
  w.bytes(open_.before_columns);
  w.bytes(open_.after_columns);
  w.bytes(open_.images);
  end_event(out, start);
  statement_rows_.push_back(spool_.on_disk() + start);
  open_.images.clear();
  open_.row_ids.clear();
}

void TransactionBuffer::end_statement() {
  write_open_rows();
  if (!statement_rows_.empty()) mark_statement_end();
  statement_rows_.clear();
  mapped_table_ = 0;
}

void TransactionBuffer::mark_statement_end() {
  char flags[2];
  store_le16(flags, kRowsStatementEnd);
  auto marked = spool_.overwrite(statement_rows_.back() + kRowsFlagsOffset, {flags, sizeof(flags)});
  if (!marked.ok()) status_ = std::move(marked);
}

Status TransactionBuffer::spill() {
  if (place_.fs == nullptr) return {};
  const bool first = !spilled();
  auto moved = spool_.spill(place_, statement_rows_.empty() ? spool_.size() : statement_rows_.back());
  if (!moved.ok()) return moved;
  if (first && spilled()) disk_use().add();
  return {};
}

void TransactionBuffer::set_statement(std::string_view db, std::string_view sql) {
  clear();
  append_query(spool_.tail(), origin_of(context_), context_, db, sql);
  is_statement_ = true;
}

void TransactionBuffer::set_empty() {
  clear();
  begin_if_needed();
}

void TransactionBuffer::set_epoch(uint64_t epoch) {
  clear();
  begin_if_needed();
  std::string payload;
  ByteWriter(payload).le64(epoch);
  append_own(spool_.tail(), origin_of(context_), OwnKind::Epoch, payload);
}

TransactionBuffer::Mark TransactionBuffer::mark() {
  write_open_rows();
  return {spool_.size()};
}

void TransactionBuffer::rollback_to(Mark mark) {
  open_.images.clear();
  open_.row_ids.clear();
  spool_.truncate(mark.bytes);
  while (!statement_rows_.empty() && statement_rows_.back() >= mark.bytes) statement_rows_.pop_back();
  // The table map may be gone or not; a second one does no harm.
  if (statement_rows_.empty()) mapped_table_ = 0;
}

void TransactionBuffer::clear() {
  spool_.clear();
  status_ = {};
  open_.images.clear();
  open_.row_ids.clear();
  statement_rows_.clear();
  mapped_table_ = 0;
  is_statement_ = false;
}

void TransactionBuffer::finish(uint64_t xid) {
  end_statement();
  if (!spool_.empty() && !is_statement_) append_xid(spool_.tail(), origin_of(context_), xid);
}

}  // namespace commitd::binlog
