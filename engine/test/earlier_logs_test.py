"""Logs as earlier versions wrote them, at a restart and on a replica."""

import contextlib
import unittest
import zlib

from commitd_process import Commitd
from pair import PairTest

# Nothing reaches the engine's files, so that all of the log is to be replayed.
NO_FLUSH = ["--sync-binlog=0", f"--commitd-write-buffer-size={4 << 30}", "--commitd-checkpoint-bytes=0", "--commitd-checkpoint-seconds=0"]
HEADER, QUERY, REAL_AS_FLOAT = 19, 2, 1
SQL_MODE_AT = HEADER + 13 + 5 + 1  # behind the fixed part, the flags and the code


def events(log):
    at = 4
    while at < len(log):
        length = int.from_bytes(log[at + 9:at + 13], "little")
        yield at, length
        at += length


def logged_under(path, words, mode):
    """The statement with these words gets another sql_mode in the log."""
    with open(path, "r+b") as file:
        log = bytearray(file.read())
        [(at, length)] = [(at, length) for at, length in events(log) if log[at + 4] == QUERY and words.encode() in log[at:at + length]]
        log[at + SQL_MODE_AT] |= mode
        log[at + length - 4:at + length] = zlib.crc32(log[at:at + length - 4]).to_bytes(4, "little")
        file.seek(0)
        file.write(log)


class EarlierLogsTest(PairTest):
    def setUp(self):
        self.source = self.started(Commitd(*NO_FLUSH))
        self.replica = self.started(Commitd(server_id=2))

    def restart_by_replay(self):
        self.source.kill()
        self.source.start()

    def assert_both_have(self, kind, rows):
        self.follow()
        self.wait_for_all()
        for server in (self.source, self.replica):
            self.assertIn(f"`v` {kind} ", server.query("SHOW CREATE TABLE d.r")[0][1])
            self.assertEqual(server.query("SELECT * FROM d.r ORDER BY id"), rows)

    def test_real_was_double_in_every_mode(self):
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.r (id INT PRIMARY KEY, v REAL, n INT)")
        self.source.query("INSERT INTO d.r VALUES (1, 0.1, 7), (2, 1e300, 8)")
        rows = self.source.query("SELECT * FROM d.r ORDER BY id")
        self.source.kill()
        logged_under(self.source.binlog_files()[0], "CREATE TABLE d.r", REAL_AS_FLOAT)
        self.source.start()
        self.assert_both_have("double", rows)

    def test_real_that_is_float_is_logged_as_float(self):
        with contextlib.closing(self.source.connect()) as connection, connection.cursor() as cursor:
            for statement in ("CREATE DATABASE d", "SET sql_mode = 'ANSI'", 'CREATE TABLE d."r" (id INT PRIMARY KEY, v REAL)',
                              "INSERT INTO d.r VALUES (1, 0.1)"):
                cursor.execute(statement)
        with open(self.source.binlog_files()[0], "rb") as log:
            self.assertIn(b'CREATE TABLE d."r" (id INT PRIMARY KEY, v FLOAT)', log.read())
        rows = self.source.query("SELECT * FROM d.r")
        self.restart_by_replay()
        self.assert_both_have("float", rows)


if __name__ == "__main__":
    unittest.main()
