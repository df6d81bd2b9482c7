#include "wire/packets.h"

#include "base/bytes.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {

std::string encode(const sql::SessionChange& change) {
  std::string bytes;
  ByteWriter out(bytes);
  switch (change.what) {
    case sql::SessionChange::What::SystemVariable:
      out.lenenc_string(change.name);
      break;
    case sql::SessionChange::What::Gtids:
      out.u8(0);  // the only encoding there is: text
      break;
    default:
      break;
  }
  out.lenenc_string(change.value);
  return bytes;
}

void write_changes(ByteWriter& out, std::span<const sql::SessionChange> changes) {
  std::string bytes;
  ByteWriter all(bytes);
  for (const sql::SessionChange& change : changes) {
    all.u8(static_cast<uint8_t>(change.what));
    all.lenenc_string(encode(change));
  }
  out.lenenc_string(bytes);
}

void write_ok_with_header(PacketChannel& channel, uint8_t header, const sql::OkInfo& info,
                          std::span<const sql::SessionChange> changes) {
  ByteWriter out(channel.begin_packet());
  out.u8(header);
  out.lenenc(info.affected_rows);
  out.lenenc(info.last_insert_id);
  const bool changed = !changes.empty();
  out.le16(static_cast<uint16_t>(info.server_status | (changed ? server_status::kSessionStateChanged : 0)));
  out.le16(info.warnings);
  if (changed || !info.info.empty()) out.lenenc_string(info.info);
  if (changed) write_changes(out, changes);
  channel.end_packet();
}

}  // namespace

void write_ok(PacketChannel& channel, const sql::OkInfo& info, std::span<const sql::SessionChange> changes) {
  write_ok_with_header(channel, kOkHeader, info, changes);
}

void write_error(PacketChannel& channel, const Error& error) {
  ByteWriter out(channel.begin_packet());
  out.u8(kErrorHeader);
  out.le16(error.code);
  out.u8('#');
  out.bytes(error.sqlstate());
  out.bytes(error.message);
  channel.end_packet();
}

void write_eof(PacketChannel& channel, const sql::OkInfo& info, bool deprecate_eof,
               std::span<const sql::SessionChange> changes) {
  if (deprecate_eof) return write_ok_with_header(channel, kEofHeader, info, changes);
  ByteWriter out(channel.begin_packet());
  out.u8(kEofHeader);
  out.le16(info.warnings);
  out.le16(info.server_status);
  channel.end_packet();
}

void write_column(PacketChannel& channel, const sql::ResultColumn& column, bool with_default) {
  ByteWriter out(channel.begin_packet());
  out.lenenc_string("def");
  out.lenenc_string(column.db);
  out.lenenc_string(column.table);
  out.lenenc_string(column.original_table);
  out.lenenc_string(column.name);
  out.lenenc_string(column.original_name);
  out.lenenc(0x0c);
  out.le16(column.collation);
  out.le32(column.length);
  out.u8(static_cast<uint8_t>(column.type));
  out.le16(column.flags);
  out.u8(column.decimals);
  out.zeros(2);
  if (with_default) out.u8(kNullCell);
  channel.end_packet();
}

}  // namespace commitd::wire
