// A write set's entries as an engine stores them: provisional row ids replaced by final ones.
#pragma once

#include <string>
#include <string_view>

#include "base/packed_int.h"
#include "base/result.h"
#include "storage/write_set.h"

namespace commitd::storage {

inline std::string with_final_row_id(std::string_view bytes, uint64_t first_id) {
  const size_t at = bytes.size() - 8;
  const uint64_t provisional = load_be(bytes.data() + at, 8);
  std::string final_bytes(bytes.substr(0, at));
  append_big_endian(final_bytes, first_id + (provisional & ~kProvisionalRowId), 8);
  return final_bytes;
}

// put(key, value) or erase(key) for one entry of `writes`. first_id(table) is what the transaction's first
// new row of the table gets.
template <class FirstId, class Put, class Erase>
Status apply_entry(const WriteSet& writes, std::string_view key, const WriteSet::Entry& entry,
                   FirstId&& first_id, Put&& put, Erase&& erase) {
  if (!entry.value) {
    // A provisional row that was erased again has never been in the engine.
    if (entry.row_id != WriteSet::RowId::AtKeyEnd) erase(key);
    return {};
  }
  std::string read_back;
  if (entry.spilled()) COMMITD_RETURN_IF_ERROR(writes.read_value(entry, read_back));
  const std::string& value = entry.spilled() ? read_back : *entry.value;
  switch (entry.row_id) {
    case WriteSet::RowId::Final:
      put(key, value);
      break;
    case WriteSet::RowId::AtKeyEnd:
      put(with_final_row_id(key, first_id(entry.table_id)), value);
      break;
    case WriteSet::RowId::AtValueEnd:
      put(key, with_final_row_id(value, first_id(entry.table_id)));
      break;
  }
  return {};
}

}  // namespace commitd::storage
