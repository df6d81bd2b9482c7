#include <zlib.h>

#include <openssl/evp.h>

#include "sql/expression/conversion.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;

Value digest(const EVP_MD* algorithm, const Value& value) {
  const std::string text = to_text(value);
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), out, &length, algorithm, nullptr) != 1) return Value::null();
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) fmt::format_to(std::back_inserter(hex), "{:02x}", out[i]);
  return Value::string(std::move(hex));
}

Value md5(Evaluation&, Values a) {
  return digest(EVP_md5(), a[0]);
}
Value sha1(Evaluation&, Values a) {
  return digest(EVP_sha1(), a[0]);
}

Value sha2(Evaluation&, Values a) {
  switch (to_int64(a[1])) {
    case 0:
    case 256:
      return digest(EVP_sha256(), a[0]);
    case 224:
      return digest(EVP_sha224(), a[0]);
    case 384:
      return digest(EVP_sha384(), a[0]);
    case 512:
      return digest(EVP_sha512(), a[0]);
    default:
      return Value::null();
  }
}

Value crc(Evaluation&, Values a) {
  const std::string text = to_text(a[0]);
  return Value::unsigned_integer(
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

ValueType crc_type(std::span<const ValueType>) {
  return ValueType::integer(10, true);
}

constexpr FunctionSpec kFunctions[] = {
    {"MD5", 1, 1, true, md5, text_type},  {"SHA1", 1, 1, true, sha1, text_type},
    {"SHA", 1, 1, true, sha1, text_type}, {"SHA2", 2, 2, true, sha2, text_type},
    {"CRC32", 1, 1, true, crc, crc_type},
};

}  // namespace

std::span<const FunctionSpec> hash_functions() {
  return kFunctions;
}

}  // namespace commitd::sql
