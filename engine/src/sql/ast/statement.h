// What the syntax trees of all statements begin with; the kinds of statements are in the headers beside this
// one.
#pragma once

#include <cstdint>
#include <string_view>

namespace commitd::sql::ast {

enum class StatementKind : uint8_t {
  Empty,
  Select,
  Insert,
  Update,
  Delete,
  Use,
  CreateDatabase,
  AlterDatabase,
  DropDatabase,
  CreateTable,
  DropTable,
  TruncateTable,
  AlterTable,
  RenameTable,
  CreateIndex,
  DropIndex,
  CreateServer,
  AlterServer,
  DropServer,
  Begin,
  Commit,
  Rollback,
  Savepoint,
  RollbackToSavepoint,
  ReleaseSavepoint,
  Set,
  SetTransaction,
  SetPassword,
  Show,
  Explain,
  Describe,
  Flush,
  PurgeLogs,
  ResetLogs,
  Kill,
  Shutdown,
  ControlInstance,
  ChangeSource,
  ReplicaThread,
  ResetReplica,
  ChangeFilter,
  LockTables,
  UnlockTables,
  Backup,
  CreateUser,
  AlterUser,
  DropUser,
  Grant,
  Prepare,
  Execute,
  Deallocate,
  TableMaintenance,
  LoadData,
  ResetPersist,
  Do,
  Plugin,
  Binlog,
  Comment,  // nothing else
};

struct Statement {
  Statement(StatementKind kind_of) : kind(kind_of) {}
  StatementKind kind;
  uint8_t open_comments = 0;     // version comments that the text begins in
  std::string_view text;         // the statement as written, without the semicolon
  uint32_t parameter_count = 0;  // placeholders
};

struct TableName {
  std::string_view db, name;
};

template <class T>
const T& as(const Statement& statement) {
  return static_cast<const T&>(statement);
}

}  // namespace commitd::sql::ast
