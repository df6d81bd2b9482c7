// The packets that answer commands: OK, ERR, EOF and column definitions.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "sql/result_sink.h"
#include "wire/packet_channel.h"

namespace commitd::wire {

// `changes`: only for clients that track the session (CLIENT_SESSION_TRACK).
void write_ok(PacketChannel& channel, const sql::OkInfo& info,
              std::span<const sql::SessionChange> changes = {});
void write_error(PacketChannel& channel, const Error& error);
// The end of column definitions or rows: an OK packet with an EOF's header where the client asked for that
// (deprecate_eof).
void write_eof(PacketChannel& channel, const sql::OkInfo& info, bool deprecate_eof,
               std::span<const sql::SessionChange> changes = {});
void write_column(PacketChannel& channel, const sql::ResultColumn& column, bool with_default = false);

}  // namespace commitd::wire
