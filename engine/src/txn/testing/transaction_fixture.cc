#include "txn/testing/transaction_fixture.h"

#include "base/file.h"
#include "log/log.h"

namespace commitd::txn::testing {

namespace {

ColumnDef integer_column(const char* name, bool nullable) {
  ColumnDef column;
  column.name = name;
  column.type = FieldType::Long;
  column.nullable = nullable;
  return column;
}

ColumnDef text_column(const char* name) {
  ColumnDef column;
  column.name = name;
  column.type = FieldType::VarChar;
  column.length = 20;
  column.collation = 45;
  return column;
}

std::string row_text(const Row& row) {
  std::string text;
  for (const Value& value : row) text += (text.empty() ? "" : ":") + value.to_text();
  return text;
}

}  // namespace

TransactionTest::TransactionTest() {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  directory_ =
      std::filesystem::temp_directory_path() / ("txn-test-" + std::to_string(::getpid()) + "-" + name);
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directories(directory_ / "log");
  engine_ = *storage::open_rocks(
      {.directory = directory_ / "data", .block_cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20});
  binlog::LogOptions log_options;
  log_options.directory = directory_ / "log";
  binlog::OpenReport report;
  auto log = binlog::Log::open(FileSystem::posix(), log_options, engine_->replay_position(), &report);
  if (!log) throw std::runtime_error(log.error().message);
  binlog::PipelineOptions options;
  options.server_uuid = Uuid::random();
  options.settings = settings_;
  options.temporary = {&FileSystem::posix(), directory_};
  pipeline_ = std::make_unique<binlog::CommitPipeline>(std::move(*log), report, *engine_, applier_, options);
  const auto replayed = pipeline_->replay(report.end);
  if (!replayed) throw std::runtime_error(replayed.error().message);
  pipeline_->set_gate(binlog::CommitPipeline::Gate::Immediate);
  pipeline_->start();
  services_ = std::make_unique<Services>(Services{*engine_, locks_, *pipeline_});
}

TransactionTest::~TransactionTest() {
  pipeline_->stop();
  pipeline_.reset();
  engine_.reset();
  std::filesystem::remove_all(directory_);
}

TablePtr people_table() {
  auto table = std::make_shared<TableDef>();
  table->id = 100;
  table->db = "test";
  table->name = "people";
  table->columns = {integer_column("id", false), text_column("name"), integer_column("age", true)};
  table->columns[0].auto_increment = true;
  table->indexes = {{1000, "PRIMARY", {{0, 0}}, true, true, {}},
                    {1001, "name", {{1, 0}}, true, false, {}},
                    {1002, "age", {{2, 0}}, false, false, {}}};
  return table;
}

TablePtr words_table() {
  auto table = std::make_shared<TableDef>();
  table->id = 101;
  table->db = "test";
  table->name = "words";
  table->columns = {text_column("word"), integer_column("count", true)};
  table->indexes = {{1010, "hidden", {}, true, false, {}}, {1011, "count", {{1, 0}}, false, false, {}}};
  return table;
}

Value text_value(const char* text) {
  return text == nullptr ? Value::null() : Value::string(text);
}
Row person(int id, const char* name, int age) {
  return {Value::integer(id), text_value(name), Value::integer(age)};
}
Row word(const char* text, int count) {
  return {text_value(text), Value::integer(count)};
}

Transaction::Options options_for(Isolation isolation) {
  Transaction::Options options;
  options.isolation = isolation;
  options.lock_wait_timeout = std::chrono::seconds(30);
  return options;
}

void begin(Client& client, Isolation isolation) {
  client.transaction.begin(options_for(isolation), binlog::TransactionBuffer::Context{});
  client.transaction.begin_statement();
}

std::string found(Client& client, const TablePtr& table, size_t index, const IndexRange& range,
                  bool backwards) {
  const auto cursor =
      client.transaction.scan(table, table->indexes[index], range, ReadMode::Snapshot, backwards);
  std::string text;
  FoundRow row;
  while (true) {
    const auto more = cursor->next(row);
    if (!more) return more.error().message;
    if (!*more) return text;
    text += (text.empty() ? "" : " ") + row_text(row.values);
  }
}

}  // namespace commitd::txn::testing
