#include "sql/catalog/catalog_codec.h"

#include <bit>

#include "base/bytes.h"
#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "storage/engine.h"
#include "storage/record/definition_record.h"
#include "storage/record/key_codec.h"

namespace commitd::sql {
namespace {

constexpr uint8_t kFormat = 1;
// Of tables: 2 has CHECK constraints, 3 CONNECTION=, 4 DESC and COMMENT of indexes.
constexpr uint8_t kTableFormat = 4;
// The first format of versions that order utf8mb4_0900_ai_ci by the Unicode Collation Algorithm. Keys that
// were written under an earlier one are in general_ci's order.
constexpr uint8_t kFormatOfUcaOrder = 4;

Error damaged(std::string_view what) {
  return make_error(er::kErrorOnRead, "The catalog's record of a {} is damaged or of an unknown format",
                    what);
}

void put_value(ByteWriter& out, const Value& value) {
  out.u8(static_cast<uint8_t>(value.kind()));
  switch (value.kind()) {
    case Value::Kind::Null:
      break;
    case Value::Kind::Int:
      out.le64(static_cast<uint64_t>(value.as_int()));
      break;
    case Value::Kind::UInt:
      out.le64(value.as_uint());
      break;
    case Value::Kind::Double:
      out.le64(std::bit_cast<uint64_t>(value.as_double()));
      break;
    case Value::Kind::Decimal: {
      auto unscaled = static_cast<unsigned __int128>(value.as_decimal().unscaled);
      out.le64(static_cast<uint64_t>(unscaled));
      out.le64(static_cast<uint64_t>(unscaled >> 64));
      out.u8(value.as_decimal().scale);
      break;
    }
    case Value::Kind::String:
      out.u8(value.is_binary());
      out.lenenc_string(value.as_string());
      break;
    case Value::Kind::Json:
      out.lenenc_string(value.as_json());
      break;
    case Value::Kind::Temporal: {
      const Temporal& t = value.as_temporal();
      out.u8(static_cast<uint8_t>(t.kind));
      out.u8(t.negative);
      out.le16(t.year);
      out.u8(t.month);
      out.u8(t.day);
      out.le32(t.hour);
      out.u8(t.minute);
      out.u8(t.second);
      out.le32(t.microsecond);
      out.u8(t.decimals);
      break;
    }
  }
}

Decimal get_decimal(ByteReader& in) {
  uint64_t low = in.le64();
  uint64_t high = in.le64();
  Decimal decimal;
  decimal.unscaled = static_cast<__int128>((static_cast<unsigned __int128>(high) << 64) | low);
  decimal.scale = in.u8();
  return decimal;
}

Temporal get_temporal(ByteReader& in) {
  Temporal t;
  t.kind = static_cast<Temporal::Kind>(in.u8());
  t.negative = in.u8() != 0;
  t.year = in.le16();
  t.month = in.u8();
  t.day = in.u8();
  t.hour = in.le32();
  t.minute = in.u8();
  t.second = in.u8();
  t.microsecond = in.le32();
  t.decimals = in.u8();
  return t;
}

Value get_value(ByteReader& in) {
  switch (static_cast<Value::Kind>(in.u8())) {
    case Value::Kind::Null:
      return Value::null();
    case Value::Kind::Int:
      return Value::integer(static_cast<int64_t>(in.le64()));
    case Value::Kind::UInt:
      return Value::unsigned_integer(in.le64());
    case Value::Kind::Double:
      return Value::real(std::bit_cast<double>(in.le64()));
    case Value::Kind::Decimal:
      return Value::decimal(get_decimal(in));
    case Value::Kind::String: {
      bool binary = in.u8() != 0;
      return Value::string(std::string(in.lenenc_string()), binary);
    }
    case Value::Kind::Temporal:
      return Value::temporal(get_temporal(in));
    case Value::Kind::Json:
      return Value::json(std::string(in.lenenc_string()));
  }
  return Value::null();
}

enum ColumnFlag : uint8_t {
  kUnsigned = 1,
  kNullable = 2,
  kAutoIncrement = 4,
  kDefaultNow = 8,
  kUpdateNow = 16,
  kHasDefault = 32
};

void put_column(ByteWriter& out, const ColumnDef& column) {
  out.lenenc_string(column.name);
  out.u8(static_cast<uint8_t>(column.type));
  out.le32(column.length);
  out.u8(column.decimals);
  out.le16(column.collation);
  out.u8((column.is_unsigned ? kUnsigned : 0) | (column.nullable ? kNullable : 0) |
         (column.auto_increment ? kAutoIncrement : 0) | (column.default_current_timestamp ? kDefaultNow : 0) |
         (column.on_update_current_timestamp ? kUpdateNow : 0) | (column.default_value ? kHasDefault : 0));
  if (column.default_value) put_value(out, *column.default_value);
  out.lenenc(column.labels.size());
  for (const auto& label : column.labels) out.lenenc_string(label);
  out.lenenc_string(column.comment);
  out.le32(column.added_in_version);
  put_value(out, column.fill_value);
}

ColumnDef get_column(ByteReader& in) {
  ColumnDef column;
  column.name = in.lenenc_string();
  column.type = static_cast<FieldType>(in.u8());
  column.length = in.le32();
  column.decimals = in.u8();
  column.collation = in.le16();
  uint8_t flags = in.u8();
  column.is_unsigned = flags & kUnsigned;
  column.nullable = flags & kNullable;
  column.auto_increment = flags & kAutoIncrement;
  column.default_current_timestamp = flags & kDefaultNow;
  column.on_update_current_timestamp = flags & kUpdateNow;
  if (flags & kHasDefault) column.default_value = get_value(in);
  for (uint64_t left = in.lenenc(); left > 0 && in.ok(); --left)
    column.labels.emplace_back(in.lenenc_string());
  column.comment = in.lenenc_string();
  column.added_in_version = in.le32();
  column.fill_value = get_value(in);
  return column;
}

void put_index(ByteWriter& out, const IndexDef& index) {
  out.le32(index.id);
  out.lenenc_string(index.name);
  out.u8((index.unique ? 1 : 0) | (index.primary ? 2 : 0));
  out.lenenc(index.columns.size());
  for (const auto& part : index.columns) {
    out.le16(part.column);
    out.le32(part.prefix_length);
    out.u8(part.descending);
  }
  out.lenenc_string(index.comment);
}

IndexDef get_index(ByteReader& in, uint8_t format) {
  IndexDef index;
  index.id = in.le32();
  index.name = in.lenenc_string();
  uint8_t flags = in.u8();
  index.unique = flags & 1;
  index.primary = flags & 2;
  for (uint64_t left = in.lenenc(); left > 0 && in.ok(); --left) {
    IndexColumn part;
    part.column = in.le16();
    part.prefix_length = in.le32();
    if (format >= 4) part.descending = in.u8() != 0;
    index.columns.push_back(part);
  }
  if (format >= 4) index.comment = in.lenenc_string();
  return index;
}

// Labels, which have a collation too, are indexed by their numbers.
bool has_sort_key(FieldType type) {
  return is_blob(type) || type == FieldType::String || type == FieldType::VarString ||
         type == FieldType::VarChar;
}

// The first indexed column whose keys an earlier version wrote in an order that is not the present one.
const ColumnDef* column_in_former_order(const TableDef& table) {
  for (const IndexDef& index : table.indexes) {
    for (const IndexColumn& part : index.columns) {
      if (part.column >= table.columns.size()) continue;
      const ColumnDef& column = table.columns[part.column];
      if (has_sort_key(column.type) && collation_or_binary(column.collation).order == Order::Uca0900)
        return &column;
    }
  }
  return nullptr;
}

// A look-up in such an index would miss rows, and a unique one take duplicates, without a word.
Error former_order(const TableDef& table, const ColumnDef& column) {
  return make_error(
      er::kErrorOnRead,
      "Table `{}`.`{}` has an index on column `{}` that an earlier version wrote in another order "
      "of {}. Dump the data with the version that wrote it, and load the dump into a new datadir",
      table.db, table.name, column.name, collation_or_binary(column.collation).name);
}

}  // namespace

std::string catalog_prefix() {
  std::string key;
  append_index_id(key, storage::kCatalogIndexId);
  return key;
}

std::string database_key(std::string_view name) {
  return catalog_prefix() + 'd' + std::string(name);
}

std::string table_key(uint64_t table_id) {
  return definition_key(table_id);
}

std::string server_key(std::string_view name) {
  return catalog_prefix() + 's' + lower_case(name);
}

std::string ids_key() {
  return catalog_prefix() + 'n';
}

std::string encode_database(const DatabaseDef& database) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u8(kFormat);
  out.le16(database.collation);
  return bytes;
}

std::string encode_table(const TableDef& table) {
  std::string bytes;
  ByteWriter out(bytes);
  append_definition_head(bytes, kTableFormat, table);
  out.lenenc_string(table.db);
  out.lenenc_string(table.name);
  out.lenenc_string(table.engine);
  out.le16(table.default_collation);
  out.lenenc_string(table.comment);
  out.lenenc(table.columns.size());
  for (const auto& column : table.columns) put_column(out, column);
  out.lenenc(table.indexes.size());
  for (const auto& index : table.indexes) put_index(out, index);
  out.lenenc(table.checks.size());
  for (const auto& check : table.checks) {
    out.lenenc_string(check.name);
    out.lenenc_string(check.expression);
    out.u8(check.enforced);
  }
  out.lenenc_string(table.connection);
  return bytes;
}

std::string encode_server(const ServerDef& server) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u8(kFormat);
  for (const std::string* text : {&server.name, &server.wrapper, &server.host, &server.db, &server.user,
                                  &server.password, &server.socket, &server.owner})
    out.lenenc_string(*text);
  out.le32(server.port);
  return bytes;
}

std::string encode_ids(const CatalogIds& ids) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u8(kFormat);
  out.le64(ids.next_table);
  out.le32(ids.next_index);
  return bytes;
}

Result<DatabaseDef> decode_database(std::string_view name, std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != kFormat) return damaged("database");
  DatabaseDef database{std::string(name), in.le16()};
  if (!in.ok() || !in.at_end()) return damaged("database");
  return database;
}

Result<TableDef> decode_table(std::string_view bytes) {
  ByteReader in(bytes);
  const uint8_t format = in.u8();
  if (format == 0 || format > kTableFormat) return damaged("table");
  TableDef table;
  table.id = in.le64();
  table.version = in.le32();
  table.db = in.lenenc_string();
  table.name = in.lenenc_string();
  table.engine = in.lenenc_string();
  table.default_collation = in.le16();
  table.comment = in.lenenc_string();
  for (uint64_t left = in.lenenc(); left > 0 && in.ok(); --left) table.columns.push_back(get_column(in));
  for (uint64_t left = in.lenenc(); left > 0 && in.ok(); --left)
    table.indexes.push_back(get_index(in, format));
  for (uint64_t left = format >= 2 ? in.lenenc() : 0; left > 0 && in.ok(); --left) {
    CheckDef check;
    check.name = in.lenenc_string();
    check.expression = in.lenenc_string();
    check.enforced = in.u8() != 0;
    table.checks.push_back(std::move(check));
  }
  if (format >= 3) table.connection = in.lenenc_string();
  if (!in.ok() || !in.at_end() || table.indexes.empty()) return damaged("table");
  if (format < kFormatOfUcaOrder) {
    if (const ColumnDef* column = column_in_former_order(table)) return former_order(table, *column);
  }
  return table;
}

Result<ServerDef> decode_server(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != kFormat) return damaged("server");
  ServerDef server;
  for (std::string* text : {&server.name, &server.wrapper, &server.host, &server.db, &server.user,
                            &server.password, &server.socket, &server.owner})
    *text = in.lenenc_string();
  server.port = in.le32();
  if (!in.ok() || !in.at_end()) return damaged("server");
  return server;
}

Result<CatalogIds> decode_ids(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != kFormat) return damaged("counter");
  CatalogIds ids;
  ids.next_table = in.le64();
  ids.next_index = in.le32();
  if (!in.ok() || !in.at_end()) return damaged("counter");
  return ids;
}

}  // namespace commitd::sql
