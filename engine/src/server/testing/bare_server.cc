#include "server/testing/bare_server.h"

#include "base/error_codes.h"
#include "commit/left_log.h"
#include "log/log.h"
#include "runtime/reactor.h"
#include "sql/testing/sql_fixture.h"
#include "storage/rocks/rocks_engine.h"
#include "storage/rocks/testing/file_system_env.h"

namespace commitd::server::testing {

BareServer::BareServer(FileSystem& files, Wrap wrap)
    : files_(files), wrap_(std::move(wrap)), env_(storage::testing::env_over(files)) {
  sql::VariableDefinition server_id;
  server_id.name = "server_id";
  server_id.type = sql::VariableType::Integer;
  server_id.initial = Value::unsigned_integer(1);
  variables_.define(std::move(server_id));
  context_.accounts = &accounts_;
  context_.variables = &variables_;
  context_.processes = &processes_;
  context_.version = "8.4.0-commitd";
}

BareServer::~BareServer() {
  session_.reset();
  if (pipeline_) pipeline_->stop();
}

Status BareServer::open_engine() {
  auto engine = storage::open_rocks_on(*env_, {.directory = std::string(kEngineDirectory),
                                               .block_cache_bytes = 1 << 20,
                                               .write_buffer_bytes = write_buffer_bytes,
                                               .part_bytes = kPartBytes,
                                               .own_log = xa});
  if (!engine) return std::move(engine).error();
  engine_ = std::make_unique<storage::EngineRouter>(wrap_ ? wrap_(std::move(*engine)) : std::move(*engine));
  catalog_ = std::make_unique<sql::Catalog>(*engine_);
  COMMITD_RETURN_IF_ERROR(catalog_->load());
  COMMITD_RETURN_IF_ERROR(accounts_.load(*engine_));
  context_.engine = engine_.get();
  context_.catalog = catalog_.get();
  applier_ = std::make_unique<replication::EventApplier>(*catalog_, context_);
  return {};
}

Result<std::unique_ptr<binlog::Log>> BareServer::open_log(binlog::OpenReport& found) {
  binlog::LogOptions options;
  options.directory = kLogDirectory;
  options.max_file_size = max_file_size;
  options.prefill_bytes = 2048;
  options.server_version = context_.version;
  COMMITD_RETURN_IF_ERROR(binlog::CommitPipeline::finish_reset(files_, options, *engine_));
  COMMITD_RETURN_IF_ERROR(binlog::look_for_left_log(files_, options, engine_->replay_position()));
  return binlog::Log::open(files_, options, engine_->replay_position().position, &found);
}

Status BareServer::create() {
  COMMITD_RETURN_IF_ERROR(open_engine());
  binlog::OpenReport found;
  auto log = open_log(found);
  if (!log) return std::move(log).error();
  WriteSet writes;
  sql::Catalog::initialize(writes);
  accounts_.initialize(writes, "");
  WriteSet* const batch[] = {&writes};
  COMMITD_RETURN_IF_ERROR(engine_->commit_ordered(batch, {(*log)->end(), {}, 0}));
  return engine_->checkpoint();
}

Status BareServer::start() {
  COMMITD_RETURN_IF_ERROR(open_engine());
  binlog::OpenReport found;
  auto log = open_log(found);
  if (!log) return std::move(log).error();
  binlog::PipelineOptions options;
  options.server_uuid = *Uuid::parse("11111111-2222-3333-4444-555555555555");
  auto settings = std::make_shared<binlog::CommitSettings>();
  settings->transaction_cache_bytes = kTransactionCacheBytes;
  settings->order_commits = order_commits;
  options.settings = std::move(settings);
  options.temporary = {&files_, std::string(kLogDirectory)};
  COMMITD_RETURN_IF_ERROR(remove_temporary_files(options.temporary));
  pipeline_ = std::make_unique<binlog::CommitPipeline>(std::move(*log), found, *engine_, *applier_, options);
  auto replayed = pipeline_->replay(found.end);
  if (!replayed) return std::move(replayed).error();
  if (!log_bin) {
    COMMITD_RETURN_IF_ERROR(pipeline_->leave_log());
  } else if (pipeline_->log().options().left_at != LogPosition()) {
    COMMITD_RETURN_IF_ERROR(pipeline_->return_to_log());
  }
  engine_->memory().start(sql::CatalogChange(*catalog_).new_table_id(), true);
  pipeline_->start();
  services_ = std::make_unique<txn::Services>(txn::Services{*engine_, locks_, *pipeline_});
  context_.transactions = services_.get();
  return {};
}

std::unique_ptr<sql::Session> BareServer::connect() {
  auto session = std::make_unique<sql::Session>(context_, ++last_connection_);
  session->set_user(*accounts_.find("root", "localhost"), "localhost");
  return session;
}

std::string BareServer::run(sql::Session& session, std::string_view statement) {
  sql::testing::TextSink sink;
  run_blocking(session.query(statement, sink));
  return sink.text;
}

std::string BareServer::run(std::string_view statement) {
  if (!session_) session_ = connect();
  return run(*session_, statement);
}

}  // namespace commitd::server::testing
