// One reader's stream of the log: what to send next, in which frame, how far, and what the reader's
// acknowledgements mean.
//
// Everything here runs on the reactor of the reader's session: the stream itself, a coroutine that reads what
// the peer says, and one or two that watch the log grow.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binlog/transaction_scanner.h"
#include "commit/commit_pipeline.h"
#include "plugins/observers.h"
#include "replication/ack_tracker.h"
#include "replication/dump_framing.h"
#include "replication/framed_pages.h"
#include "replication/replica_progress.h"
#include "replication/signal.h"
#include "replication/source_lease.h"
#include "sql/session.h"
#include "wire/channel.h"
#include "wire/replication_commands.h"

namespace commitd::replication {

// What the reader said about itself with user variables and flags.
struct ReaderTraits {
  Uuid uuid;        // made from the server id when the reader gave none
  Uuid named_uuid;  // what it gave
  bool checksummed = false;
  bool semisync = false;
  bool commitd = false;           // understands watermarks
  bool second_heartbeat = false;  // heartbeat v2
  bool non_blocking = false;
  std::chrono::nanoseconds heartbeat_period{0};  // 0 = none wanted
  std::optional<uint64_t> epoch;  // a member's: it follows the master of this epoch and no other

  static ReaderTraits of(const sql::Session& session, const wire::DumpRequest& request);
};

class DumpStream : public std::enable_shared_from_this<DumpStream> {
 public:
  struct Source {
    binlog::CommitPipeline& pipeline;
    AckTracker& acknowledgements;
    SourceLease& lease;
    ReplicaProgress& progress;
    uint32_t server_id = 0;
    Uuid server_uuid;
    plugins::Observers* observers = nullptr;
    FramedPages* pages = nullptr;
  };

  DumpStream(Source source, sql::Session& session, wire::Channel& channel, wire::DumpRequest request,
             ReaderTraits traits);

  const ReaderTraits& traits() const { return traits_; }
  uint32_t reader_server_id() const { return request_.server_id; }

  const std::optional<wire::RegisterReplica>& replica() const { return request_.replica; }

  // Returns when the reader or the server ends it. An error is still to be sent to the reader.
  Task<Status> run();
  // All from any thread.
  void request_stop();
  // What this reader may see may have changed.
  void look_again();
  // The same server has connected again: this reader is told so, if it can still be told anything.
  void give_way();

 private:
  // An event of the chunk at hand.
  struct Item {
    std::string_view bytes;
    bool format_description = false;
    bool transaction_end = false;
  };

  Result<LogPosition> starting_point();
  Status check_offset(LogPosition start) const;  // as MySQL says it
  Status refuse_foreign_transactions();
  Status find_named_behind_start();
  binlog::CommitPipeline::Bound bound() const;
  LogPosition end_of(binlog::CommitPipeline::Bound what) const;

  Task<Status> stream();
  Task<Status> stream_until_stopped();
  Status ship_available(LogPosition limit);
  Result<binlog::LogChunk> read_next(LogPosition limit);
  Status ship(const binlog::LogChunk& chunk);
  // Whether this reader gets every transaction from here on, in packets like others'.
  bool takes_framed_pages() const;
  void ship_framed(const FramedPages::Page& page, LogPosition start);
  Status begin_file(LogPosition start);
  // Fills items_ with what the reader gets of a chunk.
  Status select(const binlog::LogChunk& chunk);
  void pass_transaction(LogPosition end);
  void write_items();
  void write_event(std::string_view event, bool wants_acknowledgement);
  void write_observed(std::string_view event, bool wants_acknowledgement);
  void write_unobserved(std::string_view event, bool wants_acknowledgement);
  LogPosition place_shown() const;
  void write_heartbeat(Heartbeat what);  // its place is filled in
  void write_watermark_if_advanced();
  void write_end_of_file();

  void attach();
  void take_acknowledgement(std::string_view packet);
  // For the lease: whether this member is still there, and has no other master.
  bool is_asked() const;
  void ask_when_due();
  void take_answer(uint64_t number);
  // For commitd_max_replica_lag: how far this replica has applied the log.
  void mark_when_due();
  Deadline next_wakeup(Deadline next_heartbeat) const;
  void report_held();

  // An end of the log that the stream waits for to move on.
  struct Watched {
    binlog::CommitPipeline::Bound bound;
    LogPosition seen = {};
    Signal wanted = {};
  };
  static Task<void> watch(std::shared_ptr<DumpStream> self, Watched& what);
  Task<void> wait_for_change(Deadline deadline);
  static Task<void> read_peer(std::shared_ptr<DumpStream> self);
  Task<Status> flush();
  Task<void> hang_up(const Status& status);

  Source source_;
  sql::Session& session_;
  wire::Channel& channel_;
  const wire::DumpRequest request_;
  const ReaderTraits traits_;
  Reactor* const home_;
  const std::string uuid_text_;
  plugins::ObservedReader observed_;
  const FramedPages::Reader frames_;
  Status shown_;  // what observers said of the events that were to be sent

  LogPosition position_;                     // everything before it is sent or skipped
  uint32_t file_ = 0;                        // the file whose head has been sent
  std::unique_ptr<binlog::Log::Hold> hold_;  // keeps the files we still need from being purged
  binlog::TransactionScanner scanner_{binlog::TransactionScanner::Of::Stream};
  bool skipping_ = false;  // the reader has the transaction we are in
  std::vector<Item> items_;

  // Invariant: the reader holds the log durably up to held_, and nothing but bytes outside transactions
  // follows held_ when it is not below owed_, the end of the last transaction that was sent.
  LogPosition held_, owed_;
  AckTracker::Token token_ = 0;
  struct Question {
    uint64_t number;
    Clock::time_point asked;
  };
  std::optional<Question> question_;  // that is not answered yet
  uint64_t questions_ = 0;
  Clock::time_point next_question_{};
  ReplicaProgress::Token progress_token_ = 0;  // of a replica that can tell
  bool marks_ = false;
  uint64_t last_mark_ = 0;
  Clock::time_point next_mark_{};

  // Transactions that have passed on this stream and are not covered by a watermark yet.
  std::deque<std::pair<LogPosition, Gtid>> passed_;
  LogPosition start_;
  bool watermark_sent_ = false;
  GtidSet named_ahead_;        // what the reader has named and the stream has not passed yet
  bool named_others_ = false;  // it has named what this log does not have, which may come into it
  LogPosition named_end_;      // behind the last of it that has been passed

  Signal changed_;
  Signal reader_ended_;
  bool peer_gone_ = false;
  bool stopping_ = false;
  bool flushing_ = false;
  bool gives_way_ = false;
  bool ended_ = false;

  bool waits_ = false;  // for changed_, and wants to hear of the log's growth
  Watched log_{binlog::CommitPipeline::Bound::Durable};
  Watched acknowledged_{binlog::CommitPipeline::Bound::Acknowledged};
};

}  // namespace commitd::replication
