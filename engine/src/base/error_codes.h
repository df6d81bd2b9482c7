// MySQL's error numbers that commitd uses (mysqld_error.h has the full list; names are MySQL's without the
// ER_ of C macros).
#pragma once

#include <cstdint>

namespace commitd::er {

inline constexpr uint16_t kDiskFull = 1021;
inline constexpr uint16_t kDupKey = 1022;
inline constexpr uint16_t kErrorOnRead = 1024;
inline constexpr uint16_t kErrorOnWrite = 1026;
inline constexpr uint16_t kKeyNotFound = 1032;
inline constexpr uint16_t kOutOfMemory = 1037;
inline constexpr uint16_t kOutOfSortMemory = 1038;
inline constexpr uint16_t kConCount = 1040;
inline constexpr uint16_t kOutOfResources = 1041;
inline constexpr uint16_t kHandshake = 1043;
inline constexpr uint16_t kDbAccessDenied = 1044;
inline constexpr uint16_t kAccessDenied = 1045;
inline constexpr uint16_t kNoDb = 1046;
inline constexpr uint16_t kUnknownCom = 1047;
inline constexpr uint16_t kBadNull = 1048;
inline constexpr uint16_t kBadDb = 1049;
inline constexpr uint16_t kTableExists = 1050;
inline constexpr uint16_t kBadTable = 1051;
inline constexpr uint16_t kNonUniqColumn = 1052;
inline constexpr uint16_t kServerShutdown = 1053;
inline constexpr uint16_t kBadField = 1054;
inline constexpr uint16_t kWrongFieldWithGroup = 1055;
inline constexpr uint16_t kWrongValueCount = 1058;
inline constexpr uint16_t kDupFieldName = 1060;
inline constexpr uint16_t kDupKeyName = 1061;
inline constexpr uint16_t kDupEntry = 1062;
inline constexpr uint16_t kParse = 1064;
inline constexpr uint16_t kEmptyQuery = 1065;
inline constexpr uint16_t kNonUniqTable = 1066;
inline constexpr uint16_t kInvalidDefault = 1067;
inline constexpr uint16_t kMultiplePriKey = 1068;
inline constexpr uint16_t kKeyColumnDoesNotExist = 1072;
inline constexpr uint16_t kWrongAutoKey = 1075;
inline constexpr uint16_t kCantDropFieldOrKey = 1091;
inline constexpr uint16_t kNoSuchThread = 1094;
inline constexpr uint16_t kUnknownError = 1105;
inline constexpr uint16_t kUnknownTable = 1109;
inline constexpr uint16_t kInvalidGroupFuncUse = 1111;
inline constexpr uint16_t kUnknownCharacterSet = 1115;
inline constexpr uint16_t kCantCreateThread = 1135;
inline constexpr uint16_t kWrongValueCountOnRow = 1136;
inline constexpr uint16_t kNoSuchTable = 1146;
inline constexpr uint16_t kSyntax = 1149;
inline constexpr uint16_t kNetPacketTooLarge = 1153;
inline constexpr uint16_t kNetPacketsOutOfOrder = 1156;
inline constexpr uint16_t kNetReadError = 1158;
inline constexpr uint16_t kNetReadInterrupted = 1159;
inline constexpr uint16_t kNetErrorOnWrite = 1160;
inline constexpr uint16_t kNetWriteInterrupted = 1161;
inline constexpr uint16_t kPrimaryCantHaveNull = 1171;
inline constexpr uint16_t kUnknownSystemVariable = 1193;
inline constexpr uint16_t kTransCacheFull = 1197;
inline constexpr uint16_t kTooManyUserConnections = 1203;
inline constexpr uint16_t kReplicaNotRunning = 1199;
inline constexpr uint16_t kLocalVariable = 1228;
inline constexpr uint16_t kGlobalVariable = 1229;
inline constexpr uint16_t kWrongValueForVar = 1231;
inline constexpr uint16_t kWrongTypeForVar = 1232;
inline constexpr uint16_t kNotSupportedYet = 1235;
inline constexpr uint16_t kSourceFatalReadingBinlog = 1236;
inline constexpr uint16_t kIncorrectGlobalLocalVar = 1238;
inline constexpr uint16_t kUnknownStmtHandler = 1243;
inline constexpr uint16_t kDataOutOfRange = 1264;
inline constexpr uint16_t kDataTruncated = 1265;
inline constexpr uint16_t kUnknownCollation = 1273;
inline constexpr uint16_t kUnknownStorageEngine = 1286;
inline constexpr uint16_t kOptionPreventsStatement = 1290;
inline constexpr uint16_t kUnsupportedPs = 1295;
inline constexpr uint16_t kTruncatedWrongValue = 1292;
inline constexpr uint16_t kSpDoesNotExist = 1305;
inline constexpr uint16_t kQueryInterrupted = 1317;
inline constexpr uint16_t kNoDefaultForField = 1364;
inline constexpr uint16_t kDivisionByZero = 1365;
inline constexpr uint16_t kTruncatedWrongValueForField = 1366;
inline constexpr uint16_t kCannotUser = 1396;
inline constexpr uint16_t kDataTooLong = 1406;
inline constexpr uint16_t kMaxPreparedStmtCountReached = 1461;
inline constexpr uint16_t kSessionVariableIsReadOnly = 1621;
inline constexpr uint16_t kCantExecuteInReadOnlyTransaction = 1792;
inline constexpr uint16_t kLockWaitTimeout = 1205;
inline constexpr uint16_t kLockTableFull = 1206;
inline constexpr uint16_t kLockDeadlock = 1213;
inline constexpr uint16_t kCheckConstraintViolated = 3819;
inline constexpr uint16_t kTooLongIdent = 1059;
inline constexpr uint16_t kWrongArguments = 1210;
inline constexpr uint16_t kOperandColumns = 1241;
inline constexpr uint16_t kSubqueryNo1Row = 1242;
inline constexpr uint16_t kDbCreateExists = 1007;
inline constexpr uint16_t kDbDropExists = 1008;
inline constexpr uint16_t kSpecificAccessDenied = 1227;
inline constexpr uint16_t kInvalidJsonText = 3140;
inline constexpr uint16_t kInvalidJsonTextInParam = 3141;
inline constexpr uint16_t kInvalidJsonBinaryData = 3142;
inline constexpr uint16_t kInvalidJsonPath = 3143;
inline constexpr uint16_t kInvalidJsonCharset = 3144;
inline constexpr uint16_t kInvalidTypeForJson = 3146;
inline constexpr uint16_t kInvalidJsonPathWildcard = 3149;
inline constexpr uint16_t kJsonValueTooBig = 3150;
inline constexpr uint16_t kJsonKeyTooBig = 3151;
inline constexpr uint16_t kJsonUsedAsKey = 3152;
inline constexpr uint16_t kJsonVacuousPath = 3153;
inline constexpr uint16_t kJsonBadOneOrAllArg = 3154;
inline constexpr uint16_t kJsonDocumentTooDeep = 3157;
inline constexpr uint16_t kJsonDocumentNullKey = 3158;
inline constexpr uint16_t kInvalidJsonPathArrayCell = 3165;
inline constexpr uint16_t kAccountLocked = 3118;
inline constexpr uint16_t kSecureTransportRequired = 3159;
inline constexpr uint16_t kSslLibraryError = 3888;
inline constexpr uint16_t kClientLocalFilesDisabled = 3948;
inline constexpr uint16_t kClientInteractionTimeout = 4031;
inline constexpr uint16_t kLockNowait = 3572;
inline constexpr uint16_t kUnknownTargetBinlog = 1373;
inline constexpr uint16_t kLogPurgeNoFile = 1612;
inline constexpr uint16_t kWarnPurgeLogInUse = 1867;
inline constexpr uint16_t kWarnPurgeLogIsActive = 1868;
inline constexpr uint16_t kCantSetGtidPurged = 3546;
inline constexpr uint16_t kCantUpdateWithReadLock = 1223;
inline constexpr uint16_t kTableNotLockedForWrite = 1099;
inline constexpr uint16_t kTableNotLocked = 1100;
inline constexpr uint16_t kFileExists = 1086;

// Numbers that MySQL's client library reports about connections it makes.
inline constexpr uint16_t kClientConnHost = 2003;
inline constexpr uint16_t kClientUnknownHost = 2005;
inline constexpr uint16_t kClientServerLost = 2013;
inline constexpr uint16_t kClientTlsError = 2026;
inline constexpr uint16_t kClientMalformedPacket = 2027;
inline constexpr uint16_t kClientAuthPluginCannotLoad = 2059;

// Numbers of our own (MySQL has none): see engine/CONTROL.md.
inline constexpr uint16_t kStaleEpoch = 3000;
inline constexpr uint16_t kAlreadyInitialized = 3001;
inline constexpr uint16_t kDiverged = 3002;

}  // namespace commitd::er
