#include "storage/record/definition_record.h"

#include "base/bytes.h"
#include "storage/engine.h"
#include "storage/record/key_codec.h"

namespace commitd {

std::string definition_key(uint64_t table_id) {
  std::string key;
  append_index_id(key, storage::kCatalogIndexId);
  key += 't';
  ByteWriter(key).be(table_id, 8);
  return key;
}

void append_definition_head(std::string& record, uint8_t format, const TableDef& table) {
  ByteWriter out(record);
  out.u8(format);
  out.le64(table.id);
  out.le32(table.version);
}

bool is_definition_of(std::string_view record, const TableDef& table) {
  ByteReader in(record);
  in.skip(1);
  const uint64_t id = in.le64();
  const uint32_t version = in.le32();
  return in.ok() && id == table.id && version == table.version;
}

}  // namespace commitd
