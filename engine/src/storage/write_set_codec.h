// A write set as bytes: what a prepared transaction leaves in its engine.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/write_set.h"

namespace commitd {

std::string encode_write_set(const WriteSet& writes);
Result<WriteSet> decode_write_set(std::string_view bytes);

}  // namespace commitd
