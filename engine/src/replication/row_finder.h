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
#include <vector>

#include "base/result.h"
#include "replication/unstored_keys.h"
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

// What is known of the transactions in front, some of which may not be stored yet.
struct InFront {
  const UnstoredKeys* unstored = nullptr;  // what they have written
  // They go on meanwhile: the keys that were looked at. Whoever knows what they have written looks whether
  // any of these was.
  std::vector<UnstoredKeys::Hash>* read = nullptr;
  bool all_is_stored() const { return unstored == nullptr && read == nullptr; }
};

class RowFinder {
 public:
  RowFinder(const RowStorage& storage, const WriteSet& writes, InFront front)
      : storage_(storage), writes_(writes), front_(front) {}

  // An answer was refused because it depends on what is not stored yet,
  bool came_too_early() const { return came_too_early_; }
  // or, by a search, may depend on anything that is not stored.
  bool must_be_alone() const { return must_be_alone_; }

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

  const RowStorage& storage_;
  const WriteSet& writes_;
  const InFront front_;
  bool came_too_early_ = false, must_be_alone_ = false;
  std::map<uint32_t, std::string> last_found_;  // by clustered index: rows change in the order of a scan
};

// Whether two whole images are the same row. A value may have several encodings.
Result<bool> same_row(const TableDef& table, std::string_view image, std::string_view other);
Error row_not_found(const TableDef& table);

}  // namespace commitd::replication
