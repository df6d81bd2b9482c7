#include "sql/testing/sql_server.h"

#include <stdexcept>

#include "base/file.h"
#include "log/log.h"

namespace commitd::sql::testing {

SqlServer::SqlServer(std::filesystem::path directory, Syncs syncs) : directory_(std::move(directory)) {
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directories(log_directory());
  auto engine = storage::open_rocks(
      {.directory = directory_ / "data", .block_cache_bytes = 8 << 20, .write_buffer_bytes = 1 << 20});
  if (!engine) throw std::runtime_error(engine.error().message);
  engine_ = std::make_unique<storage::EngineRouter>(*std::move(engine));
  engine_->memory().start(1, false);
  binlog::LogOptions log_options;
  log_options.directory = log_directory();
  binlog::OpenReport report;
  auto log = binlog::Log::open(FileSystem::posix(), log_options, engine_->replay_position(), &report);
  if (!log) throw std::runtime_error(log.error().message);
  initialize();
  auto settings = std::make_shared<binlog::CommitSettings>();
  settings->sync_binlog = syncs == Syncs::Yes ? 1 : 0;
  binlog::PipelineOptions options;
  options.settings = std::move(settings);
  options.server_uuid = Uuid::random();
  pipeline_ = std::make_unique<binlog::CommitPipeline>(std::move(*log), report, *engine_, applier_, options);
  if (auto replayed = pipeline_->replay(report.end); !replayed)
    throw std::runtime_error(replayed.error().message);
  pipeline_->set_gate(binlog::CommitPipeline::Gate::Immediate);
  pipeline_->start();
  services_ = std::make_unique<txn::Services>(txn::Services{*engine_, locks_, *pipeline_});
  context_.engine = engine_.get();
  context_.transactions = services_.get();
  context_.catalog = catalog_.get();
  context_.accounts = &accounts_;
  context_.variables = &variables_;
  context_.processes = &processes_;
  context_.version = "8.4.0-commitd";
}

SqlServer::~SqlServer() {
  pipeline_->stop();
  pipeline_.reset();
  catalog_.reset();
  engine_.reset();
  std::filesystem::remove_all(directory_);
}

void SqlServer::initialize() {
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

std::unique_ptr<Session> SqlServer::connect(std::string_view user) {
  auto session = std::make_unique<Session>(context_, ++last_connection_);
  const auto account = accounts_.find(user, "localhost");
  if (!account) throw std::runtime_error("no such account");
  session->set_user(*account, "localhost");
  session->set_multi_statements(true);
  return session;
}

}  // namespace commitd::sql::testing
