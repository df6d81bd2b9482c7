"""The slow log: what is in it, that mysqldumpslow reads it, that FLUSH makes a new file."""

import contextlib
import os
import pathlib
import re
import subprocess
import unittest

from commitd_process import Commitd, wait_until

ENTRY = re.compile(
    r"# Time: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\n"
    r"# User@Host: (?P<user>\S+) @ (?P<host>\S*) \[(?P<ip>[^]]*)\]  Id: +(?P<id>\d+)\n"
    r"# Query_time: (?P<time>\d+\.\d{6})  Lock_time: (?P<lock>\d+\.\d{6}) Rows_sent: (?P<sent>\d+)  Rows_examined: (?P<examined>\d+)\n"
    r"(?:use (?P<db>\w+);\n)?SET timestamp=\d+;\n(?P<text>.*?);\n(?=# Time|/|\Z)", re.S)


class SlowLogTest(unittest.TestCase):
    def setUp(self):
        self.server = Commitd("--slow-query-log=1", "--slow-query-log-file=slow.log", "--long-query-time=1000")
        self.addCleanup(self.server.__exit__)
        self.server.start()
        self.path = pathlib.Path(self.server.datadir) / "slow.log"
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY, a INT)")
        self.server.query("INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)")

    def entries(self, path=None):
        return [match.groupdict() for match in ENTRY.finditer((path or self.path).read_text())]

    def entry(self, text):
        """The one entry whose statement has this in it."""
        self.wait_for(text)
        [found] = [entry for entry in self.entries() if text in entry["text"]]
        return found

    def run_statements(self, *statements, **options):
        with contextlib.closing(self.server.connect(**options)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            cursor.execute("SHOW SESSION STATUS LIKE 'Slow_queries'")
            return int(cursor.fetchone()[1])

    def wait_for(self, text):
        wait_until(lambda: text in self.path.read_text(), f"the log has {text!r}")

    def test_has_what_took_longer_than_long_query_time(self):
        self.assertEqual(self.run_statements("SELECT 'quick'"), 0)
        self.assertGreaterEqual(self.run_statements("SET long_query_time = 0.05", "SELECT SLEEP(0.1), 'slept'"), 1)
        entry = self.entry("slept")
        self.assertNotIn("quick", self.path.read_text())
        self.assertGreaterEqual(float(entry["time"]), 0.1)
        self.assertEqual((entry["user"], entry["ip"], entry["sent"], entry["examined"]), ("root[root]", "127.0.0.1", "1", "0"))
        self.assertRegex(self.path.read_text(), r"^/\S+, Version: 8\.4\.")

    def test_has_what_uses_no_index(self):
        self.run_statements("SET GLOBAL log_queries_not_using_indexes = ON", "SELECT * FROM t WHERE a > 1", "SELECT * FROM t WHERE id = 2",
                            "UPDATE t SET a = 9 WHERE a = 3", "SET SESSION min_examined_row_limit = 4", "SELECT 'few' FROM t",
                            "SET GLOBAL log_queries_not_using_indexes = OFF", "SELECT 'none' FROM t", database="d")
        self.run_statements("SET long_query_time = 0.05", "DO SLEEP(0.1)")
        self.wait_for("DO SLEEP")
        self.assertEqual([(e["text"], e["db"], e["sent"], e["examined"]) for e in self.entries() if "long_query_time" not in e["text"]],
                         [("SELECT * FROM t WHERE a > 1", "d", "2", "3"), ("UPDATE t SET a = 9 WHERE a = 3", None, "0", "3"),
                          ("DO SLEEP(0.1)", None, "0", "0")])

    def test_counts_the_wait_for_locks(self):
        with contextlib.closing(self.server.connect(database="d")) as holder, holder.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("UPDATE t SET a = 5 WHERE id = 1")
            with self.assertRaisesRegex(Exception, "Lock wait timeout"):
                self.run_statements("SET innodb_lock_wait_timeout = 1", "SET long_query_time = 0.5", "DELETE FROM t WHERE id = 1", database="d")
        entry = self.entry("DELETE FROM t")
        self.assertGreaterEqual(float(entry["lock"]), 0.9)
        self.assertLessEqual(float(entry["lock"]), float(entry["time"]))

    def test_has_no_passwords(self):
        self.run_statements("SET long_query_time = 0", "CREATE USER u IDENTIFIED BY 'secret'", "SELECT 'behind', SLEEP(0.01)")
        self.wait_for("behind")
        self.assertNotIn("secret", self.path.read_text())

    def test_flush_goes_on_in_a_new_file(self):
        slow = ("SET long_query_time = 0.01", "USE d", "SELECT SLEEP(0.05), '%s'")
        self.run_statements(*slow[:2], slow[2] % "before")
        self.wait_for("before")
        moved = self.path.with_suffix(".1")
        os.rename(self.path, moved)
        self.server.query("FLUSH SLOW LOGS")
        self.run_statements(*slow[:2], slow[2] % "after")
        self.wait_for("after")
        self.assertIn("before", moved.read_text())
        self.assertNotIn("after", moved.read_text())
        self.assertNotIn("before", self.path.read_text())
        self.assertIn("use d;\n", self.path.read_text())

    def test_is_switched_and_moved_while_the_server_runs(self):
        other = pathlib.Path(self.server.datadir) / "other.log"
        slow = ("SET long_query_time = 0.01", "SELECT SLEEP(0.05), '%s'")
        self.run_statements("SET GLOBAL slow_query_log = OFF", slow[0], slow[1] % "off")
        self.run_statements("SET GLOBAL slow_query_log = ON", slow[0], slow[1] % "on")
        self.wait_for("'on'")
        self.assertNotIn("'off'", self.path.read_text())
        self.run_statements(f"SET GLOBAL slow_query_log_file = '{other}'", slow[0], slow[1] % "there")
        wait_until(lambda: "'there'" in other.read_text(), "the other file is written")
        self.assertNotIn("there", self.path.read_text())
        with self.assertRaises(Exception):
            self.server.query("SET GLOBAL slow_query_log_file = '/nowhere/at/all.log'")
        self.assertEqual(self.server.query("SELECT @@slow_query_log_file")[0][0], str(other))
        self.assertEqual(self.server.query("SHOW VARIABLES LIKE 'long_query_time'")[0][1], "1000.000000")

    def test_mysqldumpslow_reads_it(self):
        self.run_statements("SET long_query_time = 0.01", "SELECT SLEEP(0.05), 1", "SELECT SLEEP(0.06), 2")
        self.wait_for("0.06")
        # Debian's program is MariaDB's, which differs from MySQL's in what it takes for the line of the time.
        copy = self.path.with_suffix(".copy")
        copy.write_text(re.sub(r"^# Time: .*\n", "", self.path.read_text(), flags=re.M))
        done = subprocess.run(["mysqldumpslow", str(copy)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"Count: 2  Time=.* Rows.*=1\.0 \(2\).*root\[root\]@")
        self.assertIn("SELECT SLEEP(N.N), N", done.stdout)


if __name__ == "__main__":
    unittest.main()
