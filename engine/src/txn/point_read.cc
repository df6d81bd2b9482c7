#include "txn/point_read.h"

#include "txn/definition_gate.h"

namespace commitd::txn {

Result<PointRead> read_alone(Services& services, std::string_view clustered_key, std::string& stored) {
  const DefinitionGate& definitions = definition_gate();
  const auto passed = definitions.pass();
  if (!passed) return PointRead::DefinitionMayChange;
  const auto found = services.engine.get(nullptr, clustered_key, stored);
  if (!definitions.was_open_since(*passed)) return PointRead::DefinitionMayChange;
  if (!found) return found.error();
  return *found ? PointRead::Found : PointRead::NotThere;
}

}  // namespace commitd::txn
