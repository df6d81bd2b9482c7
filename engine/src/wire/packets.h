// The packets that answer commands: OK, ERR, EOF and column definitions.
#pragma once

#include <string>

#include "base/result.h"
#include "sql/result_sink.h"
#include "wire/packet_channel.h"

namespace commitd::wire {

void write_ok(PacketChannel& channel, const sql::OkInfo& info);
void write_error(PacketChannel& channel, const Error& error);
// The end of column definitions or rows: an OK packet with an EOF's header where the client asked for that
// (deprecate_eof).
void write_eof(PacketChannel& channel, const sql::OkInfo& info, bool deprecate_eof);
void write_column(PacketChannel& channel, const sql::ResultColumn& column, bool with_default = false);

}  // namespace commitd::wire
