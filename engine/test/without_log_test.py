"""--skip-log-bin: what is answered, what a disk gets, and what becomes of a log that was there before and is wanted again later."""

import contextlib
import os
import pathlib
import unittest

import pymysql

from commitd_process import Commitd
from killed_writers import write_until_killed
from log_reader import LogReader

XA = "--commitd-durability=xa"
NO_LOG = [XA, "--skip-log-bin"]
NO_BINARY_LOGGING, FATAL_READING_LOG, OPTION_PREVENTS, CLOSED = 1381, 1236, 1290, 2013


class WithoutLog(unittest.TestCase):
    def expect_error(self, server, number, statement):
        with self.assertRaises(pymysql.MySQLError) as raised:
            server.query(statement)
        self.assertEqual(raised.exception.args[0], number, raised.exception.args)
        return str(raised.exception)

    def restart(self, server, *flags, kill=True):
        if kill:
            server.kill()
        else:
            self.assertEqual(server.terminate(), 0)
        server.flags = list(flags)
        server.start()

    def refused(self, server, *flags, why):
        server.flags = list(flags)
        server.start(wait=False)
        self.assertNotEqual(server.process.wait(timeout=60), 0)
        self.assertIn(why, server.log_text())

    def make_table(self, server):
        server.query("CREATE DATABASE d")
        server.query("CREATE TABLE d.t (id BIGINT PRIMARY KEY, v VARCHAR(100), KEY (v))")

    def rows(self, server):
        return dict(server.query("SELECT id, v FROM d.t"))

    def gtids(self, server):
        return server.query("SELECT @@GLOBAL.gtid_executed, @@GLOBAL.gtid_purged")[0]

    def count(self, server, gtids):
        """How many GTIDs a set has that names one server."""
        intervals = [interval.partition("-") for interval in gtids.split(":")[1:]]
        return sum(int(last or first) - int(first) + 1 for first, _, last in intervals)

    def log_bytes(self, server):
        return {path: pathlib.Path(path).read_bytes() for path in server.binlog_files()}

    def assert_refuses_readers(self, server):
        with LogReader(server) as reader, self.assertRaises(pymysql.MySQLError) as raised:
            reader.attach()
        self.assertEqual(raised.exception.args[0], FATAL_READING_LOG)
        return raised.exception.args[1]

    # --- a server that never had a log ---

    def test_it_answers_as_mysql_does(self):
        with Commitd(*NO_LOG) as server:
            self.make_table(server)
            server.query("INSERT INTO d.t VALUES (1, 'a')")
            self.assertEqual(server.query("SELECT @@log_bin, @@log_replica_updates, @@sql_log_bin"), ((0, 0, 1),))
            self.assertEqual(server.query("SHOW BINARY LOG STATUS"), ())
            self.assertEqual(server.query("SHOW BINLOG EVENTS"), ())
            self.assertIn("You are not using binary logging", self.expect_error(server, NO_BINARY_LOGGING, "SHOW BINARY LOGS"))
            self.expect_error(server, NO_BINARY_LOGGING, "RESET BINARY LOGS AND GTIDS")
            for statement in ("FLUSH BINARY LOGS", "FLUSH LOGS", "PURGE BINARY LOGS TO 'binlog.000001'", "FLUSH TABLES WITH READ LOCK"):
                server.query(statement)
            self.assertEqual(self.assert_refuses_readers(server), "Binary log is not open")
            server.query("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1, SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1")
            for statement in ("START REPLICA", "ALTER INSTANCE FENCE EPOCH 5",
                              "ALTER INSTANCE PROMOTE EPOCH 5 WAIT_COUNT 1 MEMBERS 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'"):
                self.assertIn("--skip-log-bin", self.expect_error(server, OPTION_PREVENTS, statement))
            server.query("INSERT INTO d.t VALUES (2, 'b')")
            self.assertEqual(list(pathlib.Path(server.datadir).glob("binlog*")), [])

    def test_every_spelling(self):
        for flag in ("--skip-log-bin", "--disable-log-bin", "--skip-log_bin", "--log-bin=0", "--log-bin=OFF"):
            with self.subTest(flag), Commitd(XA, flag) as server:
                self.assertEqual(server.query("SELECT @@log_bin"), ((0,),))

    def test_gtids_are_given_and_none_can_be_read_here(self):
        other = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
        with Commitd(*NO_LOG) as server:
            self.make_table(server)
            with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                for statement in ("SET sql_log_bin = 0", "INSERT INTO d.t VALUES (1, 'a')", "SET sql_log_bin = 1", f"SET gtid_next = '{other}:7'",
                                  "INSERT INTO d.t VALUES (2, 'b')"):
                    cursor.execute(statement)
            server.query(f"SET GLOBAL gtid_purged = '+{other}:1-3'")
            self.restart(server, *NO_LOG)
            executed, purged = self.gtids(server)
            self.assertEqual(executed, purged)
            self.assertIn(f"{other}:1-3:7", executed)
            self.assertRegex(executed, r":1-2(,|$)")  # the definitions
            self.assertEqual(self.rows(server), {1: "a", 2: "b"})

    def test_one_sync_makes_a_group_durable(self):
        with Commitd(*NO_LOG) as server:
            self.make_table(server)
            before = server.metric("commitd_engine_fsyncs_total")
            with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                for number in range(20):
                    cursor.execute(f"INSERT INTO d.t VALUES ({number}, '')")
            self.assertEqual(server.metric("commitd_engine_fsyncs_total") - before, 20)

    def test_acknowledged_commits_survive_kills(self):
        with Commitd(*NO_LOG) as server:
            self.make_table(server)
            acknowledged = set()
            for round_number, level in enumerate((1, 2, 1)):
                server.query(f"SET GLOBAL flush_log_at_trx_commit = {level}")
                acknowledged |= self.write_until_killed(server, round_number)
                server.start()
                rows = self.rows(server)
                self.assertEqual(acknowledged - set(rows), set())
            self.assertEqual(list(pathlib.Path(server.datadir).glob("binlog*")), [])
            self.restart(server, XA)
            self.assertEqual(self.rows(server), rows)

    def write_until_killed(self, server, round_number):
        """The ids whose commit was answered. Each transaction has two rows."""
        def statements(number):
            return [f"INSERT INTO d.t VALUES ({id}, 'x')" for id in (2 * number, 2 * number + 1)]

        acknowledged = write_until_killed(server, round_number, statements, enough=50)
        return {id for number in acknowledged for id in (2 * number, 2 * number + 1)}

    def test_definitions_and_large_transactions_survive_a_kill(self):
        with Commitd(*NO_LOG, "--binlog-cache-size=100K") as server:
            self.make_table(server)
            server.query("CREATE TABLE d.gone (id INT)")
            server.query("INSERT INTO d.gone VALUES (1)")
            server.query("ALTER TABLE d.t ADD COLUMN w LONGTEXT")
            server.query("DROP TABLE d.gone")
            with contextlib.closing(server.connect(autocommit=False)) as connection, connection.cursor() as cursor:
                for number in range(30):
                    cursor.execute(f"INSERT INTO d.t VALUES ({number}, 'x', REPEAT('y', 100000))")
                connection.commit()
            self.restart(server, *NO_LOG)
            self.assertEqual(server.query("SELECT COUNT(*), SUM(LENGTH(w)) FROM d.t"), ((30, 3000000),))
            self.assertEqual(server.query("SHOW TABLES FROM d"), (("t",),))

    def test_a_backup_has_what_no_log_has(self):
        with Commitd(*NO_LOG) as server:
            self.make_table(server)
            server.query("INSERT INTO d.t VALUES (1, 'a')")
            backup = os.path.join(server.directory, "backup")
            self.assertEqual(server.query(f"BACKUP TO '{backup}'"), (("", "0", self.gtids(server)[0]),))
            for flags in (NO_LOG, [XA]):
                with Commitd(*flags, datadir=backup) as copy:
                    self.assertEqual(self.rows(copy), {1: "a"})
                    self.assertEqual(self.gtids(copy)[1], self.gtids(server)[0])

    # --- from one kind of start to the other ---

    def test_what_was_logged_is_recovered_and_never_replayed_over_what_came_later(self):
        with Commitd(XA) as server:
            self.make_table(server)
            for number in range(20):
                server.query(f"INSERT INTO d.t VALUES ({number}, 'logged')")
            server.query("UPDATE d.t SET v = 'logged twice'")
            self.restart(server, *NO_LOG)
            self.assertEqual(self.rows(server), {number: "logged twice" for number in range(20)})
            logged = self.log_bytes(server)
            server.query("UPDATE d.t SET v = 'not logged' WHERE id < 10")
            server.query("DELETE FROM d.t WHERE id = 0")
            with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                cursor.execute("SET sql_log_bin = 0")
                cursor.execute("INSERT INTO d.t VALUES (100, 'without a GTID')")
            expected = self.rows(server)
            self.restart(server, *NO_LOG)
            self.assertEqual(self.rows(server), expected)
            server.query("INSERT INTO d.t VALUES (200, 'not logged')")
            expected[200] = "not logged"
            self.assertEqual(self.log_bytes(server), logged)
            executed = self.gtids(server)[0]

            self.restart(server, XA)
            self.assertEqual(self.rows(server), expected)
            self.assertEqual(server.query("SHOW BINARY LOG STATUS")[0][0], "binlog.000002")
            self.assertEqual(self.gtids(server)[0], executed)
            self.assertEqual(self.count(server, self.gtids(server)[1]), 3)
            self.assertRegex(server.log_text(), r"the binary log goes on in 'binlog.000002' .* gtid_purged='[0-9a-f-]+:24-26'")
            server.query("INSERT INTO d.t VALUES (300, 'logged again')")
            expected[300] = "logged again"
            self.assertEqual(self.count(server, self.gtids(server)[0]), self.count(server, executed) + 1)
            for kill in (True, False):
                self.restart(server, XA, kill=kill)
                self.assertEqual(self.rows(server), expected)
                self.assertEqual(len(server.binlog_files()), 2)

    def test_a_replica_that_lacks_what_was_not_logged_is_refused(self):
        with Commitd(XA) as server:
            self.make_table(server)
            before = self.gtids(server)[0]
            self.restart(server, *NO_LOG)
            server.query("INSERT INTO d.t VALUES (1, 'not logged')")
            after = self.gtids(server)[0]
            self.restart(server, XA)
            server.query("INSERT INTO d.t VALUES (2, 'logged')")
            for have in ("", before):
                with self.subTest(have), LogReader(server) as reader, self.assertRaises(pymysql.MySQLError) as raised:
                    reader.attach(have)
                    self.fail("it is served")
                self.assertEqual(raised.exception.args[0], FATAL_READING_LOG)
            with LogReader(server) as reader:
                self.assertEqual(reader.attach(after), "binlog.000002")

    def test_a_server_that_begins_to_log(self):
        with Commitd(*NO_LOG) as server:
            self.make_table(server)
            server.query("INSERT INTO d.t VALUES (1, 'not logged')")
            executed = self.gtids(server)[0]
            self.restart(server, XA)
            self.assertEqual(self.gtids(server), (executed, executed))
            self.assertEqual(server.query("SHOW BINARY LOG STATUS")[0][0], "binlog.000001")
            server.query("INSERT INTO d.t VALUES (2, 'logged')")
            with LogReader(server) as reader:
                self.assertEqual(reader.attach(executed), "binlog.000001")
            for flags in ([XA], NO_LOG, [XA]):
                self.restart(server, *flags)
                self.assertEqual(self.rows(server), {1: "not logged", 2: "logged"})

    def test_kills_under_load_on_the_way_from_one_to_the_other(self):
        with Commitd(XA) as server:
            self.make_table(server)
            acknowledged = set()
            for round_number, flags in enumerate((NO_LOG, [XA], NO_LOG, NO_LOG, [XA], [XA])):
                acknowledged |= self.write_until_killed(server, round_number)
                server.flags = flags
                server.start()
                rows = set(self.rows(server))
                self.assertEqual(acknowledged - rows, set())
                self.assertEqual({number ^ 1 for number in rows}, rows, "half a transaction")

    def test_single_log_takes_it_over_after_a_clean_end(self):
        with Commitd(*NO_LOG) as server:
            self.make_table(server)
            server.query("INSERT INTO d.t VALUES (1, 'a')")
            for flags in ([], NO_LOG, []):
                self.restart(server, *flags, kill=False)
                self.assertEqual(self.rows(server), {1: "a"})

    def test_a_log_that_cannot_be_recovered_is_no_reason_to_do_without(self):
        with Commitd(XA) as server:
            self.make_table(server)
            for number in range(50):
                server.query(f"INSERT INTO d.t VALUES ({number}, 'x')")
            server.kill()
            path = pathlib.Path(server.binlog_files()[0])
            content = bytearray(path.read_bytes())
            content[2000] ^= 1
            path.write_bytes(content)
            self.refused(server, *NO_LOG, why="The binary log ends at offset")
            self.refused(server, XA, why="The binary log ends at offset")
            self.assertEqual(path.read_bytes()[:2000], content[:2000])

    def test_members_and_replicas_need_it(self):
        server = Commitd(*NO_LOG, "--require-role")
        self.addCleanup(server.__exit__)
        self.refused(server, *NO_LOG, "--require-role", why="--skip-log-bin: this server belongs to a cluster or replicates")
        with Commitd(XA) as replica:
            replica.query("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1, SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1")
            replica.query("START REPLICA")
            replica.kill()
            self.refused(replica, *NO_LOG, why="--skip-log-bin: this server belongs to a cluster or replicates")


if __name__ == "__main__":
    unittest.main()
