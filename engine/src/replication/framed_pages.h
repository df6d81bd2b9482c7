// Pages of the log as the packets that readers get, made once for all of them: what then is a reader's own is
// the numbering of its packets.
#pragma once

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
  struct Page {
    size_t log_bytes = 0;
    std::string packets;            // numbered 0
    std::vector<uint32_t> headers;  // where each of them begins
    size_t event_bytes = 0;
    uint64_t transactions_end = 0;  // in the page: behind the last transaction; 0 where it has none

    void add(std::string_view event, bool checksummed);
  };

  // Null where a reader has to look at the events itself: the chunk is no whole page that others read as
  // well, it begins or ends inside a transaction, or it has an event that differs from reader to reader.
  std::shared_ptr<const Page> find_or_make(const binlog::LogChunk& chunk, bool checksummed);

  // Who may take such pages. Making them is of no use to one alone.
  class Reader {
   public:
    explicit Reader(FramedPages* pages);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    FramedPages* pages_;
  };

 private:
  struct Kept {
    std::shared_ptr<const std::string>
        log;  // whose address is not given to another page as long as it is here
    bool checksummed;
    std::shared_ptr<const Page> page;  // null: it cannot be shared
  };
  static std::shared_ptr<const Page> make(std::string_view events, bool checksummed);

  Mutex mutex_;
  size_t readers_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // the newest at the end
  size_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace commitd::replication
