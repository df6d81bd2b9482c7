// MySQL's privileges as bits, and their names in GRANT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace commitd::sql {

using Privileges = uint64_t;

namespace privilege {
inline constexpr Privileges kSelect = 1u << 0, kInsert = 1u << 1, kUpdate = 1u << 2, kDelete = 1u << 3,
                            kCreate = 1u << 4, kDrop = 1u << 5, kReload = 1u << 6, kShutdown = 1u << 7,
                            kProcess = 1u << 8, kFile = 1u << 9, kReferences = 1u << 10, kIndex = 1u << 11,
                            kAlter = 1u << 12, kShowDatabases = 1u << 13, kSuper = 1u << 14,
                            kCreateTemporaryTables = 1u << 15, kLockTables = 1u << 16, kExecute = 1u << 17,
                            kReplicationSlave = 1u << 18, kReplicationClient = 1u << 19,
                            kCreateView = 1u << 20, kShowView = 1u << 21, kCreateRoutine = 1u << 22,
                            kAlterRoutine = 1u << 23, kCreateUser = 1u << 24, kEvent = 1u << 25,
                            kTrigger = 1u << 26, kConnectionAdmin = 1u << 27,
                            kSystemVariablesAdmin = 1u << 28, kBackupAdmin = 1u << 29,
                            kReplicationSlaveAdmin = 1u << 30, kGrantOption = 1ull << 40;

// What ALL [PRIVILEGES] means on *.* and on a database (GRANT OPTION is never part of it).
inline constexpr Privileges kAllGlobal = (1ull << 31) - 1;
inline constexpr Privileges kAllOnDatabase = kSelect | kInsert | kUpdate | kDelete | kCreate | kDrop |
                                             kReferences | kIndex | kAlter | kCreateTemporaryTables |
                                             kLockTables | kExecute | kCreateView | kShowView |
                                             kCreateRoutine | kAlterRoutine | kEvent | kTrigger;

inline constexpr Privileges kAllOnTable = kSelect | kInsert | kUpdate | kDelete | kCreate | kDrop |
                                          kReferences | kIndex | kAlter | kCreateView | kShowView | kTrigger;

// By its name in GRANT, upper case; nullopt when MySQL has no such privilege here. "USAGE" is 0.
std::optional<Privileges> parse(std::string_view name);
// "SELECT, INSERT", "ALL PRIVILEGES" when all of `all` are there, "USAGE" for none.
std::string to_text(Privileges privileges, Privileges all);
std::vector<std::string_view> names(Privileges privileges);
}  // namespace privilege

}  // namespace commitd::sql
