// Texts as dates, in all the shapes that MySQL takes: numbers with any punctuation between them, or digits
// alone.
#pragma once

#include <optional>
#include <string_view>

#include "base/value.h"

namespace commitd {

struct DateText {
  Temporal value;      // a date and time; its month and day may be 0
  bool whole = false;  // nothing that is no part of it stands behind it
};
// nullopt: the text does not begin with a date, or with one that does not exist.
std::optional<DateText> read_date_text(std::string_view text);

}  // namespace commitd
