// Results as packets, in the text form (COM_QUERY) and the binary form (COM_STMT_EXECUTE), written straight
// into the output buffer.
#pragma once

#include <vector>

#include "sql/result_sink.h"
#include "wire/packet_channel.h"

namespace commitd::wire {

class ResultWriter : public sql::ResultSink {
 public:
  ResultWriter(PacketChannel& channel, bool deprecate_eof)
      : channel_(channel), deprecate_eof_(deprecate_eof) {}

  void begin_rows(std::span<const sql::ResultColumn> columns) override;
  bool wants_flush() const override;
  Task<Status> flush() override { return channel_.flush(); }
  void end_rows(const sql::OkInfo& info) override;
  void ok(const sql::OkInfo& info) override;
  void error(const Error& error) override;

 protected:
  PacketChannel& channel_;
  std::vector<FieldType> types_;

 private:
  bool deprecate_eof_;
};

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
