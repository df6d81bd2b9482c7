// Integers and strings in byte buffers, as the protocol and the binlog write them: fixed-width little and big
// endian, and MySQL's length-encoded integers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace commitd {

static_assert(std::endian::native == std::endian::little, "loads and stores assume a little-endian machine");

// `width` bytes, 1 to 8.
inline uint64_t load_le(const void* from, size_t width) {
  uint64_t value = 0;
  std::memcpy(&value, from, width);
  return value;
}
inline void store_le(void* to, uint64_t value, size_t width) {
  std::memcpy(to, &value, width);
}

inline uint64_t load_be(const void* from, size_t width) {
  return width == 0 ? 0 : __builtin_bswap64(load_le(from, width)) >> (64 - 8 * width);
}
inline void store_be(void* to, uint64_t value, size_t width) {
  if (width != 0) store_le(to, __builtin_bswap64(value << (64 - 8 * width)), width);
}

inline uint16_t load_le16(const void* from) {
  return static_cast<uint16_t>(load_le(from, 2));
}
inline uint32_t load_le24(const void* from) {
  return static_cast<uint32_t>(load_le(from, 3));
}
inline uint32_t load_le32(const void* from) {
  return static_cast<uint32_t>(load_le(from, 4));
}
inline uint64_t load_le48(const void* from) {
  return load_le(from, 6);
}
inline uint64_t load_le64(const void* from) {
  return load_le(from, 8);
}
inline uint16_t load_be16(const void* from) {
  return static_cast<uint16_t>(load_be(from, 2));
}
inline uint32_t load_be32(const void* from) {
  return static_cast<uint32_t>(load_be(from, 4));
}
inline uint64_t load_be64(const void* from) {
  return load_be(from, 8);
}

inline void store_le16(void* to, uint16_t value) {
  store_le(to, value, 2);
}
inline void store_le24(void* to, uint32_t value) {
  store_le(to, value, 3);
}
inline void store_le32(void* to, uint32_t value) {
  store_le(to, value, 4);
}
inline void store_le48(void* to, uint64_t value) {
  store_le(to, value, 6);
}
inline void store_le64(void* to, uint64_t value) {
  store_le(to, value, 8);
}
inline void store_be16(void* to, uint16_t value) {
  store_be(to, value, 2);
}
inline void store_be32(void* to, uint32_t value) {
  store_be(to, value, 4);
}
inline void store_be64(void* to, uint64_t value) {
  store_be(to, value, 8);
}

// Reads from front to back. A read beyond the end gives zero or an empty string and makes ok() false for
// good, so that a decoder may check once at its end (or before it uses a length to allocate).
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return rest_.size(); }
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  uint8_t u8() { return static_cast<uint8_t>(le(1)); }
  uint16_t le16() { return static_cast<uint16_t>(le(2)); }
  uint32_t le24() { return static_cast<uint32_t>(le(3)); }
  uint32_t le32() { return static_cast<uint32_t>(le(4)); }
  uint64_t le48() { return le(6); }
  uint64_t le64() { return le(8); }
  uint64_t le(size_t width) {
    std::string_view taken = bytes(width);
    return ok_ ? load_le(taken.data(), width) : 0;
  }
  uint64_t be(size_t width) {
    std::string_view taken = bytes(width);
    return ok_ ? load_be(taken.data(), width) : 0;
  }

  std::string_view bytes(size_t count) {
    if (!ok_ || count > rest_.size()) return fail();
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  void skip(size_t count) { bytes(count); }
  std::string_view take_rest() { return bytes(rest_.size()); }

  // Up to the next zero byte, which is skipped.
  std::string_view nul_string() {
    size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return fail();
    std::string_view text = bytes(end);
    skip(1);
    return text;
  }

  uint64_t lenenc() {
    uint8_t first = u8();
    switch (first) {
      case 0xfb:
        fail();
        return 0;  // NULL stands only where the caller looked for it with at_null()
      case 0xfc:
        return le(2);
      case 0xfd:
        return le(3);
      case 0xfe:
        return le(8);
      case 0xff:
        fail();
        return 0;
      default:
        return first;
    }
  }
  bool at_null() const { return !rest_.empty() && static_cast<uint8_t>(rest_.front()) == 0xfb; }
  std::string_view lenenc_string() {
    uint64_t size = lenenc();
    return bytes(size);
  }

 private:
  std::string_view fail() {
    ok_ = false;
    rest_ = {};
    return {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

// Appends to a string that stays the caller's.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void u8(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void le16(uint16_t value) { le(value, 2); }
  void le24(uint32_t value) { le(value, 3); }
  void le32(uint32_t value) { le(value, 4); }
  void le48(uint64_t value) { le(value, 6); }
  void le64(uint64_t value) { le(value, 8); }
  void le(uint64_t value, size_t width) {
    char bytes[8];
    store_le(bytes, value, width);
    out_.append(bytes, width);
  }
  void be(uint64_t value, size_t width) {
    char bytes[8];
    store_be(bytes, value, width);
    out_.append(bytes, width);
  }
  void bytes(std::string_view text) { out_.append(text); }
  void zeros(size_t count) { out_.append(count, '\0'); }
  void nul_string(std::string_view text) {
    out_.append(text);
    out_.push_back('\0');
  }

  void lenenc(uint64_t value) {
    if (value < 0xfb) {
      u8(static_cast<uint8_t>(value));
    } else if (value <= 0xffff) {
      u8(0xfc);
      le(value, 2);
    } else if (value <= 0xffffff) {
      u8(0xfd);
      le(value, 3);
    } else {
      u8(0xfe);
      le(value, 8);
    }
  }
  void lenenc_string(std::string_view text) {
    lenenc(text.size());
    out_.append(text);
  }

  size_t size() const { return out_.size(); }
  std::string& buffer() { return out_; }

 private:
  std::string& out_;
};

}  // namespace commitd
