#include "server/testing/crash_oracle.h"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "binlog/transaction_scanner.h"
#include "log/log.h"
#include "storage/record/key_codec.h"
#include "storage/record/row_image.h"
#include "txn/row_writes.h"
#include "txn/transaction.h"

namespace commitd::server::testing {
namespace {

using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

constexpr size_t kStatesBetweenLooks = 16;

std::string index_prefix(uint32_t index_id) {
  std::string key;
  append_index_id(key, index_id);
  return key;
}

using EachRow = std::function<void(const Row& row, std::string_view image, std::string_view key)>;

void for_each_row(storage::Engine& engine, const TableDef& table, const EachRow& each) {
  const std::string from = index_prefix(table.clustered().id);
  const auto iterator = engine.iterate(engine.snapshot(), from, prefix_end(from));
  std::string scratch;
  for (iterator->seek(from); iterator->valid(); iterator->next()) {
    const auto image = image_of_stored_row(table, iterator->value(), scratch);
    if (!image) throw std::runtime_error(image.error().message);
    const auto row = decode_row_image(table, *image);
    if (!row) throw std::runtime_error(row.error().message);
    each(*row, *image, iterator->key());
  }
}

// All files of the log as they were last, as if nothing had been purged.
std::unique_ptr<RecordingFileSystem> with_whole_log(const RecordingFileSystem& files) {
  auto result = files.after_crash(0, Loss::KeepAll, 0);
  std::string index;
  for (const auto& [path, content] : files.every_file()) {
    if (!path.starts_with(kLogDirectory) || path.find("/binlog.0") == path.npos) continue;
    index += path.substr(kLogDirectory.size() + 1) + "\n";
    result->put_file(path, content);
  }
  result->put_file(std::string(kLogDirectory) + "/binlog.index", index);
  return result;
}

}  // namespace

uint64_t digest_of(storage::Engine& engine) {
  const std::string commit_point = index_prefix(storage::kCommitPointIndexId);
  const std::string prepared = index_prefix(storage::kPreparedIndexId);
  const auto iterator = engine.iterate(engine.snapshot(), "", "");
  uint64_t digest = 0;
  const std::hash<std::string_view> hash;
  for (iterator->seek(""); iterator->valid(); iterator->next()) {
    if (iterator->key().starts_with(commit_point) || iterator->key().starts_with(prepared)) continue;
    digest = digest * 1099511628211u + hash(iterator->key());
    digest = digest * 1099511628211u + hash(iterator->value());
  }
  return digest;
}

std::string disorder_in(storage::Engine& engine, sql::Catalog& catalog) {
  WriteSet expected;
  for (const std::string& db : catalog.databases()) {
    for (const TablePtr& table : catalog.tables(db)) {
      for_each_row(engine, *table, [&](const Row& row, std::string_view image, std::string_view key) {
        txn::put_row(expected, *table, row, image, table->has_primary_key() ? 0 : txn::row_id_of(key));
      });
    }
  }
  auto wanted = expected.entries().begin();
  const std::string from = index_prefix(storage::kFirstUserIndexId);
  const auto iterator = engine.iterate(engine.snapshot(), from, "");
  for (iterator->seek(from); iterator->valid(); iterator->next(), ++wanted) {
    if (wanted == expected.entries().end() || iterator->key() < wanted->first)
      return "a key that belongs to no row";
    if (iterator->key() > wanted->first) return "a row without its index entry";
  }
  return wanted == expected.entries().end() ? "" : "a row without its index entry";
}

CrashOracle::CrashOracle(const RecordingFileSystem& files, bool xa) {
  const auto disk = with_whole_log(files);
  BareServer server(*disk);
  server.xa = xa;
  if (auto opened = server.open_engine(); !opened.ok()) throw std::runtime_error(opened.error().message);
  binlog::OpenReport found;
  auto log = server.open_log(found);
  if (!log) throw std::runtime_error(log.error().message);
  point_ = server.engine().commit_point();
  prefixes.push_back({point_.position, point_.executed, digest_of(server.engine()), 0});
  take_log(server, **log, found.end);
  look_at(server);
}

void CrashOracle::take_log(BareServer& server, binlog::Log& log, LogPosition end) {
  binlog::TransactionScanner scanner;
  for (LogPosition at = point_.position; at < end;) {
    const auto chunk = log.read(at, end, 64 << 20);
    if (!chunk) throw std::runtime_error(chunk.error().message);
    if (chunk->bytes.empty()) break;
    at = chunk->start;
    for (std::string_view rest = chunk->bytes; !rest.empty();) {
      const auto event = binlog::parse_event(rest);
      if (!event) throw std::runtime_error(event.error().message);
      const auto place = scanner.feed(*event, at.offset);
      if (!place) throw std::runtime_error(place.error().message);
      at.offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
      if (!binlog::TransactionScanner::completes(*place)) continue;
      const binlog::TransactionScanner::Transaction& ended = scanner.transaction();
      const size_t start = ended.start - chunk->start.offset, size = ended.end - ended.start;
      take_transaction(server, chunk->bytes.substr(start, size), at, ended.gtid);
    }
  }
}

void CrashOracle::take_transaction(BareServer& server, std::string_view events, LogPosition end,
                                   const Gtid& gtid) {
  WriteSet writes;
  const auto outcome =
      server.applier().build(binlog::unwrap_local(events), {.alone = true, .compare = true}, writes);
  if (!outcome) throw std::runtime_error(outcome.error().message);
  point_.position = end;
  storage::CommitStep step{point_, {}};
  if (!gtid.empty()) step.added.add(gtid);
  point_.executed.add(step.added);
  WriteSet* const batch[] = {&writes};
  if (auto taken = server.engine().commit_ordered(batch, step); !taken.ok())
    throw std::runtime_error(taken.error().message);
  if (outcome->publish) outcome->publish();

  const TablePtr table = server.catalog().find_table("test", "ledger");
  size_t rows = 0;
  for_each_row(server.engine(), *table, [&](const Row& row, std::string_view, std::string_view) {
    ++rows;
    ledger.try_emplace(std::stoll(row[0].to_text()), prefixes.size());
  });
  prefixes.push_back({end, point_.executed, digest_of(server.engine()), rows});
  if (prefixes.size() % kStatesBetweenLooks == 0) look_at(server);
}

void CrashOracle::look_at(BareServer& server) {
  const std::string disorder = disorder_in(server.engine(), server.catalog());
  if (!disorder.empty()) {
    problems.push_back(fmt::format("after {} transactions: {}", prefixes.size() - 1, disorder));
  }
}

size_t CrashOracle::prefix_at(LogPosition position) const {
  const auto behind =
      std::upper_bound(prefixes.begin(), prefixes.end(), position,
                       [](LogPosition wanted, const Prefix& prefix) { return wanted < prefix.end; });
  return behind - prefixes.begin() - 1;
}

}  // namespace commitd::server::testing
