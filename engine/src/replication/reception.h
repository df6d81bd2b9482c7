// One episode of receiving: from start() to stop() of the Receiver, over any number of connections. Runs on
// one reactor; what the log thread notes goes through a DurableAccount.
#pragma once

#include "base/mutex.h"
#include "plugins/observers.h"
#include "replication/applied_marks.h"
#include "replication/durable_account.h"
#include "replication/receiver.h"
#include "replication/signal.h"
#include "replication/source_handshake.h"
#include "replication/source_stream.h"
#include "wire/client.h"

namespace commitd::replication {

// `surplus`: what this server has and its source has not. Error 3002 when the source made some of it, and
// nobody can have cut that off its log.
Status check_source_lost_nothing(const SourceTraits& source, const GtidSet& surplus, uint64_t last_log_epoch);

class Reception : public std::enable_shared_from_this<Reception> {
 public:
  Reception(Receiver::Environment environment, Receiver::Target target);

  static Task<void> run(std::shared_ptr<Reception> self);
  Task<void> stop();
  bool is_stopped() const { return stopping_; }
  ReceiverReport report() const;

 private:
  // One connection to the source. Outlives the reception loop as long as its acknowledger needs it.
  // Invariant: only the reactor's coroutines hold it, because its socket may go on no other thread.
  struct Connection {
    std::unique_ptr<wire::Client> client;
    std::shared_ptr<DurableAccount> account;
    SourceTraits source;
    GtidSet have;  // logged here or handed to the pipeline
    LogPosition end_at_request;
    std::optional<uint64_t> question;        // of the source's, not answered yet
    AppliedMarks marks;                      // the source's
    std::optional<Acknowledgement> applied;  // by those, not told yet
    Clock::time_point looked_at_marks{};
    bool closed = false;
  };
  using ConnectionPtr = std::shared_ptr<Connection>;

  static Task<void> receive_until_stopped(std::shared_ptr<Reception> self);
  Task<Status> connect_and_receive();
  Task<Status> receive_from(ConnectionPtr connection);
  Status agree_on_history(Connection& connection);
  Task<Status> request_stream(Connection& connection);
  Task<Status> receive(ConnectionPtr connection);
  Gtid next_gtid(const Connection& connection) const;
  SourceStream::Options stream_options(const Connection& connection) const;
  void keep_stand(const Connection& connection, const SourceStream& stream);
  void take_transaction(Connection& connection, ReceivedTransaction transaction);
  void take_watermark(Connection& connection, const Watermark& watermark);
  void take_mark(Connection& connection, uint64_t number);
  void look_at_marks(Connection& connection);
  void look_at_marks_now_and_then(Connection& connection);
  static Task<void> send_acknowledgements(ConnectionPtr connection);

  commitd_source observed_source() const;

  void show(ReceiverState state, std::optional<Error> error = std::nullopt);
  void show_heard(const SourceStream& stream, bool heartbeat);

  const Receiver::Environment environment_;
  const Receiver::Target target_;

  // Whoever may touch the log is inside; closed by stop().
  DrainGate gate_;
  std::atomic<bool> stopping_{false};
  ConnectionPtr connection_;  // reactor only
  Signal retry_;
  uint64_t received_ = 0;  // reactor only
  SourceStand stand_;      // reactor only: as of where it is durable beside the log

  mutable Mutex mutex_;
  ReceiverReport report_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<DurableAccount> account_ ABSL_GUARDED_BY(mutex_);  // of the present connection
};

}  // namespace commitd::replication
