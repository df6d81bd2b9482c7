"""What readers of the log ask for, by hand: MySQL's errors 1236, SHOW REPLICAS, heartbeats, readers that come twice."""

import contextlib
import struct
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until

FATAL = 1236
REGISTER, DUMP = 0x15, 0x12
HEARTBEAT = 27


class DumpRequestsTest(unittest.TestCase):
    def setUp(self):
        self.server = Commitd(server_id=5)
        self.addCleanup(self.server.__exit__)
        self.server.start()
        self.server.query("FLUSH BINARY LOGS")

    def reader(self, uuid=None, server_id=77, register=True):
        connection = self.server.connect()
        self.addCleanup(connection._force_close)
        with connection.cursor() as cursor:
            cursor.execute("SET @source_binlog_checksum = 'CRC32', @source_heartbeat_period = 100000000")
            if uuid:
                cursor.execute(f"SET @replica_uuid = '{uuid}'")
        if register:
            connection._execute_command(REGISTER, struct.pack("<IB4sBBHII", server_id, 4, b"host", 0, 0, 3307, 0, 0))
            connection._read_packet()
        return connection

    def dump(self, connection, file=b"binlog.000001", position=4, server_id=77):
        connection._execute_command(DUMP, struct.pack("<IHI", position, 0, server_id) + file)

    def events(self, connection):
        """Types and bytes, as they come."""
        while True:
            data = connection._read_packet().get_all_data()
            yield data[5], data[1:]

    def refusal(self, connection):
        with self.assertRaises(pymysql.MySQLError) as raised:
            for _ in self.events(connection):
                pass
        return raised.exception.args

    def refused(self, **request):
        reader = self.reader()
        self.dump(reader, **request)
        return self.refusal(reader)

    def test_what_cannot_be_read_is_refused_in_mysqls_words(self):
        for request, words in (({"file": b"binlog.000099"}, "Could not find first log file name in binary log index file"),
                               ({"file": b"nothing"}, "Could not find first log file name in binary log index file"),
                               ({"position": 3}, "Client requested source to start replication from position < 4"),
                               ({"position": 1 << 20}, "Client requested source to start replication from position > file size"),
                               ({"file": b"binlog.000002", "position": 1 << 20}, "Client requested source to start replication from position > file size")):
            number, text = self.refused(**request)
            self.assertEqual(number, FATAL, request)
            self.assertIn(words, text, request)

    def replicas(self):
        return self.server.query("SHOW REPLICAS")

    def test_show_replicas_lists_those_that_registered_while_they_read(self):
        uuid = "11111111-2222-3333-4444-555555555555"
        reader = self.reader(uuid)
        self.dump(reader)
        wait_until(self.replicas, "it is listed")
        self.assertEqual(self.replicas(), ((77, "host", 3307, 5, uuid),))
        self.assertEqual(self.server.query("SHOW SLAVE HOSTS"), self.replicas())
        reader._force_close()
        wait_until(lambda: self.replicas() == (), "it is listed no more")

    def test_an_idle_source_sends_heartbeats(self):
        reader = self.reader()
        self.dump(reader, file=b"binlog.000002")
        beats = []
        for kind, event in self.events(reader):
            if kind == HEARTBEAT:
                beats.append(event)
            if len(beats) == 2:
                break
        self.assertIn(b"binlog.000002", beats[0])

    def test_who_reads_twice_is_told_so_on_the_former_connection(self):
        uuid = "11111111-2222-3333-4444-555555555555"
        for former, latter in (({"uuid": uuid}, {"uuid": uuid, "server_id": 78}), ({}, {})):
            first = self.reader(**former)
            self.dump(first)
            next(self.events(first))
            second = self.reader(**latter)
            self.dump(second)
            number, text = self.refusal(first)
            self.assertEqual(number, FATAL)
            self.assertIn("A replica with the same server_uuid/server_id as this replica has connected to the source", text)
            next(self.events(second))
            second._force_close()

    def test_readers_that_take_nothing_cost_writers_no_wake_up(self):
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, large LONGBLOB)")
        readers = [self.reader(server_id=100 + number, register=False) for number in range(4)]
        for number, reader in enumerate(readers):
            self.dump(reader, server_id=100 + number)
        wait_until(lambda: self.server.metric("commitd_dump_sessions") == 4, "all have come")
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            for _ in range(10):  # more than sockets take
                cursor.execute("INSERT INTO d.t (large) VALUES (REPEAT('x', 4000000))")

            def wake_ups_of_ten_commits():
                before = self.server.metric("commitd_wakeups_total")
                for _ in range(10):
                    cursor.execute("INSERT INTO d.t () VALUES ()")
                return self.server.metric("commitd_wakeups_total") - before

            wait_until(lambda: wake_ups_of_ten_commits() == 10, "each wakes its own client only")
            self.assertEqual(self.server.metric("commitd_dump_sessions"), 4)

    def test_a_reader_needs_the_privilege(self):
        self.server.query("CREATE USER nobody")
        with contextlib.closing(self.server.connect("nobody")) as connection:
            self.dump(connection)
            self.assertEqual(code_of(connection._read_packet), 1227)


if __name__ == "__main__":
    unittest.main()
