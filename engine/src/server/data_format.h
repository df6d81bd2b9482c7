// The format of all that a data directory has, in one word, for whoever wants to know beforehand whether
// another release reads it: "1.2" is the directory's and the storage engine's.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace commitd::server {

// What a start of this release leaves behind, whatever it has found.
std::string data_format();

// An error when data of one of these formats, with commas between them, cannot be read.
Status check_data_formats(std::string_view formats);

}  // namespace commitd::server
