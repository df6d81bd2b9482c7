// A stored row is the row image that MySQL's row events carry (NULL bitmap over all columns, then the packed
// fields), so that the binlog, the storage engine and replicas share one encoding and copy bytes instead of
// converting them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "storage/record/table_def.h"

namespace commitd {

using Row = std::vector<Value>;

// Values must already have the column's type and fit it (the SQL layer converts and checks).
void encode_row_image(const TableDef& table, std::span<const Value> row, std::string& out);
// Length of the image at the start of `bytes`, or an error when it is damaged or cut off.
Result<size_t> row_image_length(const TableDef& table, std::string_view bytes);
// The row whose image stands at the start of `bytes`; returns the image's length. `row` keeps its memory from
// call to call.
Result<size_t> decode_leading_row(const TableDef& table, std::string_view bytes, Row& row);
Result<Row> decode_row_image(const TableDef& table, std::string_view image);

// What is stored under a row's key: the table version, then the image. Reading fills columns added since with
// their defaults.
std::string stored_row(const TableDef& table, std::string_view image);
// The image in the table's present version; points into `stored` when nothing had to be added, else into
// `scratch`.
Result<std::string_view> image_of_stored_row(const TableDef& table, std::string_view stored,
                                             std::string& scratch);

}  // namespace commitd
