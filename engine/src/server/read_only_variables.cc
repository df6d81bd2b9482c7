#include "server/read_only_variables.h"

#include "base/error_codes.h"

namespace commitd::server {
namespace {

using replication::ReadOnlyWish;

Status check_ownership(const sql::ServerContext& context, const std::string& name) {
  if (context.instance == nullptr || !context.instance->serves_under_epochs()) return {};
  return make_error(er::kOptionPreventsStatement,
                    "Variable '{}' belongs to the role of this server, which ALTER INSTANCE … EPOCH gives",
                    name);
}

bool role_forbids_writes(const sql::ServerContext& context) {
  return context.instance != nullptr && !context.instance->check_writable().ok();
}

}  // namespace

void define_read_only(sql::SystemVariables& variables, const sql::ServerContext& context, ReadOnlyWish& wish,
                      std::function<void(bool read_only, bool super)> changed) {
  const auto define = [&](const char* name, std::atomic<bool> ReadOnlyWish::*field,
                          std::function<void(bool on)> set) {
    sql::VariableDefinition definition;
    definition.name = name;
    definition.type = sql::VariableType::Boolean;
    definition.initial = Value::integer(0);
    definition.read = [&context, &wish, field] {
      return Value::integer((wish.*field).load() || role_forbids_writes(context));
    };
    definition.on_update = [&context, name = definition.name,
                            set = std::move(set)](const Value& value) -> Status {
      COMMITD_RETURN_IF_ERROR(check_ownership(context, name));
      set(value.as_int() != 0);
      return {};
    };
    variables.define(std::move(definition));
  };
  const auto change = [&wish, changed = std::move(changed)](bool read_only, bool super) {
    wish.read_only = read_only;
    wish.super_read_only = super;
    changed(read_only, super);
  };
  define("read_only", &ReadOnlyWish::read_only,
         [&wish, change](bool on) { change(on, on && wish.super_read_only.load()); });
  define("super_read_only", &ReadOnlyWish::super_read_only,
         [&wish, change](bool on) { change(on || wish.read_only.load(), on); });
}

}  // namespace commitd::server
