#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace commitd::replication {

// What a server is now; see "States" in engine/CONTROL.md.
enum class Role : uint8_t { Uninitialized, Undecided, Fenced, Replica, Master, Standalone };

inline constexpr std::array kAllRoles = {Role::Uninitialized, Role::Undecided, Role::Fenced,
                                         Role::Replica,       Role::Master,    Role::Standalone};

inline std::string_view role_name(Role role) {
  switch (role) {
    case Role::Uninitialized:
      return "uninitialized";
    case Role::Undecided:
      return "undecided";
    case Role::Fenced:
      return "fenced";
    case Role::Replica:
      return "replica";
    case Role::Master:
      return "master";
    case Role::Standalone:
      return "standalone";
  }
  return "undecided";
}

}  // namespace commitd::replication
