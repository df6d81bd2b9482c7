"""What the commit path does to the disk, counted from outside; and what it leaves there."""

import contextlib
import os
import re
import subprocess
import unittest

from commitd_process import Commitd
from preload import on_a_slow_disk


# Wake-ups and syncs are counted: on processors that are free.
RUNS_ALONE = True


class CommitPathTest(unittest.TestCase):
    def write_load(self, server, clients, queries):
        done = server.client("mariadb-slap", f"--concurrency={clients}", "--iterations=1", "--create-schema=slap",
                             "--query=INSERT INTO slap.t (v) VALUES ('some text of a usual length')",
                             "--create=CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(100))",
                             f"--number-of-queries={queries}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))  # it exits with 0 also when a query failed

    def test_one_fdatasync_per_group_and_no_other_sync(self):
        """strace's count of syncs during a write load equals the number of commit groups."""
        with Commitd() as server:
            server.query("CREATE DATABASE IF NOT EXISTS warm")
            trace = os.path.join(server.directory, "trace")
            strace = subprocess.Popen(["strace", "-f", "-o", trace, "-e", "trace=fsync,fdatasync,sync_file_range,msync,syncfs",
                                       "-p", str(server.process.pid)], stderr=subprocess.PIPE)
            self.assertIn(b"attached", strace.stderr.readline())
            groups = server.metric("commitd_commit_groups_total")
            self.write_load(server, clients=16, queries=4000)
            groups = server.metric("commitd_commit_groups_total") - groups
            strace.terminate()
            strace.communicate()
            with open(trace) as lines:
                calls = re.findall(r"\b(fsync|fdatasync|sync_file_range|msync|syncfs)\(", lines.read())
        self.assertGreater(groups, 100)
        self.assertEqual(set(calls), {"fdatasync"})
        self.assertEqual(len(calls), groups)

    def test_groups_hold_several_transactions_under_load(self):
        with on_a_slow_disk() as server:
            server.query("CREATE DATABASE warm")  # a counter appears with its first event
            before = (server.metric("commitd_commit_groups_total"), server.metric("commitd_commit_group_transactions_total"))
            self.write_load(server, clients=32, queries=6400)
            groups = server.metric("commitd_commit_groups_total") - before[0]
            transactions = server.metric("commitd_commit_group_transactions_total") - before[1]
            self.assertGreaterEqual(transactions, 6400)
            self.assertGreater(transactions / groups, 2)

    def test_clients_that_would_take_turns_share_their_syncs(self):
        """Two clients: when one is answered, the other waits for its turn already."""
        names = ("commitd_commit_groups_total", "commitd_commit_group_waits_total")
        added = {}
        with on_a_slow_disk(milliseconds=10) as server:
            self.write_load(server, clients=2, queries=100)  # a counter appears with its first event
            for adaptive in ("ON", "OFF"):
                server.query(f"SET GLOBAL commitd_adaptive_group_commit = {adaptive}")
                before = [server.metric(name) for name in names]
                self.write_load(server, clients=2, queries=200)
                added[adaptive] = [server.metric(name) - value for name, value in zip(names, before)]
        groups, waits = added["ON"]
        self.assertLess(groups, 150)
        self.assertGreater(waits, 0)
        self.assertEqual(added["OFF"][1], 0)

    def test_a_client_that_is_alone_finds_the_reactors_awake(self):
        wakeups = {}
        for limit in (0, 10000):
            with on_a_slow_disk(f"--commitd-idle-spin-microseconds={limit}", "--commitd-reactor-threads=1") as server:
                server.query("CREATE DATABASE d")
                server.query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT)")
                with contextlib.closing(server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
                    before = server.metric("commitd_reactor_wakeups_total")
                    for _ in range(100):
                        cursor.execute("INSERT INTO d.t VALUES ()")
                    wakeups[limit] = server.metric("commitd_reactor_wakeups_total") - before
        self.assertGreater(wakeups[0], 150)  # the client's command, and the end of its commit
        # Where others need the processors, some of the looking is in vain.
        self.assertLess(wakeups[10000], wakeups[0] * 0.9)

    def test_binlog_is_readable_by_the_standard_tool(self):
        with Commitd() as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))")
            server.query("INSERT INTO d.t VALUES (1, 'one'), (2, 'two')")
            server.query("UPDATE d.t SET v = 'zwei' WHERE id = 2")
            server.query("DELETE FROM d.t WHERE id = 1")
            self.assertEqual(server.terminate(), 0)
            out = ""
            for path in server.binlog_files():
                done = subprocess.run(["mariadb-binlog", "--no-defaults", "-vv", "--verify-binlog-checksum", path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                out += done.stdout
        for expected in ("INSERT INTO `d`.`t`", "UPDATE `d`.`t`", "DELETE FROM `d`.`t`", "@2='zwei'", "CREATE TABLE", "MySQL Gtid"):
            self.assertIn(expected, out)

    def test_committed_rows_survive_a_crash_without_any_engine_flush(self):
        with Commitd() as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20), KEY by_v (v))")
            server.query("CREATE TABLE d.bag (v VARCHAR(20))")
            with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                for i in range(500):
                    cursor.execute("INSERT INTO d.t (v) VALUES (%s)", (f"v{i % 7}",))
                    cursor.execute("INSERT INTO d.bag VALUES (%s)", (f"v{i}",))
                cursor.execute("DELETE FROM d.bag WHERE v = 'v3'")
                cursor.execute("SELECT @@global.gtid_executed")
                executed = cursor.fetchone()[0]
            server.kill()
            server.start()
            self.assertEqual(server.query("SELECT COUNT(*), MAX(id) FROM d.t"), ((500, 500),))
            self.assertEqual(server.query("SELECT COUNT(*) FROM d.t WHERE v = 'v1'")[0][0], 72)
            self.assertEqual(server.query("SELECT COUNT(*) FROM d.bag"), ((499,),))
            self.assertEqual(server.query("SELECT @@global.gtid_executed")[0][0], executed)

    def test_the_file_that_is_written_is_readable_and_its_zeros_are_no_torn_tail(self):
        """The log's file is written ahead with zeros: other tools read it while it grows, recovery takes them for what they are."""
        def decoded(path):
            done = subprocess.run(["mariadb-binlog", "--no-defaults", "-vv", path], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout

        with Commitd("--commitd-binlog-prefill=256K") as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
            server.query("INSERT INTO d.t VALUES (11), (22)")
            active = server.binlog_files()[-1]
            self.assertGreater(os.path.getsize(active), 256 << 10)
            self.assertEqual(decoded(active).count("### INSERT INTO `d`.`t`"), 2)
            server.kill()
            server.start()
            self.assertNotIn("torn tail", server.log_text())
            self.assertEqual(server.query("SELECT * FROM d.t"), ((11,), (22,)))
            server.query("INSERT INTO d.t VALUES (33)")
            server.query("FLUSH BINARY LOGS")
            self.assertLess(os.path.getsize(active), 16 << 10)
            self.assertEqual(decoded(active).count("### INSERT INTO `d`.`t`"), 3)
            server.query("INSERT INTO d.t VALUES (44)")
            self.assertEqual(server.terminate(), 0)
            self.assertLess(os.path.getsize(server.binlog_files()[-1]), 16 << 10)

    def test_a_torn_tail_is_cut_and_corruption_in_the_middle_is_refused(self):
        with Commitd("--commitd-binlog-prefill=0") as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
            for i in range(20):
                server.query(f"INSERT INTO d.t VALUES ({i})")
            server.kill()
            newest = server.binlog_files()[-1]
            with open(newest, "ab") as log:
                log.write(b"\x07" * 100)  # half of a group that never became durable
            server.start()
            self.assertEqual(server.query("SELECT COUNT(*) FROM d.t"), ((20,),))
            server.kill()

            size = os.path.getsize(newest)
            with open(newest, "r+b") as log:
                log.seek(size // 2)
                log.write(b"\xff\xff\xff")
            server.start(wait=False)
            self.assertNotEqual(server.process.wait(timeout=60), 0)
            self.assertIn(os.path.basename(newest), server.log_text())
            self.assertEqual(os.path.getsize(newest), size)

    def test_clean_shutdown_and_second_server_on_the_same_datadir(self):
        with Commitd() as server:
            second = Commitd(datadir=server.datadir)
            second.start(wait=False)
            self.assertNotEqual(second.process.wait(timeout=60), 0)
            self.assertIn("Another server is running", second.log_text())
            second.__exit__()
            self.assertEqual(server.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
