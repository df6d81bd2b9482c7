// The whole server: the only place that knows all components.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "plugins/registry.h"
#include "replication/clone_donor.h"
#include "replication/role_manager.h"
#include "runtime/reactor.h"
#include "server/cloning.h"
#include "server/commit_variables.h"
#include "server/datadir.h"
#include "server/housekeeper.h"
#include "server/http_server.h"
#include "server/instance.h"
#include "server/observer_variables.h"
#include "server/options.h"
#include "server/reactor_watch.h"
#include "server/remote_servers.h"
#include "server/semisync_variables.h"
#include "server/slow_log_file.h"
#include "server/upkeep.h"
#include "sql/accounts/accounts.h"
#include "sql/process_list.h"
#include "sql/server_context.h"
#include "sql/variables/system_variables.h"
#include "wire/protocol_server.h"

namespace commitd::server {

// What stands around a server: in tests, files that remember what was written, and an end that is no exit.
struct Environment {
  FileSystem* files = &FileSystem::posix();
  OpenEngine open_engine = storage::open_rocks;
  // The log or the engine failed; ends the process if empty.
  std::function<void(const Error&)> on_failure = {};
  // A start has met a full disk. True, after a while: to be tried again. An error ends the start if empty.
  std::function<bool(const Error&)> wait_for_room = {};
  // Other data is to be started on: ends the server, and starts it again. Ends it only, if empty.
  std::function<void()> restart = {};
};

class Server {
 public:
  explicit Server(Options options, Environment environment = {});
  ~Server();

  // What start() says of options and variables before it opens anything (--validate-config).
  Status check_configuration();
  // Opens (or initialises) the data directory, recovers and listens.
  Status start();
  // Ends sessions, finishes commits and makes everything durable, in bounded time.
  void stop();

 private:
  // A reactor and the thread it runs on.
  struct Worker {
    std::unique_ptr<Reactor> reactor;
    std::thread thread;
  };

  void start_workers();
  void set_up_clones();
  bool may_be_given_a_clone(const sql::Session& session, const wire::Channel& channel);
  void watch_workers();
  void stop_workers();
  Status set_variables();
  // What SET PERSIST kept: mysqld-auto.cnf in the data directory, over what options say.
  Status load_persisted_variables();
  Status apply_persisted_variables();
  Status take_options_from_variables();
  // Those that were installed, then those of --plugin-load-add.
  Status load_plugins();
  void register_regressions();
  Status prepare_datadir();
  Status create_instance(const std::string& root_password);
  Status open_instance();
  Status open_instance_when_there_is_room();
  Place place() const { return {fs_, environment_.open_engine}; }
  Status set_up_tls();
  Task<void> watch_certificates(std::chrono::seconds interval);
  bool may_connect_offline(const sql::Account& account) const;
  Status listen();
  Status serve_http();
  Task<Status> initialize_on_command();
  Task<void> close_client_sessions();
  replication::Surroundings surroundings() const;
  replication::ReplicationContext replication_context();
  // Runs a coroutine on the background reactor and waits for it in this thread.
  void run_in_background(Task<void> task);

  Options options_;
  const Environment environment_;
  FileSystem& fs_ = *environment_.files;
  std::vector<Worker> workers_;  // sessions
  Worker background_;            // receiver, role changes
  Worker admin_;                 // sessions of the admin port
  Worker probes_;                // HTTP
  std::unique_ptr<Datadir> datadir_;
  sql::SystemVariables variables_;
  CommitVariables commit_variables_{variables_, options_.commit_settings, options_.gtid_settings, context_};
  sql::Accounts accounts_;
  sql::ProcessList processes_;
  sql::ServerContext context_;
  SemisyncVariables semisync_variables_{variables_, context_};
  const std::shared_ptr<replication::LagLimit> max_replica_lag_ = std::make_shared<replication::LagLimit>(0);
  plugins::Observers observers_;
  ObserverVariables observer_variables_{variables_, observers_.settings, options_.commit_settings,
                                        processes_.closes_locked()};
  std::unique_ptr<plugins::Registry> plugins_;
  const std::shared_ptr<replication::ReadOnlyWish> read_only_ = std::make_shared<replication::ReadOnlyWish>();
  CloneVariables clone_variables_;
  SlowLogFile slow_log_{fs_, options_.datadir};
  std::shared_ptr<wire::ServerLimits> limits_ = std::make_shared<wire::ServerLimits>();
  RemoteServers remote_servers_{limits_};
  std::unique_ptr<Housekeeper> housekeeper_;
  std::unique_ptr<replication::RoleManager> roles_;
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<replication::CloneDonor> clone_donor_;
  std::unique_ptr<Cloning> cloning_;
  std::unique_ptr<Upkeep> upkeep_;
  std::unique_ptr<wire::TlsService> tls_;
  std::unique_ptr<wire::ProtocolServer> protocol_;
  std::unique_ptr<HttpServer> http_;
  ReactorWatch watch_;
};

}  // namespace commitd::server
