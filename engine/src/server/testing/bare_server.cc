#include "server/testing/bare_server.h"

#include "runtime/reactor.h"
#include "sql/testing/sql_fixture.h"
#include "storage/rocks/rocks_engine.h"
#include "storage/rocks/testing/file_system_env.h"

namespace commitd::server::testing {

BareServer::BareServer(FileSystem& files, Wrap wrap)
    : files_(files),
      env_(storage::testing::env_over(files)),
      open_engine_([this, wrap = std::move(wrap)](
                       const storage::RocksOptions& options) -> Result<std::unique_ptr<storage::Engine>> {
        auto engine = storage::open_rocks_on(*env_, options);
        if (engine.ok() && wrap) return wrap(std::move(*engine));
        return engine;
      }) {
  context_.accounts = &accounts_;
  context_.variables = &variables_;
  context_.processes = &processes_;
  context_.version = "8.4.0-commitd";
}

BareServer::~BareServer() {
  session_.reset();
}

InstanceSettings BareServer::settings() const {
  InstanceSettings settings;
  settings.engine = {.directory = std::string(kEngineDirectory),
                     .block_cache_bytes = 1 << 20,
                     .write_buffer_bytes = write_buffer_bytes,
                     .part_bytes = kPartBytes,
                     .own_log = xa};
  settings.log.directory = kLogDirectory;
  settings.log.max_file_size = max_file_size;
  settings.log.prefill_bytes = 2048;
  settings.log.server_version = context_.version;
  settings.pipeline.server_uuid = *Uuid::parse(server_uuid);
  auto commits = std::make_shared<binlog::CommitSettings>();
  commits->transaction_cache_bytes = kTransactionCacheBytes;
  commits->order_commits = order_commits;
  commits->parallel_workers = parallel_workers;
  settings.pipeline.settings = std::move(commits);
  settings.pipeline.temporary = {&files_, std::string(kLogDirectory)};
  settings.log_bin = log_bin;
  settings.checkpoint_at_end = false;
  return settings;
}

Status BareServer::open_engine() {
  instance_ = std::make_unique<Instance>(settings(), context_);
  return instance_->open_engine(open_engine_);
}

Result<std::unique_ptr<binlog::Log>> BareServer::open_log(binlog::OpenReport& found) {
  return instance_->open_log(files_, found);
}

Status BareServer::create() {
  return Instance::create({files_, open_engine_}, settings(), accounts_, "");
}

Status BareServer::start() {
  auto opened = Instance::open({files_, open_engine_}, settings(), context_);
  if (!opened.ok()) return std::move(opened).error();
  instance_ = std::move(*opened);
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
