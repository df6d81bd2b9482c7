// Reads of a row image only what its keys are made of. Replay puts the image itself into the engine, so of
// the other columns it needs no values.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/record/row_image.h"
#include "storage/record/table_def.h"

namespace commitd {

class KeyColumns {
 public:
  explicit KeyColumns(const TableDef& table);
  // As decode_leading_row(), but sets only the columns of the table's keys and its AUTO_INCREMENT column; the
  // others are whatever `row` had.
  Result<size_t> decode_leading(const TableDef& table, std::string_view bytes, Row& row) const;

 private:
  std::vector<bool> needed_;
};

}  // namespace commitd
