#include <bit>
#include <cmath>
#include <cstdlib>

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/temporal.h"
#include "wire/result_writer.h"

namespace commitd::wire {

namespace {

// A value may be of another kind than its column says (an expression's integer in a DOUBLE column); the
// column's type decides the form.
uint64_t integer_bits(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Int:
      return static_cast<uint64_t>(value.as_int());
    case Value::Kind::UInt:
      return value.as_uint();
    case Value::Kind::Double:
      return static_cast<uint64_t>(std::llrint(value.as_double()));
    default:
      return static_cast<uint64_t>(std::strtoll(value.to_text().c_str(), nullptr, 10));
  }
}

double real_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Int:
      return static_cast<double>(value.as_int());
    case Value::Kind::UInt:
      return static_cast<double>(value.as_uint());
    case Value::Kind::Double:
      return value.as_double();
    case Value::Kind::Decimal:
      return to_double(value.as_decimal());
    default:
      return std::strtod(value.to_text().c_str(), nullptr);
  }
}

Temporal temporal_of(const Value& value, bool time) {
  if (value.kind() == Value::Kind::Temporal) return value.as_temporal();
  std::string text = value.to_text();
  return (time ? parse_time(text) : parse_datetime(text)).value_or(Temporal{});
}

// The shortest of MySQL's forms: 0 bytes for zero, 4 a date, 7 with a time, 11 with microseconds.
void append_datetime(ByteWriter& out, const Temporal& value) {
  bool time = value.hour || value.minute || value.second || value.microsecond;
  bool date = value.year || value.month || value.day;
  uint8_t size = static_cast<uint8_t>(value.microsecond ? 11 : time ? 7 : date ? 4 : 0);
  out.u8(size);
  if (size == 0) return;
  out.le16(value.year);
  out.u8(value.month);
  out.u8(value.day);
  if (size == 4) return;
  out.u8(static_cast<uint8_t>(value.hour));
  out.u8(value.minute);
  out.u8(value.second);
  if (size == 11) out.le32(value.microsecond);
}

void append_time(ByteWriter& out, const Temporal& value) {
  bool any = value.hour || value.minute || value.second || value.microsecond;
  uint8_t size = static_cast<uint8_t>(value.microsecond ? 12 : any ? 8 : 0);
  out.u8(size);
  if (size == 0) return;
  out.u8(value.negative);
  out.le32(value.hour / 24);
  out.u8(static_cast<uint8_t>(value.hour % 24));
  out.u8(value.minute);
  out.u8(value.second);
  if (size == 12) out.le32(value.microsecond);
}

void append_string(ByteWriter& out, const Value& value) {
  if (value.kind() == Value::Kind::String) return out.lenenc_string(value.as_string());
  out.lenenc_string(value.to_text());
}

void append_cell(ByteWriter& out, const Value& value, FieldType type, uint32_t length) {
  switch (type) {
    case FieldType::Tiny:
      return out.le(integer_bits(value), 1);
    case FieldType::Short:
    case FieldType::Year:
      return out.le(integer_bits(value), 2);
    case FieldType::Long:
    case FieldType::Int24:
      return out.le(integer_bits(value), 4);
    case FieldType::LongLong:
      return out.le(integer_bits(value), 8);
    case FieldType::Float:
      return out.le32(std::bit_cast<uint32_t>(static_cast<float>(real_of(value))));
    case FieldType::Double:
      return out.le64(std::bit_cast<uint64_t>(real_of(value)));
    case FieldType::Date:
    case FieldType::DateTime:
    case FieldType::Timestamp:
      return append_datetime(out, temporal_of(value, false));
    case FieldType::Time:
      return append_time(out, temporal_of(value, true));
    case FieldType::Bit:
      return out.lenenc_string(bit_bytes(value, length));
    default:
      return append_string(out, value);
  }
}

}  // namespace

void BinaryResultWriter::row(std::span<const Value> values) {
  constexpr size_t kFirstNullBit = 2;
  std::string& packet = channel_.begin_packet();
  ByteWriter out(packet);
  const size_t nulls = packet.size() + 1;
  out.zeros(1 + (values.size() + 7 + kFirstNullBit) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_null()) {
      append_cell(out, values[i], forms_[i].type, forms_[i].length);
      continue;
    }
    size_t bit = i + kFirstNullBit;
    char& byte = packet[nulls + bit / 8];
    byte = static_cast<char>(byte | (1 << (bit % 8)));
  }
  channel_.end_packet();
}

}  // namespace commitd::wire
