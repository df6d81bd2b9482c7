#!/usr/bin/python3
"""GTIDs that clients give (SET gtid_next), and RESET BINARY LOGS AND GTIDS."""

import contextlib
import os
import subprocess
import tempfile
import unittest

import pymysql

from commitd_process import Commitd, wait_until

OTHER = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"


class Connected(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.server = stack.enter_context(Commitd())
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        self.connection = stack.enter_context(contextlib.closing(self.server.connect()))

    def run_sql(self, *statements):
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()

    def expect_error(self, number, statement):
        with self.assertRaises(pymysql.MySQLError) as caught:
            self.run_sql(statement)
        self.assertEqual(caught.exception.args[0], number, caught.exception.args)

    def ids(self):
        return [row[0] for row in self.server.query("SELECT id FROM d.t ORDER BY id")]

    def executed(self):
        return self.server.query("SELECT @@GLOBAL.gtid_executed")[0][0]


class NextGtid(Connected):
    def test_a_transaction_is_committed_under_the_gtid_and_not_executed_twice(self):
        for _ in range(2):
            self.run_sql(f"SET gtid_next = '{OTHER}:7'", "BEGIN", "INSERT INTO d.t VALUES (1)", "COMMIT", "SET gtid_next = 'AUTOMATIC'")
        self.assertEqual(self.ids(), [1])
        self.assertIn(f"{OTHER}:7", self.executed())
        self.run_sql("INSERT INTO d.t VALUES (2)")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.ids(), [1, 2])
        self.assertIn(f"{OTHER}:7", self.executed())

    def test_it_must_be_set_anew_behind_commit_and_rollback(self):
        self.run_sql(f"SET gtid_next = '{OTHER}:1'", "INSERT INTO d.t VALUES (1)")
        self.expect_error(1837, "INSERT INTO d.t VALUES (2)")
        self.run_sql(f"SET gtid_next = '{OTHER}:2'", "BEGIN", "INSERT INTO d.t VALUES (2)", "ROLLBACK")
        self.expect_error(1837, "CREATE TABLE d.u (id INT)")
        self.assertEqual(self.run_sql("SELECT 1"), ((1,),))
        self.run_sql("SET gtid_next = AUTOMATIC", "INSERT INTO d.t VALUES (3)")
        self.assertEqual(self.ids(), [1, 3])
        self.assertNotIn(f"{OTHER}:1-2", self.executed())

    def test_transactions_that_change_nothing_and_ddl_have_it_too(self):
        self.run_sql(f"SET gtid_next = '{OTHER}:1'", "BEGIN", "COMMIT")
        self.run_sql(f"SET gtid_next = '{OTHER}:2'", "COMMIT")
        self.run_sql(f"SET gtid_next = '{OTHER}:3'", "DELETE FROM d.t WHERE id = 99")
        self.run_sql(f"SET gtid_next = '{OTHER}:4'", "CREATE TABLE d.u (id INT)")
        self.run_sql(f"SET gtid_next = '{OTHER}:4'", "DROP TABLE d.u")
        self.assertIn(f"{OTHER}:1-4", self.executed())
        self.assertEqual(self.server.query("SHOW TABLES FROM d"), (("t",), ("u",)))
        self.server.kill()
        self.server.start()
        self.assertIn(f"{OTHER}:1-4", self.executed())

    def test_a_statement_that_failed_leaves_none_behind(self):
        self.run_sql(f"SET gtid_next = '{OTHER}:1'")
        self.expect_error(1146, "INSERT INTO d.missing VALUES (1)")
        self.run_sql("SET gtid_next = AUTOMATIC", "INSERT INTO d.t VALUES (1)")
        self.assertNotIn(OTHER, self.executed())

    def test_reading_uses_none_up(self):
        self.run_sql(f"SET gtid_next = '{OTHER}:1'", "SELECT * FROM d.t")
        self.assertNotIn(OTHER, self.executed())
        self.run_sql("INSERT INTO d.t VALUES (1)")
        self.assertIn(f"{OTHER}:1", self.executed())

    def test_what_cannot_be_set(self):
        self.expect_error(1774, "SET gtid_next = 'nonsense'")
        self.expect_error(1782, "SET gtid_next = 'ANONYMOUS'")
        self.run_sql("BEGIN", "INSERT INTO d.t VALUES (1)")
        self.expect_error(1766, f"SET gtid_next = '{OTHER}:1'")
        self.run_sql("ROLLBACK", f"SET gtid_next = '{OTHER}:1'", "BEGIN", "INSERT INTO d.t VALUES (1)")
        self.expect_error(1778, "CREATE TABLE d.u (id INT)")

    def test_numbers_of_the_servers_own_go_on_behind_one_that_was_given(self):
        uuid = self.server.query("SELECT @@server_uuid")[0][0]
        self.run_sql(f"SET gtid_next = '{uuid}:100'", "INSERT INTO d.t VALUES (1)", "SET gtid_next = AUTOMATIC")
        self.run_sql("INSERT INTO d.t VALUES (2)")
        self.assertEqual(self.executed(), f"{uuid}:1-2:100-101")
        self.run_sql(f"SET gtid_next = '{uuid}:50'")
        self.expect_error(1180, "INSERT INTO d.t VALUES (3)")
        self.assertEqual(self.ids(), [1, 2])

    def test_two_sessions_with_one_gtid_commit_once(self):
        with contextlib.closing(self.server.connect()) as other, other.cursor() as cursor:
            for statement in (f"SET gtid_next = '{OTHER}:1'", "BEGIN", "INSERT INTO d.t VALUES (1)"):
                cursor.execute(statement)
            self.run_sql(f"SET gtid_next = '{OTHER}:1'", "BEGIN", "INSERT INTO d.t VALUES (2)")
            cursor.execute("COMMIT")
            self.expect_error(1180, "COMMIT")
        self.assertEqual(self.ids(), [1])

    def test_a_dump_with_gtids_is_loaded(self):
        self.run_sql("INSERT INTO d.t VALUES (1), (2)")
        position = self.executed()
        with Commitd(server_id=2) as other:
            dump = f"SET @@SESSION.SQL_LOG_BIN = 0;\nSET @@GLOBAL.GTID_PURGED = /*!80000 '+'*/ '{position}';\n"
            dump += self.server.client("mysqldump", "--databases", "d").stdout
            loaded = other.client("mysql", input=dump)
            self.assertEqual(loaded.stderr, "")
            self.assertEqual(other.query("SELECT id FROM d.t ORDER BY id"), ((1,), (2,)))
            uuid, numbers = position.split(":")
            self.assertIn(f"{uuid}:{numbers}", other.query("SELECT @@GLOBAL.gtid_executed")[0][0])
            with contextlib.closing(other.connect()) as connection, connection.cursor() as cursor:
                for statement in (f"SET gtid_next = '{uuid}:1'", "INSERT INTO d.t VALUES (3)", "SET gtid_next = AUTOMATIC"):
                    cursor.execute(statement)
            self.assertEqual(other.query("SELECT COUNT(*) FROM d.t"), ((2,),))


class Reset(Connected):
    def test_log_and_gtids_start_anew_and_the_data_stays(self):
        self.run_sql("INSERT INTO d.t VALUES (1)", "FLUSH BINARY LOGS", f"SET gtid_next = '{OTHER}:1'", "INSERT INTO d.t VALUES (2)",
                     "SET gtid_next = AUTOMATIC", f"SET GLOBAL gtid_purged = '+{OTHER}:8'")
        uuid = self.server.query("SELECT @@server_uuid")[0][0]
        for statement in ("RESET BINARY LOGS AND GTIDS", "RESET MASTER"):
            self.run_sql(statement)
            self.assertEqual([row[0] for row in self.server.query("SHOW BINARY LOGS")], ["binlog.000001"])
            self.assertEqual(self.server.query("SELECT @@GLOBAL.gtid_executed, @@GLOBAL.gtid_purged"), (("", ""),))
        self.server.kill()
        self.server.start()
        self.assertEqual(self.executed(), "")
        self.assertEqual(self.ids(), [1, 2])
        self.server.query("INSERT INTO d.t VALUES (3)")
        self.assertEqual(self.executed(), f"{uuid}:1")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.ids(), [1, 2, 3])
        self.assertEqual(self.executed(), f"{uuid}:1")

    def test_a_reader_keeps_its_log(self):
        copies = tempfile.TemporaryDirectory()
        self.addCleanup(copies.cleanup)
        reader = subprocess.Popen(
            ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "--host=127.0.0.1", f"--port={self.server.port}",
             "--user=root", "--raw", "--stop-never", "--stop-never-slave-server-id=77", f"--result-file={copies.name}/", "binlog.000001"])
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        wait_until(lambda: os.path.exists(os.path.join(copies.name, "binlog.000001")), "the reader reads")
        before = self.executed()
        self.expect_error(3190, "RESET BINARY LOGS AND GTIDS")
        self.assertEqual(self.executed(), before)

    def test_a_replica_and_a_member_of_a_cluster_keep_theirs(self):
        self.run_sql("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=1, SOURCE_AUTO_POSITION=1", "START REPLICA")
        self.expect_error(1290, "RESET MASTER")
        self.run_sql("STOP REPLICA", "RESET MASTER")
        self.run_sql("ALTER INSTANCE FENCE EPOCH 5")
        with self.assertRaises(pymysql.MySQLError) as caught:
            self.server.query("RESET MASTER")
        self.assertEqual(caught.exception.args[0], 1290)


if __name__ == "__main__":
    unittest.main()
