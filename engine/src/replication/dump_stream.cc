#include "replication/dump_stream.h"

#include <charconv>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "observe/metrics.h"
#include "replication/semisync_protocol.h"

namespace commitd::replication {
namespace {

using binlog::CommitPipeline;
using binlog::EventType;

constexpr size_t kChunkBytes = 128 << 10;
constexpr size_t kFlushBytes = 256 << 10;
constexpr int kSkippedChunksAtOnce = 16;
// A reader answers with a packet of its own, numbered 0; ours go on behind that.
constexpr uint8_t kBehindAnswer = 1;
constexpr uint64_t kFirstEventAt = 4;  // behind the magic number of a file
// How long a watcher may go on after its stream has ended.
constexpr auto kWatchPeriod = std::chrono::seconds(1);
constexpr uint16_t kFlagNonBlocking = 1;
constexpr uint16_t kFlagSecondHeartbeat = 2;

uint64_t as_number(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Int:
      return value.as_int() > 0 ? static_cast<uint64_t>(value.as_int()) : 0;
    case Value::Kind::UInt:
      return value.as_uint();
    default:
      break;
  }
  const std::string text = value.to_text();
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Variables of replication exist under their present and their former name.
std::optional<Value> either_variable(const sql::Session& session, std::string_view name,
                                     std::string_view former) {
  if (auto value = session.user_variable(name); value && !value->is_null()) return value;
  if (auto value = session.user_variable(former); value && !value->is_null()) return value;
  return std::nullopt;
}

FramedPages::Kind kind_of_packets(const ReaderTraits& traits) {
  return {.checksummed = traits.checksummed, .semisync = traits.semisync};
}

void count_sent(size_t events, size_t bytes) {
  static auto& all_events =
      observe::counter("commitd_dump_events_sent_total", "Events sent to readers of the log.");
  static auto& all_bytes =
      observe::counter("commitd_dump_bytes_sent_total", "Bytes of events sent to readers of the log.");
  all_events.add(events);
  all_bytes.add(bytes);
}

Uuid uuid_of_server_id(uint32_t server_id) {
  Uuid uuid;
  store_be32(uuid.bytes.data() + 12, server_id);
  return uuid;
}

}  // namespace

ReaderTraits ReaderTraits::of(const sql::Session& session, const wire::DumpRequest& request) {
  ReaderTraits traits;
  if (auto uuid = either_variable(session, "replica_uuid", "slave_uuid")) {
    traits.uuid = traits.named_uuid = Uuid::parse(uuid->to_text()).value_or(Uuid{});
  }
  if (traits.uuid.is_nil()) traits.uuid = uuid_of_server_id(request.server_id);
  if (auto checksum = either_variable(session, "source_binlog_checksum", "master_binlog_checksum")) {
    traits.checksummed = equal_words(checksum->to_text(), "CRC32");
  }
  if (auto period = either_variable(session, "source_heartbeat_period", "master_heartbeat_period")) {
    traits.heartbeat_period = std::chrono::nanoseconds(as_number(*period));
  }
  if (auto semisync = either_variable(session, "rpl_semi_sync_replica", "rpl_semi_sync_slave")) {
    traits.semisync = as_number(*semisync) != 0;
  }
  if (auto epoch = session.user_variable("commitd_epoch"); epoch && !epoch->is_null())
    traits.epoch = as_number(*epoch);
  traits.commitd = session.user_variable("commitd_reader").has_value();
  traits.non_blocking = (request.flags & kFlagNonBlocking) != 0;
  // MariaDB gives the same bit another meaning, and tells that it is MariaDB.
  const bool mariadb = session.user_variable("mariadb_slave_capability").has_value();
  traits.second_heartbeat = traits.commitd || ((request.flags & kFlagSecondHeartbeat) != 0 && !mariadb);
  return traits;
}

DumpStream::DumpStream(Source source, sql::Session& session, wire::Channel& channel,
                       wire::DumpRequest request, ReaderTraits traits)
    : source_(source),
      session_(session),
      channel_(channel),
      request_(std::move(request)),
      traits_(traits),
      home_(Reactor::current()),
      uuid_text_(traits_.named_uuid.is_nil() ? "" : traits_.named_uuid.to_string()),
      observed_(source_.observers, {request_.server_id, uuid_text_.c_str(), traits_.semisync}),
      frames_(source_.pages, kind_of_packets(traits_)) {}

void DumpStream::request_stop() {
  home_->post(std::function<void()>([self = shared_from_this()] {
    if (self->ended_) return;
    self->stopping_ = true;
    self->channel_.shutdown();
    self->changed_.set();
  }));
}

// Its watchers may wait for what was the reader's bound before. Here, where no step of the stream is half
// done.
void DumpStream::look_again() {
  home_->post(std::function<void()>([self = shared_from_this()] {
    if (!self->ended_) self->source_.pipeline.wake_readers();
  }));
}

// Whose socket takes nothing any more is cut off.
void DumpStream::give_way() {
  home_->post(std::function<void()>([self = shared_from_this()] {
    if (self->ended_) return;
    self->gives_way_ = true;
    if (self->flushing_) self->channel_.shutdown();
    self->changed_.set();
  }));
}

Task<Status> DumpStream::flush() {
  flushing_ = true;
  Status flushed = co_await channel_.flush();
  flushing_ = false;
  co_return flushed;
}

Task<Status> DumpStream::run() {
  auto start = starting_point();
  if (!start) co_return std::move(start).error();
  start_ = position_ = owed_ = *start;
  // A reader that asked by GTID has, durably, everything before the place where its stream starts.
  if (request_.by_gtid) {
    held_ = start_;
    COMMITD_CO_RETURN_IF_ERROR(find_named_behind_start());
  }
  COMMITD_CO_RETURN_IF_ERROR(observed_.start());
  attach();
  Status status = co_await stream();
  ended_ = true;
  observed_.stop();
  if (token_ != 0) source_.acknowledgements.detach(token_);
  if (progress_token_ != 0) source_.progress.detach(progress_token_);
  co_return status;
}

Task<Status> DumpStream::stream() {
  channel_.set_duplex();
  home_->spawn(watch(shared_from_this(), log_));
  if (traits_.commitd) home_->spawn(watch(shared_from_this(), acknowledged_));
  if (traits_.non_blocking) co_return co_await stream_until_stopped();

  home_->spawn(read_peer(shared_from_this()));
  Status status = co_await stream_until_stopped();
  co_await hang_up(status);
  co_return Status{};
}

// Ends the coroutine that reads from the peer, which only the end of the connection can do; so the error has
// to be sent here.
Task<void> DumpStream::hang_up(const Status& status) {
  if (!status.ok() && !peer_gone_ && !stopping_) {
    const Error& error = status.error();
    std::string packet;
    ByteWriter writer(packet);
    writer.u8(0xff);
    writer.le16(error.code);
    writer.u8('#');
    writer.bytes(error.sqlstate());
    writer.bytes(error.message);
    channel_.write_packet(packet);
    (void)co_await channel_.flush();
  }
  channel_.shutdown();
  while (!peer_gone_) co_await reader_ended_.wait();
}

Result<LogPosition> DumpStream::starting_point() {
  binlog::Log& log = source_.pipeline.log();
  LogPosition start;
  if (request_.by_gtid) {
    COMMITD_RETURN_IF_ERROR(refuse_foreign_transactions());
    auto gone = source_.pipeline.gtid_purged();
    if (!gone) return std::move(gone).error();
    auto found = log.start_for(request_.have, *gone);
    if (!found) return found;
    start = *found;
  } else if (request_.file.empty()) {
    auto files = log.files();
    if (!files) return std::move(files).error();
    start = {files->front().number, kFirstEventAt};
  } else {
    auto number = log.file_number(request_.file);
    if (!number) return std::move(number).error();
    start = {*number, request_.position};
    COMMITD_RETURN_IF_ERROR(check_offset(start));
  }
  return start;
}

Status DumpStream::check_offset(LogPosition start) const {
  const auto refuse = [](std::string_view why) {
    return make_error(er::kSourceFatalReadingBinlog,
                      "Client requested source to start replication from position {}", why);
  };
  if (start.offset < kFirstEventAt) return refuse("< 4");
  const auto files = source_.pipeline.log().files();
  if (!files) return files.error();
  const LogPosition end = source_.pipeline.durable_end();
  for (const auto& file : *files) {
    if (file.number == start.file && start.offset > (start.file == end.file ? end.offset : file.size))
      return refuse("> file size");
  }
  return {};
}

// A reader with transactions that this server should have made, but has not, has seen another history. A
// member of the cluster must not have any that its master lacks: it would acknowledge on top of them.
Status DumpStream::refuse_foreign_transactions() {
  GtidSet extra = request_.have;
  extra.subtract(source_.pipeline.gtid_logged());
  const bool member =
      traits_.semisync && source_.acknowledgements.is_voter(traits_.uuid) && traits_.epoch.has_value();
  if (extra.last(source_.server_uuid) == 0 && !(member && !extra.empty())) return {};
  return make_error(er::kSourceFatalReadingBinlog,
                    "Replica has more GTIDs than the source has, using the source's SERVER_UUID ({}): the "
                    "source lacks {}. One of them has "
                    "lost transactions or was rolled back",
                    source_.server_uuid.to_string(), extra.to_string());
}

// What the reader has and will meet again in its stream. What stands in front of that is in the start's
// PREVIOUS_GTIDS; what is in no file, or in the relay log only, is purged.
Status DumpStream::find_named_behind_start() {
  auto before = source_.pipeline.log().previous_gtids(start_.file);
  if (!before) return std::move(before).error();
  GtidSet foreign = request_.have;
  foreign.subtract(source_.pipeline.gtid_logged());
  named_ahead_ = request_.have;
  named_ahead_.subtract(foreign);
  named_others_ = !foreign.empty();
  named_ahead_.subtract(*before);
  auto purged = source_.pipeline.gtid_purged();
  if (!purged) return std::move(purged).error();
  named_ahead_.subtract(*purged);
  named_end_ = start_;
  return {};
}

// Only members that acknowledge see what is not acknowledged yet: what others see can no longer be taken
// back.
CommitPipeline::Bound DumpStream::bound() const {
  const bool voter = traits_.semisync && source_.acknowledgements.is_voter(traits_.uuid);
  return voter ? CommitPipeline::Bound::Durable : CommitPipeline::Bound::Acknowledged;
}

LogPosition DumpStream::end_of(CommitPipeline::Bound what) const {
  return what == CommitPipeline::Bound::Durable ? source_.pipeline.durable_end()
                                                : source_.pipeline.acknowledged_end();
}

Task<Status> DumpStream::stream_until_stopped() {
  COMMITD_CO_RETURN_IF_ERROR(begin_file(position_));
  Deadline next_heartbeat = Clock::now() + traits_.heartbeat_period;
  const bool heartbeats = traits_.heartbeat_period.count() > 0;
  while (!stopping_ && !peer_gone_ && !session_.killed()) {
    if (gives_way_) {
      co_return make_error(
          er::kSourceFatalReadingBinlog,
          "A replica with the same server_uuid/server_id as this replica has connected to the "
          "source");
    }
    log_.bound = bound();
    const LogPosition end = log_.seen = end_of(log_.bound);
    COMMITD_CO_RETURN_IF_ERROR(ship_available(end));
    if (traits_.commitd) write_watermark_if_advanced();
    COMMITD_CO_RETURN_IF_ERROR(shown_);
    report_held();
    if (channel_.buffered() == 0 && heartbeats && Clock::now() >= next_heartbeat) write_heartbeat({});
    ask_when_due();
    mark_when_due();
    if (channel_.buffered() > 0) {
      Status flushed = co_await flush();
      if (!flushed.ok()) co_return Status{};  // the peer is gone: nobody to tell
      next_heartbeat = Clock::now() + traits_.heartbeat_period;
      continue;
    }
    if (position_ < end) {
      co_await sleep_until(Clock::now());  // a long way to skip: let the other sessions of this reactor go on
      continue;
    }
    if (traits_.non_blocking) {
      write_end_of_file();
      co_return co_await channel_.flush();
    }
    co_await wait_for_change(next_wakeup(heartbeats ? next_heartbeat : kNoDeadline));
  }
  co_return Status{};
}

Status DumpStream::ship_available(LogPosition end) {
  int chunks = 0;
  while (position_ < end && channel_.buffered() < kFlushBytes && chunks++ < kSkippedChunksAtOnce) {
    auto chunk = read_next(end);
    if (!chunk) return std::move(chunk).error();
    if (chunk->bytes.empty()) {
      // Only the relay log is left in front of `end`: it has nothing for readers.
      position_ = std::max(position_, chunk->start);
      return {};
    }
    COMMITD_RETURN_IF_ERROR(ship(*chunk));
  }
  return {};
}

// With commitd_dump_lock=log_lock as MySQL once did: one event at a time, while nobody writes.
Result<binlog::LogChunk> DumpStream::read_next(LogPosition end) {
  CommitPipeline& pipeline = source_.pipeline;
  if (!pipeline.options().settings->readers_take_log_lock)
    return pipeline.log().read_binary(position_, end, kChunkBytes);
  MutexLock lock(pipeline.log_lock());
  return pipeline.log().read_binary(position_, end, 1);
}

Status DumpStream::ship(const binlog::LogChunk& chunk) {
  if (chunk.start.file != file_) COMMITD_RETURN_IF_ERROR(begin_file(chunk.start));
  if (takes_framed_pages()) {
    if (const auto page = source_.pages->find_or_make(chunk, kind_of_packets(traits_))) {
      ship_framed(*page, chunk.start);
      return {};
    }
  }
  COMMITD_RETURN_IF_ERROR(select(chunk));
  write_items();
  position_ = {chunk.start.file, chunk.start.offset + chunk.bytes.size()};
  return {};
}

bool DumpStream::takes_framed_pages() const {
  return source_.pages != nullptr && !observed_.shows_events() && !scanner_.inside() &&
         named_ahead_.empty() && !named_others_;
}

void DumpStream::ship_framed(const FramedPages::Page& page, LogPosition start) {
  channel_.write_packets(page.packets, page.headers);
  if (page.asks_for_answer) channel_.set_sequence(kBehindAnswer);
  count_sent(page.headers.size(), page.event_bytes);
  if (traits_.commitd) {
    for (const auto& [end, gtid] : page.transactions)
      passed_.emplace_back(LogPosition{start.file, start.offset + end}, gtid);
  }
  if (page.transactions_end != 0) owed_ = {start.file, start.offset + page.transactions_end};
  position_ = {start.file, start.offset + page.log_bytes};
}

Status DumpStream::begin_file(LogPosition start) {
  binlog::Log& log = source_.pipeline.log();
  write_event(fake_rotate(source_.server_id, log.file_name(start.file), start.offset, traits_.checksummed),
              false);
  file_ = start.file;
  if (hold_) {
    hold_->move_to(file_);
  } else {
    hold_ = log.hold(file_);
  }
  if (start.offset <= kFirstEventAt) return {};  // the format description comes with the file
  auto head = log.read({start.file, kFirstEventAt}, start, 1);
  if (!head) return std::move(head).error();
  auto event = binlog::parse_event(head->bytes);
  if (!event) return std::move(event).error();
  if (event->header.type != EventType::FormatDescription) {
    return make_error(er::kSourceFatalReadingBinlog, "{} does not begin with a format description",
                      log.file_name(start.file));
  }
  write_event(shipped_format_description(event->bytes, true, traits_.checksummed), false);
  return {};
}

Status DumpStream::select(const binlog::LogChunk& chunk) {
  using Place = binlog::TransactionScanner::Place;
  items_.clear();
  LogPosition end = chunk.start;
  std::string_view rest = chunk.bytes;
  while (!rest.empty()) {
    auto event = binlog::parse_event(rest);
    if (!event) {
      return make_error(er::kSourceFatalReadingBinlog, "No event starts at {} of {}: {}", end.offset,
                        source_.pipeline.log().file_name(end.file), event.error().message);
    }
    auto place = scanner_.feed(*event, end.offset);
    rest.remove_prefix(event->header.length);
    end.offset += event->header.length;
    if (!place) return std::move(place).error();
    if (*place == Place::First)
      skipping_ = request_.by_gtid && request_.have.contains(scanner_.transaction().gtid);
    if (*place == Place::Outside || *place == Place::Unshipped) {
      skipping_ = false;
      if (!leaves_this_server(*event, *place)) continue;
    }
    if (!skipping_) {
      items_.push_back(
          {event->bytes, event->header.type == EventType::FormatDescription, *place == Place::Last});
    }
    if (*place == Place::Last) pass_transaction(end);
  }
  return {};
}

void DumpStream::pass_transaction(LogPosition end) {
  if (traits_.commitd) passed_.emplace_back(end, scanner_.transaction().gtid);
  if (skipping_) {
    const Gtid& gtid = scanner_.transaction().gtid;
    named_ahead_.subtract_interval(gtid.sid, gtid.gno, gtid.gno + 1);
    named_end_ = end;
  }
  if (!skipping_) {
    owed_ = end;
  } else if (held_ >= owed_) {
    held_ = owed_ = end;  // the reader holds this one too: as good as acknowledged
  }
}

// One acknowledgement for the last transaction of a batch stands for all before it.
void DumpStream::write_items() {
  size_t last_end = items_.size();
  for (size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].transaction_end) last_end = i;
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.format_description) {
      write_event(shipped_format_description(item.bytes, false, traits_.checksummed), false);
    } else if (traits_.checksummed) {
      write_event(item.bytes, i == last_end);
    } else {
      std::string bare;
      append_without_checksum(bare, item.bytes);
      write_event(bare, i == last_end);
    }
  }
}

// Readers know the binary log's files only.
LogPosition DumpStream::place_shown() const {
  return source_.pipeline.log().binary_end(position_);
}

void DumpStream::write_event(std::string_view event, bool wants_acknowledgement) {
  if (observed_.shows_events()) [[unlikely]] {
    write_observed(event, wants_acknowledgement);
  } else {
    write_unobserved(event, wants_acknowledgement);
  }
}

void DumpStream::write_observed(std::string_view event, bool wants_acknowledgement) {
  const LogPosition at = place_shown();
  const std::string file = source_.pipeline.log().file_name(at.file);
  const commitd_event shown{file.c_str(), at.offset, reinterpret_cast<const unsigned char*>(event.data()),
                            event.size()};
  if (shown_.ok()) shown_ = observed_.before_event(shown);
  if (!shown_.ok()) return;
  write_unobserved(event, wants_acknowledgement);
  observed_.after_event(shown);
}

void DumpStream::write_unobserved(std::string_view event, bool wants_acknowledgement) {
  channel_.write_packet(packet_head(traits_.semisync, wants_acknowledgement), event);
  if (traits_.semisync && wants_acknowledgement) channel_.set_sequence(kBehindAnswer);
  count_sent(1, event.size());
}

void DumpStream::write_heartbeat(Heartbeat what) {
  const LogPosition at = place_shown();
  what.file = source_.pipeline.log().file_name(at.file);
  what.position = at.offset;
  write_event(heartbeat_event(source_.server_id, what, traits_.second_heartbeat, traits_.checksummed), false);
}

void DumpStream::write_watermark_if_advanced() {
  const LogPosition acknowledged = acknowledged_.seen = source_.pipeline.acknowledged_end();
  std::optional<Watermark> watermark;
  // It stands for all that the reader has named, not for what is in front of its stream only.
  if (!watermark_sent_ && named_ahead_.empty() && acknowledged >= std::max(start_, named_end_))
    watermark = Watermark{};
  while (!passed_.empty() && passed_.front().first <= acknowledged) {
    watermark = Watermark{passed_.front().second};
    passed_.pop_front();
  }
  if (!watermark) return;
  watermark_sent_ = true;
  Heartbeat heartbeat;
  heartbeat.watermark = watermark;
  write_heartbeat(std::move(heartbeat));
}

void DumpStream::write_end_of_file() {
  using namespace std::string_view_literals;
  channel_.write_packet("\xfe\0\0\x02\0"sv);
}

void DumpStream::attach() {
  if (traits_.semisync) token_ = source_.acknowledgements.attach(traits_.uuid, held_);
  if (traits_.commitd && !traits_.non_blocking)
    progress_token_ = source_.progress.attach(traits_.uuid, start_);
}

void DumpStream::take_acknowledgement(std::string_view packet) {
  auto parsed = parse_acknowledgement(packet);
  if (!parsed) return;
  if (parsed->file == kAnswer) return take_answer(parsed->position);
  if (parsed->file == kKeepsUp || parsed->file == kHasStopped)
    return source_.progress.told(progress_token_, parsed->position, parsed->file == kKeepsUp, Clock::now());
  auto file = source_.pipeline.log().file_number(parsed->file);
  if (!file) return;
  const LogPosition acknowledged{*file, parsed->position};
  if (acknowledged > position_) return;  // nobody can hold what was not sent
  static auto& acknowledgements =
      observe::counter("commitd_semisync_acks_total", "Acknowledgements received from replicas.");
  acknowledgements.add();
  held_ = std::max(held_, acknowledged);
  report_held();
}

bool DumpStream::is_asked() const {
  return source_.lease.is_limited() && token_ != 0 && traits_.commitd && traits_.epoch &&
         source_.acknowledgements.is_voter(traits_.uuid);
}

// One question at a time: what is not answered yet is not asked again.
void DumpStream::ask_when_due() {
  if (question_ || !is_asked()) return;
  const auto now = Clock::now();
  if (now < next_question_) return;
  question_ = {++questions_, now};
  next_question_ = now + source_.lease.between_questions();
  Heartbeat heartbeat;
  heartbeat.question = question_->number;
  write_heartbeat(std::move(heartbeat));
}

// Also while nothing is written: the answer says that the replica is there.
void DumpStream::mark_when_due() {
  if (progress_token_ == 0 || !(marks_ || source_.progress.is_on())) return;
  const bool on = source_.progress.is_on();
  const auto now = Clock::now();
  if (on && now < next_mark_) return;
  next_mark_ = now + source_.progress.between_marks();
  Heartbeat heartbeat;
  heartbeat.mark = on ? ++last_mark_ : 0;
  if (on) source_.progress.marked(progress_token_, last_mark_, position_);
  marks_ = on;
  write_heartbeat(std::move(heartbeat));
}

void DumpStream::take_answer(uint64_t number) {
  if (!question_ || question_->number != number) return;
  const auto asked = std::exchange(question_, std::nullopt)->asked;
  if (const auto heard = source_.acknowledgements.heard(token_, asked)) source_.lease.heard(*heard);
  changed_.set();
}

Deadline DumpStream::next_wakeup(Deadline next_heartbeat) const {
  Deadline next = next_heartbeat;
  if (!question_ && is_asked()) next = std::min<Deadline>(next, next_question_);
  if (marks_) next = std::min<Deadline>(next, next_mark_);
  return next;
}

void DumpStream::report_held() {
  if (token_ == 0) return;
  const bool holds_all_sent = held_ >= owed_ && !scanner_.inside();
  source_.acknowledgements.acknowledged(token_, holds_all_sent ? position_ : held_);
}

// Woken by those who write only while the stream waits for more: a reader that takes nothing, whose stream
// waits for its socket, costs them nothing.
Task<void> DumpStream::watch(std::shared_ptr<DumpStream> self, Watched& what) {
  while (!self->ended_ && !self->stopping_) {
    const Deadline deadline = Clock::now() + kWatchPeriod;
    if (!self->waits_) {
      co_await what.wanted.wait(deadline);
      continue;
    }
    const bool moved = co_await self->source_.pipeline.wait_beyond(what.seen, what.bound, deadline);
    if (self->ended_ || (!moved && Clock::now() < deadline)) co_return;
    self->waits_ = false;
    self->changed_.set();
  }
}

Task<void> DumpStream::wait_for_change(Deadline deadline) {
  waits_ = true;
  log_.wanted.set();
  acknowledged_.wanted.set();
  co_await changed_.wait(deadline);
  waits_ = false;
}

Task<void> DumpStream::read_peer(std::shared_ptr<DumpStream> self) {
  while (true) {
    Result<std::string> packet = co_await self->channel_.read_packet();
    if (!packet.ok()) break;
    if (!packet->empty() && packet->front() == kSemisyncMagic) self->take_acknowledgement(*packet);
  }
  self->peer_gone_ = true;
  self->changed_.set();
  self->reader_ended_.set();
}

}  // namespace commitd::replication
