// Results as packets, in the text form (COM_QUERY) and the binary form (COM_STMT_EXECUTE), written straight
// into the output buffer.
#pragma once

#include <optional>

#include <absl/container/inlined_vector.h>

#include "sql/plan_cache/cached_columns.h"
#include "sql/result_sink.h"
#include "sql/session.h"
#include "wire/packet_channel.h"
#include "wire/protocol.h"

namespace commitd::wire {

class ResultWriter : public sql::ResultSink, public sql::CachedColumnsSink {
 public:
  ResultWriter(PacketChannel& channel, sql::Session& session, uint32_t capabilities)
      : channel_(channel), session_(session), capabilities_(capabilities) {}

  void begin_rows(std::span<const sql::ResultColumn> columns) override;
  void begin_kept_rows(sql::CachedColumns& kept) override;
  bool wants_flush() const override;
  Task<Status> flush() override { return channel_.flush(); }
  void end_rows(const sql::OkInfo& info) override;
  void ok(const sql::OkInfo& info) override;
  void error(const Error& error) override;

  Task<Status> request_local_file(std::string_view name) override;
  Task<Result<std::string>> read_local_file() override;
  // After the statement: a file that was not read to its end is received and dropped, and the error that
  // ended it is written. An error when the file did not come: the connection cannot go on.
  Task<Status> finish();
  // finish() has nothing to do: most statements ask for no file.
  bool is_finished() const { return !receiving_file_ && file_received_.ok() && !error_behind_file_; }

 protected:
  PacketChannel& channel_;
  // How the cells of each column are written.
  struct Form {
    FieldType type;
    uint8_t decimals;
    uint32_t length;
  };
  absl::InlinedVector<Form, 8> forms_;

  void note_forms(std::span<const sql::ResultColumn> columns);

 private:
  uint64_t encoding() const;
  bool can(uint32_t capability) const { return (capabilities_ & capability) != 0; }

  sql::Session& session_;
  uint32_t capabilities_;
  bool receiving_file_ = false;
  Status file_received_;
  std::optional<Error> error_behind_file_;
};

// A BIT value as it is sent: the bytes that its column's bits take, the highest first.
std::string bit_bytes(const Value& value, uint32_t bits);

class TextResultWriter final : public ResultWriter {
 public:
  using ResultWriter::ResultWriter;
  void row(std::span<const Value> values) override;
};

class BinaryResultWriter final : public ResultWriter {
 public:
  using ResultWriter::ResultWriter;
  void row(std::span<const Value> values) override;
};

}  // namespace commitd::wire
