#!/usr/bin/python3
"""Transactions that are larger than the memory the server may use: they go through temporary files, are there after a kill -9,
and other clients see all of them or nothing."""

import contextlib
import os
import pathlib
import struct
import subprocess
import threading
import unittest

import pymysql

from commitd_process import Commitd, wait_until
from process_memory import assert_memory_below, peak_bytes
from raw_client import RawClient

MEBIBYTE = 1024 * 1024
ROW = 256 * 1024
ROWS = 768  # 192 MiB
SMALL = ["--commitd-memory-budget=64M", "--commitd-block-cache-size=8M", "--commitd-write-buffer-size=4M", "--max-allowed-packet=16M"]
# Budget, binary, readers' pages of the log, what the allocator keeps; less than one copy of the transaction.
MOST_MEMORY = 160 * MEBIBYTE


def temporary_files(server):
    """Those that the server has open: they have no name any more."""
    links = []
    for entry in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(entry))
    return [link for link in links if "commitd-cache-" in link]


def status(server, name):
    return int(server.query(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])


def prepare(client, sql):
    """Of a SELECT without parameters; gives its number."""
    statement, columns = struct.unpack_from("<IH", client.command(0x16, sql.encode()), 1)
    for _ in range(columns + 1):
        client.receive()
    return statement


def rows_found(client, statement):
    packets = [client.command(0x17, struct.pack("<IBI", statement, 0, 1))]
    while sum(packet[0] == 0xFE for packet in packets) < 2:
        packets.append(client.receive())
    return sum(packet[0] == 0x00 for packet in packets)


def insert_rows(cursor, ids):
    for number in ids:
        cursor.execute(f"INSERT INTO d.t VALUES ({number}, {number % 7}, REPEAT('{chr(97 + number % 26)}', {ROW}))")


class LargeTransaction(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Commitd(*SMALL))
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY, n INT, pad LONGTEXT, KEY (n))")

    def begin(self):
        connection = self.enterContext(contextlib.closing(self.server.connect(autocommit=False)))
        return connection, self.enterContext(connection.cursor())

    def check_content(self, rows, server=None):
        server = server or self.server
        self.assertEqual(server.query("SELECT COUNT(*), SUM(LENGTH(pad)) FROM d.t"), ((rows, rows * ROW),))
        self.assertEqual(server.query("SELECT COUNT(*) FROM d.t FORCE INDEX (n) WHERE n = 3")[0][0],
                         len([number for number in range(rows) if number % 7 == 3]))
        for number in (0, rows // 2, rows - 1):
            self.assertEqual(server.query(f"SELECT pad = REPEAT('{chr(97 + number % 26)}', {ROW}) FROM d.t WHERE id = {number}"), ((1,),))

    def test_it_takes_no_memory_survives_a_kill_and_is_read_back_in_bounded_memory(self):
        connection, cursor = self.begin()
        insert_rows(cursor, range(ROWS - 100))
        cursor.execute("SAVEPOINT s")
        insert_rows(cursor, range(ROWS - 50, ROWS + 50))
        cursor.execute("ROLLBACK TO s")
        insert_rows(cursor, range(ROWS - 100, ROWS))
        cursor.execute("SELECT COUNT(*), SUM(LENGTH(pad)) FROM d.t")
        self.assertEqual(cursor.fetchone(), (ROWS, ROWS * ROW), "its own writes")
        self.assertEqual(self.server.query("SELECT COUNT(*) FROM d.t"), ((0,),))
        self.assertNotEqual(temporary_files(self.server), [])
        self.assertEqual(status(self.server, "Binlog_cache_disk_use"), 1)
        connection.commit()
        self.assertEqual(temporary_files(self.server), [])
        assert_memory_below(self, peak_bytes(self.server), MOST_MEMORY)
        self.check_content(ROWS)
        self.server.kill()
        self.server.start()
        assert_memory_below(self, peak_bytes(self.server), MOST_MEMORY, "replay")
        self.check_content(ROWS)
        self.check_binlog()

    def test_who_reads_its_first_row_while_it_commits_reads_its_last_row_too(self):
        """By prepared statements, whose kept plans take no snapshot for one row."""
        connection, cursor = self.begin()
        insert_rows(cursor, range(ROWS))
        seen = []

        def read_until_it_is_there():
            with RawClient(self.server.port) as reader:
                reader.log_in()
                statements = [prepare(reader, f"SELECT n FROM d.t WHERE id = {number}") for number in (0, ROWS - 1)]
                while not seen or seen[-1] == [0, 0]:
                    seen.append([rows_found(reader, statement) for statement in statements])

        reading = threading.Thread(target=read_until_it_is_there)
        reading.start()
        wait_until(lambda: seen, "it reads")
        connection.commit()
        reading.join(timeout=300)
        self.assertIn(seen[-1], ([0, 1], [1, 1]))

    def test_a_replica_receives_and_applies_it_in_bounded_memory(self):
        replica = self.enterContext(Commitd(*SMALL, server_id=2))
        replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={self.server.port}, "
                      "SOURCE_USER='root', SOURCE_AUTO_POSITION=1")
        replica.query("START REPLICA")
        connection, cursor = self.begin()
        insert_rows(cursor, range(ROWS))
        connection.commit()
        executed = self.server.query("SELECT @@GLOBAL.gtid_executed")[0][0]
        self.assertEqual(replica.query(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 300)"), ((0,),))
        assert_memory_below(self, peak_bytes(replica), MOST_MEMORY)
        assert_memory_below(self, peak_bytes(self.server), MOST_MEMORY, "its dump")
        self.check_content(ROWS, replica)

    def check_binlog(self):
        command = ["mariadb-binlog", "--no-defaults", "-v", "--base64-output=decode-rows", *self.server.binlog_files()]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as reader:
            rows = sum(line.startswith(b"### INSERT INTO") for line in reader.stdout)
        self.assertEqual((reader.returncode, rows), (0, ROWS))

    def test_a_rollback_and_a_lost_client_leave_nothing(self):
        connection, cursor = self.begin()
        insert_rows(cursor, range(40))
        self.assertNotEqual(temporary_files(self.server), [])
        connection.rollback()
        self.assertEqual(temporary_files(self.server), [])
        insert_rows(cursor, range(40))
        connection.commit()
        self.check_content(40)
        connection, cursor = self.begin()
        insert_rows(cursor, range(40, 80))
        self.assertNotEqual(temporary_files(self.server), [])
        connection._force_close()
        wait_until(lambda: temporary_files(self.server) == [], "the lost client's transaction is rolled back")
        self.check_content(40)

    def test_a_start_without_a_role_finishes_what_the_engine_has_parts_of(self):
        connection, cursor = self.begin()
        insert_rows(cursor, range(100))  # several memtables; the last part is in none that is full
        connection.commit()
        executed = self.server.query("SELECT @@GLOBAL.gtid_executed")
        self.server.kill()
        self.server.flags = SMALL + ["--require-role"]
        self.server.start()
        self.assertEqual(self.server.query("SELECT @@GLOBAL.gtid_executed"), executed)
        self.check_content(100)

    def test_a_file_that_a_crash_left_is_removed_at_start(self):
        left = pathlib.Path(self.server.datadir) / "commitd-cache-17.tmp"
        self.server.kill()
        left.write_bytes(b"events")
        self.server.start()
        self.assertFalse(left.exists())

    def test_beyond_max_binlog_cache_size_it_is_error_1197(self):
        self.server.query(f"SET GLOBAL max_binlog_cache_size = {20 * MEBIBYTE}")
        connection, cursor = self.begin()
        with self.assertRaises(pymysql.MySQLError) as raised:
            insert_rows(cursor, range(ROWS))
        self.assertEqual(raised.exception.args[0], 1197)
        self.assertIn("max_binlog_cache_size", raised.exception.args[1])
        connection.commit()
        rows = self.server.query("SELECT COUNT(*) FROM d.t")[0][0]
        self.assertEqual(rows, 20 * MEBIBYTE // ROW - 1)


if __name__ == "__main__":
    unittest.main()
