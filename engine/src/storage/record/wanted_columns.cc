#include "storage/record/wanted_columns.h"

#include <algorithm>

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
  for (const ColumnDef& column : table.columns)
    whole_since_ = std::max(whole_since_, column.added_in_version);
  find_places();
}

void WantedColumns::find_places() {
  constexpr size_t kColumnsInFirstByte = 8;
  if (fields_.size() > kColumnsInFirstByte) return;
  size_t offset = row_image::bitmap_size(table_.columns.size());
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    if (field.form == Form::Other || (field.form == Form::Text && i + 1 != fields_.size()))
      return places_.clear();
    if (field.wanted) places_.push_back({i, offset});
    nulls_before_places_ = static_cast<uint8_t>(nulls_before_places_ | 1 << i);
    offset += field.width;
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
      value.set_integer(sign_extend(load_number(field.width, bytes.data()), field.width));
      break;
    case Form::Unsigned:
      value.set_unsigned(load_number(field.width, bytes.data()));
      break;
    case Form::Text:
      value.set_string(bytes.substr(field.width));
      break;
    case Form::Other:
      value = load_field(column, bytes);
  }
}

// False: the image has to be gone through.
inline bool WantedColumns::decode_places(std::string_view image, Row& row) const {
  if (places_.empty() || (static_cast<uint8_t>(image[0]) & nulls_before_places_) != 0) return false;
  for (const Place& place : places_) {
    const Field& field = fields_[place.column];
    const ColumnDef& column = table_.columns[place.column];
    if (image.size() < place.offset) return false;
    const std::string_view rest = image.substr(place.offset);
    const size_t size = size_of(field, column, rest);
    if (size > rest.size()) return false;
    load(field, column, rest.substr(0, size), row[place.column]);
  }
  return true;
}

Status WantedColumns::decode_stored(std::string_view stored, std::string& widened, Row& row) const {
  // A version up to 127 takes one byte.
  const bool has_all = !stored.empty() && static_cast<uint8_t>(stored[0]) < 0x80 &&
                       static_cast<uint8_t>(stored[0]) >= whole_since_;
  if (has_all) return decode(stored.substr(1), row);
  const auto image = image_of_stored_row(table_, stored, widened);
  if (!image) return image.error();
  return decode(*image, row);
}

Status WantedColumns::decode(std::string_view image, Row& row) const {
  const size_t columns = table_.columns.size(), bitmap = row_image::bitmap_size(columns);
  if (row.size() != columns) row.resize(columns);
  if (image.size() < bitmap) return row_image::damaged(table_);
  if (decode_places(image, row)) return {};
  std::string_view rest = image.substr(bitmap);
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    if ((static_cast<uint8_t>(image[i / 8]) >> (i % 8) & 1) != 0) {
      if (field.wanted) row[i].set_null();
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
