// Status variables: what SHOW GLOBAL STATUS lists, by MySQL's names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sql/session_state.h"

namespace commitd::sql {

enum class StatusScope : uint8_t { Global, Session };

// In order of name. What a session does not count for itself has the server's value in both scopes, as in
// MySQL.
std::vector<std::pair<std::string, std::string>> status_values(SessionState& session, StatusScope scope);

}  // namespace commitd::sql
