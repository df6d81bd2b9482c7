#include "server/server.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <filesystem>

#include <algorithm>
#include <cstdlib>
#include <future>

#include "base/error_codes.h"
#include "observe/metrics.h"
#include "observe/process_metrics.h"
#include "observe/wait_events.h"
#include "server/applier_variables.h"
#include "server/binlog_variables.h"
#include "server/cloned_data.h"
#include "server/data_format.h"
#include "server/lock_variables.h"
#include "server/memory.h"
#include "server/metrics.h"
#include "server/point_in_time.h"
#include "server/read_only_variables.h"
#include "server/throttle_variables.h"
#include "server/variables.h"
#include "sql/information_schema/regressions.h"
#include "sql/variables/persisted_variables.h"

namespace commitd::server {
namespace {

constexpr auto kSessionEndTimeout = std::chrono::seconds(10);
constexpr auto kHandoverTimeout = std::chrono::milliseconds(10000);

void run_worker(Reactor& reactor, const std::string& name) {
  prctl(PR_SET_NAME, name.c_str());
  reactor.run();
}

// What is not durable must not be acknowledged, and a failed sync may not be tried again: only a restart,
// which reads back what the disk really has, can go on.
void stop_at_once(const Error& error) {
  spdlog::critical("stopping: the log or the storage engine failed: {}", error.message);
  spdlog::shutdown();
  std::_Exit(3);
}

Error unknown_option(const sql::SystemVariables& variables, const std::string& name) {
  auto known = variables.names();
  auto own = option_names();
  known.insert(known.end(), own.begin(), own.end());
  std::string nearest = nearest_name(name, known);
  return make_error(er::kUnknownSystemVariable, "unknown option '--{}'{}", name,
                    nearest.empty() ? "" : ": did you mean '--" + nearest + "'?");
}

// mysqldumpslow knows it by the path that it begins with.
std::string slow_log_heading(const Options& options, const std::string& version) {
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return fmt::format("{}, Version: {}. started with:\nTcp port: {}  Unix socket: {}\n",
                     unknown ? "/commitd" : program.string(), version, options.port, options.socket);
}

}  // namespace

Server::Server(Options options, Environment environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      accounts_({options_.operator_password, options_.replication_password}) {
  context_.accounts = &accounts_;
  context_.observers = &observers_;
  context_.variables = &variables_;
  context_.processes = &processes_;
  context_.version = kVersion;
  context_.server_id = options_.server_id;
  context_.request_shutdown = [] { kill(getpid(), SIGTERM); };
}

Server::~Server() {
  stop();
}

Status Server::check_configuration() {
  COMMITD_RETURN_IF_ERROR(set_variables());
  if (auto locking = lock_options(variables_); !locking.ok()) return std::move(locking).error();
  COMMITD_RETURN_IF_ERROR(check_restore_options(options_));
  COMMITD_RETURN_IF_ERROR(check_data_formats(options_.data_formats));
  return wire::TlsContext::check(tls_settings(variables_));
}

Status Server::start() {
  observe::register_process_metrics();
  register_counters();
  observe::gauge("commitd_build_info", "The release that runs.", {{"version", std::string(kVersion)}}).set(1);
  COMMITD_RETURN_IF_ERROR(check_configuration());
  apply_memory_budget(options_);
  auto datadir = Datadir::open(fs_, options_.datadir);
  if (!datadir.ok()) return std::move(datadir).error();
  datadir_ = std::move(*datadir);
  context_.server_uuid = datadir_->server_uuid();
  define_identity(variables_, *datadir_, options_);
  COMMITD_RETURN_IF_ERROR(load_persisted_variables());
  define_state(variables_, context_);
  register_regressions();

  start_workers();  // from here on others look variables up: none is defined any more
  roles_ = std::make_unique<replication::RoleManager>(replication_context());
  context_.instance = roles_.get();
  semisync_variables_.connect([this] { return roles_->semisync_policy(); },
                              [this] { roles_->semisync_changed(); });
  COMMITD_RETURN_IF_ERROR(roles_->load());
  COMMITD_RETURN_IF_ERROR(commit_variables_.check_for_clusters());
  COMMITD_RETURN_IF_ERROR(load_plugins());
  COMMITD_RETURN_IF_ERROR(serve_http());
  set_up_clones();
  COMMITD_RETURN_IF_ERROR(prepare_datadir());
  if (options_.initialize_insecure) return {};
  COMMITD_RETURN_IF_ERROR(apply_persisted_variables());  // those that need what is there only now
  return listen();
}

void Server::set_up_clones() {
  clone_donor_ = std::make_unique<replication::CloneDonor>(replication::CloneDonor::Environment{
      &fs_, donor_directory_in(datadir_->path()), [this]() -> storage::Engine* { return context_.engine; },
      [this]() -> binlog::CommitPipeline* {
        txn::Services* services = context_.transactions;
        return services == nullptr ? nullptr : &services->pipeline;
      },
      [this](const sql::Session& session, const wire::Channel& channel) {
        return may_be_given_a_clone(session, channel);
      },
      datadir_->server_uuid(), std::string(kVersion), kDatadirFormat, &clone_variables_.bytes_per_second});
  cloning_ = std::make_unique<Cloning>(
      Cloning::Environment{&fs_, log_options(*datadir_, options_), options_.xa, datadir_->server_uuid(),
                           &variables_, &clone_variables_, roles_.get(),
                           environment_.restart ? environment_.restart : context_.request_shutdown});
  upkeep_ = std::make_unique<Upkeep>(*cloning_);
  context_.maintenance = upkeep_.get();
}

// As the account is now.
bool Server::may_be_given_a_clone(const sql::Session& session, const wire::Channel& channel) {
  auto account = accounts_.find(processes_.user_of(session.connection_id()), channel.peer_address());
  if (!account) return false;
  const auto record = accounts_.record_of(*account);
  return record && (record->global & (sql::privilege::kSuper | sql::privilege::kBackupAdmin)) != 0;
}

Status Server::set_variables() {
  define_binlog_variables(variables_, context_);
  define_options(variables_, options_);
  commit_variables_.define();
  semisync_variables_.define();
  define_applier_variables(variables_, options_.commit_settings);
  define_max_replica_lag(variables_, max_replica_lag_, [this] {
    if (roles_) roles_->max_replica_lag_changed();
  });
  clone_variables_.define(variables_);
  observer_variables_.define();
  define_read_only(variables_, context_, *read_only_, [this](bool read_only, bool super) {
    if (roles_) roles_->set_read_only(read_only, super);
  });
  define_idle_spin(variables_);
  define_limits(variables_, limits_);
  define_lock_variables(variables_, context_);
  slow_log_.define(variables_);
  context_.slow_log = &slow_log_;
  define_tls(variables_, [this] { return tls_ && tls_->current(); });
  define_built_in_accounts(variables_, accounts_);
  for (const auto& [name, value, loose] : options_.variables) {
    if (variables_.find(name) == sql::SystemVariables::kNone) {
      Error unknown = unknown_option(variables_, name);
      if (!loose) return unknown;
      spdlog::warn("{}", unknown.message);
      continue;
    }
    COMMITD_RETURN_IF_ERROR(variables_.set_at_start(name, value));
  }
  if (variables_.global("performance_schema").as_int() == 0) {
    observe::switch_wait_events(false);
    observe::reset_wait_events();  // what start-up has counted until here
  }
  return take_options_from_variables();
}

Status Server::take_options_from_variables() {
  options_.max_binlog_size = variables_.global("max_binlog_size").as_uint();
  COMMITD_RETURN_IF_ERROR(commit_variables_.check());
  COMMITD_RETURN_IF_ERROR(observer_variables_.check());
  options_.xa = uses_xa(variables_);
  options_.log_bin = variables_.global("log_bin").as_int() != 0;
  options_.log_replica_updates = !options_.log_bin || variables_.global("log_replica_updates").as_int() != 0;
  if (options_.log_bin || options_.restore_binlogs.empty()) return {};
  return make_error(er::kWrongValueForVar, "--restore-binlogs cannot be used together with --skip-log-bin");
}

// For dashboards: which figures are those of a legacy way.
void Server::register_regressions() {
  for (const sql::Regression& regression : sql::regressions()) {
    const size_t ordinal = variables_.find(regression.variable);
    observe::callback("gauge", "commitd_regression_is_on",
                      "1 while the switch that brings a regression back is on.",
                      {{"id", std::string(regression.id)}, {"variable", std::string(regression.variable)}},
                      [this, &regression, ordinal]() -> double {
                        const std::string value = variables_.to_text(ordinal, variables_.global(ordinal));
                        return sql::is_legacy(regression, value) ? 1 : 0;
                      });
  }
}

Status Server::load_plugins() {
  const std::string path = datadir_->path() + "/plugins.list";
  plugins_ = std::make_unique<plugins::Registry>(observers_);
  plugins_->set_directory(variables_.global("plugin_dir").as_string());
  plugins_->save_with(
      [this, path](const std::string& content) { return write_file_atomically(fs_, path, content); });
  roles_->link_plugins(*plugins_);
  context_.plugins = plugins_.get();
  if (fs_.exists(path)) {
    auto content = read_whole_file(fs_, path);
    if (!content.ok()) return std::move(content).error();
    plugins_->load_list(*content);
  }
  plugins_->load_option(options_.plugin_load);
  return {};
}

Status Server::load_persisted_variables() {
  const std::string path = datadir_->path() + "/mysqld-auto.cnf";
  variables_.persisted().save_with(
      [this, path](const std::string& content) { return write_file_atomically(fs_, path, content); });
  if (!fs_.exists(path)) return {};
  auto content = read_whole_file(fs_, path);
  if (!content.ok()) return std::move(content).error();
  COMMITD_RETURN_IF_ERROR(variables_.persisted().load(*content));
  COMMITD_RETURN_IF_ERROR(apply_persisted_variables());
  return take_options_from_variables();
}

Status Server::apply_persisted_variables() {
  for (const auto& [name, variable] : variables_.persisted().all()) {
    const size_t ordinal = variables_.find(name);
    if (ordinal == sql::SystemVariables::kNone || !variables_.definition(ordinal).dynamic ||
        variables_.origin(ordinal).source == sql::VariableOrigin::Source::Persisted)
      continue;
    sql::VariableOrigin origin{sql::VariableOrigin::Source::Persisted, variable.microseconds, variable.user,
                               variable.host};
    const Status taken = variables_.set_persisted(ordinal, variable.value, std::move(origin));
    if (!taken.ok() && variables_.definition(ordinal).refuses_what_is_absent()) {
      spdlog::warn("{} in mysqld-auto.cnf is left out: {}. An earlier version took it and did nothing.", name,
                   taken.error().message);
      continue;
    }
    COMMITD_RETURN_IF_ERROR(taken);
  }
  return {};
}

void Server::start_workers() {
  uint32_t count =
      options_.reactor_threads ? options_.reactor_threads : std::max(1u, std::thread::hardware_concurrency());
  const auto start = [](Worker& worker, const std::string& name) {
    worker.reactor = std::make_unique<Reactor>(name);
    worker.thread = std::thread(run_worker, std::ref(*worker.reactor), name);
  };
  workers_.resize(count);
  for (uint32_t i = 0; i < count; ++i) start(workers_[i], fmt::format("sessions-{}", i));
  start(background_, "background");
  start(admin_, "admin");
  start(probes_, "http");
}

void Server::watch_workers() {
  for (size_t i = 0; i < workers_.size(); ++i)
    watch_.add(fmt::format("sessions-{}", i), *workers_[i].reactor);
  watch_.add("background", *background_.reactor);
  watch_.add("admin", *admin_.reactor);
  probes_.reactor->spawn(watch_.run());
}

void Server::stop_workers() {
  auto join = [](Worker& worker) {
    if (!worker.thread.joinable()) return;
    worker.reactor->stop();
    worker.thread.join();
  };
  join(probes_);  // first: it asks the others
  for (auto& worker : workers_) join(worker);
  join(admin_);
  join(background_);
  workers_.clear();
  for (Worker* worker : {&probes_, &admin_, &background_}) worker->reactor.reset();
}

replication::ReplicationContext Server::replication_context() {
  replication::ReplicationContext context;
  context.fs = &fs_;
  context.state_path = datadir_->path() + "/role.state";
  context.server_id = options_.server_id;
  context.server_uuid = datadir_->server_uuid();
  context.version = kVersion;
  context.port = options_.port;
  context.require_role = options_.require_role;
  context.semisync = semisync_variables_.settings();
  context.max_replica_lag = max_replica_lag_;
  context.read_only = read_only_;
  context.filter = options_.replication_filter;
  context.log_replica_updates = options_.log_replica_updates;
  context.observers = &observers_;
  context.reactor = background_.reactor.get();
  context.initialize = [this] { return initialize_on_command(); };
  context.close_client_sessions = [this] { return close_client_sessions(); };
  context.surroundings = [this] { return surroundings(); };
  return context;
}

Status Server::prepare_datadir() {
  auto initialized = datadir_->initialized();
  if (!initialized.ok()) return std::move(initialized).error();
  if (*initialized && options_.initialize_insecure) {
    return make_error(er::kAlreadyInitialized, "The data directory '{}' is initialised already",
                      options_.datadir);
  }
  if (!*initialized) {
    if (options_.require_bootstrap) {
      spdlog::info("empty datadir={}: waiting for ALTER INSTANCE INITIALIZE", options_.datadir);
      return {};
    }
    if (!options_.initialize_insecure && !options_.root_password) {
      return make_error(er::kErrorOnRead,
                        "The data directory '{}' is empty: give root's password with --root-password-file or "
                        "MYSQL_ROOT_PASSWORD, allow an empty one "
                        "with MYSQL_ALLOW_EMPTY_PASSWORD=yes or --initialize-insecure, or let an operator "
                        "decide with --require-bootstrap",
                        options_.datadir);
    }
    std::string password = options_.initialize_insecure ? "" : *options_.root_password;
    COMMITD_RETURN_IF_ERROR(create_instance(password));
    if (options_.initialize_insecure) return {};
  }
  return open_instance_when_there_is_room();
}

// Nothing is lost meanwhile, and an end of the process would only be another start.
Status Server::open_instance_when_there_is_room() {
  for (;;) {
    auto opened = open_instance();
    const bool full = !opened.ok() && opened.error().code == er::kDiskFull;
    if (!full || !environment_.wait_for_room || !environment_.wait_for_room(opened.error())) return opened;
  }
}

Status Server::create_instance(const std::string& root_password) {
  COMMITD_RETURN_IF_ERROR(datadir_->begin_initialization());
  auto settings = instance_settings(fs_, options_, *datadir_, variables_, *roles_, &observers_);
  if (!settings.ok()) return std::move(settings).error();
  COMMITD_RETURN_IF_ERROR(Instance::create(place(), *settings, accounts_, root_password));
  COMMITD_RETURN_IF_ERROR(datadir_->store_durability({durability_of(options_), true}));
  COMMITD_RETURN_IF_ERROR(datadir_->finish_initialization());
  spdlog::info("initialised datadir={} server_uuid={}", datadir_->path(),
               datadir_->server_uuid().to_string());
  return {};
}

Status Server::open_instance() {
  COMMITD_RETURN_IF_ERROR(check_before_open(options_, *datadir_, *roles_));
  auto settings = instance_settings(fs_, options_, *datadir_, variables_, *roles_, &observers_);
  if (!settings.ok()) return std::move(settings).error();
  auto instance = Instance::open(place(), std::move(*settings), context_);
  if (!instance.ok()) return std::move(instance).error();
  instance_ = std::move(*instance);
  slow_log_.start(slow_log_heading(options_, context_.version));
  instance_->pipeline().on_failure(environment_.on_failure ? environment_.on_failure : stop_at_once);
  instance_->engine().federated().reach_by(&remote_servers_);
  BackupSource backups{&fs_, &instance_->engine(), instance_->log_options(), &instance_->pipeline().log()};
  housekeeper_ =
      std::make_unique<Housekeeper>(std::move(backups), instance_->pipeline(), variables_, *roles_);
  upkeep_->data_is_there(housekeeper_.get());
  background_.reactor->spawn(housekeeper_->run());
  auto size = [this](auto member) {
    return [this, member]() -> double {
      storage::Engine* engine = context_.engine;
      return engine ? static_cast<double>(engine->sizes().*member) : 0;
    };
  };
  observe::callback("gauge", "commitd_engine_memtable_bytes", "Rows that are not yet in files.", {},
                    size(&storage::Engine::Sizes::memtable_bytes));
  observe::callback("gauge", "commitd_history_length",
                    "Overwritten versions and tombstones that are still there.", {}, [this]() -> double {
                      storage::Engine* engine = context_.engine;
                      storage::Purging* purging = engine ? storage::purging_of(*engine) : nullptr;
                      return purging ? static_cast<double>(purging->history_length()) : 0;
                    });
  observe::callback("gauge", "commitd_binlog_open",
                    "1 while transactions go into the binary log, 0 when it is off.", {}, [this]() -> double {
                      txn::Services* services = context_.transactions;
                      return services != nullptr && services->pipeline.logging() ? 1 : 0;
                    });
  observe::callback("gauge", "commitd_checkpoint_age_bytes",
                    "Bytes of log that a start after a crash would replay now.", {}, [this]() -> double {
                      txn::Services* services = context_.transactions;
                      if (services == nullptr) return 0;
                      storage::Engine& engine = services->engine;
                      return static_cast<double>(services->pipeline.log().bytes_between(
                          engine.flushed_position(), engine.replay_position()));
                    });
  observe::callback("gauge", "commitd_engine_sst_bytes", "Rows in files.", {},
                    size(&storage::Engine::Sizes::sst_bytes));
  return {};
}

Task<Status> Server::initialize_on_command() {
  COMMITD_CO_RETURN_IF_ERROR(create_instance(options_.root_password.value_or("")));
  COMMITD_CO_RETURN_IF_ERROR(open_instance());
  co_return Status();
}

Task<void> Server::close_client_sessions() {
  if (protocol_)
    co_await protocol_->close_sessions(wire::ProtocolServer::Which::Clients,
                                       Clock::now() + kSessionEndTimeout);
}

replication::Surroundings Server::surroundings() const {
  replication::Surroundings now;
  now.data_format = data_format();
  struct statvfs volume {};
  if (statvfs(options_.datadir.c_str(), &volume) == 0) {
    now.disk_bytes = static_cast<uint64_t>(volume.f_blocks) * volume.f_frsize;
    now.disk_free_bytes = static_cast<uint64_t>(volume.f_bavail) * volume.f_frsize;
  }
  if (const auto tls = tls_->current()) {
    now.certificate_not_before = tls->not_before();
    now.certificate_not_after = tls->not_after();
  }
  now.tls_digest = tls_->digest();
  now.built_in_accounts = accounts_.built_in_names();
  return now;
}

// For as long as its reactor turns.
Task<void> Server::watch_certificates(std::chrono::seconds interval) {
  for (;;) {
    co_await sleep_until(Clock::now() + interval);
    tls_->reload_if_replaced();
  }
}

Status Server::set_up_tls() {
  tls_ = std::make_unique<wire::TlsService>([this] { return tls_settings(variables_); }, datadir_->path(),
                                            variables_.global("auto_generate_certs").as_int() != 0);
  COMMITD_RETURN_IF_ERROR(tls_->load());
  context_.reload_tls = [this] { return tls_->load(); };
  context_.tls_files = [this] {
    wire::TlsSettings used = tls_->used();
    return sql::TlsFiles{std::move(used.ca), std::move(used.certificate), std::move(used.key)};
  };
  context_.tls_status = [this] { return tls_->status(); };
  const std::chrono::seconds interval(variables_.global("commitd_tls_reload_interval").as_uint());
  if (interval.count() > 0) background_.reactor->spawn(watch_certificates(interval));
  return {};
}

// As with MySQL's offline_mode; and whoever reads the log, whose acknowledgements end it here.
bool Server::may_connect_offline(const sql::Account& account) const {
  using namespace sql::privilege;
  const sql::AccountPtr record = accounts_.record_of(account);
  return record != nullptr && (record->global & (kSuper | kConnectionAdmin | kReplicationSlave)) != 0;
}

Status Server::listen() {
  COMMITD_RETURN_IF_ERROR(set_up_tls());
  wire::ProtocolServerOptions protocol;
  protocol.bind_address = options_.bind_address;
  protocol.port = options_.port;
  protocol.socket_path = options_.socket;
  protocol.admin_address = options_.admin_address;
  protocol.admin_port = options_.admin_port;
  protocol.admin_reactor = admin_.reactor.get();
  protocol.limits = limits_;
  protocol.tls = tls_.get();
  protocol.clones = clone_donor_.get();
  protocol.why_offline_for = [this](const sql::Account& account) {
    const std::string_view why = roles_->offline_for_clients();
    return why.empty() || may_connect_offline(account) ? std::string_view() : why;
  };
  protocol.thread_per_connection = variables_.global("thread_handling").as_string() != "reactor";
  protocol.server_version = kVersion;
  protocol.private_key_directory = datadir_->path();
  std::vector<Reactor*> reactors;
  for (auto& worker : workers_) reactors.push_back(worker.reactor.get());
  protocol_ = std::make_unique<wire::ProtocolServer>(std::move(protocol), reactors, context_, accounts_,
                                                     roles_->dumps());
  COMMITD_RETURN_IF_ERROR(protocol_->listen());
  spdlog::info("ready for connections version={} port={} admin_port={} http_port={} socket={}", kVersion,
               options_.port, options_.admin_port, options_.http_port, options_.socket);
  return {};
}

Status Server::serve_http() {
  if (options_.http_port == 0) return {};
  http_ = std::make_unique<HttpServer>(*probes_.reactor, options_.http_address, options_.http_port);
  http_->get("/metrics", [] {
    return HttpReply{200, "text/plain; version=0.0.4", observe::prometheus_text()};
  });
  http_->get("/healthz", [this] {
    txn::Services* services = context_.transactions;
    auto failure = services ? services->pipeline.failure() : std::nullopt;
    if (failure) return HttpReply{503, "text/plain", failure->message + "\n"};
    if (auto still = watch_.standing_still())
      return HttpReply{503, "text/plain", fmt::format("The thread '{}' does not turn\n", *still)};
    return HttpReply{200, "text/plain", "ok\n"};
  });
  http_->get("/readyz", [this] {
    auto reason = roles_->not_ready();
    return reason ? HttpReply{503, "text/plain", *reason + "\n"} : HttpReply{200, "text/plain", "ok\n"};
  });
  watch_workers();
  return http_->listen();
}

void Server::run_in_background(Task<void> task) {
  std::promise<void> done;
  auto finished = done.get_future();
  auto run = [](Task<void> inner, std::promise<void>& promise) -> Task<void> {
    co_await inner;
    promise.set_value();
  };
  background_.reactor->spawn(run(std::move(task), done));
  finished.wait();
}

void Server::stop() {
  if (protocol_ && options_.handover) run_in_background(roles_->hand_over_before_end(kHandoverTimeout));
  if (protocol_) {
    protocol_->stop_accepting();
    run_in_background(
        protocol_->close_sessions(wire::ProtocolServer::Which::All, Clock::now() + kSessionEndTimeout));
  }
  if (clone_donor_) run_in_background(clone_donor_->close());
  if (roles_) run_in_background(roles_->shut_down());
  if (housekeeper_) run_in_background(housekeeper_->stop());
  context_.maintenance = nullptr;
  housekeeper_.reset();
  // What waits in the pipeline is woken on its reactor, so the pipeline ends first.
  if (instance_) instance_->pipeline().stop();
  if (protocol_) protocol_->stop_threads();
  stop_workers();
  protocol_.reset();
  upkeep_.reset();
  cloning_.reset();
  clone_donor_.reset();
  http_.reset();
  instance_.reset();
  context_.plugins = nullptr;
  plugins_.reset();
  roles_.reset();
}

}  // namespace commitd::server
