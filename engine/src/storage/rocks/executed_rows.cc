#include "storage/rocks/executed_rows.h"

#include <cstring>
#include <memory>

#include "base/error_codes.h"
#include "base/packed_int.h"
#include "storage/engine.h"
#include "storage/record/key_codec.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

constexpr size_t kUuidSize = 16;
constexpr size_t kPrefixSize = 4;
constexpr size_t kKeySize = kPrefixSize + kUuidSize + 8;

std::string rows_prefix() {
  std::string prefix;
  append_index_id(prefix, kExecutedIndexId);
  return prefix;
}

std::string row_key(const GtidInterval& interval) {
  std::string key = rows_prefix();
  key.append(reinterpret_cast<const char*>(interval.sid.bytes.data()), kUuidSize);
  append_big_endian(key, interval.start, 8);
  return key;
}

void put_row(rocksdb::WriteBatch& batch, const GtidInterval& interval) {
  std::string end;
  append_big_endian(end, interval.end, 8);
  batch.Put(row_key(interval), end);
}

Result<GtidInterval> decode_row(std::string_view key, std::string_view value) {
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

}  // namespace

void add_executed(rocksdb::WriteBatch& batch, const GtidSet& executed, const GtidSet& added) {
  const GtidSet::Growth growth = executed.growth(added);
  for (const GtidInterval& gone : growth.swallowed) batch.Delete(row_key(gone));
  for (const GtidInterval& made : growth.made) put_row(batch, made);
}

void replace_executed(rocksdb::WriteBatch& batch, const GtidSet& executed) {
  const std::string prefix = rows_prefix();
  batch.DeleteRange(prefix, prefix_end(prefix));
  executed.for_each_interval([&batch](const GtidInterval& interval) { put_row(batch, interval); });
}

Result<GtidSet> load_executed(rocksdb::DB& db) {
  GtidSet executed;
  const std::string prefix = rows_prefix();
  const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator(rocksdb::ReadOptions()));
  for (at->Seek(prefix); at->Valid() && at->key().starts_with(prefix); at->Next()) {
    const auto row = decode_row(at->key().ToStringView(), at->value().ToStringView());
    if (!row) return row.error();
    executed.add_interval(row->sid, row->start, row->end);
  }
  if (!at->status().ok()) return read_error(at->status());
  return executed;
}

}  // namespace commitd::storage
