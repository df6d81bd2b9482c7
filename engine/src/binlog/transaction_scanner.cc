#include "binlog/transaction_scanner.h"

#include "base/bytes.h"
#include "base/error_codes.h"

namespace commitd::binlog {
namespace {

// MySQL's XA PREPARE event ends a transaction's events too.
constexpr uint8_t kXaPrepare = 38;

Error misplaced(const EventView& event, uint64_t offset) {
  return make_error(er::kErrorOnRead, "Event of type {} at offset {} is outside of any transaction",
                    static_cast<int>(event.header.type), offset);
}

bool is_transaction_control(const std::string& sql) {
  return sql == "COMMIT" || sql == "ROLLBACK";
}

}  // namespace

std::optional<uint64_t> epoch_of(const EventView& event) {
  const auto own = parse_own_event(event, true);
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

Result<std::optional<TransactionScanner::Transaction>> TransactionScanner::feed(const EventView& event,
                                                                                uint64_t offset) {
  if (!inside_) return feed_outside(event, offset);
  bool ends = false;
  switch (event.header.type) {
    case EventType::Gtid:
    case EventType::AnonymousGtid:
      return make_error(er::kErrorOnRead, "A transaction starts at offset {} inside another one", offset);
    case EventType::Xid:
      ends = true;
      break;
    case EventType::Query: {
      auto query = parse_query_event(event, true);
      if (!query) return std::move(query).error();
      if (query->sql == "BEGIN") {
        has_begin_ = true;
      } else {
        ends = !has_begin_ || is_transaction_control(query->sql);
      }
      break;
    }
    case EventType::Ignorable:
      if (auto epoch = epoch_of(event)) current_.epoch = *epoch;
      break;
    default:
      ends = static_cast<uint8_t>(event.header.type) == kXaPrepare;
  }
  if (!ends) return std::optional<Transaction>();
  inside_ = false;
  current_.end = offset + event.bytes.size();
  return std::optional(current_);
}

Result<std::optional<TransactionScanner::Transaction>> TransactionScanner::feed_outside(
    const EventView& event, uint64_t offset) {
  switch (event.header.type) {
    case EventType::Gtid: {
      auto gtid = parse_gtid_event(event, true);
      if (!gtid) return std::move(gtid).error();
      inside_ = true;
      has_begin_ = false;
      current_ = Transaction{gtid->gtid, offset, 0, 0, gtid->sequence_number};
      return std::optional<Transaction>();
    }
    case EventType::Ignorable: {
      const auto own = parse_own_event(event, true);
      if (!own || own->kind != OwnKind::LocalOnly) return std::optional<Transaction>();
      Transaction local;
      local.start = offset;
      local.end = offset + event.bytes.size();
      return std::optional(local);
    }
    case EventType::FormatDescription:
    case EventType::PreviousGtids:
    case EventType::Rotate:
    case EventType::Stop:
      return std::optional<Transaction>();
    default:
      return misplaced(event, offset);
  }
}

}  // namespace commitd::binlog
