// Numbers of the MySQL client/server protocol.
#pragma once

#include <cstdint>

namespace commitd::wire {

inline constexpr uint32_t kMaxPayload = 0xffffff;  // a longer packet is split

namespace capability {
inline constexpr uint32_t kLongPassword = 1u << 0;
inline constexpr uint32_t kFoundRows = 1u << 1;
inline constexpr uint32_t kLongFlag = 1u << 2;
inline constexpr uint32_t kConnectWithDb = 1u << 3;
inline constexpr uint32_t kLocalFiles = 1u << 7;
inline constexpr uint32_t kProtocol41 = 1u << 9;
inline constexpr uint32_t kInteractive = 1u << 10;
inline constexpr uint32_t kSsl = 1u << 11;
inline constexpr uint32_t kTransactions = 1u << 13;
inline constexpr uint32_t kSecureConnection = 1u << 15;
inline constexpr uint32_t kMultiStatements = 1u << 16;
inline constexpr uint32_t kMultiResults = 1u << 17;
inline constexpr uint32_t kPsMultiResults = 1u << 18;
inline constexpr uint32_t kPluginAuth = 1u << 19;
inline constexpr uint32_t kConnectAttrs = 1u << 20;
inline constexpr uint32_t kPluginAuthLenenc = 1u << 21;
inline constexpr uint32_t kSessionTrack = 1u << 23;
inline constexpr uint32_t kDeprecateEof = 1u << 24;
}  // namespace capability

enum class Command : uint8_t {
  Quit = 1,
  InitDb = 2,
  Query = 3,
  FieldList = 4,
  Refresh = 7,
  Shutdown = 8,
  Statistics = 9,
  ProcessInfo = 10,
  ProcessKill = 12,
  Debug = 13,
  Ping = 14,
  ChangeUser = 17,
  BinlogDump = 18,
  RegisterReplica = 21,
  StmtPrepare = 22,
  StmtExecute = 23,
  StmtSendLongData = 24,
  StmtClose = 25,
  StmtReset = 26,
  SetOption = 27,
  BinlogDumpGtid = 30,
  ResetConnection = 31,
  Clone = 32,
};

namespace server_status {
inline constexpr uint16_t kAutocommit = 2;
inline constexpr uint16_t kMoreResults = 8;
inline constexpr uint16_t kSessionStateChanged = 0x4000;
}  // namespace server_status

inline constexpr uint8_t kOkHeader = 0x00;
inline constexpr uint8_t kEofHeader = 0xfe;
inline constexpr uint8_t kErrorHeader = 0xff;
inline constexpr uint8_t kAuthMoreData = 0x01;
inline constexpr uint8_t kAuthSwitch = 0xfe;
inline constexpr uint8_t kNullCell = 0xfb;
inline constexpr uint8_t kLocalFileRequest = 0xfb;

inline constexpr uint16_t kBinaryCollation = 63;

}  // namespace commitd::wire
