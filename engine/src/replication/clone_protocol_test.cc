#include "replication/clone_protocol.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "replication/clone_pace.h"

namespace commitd::replication {
namespace {

std::string_view behind_tag(const std::string& packet) {
  return std::string_view(packet).substr(1);
}

CloneHeader some_header() {
  CloneHeader header;
  header.donor = Uuid::random();
  header.version = "8.4.0-commitd";
  header.format = 1;
  header.own_log = true;
  header.position = {7, 1234};
  header.log_file = "binlog.000007";
  header.executed = *GtidSet::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:9");
  header.bytes = 1ull << 40;
  return header;
}

TEST(CloneProtocol, AHeaderComesBackAsItWas) {
  const CloneHeader sent = some_header();
  const std::string packet = encode(sent);
  EXPECT_EQ(packet.front(), static_cast<char>(CloneTag::Header));
  const auto got = decode_clone_header(behind_tag(packet));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->donor, sent.donor);
  EXPECT_EQ(got->version, sent.version);
  EXPECT_TRUE(got->own_log);
  EXPECT_EQ(got->position, sent.position);
  EXPECT_EQ(got->log_file, sent.log_file);
  EXPECT_EQ(got->executed, sent.executed);
  EXPECT_EQ(got->bytes, sent.bytes);
}

TEST(CloneProtocol, WhatIsCutOffIsRefused) {
  const std::string header = encode(some_header()), file = encode(CloneFile{"000012.sst", 5}),
                    end = encode_file_end(77);
  for (size_t size = 0; size + 1 < header.size(); ++size)
    EXPECT_EQ(decode_clone_header(behind_tag(header).substr(0, size)).error().code, er::kCloneProtocol);
  for (size_t size = 0; size + 1 < file.size(); ++size)
    EXPECT_FALSE(decode_clone_file(behind_tag(file).substr(0, size)).ok());
  EXPECT_EQ(*decode_file_end(behind_tag(end)), 77u);
  EXPECT_FALSE(decode_file_end(behind_tag(end).substr(1)).ok());
}

TEST(CloneProtocol, AFileStaysInItsDirectory) {
  for (const char* name : {"", ".", "..", "../auto.cnf", "a/b", "/etc/passwd"})
    EXPECT_FALSE(decode_clone_file(behind_tag(encode(CloneFile{name, 1}))).ok()) << name;
  EXPECT_FALSE(decode_clone_file(behind_tag(encode(CloneFile{std::string("a\0b", 3), 1}))).ok());
  EXPECT_FALSE(decode_clone_file(behind_tag(encode(CloneFile{std::string(256, 'a'), 1}))).ok());
  EXPECT_EQ(decode_clone_file(behind_tag(encode(CloneFile{"000012.sst", 5})))->size, 5u);
}

TEST(CloneProtocol, OthersAreToldThatTheyAreNotUnderstood) {
  const std::string ours = encode_clone_request();
  EXPECT_TRUE(check_clone_request(ours).ok());
  std::string of_another_version = ours;
  ++of_another_version.back();
  for (const std::string& request :
       {std::string(), std::string("\1\0\0\0", 4), of_another_version, ours.substr(0, ours.size() - 1)})
    EXPECT_EQ(check_clone_request(request).error().code, er::kNotSupportedYet);
}

TEST(ClonePace, NoMorePassesThanMay) {
  std::atomic<uint64_t> rate{1000};
  ClonePace pace(rate);
  const Clock::time_point start{std::chrono::seconds(100)};
  const auto second = std::chrono::milliseconds(1000);
  EXPECT_EQ(pace.after(500, start), start + second / 2);
  EXPECT_EQ(pace.after(1000, start), start + second * 3 / 2);             // behind what waits already
  EXPECT_EQ(pace.after(1000, start + 10 * second), start + 11 * second);  // a pause is not made up for
  rate = 0;
  EXPECT_EQ(pace.after(1000, start + 12 * second), start + 12 * second);
}

}  // namespace
}  // namespace commitd::replication
