// Reads of a row image only the columns that somebody wants.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/record/row_image.h"

namespace commitd {

// Sets the wanted columns; the others are whatever `row` had. `wanted` may end behind the last one that is
// wanted: what follows is not looked at.
Status decode_wanted_columns(const TableDef& table, std::string_view image, const std::vector<bool>& wanted,
                             Row& row);

}  // namespace commitd
