// How long comments may be.
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "sql/ddl/planning.h"

namespace commitd::sql::ddl {
namespace {

struct Limit {
  uint16_t code;
  std::string_view name;
  size_t most;  // characters
};
constexpr Limit kLimits[] = {
    {1628, "table", 2048}, {1629, "field", 1024}, {er::kTooLongIndexComment, "index", 1024}};

}  // namespace

Result<std::string> comment_within(Commented what, std::string_view name, std::string_view comment,
                                   const Context& context) {
  const Limit& limit = kLimits[static_cast<size_t>(what)];
  if (character_count(comment) <= limit.most) return std::string(comment);
  const bool strict = is_strict(context);
  if (strict && context.executed_before) return std::string(comment);
  Error error =
      make_error(limit.code, "Comment for {} '{}' is too long (max = {})", limit.name, name, limit.most);
  if (strict) return error;
  context.diagnostics.warn(std::move(error));
  return std::string(character_prefix(comment, limit.most));
}

}  // namespace commitd::sql::ddl
