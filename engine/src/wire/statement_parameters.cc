#include "wire/statement_parameters.h"

#include <bit>

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/error_codes.h"

namespace commitd::wire {

namespace {

Error malformed() {
  return make_error(er::kWrongArguments, "Incorrect arguments to mysqld_stmt_execute");
}

int64_t sign_extend(uint64_t bits, size_t width) {
  unsigned shift = static_cast<unsigned>(64 - 8 * width);
  return static_cast<int64_t>(bits << shift) >> shift;
}

Value integer(ByteReader& in, size_t width, bool is_unsigned) {
  uint64_t bits = in.le(width);
  return is_unsigned ? Value::unsigned_integer(bits) : Value::integer(sign_extend(bits, width));
}

Value datetime(ByteReader& in, Temporal::Kind kind) {
  Temporal value;
  value.kind = kind;
  uint8_t size = in.u8();
  if (size >= 4) {
    value.year = in.le16();
    value.month = in.u8();
    value.day = in.u8();
  }
  if (size >= 7) {
    value.hour = in.u8();
    value.minute = in.u8();
    value.second = in.u8();
  }
  if (size >= 11) value.microsecond = in.le32();
  if (value.microsecond != 0) value.decimals = 6;
  return Value::temporal(value);
}

Value time(ByteReader& in) {
  Temporal value;
  value.kind = Temporal::Kind::Time;
  uint8_t size = in.u8();
  if (size >= 8) {
    value.negative = in.u8() != 0;
    uint32_t days = in.le32();
    value.hour = days * 24 + in.u8();
    value.minute = in.u8();
    value.second = in.u8();
  }
  if (size >= 12) value.microsecond = in.le32();
  if (value.microsecond != 0) value.decimals = 6;
  return Value::temporal(value);
}

Value decimal(ByteReader& in) {
  std::string_view text = in.lenenc_string();
  auto parsed = parse_decimal(text);
  return parsed ? Value::decimal(*parsed) : Value::string(std::string(text));
}

Value decode_value(ByteReader& in, ParameterType type) {
  switch (type.type) {
    case FieldType::Null:
      return Value::null();
    case FieldType::Tiny:
      return integer(in, 1, type.is_unsigned);
    case FieldType::Short:
    case FieldType::Year:
      return integer(in, 2, type.is_unsigned);
    case FieldType::Long:
    case FieldType::Int24:
      return integer(in, 4, type.is_unsigned);
    case FieldType::LongLong:
      return integer(in, 8, type.is_unsigned);
    case FieldType::Float:
      return Value::real(std::bit_cast<float>(in.le32()));
    case FieldType::Double:
      return Value::real(std::bit_cast<double>(in.le64()));
    case FieldType::Date:
      return datetime(in, Temporal::Kind::Date);
    case FieldType::DateTime:
    case FieldType::Timestamp:
      return datetime(in, Temporal::Kind::DateTime);
    case FieldType::Time:
      return time(in);
    case FieldType::Decimal:
    case FieldType::NewDecimal:
      return decimal(in);
    default:
      return Value::string(std::string(in.lenenc_string()), is_blob(type.type));
  }
}

}  // namespace

void StatementParameters::add_long_data(uint16_t parameter, std::string_view piece, size_t max_size) {
  std::string& data = long_data_[parameter];
  if (data.size() + piece.size() > max_size || !memory_.add(piece.size())) {
    long_data_too_large_ = true;
    return;
  }
  data.append(piece);
}

void StatementParameters::reset_long_data() {
  long_data_.clear();
  long_data_too_large_ = false;
  memory_.clear();
}

Result<std::vector<Value>> StatementParameters::decode(std::string_view packet, size_t parameter_count) {
  std::vector<Value> values;
  if (parameter_count == 0) return values;
  if (long_data_too_large_) {
    reset_long_data();
    return make_error(
        er::kUnknownError,
        "Parameter of prepared statement which is set through mysql_send_long_data() is longer than "
        "'max_allowed_packet' bytes");
  }
  ByteReader in(packet);
  std::string_view nulls = in.bytes((parameter_count + 7) / 8);
  bool new_types = in.u8() == 1;
  if (!in.ok()) return malformed();
  if (new_types) {
    types_.assign(parameter_count, {});
    for (ParameterType& type : types_) {
      type.type = static_cast<FieldType>(in.u8());
      type.is_unsigned = (in.u8() & 0x80) != 0;
    }
  }
  if (!in.ok() || types_.size() != parameter_count) return malformed();
  values.reserve(parameter_count);
  for (size_t i = 0; i < parameter_count; ++i) {
    auto data = long_data_.find(static_cast<uint16_t>(i));
    bool null = (static_cast<uint8_t>(nulls[i / 8]) >> (i % 8)) & 1;
    if (data != long_data_.end()) {
      values.push_back(Value::string(data->second, is_blob(types_[i].type)));
    } else {
      values.push_back(null ? Value::null() : decode_value(in, types_[i]));
    }
  }
  if (!in.ok()) return malformed();
  reset_long_data();
  return values;
}

}  // namespace commitd::wire
