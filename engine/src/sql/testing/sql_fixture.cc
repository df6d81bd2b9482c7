#include "sql/testing/sql_fixture.h"

#include <stdexcept>

#include <unistd.h>

#include "base/file.h"
#include "log/log.h"
#include "runtime/reactor.h"

namespace commitd::sql::testing {

void TextSink::start_result() {
  if (!first_result_) text += " ; ";
  first_result_ = false;
  first_row_ = true;
}

void TextSink::row(std::span<const Value> values) {
  if (!first_row_) text += "\n";
  first_row_ = false;
  for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? "|" : "") + values[i].to_text();
}

void TextSink::error(const Error& failed) {
  if (!in_rows_) start_result();  // else it ends the result that has begun
  text += "ERROR " + std::to_string(failed.code) + ": " + failed.message;
}

SqlTest::SqlTest() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  directory_ = std::filesystem::temp_directory_path() /
               ("sql-test-" + std::to_string(::getpid()) + "-" + test->name());
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directories(directory_ / "log");
  auto engine = storage::open_rocks(
      {.directory = directory_ / "data", .block_cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20});
  if (!engine) throw std::runtime_error(engine.error().message);
  engine_ = std::make_unique<storage::EngineRouter>(*std::move(engine));
  engine_->memory().start(1, false);
  binlog::LogOptions log_options;
  log_options.directory = directory_ / "log";
  binlog::OpenReport report;
  auto log = binlog::Log::open(FileSystem::posix(), log_options, engine_->replay_position(), &report);
  if (!log) throw std::runtime_error(log.error().message);
  initialize();
  binlog::PipelineOptions options;
  options.server_uuid = Uuid::random();
  pipeline_ = std::make_unique<binlog::CommitPipeline>(std::move(*log), report, *engine_, applier_, options);
  if (auto replayed = pipeline_->replay(report.end); !replayed)
    throw std::runtime_error(replayed.error().message);
  pipeline_->set_gate(binlog::CommitPipeline::Gate::Immediate);
  pipeline_->start();
  services_ = std::make_unique<txn::Services>(txn::Services{*engine_, locks_, *pipeline_});
  VariableDefinition server_id;
  server_id.name = "server_id";
  server_id.type = VariableType::Integer;
  server_id.initial = Value::unsigned_integer(1);
  variables_.define(std::move(server_id));
  server_.engine = engine_.get();
  server_.transactions = services_.get();
  server_.catalog = catalog_.get();
  server_.accounts = &accounts_;
  server_.variables = &variables_;
  server_.processes = &processes_;
  server_.version = "8.4.0-commitd";
  session_ = connect();
  if (const std::string made = run("CREATE DATABASE test; "); !made.empty()) throw std::runtime_error(made);
  run("USE test");
}

SqlTest::~SqlTest() {
  session_.reset();
  pipeline_->stop();
  pipeline_.reset();
  catalog_.reset();
  engine_.reset();
  std::filesystem::remove_all(directory_);
}

void SqlTest::initialize() {
  WriteSet writes;
  Catalog::initialize(writes);
  accounts_.initialize(writes, "");
  WriteSet* const transactions[] = {&writes};
  storage::CommitStep step{engine_->commit_point(), {}};
  if (auto status = engine_->commit_ordered(transactions, step); !status.ok())
    throw std::runtime_error(status.error().message);
  catalog_ = std::make_unique<Catalog>(*engine_);
  if (auto status = catalog_->load(); !status.ok()) throw std::runtime_error(status.error().message);
  if (auto status = accounts_.load(*engine_); !status.ok()) throw std::runtime_error(status.error().message);
}

std::unique_ptr<Session> SqlTest::connect(std::string_view user) {
  auto session = std::make_unique<Session>(server_, ++last_connection_);
  const auto account = accounts_.find(user, "localhost");
  if (!account) throw std::runtime_error("no such account");
  session->set_user(*account, "localhost");
  session->set_multi_statements(true);
  return session;
}

std::unique_ptr<Session> SqlTest::connect_to_test_database(std::string_view user) {
  auto session = connect(user);
  run(*session, "USE test");
  return session;
}

std::string SqlTest::run(Session& session, std::string_view sql) {
  last_ = TextSink();
  run_blocking(session.query(sql, last_));
  return last_.text;
}

}  // namespace commitd::sql::testing
