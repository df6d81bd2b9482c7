#!/usr/bin/python3
"""A start that has much log to replay: how much memory it takes, and what it says it did."""

import contextlib
import os
import unittest

from commitd_process import Commitd
from process_memory import assert_memory_below, peak_bytes

# Nothing reaches the engine's files, so that all of the log is to be replayed.
NO_FLUSH = ["--sync-binlog=0", f"--commitd-write-buffer-size={4 << 30}", "--commitd-checkpoint-bytes=0", "--commitd-checkpoint-seconds=0"]
SMALL_BUFFERS = [f"--commitd-write-buffer-size={4 << 20}", f"--commitd-block-cache-size={8 << 20}"]
ROWS = 100  # of a transaction


def write_rows(server, transactions):
    server.query("CREATE DATABASE d")
    server.query("CREATE TABLE d.t (id INT PRIMARY KEY, n INT, v VARCHAR(1000), KEY (n))")
    with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
        for t in range(transactions):
            values = ",".join(f"({id},{id % 97},'{id:0900}')" for id in range(t * ROWS, (t + 1) * ROWS))
            cursor.execute("INSERT INTO d.t VALUES " + values)


def restart_by_replay(server, flags):
    server.kill()
    server.flags = flags
    server.start()


class Replay(unittest.TestCase):
    def test_memory_does_not_grow_with_the_log(self):
        peaks, logs = [], []
        for transactions in (400, 1200):
            with Commitd(*NO_FLUSH) as server:
                write_rows(server, transactions)
                logs.append(sum(os.path.getsize(path) for path in server.binlog_files()))
                restart_by_replay(server, SMALL_BUFFERS)
                peaks.append(peak_bytes(server))
                self.assertEqual(server.query("SELECT COUNT(*), MAX(id) FROM d.t"), ((transactions * ROWS, transactions * ROWS - 1),))
        self.assertGreater(logs[1] - logs[0], 70_000_000)
        assert_memory_below(self, peaks[1] - peaks[0], (logs[1] - logs[0]) // 2, (peaks, logs))

    def test_it_says_what_it_did(self):
        with Commitd(*NO_FLUSH) as server:
            write_rows(server, 20)
            restart_by_replay(server, NO_FLUSH)
            # Two definitions; a row is its own entry and one of the index.
            self.assertEqual(server.metric("commitd_recovery_replayed_transactions"), 22)
            self.assertGreaterEqual(server.metric("commitd_recovery_replayed_rows"), 2 * 20 * ROWS)
            self.assertEqual(server.metric("commitd_recovery_replayed_bytes"), server.metric("commitd_recovery_log_bytes"))
            self.assertGreater(server.metric("commitd_recovery_seconds"), 0)


if __name__ == "__main__":
    unittest.main()
