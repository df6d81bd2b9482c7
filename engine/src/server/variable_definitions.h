// How the definitions of system variables begin.
#pragma once

#include <string>
#include <vector>

#include "sql/variables/system_variables.h"

namespace commitd::server {

inline sql::VariableDefinition variable(std::string name, sql::VariableType type, Value initial) {
  sql::VariableDefinition definition;
  definition.name = std::move(name);
  definition.type = type;
  definition.initial = std::move(initial);
  return definition;
}

// The first is the default.
inline sql::VariableDefinition choice(std::string name, std::vector<std::string> choices) {
  auto definition = variable(std::move(name), sql::VariableType::Enum, Value::string(choices.front()));
  definition.choices = std::move(choices);
  return definition;
}

}  // namespace commitd::server
