// Pages of the log as the packets that readers get, made once for all who get the same: what then is a
// reader's own is the numbering of its packets.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "binlog/events.h"
#include "binlog/transaction_scanner.h"
#include "log/log.h"

namespace commitd::replication {

// All but our own events between transactions (group marks) and transactions of sessions with sql_log_bin=0.
bool leaves_this_server(const binlog::EventView& event, binlog::TransactionScanner::Place place);

class FramedPages {
 public:
  // In what the packets of one reader differ from those of another.
  struct Kind {
    bool checksummed = false;
    bool semisync = false;
    bool operator==(const Kind&) const = default;
  };
  struct Page {
    size_t log_bytes = 0;
    std::string packets;            // numbered 0
    std::vector<uint32_t> headers;  // where each of them begins
    size_t event_bytes = 0;
    uint64_t transactions_end = 0;  // in the page: behind the last transaction; 0 where it has none
    std::vector<std::pair<uint64_t, Gtid>> transactions;  // where each ends, in the page
    bool asks_for_answer = false;                         // the last packet does

    void add(std::string_view event, Kind kind);
    void ask_for_answer();
  };

  // Null where a reader has to look at the events itself: the chunk is no whole page that others read as
  // well, it begins or ends inside a transaction, or it has an event that differs from reader to reader.
  std::shared_ptr<const Page> find_or_make(const binlog::LogChunk& chunk, Kind kind);

  // Who may take such pages. Making them is of no use to one alone.
  class Reader {
   public:
    Reader(FramedPages* pages, Kind kind);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    FramedPages* const pages_;
    const Kind kind_;
  };

 private:
  struct Kept {
    std::shared_ptr<const std::string>
        log;  // whose address is not given to another page as long as it is here
    Kind kind;
    std::shared_ptr<const Page> page;  // null: it cannot be shared
  };
  static std::shared_ptr<const Page> make(std::string_view events, Kind kind);
  static size_t index_of(Kind kind) { return (kind.checksummed ? 1 : 0) + (kind.semisync ? 2 : 0); }

  Mutex mutex_;
  std::array<size_t, 4> readers_ ABSL_GUARDED_BY(mutex_){};  // by kind
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);            // the newest at the end
  size_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace commitd::replication
