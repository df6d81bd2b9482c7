// What of a statement's text is logged.
#pragma once

#include <cstdint>
#include <string>

#include "sql/ast/statement.h"

namespace commitd::sql {

// Text that every server reads as this one has read it in `sql_mode`: no version comments (what counted in
// them stays), and FLOAT for a REAL that is one.
std::string logged_text(const ast::Statement& statement, uint64_t sql_mode);

}  // namespace commitd::sql
