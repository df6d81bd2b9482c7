#include "replication/transaction_length.h"

#include "binlog/events.h"
#include "replication/dump_framing.h"

namespace commitd::replication {
namespace {

using binlog::EventSpool;
using binlog::kChecksumLength;
using binlog::kHeaderLength;

// Where the GTID event tells the transaction's length; 0: it does not.
size_t length_at(std::string_view gtid_event) {
  constexpr size_t kImmediateAt = kHeaderLength + 1 + 16 + 8 + 1 + 8 + 8;
  constexpr size_t kTimeLength = 7;
  if (gtid_event.size() < kImmediateAt + kTimeLength + kChecksumLength) return 0;
  const bool original_follows =
      (static_cast<uint8_t>(gtid_event[kImmediateAt + kTimeLength - 1]) & 0x80) != 0;
  const size_t at = kImmediateAt + kTimeLength * (original_follows ? 2 : 1);
  return at + kChecksumLength < gtid_event.size() ? at : 0;
}

// In as many bytes as there are: those of a larger number.
void store_length(char* at, uint64_t length) {
  size_t width = 0;
  switch (static_cast<uint8_t>(*at)) {
    case 0xfc:
      width = 2;
      break;
    case 0xfd:
      width = 3;
      break;
    case 0xfe:
      width = 8;
      break;
    default:
      *at = static_cast<char>(length);
      return;
  }
  for (size_t i = 1; i <= width; ++i) at[i] = static_cast<char>(length >> (8 * (i - 1)));
}

}  // namespace

Result<std::string> read_event(const EventSpool& events, size_t at) {
  std::string bytes(kHeaderLength, '\0');
  COMMITD_RETURN_IF_ERROR(events.read(at, bytes));
  bytes.resize(binlog::event_length(bytes));
  COMMITD_RETURN_IF_ERROR(events.read(at, bytes));
  return bytes;
}

std::string checksummed_anew(std::string_view event) {
  return with_checksum(event.substr(0, event.size() - kChecksumLength));
}

Status tell_transaction_length(EventSpool& events, size_t at) {
  auto gtid = read_event(events, at);
  if (!gtid) return std::move(gtid).error();
  const size_t length = length_at(*gtid);
  if (length == 0) return {};
  store_length(gtid->data() + length, events.size() - at);
  return events.overwrite(at, checksummed_anew(*gtid));
}

}  // namespace commitd::replication
