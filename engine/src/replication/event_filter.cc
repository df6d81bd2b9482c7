#include "replication/event_filter.h"

#include "base/bytes.h"
#include "base/text_case.h"
#include "replication/dump_framing.h"

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

Result<std::string> read_event(const EventSpool& events, size_t at) {
  std::string bytes(kHeaderLength, '\0');
  COMMITD_RETURN_IF_ERROR(events.read(at, bytes));
  bytes.resize(binlog::event_length(bytes));
  COMMITD_RETURN_IF_ERROR(events.read(at, bytes));
  return bytes;
}

std::string checksummed_anew(std::string_view event) {
  return with_checksum(event.substr(0, event.size() - kChecksumLength));
}

bool is_about_transaction(std::string_view sql) {
  return equal_words(sql, "COMMIT") || equal_words(sql.substr(0, 8), "ROLLBACK") ||
         equal_words(sql.substr(0, 9), "SAVEPOINT");
}

// Where the GTID event tells the transaction's length; 0: it does not.
size_t length_at(std::string_view gtid_event) {
  constexpr size_t kImmediateAt = kHeaderLength + 1 + 16 + 8 + 1 + 8 + 8;
  constexpr size_t kTimeLength = 7;
  if (gtid_event.size() < kImmediateAt + kTimeLength + kChecksumLength) return 0;
  const bool original_follows =
      (static_cast<uint8_t>(gtid_event[kImmediateAt + kTimeLength - 1]) & 0x80) != 0;
  const size_t at = kImmediateAt + kTimeLength * (original_follows ? 2 : 1);
  return at + kChecksumLength < gtid_event.size() ? at : 0;
}

// In as many bytes as there are: those of a larger number.
void store_length(char* at, uint64_t length) {
  size_t width = 0;
  switch (static_cast<uint8_t>(*at)) {
    case 0xfc:
      width = 2;
      break;
    case 0xfd:
      width = 3;
      break;
    case 0xfe:
      width = 8;
      break;
    default:
      *at = static_cast<char>(length);
      return;
  }
  for (size_t i = 1; i <= width; ++i) at[i] = static_cast<char>(length >> (8 * (i - 1)));
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

Status EventFilter::end(EventSpool& events) {
  if (!changed_) return {};
  auto gtid = read_event(events, 0);
  if (!gtid) return std::move(gtid).error();
  const size_t at = length_at(*gtid);
  if (at == 0) return {};
  store_length(gtid->data() + at, events.size());
  return events.overwrite(0, checksummed_anew(*gtid));
}

}  // namespace commitd::replication
