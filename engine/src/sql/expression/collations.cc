#include "sql/expression/collations.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "sql/expression/conversion.h"

namespace commitd::sql {
namespace {

using Strength = ValueType::Strength;

constexpr uint16_t kOfLiterals = 45;

// Of character sets: the characters of one are among those of all with a greater number.
int extent(Charset charset) {
  switch (charset) {
    case Charset::Ascii:
      return 0;
    case Charset::Latin1:
      return 1;
    case Charset::Utf8mb3:
      return 2;
    default:
      return 3;
  }
}

// Of two as strong ones; nullopt where neither may be preferred.
std::optional<uint16_t> preferred(uint16_t left, uint16_t right) {
  const Collation& l = collation_or_binary(left);
  const Collation& r = collation_or_binary(right);
  if (l.id == r.id) return l.id;
  if (l.order == Order::Bytes || r.order == Order::Bytes) return kBinaryCollation;
  if (l.charset != r.charset) return extent(l.charset) > extent(r.charset) ? l.id : r.id;
  if (l.order == Order::CodePoint) return l.id;
  if (r.order == Order::CodePoint) return r.id;
  return std::nullopt;
}

std::string_view name_of(Strength strength) {
  return strength == Strength::Explicit ? "EXPLICIT"
         : strength == Strength::Column ? "IMPLICIT"
                                        : "COERCIBLE";
}

}  // namespace

void CommonCollation::add(const ValueType& type) {
  if (!type.is_string()) return;
  if (!strongest_ || type.strength > strongest_->strength) {
    strongest_ = type;
    undecided_ = false;
    return;
  }
  if (type.strength < strongest_->strength) return;
  const auto one = type.strength == Strength::Explicit && type.collation != strongest_->collation
                       ? std::nullopt
                       : preferred(strongest_->collation, type.collation);
  if (one)
    strongest_->collation = *one;
  else
    undecided_ |= type.strength != Strength::Weak;
}

uint16_t CommonCollation::collation() const {
  return strongest_ ? strongest_->collation : kOfLiterals;
}

std::optional<Error> illegal_mix(std::span<const Expression* const> operands, std::string_view operation) {
  CommonCollation common;
  for (const Expression* operand : operands) common.add(*operand);
  if (!common.undecided()) return std::nullopt;
  std::string listed;
  for (const Expression* operand : operands) {
    const ValueType& type = operand->type();
    listed += fmt::format("{}({},{})", listed.empty() ? "" : ", ", collation_or_binary(type.collation).name,
                          name_of(type.strength));
  }
  constexpr size_t kMostListed = 3;
  if (operands.size() > kMostListed) listed.clear();
  if (operands.size() == 2) listed.replace(listed.find("), ("), 4, ") and (");
  if (!listed.empty()) listed += ' ';
  return make_error(er::kCantAggregateNcollations, "Illegal mix of collations {}for operation '{}'", listed,
                    operation);
}

uint16_t comparison_collation(const ValueType& left, const ValueType& right) {
  CommonCollation common;
  common.add(left);
  common.add(right);
  return common.collation();
}

}  // namespace commitd::sql
