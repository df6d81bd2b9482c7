#include "server/options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/error_codes.h"
#include "server/option_files.h"

namespace commitd::server {
namespace {

// Where an option's text goes. `flag` options may stand without a value.
struct Definition {
  std::string name;
  std::string help;
  bool flag;
  std::function<Status(Options&, const std::string&)> set;
};

Error bad_value(const std::string& name, const std::string& value, std::string_view expected) {
  return make_error(er::kWrongValueForVar, "--{}: '{}' is not {}", name, value, expected);
}

Result<uint64_t> parse_size(const std::string& name, const std::string& text) {
  uint64_t number = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view suffix(end, text.data() + text.size() - end);
  int shift = 0;
  if (suffix == "K" || suffix == "k") shift = 10;
  if (suffix == "M" || suffix == "m") shift = 20;
  if (suffix == "G" || suffix == "g") shift = 30;
  if (suffix == "T" || suffix == "t") shift = 40;
  if (problem != std::errc{} || (shift == 0 && !suffix.empty()) || (number << shift) >> shift != number) {
    return bad_value(name, text, "a number (K, M, G and T may follow it)");
  }
  return number << shift;
}

Result<bool> parse_bool(const std::string& name, std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.empty() || text == "1" || text == "on" || text == "true" || text == "yes") return true;
  if (text == "0" || text == "off" || text == "false" || text == "no") return false;
  return bad_value(name, text, "ON or OFF");
}

Result<std::string> read_password_file(const std::string& name, const std::string& path) {
  std::ifstream file(path);
  if (!file) return make_error(er::kErrorOnRead, "--{}: cannot read '{}'", name, path);
  std::stringstream content;
  content << file.rdbuf();
  std::string password = content.str();
  while (!password.empty() && (password.back() == '\n' || password.back() == '\r')) password.pop_back();
  if (password.empty()) {
    return make_error(er::kWrongValueForVar,
                      "--{}: '{}' is empty, and an account that may do everything must have a password", name,
                      path);
  }
  return password;
}

Definition text(std::string name, std::string Options::*member, std::string help) {
  return {std::move(name), std::move(help), false,
          [member](Options& options, const std::string& value) -> Status {
            options.*member = value;
            return {};
          }};
}

template <class Number>
Definition number(std::string name, Number Options::*member, std::string help) {
  return {name, std::move(help), false, [name, member](Options& options, const std::string& value) -> Status {
            auto parsed = parse_size(name, value);
            if (!parsed.ok()) return std::move(parsed).error();
            if (*parsed > std::numeric_limits<Number>::max()) return bad_value(name, value, "in range");
            options.*member = static_cast<Number>(*parsed);
            return {};
          }};
}

Definition flag(const std::string& name, bool Options::*member, std::string help) {
  return {name, std::move(help), true, [name, member](Options& options, const std::string& value) -> Status {
            auto parsed = parse_bool(name, value);
            if (!parsed.ok()) return std::move(parsed).error();
            options.*member = *parsed;
            return {};
          }};
}

Definition password_file(const std::string& name, std::optional<std::string> Options::*member,
                         std::string help) {
  return {name, std::move(help), false, [name, member](Options& options, const std::string& path) -> Status {
            auto password = read_password_file(name, path);
            if (!password.ok()) return std::move(password).error();
            options.*member = std::move(*password);
            return {};
          }};
}

Status set_server_id_from_hostname(Options& options, const std::string& value) {
  auto base = parse_size("commitd-server-id-from-hostname", value);
  if (!base.ok()) return std::move(base).error();
  char buffer[256] = {};
  gethostname(buffer, sizeof buffer - 1);
  std::string host(buffer);
  auto digits = host.find_last_not_of("0123456789");
  std::string ordinal = digits == std::string::npos ? host : host.substr(digits + 1);
  if (ordinal.empty()) {
    return make_error(er::kWrongValueForVar,
                      "--commitd-server-id-from-hostname: host name '{}' does not end in a number", host);
  }
  options.server_id = static_cast<uint32_t>(*base + std::strtoul(ordinal.c_str(), nullptr, 10));
  return {};
}

// Each time it is given, it names one more.
Definition replicate(const char* name, std::vector<std::string> sql::ReplicationFilter::*rules,
                     const char* help) {
  const bool of_tables = std::string_view(name).ends_with("-table");
  return {name, help, false, [name, rules, of_tables](Options& options, const std::string& value) -> Status {
            if (value.empty() || (of_tables && value.find('.') == value.npos))
              return bad_value(name, value, of_tables ? "DATABASE.TABLE" : "a database");
            (options.replication_filter.*rules).push_back(value);
            return {};
          }};
}

// FROM->TO, as MySQL has it.
Status replicate_rewrite(Options& options, const std::string& value) {
  constexpr std::string_view kArrow = "->";
  const size_t arrow = value.find(kArrow);
  const std::string from = value.substr(0, arrow);
  const std::string to = arrow == value.npos ? "" : value.substr(arrow + kArrow.size());
  if (from.empty() || to.empty()) return bad_value("replicate-rewrite-db", value, "FROM->TO");
  options.replication_filter.rewrite_db.emplace_back(from, to);
  return {};
}

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = {
      text("datadir", &Options::datadir, "directory of the data; a second server on it is refused"),
      text("bind-address", &Options::bind_address, "address for clients (default 127.0.0.1)"),
      number("port", &Options::port, "port for clients (default 3306, 0 = none)"),
      text("socket", &Options::socket, "path of a unix socket for clients"),
      text("admin-address", &Options::admin_address, "address of the admin port (default 127.0.0.1)"),
      number("admin-port", &Options::admin_port,
             "port that max_connections does not limit (default 33062, 0 = none)"),
      text("http-address", &Options::http_address,
           "address of /metrics, /healthz and /readyz (default 127.0.0.1)"),
      number("http-port", &Options::http_port,
             "port of /metrics, /healthz and /readyz (default 8080, 0 = none)"),
      number("server-id", &Options::server_id, "number of this server among its peers (default 1)"),
      {"commitd-server-id-from-hostname", "server-id = this number + the number at the end of the host name",
       false, set_server_id_from_hostname},
      number("commitd-reactor-threads", &Options::reactor_threads,
             "threads that run sessions (default 0 = one per processor)"),
      number("commitd-memory-budget", &Options::memory_budget,
             "memory to stay within (default 0 = four fifths of the container's limit)"),
      number("commitd-block-cache-size", &Options::block_cache_size,
             "memory for rows read from disk (default 128M)"),
      number("commitd-write-buffer-size", &Options::write_buffer_size,
             "memory for rows not yet written to disk (default 64M)"),
      number("commitd-binlog-prefill", &Options::binlog_prefill,
             "zeros written ahead of the binary log's end, which makes its syncs cheaper (default 1M, 0 = "
             "none)"),
      text("restore-binlogs", &Options::restore_binlogs,
           "directory of kept log files to replay on a restored backup before it starts"),
      text("restore-until-gtid", &Options::restore_until_gtid, "stop the replay when these are there"),
      text("restore-until-time", &Options::restore_until_time,
           "stop the replay before what was committed later (UTC, YYYY-MM-DD hh:mm:ss)"),
      text("plugin-load", &Options::plugin_load,
           "plugins to load for this run, NAME=LIBRARY or LIBRARY, with ; between them"),
      {"plugin-load-add", "the same, beside those that were named before", false,
       [](Options& options, const std::string& value) -> Status {
         options.plugin_load += (options.plugin_load.empty() ? "" : ";") + value;
         return {};
       }},
      replicate("replicate-do-db", &sql::ReplicationFilter::do_db,
                "a replica takes changes while this database is in use"),
      replicate("replicate-ignore-db", &sql::ReplicationFilter::ignore_db,
                "a replica leaves them out while this database is in use"),
      replicate("replicate-do-table", &sql::ReplicationFilter::do_table,
                "a replica takes changes of this table (DATABASE.TABLE)"),
      replicate("replicate-ignore-table", &sql::ReplicationFilter::ignore_table,
                "a replica leaves them out (DATABASE.TABLE)"),
      replicate("replicate-wild-do-table", &sql::ReplicationFilter::wild_do_table,
                "the same for tables whose names match, with % and _"),
      replicate("replicate-wild-ignore-table", &sql::ReplicationFilter::wild_ignore_table,
                "the same for tables whose names match, with % and _"),
      {"replicate-rewrite-db", "what comes from database FROM is for database TO here: FROM->TO", false,
       replicate_rewrite},
      text("log-level", &Options::log_level, "debug, info, warn or error"),
      flag("require-bootstrap", &Options::require_bootstrap,
           "wait for ALTER INSTANCE INITIALIZE on an empty datadir"),
      flag("require-role", &Options::require_role, "start undecided, wait for a role with an epoch"),
      flag("handover", &Options::handover,
           "at the end (SIGTERM), a master first has everything acknowledged that it has logged"),
      flag("initialize-insecure", &Options::initialize_insecure,
           "initialise the datadir, root without a password, and exit"),
      password_file("root-password-file", &Options::root_password,
                    "file with root's password for a new datadir"),
      password_file("operator-password-file", &Options::operator_password,
                    "enables the account commitlab_operator"),
      password_file("replication-password-file", &Options::replication_password,
                    "enables the account commitlab_replication, which reads the log and fetches clones"),
      flag("validate-config", &Options::validate_config,
           "check options and system variables, touch nothing, and exit: 0 when start would take them, else "
           "1"),
      text("commitd-data-format", &Options::data_formats,
           "refuse to start when data of these formats (performance_schema.commitd_instance) cannot be read; "
           "for --validate-config"),
      flag("help", &Options::help, "this text"),
      flag("version", &Options::version, "print the version"),
  };
  return all;
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const Definition* find_definition(const std::string& name) {
  for (const auto& definition : definitions()) {
    if (definition.name == name) return &definition;
  }
  return nullptr;
}

bool take_prefix(std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.erase(0, prefix.size());
  return true;
}

Status apply(Options& options, const std::string& raw_name, std::optional<std::string> value) {
  std::string name = with_dashes(raw_name);
  const bool loose = take_prefix(name, "loose-");
  const auto* definition = find_definition(name);
  if (!definition && !value) {
    if (take_prefix(name, "skip-") || take_prefix(name, "disable-")) {
      value = "OFF";
    } else if (take_prefix(name, "enable-")) {
      value = "ON";
    }
    definition = find_definition(name);
  }
  if (!definition) {
    options.variables.push_back({name, value.value_or("ON"), loose});
    return {};
  }
  if (!value && !definition->flag)
    return make_error(er::kWrongValueForVar, "--{} needs a value: --{}=…", name, name);
  return definition->set(options, value.value_or(""));
}

bool is_about_files(std::string_view argument) {
  return argument == "--no-defaults" || argument.starts_with("--defaults-file=") ||
         argument.starts_with("--defaults-extra-file=") || argument.starts_with("--defaults-group-suffix=");
}

Status read_option_files(Options& options, std::span<char* const> arguments) {
  std::string path, suffix;
  for (const std::string_view argument : arguments) {
    if (argument == "--no-defaults") return {};
    if (argument.starts_with("--defaults-group-suffix=")) suffix = argument.substr(argument.find('=') + 1);
    if (argument.starts_with("--defaults-file=") || argument.starts_with("--defaults-extra-file="))
      path = argument.substr(argument.find('=') + 1);
  }
  if (path.empty()) return {};
  return read_option_file(path, suffix,
                          [&options](const std::string& name, const std::optional<std::string>& value) {
                            return apply(options, name, value);
                          });
}

// As the MySQL images do it.
Status read_environment(Options& options) {
  if (options.root_password) return {};
  if (const char* file = std::getenv("MYSQL_ROOT_PASSWORD_FILE")) {
    auto password = read_password_file("MYSQL_ROOT_PASSWORD_FILE", file);
    if (!password.ok()) return std::move(password).error();
    options.root_password = std::move(*password);
  } else if (const char* password = std::getenv("MYSQL_ROOT_PASSWORD")) {
    options.root_password = password;
  } else if (const char* empty = std::getenv("MYSQL_ALLOW_EMPTY_PASSWORD"); empty && *empty) {
    options.root_password = "";
  }
  return {};
}

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<Options> parse_options(std::span<char* const> arguments) {
  Options options;
  COMMITD_RETURN_IF_ERROR(read_option_files(options, arguments));
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string argument(arguments[i]);
    if (is_about_files(argument)) continue;
    if (!argument.starts_with("--")) {
      return make_error(er::kWrongArguments, "'{}' is not an option: options start with --", argument);
    }
    auto equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (const auto* definition = find_definition(with_dashes(name));
               definition && !definition->flag && i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    COMMITD_RETURN_IF_ERROR(apply(options, name, value));
  }
  COMMITD_RETURN_IF_ERROR(read_environment(options));
  options.require_role = options.require_role || options.require_bootstrap;
  if (options.restore_binlogs.empty() &&
      !(options.restore_until_gtid.empty() && options.restore_until_time.empty())) {
    return make_error(er::kWrongValueForVar,
                      "--restore-until-gtid and --restore-until-time need --restore-binlogs=DIRECTORY");
  }
  if (options.server_id == 0)
    return make_error(er::kWrongValueForVar, "--server-id: 0 is not a server's number");
  return options;
}

std::string usage() {
  std::string out = "commitd: a commit engine that speaks the MySQL protocol\n\nOptions:\n";
  for (const auto& definition : definitions()) {
    out += fmt::format("  --{:<34} {}\n", definition.name + (definition.flag ? "" : "=…"), definition.help);
  }
  out +=
      "\nOption files: --no-defaults, --defaults-file=FILE or --defaults-extra-file=FILE, "
      "--defaults-group-suffix=TEXT.\n";
  out += "\nEvery system variable is an option, too (SHOW VARIABLES lists them), with - or _ in its name.\n";
  return out;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const auto& definition : definitions()) names.push_back(definition.name);
  return names;
}

std::string nearest_name(const std::string& misspelt, std::span<const std::string> known) {
  std::string best;
  size_t best_distance = misspelt.size() / 3 + 2;
  for (const auto& name : known) {
    size_t distance = edit_distance(with_dashes(misspelt), with_dashes(name));
    if (distance < best_distance) {
      best_distance = distance;
      best = with_dashes(name);
    }
  }
  return best;
}

}  // namespace commitd::server
