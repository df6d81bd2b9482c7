// SQL values as JSON and back.
#pragma once

#include "base/json/node.h"
#include "base/result.h"
#include "base/value.h"
#include "sql/expression/expression.h"

namespace commitd::sql {

// A document as it is; any other value as the JSON scalar of its kind: a text is a string, not parsed.
json::Node json_of(const Value& value);
// The same of an expression's value: TRUE, FALSE and the results of predicates are booleans.
json::Node json_of(const Value& value, const ValueType& type);
// Too large or too deep a document fails the evaluation.
Value json_value(const json::Node& node, Evaluation& evaluation);

// A document that is one scalar as the SQL value nearest to it; objects, arrays and null as 0.
Value scalar_of_json(const Value& value);

// A text as the document it spells. Errors as MySQL's CAST gives them: 3141, 3144 for bytes.
Result<Value> parse_json_argument(const Value& text, size_t argument, std::string_view function);

}  // namespace commitd::sql
