// Tables and statements that an input makes up, executed in several ways that must agree: with and without
// indexes, their conditions divided, counted and prepared (plans/checks.h). A finding is printed as
// statements that show it.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "plans/answers.h"
#include "plans/checks.h"
#include "plans/schema.h"

using namespace commitd;
using namespace commitd::fuzz;

namespace {

std::filesystem::path directory() {
  const std::filesystem::path memory = "/dev/shm";
  const auto place = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return place / ("commitd-fuzz-plans-" + std::to_string(::getpid()));
}

struct Server {
  sql::testing::SqlServer server{directory(), sql::testing::Syncs::No};
  Database keyed{server, "keyed", true}, plain{server, "plain", false};
};

Server& server() {
  static Server only;
  return only;
}

// In one statement, since a commit costs more than its rows; one by one if one of them cannot be.
void insert(const Table& table, Database& database) {
  const std::string head = "INSERT IGNORE INTO " + table.name + " VALUES ";
  std::string all;
  for (const std::string& row : table.rows) all += (all.empty() ? "" : ", ") + row;
  if (all.empty() || database.run(head + all).ok()) return;
  for (const std::string& row : table.rows) database.run(head + row);
}

// The rows that the indexes let in, in both. False: such a table cannot be.
bool make(const Table& table, Database& keyed, Database& plain) {
  if (!keyed.run(table.definition(true)).ok() || !plain.run(table.definition(false)).ok()) return false;
  insert(table, keyed);
  return plain.run("INSERT INTO " + table.name + " SELECT * FROM keyed." + table.name).ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChecks = 12;
  Choices choices({data, size});
  Database& keyed = server().keyed;
  Database& plain = server().plain;
  keyed.start_anew();
  plain.start_anew();
  const std::vector<Table> schema = make_schema(choices);
  for (const Table& table : schema) {
    if (!make(table, keyed, plain)) return 0;
  }
  Checks checks(schema, keyed, plain, choices);
  for (size_t i = 0; i < kChecks && checks.one(); ++i) {
  }
  return 0;
}
