#include "sql/functions/functions.h"

#include <algorithm>
#include <array>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/strings/ascii.h>

#include "base/error_codes.h"
#include "sql/expression/bit_text.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/charset_conversion.h"
#include "sql/expression/conversion.h"
#include "sql/expression/json_value.h"
#include "sql/expression/number_texts.h"
#include "sql/expression/operators.h"
#include "sql/expression/times_and_dates.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

uint16_t collation_of(std::span<const ValueType> types) {
  std::optional<ValueType> strongest;
  for (const ValueType& type : types) {
    if (!type.is_string()) continue;
    if (!strongest)
      strongest = type;
    else if (const std::array both{*strongest, type}; true)
      strongest = common_type(both);
  }
  return strongest ? strongest->collation : uint16_t{45};
}

class FunctionCall : public Expression {
 public:
  FunctionCall(const FunctionSpec& spec, Expressions arguments)
      : spec_(spec), arguments_(std::move(arguments)) {
    std::vector<ValueType> types;
    for (const ExpressionPtr& argument : arguments_) {
      types.push_back(argument->type());
      sources |= argument->sources;
      has_aggregate |= argument->has_aggregate;
    }
    type_ = spec.type(types);
    if (spec.refine != nullptr) spec.refine(arguments_, type_);
    collation_ = collation_of(types);
    const auto numbers = number_functions();
    computes_ = &spec >= numbers.data() && &spec < numbers.data() + numbers.size();
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    absl::InlinedVector<Value, 4> values;
    Value argument_scratch;
    for (const ExpressionPtr& argument : arguments_) {
      values.push_back(argument->evaluate(evaluation, argument_scratch));
      if (!computes_) conform_digits(values.back(), argument->type());
      if (spec_.takes_booleans && argument->type().is_boolean && !values.back().is_null())
        values.back() = json_value(json_of(values.back(), argument->type()), evaluation);
      if (spec_.null_for_null && values.back().is_null()) {
        scratch = Value::null();
        return scratch;
      }
    }
    evaluation.collation = collation_;
    scratch = spec_.body(evaluation, {values.data(), values.size()});
    if (has_grown_too_long(scratch, {values.data(), values.size()}, evaluation))
      scratch = too_long(evaluation, spec_.name);
    conform(scratch, type_);
    return scratch;
  }

 private:
  static bool has_grown_too_long(const Value& result, std::span<const Value> arguments,
                                 Evaluation& evaluation) {
    constexpr size_t kAlwaysAllowed = 1024;
    if (result.kind() != Value::Kind::String || result.as_string().size() <= kAlwaysAllowed) return false;
    const size_t size = result.as_string().size();
    return size > max_allowed_packet(evaluation) &&
           std::all_of(arguments.begin(), arguments.end(), [size](const Value& argument) {
             return argument.kind() != Value::Kind::String || argument.as_string().size() < size;
           });
  }

  const FunctionSpec& spec_;
  Expressions arguments_;
  bool computes_ = false;
  uint16_t collation_ = 45;
};

absl::flat_hash_map<std::string_view, const FunctionSpec*> all_functions() {
  absl::flat_hash_map<std::string_view, const FunctionSpec*> all;
  for (const auto& group :
       {string_functions(), text_functions(), regexp_functions(), number_functions(), time_functions(),
        date_arithmetic_functions(), hash_functions(), session_functions(), json_creation_functions(),
        json_inspection_functions(), json_change_functions()}) {
    for (const FunctionSpec& spec : group) all[spec.name] = &spec;
  }
  return all;
}

}  // namespace

namespace {

// Texts among its arguments are taken for numbers. (GREATEST and LEAST compare texts as texts.)
bool of_numbers(const FunctionSpec& spec) {
  const auto numbers = number_functions();
  return &spec >= numbers.data() && &spec < numbers.data() + numbers.size() && spec.name != "GREATEST" &&
         spec.name != "LEAST" && spec.name != "CONV";
}

// How many of the first arguments are taken for texts, whatever they are.
size_t leading_texts(const FunctionSpec& spec) {
  static const absl::flat_hash_map<std::string_view, size_t> counts = {{"ASCII", 1},
                                                                       {"BIT_LENGTH", 1},
                                                                       {"CHARACTER_LENGTH", 1},
                                                                       {"CHAR_LENGTH", 1},
                                                                       {"CONCAT", SIZE_MAX},
                                                                       {"CONCAT_WS", SIZE_MAX},
                                                                       {"CRC32", 1},
                                                                       {"FIND_IN_SET", 2},
                                                                       {"INSERT", 1},
                                                                       {"INSTR", 2},
                                                                       {"LCASE", 1},
                                                                       {"LEFT", 1},
                                                                       {"LENGTH", 1},
                                                                       {"LOCATE", 2},
                                                                       {"LOWER", 1},
                                                                       {"LPAD", 1},
                                                                       {"LTRIM", 1},
                                                                       {"MD5", 1},
                                                                       {"OCTET_LENGTH", 1},
                                                                       {"ORD", 1},
                                                                       {"QUOTE", 1},
                                                                       {"REGEXP_INSTR", 2},
                                                                       {"REGEXP_LIKE", 2},
                                                                       {"REGEXP_REPLACE", 3},
                                                                       {"REGEXP_SUBSTR", 2},
                                                                       {"REPEAT", 1},
                                                                       {"REPLACE", 3},
                                                                       {"REVERSE", 1},
                                                                       {"RIGHT", 1},
                                                                       {"RPAD", 1},
                                                                       {"RTRIM", 1},
                                                                       {"SHA", 1},
                                                                       {"SHA1", 1},
                                                                       {"SHA2", 1},
                                                                       {"SOUNDEX", 1},
                                                                       {"STRCMP", 2},
                                                                       {"SUBSTRING", 1},
                                                                       {"SUBSTRING_INDEX", 2},
                                                                       {"TO_BASE64", 1},
                                                                       {"TRIM", 2},
                                                                       {"TRIM_LEADING", 2},
                                                                       {"TRIM_TRAILING", 2},
                                                                       {"UCASE", 1},
                                                                       {"UNHEX", 1},
                                                                       {"UPPER", 1}};
  const auto found = counts.find(spec.name);
  return found == counts.end() ? 0 : found->second;
}

// Which arguments of a function of texts are numbers: from the first of the two to in front of the second.
std::pair<size_t, size_t> numbers_among(const FunctionSpec& spec) {
  static const absl::flat_hash_map<std::string_view, std::pair<size_t, size_t>> places = {
      {"CHAR", {0, SIZE_MAX}}, {"ELT", {0, 1}},         {"INSERT", {1, 3}},         {"LEFT", {1, 2}},
      {"LOCATE", {2, 3}},      {"LPAD", {1, 2}},        {"REPEAT", {1, 2}},         {"RIGHT", {1, 2}},
      {"RPAD", {1, 2}},        {"SPACE", {0, 1}},       {"MAKE_SET", {0, 1}},       {"SUBSTRING", {1, 3}},
      {"FROM_DAYS", {0, 1}},   {"MAKEDATE", {0, 2}},    {"MAKETIME", {0, 3}},       {"PERIOD_ADD", {0, 2}},
      {"PERIOD_DIFF", {0, 2}}, {"SEC_TO_TIME", {0, 1}}, {"SUBSTRING_INDEX", {2, 3}}};
  const auto found = places.find(spec.name);
  return found == places.end() ? std::pair<size_t, size_t>(0, 0) : found->second;
}

// Which arguments have a date: a TIME is one of today there. From the first to in front of the second.
std::pair<size_t, size_t> dates_among(const FunctionSpec& spec) {
  static const absl::flat_hash_map<std::string_view, std::pair<size_t, size_t>> places = {
      {"CONVERT_TZ", {0, 1}}, {"DATE", {0, 1}},      {"DATEDIFF", {0, 2}},      {"DATE_FORMAT", {0, 1}},
      {"DAY", {0, 1}},        {"DAYNAME", {0, 1}},   {"DAYOFMONTH", {0, 1}},    {"DAYOFWEEK", {0, 1}},
      {"DAYOFYEAR", {0, 1}},  {"LAST_DAY", {0, 1}},  {"MONTH", {0, 1}},         {"MONTHNAME", {0, 1}},
      {"QUARTER", {0, 1}},    {"TIMESTAMP", {0, 1}}, {"TIMESTAMPDIFF", {1, 3}}, {"TO_DAYS", {0, 1}},
      {"TO_SECONDS", {0, 1}}, {"WEEK", {0, 1}},      {"WEEKDAY", {0, 1}},       {"WEEKOFYEAR", {0, 1}},
      {"YEAR", {0, 1}},       {"YEARWEEK", {0, 1}}};
  const auto found = places.find(spec.name);
  return found == places.end() ? std::pair<size_t, size_t>(0, 0) : found->second;
}

// MONTH('2001-00-05') is 0; what counts days needs the whole date.
ZeroParts zero_parts_of(const FunctionSpec& spec) {
  static const absl::flat_hash_set<std::string_view> take_them = {
      "DATE", "DATE_FORMAT", "DAY", "DAYOFMONTH", "MONTH", "MONTHNAME", "QUARTER", "TIMESTAMP", "YEAR"};
  return take_them.contains(spec.name) ? ZeroParts::AreTaken : ZeroParts::AreNone;
}

// EXTRACT of what only a date has.
bool is_part_of_date(const Expression& unit) {
  static const absl::flat_hash_set<std::string_view> units = {"YEAR", "QUARTER", "MONTH",
                                                              "WEEK", "DAY",     "YEAR_MONTH"};
  const auto* constant = dynamic_cast<const Constant*>(&unit);
  return constant != nullptr && units.contains(to_text(constant->value()));
}

// Of its first argument.
bool looks_at_bytes(const FunctionSpec& spec) {
  static const absl::flat_hash_set<std::string_view> names = {
      "ASCII",        "BIT_LENGTH", "CRC32", "HEX",  "LENGTH", "MD5",
      "OCTET_LENGTH", "ORD",        "SHA",   "SHA1", "SHA2",   "TO_BASE64"};
  return names.contains(spec.name);
}

}  // namespace

uint64_t max_allowed_packet(Evaluation& evaluation) {
  return evaluation.session().variables.number(kMaxAllowedPacket);
}

Value too_long(Evaluation& evaluation, std::string_view function) {
  std::string name(function);
  absl::AsciiStrToLower(&name);
  evaluation.session().diagnostics.warn(make_error(
      er::kWarnAllowedPacketOverflowed, "Result of {}() was larger than max_allowed_packet ({}) - truncated",
      name, max_allowed_packet(evaluation)));
  return Value::null();
}

const FunctionSpec* find_function(std::string_view upper_name) {
  static const auto functions = all_functions();
  const auto found = functions.find(upper_name);
  return found == functions.end() ? nullptr : found->second;
}

uint8_t second_digits(const Expression& argument) {
  constexpr size_t kMost = 6;
  const ValueType& type = argument.type();
  if (type.is_integer() || type.type == FieldType::Date || type.type == FieldType::Null) return 0;
  if (!type.is_string()) return std::min<uint8_t>(type.decimals, kMost);
  const auto* constant = dynamic_cast<const Constant*>(&argument);
  if (constant == nullptr) return kMost;
  const std::string text = to_text(constant->value());
  const size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  const size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  return static_cast<uint8_t>(std::min(end - point - 1, kMost));
}

void refine_second_digits(const Expressions& arguments, ValueType& type) {
  if (!type.is_temporal() || type.type == FieldType::Date) return;
  type.decimals = 0;
  for (const ExpressionPtr& argument : arguments)
    type.decimals = std::max(type.decimals, second_digits(*argument));
}

ExpressionPtr make_function(const FunctionSpec& spec, Expressions arguments) {
  if (of_numbers(spec)) {
    const size_t numbers = spec.name == "FORMAT" ? 2 : arguments.size();  // then a locale
    for (size_t i = 0; i < std::min(numbers, arguments.size()); ++i)
      arguments[i] = numeric_text(number_of_label(std::move(arguments[i])));
  }
  if (spec.name == "RAND" && arguments.size() == 1) return make_seeded_random(std::move(arguments[0]));
  if (spec.name == "FIELD") numbers_beside_numbers(arguments);
  if (spec.name == "GREATEST" || spec.name == "LEAST") numbers_beside_texts(arguments);
  // Of the type, not of the value: what is no text has the collation of bytes, and is not evaluated.
  const bool asks_for_collation = spec.name == "COLLATION" || spec.name == "CHARSET";
  if (asks_for_collation && !arguments[0]->type().is_string())
    arguments[0] = std::make_unique<Constant>(Value::string("", true));
  for (size_t i = 0; i < std::min(arguments.size(), leading_texts(spec)); ++i)
    arguments[i] = text_of_bits(std::move(arguments[i]));
  const auto [first, behind] = numbers_among(spec);
  for (size_t i = first; i < std::min(arguments.size(), behind); ++i)
    arguments[i] = number_behind_text(std::move(arguments[i]));
  const auto [first_date, behind_dates] = dates_among(spec);
  for (size_t i = first_date; i < std::min(arguments.size(), behind_dates); ++i)
    arguments[i] = date_wanted(std::move(arguments[i]), zero_parts_of(spec));
  if (spec.name == "EXTRACT" && is_part_of_date(*arguments[1]))
    arguments[0] = date_wanted(std::move(arguments[0]), ZeroParts::AreTaken);
  if (looks_at_bytes(spec)) arguments[0] = bytes_of_text(std::move(arguments[0]));
  return std::make_unique<FunctionCall>(spec, std::move(arguments));
}

}  // namespace commitd::sql
