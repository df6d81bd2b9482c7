// Small transactions for the tests of this folder.
#pragma once

#include <string>

#include "binlog/transaction_buffer.h"
#include "gtid/gtid_set.h"
#include "storage/record/row_image.h"
#include "storage/record/table_def.h"

namespace commitd::binlog::testing {

// CREATE TABLE shop.orders (id INT UNSIGNED PRIMARY KEY, note VARCHAR(200) NULL)
inline TableDef orders_table() {
  ColumnDef id;
  id.name = "id";
  id.type = FieldType::Long;
  id.is_unsigned = true;
  id.nullable = false;
  ColumnDef note;
  note.name = "note";
  note.type = FieldType::VarChar;
  note.length = 200;
  note.collation = 45;
  IndexDef primary{1000, "PRIMARY", {{0, 0}}, true, true, {}};
  TableDef table;
  table.id = 77;
  table.db = "shop";
  table.name = "orders";
  table.columns = {id, note};
  table.indexes = {primary};
  return table;
}

inline std::string orders_image(const TableDef& table, uint64_t id, std::string note) {
  std::string image;
  const Row row{Value::unsigned_integer(id), Value::string(std::move(note))};
  encode_row_image(table, row, image);
  return image;
}

// One finished transaction that inserts one row.
inline TransactionBuffer insert_order(const TableDef& table, uint64_t id, std::string note) {
  TransactionBuffer buffer{TransactionBuffer::Context{}};
  buffer.insert_row(table, orders_image(table, id, std::move(note)));
  buffer.finish(id);
  return buffer;
}

inline Uuid server_a() {
  return *Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562");
}
inline Uuid server_b() {
  return *Uuid::parse("4e11fa47-71ca-11e1-9e33-c80aa9429562");
}

}  // namespace commitd::binlog::testing
