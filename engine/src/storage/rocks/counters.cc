#include "storage/rocks/counters.h"

#include <algorithm>

#include "base/packed_int.h"
#include "storage/engine.h"
#include "storage/record/key_codec.h"

namespace commitd::storage {

namespace {

std::string counter_key(char kind, uint64_t table_id) {
  std::string key;
  append_index_id(key, kCountersIndexId);
  key.push_back(kind);
  append_big_endian(key, table_id, 8);
  return key;
}

}  // namespace

std::string auto_increment_key(uint64_t table_id) {
  return counter_key('a', table_id);
}
std::string row_id_key(uint64_t table_id) {
  return counter_key('r', table_id);
}

std::string encode_counter(uint64_t value) {
  std::string bytes;
  append_big_endian(bytes, value, 8);
  return bytes;
}

Result<uint64_t*> Counters::auto_increment(uint64_t table_id) {
  const auto known = auto_increment_.find(table_id);
  if (known != auto_increment_.end()) return &known->second;
  auto durable = load_(auto_increment_key(table_id));
  if (!durable) return durable.error();
  return &auto_increment_.emplace(table_id, *durable).first->second;
}

// Past the largest 64-bit value the counter stays there: the row is then refused as a duplicate or out of
// range.
Result<uint64_t> Counters::reserve_auto_increment(uint64_t table_id, uint64_t count, uint64_t at_least) {
  std::lock_guard lock(mutex_);
  auto counter = auto_increment(table_id);
  if (!counter) return counter.error();
  const uint64_t first = std::max(**counter, at_least);
  **counter = first > UINT64_MAX - count ? UINT64_MAX : first + count;
  return first;
}

Result<uint64_t> Counters::peek_auto_increment(uint64_t table_id) {
  std::lock_guard lock(mutex_);
  auto counter = auto_increment(table_id);
  if (!counter) return counter.error();
  return **counter;
}

Status Counters::raise_auto_increment(uint64_t table_id, uint64_t next) {
  std::lock_guard lock(mutex_);
  auto counter = auto_increment(table_id);
  if (!counter) return counter.error();
  **counter = std::max(**counter, next);
  return {};
}

void Counters::restart_auto_increment(uint64_t table_id, uint64_t next) {
  std::lock_guard lock(mutex_);
  auto_increment_[table_id] = next;
}

Result<uint64_t> Counters::durable_auto_increment(uint64_t table_id) {
  const auto known = durable_auto_increment_.find(table_id);
  if (known != durable_auto_increment_.end()) return known->second;
  return load_(auto_increment_key(table_id));
}

void Counters::set_durable_auto_increment(uint64_t table_id, uint64_t next) {
  uint64_t& durable = durable_auto_increment_[table_id];
  durable = std::max(durable, next);
}

void Counters::restart_durable_auto_increment(uint64_t table_id, uint64_t next) {
  durable_auto_increment_[table_id] = next;
}

Result<uint64_t> Counters::next_row_id(uint64_t table_id) {
  const auto known = row_ids_.find(table_id);
  if (known != row_ids_.end()) return known->second;
  return load_(row_id_key(table_id));
}

void Counters::set_next_row_id(uint64_t table_id, uint64_t next) {
  row_ids_[table_id] = next;
}

}  // namespace commitd::storage
