// Values that need a thread for each connection, because they block the one that they run on.
#pragma once

#include <string_view>

#include "base/error_codes.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

// `why`: as in "it keeps every other thread out". Error 1231 where sessions share threads.
inline Status require_thread_per_connection(const sql::SystemVariables& variables, std::string_view name,
                                            std::string_view value, std::string_view why) {
  if (variables.global("thread_handling").to_text() == "one-thread-per-connection") return {};
  return make_error(er::kWrongValueForVar,
                    "Variable '{}' can't be set to the value of '{}': {}, which needs "
                    "--thread-handling=one-thread-per-connection",
                    name, value, why);
}

}  // namespace commitd::server
