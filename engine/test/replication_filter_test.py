"""CHANGE REPLICATION FILTER and --replicate-*: what is left out is not in the log either, but its GTIDs are."""

import contextlib
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until
from pair import PairTest

NOT_SUPPORTED, SYNTAX, READ_ONLY, SQL_THREAD_MUST_STOP, WRONG_VALUE = 1235, 1064, 1290, 3085, 1231
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
        with self.assertRaises(pymysql.MySQLError) as raised:
            self.filter("REPLICATE_REWRITE_DB = ((a, b))")
        self.assertEqual(raised.exception.args[0], NOT_SUPPORTED)
        self.assertIn("REPLICATE_REWRITE_DB", raised.exception.args[1])
        for malformed in ("REPLICATE_DO_TABLE = (t)", "REPLICATE_WILD_DO_TABLE = ('t')", "REPLICATE_WILD_DO_TABLE = (a.t)", "REPLICATE_DB = (a)"):
            self.assertEqual(code_of(lambda: self.filter(malformed)), SYNTAX, malformed)

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
