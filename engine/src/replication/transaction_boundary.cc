#include "replication/transaction_boundary.h"

#include <strings.h>

#include "base/error_codes.h"

namespace commitd::replication {
namespace {

constexpr auto kTransactionPayload = static_cast<binlog::EventType>(40);
constexpr auto kXaPrepare = static_cast<binlog::EventType>(38);

bool is_word(std::string_view sql, std::string_view word) {
  return sql.size() == word.size() && strncasecmp(sql.data(), word.data(), word.size()) == 0;
}

}  // namespace

Result<TransactionBoundary::Place> TransactionBoundary::feed(const binlog::EventView& event,
                                                             bool checksummed) {
  using binlog::EventType;
  if (event.header.type == kTransactionPayload) {
    return make_error(
        er::kSourceFatalReadingBinlog,
        "The source sends compressed transactions: set binlog_transaction_compression=OFF there");
  }
  if (event.header.type == kXaPrepare) {
    return make_error(er::kSourceFatalReadingBinlog,
                      "The source sends an XA transaction, which is not supported");
  }
  switch (event.header.type) {
    case EventType::Gtid: {
      auto parsed = parse_gtid_event(event, checksummed);
      if (!parsed) return std::move(parsed).error();
      gtid_ = parsed->gtid;
      state_ = State::AfterGtid;
      return Place::First;
    }
    case EventType::AnonymousGtid:
      return make_error(er::kSourceFatalReadingBinlog,
                        "The source sends transactions without GTIDs: set gtid_mode=ON there");
    case EventType::GtidTagged:
      return make_error(er::kSourceFatalReadingBinlog,
                        "The source sends tagged GTIDs, which are not supported: unset gtid_next tags there");
    case EventType::FormatDescription:
    case EventType::Rotate:
    case EventType::PreviousGtids:
    case EventType::Stop:
      state_ = State::Between;
      return Place::Outside;
    case EventType::Query:
      return feed_query(event, checksummed);
    case EventType::Xid:
      if (state_ == State::Between) return Place::Outside;
      state_ = State::Between;
      return Place::Last;
    default:
      if (state_ == State::Between) return Place::Outside;
      state_ = State::InGroup;
      return Place::Inside;
  }
}

Result<TransactionBoundary::Place> TransactionBoundary::feed_query(const binlog::EventView& event,
                                                                   bool checksummed) {
  if (state_ == State::Between) return Place::Outside;
  auto query = parse_query_event(event, checksummed);
  if (!query) return std::move(query).error();
  const bool single_statement = state_ == State::AfterGtid && !is_word(query->sql, "BEGIN");
  const bool closes = is_word(query->sql, "COMMIT") || is_word(query->sql, "ROLLBACK");
  if (single_statement || closes) {
    state_ = State::Between;
    return Place::Last;
  }
  state_ = State::InGroup;
  return Place::Inside;
}

}  // namespace commitd::replication
