#include "storage/executed_row.h"

#include <cstring>
#include <memory>

#include "base/error_codes.h"
#include "base/packed_int.h"
#include "storage/record/key_codec.h"

namespace commitd::storage {
namespace {

constexpr size_t kUuidSize = 16;
constexpr size_t kPrefixSize = 4;
constexpr size_t kKeySize = kPrefixSize + kUuidSize + 8;

}  // namespace

std::string executed_rows_prefix() {
  std::string prefix;
  append_index_id(prefix, kExecutedIndexId);
  return prefix;
}

std::string executed_row_key(const GtidInterval& row) {
  std::string key = executed_rows_prefix();
  key.append(reinterpret_cast<const char*>(row.sid.bytes.data()), kUuidSize);
  append_big_endian(key, row.start, 8);
  return key;
}

std::string executed_row_value(const GtidInterval& row) {
  std::string end;
  append_big_endian(end, row.end, 8);
  return end;
}

Result<GtidInterval> decode_executed_row(std::string_view key, std::string_view value) {
  GtidInterval row;
  if (key.size() == kKeySize && value.size() == 8) {
    std::memcpy(row.sid.bytes.data(), key.data() + kPrefixSize, kUuidSize);
    row.start = load_be(key.data() + kPrefixSize + kUuidSize, 8);
    row.end = load_be(value.data(), 8);
  }
  if (row.start == 0 || row.start >= row.end || row.end > kMaxGno + 1)
    return make_error(er::kErrorOnRead, "A row of the storage engine's gtid_executed is damaged");
  return row;
}

Status for_each_executed_row(Engine& engine, const std::function<void(const GtidInterval&)>& each) {
  const std::string prefix = executed_rows_prefix();
  const auto at = engine.iterate(engine.snapshot(), prefix, prefix_end(prefix));
  for (at->seek(prefix); at->valid(); at->next()) {
    const auto row = decode_executed_row(at->key(), at->value());
    if (!row) return row.error();
    each(*row);
  }
  return at->status();
}

}  // namespace commitd::storage
