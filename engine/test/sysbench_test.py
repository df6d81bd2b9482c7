"""sysbench's own OLTP scripts: every transaction succeeds, with prepared statements and without."""

import re
import unittest

from commitd_process import Commitd

import subprocess

SCRIPTS = ("oltp_read_write", "oltp_write_only", "oltp_point_select", "oltp_update_index", "oltp_insert", "oltp_delete", "bulk_insert")
ROWS = 500
EVENTS = 60


class SysbenchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd()
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def sysbench(self, script, mode, command):
        size = [] if script == "bulk_insert" else ["--tables=2", f"--table-size={ROWS}"]
        done = subprocess.run(
            ["sysbench", script, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.server.port}",
             "--mysql-user=root", "--mysql-db=sbtest", f"--db-ps-mode={mode}", "--threads=2", f"--events={EVENTS}",
             "--time=60", "--mysql-ignore-errors=1213,1205", *size, command],
            capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertNotIn("FATAL", done.stdout)
        return done.stdout

    def run_script(self, script, mode):
        self.server.query("CREATE DATABASE sbtest")
        self.sysbench(script, mode, "prepare")
        out = self.sysbench(script, mode, "run")
        self.assertEqual(int(re.search(r"transactions: +(\d+)", out)[1]), EVENTS)
        self.assertEqual(int(re.search(r"reconnects: +(\d+)", out)[1]), 0)
        if script != "bulk_insert":
            expected = ROWS + (EVENTS // 2 if script == "oltp_insert" else 0)
            rows = sum(self.server.query(f"SELECT COUNT(*) FROM sbtest.sbtest{i}")[0][0] for i in (1, 2))
            if script == "oltp_delete":
                self.assertLess(rows, 2 * ROWS)
            else:
                self.assertEqual(rows, 2 * expected)
            for table in ("sbtest1", "sbtest2"):
                self.assertEqual(self.server.query(f"CHECK TABLE sbtest.{table}")[-1][2:], ("status", "OK"))
        self.sysbench(script, mode, "cleanup")
        self.assertEqual(self.server.query("SHOW TABLES FROM sbtest"), ())
        self.server.query("DROP DATABASE sbtest")

    def test_every_script_with_and_without_prepared_statements(self):
        for mode in ("auto", "disable"):
            for script in SCRIPTS:
                with self.subTest(script=script, prepared=mode):
                    self.run_script(script, mode)


if __name__ == "__main__":
    unittest.main()
