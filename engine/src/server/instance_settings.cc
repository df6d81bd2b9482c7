#include "server/instance_settings.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error_codes.h"
#include "plugins/observers.h"
#include "server/lock_variables.h"
#include "server/memory.h"
#include "server/point_in_time.h"

namespace commitd::server {

binlog::LogOptions log_options(const Datadir& datadir, const Options& options) {
  binlog::LogOptions log;
  log.directory = datadir.path();
  log.server_id = options.server_id;
  log.server_version = kVersion;
  log.max_file_size = options.max_binlog_size;
  log.prefill_bytes = options.binlog_prefill;
  log.memory_bytes = recent_log_within_budget();
  return log;
}

namespace {

storage::RocksOptions rocks_options(const Datadir& datadir, const Options& options) {
  storage::RocksOptions rocks;
  rocks.directory = datadir.engine_directory();
  rocks.block_cache_bytes = options.block_cache_size;
  rocks.write_buffer_bytes = options.write_buffer_size;
  rocks.own_log = options.xa;
  rocks.flush_log_at_trx_commit = {options.commit_settings,
                                   &options.commit_settings->flush_log_at_trx_commit};
  return rocks;
}

void note_clean_end(const Datadir& datadir, Durability durability) {
  if (auto status = datadir.store_durability({durability, true}); !status.ok())
    spdlog::error("cannot note the clean shutdown: {}", status.error().message);
}

}  // namespace

Durability durability_of(const Options& options) {
  return options.xa ? Durability::Xa : Durability::SingleLog;
}

Status check_before_open(const Options& options, const Datadir& datadir,
                         const replication::RoleManager& roles) {
  COMMITD_RETURN_IF_ERROR(datadir.check_durability(durability_of(options)));
  if (options.log_bin || !roles.needs_log()) return {};
  return make_error(er::kWrongValueForVar,
                    "--skip-log-bin: this server belongs to a cluster or replicates, which needs the binary "
                    "log. Start it with the log");
}

Result<InstanceSettings> instance_settings(FileSystem& fs, const Options& options, const Datadir& datadir,
                                           const sql::SystemVariables& variables,
                                           replication::RoleManager& roles, plugins::Observers* observers) {
  const Durability durability = durability_of(options);
  auto locking = lock_options(variables);
  if (!locking.ok()) return std::move(locking).error();

  InstanceSettings settings;
  settings.engine = rocks_options(datadir, options);
  settings.gtids = options.gtid_settings;
  settings.log = log_options(datadir, options);
  settings.pipeline.server_id = options.server_id;
  settings.pipeline.server_uuid = datadir.server_uuid();
  settings.pipeline.settings = options.commit_settings;
  settings.pipeline.gno_floor = roles.gno_floor();
  settings.pipeline.observer = observers;
  settings.pipeline.log_replica_updates = options.log_replica_updates;
  settings.pipeline.temporary = {&fs, variables.global("tmpdir").as_string()};
  settings.locks = *locking;
  settings.locks.max_locks = std::min(settings.locks.max_locks, locks_within_budget());
  settings.log_bin = options.log_bin;
  // Whoever follows by file and position goes on behind all that it has received.
  settings.relay_log_recovery =
      variables.global("relay_log_recovery").as_int() != 0 && !roles.first_log_of_stand();
  settings.apply_limit = [&roles](LogPosition acknowledged) { return roles.apply_limit(acknowledged); };
  settings.before_log = [&fs, &options](auto& engine, auto& applier, const auto& log) {
    return options.restore_binlogs.empty() ? Status() : restore_to_point(fs, options, engine, applier, log);
  };
  settings.recovered = [&roles, &datadir, durability](binlog::CommitPipeline& pipeline) {
    roles.attach(pipeline);
    return datadir.store_durability({durability, false});
  };
  settings.ended_cleanly = [&datadir, durability] { note_clean_end(datadir, durability); };
  return settings;
}

}  // namespace commitd::server
