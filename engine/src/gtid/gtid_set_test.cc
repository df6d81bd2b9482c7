#include "gtid/gtid_set.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace commitd {
namespace {

constexpr const char* kA = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
constexpr const char* kB = "4e11fa47-71ca-11e1-9e33-c80aa9429562";

GtidSet set_of(std::string_view text) {
  auto parsed = GtidSet::parse(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : GtidSet{};
}

TEST(GtidSet, PrintsAsMySqlDoes) {
  const std::string a = kA, b = kB;
  EXPECT_EQ(set_of("").to_string(), "");
  EXPECT_EQ(set_of(" \n ").to_string(), "");
  EXPECT_EQ(set_of(a + ":1-5:7").to_string(), a + ":1-5:7");
  EXPECT_EQ(set_of(b + ":3, \n" + a + " : 2 - 4 : 1").to_string(), a + ":1-4,\n" + b + ":3");
  EXPECT_EQ(set_of(a + ":1-3:4-9," + a + ":10").to_string(), a + ":1-10");
  EXPECT_EQ(set_of(a + ":5-3").to_string(), "");
}

TEST(GtidSet, RefusesWhatIsNoGtidSet) {
  const std::string a = kA;
  for (const std::string& text :
       std::vector<std::string>{a, a + ":", a + ":0", a + ":1-", a + ":x", a + ":1:tag", "nonsense:1",
                                a + ":1-99999999999999999999", a + ":9223372036854775807"}) {
    EXPECT_FALSE(GtidSet::parse(text).ok()) << text;
  }
  EXPECT_FALSE(Gtid::parse(a + ":0").ok());
  EXPECT_FALSE(Gtid::parse(a + ":1-2").ok());
  EXPECT_EQ(Gtid::parse(a + ":12")->to_string(), a + ":12");
}

TEST(GtidSet, BinaryFormHasMySqlsLayout) {
  const std::string binary = set_of(std::string(kA) + ":1-5").encode();
  ASSERT_EQ(binary.size(), 8u + 16 + 8 + 16);
  EXPECT_EQ(binary[0], 1);
  EXPECT_EQ(static_cast<uint8_t>(binary[8]), 0x3e);
  EXPECT_EQ(binary[32], 1);
  EXPECT_EQ(binary[40], 6);  // exclusive
}

TEST(GtidSet, RefusesDamagedBinaryForm) {
  const std::string binary = set_of(std::string(kA) + ":1-5:9," + kB + ":1").encode();
  for (size_t length = 0; length < binary.size(); ++length) {
    EXPECT_FALSE(GtidSet::decode(std::string_view(binary).substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(GtidSet::decode(binary + "x").ok());
}

// The set against the obvious model of one: a std::set of single GTIDs.
class AgainstModel : public ::testing::TestWithParam<int> {
 protected:
  using Model = std::set<Gtid>;

  static GtidSet from(const Model& model) {
    GtidSet set;
    for (const Gtid& gtid : model) set.add(gtid);
    return set;
  }
  static void expect_same(const GtidSet& set, const Model& model) {
    EXPECT_EQ(set.count(), model.size());
    for (const Uuid& sid : sids()) {
      uint64_t last = 0;
      for (uint64_t gno = 1; gno < 45; ++gno) {
        const bool inside = model.contains({sid, gno});
        EXPECT_EQ(set.contains(Gtid{sid, gno}), inside) << gno;
        if (inside) last = gno;
      }
      EXPECT_EQ(set.last(sid), last);
    }
    EXPECT_TRUE(set == from(model)) << "equal contents must have one representation";
    EXPECT_EQ(*GtidSet::parse(set.to_string()), set);
    EXPECT_EQ(*GtidSet::decode(set.encode()), set);
  }
  static std::vector<Uuid> sids() { return {*Uuid::parse(kA), *Uuid::parse(kB)}; }

  std::mt19937 random_{static_cast<unsigned>(GetParam())};
  uint64_t below(uint64_t n) { return random_() % n; }
  Uuid sid() { return sids()[below(2)]; }
};

TEST_P(AgainstModel, IntervalsComeAndGo) {
  GtidSet set;
  Model model;
  for (int step = 0; step < 200; ++step) {
    const Uuid of = sid();
    const uint64_t start = 1 + below(40), end = start + below(6);
    const bool adding = below(2) == 0;
    adding ? set.add_interval(of, start, end) : set.subtract_interval(of, start, end);
    for (uint64_t gno = start; gno < end; ++gno)
      adding ? (void)model.insert({of, gno}) : (void)model.erase({of, gno});
    expect_same(set, model);
  }
}

TEST_P(AgainstModel, UnionDifferenceAndSuperset) {
  for (int round = 0; round < 50; ++round) {
    Model left, right;
    for (int i = 0; i < 30; ++i) {
      left.insert({sid(), 1 + below(40)});
      if (below(3) == 0) right.insert({sid(), 1 + below(40)});
      if (below(3) == 0) right.insert(*left.begin());
    }
    GtidSet united = from(left), difference = from(left);
    united.add(from(right));
    difference.subtract(from(right));
    Model both = left, rest;
    both.insert(right.begin(), right.end());
    for (const Gtid& gtid : left) {
      if (!right.contains(gtid)) rest.insert(gtid);
    }
    expect_same(united, both);
    expect_same(difference, rest);
    // The smaller from the larger, and the other way round.
    GtidSet reverse = from(right);
    reverse.subtract(from(left));
    Model new_on_right;
    std::set_difference(right.begin(), right.end(), left.begin(), left.end(),
                        std::inserter(new_on_right, new_on_right.end()));
    expect_same(reverse, new_on_right);
    EXPECT_EQ(from(left).contains(from(right)),
              std::includes(left.begin(), left.end(), right.begin(), right.end()));
    EXPECT_TRUE(united.contains(from(left)));
  }
}

// Rows that follow growth() are the set's intervals at all times.
TEST_P(AgainstModel, GrowthIsWhatAddingChanges) {
  GtidSet set;
  std::set<GtidInterval> rows;
  for (int step = 0; step < 200; ++step) {
    GtidSet added;
    for (uint64_t i = 0; i <= below(4); ++i) {
      const uint64_t start = 1 + below(60);
      added.add_interval(sid(), start, start + below(4));
    }
    const GtidSet::Growth growth = set.growth(added);
    for (const GtidInterval& gone : growth.swallowed) ASSERT_EQ(rows.erase(gone), 1u);
    for (const GtidInterval& made : growth.made) {
      std::erase_if(rows, [&](const auto& row) { return row.sid == made.sid && row.start == made.start; });
      rows.insert(made);
    }
    set.add(added);
    std::set<GtidInterval> intervals;
    set.for_each_interval([&](const GtidInterval& interval) { intervals.insert(interval); });
    ASSERT_EQ(rows, intervals) << set.to_string();
    ASSERT_EQ(set.interval_count(), rows.size());
    ASSERT_TRUE(set.growth(added).made.empty()) << "it is there already";
    if (step % 50 == 49) set = {}, rows = {};
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgainstModel, ::testing::Range(0, 10));

}  // namespace
}  // namespace commitd
