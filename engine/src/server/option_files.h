// MySQL's option files: groups, `name = value` lines, !include and !includedir.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace commitd::server {

// What a line says. An error refuses it; the reader adds the file and the line.
using TakeOption = std::function<Status(const std::string& name, const std::optional<std::string>& value)>;

// Gives every option in the groups [mysqld], [server], [commitd] and [mysqld-8.4], and in those with `suffix`
// behind their names (--defaults-group-suffix), in the order of the lines.
Status read_option_file(const std::string& path, const std::string& suffix, const TakeOption& take);

}  // namespace commitd::server
