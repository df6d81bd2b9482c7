#include "storage/record/wanted_columns.h"

#include "storage/record/image_walk.h"

namespace commitd {

Status decode_wanted_columns(const TableDef& table, std::string_view image, const std::vector<bool>& wanted,
                             Row& row) {
  row.resize(table.columns.size());
  size_t at = row_image::bitmap_size(row.size());
  if (image.size() < at) return row_image::damaged(table);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool null = (static_cast<uint8_t>(image[i / 8]) >> (i % 8) & 1) != 0;
    if (null) {
      if (wanted[i]) row[i] = Value();
      continue;
    }
    const auto size = field_size(table.columns[i], image.substr(at));
    if (!size) return row_image::damaged(table);
    if (wanted[i]) row[i] = load_field(table.columns[i], image.substr(at, *size));
    at += *size;
  }
  return {};
}

}  // namespace commitd
