#include "txn/definition_gate.h"

namespace commitd::txn {

DefinitionGate& definition_gate() {
  static constinit DefinitionGate gate;
  return gate;
}

}  // namespace commitd::txn
