// The server's log: one structured line per event on stderr, key=value behind the message.
#pragma once

#include <string>

#include "base/result.h"

namespace commitd::server {

// `level`: debug, info, warn or error.
Status set_up_logging(const std::string& level);

}  // namespace commitd::server
