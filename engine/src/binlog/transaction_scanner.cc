#include "binlog/transaction_scanner.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/text_case.h"

namespace commitd::binlog {
namespace {

Error misplaced(const EventView& event, uint64_t offset) {
  return make_error(er::kErrorOnRead, "Event of type {} at offset {} is outside of any transaction",
                    static_cast<int>(event.header.type), offset);
}

// What may come from a source and cannot be followed.
Status check_supported(const EventView& event) {
  const char* what = nullptr;
  switch (event.header.type) {
    case EventType::TransactionPayload:
      what = "compressed transactions: set binlog_transaction_compression=OFF there";
      break;
    case EventType::XaPrepare:
      what = "an XA transaction, which is not supported";
      break;
    case EventType::AnonymousGtid:
      what = "transactions without GTIDs: set gtid_mode=ON there";
      break;
    case EventType::GtidTagged:
      what = "tagged GTIDs, which are not supported: unset gtid_next tags there";
      break;
    default:
      return {};
  }
  return make_error(er::kSourceFatalReadingBinlog, "The source sends {}", what);
}

bool belongs_to_file(EventType type) {
  return type == EventType::FormatDescription || type == EventType::PreviousGtids ||
         type == EventType::Rotate || type == EventType::Stop;
}

}  // namespace

std::optional<uint64_t> epoch_of(const EventView& event, bool checksummed) {
  const auto own = parse_own_event(event, checksummed);
  if (!own || own->kind != OwnKind::Epoch) return std::nullopt;
  ByteReader reader(own->payload);
  const uint64_t epoch = reader.le64();
  return reader.ok() ? std::optional(epoch) : std::nullopt;
}

std::string_view unwrap_local(std::string_view events) {
  const auto event = parse_event(events);
  if (!event) return events;
  const auto own = parse_own_event(*event, true);
  return own && own->kind == OwnKind::LocalOnly ? own->payload : events;
}

Result<TransactionScanner::Place> TransactionScanner::feed(const EventView& event, uint64_t offset,
                                                           bool checksummed) {
  COMMITD_RETURN_IF_ERROR(check_supported(event));
  return inside_ ? feed_inside(event, offset, checksummed) : feed_outside(event, offset, checksummed);
}

Result<TransactionScanner::Place> TransactionScanner::feed_inside(const EventView& event, uint64_t offset,
                                                                  bool checksummed) {
  const EventType type = event.header.type;
  // What is there of the transaction is void: its source stopped in the middle.
  if (of_ == Of::Stream && (belongs_to_file(type) || type == EventType::Gtid)) {
    inside_ = false;
    return feed_outside(event, offset, checksummed);
  }
  if (type == EventType::Gtid)
    return make_error(er::kErrorOnRead, "A transaction starts at offset {} inside another one", offset);
  bool ends = type == EventType::Xid;
  if (type == EventType::Query) {
    auto query = query_ends(event, checksummed);
    if (!query) return std::move(query).error();
    ends = *query;
  } else if (auto epoch = epoch_of(event, checksummed)) {
    current_.epoch = *epoch;
  }
  if (!ends) return Place::Inside;
  inside_ = false;
  current_.end = offset + event.bytes.size();
  return Place::Last;
}

Result<bool> TransactionScanner::query_ends(const EventView& event, bool checksummed) {
  auto query = parse_query_event(event, checksummed);
  if (!query) return std::move(query).error();
  // As MySQL's boundary parser: whatever the case of the letters.
  if (!has_begin_ && equal_words(query->sql, "BEGIN")) {
    has_begin_ = true;
    return false;
  }
  return !has_begin_ || equal_words(query->sql, "COMMIT") || equal_words(query->sql, "ROLLBACK");
}

Result<TransactionScanner::Place> TransactionScanner::feed_outside(const EventView& event, uint64_t offset,
                                                                   bool checksummed) {
  const EventType type = event.header.type;
  if (type == EventType::Gtid) {
    auto gtid = parse_gtid_event(event, checksummed);
    if (!gtid) return std::move(gtid).error();
    if (gtid->gtid.empty()) {
      return make_error(er::kErrorOnRead, "The GTID event at offset {} is damaged: its number is 0", offset);
    }
    inside_ = true;
    has_begin_ = false;
    current_ = Transaction{gtid->gtid, offset, 0, 0, gtid->sequence_number};
    return Place::First;
  }
  const auto own = parse_own_event(event, checksummed);
  if (own && own->kind == OwnKind::LocalOnly) {
    current_ = Transaction{{}, offset, offset + event.bytes.size(), 0, 0};
    return Place::Unshipped;
  }
  if (of_ == Of::Stream || type == EventType::Ignorable || belongs_to_file(type)) return Place::Outside;
  return misplaced(event, offset);
}

}  // namespace commitd::binlog
