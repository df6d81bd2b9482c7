// How definitions are kept in the engine. A format byte comes first; release N reads N-1.
//
//   [catalog index]['d'][name]           database → default collation
//   [catalog index]['t'][table id, 8]    table    → definition
//   [catalog index]['s'][name]           server   → definition (CREATE SERVER)
//   [catalog index]['n']                 next table id and next index id
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

struct DatabaseDef {
  std::string name;
  uint16_t collation = 45;
};

// Another server, under a name: CREATE SERVER. Empty and 0 are what was not said.
struct ServerDef {
  std::string name, wrapper;
  std::string host, db, user, password, socket, owner;
  uint32_t port = 0;
};

struct CatalogIds {
  uint64_t next_table = 1;
  uint32_t next_index = 0;
};

std::string catalog_prefix();
std::string database_key(std::string_view name);
std::string table_key(uint64_t table_id);
std::string server_key(std::string_view name);  // names have no case
std::string ids_key();

std::string encode_database(const DatabaseDef& database);
std::string encode_table(const TableDef& table);
std::string encode_server(const ServerDef& server);
std::string encode_ids(const CatalogIds& ids);

Result<DatabaseDef> decode_database(std::string_view name, std::string_view bytes);
Result<TableDef> decode_table(std::string_view bytes);
Result<ServerDef> decode_server(std::string_view bytes);
Result<CatalogIds> decode_ids(std::string_view bytes);

}  // namespace commitd::sql
