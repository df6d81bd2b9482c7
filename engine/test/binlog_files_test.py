"""The log's files: rotation, purge, expiry, gtid_purged, checkpoints."""

import contextlib
import os
import unittest

import pymysql

from commitd_process import Commitd, wait_until
from log_reader import LogReader


def names(server):
    return [row[0] for row in server.query("SHOW BINARY LOGS")]


def on_disk(server):
    return [os.path.basename(path) for path in server.binlog_files()]


def variable(server, name):
    return server.query(f"SELECT @@GLOBAL.{name}")[0][0]


def status(server):
    file, position, _, _, executed = server.query("SHOW BINARY LOG STATUS")[0]
    return file, position, executed


def warnings_of(server, sql):
    with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        cursor.execute("SHOW WARNINGS")
        return [(row[1], row[2]) for row in cursor.fetchall()]


class BinlogFilesTest(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Commitd())
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(2000))")

    def insert(self, first, last):
        for number in range(first, last + 1):
            self.server.query(f"INSERT INTO d.t VALUES ({number}, REPEAT('x', 1000))")

    def rotate(self, times):
        for _ in range(times):
            self.server.query("FLUSH BINARY LOGS")

    def restart(self):
        self.server.kill()
        self.server.start()

    def count(self):
        return self.server.query("SELECT COUNT(*) FROM d.t")[0][0]

    def test_an_index_without_lines_is_no_log_without_files(self):
        """A start that took it for the first one would begin a log in their place."""
        index = os.path.join(self.server.datadir, "binlog.index")
        self.insert(1, 3)
        self.rotate(1)
        for stop in (self.server.kill, self.server.terminate):
            self.insert(*((4, 4) if stop == self.server.kill else (5, 5)))
            stop()
            with open(index, "r+b") as file:
                lines = file.read()
                file.truncate(0)
            files = {path: os.path.getsize(path) for path in self.server.binlog_files()}
            self.server.start(wait=False)
            wait_until(lambda: self.server.process.poll() is not None, "it does not start: " + self.server.log_text())
            self.assertEqual(self.server.process.returncode, 1)
            self.assertRegex(self.server.log_text(), "no index of them|The data goes with position")
            self.assertEqual({path: os.path.getsize(path) for path in self.server.binlog_files()}, files)
            with open(index, "wb") as file:
                file.write(lines)
            self.server.start()
        self.assertEqual(self.count(), 5)
        self.assertEqual(names(self.server), on_disk(self.server))

    def test_max_binlog_size_is_obeyed_as_soon_as_it_is_set(self):
        self.insert(1, 10)
        self.assertEqual(names(self.server), ["binlog.000001"])
        self.server.query("SET GLOBAL max_binlog_size = 4096")
        self.insert(11, 30)
        self.assertGreater(len(names(self.server)), 4)
        sizes = [row[1] for row in self.server.query("SHOW BINARY LOGS")]
        self.assertLess(max(sizes[1:]), 4096 + 2000)
        self.assertEqual(self.count(), 30)

    def test_purge_to_removes_what_the_data_no_longer_needs(self):
        self.insert(1, 3)
        self.rotate(3)
        self.insert(4, 6)
        executed = status(self.server)[2]
        self.assertEqual(variable(self.server, "gtid_purged"), "")
        self.server.query("PURGE BINARY LOGS TO 'binlog.000004'")
        self.assertEqual(names(self.server), ["binlog.000004"])
        self.assertEqual(on_disk(self.server), ["binlog.000004"])
        uuid = variable(self.server, "server_uuid")
        self.assertEqual(variable(self.server, "gtid_purged"), f"{uuid}:1-5")
        self.restart()
        self.assertEqual(variable(self.server, "gtid_purged"), f"{uuid}:1-5")
        self.assertEqual((status(self.server)[2], self.count()), (executed, 6))

    def test_purge_right_behind_a_rotation_leaves_the_active_file_only(self):
        self.insert(1, 1)
        self.rotate(1)
        self.server.query("PURGE BINARY LOGS TO 'binlog.000002'")
        self.assertEqual(on_disk(self.server), ["binlog.000002"])
        self.restart()
        self.assertEqual(self.count(), 1)

    def test_an_unlogged_transaction_in_a_purged_file_is_not_lost(self):
        """sql_log_bin=0 has no GTID by which a start could notice that the data lacks it."""
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_log_bin = 0")
            cursor.execute("INSERT INTO d.t VALUES (1, 'unlogged')")
        self.rotate(1)
        self.server.query("PURGE BINARY LOGS TO 'binlog.000002'")
        self.restart()
        self.assertEqual(self.count(), 1)

    def test_purge_of_an_unknown_file_is_error_1373(self):
        with self.assertRaises(pymysql.err.MySQLError) as failure:
            self.server.query("PURGE BINARY LOGS TO 'binlog.000099'")
        self.assertEqual(failure.exception.args[0], 1373)

    def test_a_file_that_a_reader_needs_stays_with_warning_1867(self):
        self.server.query("CREATE TABLE d.large (id INT PRIMARY KEY, v LONGTEXT)")
        for number in range(20):  # more than the connection's buffers hold
            self.server.query(f"INSERT INTO d.large VALUES ({number}, REPEAT('x', 1000000))")
        self.rotate(2)
        reader = self.enterContext(LogReader(self.server))
        self.assertEqual(reader.attach(), "binlog.000001")
        (code, message), = warnings_of(self.server, "PURGE BINARY LOGS TO 'binlog.000003'")
        self.assertEqual(code, 1867)
        self.assertIn("binlog.000001 was not purged because it was being read by 1 thread(s)", message)
        self.assertEqual(len(names(self.server)), 3)

    def test_a_file_that_somebody_removed_by_hand_is_warning_1612(self):
        self.rotate(2)
        os.remove(self.server.binlog_files()[0])
        self.assertEqual([code for code, _ in warnings_of(self.server, "PURGE BINARY LOGS TO 'binlog.000003'")], [1612])
        self.assertEqual(names(self.server), ["binlog.000003"])

    def test_purge_before_goes_by_the_time_a_file_was_finished(self):
        self.rotate(2)
        self.server.query("PURGE BINARY LOGS BEFORE NOW() - INTERVAL 1 DAY")
        self.assertEqual(len(names(self.server)), 3)
        (code, message), = warnings_of(self.server, "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY")
        self.assertEqual((code, message), (1868, "file binlog.000003 was not purged because it is the active log file."))
        self.assertEqual(names(self.server), ["binlog.000003"])
        with self.assertRaises(pymysql.err.MySQLError) as failure:
            self.server.query("PURGE BINARY LOGS BEFORE 'yesterday'")
        self.assertIn(failure.exception.args[0], (1210, 1292))

    def test_expired_files_go_by_themselves_unless_that_is_switched_off(self):
        self.server.query("SET GLOBAL binlog_expire_logs_auto_purge = OFF")
        self.server.query("SET GLOBAL binlog_expire_logs_seconds = 1")
        self.insert(1, 2)
        self.rotate(2)
        self.server.query("DO SLEEP(2.5)")
        self.assertEqual(len(names(self.server)), 3)
        self.server.query("SET GLOBAL binlog_expire_logs_auto_purge = ON")
        wait_until(lambda: names(self.server) == ["binlog.000003"], "the expired files are gone")
        self.restart()
        self.assertEqual(self.count(), 2)

    def test_the_oldest_files_go_when_the_log_is_larger_than_it_may_be(self):
        for first in (1, 3, 5):
            self.insert(first, first + 1)
            self.rotate(1)
        sizes = [row[1] for row in self.server.query("SHOW BINARY LOGS")]
        self.assertEqual(len(sizes), 4)
        self.server.query("SET GLOBAL binlog_expire_logs_auto_purge = OFF")
        self.server.query(f"SET GLOBAL commitd_max_retained_binlog_bytes = {sizes[-1] + sizes[-2]}")
        self.server.query("DO SLEEP(1.5)")
        self.assertEqual(len(names(self.server)), 4)
        self.server.query("SET GLOBAL binlog_expire_logs_auto_purge = ON")
        wait_until(lambda: names(self.server) == ["binlog.000003", "binlog.000004"], "the oldest files are gone")
        self.server.query("SET GLOBAL commitd_max_retained_binlog_bytes = 1")
        wait_until(lambda: names(self.server) == ["binlog.000004"], "the file that is written to is kept")
        self.restart()
        self.assertEqual(self.count(), 6)

    def test_a_reader_keeps_its_files_however_large_the_log_may_be(self):
        # More than the sockets between them hold: the source is left with the first file open.
        for first in range(0, 20000, 1000):
            self.server.query("INSERT INTO d.t VALUES " + ", ".join(f"({n}, '{'r' * 1900}')" for n in range(first, first + 1000)))
        self.rotate(2)
        reader = self.enterContext(LogReader(self.server))
        self.assertEqual(reader.attach(), "binlog.000001")
        self.server.query("SET GLOBAL commitd_max_retained_binlog_bytes = 1")
        self.server.query("DO SLEEP(2.5)")
        self.assertEqual(len(names(self.server)), 3)
        reader.__exit__()
        wait_until(lambda: names(self.server) == ["binlog.000003"], "nobody needs the old files any more")

    def test_gtid_purged_can_be_set_on_an_empty_server_and_grown(self):
        with Commitd(server_id=2) as other:
            foreign = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
            other.query(f"SET GLOBAL gtid_purged = '{foreign}:1-5'")
            other.query(f"SET GLOBAL gtid_purged = '+{foreign}:8'")
            for wrong in (f"{foreign}:1-4", f"+{foreign}:5"):
                with self.assertRaises(pymysql.err.MySQLError) as failure:
                    other.query(f"SET GLOBAL gtid_purged = '{wrong}'")
                self.assertEqual(failure.exception.args[0], 3546)
            other.query("CREATE DATABASE own")
            expected = f"{foreign}:1-5:8"
            for _ in range(2):
                self.assertEqual(variable(other, "gtid_purged"), expected)
                self.assertIn(expected, variable(other, "gtid_executed"))
                other.kill()
                other.start()
            reader = self.enterContext(LogReader(other))
            with self.assertRaises(pymysql.err.MySQLError) as failure:
                reader.attach()  # it lacks what is purged
            self.assertEqual(failure.exception.args[0], 1236)

    def test_show_binlog_events(self):
        self.server.query("INSERT INTO d.t VALUES (1, 'one')")
        self.rotate(1)
        events = self.server.query("SHOW BINLOG EVENTS IN 'binlog.000001'")
        kinds = [event[2] for event in events]
        self.assertEqual(kinds[:2], ["Format_desc", "Previous_gtids"])
        self.assertEqual(kinds[-1], "Rotate")
        for kind in ("Gtid", "Query", "Table_map", "Write_rows", "Xid"):
            self.assertIn(kind, kinds)
        for before, after in zip(events, events[1:]):
            self.assertEqual(before[4], after[1])
        middle = events[4]
        self.assertEqual(self.server.query(f"SHOW BINLOG EVENTS IN 'binlog.000001' FROM {middle[1]} LIMIT 1, 2"), events[5:7])
        for wrong in ("IN 'binlog.000009'", f"IN 'binlog.000001' FROM {middle[1] + 1}"):
            with self.assertRaises(pymysql.err.MySQLError) as failure:
                self.server.query(f"SHOW BINLOG EVENTS {wrong}")
            self.assertEqual(failure.exception.args[0], 1220)

    def test_a_transaction_that_is_too_large_is_error_1197_and_leaves_the_rest(self):
        self.server.query("SET GLOBAL max_binlog_cache_size = 50000")
        with contextlib.closing(self.server.connect(autocommit=False)) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO d.t VALUES (1, 'small')")
            with self.assertRaises(pymysql.err.MySQLError) as failure:
                for number in range(2, 100):
                    cursor.execute(f"INSERT INTO d.t VALUES ({number}, REPEAT('x', 2000))")
            self.assertEqual(failure.exception.args[0], 1197)
            connection.commit()
        self.assertEqual([row[0] for row in self.server.query("SELECT id FROM d.t")], list(range(1, number)))
        self.assertGreater(number, 5)

    def test_a_transaction_larger_than_max_binlog_size_stays_in_one_file(self):
        self.server.query("SET GLOBAL max_binlog_size = 4096")
        self.rotate(1)
        file = names(self.server)[-1]
        values = ", ".join(f"({number}, REPEAT('x', 1000))" for number in range(1, 101))
        self.server.query(f"INSERT INTO d.t VALUES {values}")
        self.assertGreater(dict(row[:2] for row in self.server.query("SHOW BINARY LOGS"))[file], 100_000)
        wait_until(lambda: names(self.server)[-1] > file, "a new file behind it")
        self.restart()
        self.assertEqual(self.count(), 100)

    def test_minimal_row_images_are_replayed_and_followed(self):
        self.server.query("CREATE TABLE d.m (id INT PRIMARY KEY, a INT, b VARCHAR(2000), KEY (a))")
        self.server.query("CREATE TABLE d.heap (a INT, b VARCHAR(2000))")
        for table in ("m", "heap"):
            columns = "id, a, b" if table == "m" else "a, b"
            rows = ", ".join(f"({n}, {n}, REPEAT('b', 1500))" if table == "m" else f"({n}, REPEAT('b', 1500))" for n in range(10))
            self.server.query(f"INSERT INTO d.{table} ({columns}) VALUES {rows}")
        sizes = []
        for image in ("FULL", "MINIMAL"):
            before = status(self.server)[1]
            with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
                cursor.execute(f"SET binlog_row_image = {image}")
                cursor.execute("UPDATE d.m SET a = a + 1")
            sizes.append(status(self.server)[1] - before)
        self.assertLess(sizes[1] * 10, sizes[0])
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET binlog_row_image = MINIMAL")
            cursor.execute("UPDATE d.m SET b = NULL WHERE id = 3")
            cursor.execute("UPDATE d.m SET id = 33, a = NULL WHERE id = 4")
            cursor.execute("DELETE FROM d.m WHERE id IN (5, 6)")
            cursor.execute("UPDATE d.heap SET a = a * 2 WHERE a > 5")
            cursor.execute("DELETE FROM d.heap WHERE a = 1")
        checksums = [f"SELECT COUNT(*), SUM(CRC32(CONCAT_WS('#', {columns}))) FROM d.{table}"
                     for table, columns in (("m", "id, IFNULL(a, 'null'), IFNULL(b, 'null')"), ("heap", "a, b"))]
        checksums.append("SELECT id FROM d.m WHERE a BETWEEN 1 AND 100 ORDER BY a")
        expected = [self.server.query(checksum) for checksum in checksums]
        self.restart()
        self.assertGreater(self.server.metric("commitd_recovery_replayed_transactions"), 5)
        self.assertEqual([self.server.query(checksum) for checksum in checksums], expected)
        with Commitd(server_id=2) as replica:
            replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {self.server.port}, "
                          "SOURCE_USER = 'root', SOURCE_PASSWORD = '', SOURCE_AUTO_POSITION = 1")
            replica.query("START REPLICA")
            gtids = status(self.server)[2]
            self.assertEqual(replica.query(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', 60)"), ((0,),))
            self.assertEqual([replica.query(checksum) for checksum in checksums], expected)

    def test_a_start_replays_about_what_commitd_checkpoint_bytes_says(self):
        self.server.query("SET GLOBAL commitd_checkpoint_seconds = 0")
        self.server.query("SET GLOBAL commitd_checkpoint_bytes = 0")
        self.insert(1, 100)
        self.assertEqual(self.server.metric("commitd_checkpoints_total"), 0)
        self.server.query("SET GLOBAL commitd_checkpoint_bytes = 20000")
        wait_until(lambda: self.server.metric("commitd_checkpoint_age_bytes") < 20000, "a checkpoint")
        self.insert(101, 110)
        self.restart()
        self.assertLessEqual(self.server.metric("commitd_recovery_replayed_transactions"), 20)
        self.assertEqual(self.count(), 110)

    def test_a_checkpoint_comes_by_time_too(self):
        self.server.query("SET GLOBAL commitd_checkpoint_seconds = 1")
        self.insert(1, 3)
        wait_until(lambda: self.server.metric("commitd_checkpoint_age_bytes") == 0, "a checkpoint")
        self.restart()
        self.assertEqual(self.server.metric("commitd_recovery_replayed_transactions"), 0)
        self.assertEqual(self.count(), 3)


if __name__ == "__main__":
    unittest.main()
