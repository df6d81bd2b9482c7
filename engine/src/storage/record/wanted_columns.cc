#include "storage/record/wanted_columns.h"

#include "base/bytes.h"
#include "base/charset/collation.h"
#include "base/charset/transcode.h"
#include "base/packed_int.h"
#include "storage/record/image_walk.h"

namespace commitd {

namespace {

bool is_integer(FieldType type) {
  return type == FieldType::Tiny || type == FieldType::Short || type == FieldType::Int24 ||
         type == FieldType::Long || type == FieldType::LongLong;
}

// A text whose bytes are the value as they stand.
bool is_plain_text(const ColumnDef& column) {
  const bool text = column.type == FieldType::String || column.type == FieldType::VarChar ||
                    column.type == FieldType::VarString;
  return text && column.collation != kBinaryCollation &&
         stored_as_utf8(collation_or_binary(column.collation).charset);
}

// load_le() of a width that is not known here calls memcpy().
uint64_t load_number(size_t width, const char* from) {
  switch (width) {
    case 1:
      return static_cast<uint8_t>(*from);
    case 2:
      return load_le16(from);
    case 4:
      return load_le32(from);
    case 8:
      return load_le64(from);
    default:
      return load_le(from, width);
  }
}

}  // namespace

WantedColumns::WantedColumns(const TableDef& table, const std::vector<bool>& wanted) : table_(table) {
  fields_.resize(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const ColumnDef& column = table.columns[i];
    Field& field = fields_[i];
    field.wanted = wanted[i];
    if (is_integer(column.type)) {
      field.form = column.is_unsigned ? Form::Unsigned : Form::Signed;
      field.width = static_cast<uint8_t>(number_size(column));
    } else if (is_plain_text(column)) {
      field.form = Form::Text;
      field.width = max_column_bytes(column) > 255 ? 2 : 1;
    }
  }
}

// Length of the field at the start of `bytes`; more than there is when it is cut off.
inline size_t WantedColumns::size_of(const Field& field, const ColumnDef& column, std::string_view bytes) {
  switch (field.form) {
    case Form::Signed:
    case Form::Unsigned:
      return field.width;
    case Form::Text:
      if (bytes.size() < field.width) return field.width;
      return field.width + load_number(field.width, bytes.data());
    case Form::Other:
      break;
  }
  return field_size(column, bytes).value_or(bytes.size() + 1);
}

inline void WantedColumns::load(const Field& field, const ColumnDef& column, std::string_view bytes,
                                Value& value) {
  switch (field.form) {
    case Form::Signed:
      value = Value::integer(sign_extend(load_number(field.width, bytes.data()), field.width));
      break;
    case Form::Unsigned:
      value = Value::unsigned_integer(load_number(field.width, bytes.data()));
      break;
    case Form::Text:
      value = Value::string(std::string(bytes.substr(field.width)));
      break;
    case Form::Other:
      value = load_field(column, bytes);
  }
}

Status WantedColumns::decode(std::string_view image, Row& row) const {
  const size_t columns = table_.columns.size(), bitmap = row_image::bitmap_size(columns);
  if (row.size() != columns) row.resize(columns);
  if (image.size() < bitmap) return row_image::damaged(table_);
  std::string_view rest = image.substr(bitmap);
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    if ((static_cast<uint8_t>(image[i / 8]) >> (i % 8) & 1) != 0) {
      if (field.wanted) row[i] = Value();
      continue;
    }
    const size_t size = size_of(field, table_.columns[i], rest);
    if (size > rest.size()) return row_image::damaged(table_);
    if (field.wanted) load(field, table_.columns[i], rest.substr(0, size), row[i]);
    rest.remove_prefix(size);
  }
  return {};
}

}  // namespace commitd
