// BINLOG '…': row events as mysqlbinlog prints them, executed in the session's own transaction like the
// statements that they came from: with locks, uniqueness, and events of their own in our log.
#include <map>

#include "base/error_codes.h"
#include "binlog/column_layout.h"
#include "binlog/events.h"
#include "sql/ast/administration.h"
#include "sql/ast/select.h"
#include "sql/change/dml.h"
#include "sql/change/row_rules.h"
#include "sql/query/select.h"
#include "storage/record/row_image.h"

namespace commitd::sql {
namespace {

using binlog::EventType;
using binlog::EventView;

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Several encoded pieces one behind the other, each with its own padding.
std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int symbols = 0, padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const int value = c == '=' ? 0 : base64_value(c);
    if (value < 0 || (padding > 0 && c != '=')) return std::nullopt;
    padding += c == '=';
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++symbols < 4) continue;
    if (padding > 2) return std::nullopt;
    for (int byte = 0; byte < 3 - padding; ++byte) bytes += static_cast<char>(bits >> (16 - 8 * byte));
    bits = 0;
    symbols = padding = 0;
  }
  if (symbols != 0) return std::nullopt;
  return bytes;
}

class BinlogStatementRun {
 public:
  explicit BinlogStatementRun(StatementContext& context) : context_(context), session_(context.session) {}

  Task<Status> run(std::string_view events) {
    while (!events.empty()) {
      auto event = binlog::parse_event(events);
      if (!event) co_return make_error(er::kSyntax, "The BINLOG statement holds a damaged event");
      events.remove_prefix(event->header.length);
      COMMITD_CO_RETURN_IF_ERROR(co_await execute(*event));
    }
    co_return Status();
  }

 private:
  Task<Status> execute(const EventView& event) {
    const EventType type = event.header.type;
    if (type == EventType::FormatDescription) co_return take_format(event);
    if (!session_.binlog_checksums) {
      co_return make_error(er::kNoFormatDescriptionEventBeforeBinlogStatement,
                           "The BINLOG statement of type {} was not preceded by a format description BINLOG "
                           "statement",
                           static_cast<int>(type));
    }
    if (*session_.binlog_checksums && !checksum_matches(event))
      co_return make_error(er::kSyntax, "The BINLOG statement holds a damaged event");
    switch (type) {
      case EventType::TableMap:
        co_return co_await map_table(event);
      case EventType::WriteRows:
      case EventType::UpdateRows:
      case EventType::DeleteRows:
        co_return co_await change_rows(event);
      case EventType::RowsQuery:
        co_return Status();
      default:
        break;
    }
    if ((event.header.flags & binlog::kFlagIgnorable) != 0) co_return Status();
    co_return make_error(er::kNotSupportedYet,
                         "This version of MySQL doesn't yet support 'BINLOG of an event of type {}'",
                         static_cast<int>(type));
  }

  Status take_format(const EventView& event) {
    const size_t behind = binlog::kChecksumLength + 1;  // the checksum's kind stands in front of the checksum
    if (event.bytes.size() < binlog::kHeaderLength + behind)
      return make_error(er::kSyntax, "The BINLOG statement holds a damaged event");
    session_.binlog_checksums = event.bytes[event.bytes.size() - behind] == 1;
    return {};
  }

  Task<Status> map_table(const EventView& event) {
    auto map = parse_table_map_event(event, *session_.binlog_checksums);
    if (!map) co_return std::move(map).error();
    ast::TableRef ref;
    ref.name.db = map->db;
    ref.name.name = map->table;
    const Privileges needed = privilege::kInsert | privilege::kUpdate | privilege::kDelete;
    auto source = co_await open_table(context_, ref, needed, "BINLOG");
    if (!source.ok()) co_return std::move(source).error();
    COMMITD_CO_RETURN_IF_ERROR(check_columns(*source->definition, *map));
    tables_[map->table_id] = source->definition;
    co_return Status();
  }

  static Status check_columns(const TableDef& table, const binlog::TableMapEvent& map) {
    if (table.columns.size() == map.types.size()) return binlog::check_column_layout(table, map);
    return make_error(er::kReplicaConversionFailed,
                      "The columns of table '{}.{}' are not those that the BINLOG statement was made for",
                      table.db, table.name);
  }

  Task<Status> change_rows(const EventView& event) {
    auto rows = parse_rows_event(event, *session_.binlog_checksums);
    if (!rows) co_return std::move(rows).error();
    const auto found = tables_.find(rows->table_id);
    if (found == tables_.end())
      co_return make_error(er::kSyntax, "The BINLOG statement holds a row event without its table map");
    const TablePtr table = found->second;
    COMMITD_CO_RETURN_IF_ERROR(check_full(*rows, *table));
    std::string_view rest = rows->rows;
    while (!rest.empty()) {
      COMMITD_CO_RETURN_IF_ERROR(check_interrupted(session_));
      COMMITD_CO_RETURN_IF_ERROR(co_await change_row(rows->type, table, rest));
    }
    co_return Status();
  }

  static Status check_full(const binlog::RowsEvent& rows, const TableDef& table) {
    for (const std::string_view bitmap : {rows.before_bitmap, rows.after_bitmap}) {
      for (size_t i = 0; !bitmap.empty() && i < table.columns.size(); ++i) {
        if (rows.columns == table.columns.size() && (static_cast<uint8_t>(bitmap[i / 8]) >> (i % 8) & 1) != 0)
          continue;
        return make_error(er::kNotSupportedYet,
                          "This version of MySQL doesn't yet support 'BINLOG of rows without all columns'");
      }
    }
    return {};
  }

  Task<Status> change_row(EventType type, const TablePtr& table, std::string_view& rest) {
    std::string_view image;
    auto row = take_row(*table, rest, image);
    if (!row.ok()) co_return std::move(row).error();
    COMMITD_CO_RETURN_IF_ERROR(context_.changed_kind.add(*table));
    txn::Transaction& transaction = context_.transaction_for(*table);
    if (type == EventType::WriteRows) {
      COMMITD_CO_RETURN_IF_ERROR(context_.make_room(*table, *row));
      auto duplicate = co_await transaction.insert(table, *row);
      co_return outcome(duplicate, *table, *row);
    }
    txn::FoundRow found;
    COMMITD_CO_RETURN_IF_ERROR(co_await find(table, *row, image, found));
    if (type == EventType::DeleteRows) co_return co_await transaction.erase(table, found);
    auto changed = take_row(*table, rest, image);
    if (!changed.ok()) co_return std::move(changed).error();
    auto duplicate = co_await transaction.update(table, found, *changed);
    co_return outcome(duplicate, *table, *changed);
  }

  static Result<Row> take_row(const TableDef& table, std::string_view& rest, std::string_view& image) {
    const auto length = row_image_length(table, rest);
    if (!length) return length.error();
    image = rest.substr(0, *length);
    rest.remove_prefix(*length);
    return decode_row_image(table, image);
  }

  static Status outcome(const Result<std::optional<txn::Transaction::Duplicate>>& duplicate,
                        const TableDef& table, const Row& row) {
    if (!duplicate.ok()) return duplicate.error();
    if (!*duplicate) return {};
    return duplicate_error(table, *(*duplicate)->index, row);
  }

  // By the primary key; without one, the first row that is the same.
  Task<Status> find(const TablePtr& table, const Row& row, std::string_view image, txn::FoundRow& found) {
    txn::Transaction& transaction = context_.transaction_for(*table);
    bool is_there = false;
    if (table->has_primary_key()) {
      Row key;
      for (const IndexColumn& part : table->clustered().columns) key.push_back(row[part.column]);
      auto got = co_await transaction.get(table, key, txn::ReadMode::LockExclusive, found);
      if (!got.ok()) co_return std::move(got).error();
      is_there = *got;
    } else {
      const txn::IndexRange everything;
      auto cursor = transaction.scan(table, table->clustered(), everything, txn::ReadMode::LockExclusive);
      for (;;) {
        auto got = co_await cursor->next_locked(found);
        if (!got.ok()) co_return std::move(got).error();
        is_there = *got;
        if (!is_there || found.image == image) break;
        cursor->unlock_last();
      }
    }
    if (is_there) co_return Status();
    co_return make_error(er::kKeyNotFound, "Can't find record in '{}'", table->name);
  }

  StatementContext& context_;
  SessionState& session_;
  std::map<uint64_t, TablePtr> tables_;  // by the number that the statement's table maps give
};

}  // namespace

Task<Result<OkInfo>> execute_binlog(StatementContext& context, const ast::BinlogStatement& statement) {
  COMMITD_CO_RETURN_IF_ERROR(context.session.require(privilege::kSuper, "SUPER"));
  COMMITD_CO_RETURN_IF_ERROR(check_can_change(context.session));
  const std::optional<std::string> events = decode_base64(statement.events);
  if (!events) co_return make_error(er::kReplicaCorruptEvent, "Decoding of base64 string failed");
  BinlogStatementRun run(context);
  COMMITD_CO_RETURN_IF_ERROR(co_await run.run(*events));
  co_return OkInfo{};
}

}  // namespace commitd::sql
