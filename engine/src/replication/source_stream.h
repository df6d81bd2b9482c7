// A dump stream as the reader sees it: packets in, whole transactions and heartbeats out. No network and no
// waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "binlog/event_spool.h"
#include "binlog/transaction_scanner.h"
#include "replication/commit_time.h"
#include "replication/dump_framing.h"
#include "replication/event_filter.h"
#include "replication/foreign_events.h"

namespace commitd::replication {

struct ReceivedTransaction {
  // From the GTID event on, in front of which its place may stand (binlog/source_place.h); checksummed.
  binlog::EventSpool events;
  Gtid gtid;
  // Its place in the source's log, and whether the source asked to be told when it is durable here.
  std::string source_file;
  uint64_t source_begin = 0, source_position = 0;
  bool wants_acknowledgement = false;
  CommitTime committed_at;
  uint64_t queued_at = 0;  // when its first event came: microseconds
};

class SourceStream {
 public:
  struct Options {
    bool semisync = false;
    bool checksummed = true;  // until a format description says otherwise
    // Larger transactions go to a temporary file; without a place they do not.
    size_t most_in_memory = 0;
    TemporaryPlace temporary = {};
    std::shared_ptr<const FilterRules> filter = nullptr;  // null: everything is taken
    // Of a source without GTIDs; else what has none is refused.
    std::optional<ForeignEvents> foreign = std::nullopt;
    // Each transaction says where it stands there.
    std::optional<uint64_t> place_series = std::nullopt;
    bool auto_position = true;
  };
  explicit SourceStream(Options options) : options_(std::move(options)), checksummed_(options_.checksummed) {
    if (options_.filter != nullptr) filter_.emplace(options_.filter);
  }

  struct Step {
    std::optional<ReceivedTransaction> transaction;
    std::optional<Watermark> watermark;
    std::optional<uint64_t> question, mark;
    bool heartbeat = false;
  };
  // Takes a packet. The source's own error or the end of its stream is an error here too.
  Result<Step> feed(std::string_view packet);

  const std::string& file() const { return file_; }
  uint64_t position() const { return position_; }
  bool inside_transaction() const { return scanner_.inside(); }

 private:
  Result<Step> feed_translated(const binlog::EventView& event, bool wants_acknowledgement);
  Result<Step> feed_event(const binlog::EventView& event, bool wants_acknowledgement);
  Status take_rotate(const binlog::EventView& event);
  void begin_transaction(const binlog::EventView& gtid);
  Status end_transaction();
  Error anonymous() const;
  Status append(const binlog::EventView& event);

  const Options options_;
  bool checksummed_;
  binlog::TransactionScanner scanner_{binlog::TransactionScanner::Of::Stream};
  std::string file_;
  uint64_t position_ = 0;
  binlog::EventSpool events_;
  size_t gtid_at_ = 0;  // in those
  uint64_t begin_ = 0;  // of the transaction, in the source's file
  std::optional<EventFilter> filter_;
  CommitTime committed_at_;
  uint64_t queued_at_ = 0;
};

}  // namespace commitd::replication
