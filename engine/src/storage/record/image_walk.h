// The fields of a row image one after the other: what reading a whole row and reading parts of it share.
#pragma once

#include <optional>
#include <string_view>

#include "base/error_codes.h"
#include "base/result.h"
#include "storage/record/column_format.h"
#include "storage/record/table_def.h"

namespace commitd::row_image {

inline size_t bitmap_size(size_t columns) {
  return (columns + 7) / 8;
}

inline Error damaged(const TableDef& table) {
  return make_error(er::kErrorOnRead,
                    "A row image of table '{}.{}' is damaged or does not fit the table's definition",
                    table.db, table.name);
}

// Calls visit(column, field) for each of the first `columns` columns; field is nullopt for NULL. The image's
// length.
template <class Visit>
Result<size_t> walk(const TableDef& table, size_t columns, std::string_view bytes, Visit&& visit) {
  size_t at = bitmap_size(columns);
  if (bytes.size() < at) return damaged(table);
  for (size_t i = 0; i < columns; ++i) {
    if ((static_cast<uint8_t>(bytes[i / 8]) >> (i % 8) & 1) != 0) {
      visit(i, std::optional<std::string_view>{});
      continue;
    }
    const auto size = field_size(table.columns[i], bytes.substr(at));
    if (!size) return damaged(table);
    visit(i, std::optional(bytes.substr(at, *size)));
    at += *size;
  }
  return at;
}

}  // namespace commitd::row_image
