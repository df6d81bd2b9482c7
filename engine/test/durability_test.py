"""commitd_durability, sync_binlog and the legacy switches of the commit path: counted, killed and switched."""

import contextlib
import itertools
import os
import re
import subprocess
import threading
import unittest

import pymysql

from commitd_process import Commitd
from killed_writers import write_until_killed
from preload import on_a_slow_disk

INSERT = "INSERT INTO slap.t (v) VALUES ('some text of a usual length')"


# Every session's own thread takes what it commits into the engine.
ANY_ORDER = ("--commitd-durability=xa", "--thread-handling=one-thread-per-connection", "--binlog-order-commits=OFF")


def is_in_bag(number):
    return number % 3 == 0


def with_a_bag(number):
    """What a transaction does to d.t, and some to d.bag."""
    bag = [f"INSERT INTO d.bag VALUES ({number})"] if is_in_bag(number) else []
    return [f"INSERT INTO d.t VALUES ({number}, 'x')"] + bag


def counts(server):
    names = {"binlog": "commitd_binlog_fsyncs_total", "engine": "commitd_engine_fsyncs_total",
             "groups": "commitd_commit_groups_total", "transactions": "commitd_commit_group_transactions_total",
             "wakeups": "commitd_wakeups_total"}
    return {name: server.metric(metric) for name, metric in names.items()}


class DurabilityTest(unittest.TestCase):
    def load(self, server, clients=8, queries=800):
        """What a write load adds to the counters."""
        server.query("CREATE DATABASE IF NOT EXISTS slap")
        server.query("CREATE TABLE IF NOT EXISTS slap.t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(100))")
        before = counts(server)
        done = server.client("mariadb-slap", f"--concurrency={clients}", "--iterations=1", "--no-drop",
                             f"--query={INSERT}", f"--number-of-queries={queries}", "--create-schema=slap")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {name: value - before[name] for name, value in counts(server).items()}

    def refused(self, server, *expected):
        """The server does not start, and says why."""
        server.start(wait=False)
        self.assertNotEqual(server.process.wait(timeout=60), 0)
        for text in expected:
            self.assertIn(text, server.log_text())

    def set_fails(self, server, statement, *expected):
        with self.assertRaises(pymysql.err.MySQLError) as raised:
            server.query(statement)
        for text in expected:
            self.assertIn(text, str(raised.exception))

    def test_single_log_syncs_once_per_group_and_the_engine_never(self):
        with Commitd() as server:
            added = self.load(server)
            self.assertEqual(added["binlog"], added["groups"])
            self.assertEqual(added["engine"], 0)
            server.query("SET GLOBAL sync_binlog = 0")
            self.assertEqual(self.load(server)["binlog"], 0)
            server.query("SET GLOBAL sync_binlog = 10")
            added = self.load(server)
            self.assertLessEqual(abs(added["binlog"] - added["groups"] / 10), 1)
            server.kill()
            server.start()
            self.assertEqual(server.query("SELECT COUNT(*) FROM slap.t"), ((2400,),))

    def test_a_delay_makes_groups_larger(self):
        with Commitd() as server:
            server.query("SET GLOBAL binlog_group_commit_sync_delay = 1000000")
            server.query("SET GLOBAL binlog_group_commit_sync_no_delay_count = 8")
            added = self.load(server, clients=8, queries=80)
            self.assertLessEqual(added["groups"], added["transactions"] / 2)

    def test_xa_syncs_engine_binlog_engine(self):
        with Commitd("--commitd-durability=xa") as server:
            server.query("CREATE DATABASE slap")
            trace = os.path.join(server.directory, "trace")
            strace = subprocess.Popen(["strace", "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync",
                                       "-p", str(server.process.pid)], stderr=subprocess.PIPE)
            self.assertIn(b"attached", strace.stderr.readline())
            added = self.load(server)
            strace.terminate()
            strace.communicate()
            with open(trace) as lines:
                synced = re.findall(r"\bf(?:data)?sync\(\d+<([^>]*)>", lines.read())
            self.assertEqual(added["binlog"], added["groups"])
            # Once to prepare a group; once to commit what was acknowledged meanwhile, one group or several.
            self.assertGreaterEqual(added["engine"], added["groups"])
            self.assertLessEqual(added["engine"], 2 * added["groups"])
            own_log = [path for path in synced if path.endswith(".log")]
            binlog = [path for path in synced if "binlog." in path]
            self.assertGreaterEqual(len(own_log), added["engine"])
            self.assertGreaterEqual(len(binlog), added["binlog"])

            server.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
            added = self.load(server)
            self.assertEqual(added["binlog"], added["groups"])
            self.assertLess(added["engine"], added["groups"] / 4, "once a second is all")

    def test_prepare_commit_mutex_syncs_three_times_per_transaction(self):
        with on_a_slow_disk("--commitd-durability=xa", "--commitd-prepare-commit-mutex=ON") as server:
            added = self.load(server, queries=200)
            self.assertEqual(added["transactions"], 200)
            self.assertEqual(added["groups"], 200)
            self.assertEqual((added["binlog"], added["engine"]), (200, 400))
            server.query("SET GLOBAL commitd_prepare_commit_mutex = OFF")
            self.assertLess(self.load(server, queries=800)["groups"], 800)

    def test_without_an_order_every_session_commits_and_syncs_by_itself(self):
        with on_a_slow_disk(*ANY_ORDER) as server:
            added = self.load(server, queries=400)
            self.assertEqual(added["binlog"], added["groups"])
            self.assertEqual(added["engine"], added["groups"] + added["transactions"])
            self.assertLess(added["groups"], 400)
            server.query("SET GLOBAL binlog_order_commits = ON")
            added = self.load(server, queries=400)
            self.assertLessEqual(added["engine"], 2 * added["groups"])

    def test_without_an_order_the_position_under_a_read_lock_is_that_of_what_can_be_seen(self):
        """Seed 004, part 2: what the log has up to the position is what the tables have."""
        with Commitd(*ANY_ORDER) as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id BIGINT PRIMARY KEY, v VARCHAR(100))")
            with self.writing(server), contextlib.closing(server.connect()) as locker, locker.cursor() as cursor:
                for _ in range(10):
                    cursor.execute("FLUSH TABLES WITH READ LOCK")
                    cursor.execute("SHOW BINARY LOG STATUS")
                    file, position = cursor.fetchone()[:2]
                    cursor.execute("SELECT COUNT(*) FROM d.t")
                    rows = cursor.fetchone()[0]
                    cursor.execute("UNLOCK TABLES")
                    self.assertEqual(self.rows_logged(server, file, position), rows)

    @contextlib.contextmanager
    def writing(self, server, writers=8):
        stop = threading.Event()

        def write(writer):
            with contextlib.closing(server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
                for i in itertools.count():
                    if stop.is_set():
                        return
                    cursor.execute("INSERT INTO d.t VALUES (%s, 'x')", (writer * 1000000 + i,))

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def rows_logged(self, server, file, position):
        read = subprocess.run(["mariadb-binlog", "--no-defaults", "-v", "--base64-output=decode-rows", f"--stop-position={position}",
                               os.path.join(server.datadir, file)], capture_output=True, text=True, check=True)
        return len(re.findall(r"^### INSERT INTO `d`.`t`", read.stdout, re.MULTILINE))

    def test_acknowledged_commits_survive_kills_in_xa(self):
        self.survive_kills("--commitd-durability=xa")

    def test_acknowledged_commits_survive_kills_without_an_order(self):
        self.survive_kills(*ANY_ORDER)

    def survive_kills(self, *flags):
        """Some transactions have rows without a primary key, which go into the engine in order at all times."""
        with Commitd(*flags) as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id BIGINT PRIMARY KEY, v VARCHAR(100), KEY (v))")
            server.query("CREATE TABLE d.bag (v BIGINT)")
            acknowledged, level = set(), 0
            for round_number in range(4):
                server.query(f"SET GLOBAL flush_log_at_trx_commit = {level}")
                level = (level + 1) % 3
                acknowledged |= write_until_killed(server, round_number, with_a_bag, enough=60)
                server.start()
                rows = {row[0] for row in server.query("SELECT id FROM d.t")}
                self.assertEqual(acknowledged - rows, set())
                self.assertEqual(sorted(row for row in rows if is_in_bag(row)), sorted(row[0] for row in server.query("SELECT v FROM d.bag")))
            self.assertGreater(len(acknowledged), 100)
            self.assertRegex(server.log_text(), r"committed_prepared=\d")

    def test_the_mode_is_switched_after_a_clean_shutdown_only(self):
        with Commitd() as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
            server.query("INSERT INTO d.t VALUES (1)")
            server.kill()
            server.flags = ["--commitd-durability=xa"]
            self.refused(server, "was used with commitd_durability=single_log and not shut down cleanly")
            server.flags = []
            server.start()
            self.assertEqual(server.terminate(), 0)
            server.flags = ["--commitd-durability=xa"]
            server.start()
            self.assertEqual(server.query("SELECT @@commitd_durability, COUNT(*) FROM d.t"), (("xa", 1),))
            server.query("INSERT INTO d.t VALUES (2)")
            server.kill()
            server.flags = []
            self.refused(server, "was used with commitd_durability=xa and not shut down cleanly")
            server.flags = ["--commitd-durability=xa"]
            server.start()
            self.assertEqual(server.terminate(), 0)
            server.flags = []
            server.start()
            self.assertEqual(server.query("SELECT COUNT(*) FROM d.t"), ((2,),))

    def test_what_needs_xa_is_refused_in_single_log(self):
        for flag in ("--skip-log-bin", "--log-replica-updates=OFF", "--binlog-error-action=IGNORE_ERROR",
                     "--binlog-order-commits=OFF", "--commitd-prepare-commit-mutex=ON"):
            with self.subTest(flag):
                server = Commitd(flag)
                self.refused(server, "It needs --commitd-durability=xa")
                server.__exit__()
        with Commitd() as server:
            self.set_fails(server, "SET GLOBAL commitd_prepare_commit_mutex = ON", "1231", "commitd-durability=xa")
            self.set_fails(server, "SET GLOBAL binlog_order_commits = OFF", "1231", "commitd-durability=xa")
            self.set_fails(server, "SET GLOBAL commitd_durability = 'xa'", "1238")
            with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                cursor.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
                cursor.execute("SHOW WARNINGS")
                self.assertIn("has no effect", cursor.fetchall()[0][2])

    def test_without_an_order_every_session_needs_a_thread(self):
        with Commitd("--commitd-durability=xa") as server:
            self.set_fails(server, "SET GLOBAL binlog_order_commits = OFF", "1231", "--thread-handling=one-thread-per-connection")

    def test_broadcast_wakes_more_and_loses_nobody(self):
        with on_a_slow_disk() as server:
            targeted = self.load(server, clients=16, queries=1600)
            self.assertEqual(targeted["wakeups"], targeted["transactions"])
            server.query("SET GLOBAL commitd_wakeup = 'broadcast'")
            broadcast = self.load(server, clients=16, queries=1600)
            self.assertEqual(broadcast["transactions"], 1600)
            self.assertGreater(broadcast["wakeups"], 1600)


if __name__ == "__main__":
    unittest.main()
