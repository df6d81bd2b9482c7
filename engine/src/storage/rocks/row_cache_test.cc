// The cache by itself, and an engine with it against a model that remembers every snapshot's rows.
#include "storage/rocks/row_cache.h"

#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "base/packed_int.h"
#include "storage/engine.h"

namespace commitd::storage {
namespace {

std::string key_of(uint64_t number) {
  std::string key;
  append_big_endian(key, kFirstUserIndexId, 4);
  append_big_endian(key, number, 8);
  return key;
}

using Model = std::map<std::string, std::string>;

class RowCacheTest : public ::testing::Test {
 protected:
  // Rows 0, 2, 4 … of [from, to).
  static std::shared_ptr<const CachedRows> even_rows(uint64_t from, uint64_t to) {
    auto rows = std::make_shared<CachedRows>(key_of(from));
    for (uint64_t i = from; i < to; i += 2) rows->add(key_of(i), "old");
    rows->end_at(key_of(to));
    return rows;
  }
  static std::string found(RowCache& cache, uint64_t number, RowCache::Sequence snapshot) {
    const std::string key = key_of(number);
    const auto place = cache.find(key, snapshot);
    if (place.rows == nullptr) return "(not cached)";
    const size_t at = place.rows->lower_bound(key);
    if (at == place.rows->size() || place.rows->key(at) != key) return "(none)";
    return std::string(place.rows->value(at));
  }

  void change(uint64_t number, std::optional<std::string_view> value, RowCache::Sequence latest) {
    const std::string key = key_of(number);
    const RowCache::Change changes[] = {{key, value}};
    cache_.before_write(changes, latest);
    cache_.after_write(latest + 1, true);
  }

  RowCache cache_{1 << 20};
};

TEST_F(RowCacheTest, GivesWhatWasPutFromItsSnapshotOn) {
  cache_.put(even_rows(10, 20), 5);
  EXPECT_EQ(found(cache_, 12, 5), "old");
  EXPECT_EQ(found(cache_, 12, 9), "old");
  EXPECT_EQ(found(cache_, 13, 9), "(none)");
  EXPECT_EQ(found(cache_, 12, 4), "(not cached)");
  EXPECT_EQ(found(cache_, 20, 9), "(not cached)");
  EXPECT_EQ(cache_.find(key_of(9), 9).gap_end, key_of(10));
  EXPECT_EQ(cache_.find(key_of(12), 4).gap_end, key_of(20));
}

TEST_F(RowCacheTest, SnapshotsThatSeeAWriteFindNothingBeforeTheCacheHasIt) {
  cache_.put(even_rows(10, 20), 5);
  const std::string key = key_of(12);
  const RowCache::Change changes[] = {{key, "new"}};
  cache_.before_write(changes, 7);
  EXPECT_EQ(found(cache_, 12, 7), "old");
  EXPECT_EQ(found(cache_, 12, 8), "(not cached)");
  cache_.after_write(8, true);
  EXPECT_EQ(found(cache_, 12, 8), "new");
  EXPECT_EQ(found(cache_, 14, 8), "old");
}

TEST_F(RowCacheTest, AFailedWriteLeavesNothing) {
  cache_.put(even_rows(10, 20), 5);
  const std::string key = key_of(12);
  const RowCache::Change changes[] = {{key, "new"}};
  cache_.before_write(changes, 7);
  cache_.after_write(7, false);
  EXPECT_EQ(found(cache_, 12, 8), "(not cached)");
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(RowCacheTest, OldVersionsStayForTheirSnapshotsOnly) {
  cache_.put(even_rows(10, 20), 5);
  const uint64_t one = cache_.bytes();
  cache_.snapshot_taken(6);
  change(12, "newer", 6);
  change(14, std::nullopt, 7);
  change(13, "inserted", 8);
  EXPECT_EQ(found(cache_, 12, 6), "old");
  EXPECT_EQ(found(cache_, 14, 7), "old");
  EXPECT_EQ(found(cache_, 14, 8), "(none)");
  EXPECT_EQ(found(cache_, 13, 9), "inserted");
  cache_.snapshot_released(6);
  change(13, std::nullopt, 9);
  EXPECT_EQ(found(cache_, 12, 6), "(not cached)");
  EXPECT_EQ(found(cache_, 12, 10), "newer");
  EXPECT_LE(cache_.bytes(), one + 64);
}

TEST_F(RowCacheTest, WhatWasChangedSinceItWasReadIsNotTakenIn) {
  change(12, "new", 5);
  cache_.put(even_rows(10, 20), 5);
  EXPECT_EQ(found(cache_, 14, 9), "(not cached)");
  cache_.put(even_rows(20, 30), 5);  // nothing happened here
  EXPECT_EQ(found(cache_, 22, 9), "old");

  const std::string key = key_of(32);
  const RowCache::Change changes[] = {{key, "new"}};
  cache_.before_write(changes, 6);
  cache_.put(even_rows(30, 40), 6);
  cache_.after_write(7, true);
  EXPECT_EQ(found(cache_, 34, 7), "(not cached)");
  cache_.put(even_rows(30, 40), 7);
  EXPECT_EQ(found(cache_, 34, 7), "old");
}

TEST_F(RowCacheTest, WhatIsOlderThanTheLogOfChangesIsNotTakenIn) {
  for (RowCache::Sequence latest = 5; latest < 10'000; ++latest) change(1'000 + latest, "new", latest);
  cache_.put(even_rows(10, 20), 5);
  EXPECT_EQ(found(cache_, 12, 10'000), "(not cached)");
  cache_.put(even_rows(10, 20), 9'999);
  EXPECT_EQ(found(cache_, 12, 10'000), "old");
}

TEST_F(RowCacheTest, RangesThatGoAreForgotten) {
  cache_.put(even_rows(10, 20), 5);
  cache_.put(even_rows(20, 30), 5);
  const std::string begin = key_of(12), end = key_of(15);
  const RowCache::Change changes[] = {{begin, std::nullopt, end}};
  cache_.before_write(changes, 5);
  cache_.put(even_rows(10, 20), 5);
  cache_.after_write(6, true);
  EXPECT_EQ(found(cache_, 12, 6), "(not cached)");
  EXPECT_EQ(found(cache_, 22, 6), "old");
}

TEST_F(RowCacheTest, KeepsWithinItsCapacity) {
  for (uint64_t i = 0; i < 10'000; ++i) {
    cache_.put(even_rows(i * 100, i * 100 + 100), 5);
    ASSERT_LE(cache_.bytes(), 1u << 20);
  }
  EXPECT_GE(cache_.bytes(), 1u << 19);
}

class CachedEngineTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("row-cache-test-" + std::to_string(::getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    auto opened = open_rocks(
        {.directory = directory_ / "data", .block_cache_bytes = GetParam(), .write_buffer_bytes = 1 << 20});
    ASSERT_TRUE(opened.ok());
    engine_ = std::move(*opened);
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }

  void commit(WriteSet& writes) {
    WriteSet* const list[] = {&writes};
    CommitStep point;
    point.position = {1, ++offset_};
    ASSERT_TRUE(engine_->commit_ordered(list, point).ok());
  }
  Model scan(const SnapshotPtr& snapshot, const std::string& lower, const std::string& upper) {
    Model rows;
    auto iterator = engine_->iterate(snapshot, lower, upper);
    for (iterator->seek(lower); iterator->valid(); iterator->next())
      rows.emplace_hint(rows.end(), iterator->key(), iterator->value());
    EXPECT_TRUE(iterator->status().ok());
    return rows;
  }
  Model scan_back(const SnapshotPtr& snapshot, const std::string& lower, const std::string& upper) {
    Model rows;
    auto iterator = engine_->iterate(snapshot, lower, upper);
    for (iterator->seek_for_prev(upper); iterator->valid(); iterator->prev())
      rows.emplace_hint(rows.begin(), iterator->key(), iterator->value());
    return rows;
  }

  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
  uint64_t offset_ = 0;
};

Model part(const Model& model, const std::string& lower, const std::string& upper) {
  return {model.lower_bound(lower), model.lower_bound(upper)};
}

TEST_P(CachedEngineTest, EverySnapshotKeepsItsRows) {
  constexpr uint64_t kKeys = 600;
  std::mt19937_64 random(7);
  Model model;
  std::vector<std::pair<SnapshotPtr, Model>> snapshots;
  for (int step = 0; step < 6'000; ++step) {
    if (random() % 3 == 0) {
      WriteSet writes;
      if (random() % 100 == 0) {
        const uint64_t from = random() % kKeys, to = from + random() % 60;
        writes.erase_range(key_of(from), key_of(to));
        model.erase(model.lower_bound(key_of(from)), model.lower_bound(key_of(to)));
      }
      for (uint64_t i = random() % 20; i > 0; --i) {
        const std::string key = key_of(random() % 4 == 0 ? random() % kKeys : random() % 40);
        if (random() % 3 == 0) {
          writes.erase(key);
          model.erase(key);
        } else {
          const size_t size = random() % 50 == 0 ? 5'000 : random() % 200;
          model[key] = std::to_string(step) + std::string(size, 'x');
          writes.put(key, model[key]);
        }
      }
      commit(writes);
    }
    if (snapshots.empty() || random() % 3 == 0) snapshots.emplace_back(engine_->snapshot(), model);
    if (snapshots.size() > 8)
      snapshots.erase(snapshots.begin() + static_cast<std::ptrdiff_t>(random() % snapshots.size()));
    const auto& [snapshot, rows] = snapshots[random() % snapshots.size()];
    const uint64_t from = random() % kKeys;
    std::string value;
    const auto row = rows.find(key_of(from));
    ASSERT_EQ(*engine_->get(snapshot.get(), key_of(from), value), row != rows.end()) << "step " << step;
    ASSERT_TRUE(row == rows.end() || value == row->second) << "step " << step;
    const std::string lower = key_of(from), upper = key_of(from + random() % 200);
    if (random() % 8 == 0)
      ASSERT_EQ(scan_back(snapshot, lower, upper), part(rows, lower, upper)) << "step " << step;
    else
      ASSERT_EQ(scan(snapshot, lower, upper), part(rows, lower, upper)) << "step " << step;
  }
}

// Each commit gives all rows the same number, and takes one row away or brings it back.
TEST_P(CachedEngineTest, ScansBesideCommitsSeeWholeOnes) {
  constexpr uint64_t kRows = 300, kCommits = 1'000;
  std::atomic<uint64_t> committed{0};
  std::atomic<bool> done{false};
  auto reader = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    uint64_t scans = 0;
    while (!done.load() || scans == 0) {
      const uint64_t least = committed.load();
      const SnapshotPtr snapshot = engine_->snapshot();
      const uint64_t from = random() % kRows;
      const std::string lower = key_of(from), upper = key_of(from + 100);
      const Model rows = scan(snapshot, lower, upper);
      ASSERT_EQ(rows, scan_back(snapshot, lower, upper));  // RocksDB's own
      for (const auto& [key, value] : rows) {
        ASSERT_EQ(value, rows.begin()->second);
        ASSERT_GE(std::stoull(value), least);
      }
      ++scans;
    }
  };
  std::thread first(reader, 1), second(reader, 2);
  for (uint64_t number = 1; number <= kCommits; ++number) {
    WriteSet writes;
    for (uint64_t i = 0; i < kRows; i += 7) {
      for (uint64_t row = i; row < std::min(i + 7, kRows); ++row) {
        if ((number + row) % 11 == 0)
          writes.erase(key_of(row));
        else
          writes.put(key_of(row), std::to_string(number));
      }
    }
    commit(writes);
    committed.store(number);
  }
  done.store(true);
  first.join();
  second.join();
}

// A cache for everything, and one in which hardly anything stays.
INSTANTIATE_TEST_SUITE_P(Capacities, CachedEngineTest, ::testing::Values(8 << 20, 128 << 10));

}  // namespace
}  // namespace commitd::storage
