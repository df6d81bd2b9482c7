// What the command line, option files and the environment say, before anything is opened.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "commit/commit_settings.h"
#include "sql/replication_filter.h"
#include "storage/gtid_storage.h"

namespace commitd::server {

inline constexpr std::string_view kVersion = "8.4.0-commitd";

struct Options {
  std::string datadir = "data";
  std::string bind_address = "127.0.0.1";
  uint16_t port = 3306;
  std::string socket;
  std::string admin_address = "127.0.0.1";
  uint16_t admin_port = 33062;
  std::string http_address = "127.0.0.1";
  uint16_t http_port = 8080;
  uint32_t server_id = 1;
  uint32_t reactor_threads = 0;  // 0 = one per processor
  uint64_t memory_budget = 0;    // 0 = what the container or the machine has
  uint64_t block_cache_size = 128ull << 20;
  uint64_t write_buffer_size = 64ull << 20;
  uint64_t binlog_prefill = 1ull << 20;
  std::string log_level = "info";
  // Point-in-time restore: kept log files to replay, and where to stop (a GTID set; UTC).
  std::string restore_binlogs, restore_until_gtid, restore_until_time;
  bool require_bootstrap = false;
  bool require_role = false;
  bool handover = false;
  bool initialize_insecure = false;
  std::optional<std::string> root_password;  // set = initialise an empty datadir with it
  std::optional<std::string> operator_password, replication_password;  // of the built-in accounts

  // Taken from the system variables of these names once they are set.
  bool xa = false;  // commitd_durability
  bool log_bin = true;
  bool log_replica_updates = true;  // also where there is no log
  uint64_t max_binlog_size = 1ull << 30;

  // Options that name system variables: they are checked and set by the variables' own registry. A loose one
  // (--loose-NAME) may be unknown.
  struct Variable {
    std::string name, value;
    bool loose = false;
    bool operator==(const Variable&) const = default;
  };
  std::vector<Variable> variables;

  bool help = false;
  bool validate_config = false;
  std::string data_formats;  // that must be readable
  bool version = false;

  // Kept up to date by the system variables of the commit path.
  std::shared_ptr<binlog::CommitSettings> commit_settings = std::make_shared<binlog::CommitSettings>();
  std::shared_ptr<storage::GtidSettings> gtid_settings = std::make_shared<storage::GtidSettings>();

  sql::ReplicationFilter replication_filter;  // --replicate-…

  std::string plugin_load;  // all of --plugin-load and --plugin-load-add, with ; between them
};

// `arguments` without the program name. Reads --defaults-file or --defaults-extra-file first, then the rest
// in order. MySQL's own files (/etc/my.cnf …) are not read unless they are named: they are another server's.
Result<Options> parse_options(std::span<char* const> arguments);

std::string usage();

// The names commitd's own options have, for a suggestion when one is misspelt.
std::vector<std::string> option_names();

// The name among `known` that is nearest to a misspelt one; empty when none is near.
std::string nearest_name(const std::string& misspelt, std::span<const std::string> known);

}  // namespace commitd::server
