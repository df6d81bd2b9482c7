// A document as it may stand in a row of a damaged file or come from a source, the text of one, and a path
// into it; the first byte chooses. What one of them reads, the others must write and read again as the same.
#include <cstdlib>
#include <string_view>

#include "base/json/binary.h"
#include "base/json/order.h"
#include "base/json/path.h"
#include "base/json/text.h"

namespace {

using namespace commitd;

void require(bool holds) {
  if (!holds) abort();
}

void check(const json::Node& document) {
  const auto binary = json::encode(document);
  require(binary.ok());
  const auto again = json::decode(*binary);
  require(again.ok() && json::compare(document, *again) == 0);
  std::string key, other;
  json::append_key(key, document);
  json::append_key(other, *again);
  require(key == other);
  require(json::to_text(document) == json::to_text(*again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) {
    const auto document = json::decode(input);
    require(document.ok() == json::is_valid(input));
    if (document.ok()) (void)json::to_text(*document);
  } else if (data[0] % 3 == 1) {
    if (const auto document = json::parse(input)) check(*document);
  } else {
    static const json::Node document = *json::parse(R"({"a": [1, {"b": [[], "x"]}, 2.5], "": {"a": null}})");
    const auto path = json::parse_path(input);
    if (path.ok()) (void)json::find_all(document, *path);
  }
  return 0;
}
