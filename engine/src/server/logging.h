// The server's log: one structured line per event on stderr, key=value behind the message.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace commitd::server {

// `level`: debug, info, warn or error.
Status set_up_logging(const std::string& level);

// As log_error_verbosity: 1 errors, 2 warnings too, 3 everything but what is for debugging.
uint64_t log_verbosity();
void set_log_verbosity(uint64_t verbosity);

}  // namespace commitd::server
