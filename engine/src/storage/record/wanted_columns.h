// Reads of a row image only the columns that somebody wants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/record/row_image.h"

namespace commitd {

// For many rows of one table: how each field is to be taken is found out once.
class WantedColumns {
 public:
  // `wanted` may end behind the last one that is wanted: what follows is not looked at. The table must stay.
  WantedColumns(const TableDef& table, const std::vector<bool>& wanted);

  // Sets the wanted columns; the others are whatever `row` had.
  Status decode(std::string_view image, Row& row) const;
  // Of a row as it is stored; `widened` holds one of an earlier version of the table.
  Status decode_stored(std::string_view stored, std::string& widened, Row& row) const;

 private:
  enum class Form : uint8_t { Signed, Unsigned, Text, Other };
  struct Field {
    Form form = Form::Other;
    uint8_t width = 0;  // of an integer, or of a text's length
    bool wanted = false;
  };
  // A wanted column that begins at the same place in each image, unless a column before it is NULL.
  struct Place {
    size_t column = 0;
    size_t offset = 0;
  };
  void find_places();
  bool decode_places(std::string_view image, Row& row) const;
  static size_t size_of(const Field& field, const ColumnDef& column, std::string_view bytes);
  static void load(const Field& field, const ColumnDef& column, std::string_view bytes, Value& value);

  const TableDef& table_;
  std::vector<Field> fields_;
  std::vector<Place> places_;        // of all wanted columns; empty: some have none
  uint8_t nulls_before_places_ = 0;  // the bits of the columns that must not be NULL
  uint32_t whole_since_ = 0;         // the version from which on rows have all columns
};

}  // namespace commitd
