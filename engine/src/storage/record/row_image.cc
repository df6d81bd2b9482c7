#include "storage/record/row_image.h"

#include <algorithm>

#include "storage/record/column_format.h"
#include "storage/record/image_walk.h"

namespace commitd {

namespace {

void set_null_bit(char* bitmap, size_t column) {
  bitmap[column / 8] = static_cast<char>(bitmap[column / 8] | 1 << (column % 8));
}

size_t columns_in_version(const TableDef& table, uint32_t version) {
  const auto added_later = [&](const ColumnDef& column) { return column.added_in_version > version; };
  return static_cast<size_t>(std::find_if(table.columns.begin(), table.columns.end(), added_later) -
                             table.columns.begin());
}

// Of a number, or of a text's length: a guess, so that an image is put together in one piece of memory.
constexpr size_t kUsualNumberSize = 8;

void append_version(std::string& out, uint32_t version) {
  for (; version >= 0x80; version >>= 7) out.push_back(static_cast<char>(version | 0x80));
  out.push_back(static_cast<char>(version));
}

bool take_version(std::string_view& bytes, uint32_t& version) {
  version = 0;
  for (int shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    version |= static_cast<uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// An image that has only the first `columns` columns, with the others filled in. Other servers set the bits
// that were nobody's.
void widen_image(const TableDef& table, size_t columns, std::string_view image, std::string& out) {
  out.assign(image.substr(0, row_image::bitmap_size(columns)));
  if (columns % 8 != 0) out.back() = static_cast<char>(out.back() & ((1 << (columns % 8)) - 1));
  out.resize(row_image::bitmap_size(table.columns.size()), '\0');
  out.append(image.substr(row_image::bitmap_size(columns)));
  for (size_t i = columns; i < table.columns.size(); ++i) {
    const ColumnDef& column = table.columns[i];
    if (column.fill_value.is_null()) {
      set_null_bit(out.data(), i);
    } else {
      append_field(out, column, column.fill_value);
    }
  }
}

}  // namespace

void encode_row_image(const TableDef& table, std::span<const Value> row, std::string& out) {
  const size_t start = out.size();
  size_t estimate = start + row_image::bitmap_size(row.size());
  for (const Value& value : row) estimate += kUsualNumberSize + value.as_string().size();
  out.reserve(estimate);
  out.resize(start + row_image::bitmap_size(row.size()), '\0');
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i].is_null()) {
      set_null_bit(out.data() + start, i);
    } else {
      append_field(out, table.columns[i], row[i]);
    }
  }
}

Result<size_t> row_image_length(const TableDef& table, std::string_view bytes) {
  return row_image::walk(table, table.columns.size(), bytes,
                         [](size_t, const std::optional<std::string_view>&) {});
}

Result<size_t> decode_leading_row(const TableDef& table, std::string_view bytes, Row& row) {
  row.resize(table.columns.size());
  return row_image::walk(table, row.size(), bytes,
                         [&](size_t i, const std::optional<std::string_view>& field) {
                           row[i] = field ? load_field(table.columns[i], *field) : Value();
                         });
}

Result<Row> decode_row_image(const TableDef& table, std::string_view image) {
  Row row;
  const auto length = decode_leading_row(table, image, row);
  if (!length) return length.error();
  return row;
}

std::string stored_row(const TableDef& table, std::string_view image) {
  std::string stored;
  stored.reserve(image.size() + 2);
  append_version(stored, table.version);
  stored.append(image);
  return stored;
}

Result<std::string_view> image_of_stored_row(const TableDef& table, std::string_view stored,
                                             std::string& scratch) {
  uint32_t version = 0;
  if (!take_version(stored, version)) return row_image::damaged(table);
  if (version == table.version) return stored;
  const size_t columns = columns_in_version(table, version);
  if (columns == table.columns.size()) return stored;
  if (stored.size() < row_image::bitmap_size(columns)) return row_image::damaged(table);
  widen_image(table, columns, stored, scratch);
  return std::string_view(scratch);
}

}  // namespace commitd
