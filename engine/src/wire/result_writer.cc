#include "wire/result_writer.h"

#include "base/bytes.h"
#include "wire/packets.h"
#include "wire/protocol.h"

namespace commitd::wire {

namespace {
constexpr size_t kFlushAt = 32 * 1024;
}

void ResultWriter::begin_rows(std::span<const sql::ResultColumn> columns) {
  ByteWriter(channel_.begin_packet()).lenenc(columns.size());
  channel_.end_packet();
  types_.clear();
  for (const sql::ResultColumn& column : columns) {
    write_column(channel_, column);
    types_.push_back(column.type);
  }
  if (!deprecate_eof_) write_eof(channel_, {}, false);
}

bool ResultWriter::wants_flush() const {
  return channel_.buffered() >= kFlushAt;
}
void ResultWriter::end_rows(const sql::OkInfo& info) {
  write_eof(channel_, info, deprecate_eof_);
}
void ResultWriter::ok(const sql::OkInfo& info) {
  write_ok(channel_, info);
}
void ResultWriter::error(const Error& error) {
  write_error(channel_, error);
}

}  // namespace commitd::wire
