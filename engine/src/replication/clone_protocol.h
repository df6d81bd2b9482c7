// What passes on a connection while a server is cloned. COM_CLONE is answered by packets that begin with a
// letter each: a header, then for every file its name, its bytes and its checksum, and a last word. An error
// packet ends it anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log_position.h"
#include "base/result.h"
#include "base/uuid.h"
#include "gtid/gtid_set.h"

namespace commitd::replication {

inline constexpr uint8_t kComClone = 0x20;
inline constexpr uint16_t kCloneProtocol = 1;

enum class CloneTag : char { Header = 'H', File = 'F', Data = 'D', FileEnd = 'E', Done = 'Z' };

// The data directory that is about to come: the engine's files as of one commit point.
struct CloneHeader {
  Uuid donor;
  std::string version;   // of the donor's release
  uint32_t format = 0;   // of its data directory
  bool own_log = false;  // commitd_durability=xa
  LogPosition position;  // in the donor's log
  std::string log_file;  // the same file by its name; empty: the donor has no log
  GtidSet executed;
  uint64_t bytes = 0;  // of all files
};

struct CloneFile {
  std::string name;  // checked: of a file in one directory
  uint64_t size = 0;
};

std::string encode_clone_request();
// Error 3862 for a recipient that speaks otherwise, MySQL's own among them.
Status check_clone_request(std::string_view arguments);

// With their tags.
std::string encode(const CloneHeader& header);
std::string encode(const CloneFile& file);
std::string encode_file_end(uint32_t checksum);

// Behind the tag; error 3863.
Result<CloneHeader> decode_clone_header(std::string_view packet);
Result<CloneFile> decode_clone_file(std::string_view packet);
Result<uint32_t> decode_file_end(std::string_view packet);
Error unexpected_from_donor(std::string_view what);

}  // namespace commitd::replication
