// Where a statement's result goes. The protocol implements it for the text and the binary form; tests collect
// into memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "runtime/task.h"

namespace commitd::sql {

struct ResultColumn {
  std::string db, table, original_table, name, original_name;
  FieldType type = FieldType::VarString;
  uint16_t collation = 45;
  uint32_t length = 0;  // bytes a client should reserve
  uint16_t flags = 0;   // NOT_NULL 1, PRI_KEY 2, UNIQUE_KEY 4, MULTIPLE_KEY 8, BLOB 16, UNSIGNED 32, BINARY
                        // 128, AUTO_INCREMENT 512, NUM 32768
  uint8_t decimals = 0;
};

struct OkInfo {
  uint64_t affected_rows = 0;
  uint64_t last_insert_id = 0;
  uint16_t warnings = 0;
  uint16_t server_status =
      2;  // SERVER_STATUS_*: IN_TRANS 1, AUTOCOMMIT 2, MORE_RESULTS_EXISTS 8, NO_BACKSLASH_ESCAPES 0x200
  std::string info;  // "Records: 3  Duplicates: 0  Warnings: 0"
};

class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual void begin_rows(std::span<const ResultColumn> columns) = 0;
  virtual void row(std::span<const Value> values) = 0;
  // True when enough is buffered that the producer should co_await flush() before the next row.
  virtual bool wants_flush() const = 0;
  virtual Task<Status> flush() = 0;
  virtual void end_rows(const OkInfo& info) = 0;
  virtual void ok(const OkInfo& info) = 0;
  virtual void error(const Error& error) = 0;
};

}  // namespace commitd::sql
