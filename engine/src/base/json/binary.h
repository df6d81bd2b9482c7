// MySQL's binary JSON (sql-common/json_binary.h there): how a document lies in rows and in binlog events.
#pragma once

#include <string>
#include <string_view>

#include "base/json/node.h"
#include "base/result.h"

namespace commitd::json {

// Errors: 3150 too large, 3151 a key beyond 64 KiB, 3157 too deep.
Result<std::string> encode(const Node& document);
// 3142 for anything that is no such document. It takes time and memory in proportion to the size of `bytes`,
// whatever they are.
Result<Node> decode(std::string_view bytes);
// What decode() would say, without making the document.
bool is_valid(std::string_view bytes);

}  // namespace commitd::json
