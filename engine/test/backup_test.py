"""Backups of a running server: BACKUP TO, a copied volume, mysqldump, and what they need of locks. Every one is
restored and compared."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
import unittest

import pymysql

from commitd_process import Commitd, wait_until

CHECKSUM = "SELECT COUNT(*), SUM(CRC32(CONCAT_WS('#', id, a, v))), SUM(a) FROM d.t"
WRITERS = 4


class Load:
    """Transactions that move amounts between rows: the sum stays whatever prefix of them one sees."""

    def __init__(self, server, rows=200):
        self.server, self.rows, self.commits, self.failure = server, rows, 0, None
        server.query("CREATE DATABASE d")
        server.query("CREATE TABLE d.t (id INT PRIMARY KEY, a INT NOT NULL, v VARCHAR(200), KEY (a))")
        server.query("INSERT INTO d.t VALUES " + ", ".join(f"({n}, 100, 'row {n}')" for n in range(rows)))

    def __enter__(self):
        self.stopping = False
        self.threads = [threading.Thread(target=self.write, args=(n,)) for n in range(WRITERS)]
        for thread in self.threads:
            thread.start()
        wait_until(lambda: self.commits > 50, "some load")
        return self

    def __exit__(self, *_):
        self.stopping = True
        for thread in self.threads:
            thread.join()

    def write(self, writer):
        try:
            with contextlib.closing(self.server.connect(autocommit=False)) as connection, connection.cursor() as cursor:
                number = writer
                while not self.stopping:
                    first, second = sorted({number % self.rows, (number * 7 + 1) % self.rows} | {writer})[:2]
                    cursor.execute(f"UPDATE d.t SET a = a - 1, v = 'from {number}' WHERE id = {first}")
                    cursor.execute(f"UPDATE d.t SET a = a + 1, v = 'to {number}' WHERE id = {second}")
                    connection.commit()
                    self.commits += 1
                    number += WRITERS
        except pymysql.err.MySQLError as failure:
            self.failure = failure


def executed(server):
    return server.query("SELECT @@GLOBAL.gtid_executed")[0][0]


def restored(directory, *flags, **options):
    return Commitd(*flags, datadir=directory, **options)


class BackupTest(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Commitd("--innodb-lock-wait-timeout=5", "--lock-wait-timeout=20"))
        self.backup = os.path.join(self.server.directory, "backup")

    def copy_of_backup(self):
        copy = os.path.join(self.server.directory, "restored")
        shutil.copytree(self.backup, copy)
        return copy

    def check_sum(self, server, load):
        self.assertEqual(server.query(CHECKSUM)[0][2], load.rows * 100)

    def test_backup_under_load_is_one_transaction_boundary(self):
        load = Load(self.server)
        with load:
            (file, position, gtids), = self.server.query(f"BACKUP TO '{self.backup}'")
            after = load.commits
            wait_until(lambda: load.commits > after + 50, "commits go on")
        self.assertIsNone(load.failure)
        with restored(self.copy_of_backup()) as copy:
            self.check_sum(copy, load)
            self.assertEqual((executed(copy), copy.query("SELECT @@GLOBAL.gtid_purged")[0][0]), (gtids, gtids))
            self.assertNotEqual(copy.query("SELECT @@server_uuid"), self.server.query("SELECT @@server_uuid"))
            copy.query("UPDATE d.t SET a = a + 0, v = 'goes on' WHERE id = 1")
            copy.kill()
            copy.start()
            self.assertEqual(copy.query("SELECT v FROM d.t WHERE id = 1"), (("goes on",),))
        events = self.server.query(f"SHOW BINLOG EVENTS IN '{file}' FROM {position} LIMIT 1")
        self.assertIn(events[0][2], ("Gtid", "Ignorable"))  # a transaction boundary of the source's log

    def test_backup_of_xa_under_load(self):
        self.backup_under_load("--commitd-durability=xa")

    def test_backup_of_xa_without_an_order_under_load(self):
        self.backup_under_load("--commitd-durability=xa", "--thread-handling=one-thread-per-connection", "--binlog-order-commits=OFF")

    # What is prepared in the moment of the copy is in the copy, too, and was acknowledged to nobody.
    def backup_under_load(self, *flags):
        self.server.kill()
        self.server = self.enterContext(Commitd(*flags, "--innodb-lock-wait-timeout=5"))
        load = Load(self.server)
        with load:
            (_, _, gtids), = self.server.query(f"BACKUP TO '{self.backup}'")
            after = load.commits
            wait_until(lambda: load.commits > after + 50, "commits go on")
        self.assertIsNone(load.failure)
        source, end = self.server.query(CHECKSUM), executed(self.server)
        directory = self.copy_of_backup()
        refused = restored(directory)
        self.addCleanup(shutil.rmtree, refused.directory)
        refused.start(wait=False)
        self.assertEqual(refused.process.wait(timeout=60), 1)
        self.assertIn("Start it with --commitd-durability=xa", refused.log_text())
        for mode in ("xa", "single_log"):  # the second after the clean end of the first
            with restored(directory, f"--commitd-durability={mode}") as copy:
                self.check_sum(copy, load)
                self.assertIn(gtids, executed(copy))
                copy.query(f"UPDATE d.t SET v = 'goes on with {mode}' WHERE id = 1")
                copy.kill()
                copy.start()
                self.assertEqual(copy.query("SELECT v FROM d.t WHERE id = 1"), ((f"goes on with {mode}",),))
                self.check_sum(copy, load)
                self.assertEqual(copy.terminate(), 0)
        shutil.rmtree(directory)
        # The source's log brings the copy to the same rows.
        with restored(self.copy_of_backup(), "--commitd-durability=xa", f"--restore-binlogs={self.server.datadir}") as copy:
            self.assertEqual((copy.query(CHECKSUM), executed(copy)), (source, end))

    def test_backup_equals_the_source_when_nothing_writes(self):
        load = Load(self.server)
        self.server.query(f"BACKUP TO '{self.backup}'")
        with restored(self.copy_of_backup()) as copy:
            self.assertEqual(copy.query(CHECKSUM), self.server.query(CHECKSUM))
            self.assertEqual(executed(copy), executed(self.server))
        with open(os.path.join(self.backup, "commitd_backup_info")) as info:
            self.assertEqual(info.read().split("\t")[2].strip(), executed(self.server))
        self.assertIsNone(load.failure)

    def test_backup_refuses_what_it_should(self):
        os.mkdir(self.backup)
        self.server.query("CREATE USER u")
        for user, directory, code in (("root", self.backup, 1086), ("root", "relative", 1210),
                                      ("root", os.path.join(self.server.datadir, "x"), 1210), ("u", "/tmp/never", 1227)):
            with self.assertRaises(pymysql.err.MySQLError) as failure:
                self.server.query(f"BACKUP TO '{directory}'", user=user)
            self.assertEqual(failure.exception.args[0], code, directory)

    def test_a_backup_that_was_cut_off_is_refused(self):
        self.server.query(f"BACKUP TO '{self.backup}'")
        os.remove(os.path.join(self.backup, "commitd.format"))
        copy = restored(self.backup)
        self.addCleanup(shutil.rmtree, copy.directory)
        copy.start(wait=False)
        self.assertEqual(copy.process.wait(timeout=60), 1)
        self.assertIn("neither empty nor a commitd data directory", copy.log_text())

    def test_a_copy_of_the_volume_under_load_starts_as_after_a_crash(self):
        load = Load(self.server)
        copy_of_volume = os.path.join(self.server.directory, "volume")
        with load:
            self.server.process.send_signal(signal.SIGSTOP)  # all files as of one moment
            try:
                acknowledged = load.commits
                shutil.copytree(self.server.datadir, copy_of_volume)
            finally:
                self.server.process.send_signal(signal.SIGCONT)
        self.assertIsNone(load.failure)
        with restored(copy_of_volume) as copy:
            self.check_sum(copy, load)
            commits = int(re.search(r":1-(\d+)$", executed(copy)).group(1))
            self.assertGreaterEqual(commits, acknowledged + 3)

    def test_read_lock_stops_commits_and_position_is_the_snapshots(self):
        load = Load(self.server)
        with load, contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")
            commits = load.commits
            cursor.execute("SHOW BINARY LOG STATUS")
            before = cursor.fetchone()
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            cursor.execute("DO SLEEP(0.5)")
            cursor.execute("SHOW BINARY LOG STATUS")
            self.assertEqual(cursor.fetchone(), before)
            self.assertLessEqual(load.commits, commits + WRITERS)  # answers that were on their way
            cursor.execute("SELECT @@GLOBAL.gtid_executed")
            self.assertEqual(cursor.fetchone()[0], before[4])
            cursor.execute(CHECKSUM)
            under_lock = cursor.fetchone()
            with self.assertRaises(pymysql.err.MySQLError) as failure:
                cursor.execute("UPDATE d.t SET a = 0")
            self.assertEqual(failure.exception.args[0], 1223)
            cursor.execute("UNLOCK TABLES")
            after = load.commits
            wait_until(lambda: load.commits > after + 20, "commits go on")
            cursor.execute(CHECKSUM)  # the snapshot outlives the lock
            self.assertEqual(cursor.fetchone(), under_lock)
        self.assertIsNone(load.failure)
        # A replica of that moment: the log up to the position makes the same rows.
        events = self.server.query(f"SHOW BINLOG EVENTS IN '{before[0]}' FROM {before[1]} LIMIT 1")
        self.assertEqual(events[0][1], before[1])

    def test_read_lock_ends_with_its_connection_and_keeps_definitions_out(self):
        Load(self.server)
        holder = self.server.connect()
        holder.cursor().execute("FLUSH TABLES WITH READ LOCK")
        with self.assertRaises(pymysql.err.MySQLError) as failure:
            with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
                cursor.execute("SET lock_wait_timeout = 1")
                cursor.execute("CREATE TABLE d.other (id INT PRIMARY KEY)")
        self.assertEqual(failure.exception.args[0], 1205)
        self.assertEqual(self.server.query("SELECT COUNT(*) FROM d.t")[0][0], 200)
        holder.close()
        self.server.query("CREATE TABLE d.other (id INT PRIMARY KEY)")
        self.server.query("INSERT INTO d.other VALUES (1)")

    def test_a_waiting_commit_finishes_when_the_read_lock_goes(self):
        Load(self.server)
        with contextlib.closing(self.server.connect()) as holder:
            holder.cursor().execute("FLUSH TABLES WITH READ LOCK")
            writer = threading.Thread(target=self.server.query, args=("INSERT INTO d.t VALUES (1000, 100, 'late')",))
            writer.start()
            writer.join(timeout=0.5)
            self.assertTrue(writer.is_alive())
            self.assertEqual(self.server.query("SELECT COUNT(*) FROM d.t WHERE id = 1000")[0][0], 0)
        writer.join(timeout=60)
        self.assertEqual(self.server.query("SELECT COUNT(*) FROM d.t WHERE id = 1000")[0][0], 1)

    def test_lock_tables(self):
        Load(self.server)
        self.server.query("CREATE TABLE d.u (id INT PRIMARY KEY)")
        with contextlib.closing(self.server.connect()) as holder, holder.cursor() as cursor:
            cursor.execute("LOCK TABLES d.t WRITE, d.u READ")
            cursor.execute("UPDATE d.t SET a = 7 WHERE id = 1")
            cursor.execute("SELECT COUNT(*) FROM d.u")
            for sql, code in (("INSERT INTO d.u VALUES (1)", 1099), ("SELECT * FROM d.v", 1100)):
                with self.assertRaises(pymysql.err.MySQLError) as failure:
                    cursor.execute(sql)
                self.assertEqual(failure.exception.args[0], code)
            for sql in ("SELECT COUNT(*) FROM d.t", "ALTER TABLE d.u ADD COLUMN w INT"):
                with self.assertRaises(pymysql.err.MySQLError) as failure, contextlib.closing(self.server.connect()) as other:
                    with other.cursor() as waiting:
                        waiting.execute("SET lock_wait_timeout = 1")
                        waiting.execute(sql)
                self.assertEqual(failure.exception.args[0], 1205)
            cursor.execute("UNLOCK TABLES")
            self.assertEqual(self.server.query("SELECT a FROM d.t WHERE id = 1"), ((7,),))

    def test_mysqldump_of_one_moment_names_its_position_and_restores(self):
        load = Load(self.server)
        self.server.query(f"BACKUP TO '{self.backup}'")
        with load:
            dump = self.server.client("mariadb-dump", "--single-transaction", "--master-data=2", "--no-tablespaces", "--databases", "d")
        self.assertEqual((dump.returncode, dump.stderr), (0, ""))
        self.assertIsNone(load.failure)
        file, position = re.search(r"MASTER_LOG_FILE='(binlog\.\d+)', MASTER_LOG_POS=(\d+)", dump.stdout).groups()
        with Commitd(server_id=2) as copy:
            loaded = copy.client("mariadb", input=dump.stdout)
            self.assertEqual((loaded.returncode, loaded.stderr), (0, ""))
            self.check_sum(copy, load)
            # The rows are those of the log up to the position.
            replayed = self.replay_up_to(file, position)
            self.assertEqual(copy.query(CHECKSUM), replayed)

    def test_point_in_time_restore(self):
        """The backup, brought forward with the source's log files to a transaction, a time, or their end."""
        load = Load(self.server)
        self.server.query(f"BACKUP TO '{self.backup}'")
        self.server.query("UPDATE d.t SET v = 'first' WHERE id = 1")
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_log_bin = 0")
            cursor.execute("INSERT INTO d.t VALUES (1000, 0, 'unlogged')")
        self.server.query("FLUSH BINARY LOGS")
        self.server.query("CREATE TABLE d.later (id INT PRIMARY KEY)")
        wanted, at_gtid = self.server.query(CHECKSUM), executed(self.server)
        self.server.query("DO SLEEP(0.01)")
        time = self.server.query("SELECT UTC_TIMESTAMP(6)")[0][0]
        self.server.query("DO SLEEP(0.01)")
        self.server.query("FLUSH BINARY LOGS")
        self.server.query("DELETE FROM d.t")  # the accident
        end = executed(self.server)
        self.server.kill()
        for target, expected, gtids in ((f"--restore-until-gtid={at_gtid}", wanted, at_gtid),
                                        (f"--restore-until-time={time}", wanted, at_gtid),
                                        (None, ((0, None, None),), end)):
            flags = [f"--restore-binlogs={self.server.datadir}"] + ([target] if target else [])
            copy_of_backup = self.copy_of_backup()
            with restored(copy_of_backup, *flags) as copy:
                self.assertEqual((copy.query(CHECKSUM), executed(copy)), (expected, gtids), target)
                self.assertEqual(copy.query("SELECT COUNT(*) FROM d.later"), ((0,),))
                copy.query("INSERT INTO d.later VALUES (1)")
                copy.kill()
                copy.start(wait=False)
                self.assertEqual(copy.process.wait(timeout=60), 1)
                self.assertIn("has not been started yet", copy.log_text())
                copy.flags = []
                copy.start()
                self.assertEqual((copy.query(CHECKSUM), copy.query("SELECT COUNT(*) FROM d.later")), (expected, ((1,),)))
            shutil.rmtree(copy_of_backup, ignore_errors=True)
        copy = restored(self.copy_of_backup(), f"--restore-binlogs={self.server.datadir}", f"--restore-until-gtid={end.split(chr(58))[0]}:999999")
        self.addCleanup(shutil.rmtree, copy.directory)
        copy.start(wait=False)
        self.assertEqual(copy.process.wait(timeout=60), 1)
        self.assertIn("does not have", copy.log_text())
        self.assertIsNone(load.failure)

    def replay_up_to(self, file, position):
        """CHECKSUM of the backup with the source's log behind it, up to the position."""
        copy = self.copy_of_backup()
        self.server.kill()
        for name in os.listdir(copy):
            if name.startswith("binlog."):
                os.remove(os.path.join(copy, name))
        kept = [path for path in self.server.binlog_files() if os.path.basename(path) <= file]
        for path in kept:
            shutil.copy(path, copy)
        os.truncate(os.path.join(copy, file), int(position))
        with open(os.path.join(copy, "binlog.index"), "w") as index:
            index.write("".join(f"./{os.path.basename(path)}\n" for path in kept))
        with restored(copy) as replayed:
            return replayed.query(CHECKSUM)


if __name__ == "__main__":
    unittest.main()
