#include "base/result.h"

#include <algorithm>
#include <iterator>

#include "base/error_codes.h"

namespace commitd {

namespace {

struct CodeState {
  uint16_t code;
  std::string_view state;
};

// Every number that is not here has MySQL's general state HY000.
constexpr CodeState kStates[] = {
    {er::kDupKey, "23000"},
    {er::kOutOfMemory, "HY001"},
    {er::kOutOfSortMemory, "HY001"},
    {er::kConCount, "08004"},
    {er::kHandshake, "08S01"},
    {er::kDbAccessDenied, "42000"},
    {er::kAccessDenied, "28000"},
    {er::kNoDb, "3D000"},
    {er::kUnknownCom, "08S01"},
    {er::kBadNull, "23000"},
    {er::kBadDb, "42000"},
    {er::kTableExists, "42S01"},
    {er::kBadTable, "42S02"},
    {er::kNonUniqColumn, "23000"},
    {er::kServerShutdown, "08S01"},
    {er::kBadField, "42S22"},
    {er::kWrongFieldWithGroup, "42000"},
    {er::kWrongValueCount, "21S01"},
    {er::kTooLongIdent, "42000"},
    {er::kDupFieldName, "42S21"},
    {er::kDupKeyName, "42000"},
    {er::kDupEntry, "23000"},
    {er::kParse, "42000"},
    {er::kEmptyQuery, "42000"},
    {er::kNonUniqTable, "42000"},
    {er::kInvalidDefault, "42000"},
    {er::kMultiplePriKey, "42000"},
    {er::kKeyColumnDoesNotExist, "42000"},
    {er::kWrongAutoKey, "42000"},
    {er::kCantDropFieldOrKey, "42000"},
    {er::kUnknownTable, "42S02"},
    {er::kWrongValueCountOnRow, "21S01"},
    {er::kNoSuchTable, "42S02"},
    {er::kSyntax, "42000"},
    {er::kNetPacketTooLarge, "08S01"},
    {er::kNetPacketsOutOfOrder, "08S01"},
    {er::kNetReadError, "08S01"},
    {er::kNetReadInterrupted, "08S01"},
    {er::kNetErrorOnWrite, "08S01"},
    {er::kNetWriteInterrupted, "08S01"},
    {er::kPrimaryCantHaveNull, "42000"},
    {er::kTooManyUserConnections, "42000"},
    {er::kLockDeadlock, "40001"},
    {er::kSpecificAccessDenied, "42000"},
    {er::kWrongValueForVar, "42000"},
    {er::kWrongTypeForVar, "42000"},
    {er::kNotSupportedYet, "42000"},
    {er::kOperandColumns, "21000"},
    {er::kSubqueryNo1Row, "21000"},
    {er::kDataOutOfRange, "22003"},
    {er::kDataTruncated, "01000"},
    {er::kTruncatedWrongValue, "22007"},
    {er::kSpDoesNotExist, "42000"},
    {er::kQueryInterrupted, "70100"},
    {er::kDivisionByZero, "22012"},
    {1056, "42000"},  // ER_WRONG_GROUP_FIELD
    {1110, "42000"},  // ER_FIELD_SPECIFIED_TWICE
    {1112, "42000"},  // ER_UNSUPPORTED_EXTENSION
    {1140, "42000"},  // ER_MIX_OF_GROUP_FUNC_AND_FIELDS
    {1222, "21000"},  // ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT
    {1248, "42000"},  // ER_DERIVED_MUST_HAVE_ALIAS
    {1582, "42000"},  // ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT
    {1690, "22003"},  // ER_DATA_OUT_OF_RANGE
    {1069, "42000"},  // ER_TOO_MANY_KEYS
    {1071, "42000"},  // ER_TOO_LONG_KEY
    {1074, "42000"},  // ER_TOO_BIG_FIELDLENGTH
    {1090, "42000"},  // ER_CANT_REMOVE_ALL_FIELDS
    {1101, "42000"},  // ER_BLOB_CANT_HAVE_DEFAULT
    {1113, "42000"},  // ER_TABLE_MUST_HAVE_COLUMNS
    {1115, "42000"},  // ER_UNKNOWN_CHARACTER_SET
    {1141, "42000"},  // ER_NONEXISTING_GRANT
    {1142, "42000"},  // ER_TABLEACCESS_DENIED_ERROR
    {1144, "42000"},  // ER_ILLEGAL_GRANT_FOR_TABLE
    {1147, "42000"},  // ER_NONEXISTING_TABLE_GRANT
    {1170, "42000"},  // ER_BLOB_KEY_WITHOUT_LENGTH
    {1176, "42000"},  // ER_KEY_DOES_NOT_EXITS
    {1253, "42000"},  // ER_COLLATION_CHARSET_MISMATCH
    {1280, "42000"},  // ER_WRONG_NAME_FOR_INDEX
    {1425, "42000"},  // ER_TOO_BIG_SCALE
    {1426, "42000"},  // ER_TOO_BIG_PRECISION
    {1427, "42000"},  // ER_M_BIGGER_THAN_D
    {1439, "42000"},  // ER_TOO_BIG_DISPLAYWIDTH
    {1138, "22004"},  // ER_INVALID_USE_OF_NULL
    {1441, "22008"},  // ER_DATETIME_FUNCTION_OVERFLOW
    {1568, "25001"},  // ER_CANT_CHANGE_TX_CHARACTERISTICS
    {er::kDataTooLong, "22001"},
    {er::kInvalidJsonText, "22032"},
    {er::kInvalidJsonTextInParam, "22032"},
    {er::kInvalidJsonBinaryData, "22032"},
    {er::kInvalidJsonPath, "42000"},
    {er::kInvalidJsonCharset, "22032"},
    {er::kInvalidTypeForJson, "22032"},
    {er::kInvalidJsonPathWildcard, "42000"},
    {er::kJsonValueTooBig, "22032"},
    {er::kJsonKeyTooBig, "22032"},
    {er::kJsonUsedAsKey, "42000"},
    {er::kJsonVacuousPath, "42000"},
    {er::kJsonBadOneOrAllArg, "42000"},
    {er::kJsonDocumentTooDeep, "22032"},
    {er::kJsonDocumentNullKey, "22032"},
    {er::kInvalidJsonPathArrayCell, "42000"},
    {er::kMaxPreparedStmtCountReached, "42000"},
    {er::kCantExecuteInReadOnlyTransaction, "25006"},
};

}  // namespace

std::string_view Error::sqlstate() const {
  auto found = std::find_if(std::begin(kStates), std::end(kStates),
                            [this](const CodeState& entry) { return entry.code == code; });
  return found == std::end(kStates) ? std::string_view("HY000") : found->state;
}

}  // namespace commitd
