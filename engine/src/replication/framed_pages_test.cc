#include "replication/framed_pages.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "binlog/event_writer.h"

namespace commitd::replication {
namespace {

const Uuid kSource = *Uuid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562");

// A part of the log, event by event.
class Events {
 public:
  Events& gtid(uint64_t gno) {
    return add([&](std::string& out) {
      binlog::GtidEvent event;
      event.gtid = {kSource, gno};
      binlog::append_gtid(out, {1, 1}, event, true);
    });
  }
  Events& query(std::string_view sql) {
    return add([&](std::string& out) { binlog::append_query(out, {1, 1}, {}, "d", sql); });
  }
  Events& xid() {
    return add([&](std::string& out) { binlog::append_xid(out, {1, 1}, 5); });
  }
  Events& own(binlog::OwnKind kind) {
    return add([&](std::string& out) { binlog::append_own(out, {1, 1}, kind, "12345678"); });
  }
  Events& description() {
    return add([&](std::string& out) { binlog::append_format_description(out, {1, 1}, "8.4.0"); });
  }
  Events& transaction(uint64_t gno) {
    return gtid(gno).query("BEGIN").query("INSERT INTO t VALUES (1)").xid();
  }

  // As the log gives it to readers while it also keeps it for others.
  binlog::LogChunk chunk() {
    kept_ = std::make_shared<const std::string>(bytes_);
    return {kept_, *kept_, {1, 4}};
  }
  const std::string& bytes() const { return bytes_; }
  const std::vector<std::string>& each() const { return each_; }

 private:
  template <class Append>
  Events& add(Append append) {
    std::string event;
    append(event);
    binlog::seal_event(event.data(), bytes_.size() + 4);
    bytes_ += event;
    each_.push_back(event);
    return *this;
  }

  std::string bytes_;
  std::vector<std::string> each_;
  std::shared_ptr<const std::string> kept_;
};

class FramedPagesTest : public testing::Test {
 protected:
  static std::vector<std::string> payloads(const FramedPages::Page& page) {
    std::vector<std::string> result;
    for (const uint32_t header : page.headers) {
      const size_t size = load_le24(page.packets.data() + header);
      EXPECT_EQ(page.packets[header + 3], '\0');
      result.push_back(page.packets.substr(header + 4, size));
    }
    return result;
  }

  FramedPages pages_;
  FramedPages::Reader one_{&pages_}, another_{&pages_};
};

TEST_F(FramedPagesTest, EachEventIsAPacketBehindAnOkByte) {
  Events events;
  events.transaction(1).transaction(2);
  const auto page = pages_.find_or_make(events.chunk(), true);
  ASSERT_NE(page, nullptr);
  std::vector<std::string> expected;
  for (const auto& event : events.each()) expected.push_back(std::string(1, '\0') + event);
  EXPECT_EQ(payloads(*page), expected);
  EXPECT_EQ(page->log_bytes, events.bytes().size());
  EXPECT_EQ(page->event_bytes, events.bytes().size());
  EXPECT_EQ(page->transactions_end, events.bytes().size());
}

TEST_F(FramedPagesTest, ReadersWithoutChecksumsHavePagesOfTheirOwn) {
  Events events;
  const auto chunk = events.transaction(1).chunk();
  const auto with = pages_.find_or_make(chunk, true), without = pages_.find_or_make(chunk, false);
  ASSERT_NE(without, nullptr);
  EXPECT_NE(with, without);
  EXPECT_EQ(pages_.find_or_make(chunk, false), without);
  ASSERT_EQ(without->headers.size(), events.each().size());
  for (size_t n = 0; n < events.each().size(); ++n) {
    std::string bare = events.each()[n].substr(0, events.each()[n].size() - 4);
    store_le32(bare.data() + 9, static_cast<uint32_t>(bare.size()));
    EXPECT_EQ(payloads(*without)[n], std::string(1, '\0') + bare);
  }
  EXPECT_EQ(without->event_bytes, with->event_bytes - 4 * events.each().size());
  EXPECT_EQ(without->log_bytes, with->log_bytes);
}

TEST_F(FramedPagesTest, WhatIsOursDoesNotLeave) {
  Events events;
  events.own(binlog::OwnKind::GroupOpen).transaction(1).own(binlog::OwnKind::GroupOpen);
  const auto page = pages_.find_or_make(events.chunk(), true);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->headers.size(), 4u);
  EXPECT_EQ(page->log_bytes, events.bytes().size());
  EXPECT_EQ(page->transactions_end, events.bytes().size() - events.each().back().size());
}

TEST_F(FramedPagesTest, IsMadeOnceForAllReaders) {
  Events events;
  const auto chunk = events.transaction(1).chunk();
  const auto first = pages_.find_or_make(chunk, true);
  EXPECT_EQ(pages_.find_or_make(chunk, true), first);
  Events others;
  EXPECT_NE(pages_.find_or_make(others.transaction(2).chunk(), true), first);
  EXPECT_EQ(pages_.find_or_make(chunk, true), first) << "it is still kept";
}

TEST_F(FramedPagesTest, WhatReadersGetDifferentlyIsNotShared) {
  Events head, cut, tail;
  EXPECT_EQ(pages_.find_or_make(head.description().transaction(1).chunk(), true), nullptr);
  EXPECT_EQ(pages_.find_or_make(cut.gtid(1).query("BEGIN").chunk(), true), nullptr) << "goes on elsewhere";
  EXPECT_EQ(pages_.find_or_make(tail.transaction(1).gtid(2).chunk(), true), nullptr);
}

TEST_F(FramedPagesTest, APartOfAPageIsNotShared) {
  Events events;
  auto chunk = events.transaction(1).transaction(2).chunk();
  chunk.bytes = chunk.bytes.substr(0, chunk.bytes.size() / 2);
  EXPECT_EQ(pages_.find_or_make(chunk, true), nullptr);
}

TEST_F(FramedPagesTest, WhatOneReaderAloneReadsIsNotKept) {
  Events events;
  events.transaction(1);
  auto own = std::make_shared<const std::string>(events.bytes());
  const std::string_view bytes = *own;
  EXPECT_EQ(pages_.find_or_make({std::move(own), bytes, {1, 4}}, true), nullptr) << "read from a file";
  FramedPages alone;
  const FramedPages::Reader reader(&alone);
  EXPECT_EQ(alone.find_or_make(events.chunk(), true), nullptr);
}

TEST_F(FramedPagesTest, KeepsAsMuchAsItMay) {
  std::vector<Events> many(60);
  std::vector<binlog::LogChunk> chunks;
  for (size_t n = 0; n < many.size(); ++n)
    chunks.push_back(many[n].gtid(n + 1).query("BEGIN").query(std::string(100 << 10, 'x')).xid().chunk());
  const auto kept = pages_.find_or_make(chunks[0], true);
  ASSERT_NE(kept, nullptr);
  for (const auto& chunk : chunks) EXPECT_NE(pages_.find_or_make(chunk, true), nullptr);
  EXPECT_NE(pages_.find_or_make(chunks[0], true), kept) << "6 MiB later it is made anew";
}

}  // namespace
}  // namespace commitd::replication
