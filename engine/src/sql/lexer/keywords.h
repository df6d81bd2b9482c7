// Words with a meaning in the grammar. Reserved ones cannot be identifiers without quotes (MySQL's list, as
// far as it is used here).
#pragma once

#include <cstdint>
#include <string_view>

namespace commitd::sql {

// clang-format off
#define COMMITD_RESERVED_WORDS(X) \
  X(Add, "add") X(All, "all") X(Alter, "alter") X(And, "and") X(As, "as") X(Asc, "asc") X(Between, "between") \
  X(BigInt, "bigint") X(Binary, "binary") X(Blob, "blob") X(Both, "both") X(By, "by") X(Case, "case") X(Change, "change") \
  X(Char, "char") X(Character, "character") X(Check, "check") X(Collate, "collate") X(Column, "column") \
  X(Constraint, "constraint") X(Convert, "convert") X(Create, "create") X(Cross, "cross") X(CurrentDate, "current_date") \
  X(CurrentTime, "current_time") X(CurrentTimestamp, "current_timestamp") X(CurrentUser, "current_user") \
  X(Database, "database") X(Databases, "databases") X(Decimal, "decimal") X(Default, "default") X(Delayed, "delayed") \
  X(Delete, "delete") X(Desc, "desc") X(Describe, "describe") X(Distinct, "distinct") X(DistinctRow, "distinctrow") \
  X(Div, "div") X(Double, "double") X(Drop, "drop") X(Dual, "dual") X(Else, "else") X(Enclosed, "enclosed") X(Escaped, "escaped") X(Except, "except") X(Exists, "exists") \
  X(Explain, "explain") X(False, "false") X(Float, "float") X(For, "for") X(Force, "force") X(Foreign, "foreign") \
  X(From, "from") X(Fulltext, "fulltext") X(Grant, "grant") X(Group, "group") X(Having, "having") \
  X(HighPriority, "high_priority") X(If, "if") X(Ignore, "ignore") X(In, "in") X(Index, "index") X(Infile, "infile") X(Inner, "inner") \
  X(Insert, "insert") X(Int, "int") X(Integer, "integer") X(Interval, "interval") X(Into, "into") X(Is, "is") X(Join, "join") \
  X(Key, "key") X(Keys, "keys") X(Kill, "kill") X(Leading, "leading") X(Left, "left") X(Like, "like") X(Limit, "limit") X(Lines, "lines") \
  X(Load, "load") X(LocalTime, "localtime") X(LocalTimestamp, "localtimestamp") X(Lock, "lock") X(LongBlob, "longblob") \
  X(LongText, "longtext") X(LowPriority, "low_priority") X(Match, "match") X(MediumBlob, "mediumblob") \
  X(MediumInt, "mediumint") X(MediumText, "mediumtext") X(Mod, "mod") X(Natural, "natural") X(Not, "not") X(Null, "null") \
  X(Numeric, "numeric") X(On, "on") X(Option, "option") X(Optionally, "optionally") X(Or, "or") X(Order, "order") X(Outer, "outer") \
  X(Precision, "precision") X(Primary, "primary") X(Procedure, "procedure") X(Purge, "purge") X(Range, "range") \
  X(Read, "read") X(Real, "real") X(References, "references") X(Regexp, "regexp") X(Release, "release") \
  X(Rename, "rename") X(Repeat, "repeat") X(Replace, "replace") X(Require, "require") X(Revoke, "revoke") X(Right, "right") \
  X(Rlike, "rlike") X(Schema, "schema") X(Schemas, "schemas") X(Select, "select") X(Set, "set") X(Show, "show") \
  X(SmallInt, "smallint") X(Spatial, "spatial") X(SqlBigResult, "sql_big_result") \
  X(SqlCalcFoundRows, "sql_calc_found_rows") X(SqlSmallResult, "sql_small_result") X(Starting, "starting") \
  X(StraightJoin, "straight_join") X(Table, "table") X(Terminated, "terminated") X(Then, "then") X(TinyBlob, "tinyblob") \
  X(TinyInt, "tinyint") X(TinyText, "tinytext") X(To, "to") X(Trailing, "trailing") X(True, "true") X(Union, "union") \
  X(Unique, "unique") X(Unlock, "unlock") X(Unsigned, "unsigned") X(Update, "update") X(Usage, "usage") X(Use, "use") \
  X(Using, "using") X(UtcDate, "utc_date") X(UtcTimestamp, "utc_timestamp") X(Values, "values") \
  X(VarBinary, "varbinary") X(VarChar, "varchar") X(When, "when") X(Where, "where") X(With, "with") X(Write, "write") \
  X(Xor, "xor") X(ZeroFill, "zerofill")

#define COMMITD_FREE_WORDS(X) \
  X(Account, "account") X(After, "after") X(Against, "against") X(Algorithm, "algorithm") X(Any, "any") X(Analyze, "analyze") \
  X(Authors, "authors") X(AutoIncrement, "auto_increment") X(AvgRowLength, "avg_row_length") X(Backup, "backup") X(Before, "before") \
  X(Begin, "begin") X(Binlog, "binlog") X(Bit, "bit") X(Bool, "bool") X(Boolean, "boolean") X(Btree, "btree") \
  X(Cast, "cast") X(Chain, "chain") X(Changed, "changed") X(Charset, "charset") X(Checksum, "checksum") X(Close, "close") \
  X(Collation, "collation") X(Columns, "columns") X(Comment, "comment") X(Commit, "commit") X(Compact, "compact") \
  X(Compressed, "compressed") X(Connection, "connection") X(Consistent, "consistent") X(Date, "date") \
  X(DateTime, "datetime") X(Deallocate, "deallocate") X(DelayKeyWrite, "delay_key_write") X(Disable, "disable") \
  X(Discard, "discard") X(Do, "do") X(Duplicate, "duplicate") X(Dynamic, "dynamic") X(Enable, "enable") \
  X(End, "end") X(Enforced, "enforced") X(Engine, "engine") X(Engines, "engines") X(Enum, "enum") X(Epoch, "epoch") \
  X(Errors, "errors") X(Escape, "escape") X(Events, "events") X(Execute, "execute") X(Expire, "expire") \
  X(Extended, "extended") X(Fence, "fence") X(Fields, "fields") X(First, "first") X(Fixed, "fixed") X(Flush, "flush") \
  X(Follow, "follow") X(Format, "format") X(Full, "full") X(Function, "function") X(General, "general") X(Global, "global") \
  X(Grants, "grants") X(Hash, "hash") X(Hosts, "hosts") X(Identified, "identified") X(Indexes, "indexes") \
  X(Initialize, "initialize") X(Inplace, "inplace") X(Instance, "instance") X(Instant, "instant") X(Invisible, "invisible") \
  X(Isolation, "isolation") X(Json, "json") X(KeyBlockSize, "key_block_size") X(Last, "last") X(Level, "level") \
  X(Local, "local") X(Locked, "locked") X(Logs, "logs") X(Master, "master") X(MaxRows, "max_rows") X(Members, "members") \
  X(MinRows, "min_rows") X(Mode, "mode") X(Modify, "modify") X(Names, "names") X(National, "national") X(NChar, "nchar") X(No, "no") \
  X(NoWait, "nowait") X(Of, "of") X(Offset, "offset") X(Only, "only") X(Open, "open") X(Optimize, "optimize") X(PackKeys, "pack_keys") \
  X(Partition, "partition") X(Password, "password") X(Persist, "persist") X(PersistOnly, "persist_only") X(Plugin, "plugin") \
  X(Install, "install") X(Uninstall, "uninstall") X(Soname, "soname") \
  X(Plugins, "plugins") X(Prepare, "prepare") X(PrivilegeList, "privileges") X(Processlist, "processlist") \
  X(Promote, "promote") X(Query, "query") X(Quick, "quick") X(Quorum, "quorum") X(Redundant, "redundant") X(Relay, "relay") X(Repair, "repair") \
  X(Repeatable, "repeatable") X(Replica, "replica") X(Replicas, "replicas") X(Replication, "replication") X(Reset, "reset") \
  X(Role, "role") X(Rollback, "rollback") X(Row, "row") X(RowFormat, "row_format") X(Rows, "rows") X(Savepoint, "savepoint") \
  X(Separator, "separator") X(Serializable, "serializable") X(Session, "session") X(Share, "share") X(Signed, "signed") \
  X(Shared, "shared") X(Shutdown, "shutdown") X(Skip, "skip") X(Slave, "slave") X(Slow, "slow") X(Snapshot, "snapshot") X(Some, "some") \
  X(Source, "source") X(SqlBufferResult, "sql_buffer_result") X(SqlCache, "sql_cache") X(SqlNoCache, "sql_no_cache") X(Start, "start") \
  X(StatsPersistent, "stats_persistent") X(Status, "status") X(Stop, "stop") X(Storage, "storage") X(Subject, "subject") \
  X(Tables, "tables") X(Temporary, "temporary") X(Text, "text") X(Time, "time") X(Timestamp, "timestamp") \
  X(Transaction, "transaction") X(Trigger, "trigger") X(Triggers, "triggers") X(Truncate, "truncate") X(Uncommitted, "uncommitted") \
  X(Committed, "committed") X(Unknown, "unknown") X(User, "user") X(Value, "value") X(Variables, "variables") X(Version, "version") \
  X(View, "view") X(Views, "views") X(Visible, "visible") X(WaitCount, "wait_count") X(Warnings, "warnings") X(Work, "work") X(X509, "x509") \
  X(Year, "year") X(SourceHost, "source_host") X(SourcePort, "source_port") X(SourceUuid, "source_uuid") \
  X(SourceUser, "source_user") X(SourcePassword, "source_password") X(Copy, "copy") X(None, "none") X(Ssl, "ssl") X(Never, "never") \
  X(Nonblocking, "nonblocking") X(Nolock, "nolock") X(Log, "log")
// clang-format on

enum class Word : uint16_t {
  NotAWord,
#define COMMITD_ENUMERATE(name, text) name,
  COMMITD_RESERVED_WORDS(COMMITD_ENUMERATE) FirstFree_,
  COMMITD_FREE_WORDS(COMMITD_ENUMERATE)
#undef COMMITD_ENUMERATE
};

Word find_word(std::string_view identifier);  // any case
inline bool is_reserved(Word word) {
  return word != Word::NotAWord && word < Word::FirstFree_;
}

}  // namespace commitd::sql
