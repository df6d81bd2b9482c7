"""The comparison itself: does the shim count what it should, are figures what they say, does a run produce a report."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import results  # noqa: E402
import servers  # noqa: E402
import sync_counters  # noqa: E402

SYNCS = """
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(fd, b"x" * 4096)
os.fsync(fd); os.fdatasync(fd)
mapped = mmap.mmap(fd, 4096); mapped.flush()
os.close(fd)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_DSYNC)
os.write(fd, b"y"); os.pwrite(fd, b"y", 7)
os.close(fd)
fd = os.open(sys.argv[1], os.O_RDWR)
os.write(fd, b"z")
"""


class ShimTest(unittest.TestCase):
    def setUp(self):
        sync_counters.build()

    def counted(self, disk):
        with tempfile.TemporaryDirectory() as directory:
            counters = os.path.join(directory, "syncs")
            environment = dict(os.environ, **sync_counters.Disk(disk).environment(counters))
            subprocess.run([sys.executable, "-c", SYNCS, os.path.join(directory, "file")], env=environment, check=True)
            return sync_counters.read(counters)

    def test_every_kind_of_sync_counts_once_and_plain_writes_do_not(self):
        found = self.counted("native")
        self.assertEqual((found["syncs"], sum(found["sync_buckets"])), (5, 5))

    def test_a_slow_disk_is_seen_in_the_distribution(self):
        for disk, at_least_us in (("+20", 20000), ("50/s", 20000)):
            buckets = self.counted(disk)["sync_buckets"]
            self.assertGreaterEqual(sync_counters.percentile_us(buckets, 0.2), at_least_us)

    def test_an_unknown_disk_is_refused(self):
        for text in ("fast", "1200", "+x"):
            with self.assertRaises(ValueError):
                sync_counters.Disk(text)


COMES_AND_GOES = """
import threading
while True:
    threads = [threading.Thread(target=int) for _ in range(50)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


class CountsTest(unittest.TestCase):
    def test_threads_that_end_while_they_are_counted_fail_nothing(self):
        server = object.__new__(servers.Server)
        with subprocess.Popen([sys.executable, "-c", COMES_AND_GOES]) as server.process:
            try:
                for _ in range(2000):
                    self.assertGreaterEqual(server.context_switches(), 0)
            finally:
                server.process.kill()


class FiguresTest(unittest.TestCase):
    def test_a_round_is_told_per_operation(self):
        before = {"cpu_us": 100, "context_switches": 10, "syncs": 5, "sync_buckets": [0] * 256, "groups": 1, "logged_bytes": 0}
        buckets = [0] * 256
        buckets[80] = 20  # 1024 … 1152 ns
        after = {"cpu_us": 2100, "context_switches": 210, "syncs": 25, "sync_buckets": buckets, "groups": 11, "logged_bytes": 30000}
        figures = results.of_round(100, 2.0, before, after)
        expected = {"rate": 50, "cpu_us": 20, "context_switches": 2, "syncs": 0.2, "syncs_per_group": 2, "logged_bytes": 300, "groups": 0.1,
                    "sync_p50_us": 1.152, "sync_p99_us": 1.152}
        self.assertEqual(figures, expected)

    def test_medians_and_ratios(self):
        with tempfile.TemporaryDirectory() as directory:
            found = results.Results(directory)
            blank = {name: 0 for name, _, _ in results.FIGURES} | {"sync_p50_us": 0, "sync_p99_us": 0}
            for server, rates in (("mariadb", (90, 100, 900)), ("commitd", (10, 250, 260)), ("commitd", (240, 250, 260))):
                case = {"load": "l", "disk": "native", "durable": True, "clients": 1, "server": server}
                found.put(case, "inserts", [dict(blank, rate=rate) for rate in rates])
            lines = results.table(results.Results(directory), "mariadb").splitlines()
            self.assertEqual(len(lines), 4)  # the second measurement replaced the first
            self.assertIn("| commitd | 250 | 2.50 |", lines[2])
            self.assertIn("| mariadb | 100 | 1.00 |", lines[3])

    def test_series_are_read_by_their_full_name_and_summed_by_their_bare_one(self):
        found = servers.parse_metrics('# HELP a x\na{b="c d"} 1\na{b="e"} 2.5\nplain 3\n')
        self.assertEqual(found, {'a{b="c d"}': 1, 'a{b="e"}': 2.5, "a": 3.5, "plain": 3})

    def test_servers_on_the_command_line(self):
        self.assertEqual(compare.parse_server("mariadb"), ("mariadb", "mariadb", []))
        self.assertEqual(compare.parse_server("ceiling"), ("ceiling", "ceiling", []))
        self.assertEqual(compare.parse_server("before=commitd@/old/commitd,--a=1"), ("before", "commitd@/old/commitd", ["--a=1"]))
        self.assertEqual(compare.parse_server("commitd,--a=1"), ("commitd", "commitd", ["--a=1"]))
        self.assertEqual(compare.parse_server("xa=commitd,--commitd_durability=xa,--b"), ("xa", "commitd", ["--commitd_durability=xa", "--b"]))


class RunTest(unittest.TestCase):
    def test_a_short_run_against_mariadb(self):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([str(HERE / "compare.py"), "slap-write", "oltp_update_index", "connect", "--server", "mariadb", "--clients", "1,2", "--rounds", "1",
                                   "--seconds", "1", "--memory", "3", "--out", out], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            cases = json.loads(pathlib.Path(out, "results.json").read_text())
            self.assertEqual(len(cases), 6)
            for case in cases:
                self.assertGreater(case["median"]["rate"], 0)
                if case["case"]["load"] != "connect":
                    self.assertGreater(case["median"]["syncs"], 0)
                    self.assertGreater(case["median"]["logged_bytes"], 0)
            self.assertIn("with 3 connections", pathlib.Path(out, "report.md").read_text())
            self.assertTrue(pathlib.Path(out, "slap-write-native-durable.png").exists())


if __name__ == "__main__":
    unittest.main()
