#include "wire/result_writer.h"

#include "base/bytes.h"
#include "base/error_codes.h"
#include "wire/packets.h"

namespace commitd::wire {

namespace {
constexpr size_t kFlushAt = 32 * 1024;
constexpr uint16_t kMoreResultsExist = 8;
}  // namespace

std::string bit_bytes(const Value& value, uint32_t bits) {
  if (value.kind() == Value::Kind::String) return value.as_string();
  const uint64_t number =
      value.kind() == Value::Kind::Int ? static_cast<uint64_t>(value.as_int()) : value.as_uint();
  std::string bytes;
  for (int at = static_cast<int>((bits + 7) / 8) - 1; at >= 0; --at)
    bytes.push_back(static_cast<char>(number >> (8 * at)));
  return bytes;
}

void ResultWriter::begin_rows(std::span<const sql::ResultColumn> columns) {
  ByteWriter(channel_.begin_packet()).lenenc(columns.size());
  channel_.end_packet();
  note_forms(columns);
  for (const sql::ResultColumn& column : columns) write_column(channel_, column);
  if (can(capability::kDeprecateEof)) return;
  sql::OkInfo behind_columns;
  if (more_results) behind_columns.server_status |= kMoreResultsExist;
  write_eof(channel_, behind_columns, false);
}

void ResultWriter::note_forms(std::span<const sql::ResultColumn> columns) {
  forms_.clear();
  forms_.reserve(columns.size());
  for (const sql::ResultColumn& column : columns)
    forms_.push_back({column.type, column.decimals, column.length});
}

// Never 0, which is for what was not encoded yet.
uint64_t ResultWriter::encoding() const {
  const uint64_t more = more_results ? uint64_t{1} << 33 : 0;
  return more | uint64_t{1} << 32 | uint64_t{channel_.sequence()} << 1 |
         (can(capability::kDeprecateEof) ? 1u : 0u);
}

void ResultWriter::begin_kept_rows(sql::CachedColumns& kept) {
  const uint64_t wanted = encoding();
  if (kept.encoded_for == wanted) {
    note_forms(kept.columns);
    channel_.write_again({kept.encoded, kept.encoded_next});
    return;
  }
  const size_t before = channel_.buffered();
  begin_rows(kept.columns);
  const auto written = channel_.written_since(before);
  kept.encoded = written.packets;
  kept.encoded_next = written.next_sequence;
  kept.encoded_for = wanted;
}

bool ResultWriter::wants_flush() const {
  return channel_.buffered() >= kFlushAt;
}
void ResultWriter::end_rows(const sql::OkInfo& info) {
  write_eof(channel_, info, can(capability::kDeprecateEof), session_.take_changes());
}
void ResultWriter::ok(const sql::OkInfo& info) {
  write_ok(channel_, info, session_.take_changes());
}

// The client listens only when it has sent its file; one that does not come is finish()'s to report.
void ResultWriter::error(const Error& error) {
  if (!file_received_.ok()) return;
  if (receiving_file_) {
    error_behind_file_ = error;
  } else {
    write_error(channel_, error);
  }
}

Task<Status> ResultWriter::request_local_file(std::string_view name) {
  if (!can(capability::kLocalFiles)) co_return sql::local_files_disabled();
  ByteWriter out(channel_.begin_packet());
  out.u8(kLocalFileRequest);
  out.bytes(name);
  channel_.end_packet();
  COMMITD_CO_RETURN_IF_ERROR(co_await channel_.flush());
  receiving_file_ = true;
  co_return Status();
}

Task<Result<std::string>> ResultWriter::read_local_file() {
  if (!receiving_file_) co_return std::string();
  auto piece = co_await channel_.read_packet(Clock::now() + session_.limits().net_read_timeout);
  if (!piece.ok() || piece->empty()) receiving_file_ = false;
  if (!piece.ok()) file_received_ = piece.error();
  co_return piece;
}

Task<Status> ResultWriter::finish() {
  while (receiving_file_) {
    [[maybe_unused]] auto dropped = co_await read_local_file();
  }
  if (!file_received_.ok()) co_return file_received_;
  if (error_behind_file_) write_error(channel_, *error_behind_file_);
  co_return Status();
}

}  // namespace commitd::wire
