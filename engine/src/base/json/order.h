// MySQL's order of JSON values, and the bytes that equal ones have in common.
#pragma once

#include <compare>
#include <string>

#include "base/json/node.h"

namespace commitd::json {

// By kind first (NULL, numbers, strings, objects, arrays, booleans, dates, times, date-times, bytes), then by
// value; numbers of all kinds by what they are worth.
std::strong_ordering compare(const Node& left, const Node& right);
// Appends bytes that are equal exactly when compare() says equal.
void append_key(std::string& key, const Node& node);

}  // namespace commitd::json
