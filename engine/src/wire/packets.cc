#include "wire/packets.h"

#include "base/bytes.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {

void write_ok_with_header(PacketChannel& channel, uint8_t header, const sql::OkInfo& info) {
  ByteWriter out(channel.begin_packet());
  out.u8(header);
  out.lenenc(info.affected_rows);
  out.lenenc(info.last_insert_id);
  out.le16(info.server_status);
  out.le16(info.warnings);
  if (!info.info.empty()) out.lenenc_string(info.info);
  channel.end_packet();
}

}  // namespace

void write_ok(PacketChannel& channel, const sql::OkInfo& info) {
  write_ok_with_header(channel, kOkHeader, info);
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

void write_eof(PacketChannel& channel, const sql::OkInfo& info, bool deprecate_eof) {
  if (deprecate_eof) return write_ok_with_header(channel, kEofHeader, info);
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
