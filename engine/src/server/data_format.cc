#include "server/data_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error_codes.h"
#include "server/datadir.h"
#include "server/options.h"
#include "storage/rocks/format_version.h"

namespace commitd::server {

namespace {

std::string with_engine_format(std::string_view engine) {
  return fmt::format("{}.{}", kDatadirFormat, engine);
}

}  // namespace

std::string data_format() {
  return with_engine_format(storage::kFormatVersion);
}

Status check_data_formats(std::string_view formats) {
  const std::array known = {with_engine_format(storage::kEarlierFormatVersion), data_format()};
  while (!formats.empty()) {
    const std::string_view format = formats.substr(0, formats.find(','));
    formats.remove_prefix(std::min(formats.size(), format.size() + 1));
    if (std::find(known.begin(), known.end(), format) == known.end())
      return make_error(
          er::kErrorOnRead,
          "The data have format {}, and commitd {} reads formats {} and {}: they need the release "
          "that wrote them, or a later one",
          format, kVersion, known[0], known[1]);
  }
  return {};
}

}  // namespace commitd::server
