#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "base/bytes.h"
#include "wire/protocol.h"
#include "wire/result_writer.h"

namespace commitd::wire {

namespace {

template <class Integer>
void append_integer(ByteWriter& out, Integer value) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out.lenenc_string({digits, static_cast<size_t>(end - digits)});
}

// MySQL prints a FLOAT with the six digits that are sure, not with those its nearest double happens to have.
std::string float_text(double value) {
  char rounded[32];
  auto end = fmt::format_to_n(rounded, sizeof(rounded) - 1, "{:.6g}", value).out;
  *end = '\0';
  return Value::real(std::strtod(rounded, nullptr)).to_text();
}

void append_unsigned(ByteWriter& out, const Value& value, FieldType type, uint32_t length) {
  if (type == FieldType::Bit) return out.lenenc_string(bit_bytes(value, length));
  if (type == FieldType::Year) return out.lenenc_string(fmt::format("{:04}", value.as_uint()));
  append_integer(out, value.as_uint());
}

// A number of digits behind the point is announced for some results only (PI(), DOUBLE(8,2)).
std::string double_text(const Value& value, FieldType type, uint8_t decimals) {
  constexpr uint8_t kAsManyAsNeeded = 31;
  const bool real = type == FieldType::Double || type == FieldType::Float;
  if (real && decimals < kAsManyAsNeeded) return fmt::format("{:.{}f}", value.as_double(), decimals);
  return type == FieldType::Float ? float_text(value.as_double()) : value.to_text();
}

void append_cell(ByteWriter& out, const Value& value, FieldType type, uint32_t length, uint8_t decimals) {
  switch (value.kind()) {
    case Value::Kind::Null:
      return out.u8(kNullCell);
    case Value::Kind::Int:
      return append_integer(out, value.as_int());
    case Value::Kind::UInt:
      return append_unsigned(out, value, type, length);
    case Value::Kind::String:
      return out.lenenc_string(value.as_string());
    case Value::Kind::Double:
      return out.lenenc_string(double_text(value, type, decimals));
    case Value::Kind::Decimal:
    case Value::Kind::Temporal:
    case Value::Kind::Json:
      return out.lenenc_string(value.to_text());
  }
}

}  // namespace

void TextResultWriter::row(std::span<const Value> values) {
  ByteWriter out(channel_.begin_packet());
  for (size_t i = 0; i < values.size(); ++i)
    append_cell(out, values[i], forms_[i].type, forms_[i].length, forms_[i].decimals);
  channel_.end_packet();
}

}  // namespace commitd::wire
