// One episode of receiving: from start() to stop() of the Receiver, over any number of connections. Runs on
// one reactor; only `durable` notices of the log thread come from elsewhere.
#pragma once

#include "replication/receiver.h"
#include "replication/semisync_protocol.h"
#include "replication/signal.h"
#include "replication/source_handshake.h"
#include "replication/source_stream.h"
#include "wire/client.h"

namespace commitd::replication {

class Reception : public std::enable_shared_from_this<Reception> {
 public:
  Reception(Receiver::Environment environment, Receiver::Target target);

  static Task<void> run(std::shared_ptr<Reception> self);
  Task<void> stop();
  ReceiverReport report() const;

 private:
  // One connection to the source. Outlives the reception loop as long as its acknowledger or a durable notice
  // needs it.
  struct Connection {
    std::unique_ptr<wire::Client> client;
    SourceTraits source;
    GtidSet have;  // logged here or handed to the pipeline
    LogPosition end_at_request;
    bool closed = false;
    Signal acknowledge;  // something became durable that the source waits for
    Signal progress;     // something became durable

    std::mutex mutex;  // below: the log thread too
    uint64_t handed_bytes = 0;
    uint64_t durable_bytes = 0;
    std::optional<Acknowledgement> newest;
    bool notice_posted = false;

    uint64_t bytes_on_the_way();
    std::optional<Acknowledgement> take_newest();
  };
  using ConnectionPtr = std::shared_ptr<Connection>;

  Task<Status> connect_and_receive();
  Task<Status> receive_from(ConnectionPtr connection);
  Status agree_on_history(Connection& connection);
  Task<Status> request_stream(Connection& connection);
  Task<Status> receive(ConnectionPtr connection);
  void take_transaction(const ConnectionPtr& connection, ReceivedTransaction transaction);
  void take_watermark(Connection& connection, const Watermark& watermark);
  Task<void> wait_until_durable(ConnectionPtr connection);
  static void note_durable(const std::shared_ptr<Reception>& self, const ConnectionPtr& connection,
                           uint64_t bytes, const std::optional<Acknowledgement>& acknowledgement);
  static Task<void> send_acknowledgements(ConnectionPtr connection);

  void show(ReceiverState state, std::optional<Error> error = std::nullopt);
  void show_heard(const SourceStream& stream);

  const Receiver::Environment environment_;
  const Receiver::Target target_;

  // Whoever may touch the log is inside; closed by stop().
  DrainGate gate_;
  std::atomic<bool> stopping_{false};
  ConnectionPtr connection_;  // reactor only
  Signal retry_;

  mutable std::mutex mutex_;
  ReceiverReport report_;
};

}  // namespace commitd::replication
