// Texts that are more than the date or time that they begin with.
#pragma once

#include <optional>
#include <string>

#include "base/value.h"

namespace commitd::sql {

// nullopt: it begins with none.
std::optional<Temporal> date_at_beginning(const std::string& text);
std::optional<Temporal> time_at_beginning(const std::string& text);

}  // namespace commitd::sql
