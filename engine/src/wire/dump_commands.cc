#include "wire/dump_commands.h"

#include "base/bytes.h"
#include "base/error_codes.h"

namespace commitd::wire {

namespace {

Error malformed(std::string_view command) {
  return make_error(er::kUnknownError, "Malformed {} packet", command);
}

// Some clients send the file name with the zero of a C string.
std::string file_name(std::string_view text) {
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace

Result<RegisterReplica> decode_register_replica(std::string_view arguments) {
  ByteReader in(arguments);
  RegisterReplica replica;
  replica.server_id = in.le32();
  replica.host = in.bytes(in.u8());
  replica.user = in.bytes(in.u8());
  in.skip(in.u8());  // the password, which nobody needs
  replica.port = in.le16();
  if (!in.ok()) return malformed("COM_REGISTER_SLAVE");
  return replica;
}

Result<DumpRequest> decode_dump(std::string_view arguments) {
  ByteReader in(arguments);
  DumpRequest request;
  request.position = in.le32();
  request.flags = in.le16();
  request.server_id = in.le32();
  request.file = file_name(in.take_rest());
  if (!in.ok()) return malformed("COM_BINLOG_DUMP");
  return request;
}

Result<DumpRequest> decode_dump_gtid(std::string_view arguments) {
  ByteReader in(arguments);
  DumpRequest request;
  request.by_gtid = true;
  request.flags = in.le16();
  request.server_id = in.le32();
  request.file = file_name(in.bytes(in.le32()));
  request.position = in.le64();
  std::string_view set = in.bytes(in.le32());
  if (!in.ok()) return malformed("COM_BINLOG_DUMP_GTID");
  if (set.empty()) return request;
  auto have = GtidSet::decode(set);
  if (!have.ok()) return std::move(have).error();
  request.have = std::move(*have);
  return request;
}

}  // namespace commitd::wire
