// DATE '2020-01-01', TIME '10:00' and TIMESTAMP '2020-01-01 10:00:00'.
#pragma once

#include <optional>
#include <string_view>

#include "base/value.h"
#include "sql/ast/expression.h"

namespace commitd::sql {

// nullopt where the text is no such value, or one that sql_mode forbids.
std::optional<Value> literal_of_type(ast::CastType type, std::string_view text, uint64_t sql_mode);

}  // namespace commitd::sql
