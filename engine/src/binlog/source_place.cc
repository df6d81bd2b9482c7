#include "binlog/source_place.h"

#include "base/bytes.h"

namespace commitd::binlog {

static_assert(kSourcePlaceEndAt == kHeaderLength + kOwnMagic.size() + sizeof(OwnKind) + 2 * sizeof(uint64_t));

void append_source_place(std::string& out, EventOrigin origin, const SourcePlace& place) {
  std::string payload;
  ByteWriter writer(payload);
  writer.le64(place.series);
  writer.le64(place.begin);
  writer.le64(place.end);
  payload += place.file;
  append_own(out, origin, kSourcePlaceKind, payload);
}

std::optional<SourcePlace> parse_source_place(const EventView& event) {
  const auto own = parse_own_event(event, true);
  if (!own || own->kind != kSourcePlaceKind) return std::nullopt;
  ByteReader reader(own->payload);
  SourcePlace place;
  place.series = reader.le64();
  place.begin = reader.le64();
  place.end = reader.le64();
  place.file = std::string(reader.take_rest());
  return reader.ok() ? std::optional(place) : std::nullopt;
}

size_t source_place_length(std::string_view events) {
  const auto event = parse_event(events);
  return event && parse_source_place(*event) ? event->bytes.size() : 0;
}

void SourcePlaceReader::feed(const EventView& event) {
  if (auto place = parse_source_place(event)) {
    place_ = std::move(place);
    waits_for_gtid_ = true;
    return;
  }
  if (waits_for_gtid_ != (event.header.type == EventType::Gtid)) place_.reset();
  waits_for_gtid_ = false;
}

}  // namespace commitd::binlog
