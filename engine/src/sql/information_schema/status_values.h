// Status variables: what SHOW GLOBAL STATUS lists, by MySQL's names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sql/session_state.h"

namespace commitd::sql {

// In order of name.
std::vector<std::pair<std::string, std::string>> status_values(SessionState& session);

}  // namespace commitd::sql
