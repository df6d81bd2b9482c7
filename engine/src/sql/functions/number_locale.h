// How languages and countries write numbers: FORMAT(x, d, 'de_DE').
#pragma once

#include <optional>
#include <string_view>

namespace commitd::sql {

struct NumberLocale {
  char point = '.';
  std::string_view separator = ",";  // of groups; empty: there are none
  bool groups_of_two = false;        // in front of the last three digits
};

// Names have no case; nullopt for one that is not known.
std::optional<NumberLocale> find_number_locale(std::string_view name);

}  // namespace commitd::sql
