// Tables about what commitd does not have. They are there, with MySQL 8.4's columns, and
// empty: dump tools and exporters ask them.
#include <sstream>

#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

// Names of columns, separated by blanks; `#name` is a number, `@name` a time.
VirtualTable absent(std::string name, const std::string& columns, std::string db = "information_schema") {
  std::vector<ColumnDef> definitions;
  std::istringstream words(columns);
  for (std::string word; words >> word;) {
    if (word[0] == '#')
      definitions.push_back(number(word.substr(1)));
    else if (word[0] == '@')
      definitions.push_back(datetime(word.substr(1)));
    else
      definitions.push_back(text(word));
  }
  return {virtual_definition(std::move(db), std::move(name), std::move(definitions)),
          [](SessionState&) { return std::vector<Row>(); }};
}

}  // namespace

std::vector<VirtualTable> absent_tables() {
  return {
      absent(
          "REFERENTIAL_CONSTRAINTS",
          "CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME UNIQUE_CONSTRAINT_CATALOG "
          "UNIQUE_CONSTRAINT_SCHEMA UNIQUE_CONSTRAINT_NAME MATCH_OPTION UPDATE_RULE DELETE_RULE TABLE_NAME "
          "REFERENCED_TABLE_NAME"),
      absent("VIEWS",
             "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME VIEW_DEFINITION CHECK_OPTION IS_UPDATABLE DEFINER "
             "SECURITY_TYPE CHARACTER_SET_CLIENT COLLATION_CONNECTION"),
      absent("ROUTINES",
             "SPECIFIC_NAME ROUTINE_CATALOG ROUTINE_SCHEMA ROUTINE_NAME ROUTINE_TYPE DATA_TYPE "
             "#CHARACTER_MAXIMUM_LENGTH #CHARACTER_OCTET_LENGTH #NUMERIC_PRECISION #NUMERIC_SCALE "
             "#DATETIME_PRECISION CHARACTER_SET_NAME COLLATION_NAME DTD_IDENTIFIER ROUTINE_BODY "
             "ROUTINE_DEFINITION EXTERNAL_NAME EXTERNAL_LANGUAGE PARAMETER_STYLE IS_DETERMINISTIC "
             "SQL_DATA_ACCESS SQL_PATH SECURITY_TYPE @CREATED @LAST_ALTERED SQL_MODE ROUTINE_COMMENT DEFINER "
             "CHARACTER_SET_CLIENT COLLATION_CONNECTION DATABASE_COLLATION"),
      absent("PARAMETERS",
             "SPECIFIC_CATALOG SPECIFIC_SCHEMA SPECIFIC_NAME #ORDINAL_POSITION PARAMETER_MODE PARAMETER_NAME "
             "DATA_TYPE #CHARACTER_MAXIMUM_LENGTH #CHARACTER_OCTET_LENGTH #NUMERIC_PRECISION #NUMERIC_SCALE "
             "#DATETIME_PRECISION CHARACTER_SET_NAME COLLATION_NAME DTD_IDENTIFIER ROUTINE_TYPE"),
      absent(
          "TRIGGERS",
          "TRIGGER_CATALOG TRIGGER_SCHEMA TRIGGER_NAME EVENT_MANIPULATION EVENT_OBJECT_CATALOG "
          "EVENT_OBJECT_SCHEMA EVENT_OBJECT_TABLE #ACTION_ORDER ACTION_CONDITION ACTION_STATEMENT "
          "ACTION_ORIENTATION ACTION_TIMING ACTION_REFERENCE_OLD_TABLE ACTION_REFERENCE_NEW_TABLE "
          "ACTION_REFERENCE_OLD_ROW ACTION_REFERENCE_NEW_ROW @CREATED SQL_MODE DEFINER CHARACTER_SET_CLIENT "
          "COLLATION_CONNECTION DATABASE_COLLATION"),
      absent("EVENTS",
             "EVENT_CATALOG EVENT_SCHEMA EVENT_NAME DEFINER TIME_ZONE EVENT_BODY EVENT_DEFINITION EVENT_TYPE "
             "@EXECUTE_AT INTERVAL_VALUE INTERVAL_FIELD SQL_MODE @STARTS @ENDS STATUS ON_COMPLETION @CREATED "
             "@LAST_ALTERED @LAST_EXECUTED EVENT_COMMENT #ORIGINATOR CHARACTER_SET_CLIENT "
             "COLLATION_CONNECTION DATABASE_COLLATION"),
      absent(
          "PARTITIONS",
          "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME PARTITION_NAME SUBPARTITION_NAME "
          "#PARTITION_ORDINAL_POSITION #SUBPARTITION_ORDINAL_POSITION PARTITION_METHOD SUBPARTITION_METHOD "
          "PARTITION_EXPRESSION SUBPARTITION_EXPRESSION PARTITION_DESCRIPTION #TABLE_ROWS #AVG_ROW_LENGTH "
          "#DATA_LENGTH #MAX_DATA_LENGTH #INDEX_LENGTH #DATA_FREE @CREATE_TIME @UPDATE_TIME @CHECK_TIME "
          "#CHECKSUM PARTITION_COMMENT NODEGROUP TABLESPACE_NAME"),
      absent("FILES",
             "#FILE_ID FILE_NAME FILE_TYPE TABLESPACE_NAME TABLE_CATALOG TABLE_SCHEMA TABLE_NAME "
             "LOGFILE_GROUP_NAME #LOGFILE_GROUP_NUMBER ENGINE FULLTEXT_KEYS #DELETED_ROWS #UPDATE_COUNT "
             "#FREE_EXTENTS #TOTAL_EXTENTS #EXTENT_SIZE #INITIAL_SIZE #MAXIMUM_SIZE #AUTOEXTEND_SIZE "
             "@CREATION_TIME @LAST_UPDATE_TIME @LAST_ACCESS_TIME #RECOVER_TIME #TRANSACTION_COUNTER #VERSION "
             "ROW_FORMAT #TABLE_ROWS #AVG_ROW_LENGTH #DATA_LENGTH #MAX_DATA_LENGTH #INDEX_LENGTH #DATA_FREE "
             "@CREATE_TIME @UPDATE_TIME @CHECK_TIME #CHECKSUM STATUS EXTRA"),
      absent("COLUMN_STATISTICS", "SCHEMA_NAME TABLE_NAME COLUMN_NAME HISTOGRAM"),
      absent("COLUMN_PRIVILEGES",
             "GRANTEE TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME PRIVILEGE_TYPE IS_GRANTABLE"),
      absent("INNODB_CMP",
             "#page_size #compress_ops #compress_ops_ok #compress_time #uncompress_ops #uncompress_time"),
      absent("general_log", "@event_time user_host #thread_id #server_id command_type argument", "mysql"),
      absent("slow_log",
             "@start_time user_host query_time lock_time #rows_sent #rows_examined db #last_insert_id "
             "#insert_id "
             "#server_id sql_text #thread_id",
             "mysql"),
      absent("INNODB_CMPMEM",
             "#page_size #buffer_pool_instance #pages_used #pages_free #relocation_ops #relocation_time"),
  };
}

}  // namespace commitd::sql
