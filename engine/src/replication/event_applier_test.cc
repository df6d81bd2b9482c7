#include "replication/event_applier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/error_codes.h"
#include "binlog/event_writer.h"
#include "binlog/transaction_buffer.h"
#include "storage/record/key_codec.h"
#include "storage/record/row_image.h"
#include "storage/table_engines.h"
#include "txn/definition_gate.h"
#include "txn/transaction.h"

namespace {
std::atomic<size_t> allocations{0};
}

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// Not inlined: g++ would take free() for the wrong end of an operator new.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace commitd::replication {
namespace {

ColumnDef column(std::string name, FieldType type, uint32_t length = 0) {
  ColumnDef column;
  column.name = std::move(name);
  column.type = type;
  column.length = length;
  return column;
}

// (id INT AUTO_INCREMENT, note VARCHAR(50)), with a secondary index on note; the primary key is left out on
// demand.
TableDef notes_table(bool with_primary_key) {
  TableDef table;
  table.id = 12;
  table.db = "d";
  table.name = with_primary_key ? "notes" : "heap";
  table.columns = {column("id", FieldType::Long), column("note", FieldType::VarChar, 50)};
  table.columns[0].nullable = false;
  table.columns[0].auto_increment = with_primary_key;
  table.columns[1].collation = 45;
  IndexDef clustered;
  clustered.id = 1001;
  clustered.name = with_primary_key ? "PRIMARY" : "";
  clustered.unique = clustered.primary = with_primary_key;
  if (with_primary_key) clustered.columns = {{0, 0}};
  IndexDef secondary;
  secondary.id = 1002;
  secondary.name = "by_note";
  secondary.columns = {{1, 0}};
  table.indexes = {clustered, secondary};
  return table;
}

// A session's side of a transaction: fills the write set and the events together, as txn::Transaction does.
class Session {
 public:
  explicit Session(const TableDef& table) : table_(table) {}

  uint64_t insert(const Row& row) {
    const uint64_t row_id = table_.has_primary_key() ? 0 : writes.new_provisional_row_id(table_.id);
    txn::put_row(writes, table_, row, image(row), row_id);
    events.insert_row(table_, image(row));
    return row_id;
  }
  void update(const Row& before, const Row& after, uint64_t row_id = 0) {
    txn::replace_row(writes, table_, before, after, image(after), row_id);
    events.update_row(table_, image(before), image(after), row_id);
  }
  void erase(const Row& row, uint64_t row_id = 0) {
    txn::erase_row(writes, table_, row, row_id);
    events.delete_row(table_, image(row), row_id);
  }
  // What the log holds of it.
  std::string logged() {
    events.end_statement();
    events.finish(1);
    return as_logged(events);
  }
  static std::string as_logged(binlog::TransactionBuffer& events) {
    std::string bytes;
    binlog::GtidEvent gtid;
    gtid.gtid = {Uuid::random(), 1};
    binlog::append_gtid(bytes, {1, 1}, gtid, true);
    bytes += events.bytes();
    EXPECT_TRUE(binlog::seal_events(bytes.data(), bytes.size(), 4).ok());
    return bytes;
  }

  WriteSet writes;
  binlog::TransactionBuffer events{binlog::TransactionBuffer::Context{}};

 private:
  std::string image(const Row& row) const {
    std::string out;
    encode_row_image(table_, row, out);
    return out;
  }
  const TableDef& table_;
};

Row row(int64_t id, std::string note) {
  return {Value::integer(id), Value::string(std::move(note))};
}

void expect_equal(const WriteSet& rebuilt, const WriteSet& executed) {
  ASSERT_EQ(rebuilt.entries().size(), executed.entries().size());
  auto other = executed.entries().begin();
  for (const auto& [key, entry] : rebuilt.entries()) {
    EXPECT_EQ(key, other->first);
    EXPECT_EQ(entry.value, other->second.value);
    EXPECT_EQ(entry.row_id, other->second.row_id);
    ++other;
  }
  EXPECT_EQ(rebuilt.provisional_counts(), executed.provisional_counts());
  EXPECT_EQ(rebuilt.auto_increments(), executed.auto_increments());
}

// What an engine has, in the order of its keys.
class StoredRows final : public storage::Iterator {
 public:
  StoredRows(const WriteSet& stored, const std::string& lower, const std::string& upper) {
    for (const auto& [key, entry] : stored.entries()) {
      if (entry.value && key >= lower && key < upper) rows_.emplace_back(key, *entry.value);
    }
  }
  void seek(std::string_view key) override {
    at_ = 0;
    while (valid() && rows_[at_].first < key) ++at_;
  }
  void seek_for_prev(std::string_view) override { at_ = rows_.size(); }
  void next() override { ++at_; }
  void prev() override { --at_; }
  bool valid() const override { return at_ < rows_.size(); }
  std::string_view key() const override { return rows_[at_].first; }
  std::string_view value() const override { return rows_[at_].second; }
  Status status() const override { return {}; }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
  size_t at_ = 0;
};

class EventApplierTest : public ::testing::TestWithParam<bool> {
 protected:
  EventApplier applier() {
    return EventApplier(
        [this](std::string_view db, std::string_view name) -> TablePtr {
          return db == table_->db && name == table_->name ? table_ : nullptr;
        },
        [this](const binlog::QueryEvent& event, WriteSet& writes) -> Result<std::function<void()>> {
          statements_.push_back(event.sql);
          writes.put("ddl", event.sql);
          return std::function<void()>([this] { ++published_; });
        },
        {[this](std::string_view key, std::string& stored) -> Result<bool> {
           const WriteSet::Entry* entry = engine_.find(key);
           if (entry == nullptr || !entry->value) return false;
           stored = *entry->value;
           return true;
         },
         [this](const std::string& lower, const std::string& upper) {
           return std::make_unique<StoredRows>(engine_, lower, upper);
         }});
  }

  void store(const Row& values, uint64_t row_id = 0) {
    txn::put_row(engine_, *table_, values, image_of(values), row_id);
  }
  // What a received transaction makes of what is stored.
  Result<WriteSet> compared(Session& session) {
    WriteSet writes;
    auto outcome = applier().build(session.logged(), {.alone = true, .compare = true}, writes);
    if (!outcome.ok()) return std::move(outcome).error();
    return writes;
  }
  void expect_refused(Session& session, uint16_t code, const std::string& words) {
    auto writes = compared(session);
    ASSERT_FALSE(writes.ok()) << "applied, though it should be error " << code;
    EXPECT_EQ(writes.error().code, code);
    EXPECT_NE(writes.error().message.find(words), std::string::npos) << writes.error().message;
  }

  std::string image_of(const Row& values) const {
    std::string out;
    encode_row_image(*table_, values, out);
    return out;
  }

  TablePtr table_ = std::make_shared<const TableDef>(notes_table(true));
  std::vector<std::string> statements_;
  int published_ = 0;
  WriteSet engine_;  // what is stored
};

TEST_P(EventApplierTest, EventsGiveTheWritesOfTheSessionThatLoggedThem) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  Session session(*table_);
  const uint64_t first = session.insert(row(1, "one"));
  session.insert(row(2, "two"));
  const uint64_t third = session.insert(row(3, "three"));
  session.update(row(1, "one"), row(1, "uno"), first);
  session.erase(row(3, "three"), third);
  session.update(row(90, "old"), row(91, "new"), table_->has_primary_key() ? 0 : 4711);
  session.erase(row(80, "gone"), table_->has_primary_key() ? 0 : 4712);
  const std::string logged = session.logged();

  WriteSet rebuilt;
  auto outcome = applier().build(logged, {}, rebuilt);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->exclusive);
  expect_equal(rebuilt, session.writes);
}

// What replay of small rows costs is mostly this. Per row: what is stored, and its share of the tree's nodes;
// no value of a column that no key has.
TEST_F(EventApplierTest, ARowCostsItsStoredBytesAndNoMore) {
  TableDef only_primary = notes_table(true);
  only_primary.indexes.pop_back();
  table_ = std::make_shared<const TableDef>(only_primary);
  constexpr size_t kRows = 3000;
  Session session(*table_);
  for (size_t id = 1; id <= kRows; ++id) session.insert(row(static_cast<int64_t>(id), std::string(40, 'n')));
  const std::string logged = session.logged();

  EventApplier tested = applier();
  WriteSet rebuilt = WriteSet::without_undo();
  const size_t before = allocations;
  auto outcome = tested.build(logged, {}, rebuilt);
  const size_t taken = allocations - before;
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(rebuilt.entries().size(), kRows);
  EXPECT_LT(static_cast<double>(taken) / kRows, 1.6);
}

TEST_P(EventApplierTest, ManyRowsInManyEventsComeBackInOrder) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  Session session(*table_);
  for (int64_t id = 0; id < 2000; ++id) {
    const uint64_t row_id = session.insert(row(id, std::to_string(id)));
    if (id % 3 == 0) session.update(row(id, std::to_string(id)), row(id, "third"), row_id);
    if (id % 7 == 0) session.erase(row(id, id % 3 == 0 ? "third" : std::to_string(id)), row_id);
  }
  const std::string logged = session.logged();
  WriteSet rebuilt;
  auto outcome = applier().build(logged, {}, rebuilt);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  expect_equal(rebuilt, session.writes);
}

TEST_P(EventApplierTest, MinimalImagesGiveTheSameWritesFromWhatIsStored) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  const bool keyed = table_->has_primary_key();
  txn::put_row(engine_, *table_, row(90, "old"), image_of(row(90, "old")), keyed ? 0 : 4711);
  txn::put_row(engine_, *table_, row(80, "gone"), image_of(row(80, "gone")), keyed ? 0 : 4712);
  Session whole(*table_), minimal(*table_);
  binlog::TransactionBuffer::Context context;
  context.minimal_images = true;
  minimal.events.set_context(context);
  for (Session* session : {&whole, &minimal}) {
    const uint64_t first = session->insert(row(1, "one"));
    session->update(row(1, "one"), row(1, "uno"), first);
    session->update(row(90, "old"), row(90, "new"), keyed ? 0 : 4711);
    session->update(row(90, "new"), row(91, "new"), keyed ? 0 : 4711);
    session->erase(row(80, "gone"), keyed ? 0 : 4712);
  }
  const std::string logged = minimal.logged();
  WriteSet rebuilt;
  auto outcome = applier().build(logged, {}, rebuilt);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->exclusive) << "what is stored counts only when everything before is";
  WriteSet alone;
  outcome = applier().build(logged, {.alone = true}, alone);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  expect_equal(alone, whole.writes);
  if (!keyed) return;
  engine_.clear();
  WriteSet nowhere;
  EXPECT_EQ(applier().build(logged, {.alone = true}, nowhere).error().code, er::kKeyNotFound);
}

// An older log, or another server's, may have the rows of a table that was made otherwise there.
TEST_F(EventApplierTest, RowsOfOtherTypesAreNotReadAsTheTables) {
  TableDef logged = notes_table(true);
  logged.columns[0].type = FieldType::LongLong;
  Session session(logged);
  session.insert(row(1, "one"));
  expect_refused(session, er::kReplicaConversionFailed,
                 "Column 0 of table 'd.notes' cannot be converted from type 'bigint' to type 'int'");
  logged = notes_table(true);
  logged.columns[1].length = 60;
  Session wider(logged);
  wider.insert(row(2, "two"));
  EXPECT_TRUE(compared(wider).ok());
}

// --- received transactions: the rows must be here as the source had them ---

TEST_P(EventApplierTest, AReceivedTransactionThatFitsIsAppliedAsItWasExecuted) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  const bool keyed = table_->has_primary_key();
  store(row(90, "old"), keyed ? 0 : 4711);
  store(row(80, "gone"), keyed ? 0 : 4712);
  Session session(*table_);
  const uint64_t first = session.insert(row(1, "one"));
  session.update(row(1, "one"), row(1, "uno"), first);
  session.update(row(90, "old"), row(91, "new"), keyed ? 0 : 4711);
  session.erase(row(80, "gone"), keyed ? 0 : 4712);
  session.erase(row(91, "new"), keyed ? 0 : 4711);
  auto writes = compared(session);
  ASSERT_TRUE(writes.ok()) << writes.error().message;
  expect_equal(*writes, session.writes);
}

TEST_P(EventApplierTest, ARowThatIsNotThereStopsIt) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  const uint64_t row_id = table_->has_primary_key() ? 0 : 4711;
  Session update(*table_), erase(*table_), again(*table_);
  update.update(row(1, "one"), row(1, "uno"), row_id);
  expect_refused(update, er::kKeyNotFound, "Could not execute Update_rows event on table d.");
  erase.erase(row(1, "one"), row_id);
  expect_refused(erase, er::kKeyNotFound, "HA_ERR_KEY_NOT_FOUND");
  store(row(1, "one"), row_id);
  again.erase(row(1, "one"), row_id);
  again.erase(row(1, "one"), row_id);
  expect_refused(again, er::kKeyNotFound, "Can't find record in");
}

TEST_P(EventApplierTest, ARowThatHasOtherValuesStopsIt) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  const uint64_t row_id = table_->has_primary_key() ? 0 : 4711;
  store(row(1, "changed here"), row_id);
  Session update(*table_), erase(*table_);
  update.update(row(1, "one"), row(1, "uno"), row_id);
  expect_refused(update, er::kKeyNotFound, "Can't find record in");
  erase.erase(row(1, "one"), row_id);
  expect_refused(erase, er::kKeyNotFound, "Can't find record in");
}

TEST_F(EventApplierTest, AKeyThatIsTakenStopsIt) {
  TableDef unique = notes_table(true);
  unique.indexes[1].unique = true;
  table_ = std::make_shared<const TableDef>(unique);
  store(row(1, "one"));
  store(row(2, "two"));
  Session same_id(*table_), same_note(*table_), to_same_note(*table_), freed(*table_);
  same_id.insert(row(1, "other"));
  expect_refused(same_id, er::kDupEntry, "Duplicate entry '1' for key 'notes.PRIMARY'");
  same_note.insert(row(3, "two"));
  expect_refused(same_note, er::kDupEntry, "Duplicate entry 'two' for key 'notes.by_note'");
  to_same_note.update(row(1, "one"), row(1, "two"));
  expect_refused(to_same_note, er::kDupEntry, "HA_ERR_FOUND_DUPP_KEY");
  freed.erase(row(2, "two"));
  freed.update(row(1, "one"), row(7, "two"));
  freed.update(row(7, "two"), row(7, "TWO"));  // the same key, its own
  freed.insert(row(1, "one"));
  auto writes = compared(freed);
  ASSERT_TRUE(writes.ok()) << writes.error().message;
  expect_equal(*writes, freed.writes);
}

// As on a replica that was loaded from a dump, or of a source that tells no row ids.
TEST_F(EventApplierTest, WithoutAPrimaryKeyRowsAreFoundByTheirValues) {
  table_ = std::make_shared<const TableDef>(notes_table(false));
  for (uint64_t id = 1; id <= 3; ++id) store(row(static_cast<int64_t>(id), "here"), 10 + id);
  store(row(3, "here"), 20);
  Session there(*table_), here(*table_);
  there.update(row(2, "here"), row(2, "changed"), 1);  // 1 is nobody's, 11 another row's
  there.erase(row(3, "here"), 11);
  there.erase(row(3, "here"), 12);
  there.insert(row(8, "new"));
  there.update(row(8, "new"), row(9, "newer"), 13);
  here.update(row(2, "here"), row(2, "changed"), 12);
  here.erase(row(3, "here"), 13);
  here.erase(row(3, "here"), 20);
  const uint64_t added = here.insert(row(8, "new"));
  here.update(row(8, "new"), row(9, "newer"), added);
  auto writes = compared(there);
  ASSERT_TRUE(writes.ok()) << writes.error().message;
  expect_equal(*writes, here.writes);
}

TEST_F(EventApplierTest, ImagesOfSomeColumnsAreComparedByThem) {
  TableDef wide = notes_table(true);
  wide.columns.push_back(column("more", FieldType::Long));
  table_ = std::make_shared<const TableDef>(wide);
  const auto wide_row = [](int64_t id, std::string note, int64_t more) {
    return Row{Value::integer(id), Value::string(std::move(note)), Value::integer(more)};
  };
  store(wide_row(1, "one", 5));
  binlog::TransactionBuffer::Context minimal;
  minimal.minimal_images = true;
  Session fits(*table_), gone(*table_);
  fits.events.set_context(minimal);
  fits.update(wide_row(1, "one", 4), wide_row(1, "uno", 4));  // the event says nothing of `more`
  auto writes = compared(fits);
  ASSERT_TRUE(writes.ok()) << writes.error().message;
  const auto* stored = writes->find(clustered_key(*table_, wide_row(1, "", 0), 0));
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(*stored->value, stored_row(*table_, image_of(wide_row(1, "uno", 5))));
  gone.events.set_context(minimal);
  gone.erase(wide_row(2, "two", 4));
  expect_refused(gone, er::kKeyNotFound, "Can't find record in");
}

TEST_P(EventApplierTest, WhatMayNotBeStoredYetIsWaitedFor) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  const uint64_t row_id = table_->has_primary_key() ? 0 : 4711;
  store(row(1, "one"), row_id);
  Session first(*table_), second(*table_);
  first.update(row(1, "one"), row(1, "uno"), row_id);
  second.update(row(1, "uno"), row(1, "een"), row_id);
  EventApplier tested = applier();
  WriteSet writes, too_early, alone;
  const binlog::EventApplier::How compare{.compare = true};
  auto outcome = tested.build(first.logged(), compare, writes);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->exclusive);
  const std::string next = second.logged();
  outcome = tested.build(next, compare, too_early);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->exclusive);

  store(row(1, "uno"), row_id);
  tested.all_is_stored();
  outcome = tested.build(next, compare, alone);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->exclusive);
  expect_equal(alone, second.writes);
}

TEST_P(EventApplierTest, WhatWasMadeAheadHoldsUnlessSomethingInFrontHasChangedIt) {
  table_ = std::make_shared<const TableDef>(notes_table(GetParam()));
  const uint64_t ids[] = {table_->has_primary_key() ? 0u : 4711u, table_->has_primary_key() ? 0u : 4712u};
  store(row(1, "one"), ids[0]);
  store(row(2, "two"), ids[1]);
  Session first(*table_), same(*table_), other(*table_);
  first.update(row(1, "one"), row(1, "uno"), ids[0]);
  same.update(row(1, "one"), row(1, "een"), ids[0]);
  other.update(row(2, "two"), row(2, "due"), ids[1]);
  EventApplier tested = applier();
  binlog::EventApplier::Ahead spoilt, holds;
  tested.build_ahead(same.logged(), true, spoilt);
  tested.build_ahead(other.logged(), true, holds);
  EXPECT_TRUE(spoilt.complete);
  expect_equal(holds.writes, other.writes);

  WriteSet writes;
  ASSERT_TRUE(tested.build(first.logged(), {.compare = true}, writes).ok());
  EXPECT_FALSE(tested.take(spoilt));
  EXPECT_TRUE(tested.take(holds));

  // The row is there as `same` says, though not where it looked.
  store(row(1, "uno"), ids[0]);
  tested.stored_up_to(tested.turn());
  EXPECT_FALSE(tested.take(spoilt)) << "once stored it is still another row than the one that was looked at";
  binlog::EventApplier::Ahead later;
  Session last(*table_);
  last.update(row(1, "uno"), row(1, "een"), ids[0]);
  tested.build_ahead(last.logged(), true, later);
  EXPECT_TRUE(tested.take(later));
  binlog::EventApplier::Ahead after_all;
  tested.build_ahead(other.logged(), true, after_all);
  tested.all_is_stored();
  EXPECT_FALSE(tested.take(after_all)) << "anything may have been written";
}

TEST_F(EventApplierTest, WhatCannotBeMadeAheadIsLeftForItsTurn) {
  table_ = std::make_shared<const TableDef>(notes_table(true));
  EventApplier tested = applier();
  Session gone(*table_);
  gone.erase(row(1, "one"));
  binlog::EventApplier::Ahead missing, statement;
  tested.build_ahead(gone.logged(), true, missing);
  EXPECT_FALSE(tested.take(missing)) << "whether the row is there is known in its turn";
  binlog::TransactionBuffer events{binlog::TransactionBuffer::Context{}};
  events.set_statement("d", "CREATE TABLE t (a INT)");
  tested.build_ahead(Session::as_logged(events), true, statement);
  EXPECT_FALSE(tested.take(statement));
  EXPECT_TRUE(statements_.empty());
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPrimaryKey, EventApplierTest, ::testing::Bool());

TEST_F(EventApplierTest, AStatementIsAppliedOnlyAlone) {
  binlog::TransactionBuffer events{binlog::TransactionBuffer::Context{}};
  events.set_statement("d", "CREATE TABLE t (a INT)");
  const std::string logged = Session::as_logged(events);
  WriteSet writes;
  auto outcome = applier().build(logged, {}, writes);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->exclusive);
  EXPECT_TRUE(writes.empty());
  EXPECT_TRUE(statements_.empty());

  outcome = applier().build(logged, {.alone = true}, writes);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(statements_, std::vector<std::string>{"CREATE TABLE t (a INT)"});
  EXPECT_NE(writes.find("ddl"), nullptr);
  ASSERT_TRUE(outcome->publish);
  EXPECT_FALSE(txn::definition_gate().pass())
      << "nobody may take the old definition for the new one meanwhile";
  outcome->publish();
  EXPECT_EQ(published_, 1);
  outcome->publish = nullptr;
  EXPECT_TRUE(txn::definition_gate().pass());
}

TEST_F(EventApplierTest, AnEpochTransactionWritesNothing) {
  binlog::TransactionBuffer events{binlog::TransactionBuffer::Context{}};
  events.set_epoch(7);
  events.finish(7);
  WriteSet writes;
  auto outcome = applier().build(Session::as_logged(events), {}, writes);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_FALSE(outcome->exclusive);
  EXPECT_TRUE(writes.empty());
}

TEST_F(EventApplierTest, AMissingOrDifferentTableIsNamed) {
  TableDef other = *table_;
  other.name = "elsewhere";
  Session session(other);
  session.insert(row(1, "x"));
  WriteSet writes;
  auto outcome = applier().build(session.logged(), {}, writes);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, er::kNoSuchTable);
  EXPECT_NE(outcome.error().message.find("'d.elsewhere'"), std::string::npos) << outcome.error().message;

  TableDef wider = *table_;
  wider.columns.push_back(column("more", FieldType::Long));
  Session of_wider(wider);
  of_wider.insert({Value::integer(1), Value::string("x"), Value::integer(2)});
  outcome = applier().build(of_wider.logged(), {}, writes);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find("3 columns"), std::string::npos) << outcome.error().message;
}

// A source of another kind may write to its FEDERATED tables, and logs that.
TEST_F(EventApplierTest, RowsOnAnotherServerAreNotChanged) {
  TableDef remote = *table_;
  for (IndexDef& index : remote.indexes)
    index.id = storage::index_id_in(*storage::find_table_engine("FEDERATED"), index.id);
  table_ = std::make_shared<const TableDef>(remote);
  Session session(*table_);
  session.insert(row(1, "x"));
  WriteSet writes;
  auto outcome = applier().build(session.logged(), {}, writes);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, er::kOpenAsReadonly);
  EXPECT_TRUE(writes.empty());
}

}  // namespace
}  // namespace commitd::replication
