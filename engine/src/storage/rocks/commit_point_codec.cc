#include "storage/rocks/commit_point_codec.h"

#include "base/error_codes.h"
#include "base/packed_int.h"
#include "storage/record/key_codec.h"

namespace commitd::storage {

namespace {

constexpr size_t kPositionSize = 4 + 8;
constexpr size_t kFixedSize = kPositionSize + 8;

std::string key_named(std::string_view name) {
  std::string key;
  append_index_id(key, kCommitPointIndexId);
  key.append(name);
  return key;
}

}  // namespace

std::string commit_point_key() {
  return key_named("commit_point");
}
std::string incomplete_up_to_key() {
  return key_named("incomplete_up_to");
}
std::string format_version_key() {
  return key_named("format_version");
}

std::string encode_position(LogPosition position) {
  std::string bytes;
  append_big_endian(bytes, position.file, 4);
  append_big_endian(bytes, position.offset, 8);
  return bytes;
}

LogPosition decode_position(std::string_view bytes) {
  if (bytes.size() < kPositionSize) return {};
  return {static_cast<uint32_t>(load_be(bytes.data(), 4)), load_be(bytes.data() + 4, 8)};
}

std::string encode_place(const EnginePlace& place) {
  std::string bytes = encode_position(place.position);
  append_big_endian(bytes, place.epoch, 8);
  return bytes;
}

Result<CommitPoint> decode_commit_point(std::string_view bytes) {
  if (bytes.size() < kFixedSize)
    return make_error(er::kErrorOnRead, "The storage engine's commit point is damaged");
  CommitPoint point;
  point.position = decode_position(bytes);
  point.epoch = load_be(bytes.data() + kPositionSize, 8);
  if (bytes.size() == kFixedSize) return point;
  auto executed = GtidSet::decode(bytes.substr(kFixedSize));
  if (!executed) return executed.error();
  point.executed = std::move(*executed);
  return point;
}

}  // namespace commitd::storage
