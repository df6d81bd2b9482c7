// Directories as a whole.
#pragma once

#include <string>

#include "base/file.h"

namespace commitd {

// A directory and everything below it; nothing when there is none.
Status remove_tree(FileSystem& fs, const std::string& directory);

}  // namespace commitd
