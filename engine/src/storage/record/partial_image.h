// Row images that have only some of the columns: what row events carry with binlog_row_image=MINIMAL. Which
// ones is a bitmap as the events have it: one bit per column of the table, the lowest bit of the first byte
// for the first.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/record/row_image.h"

namespace commitd {

bool has_column(std::string_view bitmap, size_t column);
bool has_all_columns(const TableDef& table, std::string_view bitmap);
std::string all_columns(const TableDef& table);
std::string key_columns(const TableDef& table);  // of the primary key
// Those in which two whole images differ.
Result<std::string> changed_columns(const TableDef& table, std::string_view before, std::string_view after);

// These columns of a whole image.
Status append_partial_image(const TableDef& table, std::string_view bitmap, std::string_view image,
                            std::string& out);
// Length of the partial image at the start of `bytes`.
Result<size_t> partial_image_length(const TableDef& table, std::string_view bitmap, std::string_view bytes);
// The whole image: the partial one's columns, the others as in `rest`.
Result<std::string> complete_image(const TableDef& table, std::string_view bitmap, std::string_view partial,
                                   std::string_view rest);
// The values a partial image has; the others stay as they are in `row`, which has one per column.
Status decode_partial_image(const TableDef& table, std::string_view bitmap, std::string_view partial,
                            Row& row);

}  // namespace commitd
