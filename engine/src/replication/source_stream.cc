#include "replication/source_stream.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "base/replication_error_codes.h"
#include "binlog/source_place.h"
#include "replication/semisync_protocol.h"
#include "replication/transaction_length.h"

namespace commitd::replication {
namespace {

using binlog::EventType;

constexpr uint8_t kOkPacket = 0x00;
constexpr uint8_t kEndPacket = 0xfe;
constexpr uint8_t kErrorPacket = 0xff;

Error error_of_source(ByteReader& reader) {
  const uint16_t code = reader.le16();
  std::string_view text = reader.take_rest();
  if (text.size() >= 6 && text.front() == '#') text.remove_prefix(6);
  return make_error(er::kSourceFatalReadingBinlog,
                    "Got fatal error {} from source when reading data from binary log: '{}'", code, text);
}

}  // namespace

Result<SourceStream::Step> SourceStream::feed(std::string_view packet) {
  ByteReader reader(packet);
  switch (reader.u8()) {
    case kOkPacket:
      break;
    case kErrorPacket:
      return error_of_source(reader);
    case kEndPacket:
      return make_error(er::kSourceFatalReadingBinlog, "The source has ended the stream");
    default:
      return make_error(er::kSourceFatalReadingBinlog, "Unexpected packet in the stream from the source");
  }
  bool wants_acknowledgement = false;
  if (options_.semisync) {
    if (reader.u8() != static_cast<uint8_t>(kSemisyncMagic)) {
      return make_error(er::kSourceFatalReadingBinlog, "Missing magic number for semi-sync packet");
    }
    wants_acknowledgement = reader.u8() != 0;
  }
  if (!reader.ok()) return make_error(er::kSourceFatalReadingBinlog, "The source sent an empty packet");
  auto event = binlog::parse_event(reader.take_rest());
  if (!event) return std::move(event).error();
  if (checksummed_ && event->header.type != EventType::FormatDescription && !checksum_matches(*event)) {
    return make_error(er::kErrorOnRead,
                      "Replication event checksum verification failed: an event of type {} behind {}:{} was "
                      "damaged on its way",
                      static_cast<int>(event->header.type), file_, position_);
  }
  return feed_translated(*event, wants_acknowledgement);
}

Result<SourceStream::Step> SourceStream::feed_translated(const binlog::EventView& event,
                                                         bool wants_acknowledgement) {
  if (!options_.foreign) return feed_event(event, wants_acknowledgement);
  auto instead = options_.foreign->translate(event, checksummed_, scanner_.inside());
  if (!instead) return std::move(instead).error();
  if (!*instead) return feed_event(event, wants_acknowledgement);
  Result<Step> step = Step{};
  for (const std::string& bytes : **instead) {
    auto other = binlog::parse_event(bytes);
    if (!other) return std::move(other).error();
    step = feed_event(*other, wants_acknowledgement);
    if (!step.ok()) return step;
  }
  if ((*instead)->empty() && event.header.end_position != 0) position_ = event.header.end_position;
  return step;
}

// In MySQL's words.
Error SourceStream::anonymous() const {
  if (options_.auto_position)
    return make_error(
        er::kCantReplicateAnonymousWithAutoPosition,
        "Cannot replicate anonymous transaction when AUTO_POSITION = 1, at file {}, position {}.", file_,
        position_);
  return make_error(
      er::kCantReplicateAnonymousWithGtidModeOn,
      "Cannot replicate anonymous transaction when @@GLOBAL.GTID_MODE = ON, at file {}, position {}.", file_,
      position_);
}

Result<SourceStream::Step> SourceStream::feed_event(const binlog::EventView& event,
                                                    bool wants_acknowledgement) {
  Step step;
  switch (event.header.type) {
    case EventType::Heartbeat:
    case EventType::HeartbeatV2: {
      auto heartbeat = parse_heartbeat(event, checksummed_);
      if (!heartbeat) return std::move(heartbeat).error();
      step.heartbeat = true;
      step.watermark = heartbeat->watermark;
      step.question = heartbeat->question;
      step.mark = heartbeat->mark;
      return step;
    }
    case EventType::FormatDescription:
      checksummed_ = event.bytes[event.bytes.size() - binlog::kChecksumLength - 1] != 0;
      events_.clear();
      break;
    case EventType::Rotate:
      COMMITD_RETURN_IF_ERROR(take_rotate(event));
      break;
    case EventType::AnonymousGtid:
      return anonymous();
    default:
      break;
  }
  using Place = binlog::TransactionScanner::Place;
  const uint64_t begin = position_;
  auto place = scanner_.feed(event, position_, checksummed_);
  if (!place) return std::move(place).error();
  if (event.header.type != EventType::Rotate && event.header.end_position != 0)
    position_ = event.header.end_position;
  if (*place == Place::Outside || *place == Place::Unshipped) return step;
  if (*place == Place::First) {
    begin_ = begin;
    begin_transaction(event);
  }
  COMMITD_RETURN_IF_ERROR(append(event));
  if (*place != Place::Last) return step;
  COMMITD_RETURN_IF_ERROR(end_transaction());
  step.transaction =
      ReceivedTransaction{std::move(events_), scanner_.transaction().gtid, file_,         begin_,
                          position_,          wants_acknowledgement,       committed_at_, queued_at_};
  events_ = {};
  return step;
}

void SourceStream::begin_transaction(const binlog::EventView& gtid) {
  events_.clear();
  if (options_.place_series)
    binlog::append_source_place(events_.tail(), {gtid.header.server_id, gtid.header.timestamp},
                                {*options_.place_series, file_, begin_, 0});
  gtid_at_ = events_.size();
  committed_at_ = commit_time_of(gtid, checksummed_);
  queued_at_ = now_microseconds();
  if (filter_) filter_->begin();
}

Status SourceStream::end_transaction() {
  if (options_.foreign || (filter_ && filter_->changed()))
    COMMITD_RETURN_IF_ERROR(tell_transaction_length(events_, gtid_at_));
  if (!options_.place_series) return {};
  std::string end(sizeof position_, '\0');
  store_le64(end.data(), position_);
  return events_.overwrite(binlog::kSourcePlaceEndAt, end);
}

Status SourceStream::take_rotate(const binlog::EventView& event) {
  ByteReader reader(event.body(checksummed_));
  position_ = reader.le64();
  file_ = std::string(reader.take_rest());
  if (!reader.ok() || file_.empty())
    return make_error(er::kErrorOnRead, "The source sent a damaged rotate event");
  return {};
}

Status SourceStream::append(const binlog::EventView& event) {
  if (filter_ && event.header.type != EventType::Gtid) {
    COMMITD_RETURN_IF_ERROR(filter_->take(event, checksummed_, events_));
  } else if (checksummed_) {
    events_.tail() += event.bytes;
  } else {
    events_.tail() += with_checksum(event.bytes);
  }
  if (options_.temporary.fs == nullptr || events_.in_memory() <= options_.most_in_memory) return {};
  return events_.spill(options_.temporary, events_.size());
}

}  // namespace commitd::replication
