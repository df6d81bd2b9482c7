#include "sql/expression/json_value.h"

#include "base/json/binary.h"
#include "base/json/errors.h"
#include "base/json/text.h"
#include "sql/expression/conversion.h"

namespace commitd::sql {
namespace {

Value text_or_number(const json::Node& node) {
  if (const auto* flag = node.get<bool>()) return Value::integer(*flag);
  if (const auto* i = node.get<int64_t>()) return Value::integer(*i);
  if (const auto* u = node.get<uint64_t>()) return Value::unsigned_integer(*u);
  if (const auto* d = node.get<double>()) return Value::real(*d);
  if (const auto* d = node.get<Decimal>()) return Value::decimal(*d);
  if (const auto* t = node.get<Temporal>()) return Value::temporal(*t);
  if (const auto* text = node.get<std::string>()) return Value::string(*text);
  if (const auto* opaque = node.get<json::Opaque>()) return Value::string(opaque->bytes, true);
  return Value::integer(0);
}

}  // namespace

json::Node json_of(const Value& value) {
  using Kind = Value::Kind;
  switch (value.kind()) {
    case Kind::Null:
      return json::Node();
    case Kind::Int:
      return json::Node(value.as_int());
    case Kind::UInt:
      return json::Node(value.as_uint());
    case Kind::Double:
      return json::Node(value.as_double());
    case Kind::Decimal:
      return json::Node(value.as_decimal());
    case Kind::String:
      return value.is_binary() ? json::Node(json::Opaque{FieldType::VarString, value.as_string()})
                               : json::Node(value.as_string());
    case Kind::Temporal:
      return json::Node(value.as_temporal());
    case Kind::Json:
      break;
  }
  auto document = json::decode(value.as_json());
  return document.ok() ? *std::move(document) : json::Node();  // none is damaged: see json::text_of
}

json::Node json_of(const Value& value, const ValueType& type) {
  if (type.is_boolean && value.kind() == Value::Kind::Int) return json::Node(value.as_int() != 0);
  return json_of(value);
}

Value json_value(const json::Node& node, Evaluation& evaluation) {
  auto binary = json::encode(node);
  if (binary.ok()) return Value::json(*std::move(binary));
  evaluation.fail(std::move(binary).error());
  return Value::null();
}

Value scalar_of_json(const Value& value) {
  return text_or_number(json_of(value));
}

Result<Value> parse_json_argument(const Value& text, size_t argument, std::string_view function) {
  if (text.is_binary())
    return make_error(er::kInvalidJsonCharset,
                      "Cannot create a JSON value from a string with CHARACTER SET 'binary'.");
  json::TextProblem problem;
  const auto node = json::parse(text.as_string(), &problem);
  if (!node) return problem.in_argument(argument, function);
  auto binary = json::encode(*node);
  if (!binary.ok()) return std::move(binary).error();
  return Value::json(*std::move(binary));
}

}  // namespace commitd::sql
