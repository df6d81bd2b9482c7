// Functions that MySQL has and we have not: they are refused by name (1235), not taken for stored functions.
#include <algorithm>
#include <iterator>

#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

constexpr std::string_view kAbsent[] = {"AES_DECRYPT",
                                        "AES_ENCRYPT",
                                        "ASYMMETRIC_DECRYPT",
                                        "ASYMMETRIC_ENCRYPT",
                                        "BENCHMARK",
                                        "BIN_TO_UUID",
                                        "COERCIBILITY",
                                        "COMPRESS",
                                        "CREATE_ASYMMETRIC_PRIV_KEY",
                                        "CUME_DIST",
                                        "CURRENT_ROLE",
                                        "DENSE_RANK",
                                        "EXTRACTVALUE",
                                        "FIRST_VALUE",
                                        "FORMAT_BYTES",
                                        "FORMAT_PICO_TIME",
                                        "GEOMCOLLECTION",
                                        "GEOMETRYCOLLECTION",
                                        "GROUPING",
                                        "ICU_VERSION",
                                        "INET6_ATON",
                                        "INET6_NTOA",
                                        "INET_ATON",
                                        "INET_NTOA",
                                        "IS_IPV4",
                                        "IS_IPV4_COMPAT",
                                        "IS_IPV4_MAPPED",
                                        "IS_IPV6",
                                        "IS_UUID",
                                        "JSON_SCHEMA_VALID",
                                        "JSON_SCHEMA_VALIDATION_REPORT",
                                        "JSON_STORAGE_FREE",
                                        "JSON_TABLE",
                                        "JSON_VALUE",
                                        "LAG",
                                        "LAST_VALUE",
                                        "LEAD",
                                        "LINESTRING",
                                        "LOAD_FILE",
                                        "MASTER_POS_WAIT",
                                        "MBRCONTAINS",
                                        "MBRCOVEREDBY",
                                        "MBRCOVERS",
                                        "MBRDISJOINT",
                                        "MBREQUALS",
                                        "MBRINTERSECTS",
                                        "MBROVERLAPS",
                                        "MBRTOUCHES",
                                        "MBRWITHIN",
                                        "MULTILINESTRING",
                                        "MULTIPOINT",
                                        "MULTIPOLYGON",
                                        "NAME_CONST",
                                        "NTH_VALUE",
                                        "NTILE",
                                        "PERCENT_RANK",
                                        "POINT",
                                        "POLYGON",
                                        "PS_CURRENT_THREAD_ID",
                                        "PS_THREAD_ID",
                                        "RANDOM_BYTES",
                                        "RANK",
                                        "ROLES_GRAPHML",
                                        "ROW_NUMBER",
                                        "SOURCE_POS_WAIT",
                                        "STATEMENT_DIGEST",
                                        "STATEMENT_DIGEST_TEXT",
                                        "UNCOMPRESS",
                                        "UNCOMPRESSED_LENGTH",
                                        "UPDATEXML",
                                        "UUID_SHORT",
                                        "UUID_TO_BIN",
                                        "VALIDATE_PASSWORD_STRENGTH",
                                        "WEIGHT_STRING"};
static_assert(std::ranges::is_sorted(kAbsent));

constexpr std::string_view kOfGeometry = "ST_";

}  // namespace

bool is_absent_function(std::string_view upper_name) {
  return upper_name.starts_with(kOfGeometry) || std::ranges::binary_search(kAbsent, upper_name);
}

}  // namespace commitd::sql
