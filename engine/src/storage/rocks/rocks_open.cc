// Opening the engine: RocksDB's settings, and the version of what is stored.
#include <algorithm>
#include <chrono>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <spdlog/spdlog.h>

#include "observe/metrics.h"
#include "storage/rocks/commit_point_codec.h"
#include "storage/rocks/executed_rows.h"
#include "storage/rocks/format_version.h"
#include "storage/rocks/rocks_engine.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {

namespace {

// Of a file, the least that purging can merge. In a larger store files are twice as large for each level that
// comes to it, so that there are not more of them.
constexpr uint64_t kFileBytes = 8 << 20;

// Of the memory for what was read, this part keeps ranges of rows.
constexpr uint64_t row_cache_bytes(const RocksOptions& options) {
  return options.block_cache_bytes / 4;
}

rocksdb::BlockBasedTableOptions table_options(const RocksOptions& options) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes - row_cache_bytes(options));
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_size = 16 << 10;
  table.cache_index_and_filter_blocks = true;  // bounds memory by the cache
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // A file's whole filter is larger than a shard of a small cache, and would be read again for each row.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.format_version = 5;
  return table;
}

rocksdb::Options rocks_options(const RocksOptions& options) {
  rocksdb::Options rocks;
  rocks.create_if_missing = true;
  rocks.write_buffer_size = options.write_buffer_bytes;
  rocks.max_write_buffer_number = RocksOptions::kMostMemtables;
  // One thread writes; the write thread's concurrency costs and gives nothing.
  rocks.allow_concurrent_memtable_write = false;
  rocks.enable_write_thread_adaptive_yield = false;
  // Uniqueness checks ask mostly for keys that are not there.
  rocks.memtable_prefix_bloom_size_ratio = 0.05;
  rocks.memtable_whole_key_filtering = true;
  rocks.level_compaction_dynamic_level_bytes = true;
  rocks.target_file_size_base = std::min(kFileBytes, options.write_buffer_bytes);
  rocks.target_file_size_multiplier = 2;
  rocks.max_background_jobs = 2;
  rocks.bytes_per_sync = 1 << 20;
  rocks.max_open_files = 1000;
  rocks.compression = rocksdb::kLZ4Compression;
  rocks.info_log_level = rocksdb::WARN_LEVEL;
  rocks.keep_log_file_num = 4;
  rocks.stats_dump_period_sec = 0;
  rocks.manual_wal_flush = true;  // OwnLog writes it
  rocks.table_properties_collector_factories = {History::entry_counter()};
  rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options(options)));
  return rocks;
}

Result<bool> is_empty(rocksdb::DB& db) {
  const std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(rocksdb::ReadOptions()));
  iterator->SeekToFirst();
  if (!iterator->status().ok()) return read_error(iterator->status());
  return !iterator->Valid();
}

rocksdb::WriteOptions write_options(bool own_log) {
  rocksdb::WriteOptions options;
  options.disableWAL = !own_log;
  return options;
}

Status write_format_version(rocksdb::DB& db, bool own_log) {
  const rocksdb::Status status = db.Put(write_options(own_log), format_version_key(),
                                        rocksdb::Slice(kFormatVersion.data(), kFormatVersion.size()));
  return status.ok() ? Status{} : Status{write_error(status)};
}

// One batch: a crash leaves the old format or the new one.
Status bring_forward(rocksdb::DB& db, bool own_log) {
  auto point = stored_commit_point(db);
  if (!point) return std::move(point).error();
  rocksdb::WriteBatch batch;
  replace_executed(batch, point->executed);
  batch.Put(commit_point_key(), encode_place(*point));
  batch.Put(format_version_key(), rocksdb::Slice(kFormatVersion.data(), kFormatVersion.size()));
  const rocksdb::Status status = db.Write(write_options(own_log), &batch);
  return status.ok() ? Status{} : Status{write_error(status)};
}

// An empty directory gets our version; the key reaches the disk with the first flush, together with the first
// data.
Status check_format_version(rocksdb::DB& db, const std::string& directory, bool own_log) {
  std::string version;
  const rocksdb::Status status = db.Get(rocksdb::ReadOptions(), format_version_key(), &version);
  if (status.ok() && version == kFormatVersion) return {};
  if (status.ok() && version == kEarlierFormatVersion) return bring_forward(db, own_log);
  if (status.ok()) {
    return make_error(er::kErrorOnRead,
                      "{} holds data of format version {}; this release reads versions {} and {}. Start the "
                      "release that wrote it",
                      directory, version, kEarlierFormatVersion, kFormatVersion);
  }
  if (!status.IsNotFound()) return read_error(status);
  auto empty = is_empty(db);
  if (!empty) return empty.error();
  if (!*empty)
    return make_error(er::kErrorOnRead,
                      "{} holds a RocksDB database that is not commitd's; give another datadir", directory);
  return write_format_version(db, own_log);
}

// What a start reads of gtid_executed, and how long that takes: seed 001's had 31 million rows.
Result<StoredCommitPoint> find_commit_point(rocksdb::DB& db) {
  static auto& rows = observe::counter("commitd_gtid_executed_rows_read_total",
                                       "Rows of gtid_executed that were read when the server started.");
  static auto& seconds = observe::gauge("commitd_gtid_executed_load_seconds",
                                        "Time that the last start took to read gtid_executed.");
  const auto start = std::chrono::steady_clock::now();
  auto found = stored_commit_point(db);
  if (!found) return found;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  rows.add(found->executed_rows);
  seconds.set(took.count());
  if (found->executed_rows > found->executed.interval_count())
    spdlog::warn("gtid_executed was read from {} rows in {:.3f} s, where {} would do: it is not compressed",
                 found->executed_rows, took.count(), found->executed.interval_count());
  return found;
}

}  // namespace

Result<std::unique_ptr<Engine>> open_rocks(const RocksOptions& options) {
  return open_rocks_on(*rocksdb::Env::Default(), options);
}

Result<std::unique_ptr<Engine>> open_rocks_on(rocksdb::Env& env, const RocksOptions& options) {
  auto flushes = std::make_shared<FlushTracker>();
  rocksdb::DB* opened = nullptr;
  auto room = std::make_shared<RoomWatch>();
  rocksdb::Options settings = rocks_options(options);
  auto history = std::make_shared<History>();
  settings.listeners = {flushes, room, history};
  settings.env = &env;
  const rocksdb::Status status = rocksdb::DB::Open(settings, options.directory, &opened);
  if (status.IsNoSpace()) return write_error(status);
  if (!status.ok()) return read_error(status);
  std::shared_ptr<rocksdb::DB> db(opened);
  COMMITD_RETURN_IF_ERROR(check_format_version(*db, options.directory, options.own_log));
  auto point = find_commit_point(*db);
  if (!point) return point.error();
  auto engine =
      std::make_unique<RocksEngine>(std::move(db), std::move(flushes), std::move(room), std::move(history),
                                    std::move(*point), row_cache_bytes(options), options.part_bytes);
  if (options.own_log) COMMITD_RETURN_IF_ERROR(engine->open_own_log(options.flush_log_at_trx_commit));
  COMMITD_RETURN_IF_ERROR(engine->erase_what_nobody_names());
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace commitd::storage
