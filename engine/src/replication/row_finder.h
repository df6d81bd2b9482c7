// The rows that a received transaction's events speak of, as they are here: as the transaction has left them
// so far, else as they are stored. Says so when they are not what the source had, before anything is changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_set.h>

#include "base/result.h"
#include "storage/engine.h"
#include "storage/record/row_image.h"
#include "storage/record/table_def.h"
#include "storage/write_set.h"

namespace commitd::replication {

// Where rows are stored.
struct RowStorage {
  // What is stored under a key now; false when nothing is.
  std::function<Result<bool>(std::string_view key, std::string& stored)> read;
  std::function<std::unique_ptr<storage::Iterator>(std::string lower, std::string upper)> iterate;
};

// Keys that have been written by transactions in front and are perhaps not stored yet. May name a key that is
// none of them, and never misses one.
class UnstoredKeys {
 public:
  void add(const WriteSet& writes);
  void clear() { hashes_.clear(); }
  // Too many to know them apart from all others counts as "all".
  bool may_have(std::string_view key) const;

 private:
  absl::flat_hash_set<uint64_t> hashes_;
};

class RowFinder {
 public:
  // `unstored`: null when everything in front is stored.
  RowFinder(const RowStorage& storage, const WriteSet& writes, const UnstoredKeys* unstored)
      : storage_(storage), writes_(writes), unstored_(unstored) {}

  // An answer was refused because it depends on what is not stored yet.
  bool came_too_early() const { return came_too_early_; }

  Result<bool> read(std::string_view key, std::string& stored);

  // Error 1062 when the primary key or a unique key of `row` is another row's. `self`: the clustered key of
  // the row that it will replace; empty: of none.
  Status check_unique(const TableDef& table, const Row& row, std::string_view self);
  // Error 1032 when the row of this clustered key is not there, or is not `image`.
  Status check_same(const TableDef& table, const std::string& key, std::string_view image);
  // The row id of a row that is `image`, in a table without a primary key: `logged` where that fits, else the
  // next one that is found. Error 1032 when there is none.
  Result<uint64_t> row_id_of(const TableDef& table, std::string_view image, std::optional<uint64_t> logged);

 private:
  Result<bool> is_same(const TableDef& table, const std::string& key, std::string_view image);
  Result<std::optional<uint64_t>> search(const TableDef& table, std::string_view image, std::string lower,
                                         std::string upper);
  std::optional<uint64_t> search_own(const TableDef& table, std::string_view image) const;
  Error too_early();

  const RowStorage& storage_;
  const WriteSet& writes_;
  const UnstoredKeys* const unstored_;
  bool came_too_early_ = false;
  std::map<uint32_t, std::string> last_found_;  // by clustered index: rows change in the order of a scan
};

// Whether two whole images are the same row. A value may have several encodings.
Result<bool> same_row(const TableDef& table, std::string_view image, std::string_view other);
Error row_not_found(const TableDef& table);

}  // namespace commitd::replication
