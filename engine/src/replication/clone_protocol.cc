#include "replication/clone_protocol.h"

#include <cstring>

#include "base/bytes.h"
#include "base/error_codes.h"

namespace commitd::replication {
namespace {

// MySQL's recipient sends other bytes here: each side finds out at the first packet.
constexpr std::string_view kMagic = "commitd-clone";

constexpr size_t kLongestName = 255;

std::string begin(CloneTag tag) {
  return std::string(1, static_cast<char>(tag));
}

bool names_a_file(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace

Error unexpected_from_donor(std::string_view what) {
  return make_error(er::kCloneProtocol, "Clone received unexpected response from Donor : {}.", what);
}

std::string encode_clone_request() {
  std::string request(kMagic);
  ByteWriter(request).le16(kCloneProtocol);
  return request;
}

Status check_clone_request(std::string_view arguments) {
  ByteReader in(arguments);
  const bool ours = in.bytes(kMagic.size()) == kMagic;
  const uint16_t protocol = in.le16();
  if (ours && in.ok() && protocol == kCloneProtocol) return {};
  return make_error(er::kNotSupportedYet,
                    "This server gives clones to commitd only, by version {} of its protocol",
                    kCloneProtocol);
}

std::string encode(const CloneHeader& header) {
  std::string packet = begin(CloneTag::Header);
  ByteWriter out(packet);
  out.bytes({reinterpret_cast<const char*>(header.donor.bytes.data()), header.donor.bytes.size()});
  out.lenenc_string(header.version);
  out.le32(header.format);
  out.u8(header.own_log ? 1 : 0);
  out.le32(header.position.file);
  out.le64(header.position.offset);
  out.lenenc_string(header.log_file);
  out.lenenc_string(header.executed.encode());
  out.le64(header.bytes);
  return packet;
}

Result<CloneHeader> decode_clone_header(std::string_view packet) {
  ByteReader in(packet);
  CloneHeader header;
  const std::string_view uuid = in.bytes(header.donor.bytes.size());
  if (in.ok()) std::memcpy(header.donor.bytes.data(), uuid.data(), uuid.size());
  header.version = in.lenenc_string();
  header.format = in.le32();
  header.own_log = in.u8() != 0;
  header.position.file = in.le32();
  header.position.offset = in.le64();
  header.log_file = in.lenenc_string();
  const std::string_view executed = in.lenenc_string();
  header.bytes = in.le64();
  if (!in.ok() || !in.at_end()) return unexpected_from_donor("malformed header");
  auto set = GtidSet::decode(executed);
  if (!set.ok()) return unexpected_from_donor("malformed GTID set");
  header.executed = *std::move(set);
  return header;
}

std::string encode(const CloneFile& file) {
  std::string packet = begin(CloneTag::File);
  ByteWriter out(packet);
  out.lenenc_string(file.name);
  out.le64(file.size);
  return packet;
}

Result<CloneFile> decode_clone_file(std::string_view packet) {
  ByteReader in(packet);
  CloneFile file;
  file.name = in.lenenc_string();
  file.size = in.le64();
  if (!in.ok() || !in.at_end() || !names_a_file(file.name)) return unexpected_from_donor("malformed file");
  return file;
}

std::string encode_file_end(uint32_t checksum) {
  std::string packet = begin(CloneTag::FileEnd);
  ByteWriter(packet).le32(checksum);
  return packet;
}

Result<uint32_t> decode_file_end(std::string_view packet) {
  ByteReader in(packet);
  const uint32_t checksum = in.le32();
  if (!in.ok() || !in.at_end()) return unexpected_from_donor("malformed end of a file");
  return checksum;
}

}  // namespace commitd::replication
