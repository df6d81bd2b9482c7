// The prepared transactions: a record beside the data for each, under its GTID.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "storage/engine.h"

namespace commitd::storage {

std::string prepared_key(const Gtid& gtid);

class PreparedTable {
 public:
  // Those that opening found.
  Status load(rocksdb::DB& db);

  void add(const Gtid& gtid);
  void remove(const Gtid& gtid);
  bool contains(const Gtid& gtid) const;
  std::vector<Gtid> all() const;
  // Those in `executed`. Numbers of one UUID are executed in order, so the rest need not be looked at.
  std::vector<Gtid> among(const GtidSet& executed) const;

 private:
  mutable std::mutex mutex_;
  std::map<Uuid, std::set<uint64_t>> gnos_;
};

}  // namespace commitd::storage
