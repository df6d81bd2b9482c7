#include "storage/table_engines.h"

#include <algorithm>
#include <array>

#include "base/text_case.h"
#include "storage/record/key_codec.h"

namespace commitd::storage {
namespace {

constexpr uint32_t kNumberShift = 30;

// In order of their numbers.
constexpr std::array<TableEngine, 3> kEngines = {{
    {.number = 0,
     .name = "ROCKS",
     .comment = "RocksDB tables whose only log is the binlog; ENGINE=InnoDB means this one",
     .transactional = true,
     .in_memory = false,
     .remote = false},
    {.number = 1,
     .name = "MEMORY",
     .comment = "Tables in memory, not transactional; empty after a restart",
     .transactional = false,
     .in_memory = true,
     .remote = false},
    {.number = 2,
     .name = "FEDERATED",
     .comment = "Tables on another MySQL-protocol server, to be read only",
     .transactional = false,
     .in_memory = false,
     .remote = true},
}};

struct OtherName {
  std::string_view name;
  uint32_t engine;
};
constexpr std::array<OtherName, 3> kOtherNames = {{{"ROCKSDB", 0}, {"InnoDB", 0}, {"HEAP", 1}}};

}  // namespace

std::span<const TableEngine> table_engines() {
  return kEngines;
}

const TableEngine* find_table_engine(std::string_view name) {
  const auto called = [&](const auto& known) { return equal_words(known.name, name); };
  if (const auto* own = std::find_if(kEngines.begin(), kEngines.end(), called); own != kEngines.end())
    return own;
  const auto* other = std::find_if(kOtherNames.begin(), kOtherNames.end(), called);
  return other == kOtherNames.end() ? nullptr : &kEngines[other->engine];
}

std::string_view engine_name_as_written(std::string_view name) {
  const auto called = [&](const auto& known) { return equal_words(known.name, name); };
  const auto* other = std::find_if(kOtherNames.begin(), kOtherNames.end(), called);
  return other == kOtherNames.end() ? find_table_engine(name)->name : other->name;
}

const TableEngine& engine_of_index(uint32_t index_id) {
  const uint32_t number = index_id >> kNumberShift;
  return kEngines[number < kEngines.size() ? number : 0];
}

const TableEngine& engine_of_key(std::string_view key) {
  if (key.empty()) return kEngines[0];
  return engine_of_index(static_cast<uint32_t>(static_cast<unsigned char>(key[0])) << 24);
}

uint32_t index_id_in(const TableEngine& engine, uint32_t count) {
  return engine.number << kNumberShift | count;
}

std::string first_key_in_memory() {
  std::string key;
  append_index_id(key, 1u << kNumberShift);
  return key;
}

}  // namespace commitd::storage
