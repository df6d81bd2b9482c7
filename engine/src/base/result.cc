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
    {er::kTooBigSelect, "42000"},
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
    {er::kCantUseOptionHere, "42000"},
    {er::kNotSupportedYet, "42000"},
    {er::kIllegalReference, "42S22"},
    {er::kTablenameNotAllowedHere, "42000"},
    {er::kOperandColumns, "21000"},
    {er::kSubqueryNo1Row, "21000"},
    {er::kWarnDataOutOfRange, "22003"},
    {er::kDataTruncated, "01000"},
    {er::kTruncatedWrongValue, "22007"},
    {er::kSpDoesNotExist, "42000"},
    {er::kQueryInterrupted, "70100"},
    {er::kDivisionByZero, "22012"},
    {er::kWrongGroupField, "42000"},
    {er::kFieldSpecifiedTwice, "42000"},
    {er::kUnsupportedExtension, "42000"},
    {er::kMixOfGroupFuncAndFields, "42000"},
    {er::kWrongNumberOfColumnsInSelect, "21000"},
    {er::kDerivedMustHaveAlias, "42000"},
    {er::kWrongParamcountToNativeFct, "42000"},
    {er::kDataOutOfRange, "22003"},
    {er::kTooManyKeys, "42000"},
    {er::kTooLongKey, "42000"},
    {er::kTooBigFieldlength, "42000"},
    {er::kCantRemoveAllFields, "42000"},
    {er::kBlobCantHaveDefault, "42000"},
    {er::kTableMustHaveColumns, "42000"},
    {er::kUnknownCharacterSet, "42000"},
    {er::kNonexistingGrant, "42000"},
    {er::kTableaccessDenied, "42000"},
    {er::kIllegalGrantForTable, "42000"},
    {er::kNonexistingTableGrant, "42000"},
    {er::kBlobKeyWithoutLength, "42000"},
    {er::kKeyDoesNotExist, "42000"},
    {er::kCollationCharsetMismatch, "42000"},
    {er::kWrongNameForIndex, "42000"},
    {er::kTooBigScale, "42000"},
    {er::kTooBigPrecision, "42000"},
    {er::kMBiggerThanD, "42000"},
    {er::kTooBigDisplaywidth, "42000"},
    {er::kInvalidUseOfNull, "22004"},
    {er::kDatetimeFunctionOverflow, "22008"},
    {er::kCantChangeTxCharacteristics, "25001"},
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
