#include "storage/record/key_columns.h"

#include "storage/record/image_walk.h"

namespace commitd {

KeyColumns::KeyColumns(const TableDef& table) : needed_(table.columns.size()) {
  for (size_t i = 0; i < needed_.size(); ++i) needed_[i] = table.columns[i].auto_increment;
  for (const IndexDef& index : table.indexes) {
    for (const IndexColumn& part : index.columns) needed_[part.column] = true;
  }
}

Result<size_t> KeyColumns::decode_leading(const TableDef& table, std::string_view bytes, Row& row) const {
  row.resize(table.columns.size());
  return row_image::walk(table, row.size(), bytes,
                         [&](size_t i, const std::optional<std::string_view>& field) {
                           if (!needed_[i]) return;
                           row[i] = field ? load_field(table.columns[i], *field) : Value();
                         });
}

}  // namespace commitd
