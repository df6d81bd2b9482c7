#include "replication/event_applier.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "binlog/column_layout.h"
#include "observe/metrics.h"
#include "sql/server_context.h"
#include "storage/record/key_codec.h"
#include "storage/record/key_columns.h"
#include "storage/record/partial_image.h"
#include "storage/record/row_image.h"
#include "storage/table_engines.h"
#include "txn/definition_gate.h"
#include "txn/transaction.h"

namespace commitd::replication {
namespace {

using binlog::EventType;
using binlog::EventView;

// One transaction on its way into a write set.
class TransactionReplay {
 public:
  TransactionReplay(const EventApplier::TableFinder& find_table,
                    const EventApplier::StatementApplier& apply_statement, const RowStorage& storage,
                    InFront front, binlog::EventApplier::How how, WriteSet& writes)
      : find_table_(find_table),
        apply_statement_(apply_statement),
        rows_(storage, writes, front),
        alone_(how.alone),
        compare_(how.compare),
        writes_(writes) {}

  Status apply_all(std::string_view events) {
    while (!events.empty() && (alone_ || !outcome.exclusive)) {
      auto event = binlog::parse_event(events);
      if (!event) return std::move(event).error();
      events.remove_prefix(event->header.length);
      Status applied = apply(*event);
      if (rows_.came_too_early() || rows_.must_be_alone()) {
        outcome.exclusive = true;
        outcome.too_early = rows_.came_too_early();
        return {};
      }
      COMMITD_RETURN_IF_ERROR(std::move(applied));
      COMMITD_RETURN_IF_ERROR(writes_.write_spilled());
    }
    return {};
  }

  binlog::EventApplier::Outcome outcome;

 private:
  struct Mapped {
    TablePtr table;
    KeyColumns keys;
  };

  Status apply(const EventView& event) {
    switch (event.header.type) {
      case EventType::Query:
        return apply_query(event);
      case EventType::TableMap:
        return map_table(event);
      case EventType::WriteRows:
      case EventType::UpdateRows:
      case EventType::DeleteRows:
        return apply_rows(event);
      case EventType::Ignorable:
        return apply_own(event);
      case EventType::Gtid:
      case EventType::Xid:
      case EventType::RowsQuery:
        return {};
      default:
        break;
    }
    if ((event.header.flags & binlog::kFlagIgnorable) != 0) return {};
    return make_error(er::kSourceFatalReadingBinlog,
                      "Cannot apply an event of type {} (end position {}): only row events and DDL are "
                      "supported, set binlog_format=ROW "
                      "on the source",
                      static_cast<int>(event.header.type), event.header.end_position);
  }

  Status apply_query(const EventView& event) {
    auto query = parse_query_event(event, true);
    if (!query) return std::move(query).error();
    if (equal_words(query->sql, "BEGIN") || equal_words(query->sql, "COMMIT")) return {};
    outcome.exclusive = true;
    if (!alone_) return {};
    auto publish = apply_statement_(*query, writes_);
    if (!publish) return std::move(publish).error();
    if (!*publish) return {};
    // From before the engine has it until it is shown: what is read meanwhile might be read by the other one.
    outcome.publish = [publish = std::move(*publish), closed = std::make_shared<txn::DefinitionGate::Closed>(
                                                          txn::definition_gate())] { publish(); };
    return {};
  }

  Status map_table(const EventView& event) {
    auto map = parse_table_map_event(event, true);
    if (!map) return std::move(map).error();
    TablePtr table = find_table_(map->db, map->table);
    if (table == nullptr) {
      return make_error(er::kNoSuchTable,
                        "Row event before position {} changes table '{}.{}', which does not exist here",
                        event.header.end_position, map->db, map->table);
    }
    if (storage::engine_of(*table).remote) {
      return make_error(er::kOpenAsReadonly,
                        "Row event before position {} changes table '{}.{}', which is read only",
                        event.header.end_position, map->db, map->table);
    }
    if (table->columns.size() != map->types.size()) {
      return make_error(er::kErrorOnRead,
                        "Row event before position {} has {} columns for table '{}.{}', which has {} here",
                        event.header.end_position, map->types.size(), map->db, map->table,
                        table->columns.size());
    }
    if (Status same = check_column_layout(*table, *map); !same.ok()) {
      return make_error(same.error().code, "Row event before position {}: {}", event.header.end_position,
                        same.error().message);
    }
    KeyColumns keys(*table);
    tables_.insert_or_assign(map->table_id, Mapped{std::move(table), std::move(keys)});
    return {};
  }

  Status apply_own(const EventView& event) {
    auto own = parse_own_event(event, true);
    if (!own) return {};
    switch (own->kind) {
      case binlog::OwnKind::RowIds:
        return read_row_ids(own->payload);
      case binlog::OwnKind::GroupOpen:
      case binlog::OwnKind::Epoch:
        return {};
      case binlog::OwnKind::LocalOnly:
        break;  // the pipeline unwraps it
    }
    return make_error(
        er::kSourceFatalReadingBinlog,
        "The log has an event of our own kind {}, which this release does not know; a newer release wrote it",
        static_cast<int>(own->kind));
  }

  Status read_row_ids(std::string_view payload) {
    ByteReader reader(payload);
    reader.le64();  // table id: that of the rows event that follows
    const uint32_t count = reader.le32();
    row_ids_.clear();
    next_row_id_ = 0;
    for (uint32_t i = 0; i < count && reader.ok(); ++i) row_ids_.push_back(reader.le64());
    if (!reader.ok()) return make_error(er::kErrorOnRead, "An event with row ids is cut off");
    return {};
  }

  Status apply_rows(const EventView& event) {
    auto rows = parse_rows_event(event, true);
    if (!rows) return std::move(rows).error();
    auto found = tables_.find(rows->table_id);
    if (found == tables_.end()) {
      return make_error(er::kErrorOnRead, "Row event before position {} has no table map in front",
                        event.header.end_position);
    }
    const TableDef& table = *found->second.table;
    if (rows->columns != table.columns.size()) {
      return make_error(er::kErrorOnRead, "Row event before position {} has {} columns for table '{}.{}'",
                        event.header.end_position, rows->columns, table.db, table.name);
    }
    const bool whole = has_all_columns(table, rows->before_bitmap) &&
                       (rows->after_bitmap.empty() || has_all_columns(table, rows->after_bitmap));
    // The rest of the row, or whether it is there, is in the engine once everything before this transaction
    // is.
    if (!whole || (rows->type != EventType::WriteRows && may_lack_rows(table))) {
      outcome.exclusive = true;
      if (!alone_) return {};
    }
    std::string_view rest = rows->rows;
    while (!rest.empty()) {
      Status applied = whole ? apply_row(*rows, found->second, rest) : apply_partial_row(*rows, table, rest);
      if (!applied.ok()) return could_not_execute(*rows, event, table, applied.error());
    }
    return {};
  }

  // In MySQL's words.
  static Error could_not_execute(const binlog::RowsEvent& rows, const EventView& event, const TableDef& table,
                                 const Error& why) {
    const std::string_view kind = rows.type == EventType::WriteRows    ? "Write_rows"
                                  : rows.type == EventType::UpdateRows ? "Update_rows"
                                                                       : "Delete_rows";
    const std::string_view handler = why.code == er::kKeyNotFound ? " handler error HA_ERR_KEY_NOT_FOUND;"
                                     : why.code == er::kDupEntry  ? " handler error HA_ERR_FOUND_DUPP_KEY;"
                                                                  : "";
    return make_error(why.code,
                      "Could not execute {} event on table {}.{}; {}, Error_code: {};{} the event's "
                      "end_log_pos {}",
                      kind, table.db, table.name, why.message, why.code, handler, event.header.end_position);
  }

  Status apply_row(const binlog::RowsEvent& rows, const Mapped& mapped, std::string_view& rest) {
    const TableDef& table = *mapped.table;
    std::string_view image;
    COMMITD_RETURN_IF_ERROR(take_row(mapped, rest, row_, image));
    if (rows.type == EventType::WriteRows) return insert(table, row_, image);
    auto row_id = row_to_change(table, row_, image);
    if (!row_id) return std::move(row_id).error();
    auto missing = is_missing(table, row_, *row_id);
    if (!missing) return std::move(missing).error();
    if (rows.type == EventType::DeleteRows) {
      if (!*missing) txn::erase_row(writes_, table, row_, *row_id);
      return {};
    }
    COMMITD_RETURN_IF_ERROR(take_row(mapped, rest, changed_, image));
    return *missing ? Status{} : replace(table, row_, changed_, image, *row_id);
  }

  bool compares(const TableDef& table) const { return compare_ && !may_lack_rows(table); }

  // The row id of the row that is `image` (0: it has a primary key).
  Result<uint64_t> row_to_change(const TableDef& table, const Row& row, std::string_view image) {
    if (!compares(table)) return take_row_id(table);
    if (table.has_primary_key()) {
      Status same = rows_.check_same(table, clustered_key(table, row, 0), image);
      return same.ok() ? Result<uint64_t>(0) : Result<uint64_t>(std::move(same).error());
    }
    std::optional<uint64_t> logged;
    if (next_row_id_ < row_ids_.size()) logged = row_ids_[next_row_id_++];
    return rows_.row_id_of(table, image, logged);
  }

  Status replace(const TableDef& table, const Row& row, const Row& changed, std::string_view image,
                 uint64_t row_id) {
    if (compares(table))
      COMMITD_RETURN_IF_ERROR(rows_.check_unique(table, changed, clustered_key(table, row, row_id)));
    txn::replace_row(writes_, table, row, changed, image, row_id);
    return {};
  }

  Status insert(const TableDef& table, const Row& row, std::string_view image) {
    if (compares(table)) COMMITD_RETURN_IF_ERROR(rows_.check_unique(table, row, {}));
    const uint64_t row_id = table.has_primary_key() ? 0 : writes_.new_provisional_row_id(table.id);
    txn::put_row(writes_, table, row, image, row_id);
    return {};
  }

  // --- images with some of the columns (binlog_row_image=MINIMAL) ---

  Status apply_partial_row(const binlog::RowsEvent& rows, const TableDef& table, std::string_view& rest) {
    std::string_view first;
    COMMITD_RETURN_IF_ERROR(take_partial(table, rows.before_bitmap, rest, first));
    if (rows.type == EventType::WriteRows) return insert_partial(table, rows.before_bitmap, first);
    std::string old_image;
    Status found = find_old_image(table, rows.before_bitmap, first, old_image);
    if (!found.ok() && found.error().code == er::kKeyNotFound && may_lack_rows(table))
      return skip_changed(rows, table, rest);
    if (!found.ok()) return found;
    auto old_row = decode_row_image(table, old_image);
    if (!old_row) return std::move(old_row).error();
    auto row_id = row_to_change(table, *old_row, old_image);
    if (!row_id) return std::move(row_id).error();
    auto missing = is_missing(table, *old_row, *row_id);
    if (!missing) return std::move(missing).error();
    if (*missing) return skip_changed(rows, table, rest);
    if (rows.type == EventType::DeleteRows) {
      txn::erase_row(writes_, table, *old_row, *row_id);
      return {};
    }
    std::string_view second;
    COMMITD_RETURN_IF_ERROR(take_partial(table, rows.after_bitmap, rest, second));
    auto image = complete_image(table, rows.after_bitmap, second, old_image);
    if (!image) return std::move(image).error();
    auto changed = decode_row_image(table, *image);
    if (!changed) return std::move(changed).error();
    return replace(table, *old_row, *changed, *image, *row_id);
  }

  // A table in memory has lost the rows from before this server's last start.
  static bool may_lack_rows(const TableDef& table) { return storage::engine_of(table).in_memory; }
  Result<bool> is_missing(const TableDef& table, const Row& row, uint64_t row_id) {
    if (!may_lack_rows(table)) return false;
    std::string stored;
    auto found = rows_.read(clustered_key(table, row, row_id), stored);
    if (!found) return std::move(found).error();
    return !*found;
  }
  static Status skip_changed(const binlog::RowsEvent& rows, const TableDef& table, std::string_view& rest) {
    std::string_view after;
    return rows.type == EventType::UpdateRows ? take_partial(table, rows.after_bitmap, rest, after)
                                              : Status{};
  }

  static Status take_partial(const TableDef& table, std::string_view bitmap, std::string_view& rest,
                             std::string_view& image) {
    auto length = partial_image_length(table, bitmap, rest);
    if (!length) return std::move(length).error();
    image = rest.substr(0, *length);
    rest.remove_prefix(*length);
    return {};
  }

  // A source leaves out columns that got their default.
  Status insert_partial(const TableDef& table, std::string_view bitmap, std::string_view partial) {
    Row row(table.columns.size());
    for (size_t i = 0; i < row.size(); ++i) {
      const ColumnDef& column = table.columns[i];
      if (column.default_value) row[i] = *column.default_value;
      if (!has_column(bitmap, i) && row[i].is_null() && !column.nullable) {
        return make_error(er::kNoDefaultForField, "Field '{}' of '{}.{}' doesn't have a default value",
                          column.name, table.db, table.name);
      }
    }
    COMMITD_RETURN_IF_ERROR(decode_partial_image(table, bitmap, partial, row));
    std::string image;
    encode_row_image(table, row, image);
    return insert(table, row, image);
  }

  // The row as this transaction has left it, else as it is stored.
  Status find_old_image(const TableDef& table, std::string_view bitmap, std::string_view partial,
                        std::string& image) {
    if (has_all_columns(table, bitmap)) {
      image = partial;
      return {};
    }
    Row key_row(table.columns.size());
    COMMITD_RETURN_IF_ERROR(decode_partial_image(table, bitmap, partial, key_row));
    const auto named = [&](const IndexColumn& part) { return has_column(bitmap, part.column); };
    const auto& parts = table.clustered().columns;
    if (!table.has_primary_key() || !std::all_of(parts.begin(), parts.end(), named)) {
      return make_error(
          er::kKeyNotFound,
          "A change of table '{}.{}' does not say which row it is for: give the table a primary "
          "key on the source, or set binlog_row_image=FULL there",
          table.db, table.name);
    }
    const std::string key = clustered_key(table, key_row, 0);
    std::string stored;
    auto found = rows_.read(key, stored);
    if (!found) return std::move(found).error();
    if (!*found) return row_not_found(table);
    std::string scratch;
    auto whole = image_of_stored_row(table, stored, scratch);
    if (!whole) return std::move(whole).error();
    image = *whole;
    if (!compares(table)) return {};
    auto logged = complete_image(table, bitmap, partial, image);
    if (!logged) return std::move(logged).error();
    auto same = same_row(table, image, *logged);
    if (!same) return std::move(same).error();
    return *same ? Status{} : row_not_found(table);
  }

  Status take_row(const Mapped& mapped, std::string_view& rest, Row& row, std::string_view& image) {
    auto length = mapped.keys.decode_leading(*mapped.table, rest, row);
    if (!length) return std::move(length).error();
    image = rest.substr(0, *length);
    rest.remove_prefix(*length);
    return {};
  }

  Result<uint64_t> take_row_id(const TableDef& table) {
    if (table.has_primary_key()) return uint64_t{0};
    if (next_row_id_ == row_ids_.size()) {
      return make_error(er::kErrorOnRead,
                        "A change of table '{}.{}', which has no primary key, does not say which row it is "
                        "for: the source is not commitd; "
                        "give the table a primary key there",
                        table.db, table.name);
    }
    return row_ids_[next_row_id_++];
  }

  const EventApplier::TableFinder& find_table_;
  const EventApplier::StatementApplier& apply_statement_;
  RowFinder rows_;
  const bool alone_, compare_;
  WriteSet& writes_;
  std::map<uint64_t, Mapped> tables_;  // by the id that the transaction's table maps give
  Row row_, changed_;                  // columns of keys; their memory is used from row to row
  std::vector<uint64_t> row_ids_;
  size_t next_row_id_ = 0;
};

void count_applied() {
  static auto& applied =
      observe::counter("commitd_replica_applied_transactions_total",
                       "Transactions applied from their events: received ones, and those of recovery.");
  applied.add();
}

}  // namespace

EventApplier::EventApplier(TableFinder find_table, StatementApplier apply_statement, RowStorage storage)
    : find_table_(std::move(find_table)),
      apply_statement_(std::move(apply_statement)),
      storage_(std::move(storage)) {}

EventApplier::EventApplier(sql::Catalog& catalog, sql::ServerContext& server)
    : EventApplier(
          [&catalog](std::string_view db, std::string_view table) { return catalog.find_table(db, table); },
          [&server](const binlog::QueryEvent& event, WriteSet& writes) {
            return sql::apply_logged_statement(server, event, writes);
          },
          {[&server](std::string_view key, std::string& stored) {
             return server.engine->get(nullptr, key, stored);
           },
           [&server](std::string lower, std::string upper) {
             return server.engine->iterate(nullptr, std::move(lower), std::move(upper));
           }}) {}

Result<EventApplier::Outcome> EventApplier::build(std::string_view events, How how, WriteSet& writes) {
  return build_from([&events] { return Result(std::exchange(events, {})); }, how, writes);
}

Result<EventApplier::Outcome> EventApplier::build_from(const Events& next, How how, WriteSet& writes) {
  const InFront front{how.alone ? nullptr : &unstored_};
  TransactionReplay replay(find_table_, apply_statement_, storage_, front, how, writes);
  for (;;) {
    auto piece = next();
    if (!piece) return std::move(piece).error();
    if (piece->empty() || (replay.outcome.exclusive && !how.alone)) break;
    COMMITD_RETURN_IF_ERROR(replay.apply_all(*piece));
  }
  if (!how.alone && replay.outcome.exclusive) return std::move(replay.outcome);
  if (how.compare) unstored_.add(writes);
  count_applied();
  return std::move(replay.outcome);
}

// What was stored is read before any row is: whatever is written behind that counts as changed.
void EventApplier::build_ahead(std::string_view events, bool compare, Ahead& into) const {
  into.compared = compare;
  into.stored = unstored_.stored();
  TransactionReplay replay(find_table_, apply_statement_, storage_, {.read = &into.read},
                           {.compare = compare}, into.writes);
  if (!replay.apply_all(events).ok() || replay.outcome.exclusive) return;
  if (compare) UnstoredKeys::append_hashes(into.writes, into.written);
  into.complete = true;
}

bool EventApplier::take(const Ahead& ahead) {
  if (!ahead.complete || unstored_.have_changed(ahead.read, ahead.stored)) return false;
  if (ahead.compared) unstored_.add(ahead.written);
  count_applied();
  return true;
}

void EventApplier::all_is_stored() {
  unstored_.forget();
  unstored_.stored_up_to(unstored_.turn());
}

}  // namespace commitd::replication
