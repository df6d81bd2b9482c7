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

namespace commitd::replication {

struct ReceivedTransaction {
  binlog::EventSpool events;  // from the GTID event on, checksummed
  Gtid gtid;
  // The place behind it in the source's log, and whether the source asked to be told when it is durable here.
  std::string source_file;
  uint64_t source_position = 0;
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
  };
  explicit SourceStream(Options options) : options_(std::move(options)), checksummed_(options_.checksummed) {
    if (options_.filter != nullptr) filter_.emplace(options_.filter);
  }

  struct Step {
    std::optional<ReceivedTransaction> transaction;
    std::optional<Watermark> watermark;
    std::optional<uint64_t> question;
    bool heartbeat = false;
  };
  // Takes a packet. The source's own error or the end of its stream is an error here too.
  Result<Step> feed(std::string_view packet);

  const std::string& file() const { return file_; }
  uint64_t position() const { return position_; }

 private:
  Result<Step> feed_event(const binlog::EventView& event, bool wants_acknowledgement);
  Status take_rotate(const binlog::EventView& event);
  Status append(const binlog::EventView& event);

  const Options options_;
  bool checksummed_;
  binlog::TransactionScanner scanner_{binlog::TransactionScanner::Of::Stream};
  std::string file_;
  uint64_t position_ = 0;
  binlog::EventSpool events_;
  std::optional<EventFilter> filter_;
  CommitTime committed_at_;
  uint64_t queued_at_ = 0;
};

}  // namespace commitd::replication
