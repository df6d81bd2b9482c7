// A dump stream as the reader sees it: packets in, whole transactions and heartbeats out. No network and no
// waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "replication/dump_framing.h"
#include "replication/transaction_boundary.h"

namespace commitd::replication {

struct ReceivedTransaction {
  std::string events;  // from the GTID event on, checksummed
  Gtid gtid;
  // The place behind it in the source's log, and whether the source asked to be told when it is durable here.
  std::string source_file;
  uint64_t source_position = 0;
  bool wants_acknowledgement = false;
};

class SourceStream {
 public:
  struct Options {
    bool semisync = false;
    bool checksummed = true;  // until a format description says otherwise
  };
  explicit SourceStream(Options options) : options_(options), checksummed_(options.checksummed) {}

  struct Step {
    std::optional<ReceivedTransaction> transaction;
    std::optional<Watermark> watermark;
  };
  // Takes a packet. The source's own error or the end of its stream is an error here too.
  Result<Step> feed(std::string_view packet);

  const std::string& file() const { return file_; }
  uint64_t position() const { return position_; }

 private:
  Result<Step> feed_event(const binlog::EventView& event, bool wants_acknowledgement);
  Status take_rotate(const binlog::EventView& event);
  void append(const binlog::EventView& event);

  const Options options_;
  bool checksummed_;
  TransactionBoundary boundary_;
  std::string file_;
  uint64_t position_ = 0;
  std::string events_;
};

}  // namespace commitd::replication
