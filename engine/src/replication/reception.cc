#include "replication/reception.h"

#include <spdlog/spdlog.h>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "replication/source_login.h"

namespace commitd::replication {
namespace {

constexpr auto kConnectTimeout = std::chrono::seconds(3);
constexpr auto kFirstRetry = std::chrono::milliseconds(100);
constexpr uint64_t kMaxBytesOnTheWay = 64ull << 20;
constexpr uint64_t kBetweenTrims = 1024;
constexpr uint64_t kBetweenLooks = 256;
constexpr auto kBetweenLooksAtMarks = std::chrono::milliseconds(200);
constexpr uint64_t kBetweenStands = 64ull << 20;  // bytes of the own log, which a start reads
constexpr std::string_view kAssignLocal = "LOCAL";

bool is_earlier(const SourceStand& one, const SourceStand& other) {
  return one.as_of < other.as_of;
}

ReceivedEntry entry_of(const ReceivedTransaction& transaction) {
  ReceivedEntry entry;
  entry.gtid = transaction.gtid;
  entry.committed_at = transaction.committed_at.immediate;
  entry.first_committed_at = transaction.committed_at.original;
  entry.queued_at = transaction.queued_at;
  entry.source_file = transaction.source_file;
  entry.source_begin = transaction.source_begin;
  entry.source_position = transaction.source_position;
  return entry;
}

}  // namespace

Reception::Reception(Receiver::Environment environment, Receiver::Target target)
    : environment_(std::move(environment)), target_(std::move(target)), stand_(environment_.stand) {
  report_.state = ReceiverState::Connecting;
}

Task<void> Reception::run(std::shared_ptr<Reception> self) {
  plugins::Observers* const observers = self->environment_.observers;
  if (observers != nullptr) observers->receiver_started(self->observed_source());
  co_await receive_until_stopped(self);
  if (observers != nullptr) observers->receiver_stopped(self->observed_source());
}

Task<void> Reception::receive_until_stopped(std::shared_ptr<Reception> self) {
  const sql::SourceOptions& options = self->target_.source.options;
  const auto longest_pause =
      std::max<std::chrono::milliseconds>(std::chrono::seconds(options.connect_retry), kFirstRetry);
  auto pause = std::chrono::milliseconds(kFirstRetry);
  uint64_t attempts = 0;
  while (!self->stopping_) {
    Status status = co_await self->connect_and_receive();
    if (self->stopping_) break;
    const bool was_receiving = self->report().state == ReceiverState::Receiving;
    if (!status.ok() && status.error().code == er::kDiverged) {
      spdlog::error("replication has stopped: {}", status.error().message);
      self->show(ReceiverState::Diverged, status.error());
      co_return;
    }
    if (!status.ok()) {
      if (was_receiving)
        spdlog::warn("replication from {}: {}", self->target_.source.host, status.error().message);
      self->show(ReceiverState::Error, status.error());
    }
    attempts = was_receiving ? 0 : attempts + 1;
    if (options.retry_count != 0 && attempts > options.retry_count) {
      spdlog::error("replication from {} has stopped: not connected after {} retries",
                    self->target_.source.host, options.retry_count);
      self->show(ReceiverState::Off, self->report().error);
      co_return;
    }
    pause = was_receiving ? kFirstRetry : std::min(pause * 2, longest_pause);
    co_await self->retry_.wait(Clock::now() + pause);
  }
  self->show(ReceiverState::Off);
}

Task<void> Reception::stop() {
  stopping_ = true;
  gate_.close(make_error(er::kReplicaNotRunning, "The receiver is being stopped"));
  environment_.reactor->post(std::function<void()>([self = shared_from_this()] {
    if (self->connection_) {
      self->connection_->client->channel().shutdown();
      self->connection_->account->progress.set();  // a full disk lets nothing become durable
    }
    self->retry_.set();
  }));
  // A connection attempt may go on for a while, but can no longer come through the gate.
  co_await gate_.drained();
  show(ReceiverState::Off);
}

Task<Status> Reception::connect_and_receive() {
  auto login = login_at(target_.source);
  if (!login.ok()) co_return std::move(login).error();
  login->deadline = Clock::now() + kConnectTimeout;
  Result<std::unique_ptr<wire::Client>> client = co_await wire::Client::connect(*std::move(login));
  if (!client.ok()) co_return std::move(client).error();
  const auto visit = gate_.enter();
  if (!visit) co_return visit.error();

  auto connection = std::make_shared<Connection>();
  connection->client = std::move(*client);
  connection->account = std::make_shared<DurableAccount>(*environment_.reactor);
  connection_ = connection;
  Status status;
  if (!stopping_) status = co_await receive_from(connection);
  connection->closed = true;
  connection->client->channel().shutdown();
  connection->account->acknowledge.set();
  connection_.reset();
  environment_.pipeline->drop_received();
  co_return status;
}

Task<Status> Reception::receive_from(ConnectionPtr connection) {
  Result<SourceTraits> traits = co_await greet_source(*connection->client, environment_, target_);
  if (!traits.ok()) co_return std::move(traits).error();
  connection->source = std::move(*traits);
  if (stopping_) co_return Status{};
  COMMITD_CO_RETURN_IF_ERROR(agree_on_history(*connection));
  COMMITD_CO_RETURN_IF_ERROR(co_await request_stream(*connection));
  co_return co_await receive(connection);
}

// A master makes durable what it ships, so it has what it made, unless another master's log has taken that
// away since: then its log ended with a later epoch than ours when this mastership began. Anything else is a
// source that has lost the end of its log, which this server has acknowledged.
Status check_source_lost_nothing(const SourceTraits& source, const GtidSet& surplus,
                                 uint64_t last_log_epoch) {
  if (surplus.last(source.uuid) == 0 || last_log_epoch < source.log_epoch_before) return {};
  return make_error(er::kDiverged,
                    "The source {} has lost transactions of its own that this server has acknowledged: {}. "
                    "Nothing was cut",
                    source.uuid.to_string(), surplus.to_string());
}

// Cuts off what the source does not have. Nothing of ours is on the way into the log here: the former
// connection has waited for that.
Status Reception::agree_on_history(Connection& connection) {
  binlog::CommitPipeline& pipeline = *environment_.pipeline;
  if (!target_.epoch) return {};
  const uint64_t last_log_epoch = pipeline.last_log_epoch();
  const GtidSet keep =
      last_log_epoch < *target_.epoch ? log_before_epoch(connection.source) : connection.source.logged;
  GtidSet surplus = pipeline.gtid_logged();
  surplus.subtract(keep);
  if (surplus.empty()) return {};
  COMMITD_RETURN_IF_ERROR(check_source_lost_nothing(connection.source, surplus, last_log_epoch));
  // Invariant: a number that was ever written into this log is never given to another transaction, so the
  // floor is durable before the cut.
  const uint64_t floor = pipeline.next_gno() - 1;
  COMMITD_RETURN_IF_ERROR(environment_.save_gno_floor(floor));
  pipeline.raise_gno_floor(floor);
  auto cut = pipeline.cut_unacknowledged(keep);
  if (!cut) return std::move(cut).error();
  environment_.gate->log_was_cut();
  spdlog::warn("cut {} unacknowledged transactions that the source {} does not have", *cut,
               connection.source.uuid.to_string());
  return {};
}

Task<Status> Reception::request_stream(Connection& connection) {
  binlog::CommitPipeline& pipeline = *environment_.pipeline;
  environment_.gate->source_is(connection.source.commitd);
  wire::Client& client = *connection.client;
  const std::string introduction = register_replica_payload(environment_.server_id, environment_.port);
  COMMITD_CO_RETURN_IF_ERROR(co_await client.send_command(kComRegisterReplica, introduction));
  const Deadline deadline = Clock::now() + kSilenceLimit;
  Result<std::string> answer = co_await client.channel().read_packet(deadline);
  if (!answer.ok()) co_return std::move(answer).error();
  if (answer->empty() || answer->front() != 0) {
    co_return make_error(er::kSourceFatalReadingBinlog,
                         "The source refused to register this replica: does its account have the REPLICATION "
                         "SLAVE privilege?");
  }
  connection.have = pipeline.gtid_logged();
  connection.end_at_request = pipeline.durable_end();
  if (target_.source.options.auto_position) {
    const std::string request = dump_gtid_payload(environment_.server_id, connection.have);
    COMMITD_CO_RETURN_IF_ERROR(co_await client.send_command(kComBinlogDumpGtid, request));
  } else {
    const SourceStand from = std::max(stand_, environment_.gate->received().stand(), is_earlier);
    const std::string request = dump_payload(environment_.server_id, from, connection.source.mariadb);
    COMMITD_CO_RETURN_IF_ERROR(co_await client.send_command(kComBinlogDump, request));
  }
  client.channel().set_duplex();
  co_return Status{};
}

SourceStream::Options Reception::stream_options(const Connection& connection) const {
  const binlog::PipelineOptions& pipeline = environment_.pipeline->options();
  SourceStream::Options options{connection.source.semisync, connection.source.checksummed,
                                pipeline.settings->transaction_cache_bytes, pipeline.temporary,
                                environment_.filter};
  options.place_series = environment_.place_series;
  options.auto_position = target_.source.options.auto_position;
  if (target_.source.options.assigns_gtids()) {
    const auto of = connection.source.mariadb ? ForeignEvents::Of::MariaDb : ForeignEvents::Of::MySql;
    options.foreign.emplace(of, [this, &connection] { return next_gtid(connection); });
  }
  return options;
}

// Nobody else logs anything meanwhile.
Gtid Reception::next_gtid(const Connection& connection) const {
  const std::string& assign = target_.source.options.assign_gtids;
  const Uuid uuid = assign == kAssignLocal ? environment_.server_uuid : Uuid::parse(assign).value_or(Uuid{});
  uint64_t gno = connection.have.last(uuid) + 1;
  if (uuid == environment_.server_uuid) gno = std::max(gno, environment_.pipeline->next_gno());
  return {uuid, gno};
}

// Where nothing of the source's is on its way into the log, the stream tells where it stands: also in a file
// that has nothing for this server. And so that the log's files may go, some time behind each of them.
void Reception::keep_stand(const Connection& connection, const SourceStream& stream) {
  if (!environment_.place_series || target_.source.options.auto_position || stream.file().empty()) return;
  const SourceStand logged = environment_.gate->received().stand();
  if (logged.as_of.file > stand_.as_of.file || logged.as_of.offset > stand_.as_of.offset + kBetweenStands) {
    stand_ = logged;
  } else if (!stream.inside_transaction() && connection.account->bytes_on_the_way() == 0) {
    const LogPosition end = environment_.pipeline->durable_end();
    if (std::max(stand_, logged, is_earlier).file == stream.file() && end.file == stand_.as_of.file) return;
    stand_ = {stream.file(), stream.position(), end};
  } else {
    return;
  }
  if (auto saved = environment_.save_stand(stand_); !saved.ok())
    spdlog::error("where the source's log is read on cannot be saved: {}", saved.error().message);
}

Task<Status> Reception::receive(ConnectionPtr connection) {
  plugins::Observers* const observers = environment_.observers;
  if (connection->source.semisync || connection->source.commitd)
    environment_.reactor->spawn(send_acknowledgements(connection));
  SourceStream stream(stream_options(*connection));
  const auto silence_limit = silence_limit_of(target_.source.options);
  while (!stopping_) {
    const Deadline deadline = Clock::now() + silence_limit;
    Result<std::string> packet = co_await connection->client->channel().read_packet(deadline);
    if (!packet.ok()) co_return std::move(packet).error();
    if (observers != nullptr && observers->relay.any()) observers->event_read(observed_source(), *packet);
    Result<SourceStream::Step> step = stream.feed(*packet);
    if (!step.ok()) co_return std::move(step).error();
    const bool took = step->transaction.has_value() && !stopping_;
    if (took) take_transaction(*connection, std::move(*step->transaction));
    show_heard(stream, step->heartbeat);  // behind that: where it has come to is on its way
    if (stopping_) break;
    if (step->heartbeat || (took && received_ % kBetweenLooks == 0)) keep_stand(*connection, stream);
    if (step->watermark) take_watermark(*connection, *step->watermark);
    if (step->question) {
      connection->question = step->question;
      connection->account->acknowledge.set();
    }
    if (step->mark) take_mark(*connection, *step->mark);
    look_at_marks_now_and_then(*connection);
    while (connection->account->bytes_on_the_way() > kMaxBytesOnTheWay && !stopping_) {
      co_await connection->account->progress.wait();
      look_at_marks_now_and_then(*connection);
    }
  }
  co_return Status{};
}

void Reception::take_transaction(Connection& connection, ReceivedTransaction transaction) {
  static auto& received = observe::counter("commitd_replica_received_transactions_total",
                                           "Transactions received from the source.");
  // Told by GTID and never by server id: a server that comes back must take its own former transactions.
  if (connection.have.contains(transaction.gtid)) return;
  connection.have.add(transaction.gtid);
  received.add();
  const Gtid gtid = transaction.gtid;
  const uint64_t bytes = transaction.events.size();
  connection.account->handed(bytes);
  std::optional<Acknowledgement> acknowledgement;
  if (transaction.wants_acknowledgement)
    acknowledgement = Acknowledgement{transaction.source_file, transaction.source_position};
  if (++received_ % kBetweenTrims == 0) environment_.gate->trim_received();
  environment_.pipeline->append_received(
      std::move(transaction.events), gtid,
      [account = connection.account, bytes, acknowledgement = std::move(acknowledgement),
       gate = environment_.gate, entry = entry_of(transaction)](LogPosition end) mutable {
        entry.end = end;
        entry.durable_at = now_microseconds();
        gate->received().note(std::move(entry));
        DurableAccount::note_durable(account, bytes, acknowledgement);
      });
  plugins::Observers* const observers = environment_.observers;
  if (observers != nullptr && observers->relay.any())
    observers->transaction_queued(observed_source(), gtid.to_string());
}

commitd_source Reception::observed_source() const {
  return {target_.source.host.c_str(), target_.source.port};
}

void Reception::take_watermark(Connection& connection, const Watermark& watermark) {
  if (watermark.gtid.empty()) {
    environment_.gate->allow(connection.end_at_request);
  } else {
    environment_.gate->allow_through(watermark.gtid);
  }
}

void Reception::take_mark(Connection& connection, uint64_t number) {
  connection.marks.came(number, connection.account->handed_transactions());
  if (connection.marks.is_wanted()) look_at_marks(connection);
}

// In this order: what is durable stands in front of the end, and is applied where nothing is left to apply.
void Reception::look_at_marks(Connection& connection) {
  binlog::CommitPipeline& pipeline = *environment_.pipeline;
  const uint64_t durable = connection.account->durable_transactions();
  connection.marks.durable(durable, pipeline.durable_end());
  const bool all = pipeline.unapplied_transactions() == 0;
  const uint64_t applied = connection.marks.applied(pipeline.applied_end(), all);
  const bool keeps_up = environment_.gate->rule() == ApplyRule{} && !pipeline.apply_error();
  connection.applied = Acknowledgement{std::string(keeps_up ? kKeepsUp : kHasStopped), applied};
  connection.looked_at_marks = Clock::now();
  connection.account->acknowledge.set();
}

// Over a slow link the source's next mark takes its time: it hears from here that somebody is there.
void Reception::look_at_marks_now_and_then(Connection& connection) {
  if (!connection.marks.is_wanted()) return;
  if (Clock::now() - connection.looked_at_marks >= kBetweenLooksAtMarks) look_at_marks(connection);
}

// Invariant: an acknowledgement leaves only after the transaction, and all before it, are durable in the own
// log.
Task<void> Reception::send_acknowledgements(ConnectionPtr connection) {
  wire::Channel& channel = connection->client->channel();
  while (!connection->closed) {
    const auto newest = connection->account->take_newest();
    const auto question = std::exchange(connection->question, std::nullopt);
    const auto applied = std::exchange(connection->applied, std::nullopt);
    if (!newest && !question && !applied) {
      co_await connection->account->acknowledge.wait();
      continue;
    }
    const auto say = [&channel](const Acknowledgement& what) {
      channel.set_sequence(0);
      channel.write_packet(encode_acknowledgement(what));
    };
    if (newest) say(*newest);
    if (question) say({std::string(kAnswer), *question});
    if (applied) say(*applied);
    Status sent = co_await channel.flush();
    if (!sent.ok()) co_return;
  }
}

void Reception::show(ReceiverState state, std::optional<Error> error) {
  MutexLock lock(mutex_);
  report_.state = state;
  if (error) report_.error_at = now_microseconds();
  report_.error = std::move(error);
}

void Reception::show_heard(const SourceStream& stream, bool heartbeat) {
  if (heartbeat) environment_.gate->note_error();
  MutexLock lock(mutex_);
  report_.state = stopping_ ? ReceiverState::Off : ReceiverState::Receiving;
  report_.error.reset();
  report_.last_heard = Clock::now();
  report_.acknowledges = connection_ && connection_->source.semisync && !stopping_;
  if (connection_) {
    report_.source_uuid = connection_->source.uuid;
    report_.source_server_id = connection_->source.server_id;
    report_.clock_difference = connection_->source.clock_difference;
  }
  if (heartbeat) {
    ++report_.heartbeats;
    report_.heartbeat_at = now_microseconds();
  }
  report_.source_file = stream.file();
  report_.source_position = stream.position();
  report_.all_is_logged = !stream.inside_transaction();
  if (connection_) account_ = connection_->account;
}

ReceiverReport Reception::report() const {
  MutexLock lock(mutex_);
  ReceiverReport report = report_;
  if (account_ && account_->bytes_on_the_way() != 0) report.all_is_logged = false;
  return report;
}

}  // namespace commitd::replication
