#include "replication/foreign_events.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "binlog/event_writer.h"
#include "replication/dump_framing.h"

namespace commitd::replication {
namespace {

using binlog::EventHeader;
using binlog::EventType;
using binlog::EventView;
using binlog::kChecksumLength;
using binlog::kHeaderLength;

constexpr size_t kTypeAt = 4, kLengthAt = 9;
constexpr size_t kSidAt = kHeaderLength + 1, kGnoAt = kSidAt + 16;

// Of MariaDB, and of MySQL 5.5.
constexpr uint8_t kWriteRowsV1 = 23, kDeleteRowsV1 = 25;
constexpr size_t kRowsHeaderV1 = kHeaderLength + 8;
constexpr std::string_view kNoExtraRowData("\2\0", 2);
constexpr uint8_t kFirstOfMariaDb = 160, kMariaDbGtid = 162, kStartEncryption = 164;
constexpr uint8_t kFirstCompressed = 165, kLastCompressed = 171;
// In place of what its reader is not known to understand: so much of it as there is room for.
constexpr std::string_view kDummy = "# Dummy event replacing event type ";

std::string bare(const EventView& event, bool checksummed) {
  return std::string(event.bytes.substr(0, event.bytes.size() - (checksummed ? kChecksumLength : 0)));
}

std::string ended(std::string event, bool checksummed) {
  if (checksummed) return with_checksum(event);
  store_le32(event.data() + kLengthAt, static_cast<uint32_t>(event.size()));
  return event;
}

Error cannot_follow(std::string_view what) {
  return make_error(er::kSourceFatalReadingBinlog, "The source, a MariaDB, sends {}", what);
}

}  // namespace

Result<std::optional<ForeignEvents::Events>> ForeignEvents::translate(const EventView& event,
                                                                      bool checksummed, bool inside) const {
  if (event.header.type == EventType::AnonymousGtid) return std::optional(Events{named(event, checksummed)});
  if (of_ == Of::MariaDb) return translate_mariadb(event, checksummed, inside);
  return std::optional<Events>();
}

std::string ForeignEvents::named(const EventView& anonymous, bool checksummed) const {
  std::string event = bare(anonymous, checksummed);
  if (event.size() < kGnoAt + 8) return std::string(anonymous.bytes);  // damaged: the scanner says so
  const Gtid gtid = next_gtid_();
  event[kTypeAt] = static_cast<char>(EventType::Gtid);
  std::copy(gtid.sid.bytes.begin(), gtid.sid.bytes.end(), event.begin() + kSidAt);
  store_le64(event.data() + kGnoAt, gtid.gno);
  return ended(std::move(event), checksummed);
}

// How long the transaction is is told when it has ended: there is room for any length.
std::string ForeignEvents::gtid_event_of(const EventHeader& first, bool checksummed) const {
  binlog::GtidEvent gtid;
  gtid.gtid = next_gtid_();
  gtid.immediate_commit_timestamp = gtid.original_commit_timestamp = uint64_t{first.timestamp} * 1000000;
  gtid.transaction_length = std::numeric_limits<uint32_t>::max();
  std::string event;
  binlog::append_gtid(event, {first.server_id, first.timestamp}, gtid, false);
  event.resize(event.size() - kChecksumLength);
  return ended(std::move(event), checksummed);
}

Result<std::optional<ForeignEvents::Events>> ForeignEvents::translate_mariadb(const EventView& event,
                                                                              bool checksummed,
                                                                              bool inside) const {
  const auto type = static_cast<uint8_t>(event.header.type);
  if (type >= kWriteRowsV1 && type <= kDeleteRowsV1) {
    std::string rows = bare(event, checksummed);
    if (rows.size() < kRowsHeaderV1) return cannot_follow("a rows event that is cut off");
    rows.insert(kRowsHeaderV1, kNoExtraRowData);
    rows[kTypeAt] = static_cast<char>(type - kWriteRowsV1 + static_cast<uint8_t>(EventType::WriteRows));
    return std::optional(Events{ended(std::move(rows), checksummed)});
  }
  if (type == kStartEncryption) return cannot_follow("an encrypted log");
  if (type == kMariaDbGtid) return cannot_follow("GTIDs of its own kind, though it was not asked to");
  if (type >= kFirstCompressed && type <= kLastCompressed)
    return cannot_follow("compressed events: set log_bin_compress=OFF there");
  if (type >= kFirstOfMariaDb) return std::optional(Events{});
  if (event.header.type != EventType::Query) return std::optional<Events>();
  auto query = binlog::parse_query_event(event, checksummed);
  if (!query) return std::move(query).error();
  if (!query->sql.empty() && kDummy.starts_with(std::string_view(query->sql).substr(0, kDummy.size())))
    return std::optional(Events{});
  if (inside) return std::optional<Events>();
  return std::optional(Events{gtid_event_of(event.header, checksummed), std::string(event.bytes)});
}

}  // namespace commitd::replication
