// Who may give this server a role, or a source.
#pragma once

#include "sql/session_state.h"

namespace commitd::sql {

// The built-in operator account, or somebody who could do anything anyway.
inline Status require_control(SessionState& session) {
  if (session.account.is_operator()) return {};
  return session.require(privilege::kSuper | privilege::kReplicationSlaveAdmin, "SUPER");
}

}  // namespace commitd::sql
