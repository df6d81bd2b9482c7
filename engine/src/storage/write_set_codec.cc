#include "storage/write_set_codec.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/packed_int.h"

namespace commitd {
namespace {

constexpr uint8_t kVersion = 2;      // 1: without AUTO_INCREMENTs that start again
constexpr uint8_t kHasValue = 0x80;  // beside the kind of row id

void append_number(std::string& out, uint64_t value) {
  append_little_endian(out, value, 8);
}

void append_text(std::string& out, std::string_view text) {
  append_number(out, text.size());
  out += text;
}

void append_counters(std::string& out, const std::map<uint64_t, uint64_t>& counters) {
  append_number(out, counters.size());
  for (const auto& [table_id, number] : counters) {
    append_number(out, table_id);
    append_number(out, number);
  }
}

std::string read_text(ByteReader& in) {
  const uint64_t size = in.le64();
  return std::string(in.bytes(size));
}

void read_entry(ByteReader& in, WriteSet& writes) {
  const uint8_t kind = in.u8();
  const auto row_id = static_cast<WriteSet::RowId>(kind & ~kHasValue);
  const uint64_t table_id = in.le64();
  std::string key = read_text(in);
  if ((kind & kHasValue) != 0) {
    writes.put(std::move(key), read_text(in), row_id, table_id);
  } else {
    writes.erase(std::move(key), row_id, table_id);
  }
}

}  // namespace

std::string encode_write_set(const WriteSet& writes) {
  std::string out;
  out.reserve(writes.byte_size() + 64);
  out.push_back(kVersion);
  append_number(out, writes.erased_ranges().size());
  for (const auto& [begin, end] : writes.erased_ranges()) {
    append_text(out, begin);
    append_text(out, end);
  }
  append_number(out, writes.entries().size());
  for (const auto& [key, entry] : writes.entries()) {
    out.push_back(static_cast<char>(static_cast<uint8_t>(entry.row_id) | (entry.value ? kHasValue : 0)));
    append_number(out, entry.table_id);
    append_text(out, key);
    if (entry.value) append_text(out, *entry.value);
  }
  append_counters(out, writes.provisional_counts());
  append_counters(out, writes.auto_increments());
  append_counters(out, writes.restarted_auto_increments());
  return out;
}

Result<WriteSet> decode_write_set(std::string_view bytes) {
  ByteReader in(bytes);
  WriteSet writes;
  const uint8_t version = in.u8();
  bool ok = version >= 1 && version <= kVersion;
  for (uint64_t left = in.le64(); ok && left > 0 && in.ok(); --left) {
    std::string begin = read_text(in);
    writes.erase_range(std::move(begin), read_text(in));
  }
  for (uint64_t left = in.le64(); ok && left > 0 && in.ok(); --left) read_entry(in, writes);
  for (uint64_t left = in.le64(); ok && left > 0 && in.ok(); --left) {
    const uint64_t table_id = in.le64();
    for (uint64_t rows = in.le64(); rows > 0 && in.ok(); --rows) writes.new_provisional_row_id(table_id);
  }
  for (uint64_t left = in.le64(); ok && left > 0 && in.ok(); --left) {
    const uint64_t table_id = in.le64();
    writes.raise_auto_increment(table_id, in.le64());
  }
  const bool has_restarts = ok && version >= 2;
  for (uint64_t left = has_restarts ? in.le64() : 0; left > 0 && in.ok(); --left) {
    const uint64_t table_id = in.le64();
    writes.restart_auto_increment(table_id, in.le64());
  }
  ok = ok && in.ok() && in.at_end();
  if (!ok) return make_error(er::kErrorOnRead, "A prepared transaction's record is damaged");
  return writes;
}

}  // namespace commitd
