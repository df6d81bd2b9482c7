#include "binlog/transaction_buffer.h"

#include <ctime>

#include "base/bytes.h"
#include "binlog/event_writer.h"
#include "binlog/table_map.h"

namespace commitd::binlog {
namespace {

constexpr size_t kRowsEventSize = 8192;
constexpr size_t kRowsFlagsOffset = kHeaderLength + 6;

EventOrigin origin_of(const TransactionBuffer::Context& context) {
  return {context.server_id, static_cast<uint32_t>(std::time(nullptr))};
}

// A bitmap that says "all columns are in the image"; MySQL sets the unused bits too.
void append_full_bitmap(std::string& out, size_t columns) {
  out.append((columns + 7) / 8, '\xff');
}

}  // namespace

void TransactionBuffer::begin_if_needed() {
  if (bytes_.empty()) append_query(bytes_, origin_of(context_), context_, "", "BEGIN");
}

TransactionBuffer::OpenRows& TransactionBuffer::rows_for(EventType type, const TableDef& table) {
  const bool fits = open_.type == type && open_.table_id == table.id && open_.images.size() < kRowsEventSize;
  if (!fits) write_open_rows();
  if (mapped_table_ != table.id) {
    end_statement();  // a reader takes all table maps of a statement before its rows: one table per statement
                      // end
    begin_if_needed();
    append_table_map(bytes_, origin_of(context_), table);
    mapped_table_ = table.id;
  }
  open_.type = type;
  open_.table_id = table.id;
  open_.columns = table.columns.size();
  return open_;
}

void TransactionBuffer::insert_row(const TableDef& table, std::string_view image) {
  rows_for(EventType::WriteRows, table).images += image;
}

void TransactionBuffer::update_row(const TableDef& table, std::string_view before, std::string_view after,
                                   uint64_t row_id) {
  OpenRows& rows = rows_for(EventType::UpdateRows, table);
  rows.images += before;
  rows.images += after;
  if (row_id != 0) rows.row_ids.push_back(row_id);
}

void TransactionBuffer::delete_row(const TableDef& table, std::string_view before, uint64_t row_id) {
  OpenRows& rows = rows_for(EventType::DeleteRows, table);
  rows.images += before;
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
    append_own(bytes_, origin, OwnKind::RowIds, payload);
  }
  const size_t start = begin_event(bytes_, open_.type, origin);
  ByteWriter w(bytes_);
  w.le48(open_.table_id);
  w.le16(0);  // flags: end_statement() marks the last one
  w.le16(2);  // length of the extra data, itself included
  w.lenenc(open_.columns);
  append_full_bitmap(bytes_, open_.columns);
  if (open_.type == EventType::UpdateRows) append_full_bitmap(bytes_, open_.columns);
  w.bytes(open_.images);
  end_event(bytes_, start);
  statement_rows_.push_back(start);
  open_.images.clear();
  open_.row_ids.clear();
}

void TransactionBuffer::end_statement() {
  write_open_rows();
  if (!statement_rows_.empty())
    store_le16(bytes_.data() + statement_rows_.back() + kRowsFlagsOffset, kRowsStatementEnd);
  statement_rows_.clear();
  mapped_table_ = 0;
}

void TransactionBuffer::set_statement(std::string_view db, std::string_view sql) {
  clear();
  append_query(bytes_, origin_of(context_), context_, db, sql);
  is_statement_ = true;
}

void TransactionBuffer::set_epoch(uint64_t epoch) {
  clear();
  begin_if_needed();
  std::string payload;
  ByteWriter(payload).le64(epoch);
  append_own(bytes_, origin_of(context_), OwnKind::Epoch, payload);
}

TransactionBuffer::Mark TransactionBuffer::mark() {
  write_open_rows();
  return {bytes_.size()};
}

void TransactionBuffer::rollback_to(Mark mark) {
  open_.images.clear();
  open_.row_ids.clear();
  bytes_.resize(mark.bytes);
  while (!statement_rows_.empty() && statement_rows_.back() >= mark.bytes) statement_rows_.pop_back();
  // The table map may be gone or not; a second one does no harm.
  if (statement_rows_.empty()) mapped_table_ = 0;
}

void TransactionBuffer::clear() {
  bytes_.clear();
  open_.images.clear();
  open_.row_ids.clear();
  statement_rows_.clear();
  mapped_table_ = 0;
  is_statement_ = false;
}

void TransactionBuffer::finish(uint64_t xid) {
  end_statement();
  if (!bytes_.empty() && !is_statement_) append_xid(bytes_, origin_of(context_), xid);
}

}  // namespace commitd::binlog
