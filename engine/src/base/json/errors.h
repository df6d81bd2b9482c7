// MySQL's errors about JSON documents.
#pragma once

#include <string>
#include <string_view>

#include "base/error_codes.h"
#include "base/result.h"

namespace commitd::json {

inline Error too_deep() {
  return make_error(er::kJsonDocumentTooDeep, "The JSON document exceeds the maximum depth.");
}
inline Error too_big() {
  return make_error(er::kJsonValueTooBig, "The JSON value is too big to be stored in a JSON column.");
}
inline Error key_too_big() {
  return make_error(er::kJsonKeyTooBig, "The JSON object contains a key name that is too long.");
}
inline Error invalid_binary() {
  return make_error(er::kInvalidJsonBinaryData, "The JSON binary value contains invalid data.");
}
inline Error null_key() {
  return make_error(er::kJsonDocumentNullKey, "JSON documents may not contain NULL member names.");
}

}  // namespace commitd::json
