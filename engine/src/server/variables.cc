#include "server/variables.h"

#include <unistd.h>

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
  return definition;
}

std::string host_name() {
  char buffer[256] = {};
  gethostname(buffer, sizeof buffer - 1);
  return buffer;
}

// Accepted so that option files and tools of MySQL work: single_log has no engine log that could be flushed.
VariableDefinition accepted_flush_setting() {
  auto definition = fixed("flush_log_at_trx_commit", VariableType::Integer, Value::unsigned_integer(1),
                          {"innodb_flush_log_at_trx_commit"});
  definition.dynamic = true;
  definition.max = 2;
  return definition;
}

}  // namespace

void define_options(sql::SystemVariables& variables, const Options& options) {
  for (auto& definition :
       {number("port", options.port), number("admin_port", options.admin_port),
        text("admin_address", options.admin_address), text("bind_address", options.bind_address),
        text("socket", options.socket), number("server_id", options.server_id),
        number("max_connections", options.max_connections), text("hostname", host_name()),
        text("version", std::string(kVersion)), text("innodb_version", std::string(kVersion)),
        text("log_error_verbosity", options.log_level),
        number("commitd_reactor_threads", options.reactor_threads)}) {
    variables.define(definition);
  }
  auto sync = number("sync_binlog", 1);
  sync.max = 1;
  variables.define(std::move(sync));
  auto size = number("max_binlog_size", 1u << 30);
  size.min = 4096;
  size.max = 1u << 30;
  variables.define(std::move(size));
  variables.define(accepted_flush_setting());
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
  variables.define(computed("gtid_purged", [] { return Value::string(""); }));
  auto read_only = [&context] { return Value::integer(!context.instance->check_writable().ok()); };
  for (const char* name : {"read_only", "super_read_only"}) {
    auto definition = computed(name, read_only);
    definition.type = VariableType::Boolean;
    variables.define(std::move(definition));
  }
}

}  // namespace commitd::server
