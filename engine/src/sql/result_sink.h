// Where a statement's result goes. The protocol implements it for the text and the binary form; tests collect
// into memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error_codes.h"
#include "base/result.h"
#include "base/value.h"
#include "runtime/task.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

struct ResultColumn {
  std::string db, table, original_table, name, original_name;
  FieldType type = FieldType::VarString;
  uint16_t collation = 45;
  uint32_t length = 0;  // bytes a client should reserve
  uint16_t flags = 0;   // NOT_NULL 1, PRI_KEY 2, UNIQUE_KEY 4, MULTIPLE_KEY 8, BLOB 16, UNSIGNED 32, BINARY
                        // 128, AUTO_INCREMENT 512, NUM 32768
  uint8_t decimals = 0;
  // Not sent: what comparisons of the values go by when the result becomes a table of another statement.
  uint16_t value_collation = 63;
  uint8_t collation_strength = 0;
  std::shared_ptr<const ColumnDef> labels;  // of an ENUM or SET column, whose values are numbers too
};

struct OkInfo {
  uint64_t affected_rows = 0;
  uint64_t last_insert_id = 0;
  uint16_t warnings = 0;
  uint16_t server_status =
      2;  // SERVER_STATUS_*: IN_TRANS 1, AUTOCOMMIT 2, MORE_RESULTS_EXISTS 8, NO_BACKSLASH_ESCAPES 0x200
  std::string info;  // "Records: 3  Duplicates: 0  Warnings: 0"
};

// What a statement changed in the session, for clients that keep track of it (CLIENT_SESSION_TRACK).
struct SessionChange {
  enum class What : uint8_t {
    SystemVariable = 0,
    Schema = 1,
    State = 2,
    Gtids = 3
  };  // the protocol's numbers
  What what;
  std::string name;  // of a system variable
  std::string value;
};

class ResultSink {
 public:
  virtual ~ResultSink() = default;
  bool more_results = false;  // this is not the last statement of its text

  // Values come with all the digits that were computed, not with those that the column announces.
  virtual bool wants_all_digits() const { return false; }
  virtual void begin_rows(std::span<const ResultColumn> columns) = 0;
  virtual void row(std::span<const Value> values) = 0;
  void send_row(std::span<const Value> values) {
    ++rows_sent_;
    row(values);
  }
  uint64_t rows_sent() const { return rows_sent_; }  // of all its statements
  // True when enough is buffered that the producer should co_await flush() before the next row.
  virtual bool wants_flush() const = 0;
  virtual Task<Status> flush() = 0;
  virtual void end_rows(const OkInfo& info) = 0;
  virtual void ok(const OkInfo& info) = 0;
  virtual void error(const Error& error) = 0;

  // LOAD DATA LOCAL: asks the client for one of its files, which it then sends in pieces; an empty piece is
  // the end. ok() only after that; error() at any time (the protocol takes the rest and drops it). Whether
  // local_infile is ON is the caller's to check.
  virtual Task<Status> request_local_file(std::string_view name);
  virtual Task<Result<std::string>> read_local_file();

 private:
  uint64_t rows_sent_ = 0;
};

inline Error local_files_disabled() {
  return Error{er::kClientLocalFilesDisabled,
               "Loading local data is disabled; this must be enabled on both the client and server sides"};
}
inline Task<Status> ResultSink::request_local_file(std::string_view) {
  co_return local_files_disabled();
}
inline Task<Result<std::string>> ResultSink::read_local_file() {
  co_return local_files_disabled();
}

}  // namespace commitd::sql
