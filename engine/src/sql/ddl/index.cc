// Indexes of a definition, and the entries a new index needs for the rows that are there.
#include <algorithm>
#include <set>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/planning.h"
#include "storage/record/key_codec.h"
#include "storage/record/row_image.h"
#include "storage/table_engines.h"
#include "txn/transaction.h"

namespace commitd::sql::ddl {
namespace {

constexpr uint32_t kMaxKeyBytes = 3072;
constexpr size_t kMaxIndexes = 64;

const IndexDef* find_index(const TableDef& table, std::string_view name) {
  for (const auto& index : table.indexes) {
    if (!index.name.empty() && lower_case(index.name) == lower_case(name)) return &index;
  }
  return nullptr;
}

// MySQL names an index after its first column: col, col_2, col_3 …
std::string free_index_name(const TableDef& table, const IndexDef& index) {
  const std::string& column = table.columns[index.columns[0].column].name;
  std::string name = column;
  for (int suffix = 2; find_index(table, name) || lower_case(name) == "primary"; ++suffix)
    name = fmt::format("{}_{}", column, suffix);
  return name;
}

bool may_have_prefix(const ColumnDef& column) {
  return column.type == FieldType::VarChar || column.type == FieldType::String || is_blob(column.type);
}

Status check_key_length(const TableDef& table, const IndexDef& index) {
  uint64_t bytes = 0;
  for (const auto& part : index.columns) {
    const auto& column = table.columns[part.column];
    if (!may_have_prefix(column)) {
      bytes += 8;
      continue;
    }
    uint32_t per_character = charset_info(collation_or_binary(column.collation).charset).max_bytes;
    bytes += uint64_t{part.prefix_length ? part.prefix_length : column.length} * per_character;
  }
  if (bytes > kMaxKeyBytes)
    return make_error(er::kTooLongKey, "Specified key was too long; max key length is {} bytes",
                      kMaxKeyBytes);
  return {};
}

// Of a part with a prefix, or 0 for the whole column.
Status check_key_column(const ColumnDef& column, uint32_t prefix_length) {
  if (column.type == FieldType::Json)
    return make_error(
        er::kJsonUsedAsKey,
        "JSON column '{}' supports indexing only via generated columns on a specified JSON path.",
        column.name);
  if (is_blob(column.type) && prefix_length == 0) {
    return make_error(er::kBlobKeyWithoutLength,
                      "BLOB/TEXT column '{}' used in key specification without a key length", column.name);
  }
  return {};
}

Result<IndexColumn> make_part(const TableDef& table, const ast::IndexPart& spec) {
  int ordinal = column_ordinal(table, spec.column);
  if (ordinal < 0)
    return make_error(er::kKeyColumnDoesNotExist, "Key column '{}' doesn't exist in table", spec.column);
  const auto& column = table.columns[ordinal];
  const bool text = may_have_prefix(column);
  COMMITD_RETURN_IF_ERROR(check_key_column(column, spec.prefix_length));
  if (spec.prefix_length != 0 && (!text || (!is_blob(column.type) && spec.prefix_length > column.length))) {
    return make_error(er::kWrongSubKey,
                      "Incorrect prefix key; the used key part isn't a string, the used length is longer "
                      "than the key part, or the storage engine doesn't support unique prefix keys");
  }
  IndexColumn part;
  part.column = static_cast<uint16_t>(ordinal);
  part.descending = spec.descending;
  if (spec.prefix_length != column.length) part.prefix_length = spec.prefix_length;
  return part;
}

Error duplicate(const TableDef& table, const IndexDef& index, const Row& row) {
  std::string values;
  for (const auto& part : index.columns) values += (values.empty() ? "" : "-") + row[part.column].to_text();
  return make_error(er::kDupEntry, "Duplicate entry '{}' for key '{}.{}'", values, table.name, index.name);
}

}  // namespace

Status for_each_row(const TableDef& table, const Context& context,
                    const std::function<Status(std::string_view key, Row& row)>& each) {
  std::string prefix;
  append_index_id(prefix, table.clustered().id);
  auto iterator = context.engine.iterate(context.engine.snapshot(), prefix, prefix_end(prefix));
  std::string scratch;
  for (iterator->seek(prefix); iterator->valid(); iterator->next()) {
    COMMITD_RETURN_IF_ERROR(context.on_row());
    auto image = image_of_stored_row(table, iterator->value(), scratch);
    if (!image.ok()) return std::move(image).error();
    auto row = decode_row_image(table, *image);
    if (!row.ok()) return std::move(row).error();
    COMMITD_RETURN_IF_ERROR(each(iterator->key(), *row));
  }
  return iterator->status();
}

Status add_index(TableDef& table, const ast::IndexSpec& spec, uint32_t id, const Context& context) {
  IndexDef index;
  index.id = id;
  index.unique = spec.unique || spec.primary;
  index.primary = spec.primary;
  auto comment = comment_within(Commented::Index, spec.name, spec.comment, context);
  if (!comment.ok()) return std::move(comment).error();
  index.comment = *std::move(comment);
  for (const auto& part : spec.parts) {
    auto made = make_part(table, part);
    if (!made.ok()) return std::move(made).error();
    for (const auto& other : index.columns) {
      if (other.column == made->column)
        return make_error(er::kDupFieldName, "Duplicate column name '{}'", part.column);
    }
    index.columns.push_back(*made);
  }
  COMMITD_RETURN_IF_ERROR(check_key_length(table, index));
  if (index.primary) {
    if (!table.indexes.empty() && table.indexes[0].primary)
      return make_error(er::kMultiplePriKey, "Multiple primary key defined");
    index.name = "PRIMARY";
    for (const auto& part : index.columns) require_value(table.columns[part.column]);
    table.indexes.insert(table.indexes.begin(), std::move(index));
    return {};
  }
  index.name = spec.name.empty() ? free_index_name(table, index) : std::string(spec.name);
  COMMITD_RETURN_IF_ERROR(check_name(index.name, Named::Index));
  if (find_index(table, index.name))
    return make_error(er::kDupKeyName, "Duplicate key name '{}'", index.name);
  if (lower_case(index.name) == "primary")
    return make_error(er::kWrongNameForIndex, "Incorrect index name '{}'", index.name);
  if (table.indexes.size() > kMaxIndexes)
    return make_error(er::kTooManyKeys, "Too many keys specified; max {} keys allowed", kMaxIndexes);
  table.indexes.push_back(std::move(index));
  return {};
}

Status fit_keys(TableDef& table, const Context& context) {
  for (IndexDef& index : table.indexes) {
    for (IndexColumn& part : index.columns) {
      const ColumnDef& column = table.columns[part.column];
      const bool whole =
          !may_have_prefix(column) || (!is_blob(column.type) && part.prefix_length >= column.length);
      if (whole) part.prefix_length = 0;
      if (!context.executed_before) COMMITD_RETURN_IF_ERROR(check_key_column(column, part.prefix_length));
    }
    if (!context.executed_before) COMMITD_RETURN_IF_ERROR(check_key_length(table, index));
  }
  return {};
}

void ensure_clustered_index(TableDef& table, CatalogChange& change) {
  if (!table.indexes.empty() && (table.indexes[0].primary || table.indexes[0].columns.empty())) return;
  IndexDef hidden;
  hidden.id = new_index_id(table, change);
  hidden.unique = true;
  table.indexes.insert(table.indexes.begin(), std::move(hidden));
}

Status check_primary_key(const TableDef& table, const Context& context) {
  if (!context.needs_primary_key || table.has_primary_key()) return {};
  return make_error(
      er::kTableWithoutPk,
      "Unable to create or change a table without a primary key, when the system variable "
      "'sql_require_primary_key' is set. Add a primary key to the table or unset this variable to "
      "avoid this message. Note that tables without a primary key can cause performance problems "
      "in row-based replication, so please consult your DBA before changing this setting.");
}

Status check_table(const TableDef& table) {
  if (table.columns.empty())
    return make_error(er::kTableMustHaveColumns, "A table must have at least 1 column");
  if (table.columns.size() > 4096) return make_error(er::kTooManyFields, "Too many columns");
  const storage::TableEngine& engine = storage::engine_of(table);
  std::set<std::string> names;
  int counters = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const auto& column = table.columns[i];
    if (!names.insert(lower_case(column.name)).second)
      return make_error(er::kDupFieldName, "Duplicate column name '{}'", column.name);
    if (engine.in_memory && (is_blob(column.type) || column.type == FieldType::Json))
      return make_error(er::kTableCantHandleBlob, "The used table type doesn't support BLOB/TEXT columns");
    if (!column.auto_increment) continue;
    bool keyed = std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& index) {
      return !index.columns.empty() && index.columns[0].column == i;
    });
    if (++counters > 1 || !keyed) {
      return make_error(
          er::kWrongAutoKey,
          "Incorrect table definition; there can be only one auto column and it must be defined as a key");
    }
  }
  for (const auto& part : table.indexes[0].columns) {
    if (table.columns[part.column].nullable) {
      return make_error(
          er::kPrimaryCantHaveNull,
          "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead");
    }
  }
  return {};
}

Status fill_index(const TableDef& old_table, const TableDef& table, const IndexDef& index,
                  const Context& context, NewEntries& entries) {
  COMMITD_RETURN_IF_ERROR(entries.begin(table, index));
  COMMITD_RETURN_IF_ERROR(for_each_row(old_table, context, [&](std::string_view key, Row& row) -> Status {
    for (size_t i = row.size(); i < table.columns.size(); ++i)
      row.push_back(table.columns[i].default_value.value_or(Value::null()));
    std::string_view suffix = clustered_suffix(key);
    std::string entry = secondary_key(table, index, row, suffix);
    const bool unique = index.unique && enforces_uniqueness(table, index, row);
    if (unique) {
      auto taken = entries.contains(entry);
      if (!taken.ok()) return std::move(taken).error();
      if (*taken) return duplicate(table, index, row);
    }
    entries.into().put(std::move(entry), secondary_value(!unique, suffix));
    return entries.row_done();
  }));
  return entries.flush();
}

namespace {

// Finds rows that collide. Most changes keep the order of the rows: whose key is above all before it collides
// with none of them.
class Collisions {
 public:
  Collisions(const TableDef& table, NewEntries& entries) : table_(table), entries_(entries) {}

  Status check(const Row& row, std::string_view key) {
    for (const auto& index : table_.indexes) {
      const bool clustered = &index == &table_.clustered();
      if (clustered ? key > greatest_ : !(index.unique && enforces_uniqueness(table_, index, row))) continue;
      auto taken = entries_.contains(clustered ? std::string(key)
                                               : secondary_key(table_, index, row, clustered_suffix(key)));
      if (!taken.ok()) return std::move(taken).error();
      if (*taken) return duplicate(table_, index, row);
    }
    if (key > greatest_) greatest_ = key;
    return {};
  }

 private:
  const TableDef& table_;
  NewEntries& entries_;
  std::string greatest_;
};

}  // namespace

Result<uint64_t> copy_rows(const TableDef& old_table, const TableDef& new_table, const RowMaker& make_row,
                           const Context& context, NewEntries& entries) {
  for (const auto& index : new_table.indexes) COMMITD_RETURN_IF_ERROR(entries.begin(new_table, index));
  uint64_t copied = 0;
  uint64_t row_id = 0;
  Collisions collisions(new_table, entries);
  auto status = for_each_row(old_table, context, [&](std::string_view, const Row& old_row) -> Status {
    auto made = make_row(old_row);
    if (!made.ok()) return std::move(made).error();
    const Row& row = *made;
    std::string image;
    encode_row_image(new_table, row, image);
    if (!new_table.has_primary_key()) row_id = entries.new_row_id(new_table.id);
    COMMITD_RETURN_IF_ERROR(collisions.check(row, clustered_key(new_table, row, row_id)));
    txn::put_row(entries.into(), new_table, row, image, row_id);
    ++copied;
    return entries.row_done();
  });
  if (status.ok()) status = entries.flush();
  if (!status.ok()) return std::move(status).error();
  return copied;
}

}  // namespace commitd::sql::ddl
