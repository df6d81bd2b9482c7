#include "server/variables.h"

#include <unistd.h>

#include "base/memory_budget.h"
#include "runtime/idle_spin.h"
#include "server/logging.h"
#include "server/processors.h"
#include "sql/accounts/accounts.h"

namespace commitd::server {
namespace {

using sql::VariableDefinition;
using sql::VariableScope;
using sql::VariableType;

VariableDefinition fixed(std::string name, VariableType type, Value value,
                         std::vector<std::string> aliases = {}) {
  VariableDefinition definition;
  definition.name = std::move(name);
  definition.type = type;
  definition.dynamic = false;
  definition.initial = std::move(value);
  definition.aliases = std::move(aliases);
  return definition;
}

VariableDefinition number(std::string name, uint64_t value) {
  return fixed(std::move(name), VariableType::Integer, Value::unsigned_integer(value));
}
VariableDefinition text(std::string name, std::string value) {
  return fixed(std::move(name), VariableType::String, Value::string(std::move(value)));
}

VariableDefinition computed(std::string name, std::function<Value()> read,
                            std::vector<std::string> aliases = {}) {
  auto definition = fixed(std::move(name), VariableType::String, Value::string(""), std::move(aliases));
  definition.read = std::move(read);
  definition.persistent = false;
  return definition;
}

std::string host_name() {
  char buffer[256] = {};
  gethostname(buffer, sizeof buffer - 1);
  return buffer;
}

}  // namespace

void define_options(sql::SystemVariables& variables, const Options& options) {
  for (auto& definition :
       {number("port", options.port), number("admin_port", options.admin_port),
        text("admin_address", options.admin_address), text("bind_address", options.bind_address),
        text("socket", options.socket), number("server_id", options.server_id), text("hostname", host_name()),
        text("tmpdir", options.datadir), text("version", std::string(kVersion)),
        text("innodb_version", std::string(kVersion)),
        number("commitd_reactor_threads", options.reactor_threads), computed("commitd_memory_budget", [] {
          return Value::unsigned_integer(MemoryBudget::process().limit());
        })}) {
    variables.define(definition);
  }
  auto verbosity = number("log_error_verbosity", log_verbosity());
  verbosity.dynamic = true;
  verbosity.min = 1;
  verbosity.max = 3;
  verbosity.on_update = [](const Value& value) -> Status {
    set_log_verbosity(value.as_uint());
    return {};
  };
  variables.define(std::move(verbosity));
}

// Looking for work takes a processor: it is for those who have another one for their clients.
void define_idle_spin(sql::SystemVariables& variables) {
  constexpr uint64_t kDefault = 200, kMost = 10000;
  auto definition = number("commitd_idle_spin_microseconds", usable_processors() < 2 ? 0 : kDefault);
  definition.dynamic = true;
  definition.max = kMost;
  definition.on_update = [](const Value& value) -> Status {
    IdleSpin::set_limit(std::chrono::microseconds(value.as_uint()));
    return {};
  };
  (void)definition.on_update(definition.initial);
  variables.define(std::move(definition));
}

void define_limits(sql::SystemVariables& variables, std::shared_ptr<wire::ServerLimits> limits) {
  auto number_in = [&](std::string name, std::atomic<uint32_t> wire::ServerLimits::*place, int64_t min,
                       uint64_t max) {
    auto definition = number(std::move(name), (limits.get()->*place).load());
    definition.dynamic = true;
    definition.min = min;
    definition.max = max;
    definition.on_update = [limits, place](const Value& value) -> Status {
      (limits.get()->*place).store(static_cast<uint32_t>(value.as_uint()));
      return {};
    };
    variables.define(std::move(definition));
  };
  number_in("max_connections", &wire::ServerLimits::max_connections, 1, 100000);
  number_in("max_user_connections", &wire::ServerLimits::max_user_connections, 0, UINT32_MAX);
  number_in("connect_timeout", &wire::ServerLimits::connect_timeout, 2, 31536000);
  auto secure = fixed("require_secure_transport", VariableType::Boolean, Value::integer(0));
  secure.dynamic = true;
  secure.on_update = [limits](const Value& value) -> Status {
    limits->require_secure_transport.store(value.as_int() != 0);
    return {};
  };
  variables.define(std::move(secure));
}

void define_tls(sql::SystemVariables& variables, std::function<bool()> is_offered) {
  const wire::TlsSettings defaults;
  for (auto& [name, value] :
       {std::pair("ssl_ca", defaults.ca), std::pair("ssl_cert", defaults.certificate),
        std::pair("ssl_key", defaults.key), std::pair("ssl_cipher", defaults.ciphers),
        std::pair("tls_ciphersuites", defaults.ciphersuites), std::pair("tls_version", defaults.versions)}) {
    auto definition = text(name, value);
    definition.dynamic = true;
    variables.define(std::move(definition));
  }
  auto interval = number("commitd_tls_reload_interval", 0);
  interval.max = 86400;
  variables.define(std::move(interval));
  variables.define(computed(
      "have_ssl",
      [is_offered = std::move(is_offered)] { return Value::string(is_offered() ? "YES" : "DISABLED"); },
      {"have_openssl"}));
  variables.define(fixed("auto_generate_certs", VariableType::Boolean, Value::integer(1)));
}

void define_built_in_accounts(sql::SystemVariables& variables, sql::Accounts& accounts) {
  using sql::TlsRequirement;
  auto definition = text("commitd_built_in_accounts_require", "NONE");
  definition.type = VariableType::Enum;
  definition.choices = {"NONE", "SSL", "X509"};
  definition.dynamic = true;
  definition.on_update = [&accounts](const Value& value) -> Status {
    const std::string name = value.to_text();
    accounts.require_of_built_in(name == "X509"  ? TlsRequirement::Certificate
                                 : name == "SSL" ? TlsRequirement::Tls
                                                 : TlsRequirement::None);
    return {};
  };
  variables.define(std::move(definition));
}

wire::TlsSettings tls_settings(const sql::SystemVariables& variables) {
  auto of = [&](const char* name) {
    const Value value = variables.global(name);
    return value.is_null() ? std::string() : value.as_string();
  };
  return {of("ssl_ca"),      of("ssl_cert"),   of("ssl_key"),
          of("tls_version"), of("ssl_cipher"), of("tls_ciphersuites")};
}

void define_identity(sql::SystemVariables& variables, const Datadir& datadir, const Options& options) {
  variables.define(text("server_uuid", datadir.server_uuid().to_string()));
  variables.define(text("datadir", options.datadir + "/"));
  variables.define(text("log_bin_basename", options.datadir + "/binlog"));
  variables.define(text("log_bin_index", options.datadir + "/binlog.index"));
}

void define_state(sql::SystemVariables& variables, sql::ServerContext& context) {
  auto gtids = [&context](GtidSet (binlog::CommitPipeline::*read)() const) {
    return [&context, read]() -> Value {
      txn::Services* services = context.transactions;
      return Value::string(services ? (services->pipeline.*read)().to_string() : "");
    };
  };
  variables.define(computed("gtid_executed", gtids(&binlog::CommitPipeline::gtid_executed)));
  variables.define(computed("commitd_gtid_logged", gtids(&binlog::CommitPipeline::gtid_logged)));
}

}  // namespace commitd::server
