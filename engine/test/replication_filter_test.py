"""CHANGE REPLICATION FILTER and --replicate-*: what is left out is not in the log either, but its GTIDs are."""

import contextlib
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until
from pair import PairTest

SYNTAX, READ_ONLY, SQL_THREAD_MUST_STOP = 1064, 1290, 3085
RULES = ("DO_DB", "IGNORE_DB", "DO_TABLE", "IGNORE_TABLE", "WILD_DO_TABLE", "WILD_IGNORE_TABLE")


class ReplicationFilterTest(PairTest):
    def filter(self, rules):
        self.replica.query("CHANGE REPLICATION FILTER " + rules)

    def at_source(self, *statements, db=None):
        with contextlib.closing(self.source.connect(database=db)) as connection, connection.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)
            connection.commit()

    def tables(self, db):
        return [name for (name,) in self.replica.query(f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{db}' "
                                                        "ORDER BY table_name")]

    def has_all_gtids(self):
        self.wait_for_all()
        self.assertEqual(self.replica.query("SELECT @@global.gtid_executed"), self.source.query("SELECT @@global.gtid_executed"))

    def test_the_recipe_of_a_persister_that_never_merged(self):
        """mysqlslap into db1, which is applied, and db2, which is not."""
        self.filter("REPLICATE_WILD_IGNORE_TABLE = ('db2.%')")
        self.follow()
        self.at_source("CREATE DATABASE db1", "CREATE DATABASE db2", "CREATE TABLE db1.t1 (i INT) ENGINE = InnoDB",
                       "CREATE TABLE db2.t1 (i INT) ENGINE = InnoDB")
        for _ in range(20):
            self.at_source("INSERT INTO db1.t1 VALUES (RAND() * 1000)", "INSERT INTO db2.t1 VALUES (RAND() * 1000)")
        self.has_all_gtids()
        self.assertEqual(self.status()["Replicate_Wild_Ignore_Table"], "db2.%")
        self.assertEqual(self.replica.query("SELECT COUNT(*) FROM db1.t1"), ((20,),))
        self.assertEqual((self.tables("db1"), self.tables("db2")), (["t1"], []))
        self.replica.kill()  # log and data agree: a start replays what was applied
        self.replica.start()
        self.has_all_gtids()
        self.assertEqual(self.replica.query("SELECT COUNT(*) FROM db1.t1"), ((20,),))
        self.assertEqual(self.status()["Replicate_Wild_Ignore_Table"], "")  # as in MySQL: not kept

    def test_a_transaction_is_taken_in_part(self):
        self.filter("REPLICATE_IGNORE_TABLE = (d.ignored, d.too)")
        self.follow()
        self.at_source("CREATE DATABASE d", *(f"CREATE TABLE d.{name} (id INT PRIMARY KEY, n INT)" for name in ("taken", "ignored", "too")))
        self.at_source("BEGIN", "INSERT INTO d.ignored VALUES (1, 0)", "INSERT INTO d.taken VALUES (1, 0), (2, 0)", "INSERT INTO d.too VALUES (1, 0)",
                       "COMMIT")
        self.at_source("UPDATE d.taken, d.ignored SET taken.n = 5, ignored.n = 6 WHERE taken.id = ignored.id")
        self.at_source("CREATE TABLE d.ignored_not (id INT)", "ALTER TABLE d.too ADD COLUMN more INT", "DROP TABLE d.too")
        self.has_all_gtids()
        self.assertEqual(self.tables("d"), ["ignored_not", "taken"])
        self.assertEqual(self.replica.query("SELECT id, n FROM d.taken ORDER BY id"), ((1, 5), (2, 0)))
        # A replica of the replica, and mysqlbinlog, take its log for what it is.
        follower = self.started(Commitd(server_id=3))
        follower.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={self.replica.port}, SOURCE_USER='root', "
                       "SOURCE_AUTO_POSITION=1")
        follower.query("START REPLICA")
        executed = self.executed()
        wait_until(lambda: follower.query(f"SELECT GTID_SUBSET('{executed}', @@global.gtid_executed)") == ((1,),), "all GTIDs come through")
        self.assertEqual(follower.query("SELECT id, n FROM d.taken ORDER BY id"), ((1, 5), (2, 0)))

    def test_rules_about_databases_ask_what_is_in_use_for_statements_and_whose_rows_they_are(self):
        self.filter("REPLICATE_DO_DB = (d)")
        self.follow()
        self.at_source("CREATE DATABASE d", "CREATE DATABASE e", "CREATE TABLE d.out (id INT)", db="mysql")
        self.at_source("CREATE TABLE t (id INT)", db="d")
        self.at_source("INSERT INTO d.t VALUES (1)", db="mysql")
        self.has_all_gtids()
        self.assertEqual(self.replica.query("SELECT * FROM d.t"), ((1,),))
        self.assertEqual(self.replica.query("SHOW DATABASES LIKE 'e'"), ())
        self.assertEqual(self.tables("d"), ["t"])

    def test_options_stay_and_are_shown(self):
        self.replica.terminate()
        self.replica.flags += ["--replicate-do-table=d.t", "--replicate-do-table=d.u", "--replicate_wild_do_table=d.w%"]
        self.replica.start()
        with self.replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_log_bin = 0")
            cursor.execute("CREATE DATABASE d")  # no rule lets it through
        self.follow()
        status = self.status()
        self.assertEqual((status["Replicate_Do_Table"], status["Replicate_Wild_Do_Table"]), ("d.t,d.u", "d.w%"))
        self.at_source("CREATE DATABASE d", *(f"CREATE TABLE d.{name} (id INT)" for name in ("t", "u", "v", "w1")))
        self.has_all_gtids()
        self.assertEqual(self.tables("d"), ["t", "u", "w1"])

    def test_who_says_what(self):
        self.follow()
        self.assertEqual(code_of(lambda: self.filter("REPLICATE_DO_DB = (a)")), SQL_THREAD_MUST_STOP)
        self.replica.query("STOP REPLICA")
        self.filter("REPLICATE_DO_DB = (a, `b c`), REPLICATE_IGNORE_DB = (c), REPLICATE_DO_TABLE = (a.t), REPLICATE_IGNORE_TABLE = (a.u), "
                    "REPLICATE_WILD_DO_TABLE = ('a.%', 'b\\\\_.x_') FOR CHANNEL ''")
        self.filter("REPLICATE_WILD_IGNORE_TABLE = ('x.%'), REPLICATE_DO_TABLE = ()")
        shown = {name: self.status()["Replicate_" + "_".join(part.capitalize() if part != "DB" else part for part in name.split("_"))] for name in RULES}
        self.assertEqual(shown, {"DO_DB": "a,b c", "IGNORE_DB": "c", "DO_TABLE": "", "IGNORE_TABLE": "a.u", "WILD_DO_TABLE": "a.%,b\\_.x_",
                                 "WILD_IGNORE_TABLE": "x.%"})
        for malformed in ("REPLICATE_REWRITE_DB = (a, b)", "REPLICATE_REWRITE_DB = ((a))", "REPLICATE_DO_TABLE = (t)", "REPLICATE_WILD_DO_TABLE = ('t')", "REPLICATE_WILD_DO_TABLE = (a.t)", "REPLICATE_DB = (a)"):
            self.assertEqual(code_of(lambda: self.filter(malformed)), SYNTAX, malformed)

    def test_what_comes_from_one_database_is_for_another(self):
        self.filter("REPLICATE_REWRITE_DB = ((there, here), (e, f)), REPLICATE_IGNORE_TABLE = (here.ignored)")
        self.follow()
        self.at_source("CREATE DATABASE there", "CREATE DATABASE here")  # named in the text: as it is
        self.at_source("CREATE TABLE t (id INT PRIMARY KEY, n INT)", "CREATE TABLE ignored (id INT)", "INSERT INTO t VALUES (1, 1), (2, 2)",
                       "UPDATE t SET n = 5 WHERE id = 2", "DELETE FROM t WHERE id = 1", "INSERT INTO ignored VALUES (1)", db="there")
        self.at_source("CREATE TABLE there.named (id INT PRIMARY KEY)", db="mysql")
        self.has_all_gtids()
        self.assertEqual((self.tables("here"), self.tables("there")), (["t"], ["named"]))
        self.assertEqual(self.replica.query("SELECT * FROM here.t"), ((2, 5),))
        self.assertEqual(self.status()["Replicate_Rewrite_DB"], "(there,here),(e,f)")
        counted = dict(self.replica.query("SELECT filter_name, counter FROM performance_schema.replication_applier_filters"))
        self.assertGreater(counted["REPLICATE_REWRITE_DB"], 4)
        self.assertEqual(counted["REPLICATE_IGNORE_TABLE"], 2)  # the statement and the row
        self.replica.kill()
        self.replica.start()
        self.has_all_gtids()
        self.assertEqual(self.replica.query("SELECT * FROM here.t"), ((2, 5),))

    def test_each_filter_is_a_row_that_says_who_set_it_and_when(self):
        self.replica.terminate()
        self.replica.flags += ["--replicate-do-db=a", "--replicate-do-db=b", "--replicate-rewrite-db=x->y"]
        self.replica.start()
        columns = "filter_name, filter_rule, configured_by"
        everywhere = lambda: self.replica.query(f"SELECT {columns} FROM performance_schema.replication_applier_global_filters")
        options = (("REPLICATE_DO_DB", "a,b", "STARTUP_OPTIONS"), ("REPLICATE_REWRITE_DB", "(x,y)", "STARTUP_OPTIONS"))
        self.assertEqual(everywhere(), options)
        channel = lambda: self.replica.query(f"SELECT channel_name, {columns}, counter FROM performance_schema.replication_applier_filters")
        self.assertEqual(channel(), ())  # no source, no channel
        self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_HOST='h'")
        self.assertEqual(channel(), tuple(("", *row, 0) for row in options))
        before = self.replica.query("SELECT NOW(6)")[0][0]
        self.filter("REPLICATE_DO_DB = (), REPLICATE_WILD_DO_TABLE = ('a.%')")
        self.assertEqual(everywhere(), (("REPLICATE_WILD_DO_TABLE", "a.%", "CHANGE_REPLICATION_FILTER"), options[1]))
        (since, of_option), = self.replica.query(
            "SELECT MAX(active_since), MIN(active_since) FROM performance_schema.replication_applier_global_filters")
        self.assertGreaterEqual(since, str(before))
        self.assertLess(of_option, str(before))
        self.replica.terminate()
        self.replica.flags.append("--replicate-rewrite-db=x")
        with self.assertRaises(AssertionError):
            self.replica.start()
        self.assertIn("--replicate-rewrite-db: 'x' is not FROM->TO", self.replica.log_text())

    def test_a_member_of_a_cluster_has_none(self):
        self.filter("REPLICATE_IGNORE_DB = (d)")
        self.assertEqual(code_of(lambda: self.replica.query("ALTER INSTANCE FENCE EPOCH 1")), READ_ONLY)
        self.filter("REPLICATE_IGNORE_DB = ()")
        self.replica.query("ALTER INSTANCE FENCE EPOCH 1")
        self.assertEqual(code_of(lambda: self.filter("REPLICATE_IGNORE_DB = (d)")), READ_ONLY)
        self.replica.terminate()
        self.replica.flags.append("--replicate-ignore-db=d")
        with self.assertRaises(AssertionError):
            self.replica.start()
        self.assertIn("replication filters", self.replica.log_text())


if __name__ == "__main__":
    unittest.main()
