#include "storage/rocks/prepared_table.h"

#include "base/bytes.h"
#include "base/packed_int.h"
#include "storage/record/key_codec.h"
#include "storage/rocks/rocks_status.h"

namespace commitd::storage {
namespace {

constexpr size_t kUuidSize = 16;
constexpr size_t kKeySize = 4 + kUuidSize + 8;

std::string key_prefix() {
  std::string key;
  append_index_id(key, kPreparedIndexId);
  return key;
}

}  // namespace

std::string prepared_key(const Gtid& gtid) {
  std::string key = key_prefix();
  key.append(reinterpret_cast<const char*>(gtid.sid.bytes.data()), kUuidSize);
  append_big_endian(key, gtid.gno, 8);
  return key;
}

Status PreparedTable::load(rocksdb::DB& db) {
  const std::string prefix = key_prefix();
  const std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(rocksdb::ReadOptions()));
  for (iterator->Seek(prefix); iterator->Valid() && iterator->key().starts_with(prefix); iterator->Next()) {
    const std::string_view key(iterator->key().data(), iterator->key().size());
    if (key.size() != kKeySize)
      return make_error(er::kErrorOnRead, "The key of a prepared transaction is damaged");
    Gtid gtid;
    std::memcpy(gtid.sid.bytes.data(), key.data() + prefix.size(), kUuidSize);
    gtid.gno = load_be(key.data() + prefix.size() + kUuidSize, 8);
    add(gtid);
  }
  return iterator->status().ok() ? Status{} : Status{read_error(iterator->status())};
}

void PreparedTable::add(const Gtid& gtid) {
  std::lock_guard lock(mutex_);
  gnos_[gtid.sid].insert(gtid.gno);
}

void PreparedTable::remove(const Gtid& gtid) {
  std::lock_guard lock(mutex_);
  const auto of_server = gnos_.find(gtid.sid);
  if (of_server == gnos_.end()) return;
  of_server->second.erase(gtid.gno);
  if (of_server->second.empty()) gnos_.erase(of_server);
}

bool PreparedTable::contains(const Gtid& gtid) const {
  std::lock_guard lock(mutex_);
  const auto of_server = gnos_.find(gtid.sid);
  return of_server != gnos_.end() && of_server->second.contains(gtid.gno);
}

std::vector<Gtid> PreparedTable::all() const {
  std::lock_guard lock(mutex_);
  std::vector<Gtid> all;
  for (const auto& [sid, gnos] : gnos_) {
    for (const uint64_t gno : gnos) all.push_back({sid, gno});
  }
  return all;
}

std::vector<Gtid> PreparedTable::among(const GtidSet& executed) const {
  std::lock_guard lock(mutex_);
  std::vector<Gtid> found;
  for (const auto& [sid, gnos] : gnos_) {
    for (const uint64_t gno : gnos) {
      if (executed.contains(Gtid{sid, gno})) found.push_back({sid, gno});
    }
  }
  return found;
}

}  // namespace commitd::storage
