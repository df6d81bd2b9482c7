#include "storage/record/partial_image.h"

#include <optional>

#include "base/error_codes.h"
#include "storage/record/column_format.h"

namespace commitd {
namespace {

void set_bit(char* bitmap, size_t bit) {
  bitmap[bit / 8] = static_cast<char>(bitmap[bit / 8] | 1 << (bit % 8));
}

std::string empty_bitmap(size_t bits) {
  return std::string((bits + 7) / 8, '\0');
}

size_t count_columns(const TableDef& table, std::string_view bitmap) {
  size_t count = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) count += has_column(bitmap, i);
  return count;
}

Error damaged(const TableDef& table) {
  return make_error(er::kErrorOnRead,
                    "A row image of table '{}.{}' is damaged or does not fit the table's definition",
                    table.db, table.name);
}

// The fields of an image by column: not there, NULL, or the bytes.
struct Field {
  bool present = false;
  std::optional<std::string_view> bytes;
  bool operator==(const Field&) const = default;
};
struct Fields {
  std::vector<Field> columns;
  size_t length = 0;
};

Result<Fields> split(const TableDef& table, std::string_view bitmap, std::string_view image) {
  Fields fields;
  fields.columns.resize(table.columns.size());
  size_t at = (count_columns(table, bitmap) + 7) / 8;
  if (image.size() < at) return damaged(table);
  size_t present = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!has_column(bitmap, i)) continue;
    fields.columns[i].present = true;
    if (has_column(image, present++)) continue;
    const auto size = field_size(table.columns[i], image.substr(at));
    if (!size) return damaged(table);
    fields.columns[i].bytes = image.substr(at, *size);
    at += *size;
  }
  fields.length = at;
  return fields;
}

void join(const Fields& fields, std::string_view bitmap, std::string& out) {
  const size_t start = out.size();
  size_t columns = 0;
  for (size_t i = 0; i < fields.columns.size(); ++i) columns += has_column(bitmap, i);
  out += empty_bitmap(columns);
  size_t present = 0;
  for (size_t i = 0; i < fields.columns.size(); ++i) {
    if (!has_column(bitmap, i)) continue;
    if (fields.columns[i].bytes) {
      out += *fields.columns[i].bytes;
    } else {
      set_bit(out.data() + start, present);
    }
    ++present;
  }
}

}  // namespace

bool has_column(std::string_view bitmap, size_t column) {
  return (static_cast<uint8_t>(bitmap[column / 8]) >> (column % 8) & 1) != 0;
}

bool has_all_columns(const TableDef& table, std::string_view bitmap) {
  return count_columns(table, bitmap) == table.columns.size();
}

// MySQL sets the unused bits too.
std::string all_columns(const TableDef& table) {
  return std::string((table.columns.size() + 7) / 8, '\xff');
}

std::string key_columns(const TableDef& table) {
  std::string bitmap = empty_bitmap(table.columns.size());
  for (const IndexColumn& part : table.clustered().columns) set_bit(bitmap.data(), part.column);
  return bitmap;
}

Result<std::string> changed_columns(const TableDef& table, std::string_view before, std::string_view after) {
  const std::string all = all_columns(table);
  const auto old_fields = split(table, all, before);
  if (!old_fields) return old_fields.error();
  const auto new_fields = split(table, all, after);
  if (!new_fields) return new_fields.error();
  std::string bitmap = empty_bitmap(table.columns.size());
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (old_fields->columns[i] != new_fields->columns[i]) set_bit(bitmap.data(), i);
  }
  return bitmap;
}

Status append_partial_image(const TableDef& table, std::string_view bitmap, std::string_view image,
                            std::string& out) {
  const auto fields = split(table, all_columns(table), image);
  if (!fields) return fields.error();
  join(*fields, bitmap, out);
  return {};
}

Result<size_t> partial_image_length(const TableDef& table, std::string_view bitmap, std::string_view bytes) {
  const auto fields = split(table, bitmap, bytes);
  if (!fields) return fields.error();
  return fields->length;
}

Result<std::string> complete_image(const TableDef& table, std::string_view bitmap, std::string_view partial,
                                   std::string_view rest) {
  auto fields = split(table, all_columns(table), rest);
  if (!fields) return fields.error();
  const auto given = split(table, bitmap, partial);
  if (!given) return given.error();
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (given->columns[i].present) fields->columns[i] = given->columns[i];
  }
  std::string image;
  join(*fields, all_columns(table), image);
  return image;
}

Status decode_partial_image(const TableDef& table, std::string_view bitmap, std::string_view partial,
                            Row& row) {
  const auto fields = split(table, bitmap, partial);
  if (!fields) return fields.error();
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Field& field = fields->columns[i];
    if (!field.present) continue;
    row[i] = field.bytes ? load_field(table.columns[i], *field.bytes) : Value::null();
  }
  return {};
}

}  // namespace commitd
