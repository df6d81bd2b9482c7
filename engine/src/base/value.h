// One SQL value with its MySQL type class. What a table column, an expression and a result field hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/field_type.h"

namespace commitd {

struct Decimal {
  __int128 unscaled = 0;  // value = unscaled / 10^scale; up to 38 digits
  uint8_t scale = 0;

  std::string to_string() const;
};

// Broken-down temporal value; packed into an integer that orders like the value (see pack/unpack in
// temporal.h).
struct Temporal {
  enum class Kind : uint8_t { Date, DateTime, Time };
  Kind kind = Kind::DateTime;
  bool negative = false;  // Time only
  uint16_t year = 0;
  uint8_t month = 0, day = 0;
  uint32_t hour = 0;  // up to 838 for Time
  uint8_t minute = 0, second = 0;
  uint32_t microsecond = 0;
  uint8_t decimals = 0;  // fractional digits to print
};

class Value {
 public:
  enum class Kind : uint8_t { Null, Int, UInt, Double, Decimal, String, Temporal, Json };

  Value() = default;
  static Value null() { return {}; }
  static Value integer(int64_t v) {
    Value r;
    r.kind_ = Kind::Int;
    r.number_.i = v;
    return r;
  }
  static Value unsigned_integer(uint64_t v) {
    Value r;
    r.kind_ = Kind::UInt;
    r.number_.u = v;
    return r;
  }
  static Value real(double v) {
    Value r;
    r.kind_ = Kind::Double;
    r.number_.d = v;
    return r;
  }
  // A FLOAT: computes like a double, prints with six digits.
  static Value real_single(float v) {
    Value r = real(v);
    r.single_ = true;
    return r;
  }
  static Value decimal(Decimal v) {
    Value r;
    r.kind_ = Kind::Decimal;
    r.number_.dec = v;
    return r;
  }
  static Value temporal(Temporal v) {
    Value r;
    r.kind_ = Kind::Temporal;
    r.number_.t = v;
    return r;
  }
  // `binary`: bytes without a character set (collation 63).
  static Value string(std::string v, bool binary = false) {
    Value r;
    r.kind_ = Kind::String;
    r.text_ = std::move(v);
    r.binary_ = binary;
    return r;
  }
  // A document in MySQL's binary form (base/json/binary.h).
  static Value json(std::string binary) {
    Value r;
    r.kind_ = Kind::Json;
    r.text_ = std::move(binary);
    return r;
  }

  // The same in place: what a row's value has of memory for its text stays, for the next row.
  void set_null() { become(Kind::Null); }
  void set_integer(int64_t v) {
    become(Kind::Int);
    number_.i = v;
  }
  void set_unsigned(uint64_t v) {
    become(Kind::UInt);
    number_.u = v;
  }
  void set_string(std::string_view v, bool binary = false) {
    become(Kind::String);
    text_.assign(v);
    binary_ = binary;
  }

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::Null; }
  bool is_binary() const { return binary_; }
  bool is_single() const { return single_; }
  int64_t as_int() const { return number_.i; }
  uint64_t as_uint() const { return number_.u; }
  double as_double() const { return number_.d; }
  const Decimal& as_decimal() const { return number_.dec; }
  const Temporal& as_temporal() const { return number_.t; }
  const std::string& as_string() const { return text_; }
  const std::string& as_json() const { return text_; }

  // MySQL's text form ("NULL" for null); what the text protocol sends.
  std::string to_text() const;

 private:
  void become(Kind kind) {
    kind_ = kind;
    binary_ = single_ = false;
    text_.clear();
  }

  Kind kind_ = Kind::Null;
  bool binary_ = false;
  bool single_ = false;
  union Number {
    int64_t i;
    uint64_t u;
    double d;
    Decimal dec;
    Temporal t;
    Number() : i(0) {}
  } number_;
  std::string text_;
};

}  // namespace commitd
