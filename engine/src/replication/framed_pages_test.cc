#include "replication/framed_pages.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "binlog/event_writer.h"

namespace commitd::replication {
namespace {

constexpr FramedPages::Kind kPlain{.checksummed = true}, kBare{},
    kSemisync{.checksummed = true, .semisync = true};
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
  Events& rotate() {
    return add([&](std::string& out) { binlog::append_rotate(out, {1, 1}, "binlog.000002"); });
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
  FramedPages::Reader one_{&pages_, kPlain}, another_{&pages_, kPlain};
  FramedPages::Reader bare_{&pages_, kBare}, another_bare_{&pages_, kBare};
  FramedPages::Reader semisync_{&pages_, kSemisync}, another_semisync_{&pages_, kSemisync};
};

TEST_F(FramedPagesTest, EachEventIsAPacketBehindAnOkByte) {
  Events events;
  events.transaction(1).transaction(2);
  const auto page = pages_.find_or_make(events.chunk(), kPlain);
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
  const auto with = pages_.find_or_make(chunk, kPlain), without = pages_.find_or_make(chunk, kBare);
  ASSERT_NE(without, nullptr);
  EXPECT_NE(with, without);
  EXPECT_EQ(pages_.find_or_make(chunk, kBare), without);
  ASSERT_EQ(without->headers.size(), events.each().size());
  for (size_t n = 0; n < events.each().size(); ++n) {
    std::string bare = events.each()[n].substr(0, events.each()[n].size() - 4);
    store_le32(bare.data() + 9, static_cast<uint32_t>(bare.size()));
    EXPECT_EQ(payloads(*without)[n], std::string(1, '\0') + bare);
  }
  EXPECT_EQ(without->event_bytes, with->event_bytes - 4 * events.each().size());
  EXPECT_EQ(without->log_bytes, with->log_bytes);
}

TEST_F(FramedPagesTest, SemisyncReadersAreAskedOnceForAPage) {
  Events events;
  const auto chunk = events.own(binlog::OwnKind::GroupOpen).transaction(1).transaction(2).chunk();
  const auto page = pages_.find_or_make(chunk, kSemisync);
  ASSERT_NE(page, nullptr);
  std::vector<std::string> expected;
  for (size_t n = 1; n < events.each().size(); ++n) {
    const bool last = n == events.each().size() - 1;
    expected.push_back(std::string("\0\xef", 2) + (last ? '\x01' : '\0') + events.each()[n]);
  }
  EXPECT_EQ(payloads(*page), expected);
  EXPECT_TRUE(page->asks_for_answer);
  const size_t own = events.each()[0].size(), each = (events.bytes().size() - own) / 2;
  ASSERT_EQ(page->transactions.size(), 2u);
  EXPECT_EQ(page->transactions[0], std::pair(uint64_t{own + each}, Gtid{kSource, 1}));
  EXPECT_EQ(page->transactions[1], std::pair(uint64_t{own + 2 * each}, Gtid{kSource, 2}));
  EXPECT_FALSE(pages_.find_or_make(chunk, kPlain)->asks_for_answer);
}

// The numbers of packets begin anew behind the one that asks.
TEST_F(FramedPagesTest, NothingComesBehindThePacketThatAsks) {
  Events events, nothing;
  EXPECT_EQ(pages_.find_or_make(events.transaction(1).rotate().chunk(), kSemisync), nullptr);
  const auto without = pages_.find_or_make(nothing.rotate().chunk(), kSemisync);
  ASSERT_NE(without, nullptr);
  EXPECT_FALSE(without->asks_for_answer);
}

TEST_F(FramedPagesTest, WhatIsOursDoesNotLeave) {
  Events events;
  events.own(binlog::OwnKind::GroupOpen).transaction(1).own(binlog::OwnKind::GroupOpen);
  const auto page = pages_.find_or_make(events.chunk(), kPlain);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->headers.size(), 4u);
  EXPECT_EQ(page->log_bytes, events.bytes().size());
  EXPECT_EQ(page->transactions_end, events.bytes().size() - events.each().back().size());
}

TEST_F(FramedPagesTest, IsMadeOnceForAllReaders) {
  Events events;
  const auto chunk = events.transaction(1).chunk();
  const auto first = pages_.find_or_make(chunk, kPlain);
  EXPECT_EQ(pages_.find_or_make(chunk, kPlain), first);
  Events others;
  EXPECT_NE(pages_.find_or_make(others.transaction(2).chunk(), kPlain), first);
  EXPECT_EQ(pages_.find_or_make(chunk, kPlain), first) << "it is still kept";
}

TEST_F(FramedPagesTest, WhatReadersGetDifferentlyIsNotShared) {
  Events head, cut, tail;
  EXPECT_EQ(pages_.find_or_make(head.description().transaction(1).chunk(), kPlain), nullptr);
  EXPECT_EQ(pages_.find_or_make(cut.gtid(1).query("BEGIN").chunk(), kPlain), nullptr) << "goes on elsewhere";
  EXPECT_EQ(pages_.find_or_make(tail.transaction(1).gtid(2).chunk(), kPlain), nullptr);
}

TEST_F(FramedPagesTest, APartOfAPageIsNotShared) {
  Events events;
  auto chunk = events.transaction(1).transaction(2).chunk();
  chunk.bytes = chunk.bytes.substr(0, chunk.bytes.size() / 2);
  EXPECT_EQ(pages_.find_or_make(chunk, kPlain), nullptr);
}

TEST_F(FramedPagesTest, WhatOneReaderAloneReadsIsNotKept) {
  Events events;
  events.transaction(1);
  auto own = std::make_shared<const std::string>(events.bytes());
  const std::string_view bytes = *own;
  EXPECT_EQ(pages_.find_or_make({std::move(own), bytes, {1, 4}}, kPlain), nullptr) << "read from a file";
  FramedPages alone;
  const FramedPages::Reader reader(&alone, kPlain), of_another_kind(&alone, kSemisync);
  EXPECT_EQ(alone.find_or_make(events.chunk(), kPlain), nullptr);
}

TEST_F(FramedPagesTest, KeepsAsMuchAsItMay) {
  std::vector<Events> many(60);
  std::vector<binlog::LogChunk> chunks;
  for (size_t n = 0; n < many.size(); ++n)
    chunks.push_back(many[n].gtid(n + 1).query("BEGIN").query(std::string(100 << 10, 'x')).xid().chunk());
  const auto kept = pages_.find_or_make(chunks[0], kPlain);
  ASSERT_NE(kept, nullptr);
  for (const auto& chunk : chunks) EXPECT_NE(pages_.find_or_make(chunk, kPlain), nullptr);
  EXPECT_NE(pages_.find_or_make(chunks[0], kPlain), kept) << "6 MiB later it is made anew";
}

}  // namespace
}  // namespace commitd::replication
