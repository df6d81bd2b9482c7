// The engines that a table can be in, by the names that ENGINE= takes, and what each promises. Which one a
// table is in also stands in the ids of its indexes, so that whoever has a key knows where it belongs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "storage/record/table_def.h"

namespace commitd::storage {

struct TableEngine {
  uint32_t number;        // the first bits of its index ids
  std::string_view name;  // as SHOW CREATE TABLE prints it
  std::string_view comment;
  bool transactional;  // false: what a statement changed is there when it ends, and no ROLLBACK undoes it
  bool in_memory;      // rows end with the process
  bool remote;         // rows are on another server, and only read here
};

std::span<const TableEngine> table_engines();
// By any of the names that ENGINE= takes, in any case; nullptr when there is none.
const TableEngine* find_table_engine(std::string_view name);
// The same name as it is usually written.
std::string_view engine_name_as_written(std::string_view name);

const TableEngine& engine_of_index(uint32_t index_id);
const TableEngine& engine_of_key(std::string_view key);
inline const TableEngine& engine_of(const TableDef& table) {
  return engine_of_index(table.clustered().id);
}

// The id that the `count`th index gets in a table of this engine.
uint32_t index_id_in(const TableEngine& engine, uint32_t count);
// The least key that an engine in memory can have; all keys from here on are of engines in memory.
std::string first_key_in_memory();

}  // namespace commitd::storage
