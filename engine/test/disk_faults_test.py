"""What a failing disk does to commits: a full one, a read-only one, one whose calls fail."""

import contextlib
import errno
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until
from log_reader import LogReader
from preload import FAULTS, preload

DISK_FULL, ERROR_ON_WRITE, UNKNOWN_OUTCOME = 1021, 1026, 2013
NO_BINARY_LOGGING, FATAL_READING_LOG = 1381, 1236
EXIT_FAILED_FOR_GOOD = 3
XA = "--commitd-durability=xa"
LARGE = range(60)  # rows of 100 KB


class DiskFaultsTest(unittest.TestCase):
    def make_tables(self, server):
        server.query("CREATE DATABASE d")
        server.query("CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)")

    def insert(self, server, number, size=10):
        server.query(f"INSERT INTO d.t VALUES ({number}, REPEAT('x', {size}))")

    def ids(self, server):
        return [row[0] for row in server.query("SELECT id FROM d.t ORDER BY id")]

    # --- calls that fail, by a preloaded library ---

    def start_with_faults(self, *flags):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.orders = pathlib.Path(directory, "orders")
        server = Commitd(*flags, wrapper=preload(FAULTS, directory, DISK_FAULTS=self.orders))
        self.enterContext(server)
        self.make_tables(server)
        self.insert(server, 1)
        return server

    def let_fail(self, call, error):
        self.orders.write_text(f"{call} {error}\n")

    def failures(self):
        return self.orders.read_text().count("failed")

    def test_a_failed_sync_stops_the_server_at_once_and_is_not_tried_again(self):
        server = self.start_with_faults()
        self.let_fail("fdatasync", errno.EIO)
        self.assertIsNotNone(code_of(lambda: self.insert(server, 2)))
        self.assertEqual(server.process.wait(timeout=60), EXIT_FAILED_FOR_GOOD)
        self.assertEqual(self.failures(), 1)
        self.assertIn("stopping", server.log_text())
        self.orders.unlink()
        server.start()
        self.assertIn(self.ids(server), ([1], [1, 2]))  # the one whose outcome was not known, whole or not at all
        self.insert(server, 3)
        self.assertIn(3, self.ids(server))

    def test_a_failed_write_fails_the_commit_and_the_server_goes_on(self):
        server = self.start_with_faults()
        for error, code in ((errno.EIO, ERROR_ON_WRITE), (errno.EROFS, ERROR_ON_WRITE), (errno.ENOSPC, DISK_FULL)):
            self.let_fail("pwritev", error)
            executed = server.query("SELECT @@GLOBAL.gtid_executed")
            self.assertEqual(code_of(lambda: self.insert(server, 2)), code)
            self.assertGreater(self.failures(), 0)
            self.orders.unlink()
            self.assertEqual(server.query("SELECT @@GLOBAL.gtid_executed"), executed)
            self.assertEqual(self.ids(server), [1])
        self.insert(server, 3)
        server.kill()
        server.start()
        self.assertEqual(self.ids(server), [1, 3])

    # --- binlog_error_action=IGNORE_ERROR ---

    def start_that_ignores(self, *flags):
        return self.start_with_faults("--commitd-durability=xa", "--binlog-error-action=IGNORE_ERROR", *flags)

    def assert_goes_on_without_the_log(self, server):
        self.assertIn("Turning logging off for the whole duration of the MySQL server process", server.log_text())
        self.assertEqual(code_of(lambda: server.query("SHOW BINARY LOGS")), NO_BINARY_LOGGING)
        self.assertEqual(server.query("SHOW BINARY LOG STATUS"), ())
        with LogReader(server) as reader:
            self.assertEqual(code_of(reader.attach), FATAL_READING_LOG)

    def assert_logs_again(self, server, files):
        """In a new file, which nobody gets who lacks what is in none."""
        self.assertEqual(len(server.binlog_files()), files)
        before, purged = server.query("SELECT @@GLOBAL.gtid_executed, @@GLOBAL.gtid_purged")[0]
        self.assertNotEqual(purged, "")
        self.insert(server, 1000)
        self.assertNotEqual(server.query("SELECT @@GLOBAL.gtid_executed")[0][0], before)
        with LogReader(server) as reader:
            self.assertEqual(code_of(reader.attach), FATAL_READING_LOG)
        with LogReader(server) as reader:
            self.assertEqual(reader.attach(before), f"binlog.{files:06}")

    def test_without_the_log_a_failing_one_stops_nobody(self):
        for call, error in (("fdatasync", errno.EIO), ("pwritev", errno.EIO), ("pwritev", errno.ENOSPC)):
            with self.subTest(call, error=error):
                server = self.start_that_ignores()
                reader = self.enterContext(LogReader(server))
                reader.attach()
                self.let_fail(call, error)
                self.insert(server, 2)
                self.orders.unlink()  # a disk that works again changes nothing
                self.assert_goes_on_without_the_log(server)
                with self.assertRaises(pymysql.MySQLError):
                    while True:
                        reader.next_event()
                server.query("UPDATE d.t SET v = 'changed' WHERE id = 1")
                server.query("CREATE TABLE d.made (id INT)")
                with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                    cursor.execute("SET sql_log_bin = 0")
                    cursor.execute("INSERT INTO d.t VALUES (3, 'without a GTID')")
                server.kill()
                server.start()
                self.assertEqual(self.ids(server), [1, 2, 3])
                self.assertEqual(server.query("SELECT v FROM d.t WHERE id = 1"), (("changed",),))
                self.assertEqual(server.query("SELECT COUNT(*) FROM d.made"), ((0,),))
                self.assert_logs_again(server, files=2)
                server.kill()
                server.start()
                self.assertEqual(self.ids(server), [1, 2, 3, 1000])
                self.assertEqual(len(server.binlog_files()), 2)

    def test_without_the_log_a_load_goes_on_and_nothing_acknowledged_is_lost(self):
        for flags in ((), ("--thread-handling=one-thread-per-connection", "--binlog-order-commits=OFF")):
            with self.subTest(flags):
                server = self.start_that_ignores(*flags)
                acknowledged, lock, half, enough = {1}, threading.Lock(), threading.Event(), threading.Event()

                def write(writer):
                    with contextlib.suppress(pymysql.err.MySQLError, OSError), contextlib.closing(server.connect()) as connection:
                        for number in range(writer * 100000, (writer + 1) * 100000):
                            connection.cursor().execute(f"INSERT INTO d.t VALUES ({number}, 'x')")
                            with lock:
                                acknowledged.add(number)
                                if len(acknowledged) > 100:
                                    half.set()
                                if len(acknowledged) > 300:
                                    enough.set()

                writers = [threading.Thread(target=write, args=(writer,)) for writer in range(1, 9)]
                for writer in writers:
                    writer.start()
                self.assertTrue(half.wait(60))
                self.let_fail("fdatasync", errno.EIO)
                with lock:
                    acknowledged_with_the_log = len(acknowledged)
                wait_until(lambda: len(acknowledged) > acknowledged_with_the_log + 100, "commits without the log")
                self.assertTrue(enough.wait(60))
                self.assert_goes_on_without_the_log(server)
                server.kill()
                for writer in writers:
                    writer.join()
                self.orders.unlink()
                server.start()
                self.assertEqual(acknowledged - set(self.ids(server)), set())
                self.assertRegex(server.log_text(), r"recovered .* rolled_back_prepared=\d")
                self.assert_logs_again(server, files=2)

    def test_the_log_is_not_done_without_where_replicas_must_acknowledge(self):
        """On a member of a cluster a failed sync stops the server, whatever binlog_error_action is."""
        server = self.start_that_ignores()
        server.query("ALTER INSTANCE FENCE EPOCH 1")
        server.query("ALTER INSTANCE PROMOTE EPOCH 1 WAIT_COUNT 0 MEMBERS ''")
        wait_until(lambda: code_of(lambda: self.insert(server, 2)) is None, "it accepts writes")
        self.let_fail("fdatasync", errno.EIO)
        self.assertIsNotNone(code_of(lambda: self.insert(server, 3)))
        self.assertEqual(server.process.wait(timeout=60), EXIT_FAILED_FOR_GOOD)

    def test_error_action_is_abort_server_unless_the_engine_has_a_log_of_its_own(self):
        server = self.start_with_faults()
        self.assertEqual(server.query("SELECT @@GLOBAL.binlog_error_action"), (("ABORT_SERVER",),))
        self.assertIsNotNone(code_of(lambda: server.query("SET GLOBAL binlog_error_action = IGNORE_ERROR")))
        server = self.start_with_faults("--commitd-durability=xa")
        server.query("SET GLOBAL binlog_error_action = IGNORE_ERROR")
        self.let_fail("fdatasync", errno.EIO)
        self.insert(server, 2)
        self.assert_goes_on_without_the_log(server)

    # --- a real small file system ---

    def small_disk(self, megabytes):
        if os.geteuid() != 0:
            self.skipTest("mounting a tmpfs needs root")
        directory = self.enterContext(tempfile.TemporaryDirectory())
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", directory], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", directory], check=False)
        return directory

    def write_until_full(self, path):
        with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def test_a_full_disk_fails_commits_until_there_is_room(self):
        for flags in ((), (XA,)):
            with self.subTest(flags=flags):
                self.check_commits_fail_until_there_is_room(self.small_disk(64), *flags)

    def check_commits_fail_until_there_is_room(self, disk, *flags):
        with Commitd(*flags, datadir=os.path.join(disk, "data")) as server:
            self.make_tables(server)
            filler = pathlib.Path(disk, "filler")
            free = shutil.disk_usage(disk).free
            filler.write_bytes(bytes(free - 3_000_000))
            acknowledged, code = [], None
            for number in range(100):
                code = code_of(lambda: self.insert(server, number, 100_000))
                if code is not None:
                    break
                acknowledged.append(number)
            self.assertEqual(code, DISK_FULL)
            self.assertGreater(len(acknowledged), 2)
            self.assertEqual(self.ids(server), acknowledged)
            self.assertEqual(code_of(lambda: self.insert(server, 1000, 100_000)), DISK_FULL)
            filler.unlink()
            wait_until(lambda: code_of(lambda: self.insert(server, 2000, 100_000)) is None, "there is room again")
            acknowledged.append(2000)
            self.assertEqual(self.ids(server), acknowledged)
            server.kill()
            server.start()
            self.assertEqual(self.ids(server), acknowledged)

    def test_a_full_disk_under_a_server_that_ignores_log_errors_loses_nothing_acknowledged(self):
        """The engine's own log is on the same disk: with either full, what was acknowledged is there afterwards."""
        disk = self.small_disk(64)
        with Commitd("--commitd-durability=xa", "--binlog-error-action=IGNORE_ERROR", datadir=os.path.join(disk, "data")) as server:
            self.make_tables(server)
            self.filler = pathlib.Path(disk, "filler")
            self.filler.write_bytes(bytes(shutil.disk_usage(disk).free - 3_000_000))
            acknowledged, thread = self.fill(server)
            self.assertGreater(len(acknowledged), 2)
            self.assertIn("Turning logging off", server.log_text())
            server.kill()
            thread.join()
            self.filler.unlink()
            server.start()
            self.assertIn(self.ids(server), (acknowledged, [*acknowledged, len(acknowledged)]))
            self.insert(server, 2000)

    # --- the storage engine's files on a small volume of their own: the log has room ---

    def start_with_a_small_engine_disk(self, *flags):
        disk = self.small_disk(48)
        server = self.enterContext(Commitd("--commitd-write-buffer-size=1M", *flags))
        server.terminate()
        engine = os.path.join(server.datadir, "engine")
        shutil.move(engine, os.path.join(disk, "engine"))
        os.symlink(os.path.join(disk, "engine"), engine)
        server.start()
        self.make_tables(server)
        self.filler = pathlib.Path(disk, "filler")
        self.filler.write_bytes(bytes(shutil.disk_usage(disk).free - 3_000_000))
        return server

    def fill(self, server):
        """Rows until one finds no room. Gives those that were acknowledged, also later, and the thread, which may be waiting for its answer."""
        acknowledged = []

        def insert_all():
            with contextlib.suppress(pymysql.err.MySQLError, OSError), contextlib.closing(server.connect()) as connection:
                while self.filler.exists():
                    connection.cursor().execute(f"INSERT INTO d.t VALUES ({len(acknowledged)}, '{os.urandom(50_000).hex()}')")
                    acknowledged.append(len(acknowledged))

        thread = threading.Thread(target=insert_all, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)
        wait_until(lambda: "finds no room" in server.log_text(), "the engine's disk is full")
        self.assertEqual(code_of(lambda: self.insert(server, 5000)), DISK_FULL)
        return acknowledged, thread

    def assert_has(self, server, acknowledged):
        self.assertEqual(set(acknowledged) - set(self.ids(server)), set())

    def test_without_room_for_the_engine_writes_are_refused_and_go_on_when_there_is_some(self):
        for flags in ((), (XA,)):
            with self.subTest(flags=flags):
                self.check_writes_go_on(self.start_with_a_small_engine_disk(*flags))

    def check_writes_go_on(self, server):
        acknowledged, thread = self.fill(server)
        self.assert_has(server, acknowledged)
        self.assertIsNotNone(code_of(lambda: server.query("CREATE TABLE d.more (id INT)")))
        self.filler.unlink()
        wait_until(lambda: self.has_ended_for_good(server) or code_of(lambda: self.insert(server, 7000)) is None, "writes go on")
        thread.join()
        self.assertGreater(len(acknowledged), 2)
        if self.has_ended_for_good(server):
            self.assertIn(XA, server.flags)
            server.kill()
            server.start()
            self.insert(server, 7000)
        server.query("CREATE TABLE d.more (id INT)")
        self.assert_has(server, [*acknowledged, 7000])
        server.kill()
        server.start()
        self.assert_has(server, [*acknowledged, 7000])

    def has_ended_for_good(self, server):
        """RocksDB may wait for a flush that its own log's error kept from beginning: with xa such a server ends, and its next start goes on."""
        return server.process.poll() is not None and "has room again and does not go on" in server.log_text()

    def end_without_room(self, server, end, thread):
        if end == "fence":
            server.query("ALTER INSTANCE FENCE EPOCH 7")
            thread.join()
        elif end == "stop":
            server.terminate()
        server.kill()
        thread.join()
        self.filler.unlink()
        server.start()
        if end == "fence":  # what it has logged is shown by its next role
            server.query("ALTER INSTANCE PROMOTE EPOCH 8 WAIT_COUNT 0 MEMBERS ''")
            wait_until(lambda: code_of(lambda: self.insert(server, 9000)) is None, "writes go on")

    def test_without_room_for_the_engine_a_server_can_be_fenced_stopped_and_killed(self):
        for end, *flags in (("fence",), ("stop",), ("kill",), ("fence", XA), ("kill", XA)):
            with self.subTest(end, flags=flags):
                server = self.start_with_a_small_engine_disk(*flags)
                acknowledged, thread = self.fill(server)
                self.end_without_room(server, end, thread)
                self.assert_has(server, acknowledged)

    # --- a transaction that is larger than memory, and finds no room for the rest of it ---

    def begin_large(self, server):
        """Twice as large as what is left. Gives what its COMMIT is answered with, later."""
        outcome = []

        def insert_all():
            try:
                with contextlib.closing(server.connect(autocommit=False)) as connection:
                    for number in LARGE:
                        connection.cursor().execute(f"INSERT INTO d.t VALUES ({number}, '{os.urandom(50_000).hex()}')")
                    connection.commit()
                outcome.append(None)
            except (pymysql.err.MySQLError, OSError) as error:
                outcome.append(error.args[0])

        thread = threading.Thread(target=insert_all, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)
        wait_until(lambda: "finds no room" in server.log_text(), "the engine's disk is full")
        self.assertEqual(code_of(lambda: self.insert(server, 5000)), DISK_FULL)
        return outcome, thread

    def assert_nothing_of_it_is_seen(self, server):
        self.assertEqual(self.ids(server), [])
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            cursor.execute("SELECT COUNT(*) FROM d.t")
            self.assertEqual(cursor.fetchone(), (0,))
        self.assertEqual(code_of(lambda: server.query(f"BACKUP TO '{server.directory}/backup'")), DISK_FULL)

    def test_a_large_transaction_that_finds_no_room_in_the_engine_goes_on_when_there_is_some(self):
        server = self.start_with_a_small_engine_disk("--binlog-cache-size=100K")
        outcome, thread = self.begin_large(server)
        self.assert_nothing_of_it_is_seen(server)
        self.assertEqual(outcome, [])
        self.filler.unlink()
        thread.join()
        self.assertEqual(outcome, [None])
        self.assert_it_is_there_whole(server)

    def test_with_a_log_of_the_engine_it_goes_on_or_is_there_at_the_next_start(self):
        """RocksDB does not always go on once its own log has found no room: the process then ends, and says why."""
        server = self.start_with_a_small_engine_disk("--binlog-cache-size=100K", XA)
        outcome, thread = self.begin_large(server)
        self.assert_nothing_of_it_is_seen(server)
        self.filler.unlink()
        thread.join()
        if outcome != [None]:
            self.assertEqual(outcome, [2013])
            wait_until(lambda: server.process.poll() is not None, "the process has ended")
            self.assertIn("stopping: the log or the storage engine failed", server.log_text())
            server.start()
        self.assert_it_is_there_whole(server)

    def assert_it_is_there_whole(self, server):
        self.assertEqual(self.ids(server), list(LARGE))
        self.insert(server, 9000)
        server.kill()
        server.start()
        self.assertEqual(self.ids(server), [*LARGE, 9000])

    def test_while_a_large_transaction_waits_for_room_a_server_can_be_fenced_stopped_and_killed(self):
        for end, *flags in (("fence",), ("kill",), ("stop", XA)):
            with self.subTest(end, flags=flags):
                server = self.start_with_a_small_engine_disk("--binlog-cache-size=100K", *flags)
                outcome, thread = self.begin_large(server)
                self.end_without_room(server, end, thread)
                self.assertNotEqual(outcome, [None])
                self.assertEqual([number for number in self.ids(server) if number in LARGE], list(LARGE))

    def become_a_member(self, server):
        server.query("ALTER INSTANCE PROMOTE EPOCH 5 WAIT_COUNT 0 MEMBERS ''")
        wait_until(lambda: code_of(lambda: server.query("CREATE DATABASE member")) is None, "it serves")

    def assert_roles_change_without_room(self, server, acknowledged):
        """Whether PROMOTE can be done or not, it says so, and the next FENCE is not kept waiting."""
        for epoch in (7, 9, 11):
            server.query(f"ALTER INSTANCE FENCE EPOCH {epoch}")
            promoted = code_of(lambda: server.query(f"ALTER INSTANCE PROMOTE EPOCH {epoch + 1} WAIT_COUNT 0 MEMBERS ''"))
            self.assertIn(promoted, (None, DISK_FULL))
        server.query("ALTER INSTANCE FENCE EPOCH 13")
        self.filler.unlink()
        wait_until(lambda: code_of(lambda: server.query("ALTER INSTANCE PROMOTE EPOCH 14 WAIT_COUNT 0 MEMBERS ''")) is None, "there is room")
        wait_until(lambda: code_of(lambda: self.insert(server, 9000)) is None, "writes go on")
        self.assert_has(server, acknowledged)

    def test_without_room_for_the_engine_roles_still_change(self):
        server = self.start_with_a_small_engine_disk()
        self.become_a_member(server)
        acknowledged, thread = self.fill(server)
        self.assert_roles_change_without_room(server, acknowledged)
        thread.join()

    def test_without_room_for_the_log_roles_still_change(self):
        disk = self.small_disk(64)
        server = self.enterContext(Commitd("--commitd-write-buffer-size=1M", datadir=os.path.join(disk, "data")))
        self.make_tables(server)
        self.become_a_member(server)
        self.filler = pathlib.Path(disk, "filler")
        self.filler.write_bytes(bytes(8_000_000))
        acknowledged = []
        while code_of(lambda: self.insert(server, len(acknowledged), 400_000)) is None:
            acknowledged.append(len(acknowledged))
        self.write_until_full(pathlib.Path(disk, "rest"))
        self.assert_roles_change_without_room(server, acknowledged)

    # --- a replica by file and position, whose log has a small volume of its own ---

    def start_replica_with_a_small_log_disk(self, source, *flags):
        replica = self.enterContext(Commitd(*flags, datadir=os.path.join(self.small_disk(64), "data"), server_id=2))
        replica.terminate()
        engine, elsewhere = os.path.join(replica.datadir, "engine"), os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "engine")
        shutil.move(engine, elsewhere)
        os.symlink(elsewhere, engine)
        replica.start()
        replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='root', "
                      "SOURCE_AUTO_POSITION=0, SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4")
        replica.query("START REPLICA")
        return replica

    def replica_status(self, replica):
        with contextlib.closing(replica.connect()) as connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute("SHOW REPLICA STATUS")
            (row,) = cursor.fetchall()
            return row

    def test_a_replica_by_position_whose_log_finds_no_room_says_so_and_goes_on(self):
        for flags in ((), (XA, "--log-replica-updates=OFF")):
            for killed in (False, True):
                with self.subTest(flags=flags, killed=killed):
                    self.check_replica_goes_on(killed, *flags)

    def check_replica_goes_on(self, killed, *flags):
        source = self.enterContext(Commitd())
        self.make_tables(source)
        self.insert(source, 0)
        replica = self.start_replica_with_a_small_log_disk(source, *flags)
        tables = lambda: replica.query("SHOW DATABASES LIKE 'd'") and replica.query("SHOW TABLES IN d")
        rows = lambda: replica.query("SELECT id FROM d.t ORDER BY id") if tables() else ()
        wait_until(lambda: rows() == ((0,),), f"it follows: {self.replica_status(replica)}")
        filler = pathlib.Path(replica.datadir, "..", "filler")
        filler.write_bytes(bytes(shutil.disk_usage(filler.parent).free - 3_000_000))
        for number in range(1, 60):
            self.insert(source, number, 100_000)
        wait_until(lambda: self.replica_status(replica)["Last_IO_Errno"] == str(DISK_FULL), f"it says so: {self.replica_status(replica)}")
        self.assertIn("Disk full: cannot", self.replica_status(replica)["Last_IO_Error"])
        self.assertEqual(replica.log_text().count("what is received waits for room in the log"), 1)
        self.assertEqual(replica.query("SELECT LAST_ERROR_NUMBER FROM performance_schema.replication_connection_status"), ((DISK_FULL,),))
        wait_until(lambda: len(rows()) > 5, "what had room is applied")
        self.assertLess(len(rows()), 60)
        self.insert(source, 60)  # nobody waits for it
        if killed:
            replica.kill()
        filler.unlink()
        if killed:
            replica.start()
        wait_until(lambda: len(rows()) == 61, f"it goes on: {self.replica_status(replica)}")
        self.assertEqual([number for (number,) in rows()], list(range(61)))
        self.assertEqual(source.query("CHECKSUM TABLE d.t"), replica.query("CHECKSUM TABLE d.t"))
        self.assertEqual(source.query("SELECT @@global.gtid_executed"), replica.query("SELECT @@global.gtid_executed"))
        status = self.replica_status(replica)
        self.assertEqual((status["Last_IO_Errno"], status["Last_IO_Error"]), ("0", ""))
        self.assertEqual((status["Source_Log_File"], int(status["Read_Source_Log_Pos"])), source.query("SHOW BINARY LOG STATUS")[0][:2])

    def test_a_start_on_a_full_disk_waits_for_room(self):
        disk = self.small_disk(48)
        server = self.enterContext(Commitd("--commitd-write-buffer-size=1M", datadir=os.path.join(disk, "data")))
        self.make_tables(server)
        for number in range(50):
            self.insert(server, number, 10_000)
        server.kill()
        filler = pathlib.Path(disk, "filler")
        self.write_until_full(filler)

        def waits():
            if server.process.poll() is not None:
                raise AssertionError(f"it has ended: {server.log_text()[-1000:]}")
            return "the start waits for room" in server.log_text()

        server.start(wait=False)
        wait_until(waits, "it waits")
        server.process.terminate()
        self.assertNotEqual(server.process.wait(timeout=60), 0)
        server.start(wait=False)
        wait_until(lambda: waits() and server.log_text().count("the start waits for room") > 1, "it waits again")
        filler.unlink()
        wait_until(server.answers, "it has started")
        self.assertEqual(self.ids(server), list(range(50)))
        self.insert(server, 1000)

    # --- transactions that are larger than memory; MiB of a disk of 64 ---

    def large_transaction(self, server, first, rows):
        """The error of the row that fails, with its number; whether the rest can be committed is the caller's question."""
        connection = self.enterContext(contextlib.closing(server.connect(autocommit=False)))
        for number in range(first, first + rows):
            code = code_of(lambda: connection.cursor().execute(f"INSERT INTO d.t VALUES ({number}, REPEAT('x', 1000000))"))
            if code is not None:
                return connection, code, number
        return connection, None, first + rows

    def test_a_large_transaction_that_does_not_fit_into_the_log_fails_alone(self):
        disk = self.small_disk(64)
        elsewhere = self.enterContext(tempfile.TemporaryDirectory())
        with Commitd(f"--tmpdir={elsewhere}", datadir=os.path.join(disk, "data")) as server:
            self.make_tables(server)
            self.insert(server, 1)
            log_size = sum(os.path.getsize(path) for path in server.binlog_files())
            connection, code, _ = self.large_transaction(server, 10, 80)
            self.assertIsNone(code)
            self.assertEqual(code_of(connection.commit), DISK_FULL)
            self.assertLess(sum(os.path.getsize(path) for path in server.binlog_files()), log_size + 3_000_000)
            self.insert(server, 2)
            self.assertEqual(self.ids(server), [1, 2])
            server.kill()
            server.start()
            self.assertEqual(self.ids(server), [1, 2])

    def test_a_large_transaction_whose_temporary_file_finds_no_room_loses_a_statement(self):
        disk = self.small_disk(64)
        with Commitd(f"--tmpdir={disk}", "--binlog-cache-size=100K") as server:
            self.make_tables(server)
            connection, code, failed = self.large_transaction(server, 0, 200)
            self.assertEqual(code, DISK_FULL)
            connection.commit()
            self.assertEqual(self.ids(server), list(range(failed)))

    def test_a_full_disk_refuses_a_backup_and_leaves_nothing_of_it(self):
        disk = self.small_disk(32)
        with Commitd() as server:
            self.make_tables(server)
            for number in range(40):
                server.query(f"INSERT INTO d.t VALUES ({number}, '{os.urandom(500_000).hex()}')")
            backup = os.path.join(disk, "backup")
            self.assertIsNotNone(code_of(lambda: server.query(f"BACKUP TO '{backup}'")))
            self.assertFalse(os.path.exists(backup))
            self.assertEqual(len(self.ids(server)), 40)
            self.insert(server, 1000)

    # --- a real file system that has found an error and lets nobody write any more ---

    def loop_disk(self, megabytes):
        """The directory, and the file system's name in /sys/fs/ext4."""
        image = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "image")
        subprocess.run(["truncate", f"--size={megabytes}M", image], check=True)
        subprocess.run(["/sbin/mkfs.ext4", "-q", image], check=True)
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.mount_loop(image, directory)
        self.addCleanup(subprocess.run, ["umount", "-l", directory], capture_output=True, check=False)
        return image, directory

    def mount_loop(self, image, directory):
        mounted = subprocess.run(["mount", "-o", "loop,errors=remount-ro", image, directory], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system in a file can be mounted here: {mounted.stderr.strip()}")

    def report_an_error(self, directory):
        device = subprocess.run(["findmnt", "-no", "SOURCE", directory], capture_output=True, text=True, check=True).stdout.strip()
        trigger = pathlib.Path("/sys/fs/ext4", os.path.basename(device), "trigger_fs_error")
        if not trigger.exists():
            self.skipTest(f"{trigger} does not exist here")
        trigger.write_text("1")

    def test_a_file_system_that_becomes_read_only_fails_commits_and_loses_nothing(self):
        image, disk = self.loop_disk(64)
        with Commitd(datadir=os.path.join(disk, "data")) as server:
            self.make_tables(server)
            self.insert(server, 1)
            self.report_an_error(disk)
            self.assertIn(code_of(lambda: self.insert(server, 2)), (ERROR_ON_WRITE, UNKNOWN_OUTCOME))
            server.kill()
            subprocess.run(["umount", disk], check=True)
            self.mount_loop(image, disk)
            server.start()
            self.insert(server, 3)
            self.assertEqual(self.ids(server), [1, 3])


if __name__ == "__main__":
    unittest.main()
