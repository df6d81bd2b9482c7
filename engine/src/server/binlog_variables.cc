#include "server/binlog_variables.h"

#include "base/error_codes.h"

namespace commitd::server {
namespace {

using sql::VariableDefinition;
using sql::VariableType;

VariableDefinition number(std::string name, uint64_t initial, int64_t min, uint64_t max) {
  VariableDefinition definition;
  definition.name = std::move(name);
  definition.type = VariableType::Integer;
  definition.initial = Value::unsigned_integer(initial);
  definition.min = min;
  definition.max = max;
  return definition;
}

VariableDefinition max_binlog_size(sql::ServerContext& context) {
  auto definition = number("max_binlog_size", 1u << 30, 4096, 1u << 30);
  definition.on_update = [&context](const Value& value) -> Status {
    if (txn::Services* services = context.transactions)
      services->pipeline.log().set_max_file_size(value.as_uint());
    return {};
  };
  return definition;
}

// Every transaction reads it when it begins.
VariableDefinition max_binlog_cache_size(sql::ServerContext& context) {
  auto definition = number("max_binlog_cache_size", context.max_binlog_cache_size.load(), 4096, UINT64_MAX);
  definition.on_update = [&context](const Value& value) -> Status {
    context.max_binlog_cache_size = value.as_uint();
    return {};
  };
  return definition;
}

VariableDefinition boolean(const char* name, bool initial) {
  VariableDefinition definition;
  definition.name = name;
  definition.type = VariableType::Boolean;
  definition.initial = Value::integer(initial);
  return definition;
}

VariableDefinition relay_log_recovery() {
  auto definition = boolean("relay_log_recovery", false);
  definition.dynamic = false;
  return definition;
}

Error refused(std::string_view why) {
  return make_error(er::kCantSetGtidPurged, "@@GLOBAL.GTID_PURGED cannot be changed: {}", why);
}

// MySQL's rules: '+set' adds to what there is; 'set' replaces it and must contain it. What is added must be
// new.
Status set_gtid_purged(sql::ServerContext& context, std::string_view text) {
  txn::Services* services = context.transactions;
  if (services == nullptr) return refused("the server is uninitialized");
  const bool adds = text.starts_with('+');
  if (adds) text.remove_prefix(1);
  auto wanted = GtidSet::parse(text);
  if (!wanted.ok()) {
    return make_error(er::kWrongValueForVar, "Variable 'gtid_purged' can't be set to the value of '{}'",
                      text);
  }
  COMMITD_RETURN_IF_ERROR(context.instance->check_writable());
  binlog::CommitPipeline& pipeline = services->pipeline;
  auto purged = pipeline.gtid_purged();
  if (!purged.ok()) return std::move(purged).error();
  if (!adds && !wanted->contains(*purged))
    return refused("the new value must be a superset of the old value");
  GtidSet added = *wanted;
  if (!adds) added.subtract(*purged);
  GtidSet new_ones = added;
  new_ones.subtract(pipeline.gtid_logged());
  if (new_ones.count() != added.count())
    return refused("the added gtid set must not overlap with @@GLOBAL.GTID_EXECUTED");
  return added.empty() ? Status() : pipeline.add_purged(added);
}

VariableDefinition gtid_purged(sql::ServerContext& context) {
  VariableDefinition definition;
  definition.name = "gtid_purged";
  definition.persistent = false;
  definition.initial = Value::string("");
  definition.read = [&context]() -> Value {
    txn::Services* services = context.transactions;
    if (services == nullptr) return Value::string("");
    auto purged = services->pipeline.gtid_purged();
    return Value::string(purged.ok() ? purged->to_string() : "");
  };
  definition.on_update = [&context](const Value& value) {
    return set_gtid_purged(context, value.is_null() ? "" : value.as_string());
  };
  return definition;
}

}  // namespace

void define_binlog_variables(sql::SystemVariables& variables, sql::ServerContext& context) {
  constexpr uint64_t kThirtyDays = 2592000;
  variables.define(max_binlog_size(context));
  variables.define(number("binlog_expire_logs_seconds", kThirtyDays, 0, UINT32_MAX));
  variables.define(boolean("binlog_expire_logs_auto_purge", true));
  variables.define(boolean("relay_log_purge", true));
  variables.define(relay_log_recovery());
  variables.define(number("commitd_max_retained_binlog_bytes", 0, 0, UINT64_MAX));
  variables.define(number("commitd_checkpoint_bytes", 128u << 20, 0, 1ull << 40));
  variables.define(number("commitd_checkpoint_seconds", 60, 0, 86400));
  auto batch = number("commitd_purge_batch_size", 500, 0, UINT32_MAX);
  batch.aliases = {"innodb_max_purge_size"};
  variables.define(std::move(batch));
  variables.define(number("commitd_purge_history_length", 300000, 0, UINT32_MAX));
  variables.define(gtid_purged(context));
  variables.define(max_binlog_cache_size(context));
}

}  // namespace commitd::server
