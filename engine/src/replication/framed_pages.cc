#include "replication/framed_pages.h"

#include <algorithm>

#include "base/bytes.h"
#include "observe/metrics.h"
#include "replication/dump_framing.h"
#include "replication/semisync_protocol.h"

namespace commitd::replication {
namespace {

using Place = binlog::TransactionScanner::Place;

constexpr size_t kMostKept = 4 << 20;   // bytes of packets
constexpr size_t kLargest = 128 << 10;  // of a page: what is larger costs little per event
constexpr size_t kHeaderSize = 4;

}  // namespace

bool leaves_this_server(const binlog::EventView& event, Place place) {
  return (place != Place::Outside && place != Place::Unshipped) || !binlog::parse_own_event(event, true);
}

FramedPages::Reader::Reader(FramedPages* pages, Kind kind) : pages_(pages), kind_(kind) {
  if (pages_ == nullptr) return;
  MutexLock lock(pages_->mutex_);
  ++pages_->readers_[index_of(kind_)];
}

FramedPages::Reader::~Reader() {
  if (pages_ == nullptr) return;
  MutexLock lock(pages_->mutex_);
  --pages_->readers_[index_of(kind_)];
}

std::shared_ptr<const FramedPages::Page> FramedPages::find_or_make(const binlog::LogChunk& chunk, Kind kind) {
  static auto& shared =
      observe::counter("commitd_dump_pages_shared_total",
                       "Pages of the log that a reader got as they had been framed for another one.");
  // What was read from a file belongs to this reader alone.
  if (chunk.storage == nullptr || chunk.storage.use_count() == 1 ||
      chunk.bytes.size() != chunk.storage->size() || chunk.bytes.size() > kLargest)
    return nullptr;
  MutexLock lock(mutex_);
  if (readers_[index_of(kind)] < 2) return nullptr;
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& kept) {
    return kept.log == chunk.storage && kept.kind == kind;
  });
  if (found != kept_.rend()) {
    if (found->page != nullptr) shared.add();
    return found->page;
  }
  auto made = make(chunk.bytes, kind);
  kept_.push_back({chunk.storage, kind, made});
  kept_bytes_ += chunk.storage->size();
  while (kept_bytes_ > kMostKept) {
    kept_bytes_ -= kept_.front().log->size();
    kept_.pop_front();
  }
  return made;
}

std::shared_ptr<const FramedPages::Page> FramedPages::make(std::string_view events, Kind kind) {
  auto page = std::make_shared<Page>();
  page->log_bytes = events.size();
  page->packets.reserve(events.size() + events.size() / 8);
  size_t up_to_last = 0;  // so many packets to the end of the last transaction
  binlog::TransactionScanner scanner{binlog::TransactionScanner::Of::Stream};
  for (uint64_t offset = 0; offset < events.size();) {
    const auto event = binlog::parse_event(events.substr(offset));
    if (!event) return nullptr;
    const auto place = scanner.feed(*event, offset);
    if (!place || event->header.type == binlog::EventType::FormatDescription) return nullptr;
    offset += event->header.length;
    if (leaves_this_server(*event, *place)) page->add(event->bytes, kind);
    if (*place != Place::Last) continue;
    page->transactions_end = offset;
    page->transactions.emplace_back(offset, scanner.transaction().gtid);
    up_to_last = page->headers.size();
  }
  if (scanner.inside()) return nullptr;
  if (!kind.semisync || up_to_last == 0) return page;
  // Numbers begin anew behind the packet that asks: it has to be the last.
  if (up_to_last != page->headers.size()) return nullptr;
  page->ask_for_answer();
  return page;
}

// One acknowledgement for the last transaction stands for all before it.
void FramedPages::Page::ask_for_answer() {
  asks_for_answer = true;
  const std::string_view head = packet_head(true, true);
  packets.replace(headers.back() + kHeaderSize, head.size(), head);
}

void FramedPages::Page::add(std::string_view event, Kind kind) {
  const std::string_view head = packet_head(kind.semisync, false);
  headers.push_back(static_cast<uint32_t>(packets.size()));
  packets.resize(packets.size() + kHeaderSize);
  packets.append(head);
  size_t length = event.size();
  if (kind.checksummed) {
    packets.append(event);
  } else {
    length = append_without_checksum(packets, event);
  }
  store_le24(packets.data() + headers.back(), static_cast<uint32_t>(head.size() + length));
  event_bytes += length;
}

}  // namespace commitd::replication
