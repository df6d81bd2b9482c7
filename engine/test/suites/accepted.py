"""Differences that are right, each with its reason: what MySQL 8.4 does, or what is not defined."""

import dataclasses
import re
from typing import Callable


@dataclasses.dataclass
class Accepted:
    name: str
    reason: str
    matches: Callable  # (statement, MariaDB's outcome, commitd's outcome)


def both(pattern, same=lambda mariadb, commitd: True):
    """Both answer such a statement, and agree in what `same` looks at."""
    begins = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda statement, mariadb, commitd: not mariadb.error and not commitd.error and begins.match(statement) and same(mariadb, commitd)


def as_many_values(mariadb, commitd):
    return len(mariadb.rows) == len(commitd.rows) and len(mariadb.columns) == len(commitd.columns)


def names_in(outcome):
    return [[set(re.findall(rb"`([^`]+)`", value or b"")) for value in row] for row in outcome.rows]


def levels_and_codes(mariadb, commitd):
    return [row[:2] for row in mariadb.rows] == [row[:2] for row in commitd.rows]


def errors(mariadb_code, commitd_code):
    return lambda statement, mariadb, commitd: (mariadb.error, commitd.error) == (mariadb_code, commitd_code)


def only_mariadb(pattern, *commitd_codes):
    """MariaDB answers what commitd refuses with one of these numbers."""
    found = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda statement, mariadb, commitd: not mariadb.error and commitd.error in commitd_codes and found.search(statement)


def mariadb_refuses(*codes):
    """For a reason that is its own, whatever commitd says."""
    return lambda statement, mariadb, commitd: mariadb.error in codes


def same_keys(mariadb, commitd):
    table, name, column = 0, 2, 4
    shown = [[[row[place] for place in (table, name, column)] for row in outcome.rows] for outcome in (mariadb, commitd)]
    return shown[0] == shown[1]


def same_names(mariadb, commitd):
    return [row[0] for row in mariadb.rows] == [row[0] for row in commitd.rows]


def plan_of_prepared(statement, mariadb, commitd):
    return re.match(r"\s*EXECUTE\b", statement, re.IGNORECASE) and not commitd.error and mariadb.names[:2] == commitd.names[:2] == ("id", "select_type")


def only_commitd(pattern, *mariadb_codes):
    """commitd answers what MariaDB refuses with one of these numbers."""
    found = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda statement, mariadb, commitd: mariadb.error in mariadb_codes and not commitd.error and found.search(statement)


def refused(pattern):
    """Both refuse it, MariaDB for what else is wrong with it."""
    found = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda statement, mariadb, commitd: mariadb.error and commitd.error == 1064 and found.search(statement)


def without_widths(outcome):
    return [[re.sub(rb"(int|year)\(\d+\)", rb"\1", value or b"") for value in row] for row in outcome.rows]


ACCEPTED = [
    Accepted("a row beside a value", "MySQL's number; 4078 is MariaDB's own", errors(4078, 1241)),
    Accepted("a row as an operand", "MySQL's number; 4079 is MariaDB's own", errors(4079, 1241)),
    Accepted("out of range", "MySQL's number; 167 is MariaDB's own, with the same text", errors(167, 1264)),
    Accepted("plans", "Which plan a server has is its own affair", both(r"\s*(EXPLAIN|DESC(RIBE)?\s+SELECT|ANALYZE)\b")),
    Accepted("the server's own values", "Variables, counters, engines and plugins are each server's own",
             both(r"\s*SHOW (GLOBAL |SESSION |FULL )*(VARIABLES|STATUS|ENGINES?|PROCESSLIST|PLUGINS)\b")),
    Accepted("texts of warnings", "Level and number are the same; the text is MySQL's", both(r"\s*SHOW (WARNINGS|ERRORS)\b", levels_and_codes)),
    Accepted("SHOW CREATE TABLE", "The same names in it; defaults, character sets and engine are MySQL's (whether it makes the same table again is show_create_test.py's)",
             both(r"\s*SHOW CREATE\b", lambda mariadb, commitd: names_in(mariadb) == names_in(commitd))),
    Accepted("clocks and chance", "They change between two calls; there are as many values",
             both(r"\s*SELECT\b.*(\b(NOW|SYSDATE|CURRENT_TIMESTAMP|CURTIME|UUID|UUID_SHORT|RAND|CONNECTION_ID|VERSION|UNIX_TIMESTAMP)\s*\(|@@version)", as_many_values)),
    Accepted("switches of its optimizer", "optimizer_switch takes MySQL's flags; these are MariaDB's", only_mariadb(r"^\s*SET\b.*optimizer_switch", 1231)),
    Accepted("its sql_modes", "They are MariaDB's own, or were MySQL's before 8.0",
             only_mariadb(r"^\s*SET\b.*sql_mode.*\b(MAXDB|TIME_ROUND_FRACTIONAL|ORACLE|DB2|MSSQL|POSTGRESQL|MYSQL323|MYSQL40|EMPTY_STRING_IS_NULL|SIMULTANEOUS_ASSIGNMENT|NO_FIELD_OPTIONS)\b", 1231)),
    Accepted("its statements", "Statements and clauses that MySQL does not have: 1064 in MySQL, too",
             only_mariadb(r"\bRETURNING\b|\bROWS\s+EXAMINED\b|^\s*SET\s+STATEMENT\b|\bCREATE\s+OR\s+REPLACE\s+(TEMPORARY\s+)?TABLE\b|\bBEGIN\s+NOT\s+ATOMIC\b"
                          r"|^\s*SHOW\s+(EXPLAIN|ANALYZE)\b|^\s*ANALYZE\s+(FORMAT\s*=|SELECT|UPDATE|DELETE|INSERT)|\bSYSTEM\s+VERSIONING\b|^\s*EXECUTE\s+IMMEDIATE\b"
                          r"|^\s*(CREATE|ALTER|DROP)\s+SEQUENCE\b|^\s*ALTER\b.*\bIF\s+(NOT\s+)?EXISTS\b|^\s*ALTER\s+IGNORE\b", 1064)),
    Accepted("sql_modes that are gone", "Not in MySQL 8, or MariaDB's own", only_mariadb(r"^\s*SET\b.*sql_mode.*\b(NO_AUTO_CREATE_USER|IGNORE_BAD_TABLE_OPTIONS)\b", 1231)),
    Accepted("a table of an unknown database", "MySQL's number", errors(1146, 1049)),
    Accepted("names that are too long", "MySQL's number", lambda statement, mariadb, commitd: mariadb.error in (1102, 1103, 1166, 1280) and commitd.error == 1059),
    Accepted("names of CHECKs that are there", "MySQL's number", errors(1826, 3822)),
    Accepted("INSERT DELAYED", "MySQL takes it as INSERT; MariaDB refuses it for tables that it cannot delay", mariadb_refuses(1616)),
    Accepted("WITH TIES", "MySQL has no FETCH", mariadb_refuses(4180)),
    Accepted("dynamic columns", "MariaDB's own",
             lambda statement, mariadb, commitd: commitd.error in (1064, 1305) and re.search(r"\bCOLUMN_(CREATE|ADD|GET|DELETE|LIST|JSON|CHECK|EXISTS)\s*\(", statement, re.IGNORECASE)),
    Accepted("plans of prepared statements", "Which plan a server has is its own affair", plan_of_prepared),
    Accepted("keys as they are shown", "MySQL shows Visible and Expression, too; cardinalities are estimates", both(r"\s*SHOW\s+(KEYS|INDEX(ES)?)\b", same_keys)),
    Accepted("collations as they are shown", "MySQL shows whether they pad, too; of those that both have",
             both(r"\s*SHOW\s+COLLATION\b", lambda mariadb, commitd: {row[0] for row in commitd.rows} >= {row[0] for row in mariadb.rows if row[0].endswith(b"general_ci")})),
    Accepted("tables as they are shown", "MariaDB shows three columns more; sizes are each server's own", both(r"\s*SHOW\s+TABLE\s+STATUS\b", same_names)),
    Accepted("what others have", "Shown with other columns by MySQL", both(r"\s*SHOW\s+(MASTER|SLAVE|REPLICA|BINARY\s+LOG|OPEN\s+TABLES|(PROCEDURE|FUNCTION)\s+STATUS|TRIGGERS|EVENTS|PRIVILEGES)\b")),
    Accepted("its system tables", "mysql.* has other tables, and accounts are not rows that can be written",
             lambda statement, mariadb, commitd: commitd.error in (1044, 1142, 1146) and re.search(r"\bmysql\s*\.\s*`?\w+", statement, re.IGNORECASE)),
    Accepted("its information_schema", "Tables that MySQL 8 has in performance_schema or not at all", only_mariadb(r"\binformation_schema\b", 1109)),
    Accepted("system tables that a file has damaged", "mysql.proc and mysql.event are MariaDB's", mariadb_refuses(1805, 1545)),
    Accepted("version comments", "/*M! is MariaDB's; /*!50700 to 50999 it leaves out", both(r".*/\*(M!|!50[789]\d\d|!\d{6})", lambda mariadb, commitd: len(mariadb.rows) == len(commitd.rows))),
    Accepted("the scheduler of events", "There are no events", only_mariadb(r"^\s*SET\b.*\bevent_scheduler\b", 1238)),
    Accepted("tables of sequences", "seq_1_to_10 is an engine of MariaDB's", only_mariadb(r"\bseq_\d+_to_\d+", 1146)),
    Accepted("defaults of BLOB and TEXT", "MySQL has none that are literals (1101)", only_mariadb(r"^\s*(CREATE|ALTER)\b.*\bDEFAULT\b", 1101)),
    Accepted("UPDATE of several tables in order", "Neither ORDER BY nor LIMIT in MySQL (1221)", only_mariadb(r"^\s*UPDATE\b.*\b(ORDER\s+BY|LIMIT)\b", 1221)),
    Accepted("CHECK", "MySQL's number; 4025 is MariaDB's own", errors(4025, 3819)),
    Accepted("its statements, with mistakes", "1064 in MySQL, too, whatever else is wrong with them", refused(r"\bRETURNING\b|^\s*SET\s+STATEMENT\b|\bROWS\s+EXAMINED\b")),
    Accepted("its unique keys of any length", "MariaDB hashes what is too long for a key, MySQL refuses it", only_mariadb(r"^\s*(CREATE|ALTER)\b", 1071, 1170)),
    Accepted("texts that are no date", "MySQL's number where one is compared with a date", errors(1292, 1525)),
    Accepted("LIMIT in a subquery of IN", "Neither has it, here it is done", only_commitd(r"\bLIMIT\b", 1235)),
    Accepted("a table in a subquery of its own change", "Neither has it for several tables; here the subquery reads what was there before", only_commitd(r"^\s*(UPDATE|DELETE)\b", 1093)),
    Accepted("columns assigned twice", "The last one counts in MySQL; 4140 is a sql_mode of MariaDB's", only_commitd(r"^\s*UPDATE\b", 4140)),
    Accepted("CHECKSUM TABLE", "Each server's own number", both(r"\s*CHECKSUM\b", as_many_values)),
    Accepted("names of months in other languages", "lc_time_names takes its usual value only", only_mariadb(r"\blc_time_names\b", 1231, 1232)),
    Accepted("files beside the server", "secure_file_priv is NULL: LOAD DATA has LOCAL only", only_mariadb(r"^\s*LOAD\s+DATA\b(?!.*\bLOCAL\b)", 1290)),
    Accepted("its system tables", "Statistics, privileges and logs that are tables in MariaDB alone", only_mariadb(r"\bmysql\.(table_stats|column_stats|index_stats|global_priv|proc|event)\b", 1044, 1142, 1146)),
    Accepted("its information_schema", "Tables that MySQL does not have, or no longer has", only_mariadb(
        r"\binformation_schema\.(session_status|global_status|session_variables|global_variables|optimizer_trace|key_caches|\w+_statistics|spatial_ref_sys|geometry_columns)\b", 1109)),
    Accepted("rows that a definition copied", "Which definitions copy the table, and so count its rows, is each server's own",
             both(r"\s*(ALTER\s+TABLE|(CREATE|DROP)\s+(UNIQUE\s+)?INDEX)\b", lambda mariadb, commitd: not mariadb.columns and not commitd.columns)),
    Accepted("widths of integers", "MySQL shows none", both(r"\s*(SHOW\s+(FULL\s+)?(COLUMNS|FIELDS)|DESC(RIBE)?)\b",
                                                          lambda mariadb, commitd: without_widths(mariadb) == without_widths(commitd))),
    Accepted("texts and numbers in LEAST and GREATEST", "MySQL compares them as texts, MariaDB as numbers", both(r"\s*SELECT\b.*\b(LEAST|GREATEST)\s*\(", as_many_values)),
    Accepted("defaults of its variables", "Each server's own", both(r"\s*SELECT\s+@@(global\.|session\.|local\.)?(max_allowed_packet|version)\s*$", as_many_values)),
]
