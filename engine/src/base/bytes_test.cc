#include "base/bytes.h"

#include <gtest/gtest.h>

#include "base/crc32.h"
#include "base/error_codes.h"
#include "base/result.h"

namespace commitd {
namespace {

TEST(Bytes, LittleAndBigEndianPlaceTheLowByteAtOppositeEnds) {
  char bytes[8];
  store_le24(bytes, 0x010203);
  EXPECT_EQ(std::string_view(bytes, 3), "\x03\x02\x01");
  EXPECT_EQ(load_le24(bytes), 0x010203u);
  store_be(bytes, 0x010203, 3);
  EXPECT_EQ(std::string_view(bytes, 3), "\x01\x02\x03");
  EXPECT_EQ(load_be(bytes, 3), 0x010203u);
  store_be64(bytes, 0x0102030405060708);
  EXPECT_EQ(std::string_view(bytes, 8), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(load_be64(bytes), 0x0102030405060708u);
}

TEST(Bytes, LengthEncodedIntegersComeBackAtEveryWidthBoundary) {
  for (uint64_t value : {0ull, 250ull, 251ull, 0xffffull, 0x10000ull, 0xffffffull, 0x1000000ull, ~0ull}) {
    std::string buffer;
    ByteWriter(buffer).lenenc(value);
    ByteReader reader(buffer);
    EXPECT_EQ(reader.lenenc(), value);
    EXPECT_TRUE(reader.ok());
    EXPECT_TRUE(reader.at_end());
  }
}

TEST(Bytes, ReadingBeyondTheEndFailsForGood) {
  ByteReader reader("abc");
  EXPECT_EQ(reader.le16(), 0x6261);
  EXPECT_EQ(reader.le32(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0);
  EXPECT_FALSE(reader.ok());
}

TEST(Bytes, AStringLongerThanTheBufferIsAFailureAndNotARead) {
  std::string buffer;
  ByteWriter(buffer).lenenc(~0ull);
  buffer += "short";
  ByteReader reader(buffer);
  EXPECT_EQ(reader.lenenc_string(), "");
  EXPECT_FALSE(reader.ok());
}

TEST(Bytes, AStringWithoutItsZeroIsAFailure) {
  ByteReader reader("no end");
  reader.nul_string();
  EXPECT_FALSE(reader.ok());
}

TEST(Crc32, IsTheOneOfZlibAndMayBeTakenInPieces) {
  EXPECT_EQ(crc32_of("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32_of("6789", crc32_of("12345")), 0xcbf43926u);
}

TEST(Crc32, OfPiecesIsThatOfTheWholeAtEveryLength) {
  std::string bytes;
  uint32_t byte_by_byte = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto next = static_cast<char>(i * 7 + i / 251);
    bytes += next;
    byte_by_byte = crc32_of({&next, 1}, byte_by_byte);
    ASSERT_EQ(crc32_of(bytes), byte_by_byte) << bytes.size();
    ASSERT_EQ(
        crc32_of(std::string_view(bytes).substr(i / 3), crc32_of(std::string_view(bytes).substr(0, i / 3))),
        byte_by_byte)
        << bytes.size();
  }
}

TEST(ErrorTest, SqlStateFollowsTheNumber) {
  EXPECT_EQ((Error{er::kAccessDenied, ""}.sqlstate()), "28000");
  EXPECT_EQ((Error{er::kLockDeadlock, ""}.sqlstate()), "40001");
  EXPECT_EQ((Error{er::kStaleEpoch, ""}.sqlstate()), "HY000");
}

}  // namespace
}  // namespace commitd
