// The regressions that a switch brings back: the one list of them, which is shown as
// information_schema.commitd_regressions and exported as commitd_regression_is_on.
#pragma once

#include <span>
#include <string_view>

#include "sql/variables/system_variables.h"

namespace commitd::sql {

struct Regression {
  std::string_view id;
  std::string_view seed;  // the report that it comes from
  std::string_view variable;
  std::string_view fixed;          // its default
  std::string_view legacy_values;  // with commas between them
  std::string_view counters;       // metrics, and wait events, that move with it; likewise
  std::string_view what;
};
std::span<const Regression> regressions();

// Whether `value`, as SHOW VARIABLES prints it, is a legacy one.
bool is_legacy(const Regression& regression, std::string_view value);

}  // namespace commitd::sql
