#include "replication/event_filter.h"

#include "base/bytes.h"
#include "base/text_case.h"
#include "replication/database_rewrite.h"
#include "replication/dump_framing.h"
#include "replication/transaction_length.h"

namespace commitd::replication {
namespace {

using binlog::EventSpool;
using binlog::EventType;
using binlog::EventView;
using binlog::kChecksumLength;
using binlog::kHeaderLength;

constexpr size_t kRowsFlagsAt = kHeaderLength + 6;
constexpr char kStatementEnds = 1;

bool is_rows(EventType type) {
  return type == EventType::WriteRows || type == EventType::UpdateRows || type == EventType::DeleteRows;
}

std::string_view without_checksum(const EventView& event, bool checksummed) {
  return event.bytes.substr(0, event.bytes.size() - (checksummed ? kChecksumLength : 0));
}

// The same statement's event with another text.
Result<std::string> with_text(const EventView& event, bool checksummed, std::string_view text) {
  auto query = binlog::parse_query_event(event, checksummed);
  if (!query) return std::move(query).error();
  std::string other(without_checksum(event, checksummed));
  other.resize(other.size() - query->sql.size());
  other += text;
  return with_checksum(other);
}

bool is_about_transaction(std::string_view sql) {
  return equal_words(sql, "COMMIT") || equal_words(sql.substr(0, 8), "ROLLBACK") ||
         equal_words(sql.substr(0, 9), "SAVEPOINT");
}

}  // namespace

void EventFilter::begin() {
  left_out_.clear();
  text_of_rows_.clear();
  last_rows_.reset();
  has_begin_ = changed_ = false;
}

Status EventFilter::keep(const EventView& event, bool checksummed, EventSpool& into) {
  into.tail() += checksummed ? std::string(event.bytes) : with_checksum(event.bytes);
  return {};
}

Status EventFilter::take(const EventView& event, bool checksummed, EventSpool& into) {
  auto rewritten = with_rewritten_database(event, checksummed, *rules_);
  if (!rewritten) return std::move(rewritten).error();
  if (!*rewritten) return take_rewritten(event, checksummed, into);
  auto other = binlog::parse_event(**rewritten);
  if (!other) return std::move(other).error();
  changed_ = true;
  return take_rewritten(*other, true, into);
}

Status EventFilter::take_rewritten(const EventView& event, bool checksummed, EventSpool& into) {
  const EventType type = event.header.type;
  if (is_rows(type)) return take_rows(event, checksummed, into);
  if (type == EventType::Query) return take_statement(event, checksummed, into);
  if (type == EventType::RowsQuery) {
    text_of_rows_ = checksummed ? std::string(event.bytes) : with_checksum(event.bytes);
    return {};
  }
  if (type == EventType::TableMap) {
    auto map = binlog::parse_table_map_event(event, checksummed);
    if (!map) return std::move(map).error();
    if (!rules_->takes_rows_of(map->db, map->table)) {
      left_out_.insert(map->table_id);
      changed_ = true;
      return {};
    }
    left_out_.erase(map->table_id);
    into.tail() += text_of_rows_;
    text_of_rows_.clear();
    return keep(event, checksummed, into);
  }
  if (const auto own = binlog::parse_own_event(event, checksummed);
      own && own->kind == binlog::OwnKind::RowIds) {
    ByteReader reader(own->payload);
    if (left_out_.contains(reader.le64())) return {};
  }
  return keep(event, checksummed, into);
}

// A statement outside of BEGIN and COMMIT is the whole transaction.
Status EventFilter::take_statement(const EventView& event, bool checksummed, EventSpool& into) {
  auto query = binlog::parse_query_event(event, checksummed);
  if (!query) return std::move(query).error();
  const bool begins = !has_begin_ && equal_words(query->sql, "BEGIN");
  if (begins) has_begin_ = true;
  if (begins || is_about_transaction(query->sql) || rules_->takes_statement(*query))
    return keep(event, checksummed, into);
  changed_ = true;
  if (has_begin_) return {};
  for (const std::string_view text : {"BEGIN", "COMMIT"}) {
    auto instead = with_text(event, checksummed, text);
    if (!instead) return std::move(instead).error();
    into.tail() += *instead;
  }
  return {};
}

Status EventFilter::take_rows(const EventView& event, bool checksummed, EventSpool& into) {
  auto rows = binlog::parse_rows_event(event, checksummed);
  if (!rows) return std::move(rows).error();
  if (!left_out_.contains(rows->table_id)) {
    last_rows_ = rows->statement_end ? std::nullopt : std::optional(into.size());
    return keep(event, checksummed, into);
  }
  changed_ = true;
  return rows->statement_end ? end_statement(into) : Status{};
}

// With the last of its rows that are kept.
Status EventFilter::end_statement(EventSpool& into) {
  if (!last_rows_) return {};
  auto bytes = read_event(into, *last_rows_);
  if (!bytes) return std::move(bytes).error();
  (*bytes)[kRowsFlagsAt] |= kStatementEnds;
  const size_t at = *last_rows_;
  last_rows_.reset();
  return into.overwrite(at, checksummed_anew(*bytes));
}

}  // namespace commitd::replication
