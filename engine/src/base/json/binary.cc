#include "base/json/binary.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/error_codes.h"
#include "base/json/errors.h"
#include "base/temporal.h"

namespace commitd::json {
namespace {

enum class Type : uint8_t {
  SmallObject = 0,
  LargeObject = 1,
  SmallArray = 2,
  LargeArray = 3,
  Literal = 4,
  Int16 = 5,
  UInt16 = 6,
  Int32 = 7,
  UInt32 = 8,
  Int64 = 9,
  UInt64 = 10,
  Double = 11,
  String = 12,
  Opaque = 15,
};
enum Literal : uint8_t { kNull = 0, kTrue = 1, kFalse = 2 };

constexpr size_t kMaxKey = 0xFFFF;
constexpr size_t kKeyLengthBytes = 2;
constexpr size_t kMaxLengthBytes = 5;

constexpr size_t offset_width(bool large) {
  return large ? 4 : 2;
}
// Counts and offsets of a small container have two bytes, so it ends before this.
constexpr size_t size_limit(bool large) {
  return large ? 0xFFFFFFFF : 0xFFFF;
}

// As many digits as the number has, at least those behind the point.
std::string decimal_bytes(const Decimal& value) {
  uint8_t precision = std::max<uint8_t>(value.scale, 1);
  while (precision < kMaxDecimalPrecision && !fits(value, precision, value.scale)) ++precision;
  std::string bytes = {static_cast<char>(precision), static_cast<char>(value.scale)};
  append_decimal_binary(bytes, value, precision, value.scale);
  return bytes;
}

FieldType type_of_temporal(Temporal::Kind kind) {
  switch (kind) {
    case Temporal::Kind::Date:
      return FieldType::Date;
    case Temporal::Kind::Time:
      return FieldType::Time;
    default:
      return FieldType::DateTime;
  }
}

// --- writing ---

class Encoder {
 public:
  Status document(const Node& node) {
    out_.push_back('\0');
    auto type = value(node, 1);
    if (!type) return *error_;
    out_[0] = static_cast<char>(*type);
    return {};
  }
  std::string take() { return std::move(out_); }

 private:
  // What stands before a container's keys and values, and where in the output.
  struct Frame {
    size_t start;
    bool large;
    size_t depth;
    size_t entry;  // of the next value
  };

  std::nullopt_t fail(Error error) {
    error_ = std::move(error);
    return std::nullopt;
  }

  // Appends a value that stands behind its entry; nullopt with an error, or without when a small container
  // that it is part of would grow too large.
  std::optional<Type> value(const Node& node, size_t depth) {
    if (depth > kMaxDepth) return fail(too_deep());
    if (node.is_container()) return container(node, depth);
    return scalar(node);
  }

  // Small as long as everything fits, else large.
  std::optional<Type> container(const Node& node, size_t depth) {
    const size_t start = out_.size();
    const bool object = node.get<Object>() != nullptr;
    if (fill(node, {start, false, depth, 0})) return object ? Type::SmallObject : Type::SmallArray;
    if (error_) return std::nullopt;
    out_.resize(start);
    if (inside_small_) return std::nullopt;
    if (fill(node, {start, true, depth, 0})) return object ? Type::LargeObject : Type::LargeArray;
    return error_ ? std::nullopt : fail(too_big());
  }

  bool fill(const Node& node, Frame frame) {
    const bool outer_small = inside_small_;
    inside_small_ = !frame.large;
    const auto* object = node.get<Object>();
    const bool fits = object != nullptr ? fill_object(*object, frame) : fill_array(*node.get<Array>(), frame);
    inside_small_ = outer_small;
    if (!fits || out_.size() - frame.start > size_limit(frame.large)) return false;
    store_le(out_.data() + frame.start + offset_width(frame.large), out_.size() - frame.start,
             offset_width(frame.large));
    return true;
  }

  bool header(Frame& frame, size_t count, size_t key_entries) {
    const size_t width = offset_width(frame.large);
    if (count > size_limit(frame.large)) return false;
    const size_t size = 2 * width + key_entries * (width + kKeyLengthBytes) + count * (1 + width);
    if (size > size_limit(frame.large)) return false;
    out_.resize(frame.start + size);
    store_le(out_.data() + frame.start, count, width);
    frame.entry = frame.start + size - count * (1 + width);
    return true;
  }

  bool fill_array(const Array& array, Frame frame) {
    if (!header(frame, array.size(), 0)) return false;
    for (const Node& element : array) {
      if (!entry(element, frame)) return false;
    }
    return true;
  }

  bool fill_object(const Object& object, Frame frame) {
    if (!header(frame, object.size(), object.size())) return false;
    const size_t width = offset_width(frame.large);
    size_t key_entry = frame.start + 2 * width;
    for (const auto& [key, member] : object) {
      if (key.size() > kMaxKey) {
        fail(key_too_big());
        return false;
      }
      const size_t offset = out_.size() - frame.start;
      if (offset > size_limit(frame.large)) return false;
      store_le(out_.data() + key_entry, offset, width);
      store_le(out_.data() + key_entry + width, key.size(), kKeyLengthBytes);
      key_entry += width + kKeyLengthBytes;
      out_ += key;
    }
    for (const auto& [key, member] : object) {
      if (!entry(member, frame)) return false;
    }
    return true;
  }

  // A value in its container: within the entry where it is small enough, else its place.
  bool entry(const Node& node, Frame& frame) {
    const size_t width = offset_width(frame.large);
    const size_t at = frame.entry;
    frame.entry += 1 + width;
    const size_t end = out_.size();
    if (end - frame.start > size_limit(frame.large)) return false;
    const auto type = value(node, frame.depth + 1);
    if (!type) return false;
    out_[at] = static_cast<char>(*type);
    if (is_inlined(*type, frame.large)) {
      std::string inlined = out_.substr(end);
      const uint8_t extension = is_negative(*type, inlined) ? 0xFF : 0;
      inlined.resize(width, static_cast<char>(extension));
      out_.resize(end);
      out_.replace(at + 1, width, inlined);
    } else {
      store_le(out_.data() + at + 1, end - frame.start, width);
    }
    return true;
  }

  static bool is_inlined(Type type, bool large) {
    return type == Type::Literal || type == Type::Int16 || type == Type::UInt16 ||
           (large && (type == Type::Int32 || type == Type::UInt32));
  }
  static bool is_negative(Type type, std::string_view bytes) {
    return (type == Type::Int16 || type == Type::Int32) && (static_cast<uint8_t>(bytes.back()) & 0x80) != 0;
  }

  Type scalar(const Node& node) {
    ByteWriter to(out_);
    if (const auto* i = node.get<int64_t>()) return signed_number(*i);
    if (const auto* u = node.get<uint64_t>()) return unsigned_number(*u);
    if (const auto* d = node.get<double>()) {
      to.le64(std::bit_cast<uint64_t>(*d));
      return Type::Double;
    }
    if (const auto* text = node.get<std::string>()) {
      sized(*text);
      return Type::String;
    }
    if (const auto* d = node.get<Decimal>()) return opaque(FieldType::NewDecimal, decimal_bytes(*d));
    if (const auto* o = node.get<Opaque>()) return opaque(o->type, o->bytes);
    if (const auto* t = node.get<Temporal>()) {
      std::string packed(8, '\0');
      store_le64(packed.data(), static_cast<uint64_t>(pack(*t)));
      return opaque(type_of_temporal(t->kind), packed);
    }
    const auto* flag = node.get<bool>();
    to.u8(flag == nullptr ? kNull : *flag ? kTrue : kFalse);
    return Type::Literal;
  }

  Type signed_number(int64_t number) {
    const Type type = number == static_cast<int16_t>(number)   ? Type::Int16
                      : number == static_cast<int32_t>(number) ? Type::Int32
                                                               : Type::Int64;
    ByteWriter(out_).le(static_cast<uint64_t>(number), type == Type::Int16 ? 2 : type == Type::Int32 ? 4 : 8);
    return type;
  }
  Type unsigned_number(uint64_t number) {
    const Type type = number <= UINT16_MAX   ? Type::UInt16
                      : number <= UINT32_MAX ? Type::UInt32
                                             : Type::UInt64;
    ByteWriter(out_).le(number, type == Type::UInt16 ? 2 : type == Type::UInt32 ? 4 : 8);
    return type;
  }

  Type opaque(FieldType type, std::string_view bytes) {
    out_.push_back(static_cast<char>(type));
    sized(bytes);
    return Type::Opaque;
  }
  // Seven bits of the length a byte, the highest bit where more follow.
  void sized(std::string_view bytes) {
    size_t rest = bytes.size();
    for (; rest > 0x7F; rest >>= 7) out_.push_back(static_cast<char>((rest & 0x7F) | 0x80));
    out_.push_back(static_cast<char>(rest));
    out_ += bytes;
  }

  std::string out_;
  bool inside_small_ = false;
  std::optional<Error> error_;
};

// --- reading ---

// Makes the document, or with `node` == nullptr checks it only. Every entry and every byte of a text is paid
// for from a budget of the size of the whole: values that overlap, which would multiply what is read, run out
// of it.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : budget_(bytes.size()) {}

  bool value(Type type, std::string_view bytes, size_t depth, Node* node) {
    if (depth > kMaxDepth) return false;
    switch (type) {
      case Type::SmallObject:
      case Type::LargeObject:
        return object(bytes, type == Type::LargeObject, depth, node);
      case Type::SmallArray:
      case Type::LargeArray:
        return array(bytes, type == Type::LargeArray, depth, node);
      case Type::String:
        return string(bytes, node);
      case Type::Opaque:
        return opaque(bytes, node);
      case Type::Literal:
        return literal(bytes, node);
      default:
        return number(type, bytes, node);
    }
  }

  bool pay(size_t bytes) {
    if (bytes > budget_) return false;
    budget_ -= bytes;
    return true;
  }

 private:
  struct Header {
    size_t count = 0;
    std::string_view bytes;  // all of the container
  };

  static std::optional<Header> header(std::string_view bytes, bool large, bool has_keys) {
    const size_t width = offset_width(large);
    ByteReader in(bytes);
    const size_t count = in.le(width), size = in.le(width);
    const size_t entry = 1 + width + (has_keys ? width + kKeyLengthBytes : 0);
    if (!in.ok() || size > bytes.size() || size < 2 * width || count > (size - 2 * width) / entry)
      return std::nullopt;
    return Header{count, bytes.substr(0, size)};
  }

  bool array(std::string_view bytes, bool large, size_t depth, Node* node) {
    const auto head = header(bytes, large, false);
    if (!head) return false;
    Array elements;
    if (node != nullptr) elements.reserve(head->count);
    for (size_t i = 0; i < head->count; ++i) {
      const size_t at = 2 * offset_width(large) + i * (1 + offset_width(large));
      Node* element = node == nullptr ? nullptr : &elements.emplace_back();
      if (!entry(*head, at, large, depth, element)) return false;
    }
    if (node != nullptr) *node = Node(std::move(elements));
    return true;
  }

  bool object(std::string_view bytes, bool large, size_t depth, Node* node) {
    const auto head = header(bytes, large, true);
    if (!head) return false;
    const size_t width = offset_width(large);
    const size_t values = 2 * width + head->count * (width + kKeyLengthBytes);
    Object members;
    for (size_t i = 0; i < head->count; ++i) {
      const auto key = key_at(*head, i, width);
      if (!key) return false;
      Node* member = node == nullptr ? nullptr : &members[std::string(*key)];
      if (!entry(*head, values + i * (1 + width), large, depth, member)) return false;
    }
    if (node != nullptr) *node = Node(std::move(members));
    return true;
  }

  std::optional<std::string_view> key_at(const Header& head, size_t number, size_t width) {
    ByteReader in(head.bytes.substr(2 * width + number * (width + kKeyLengthBytes)));
    const size_t offset = in.le(width), size = in.le16();
    if (offset > head.bytes.size() || size > head.bytes.size() - offset || !pay(size)) return std::nullopt;
    return head.bytes.substr(offset, size);
  }

  bool entry(const Header& head, size_t at, bool large, size_t depth, Node* node) {
    const size_t width = offset_width(large);
    const auto type = static_cast<Type>(head.bytes[at]);
    if (!pay(1)) return false;
    const bool inlined = type == Type::Literal || type == Type::Int16 || type == Type::UInt16 ||
                         (large && (type == Type::Int32 || type == Type::UInt32));
    if (inlined) return value(type, head.bytes.substr(at + 1, width), depth + 1, node);
    const size_t offset = load_le(head.bytes.data() + at + 1, width);
    if (offset > head.bytes.size()) return false;
    return value(type, head.bytes.substr(offset), depth + 1, node);
  }

  static bool literal(std::string_view bytes, Node* node) {
    if (bytes.empty() || static_cast<uint8_t>(bytes[0]) > kFalse) return false;
    if (node != nullptr) *node = bytes[0] == kNull ? Node() : Node(bytes[0] == kTrue);
    return true;
  }

  static bool number(Type type, std::string_view bytes, Node* node) {
    ByteReader in(bytes);
    Node read;
    switch (type) {
      case Type::Int16:
        read = Node(static_cast<int64_t>(static_cast<int16_t>(in.le16())));
        break;
      case Type::UInt16:
        read = Node(uint64_t{in.le16()});
        break;
      case Type::Int32:
        read = Node(static_cast<int64_t>(static_cast<int32_t>(in.le32())));
        break;
      case Type::UInt32:
        read = Node(uint64_t{in.le32()});
        break;
      case Type::Int64:
        read = Node(static_cast<int64_t>(in.le64()));
        break;
      case Type::UInt64:
        read = Node(in.le64());
        break;
      case Type::Double:
        read = Node(std::bit_cast<double>(in.le64()));
        break;
      default:
        return false;
    }
    if (in.ok() && node != nullptr) *node = std::move(read);
    return in.ok();
  }

  std::optional<std::string_view> sized(std::string_view bytes) {
    size_t size = 0;
    for (size_t i = 0; i < kMaxLengthBytes && i < bytes.size(); ++i) {
      size |= (static_cast<size_t>(static_cast<uint8_t>(bytes[i])) & 0x7F) << (7 * i);
      if ((static_cast<uint8_t>(bytes[i]) & 0x80) != 0) continue;
      if (size > bytes.size() - i - 1 || !pay(size)) return std::nullopt;
      return bytes.substr(i + 1, size);
    }
    return std::nullopt;
  }

  bool string(std::string_view bytes, Node* node) {
    const auto text = sized(bytes);
    if (text && node != nullptr) *node = Node(std::string(*text));
    return text.has_value();
  }

  bool opaque(std::string_view bytes, Node* node) {
    if (bytes.empty()) return false;
    const auto type = static_cast<FieldType>(bytes[0]);
    const auto content = sized(bytes.substr(1));
    if (!content) return false;
    switch (type) {
      case FieldType::NewDecimal:
        return decimal(*content, node);
      case FieldType::Date:
      case FieldType::Time:
      case FieldType::DateTime:
      case FieldType::Timestamp:
        return temporal(type, *content, node);
      default:
        if (node != nullptr) *node = Node(Opaque{type, std::string(*content)});
        return true;
    }
  }

  static bool decimal(std::string_view bytes, Node* node) {
    if (bytes.size() < 2) return false;
    const auto precision = static_cast<uint8_t>(bytes[0]), scale = static_cast<uint8_t>(bytes[1]);
    if (precision == 0 || precision > kMaxDecimalPrecision || scale > precision || scale > kMaxDecimalScale ||
        bytes.size() - 2 < decimal_binary_size(precision, scale))
      return false;
    if (node != nullptr) *node = Node(load_decimal_binary(bytes.data() + 2, precision, scale));
    return true;
  }

  static bool temporal(FieldType type, std::string_view bytes, Node* node) {
    if (bytes.size() != sizeof(int64_t)) return false;
    const auto kind = type == FieldType::Date   ? Temporal::Kind::Date
                      : type == FieldType::Time ? Temporal::Kind::Time
                                                : Temporal::Kind::DateTime;
    if (node != nullptr) *node = Node(unpack(static_cast<int64_t>(load_le64(bytes.data())), kind, 6));
    return true;
  }

  size_t budget_;
};

bool read(std::string_view bytes, Node* node) {
  if (bytes.empty()) {  // MySQL's implicit value of a column that is NOT NULL
    if (node != nullptr) *node = Node();
    return true;
  }
  return Decoder(bytes).value(static_cast<Type>(bytes[0]), bytes.substr(1), 1, node);
}

}  // namespace

Result<std::string> encode(const Node& document) {
  Encoder encoder;
  COMMITD_RETURN_IF_ERROR(encoder.document(document));
  return encoder.take();
}

Result<Node> decode(std::string_view bytes) {
  Node node;
  if (!read(bytes, &node)) return invalid_binary();
  return node;
}

bool is_valid(std::string_view bytes) {
  return read(bytes, nullptr);
}

}  // namespace commitd::json
