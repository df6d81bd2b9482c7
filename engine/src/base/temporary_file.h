// Files without a name: gone with the last who has them open, also when that was killed.
#pragma once

#include <memory>
#include <string>

#include "base/file.h"

namespace commitd {

// Where temporary files go.
struct TemporaryPlace {
  FileSystem* fs = nullptr;  // null: there is none
  std::string directory;
};

Result<std::unique_ptr<File>> open_temporary_file(const TemporaryPlace& place);
// What a crash between making a file and taking its name away has left: for a start.
Status remove_temporary_files(const TemporaryPlace& place);

}  // namespace commitd
