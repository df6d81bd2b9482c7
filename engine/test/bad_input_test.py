"""Clients that break the rules get an error or lose their connection; nobody else notices, and nothing is left of them."""

import contextlib
import os
import random
import socket
import struct
import time
import unittest

import pymysql

from commitd_process import Commitd, wait_until
from process_memory import assert_memory_below, resident_bytes
from raw_client import CAPABILITIES, SSL, RawClient, error_number

MEBIBYTE = 1024 * 1024


class BadInputTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd("--max-allowed-packet=4M")
        cls.server.start()
        cls.server.query("CREATE DATABASE d")
        cls.server.query("CREATE USER known@'%' IDENTIFIED BY 'right'")
        cls.server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        # The bystander, whose session must live through everything.
        cls.bystander = cls.server.connect()

    @classmethod
    def tearDownClass(cls):
        cls.bystander.close()
        cls.server.__exit__()

    def tearDown(self):
        with self.bystander.cursor() as cursor:
            cursor.execute("SELECT 1")
            self.assertEqual(cursor.fetchall(), ((1,),))
        self.assertIsNone(self.server.process.poll(), self.server.log_text())

    @contextlib.contextmanager
    def logged_in(self):
        with RawClient(self.server.port) as client:
            self.assertEqual(client.log_in()[0], 0)
            yield client

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def test_garbage_instead_of_a_login(self):
        dice = random.Random(1)
        for i in range(200):
            with RawClient(self.server.port) as client:
                client.receive()
                garbage = dice.randbytes(dice.randrange(1, 300))
                if i % 2:
                    client.send(1, garbage)
                else:
                    client.socket.sendall(garbage)
                client.socket.shutdown(socket.SHUT_WR)
                client.drain()

    def test_garbage_behind_every_command(self):
        dice = random.Random(2)
        for number in range(256):
            if number == 8:  # COM_SHUTDOWN is no garbage
                continue
            with self.logged_in() as client:
                client.send(0, bytes([number]) + dice.randbytes(dice.randrange(60)))
                client.socket.shutdown(socket.SHUT_WR)
                client.drain()

    def test_wrong_sequence_number_is_1156(self):
        with self.logged_in() as client:
            client.send(7, b"\x0e")
            self.assertEqual(error_number(client.receive()), 1156)
            self.assertEqual(client.drain(), b"")

    def test_too_long_a_packet_is_1153_and_the_limit_itself_is_not(self):
        with self.logged_in() as client:
            fits = "SELECT LENGTH('%s')" % ("x" * (4 * MEBIBYTE - 40))
            self.assertEqual(error_number(client.query(fits)[0]), 0)
            client.send(0, b"\x03" + b"x" * (4 * MEBIBYTE + 10))
            self.assertEqual(error_number(client.receive()), 1153)

    def test_a_length_that_is_only_claimed_costs_no_memory(self):
        before = resident_bytes(self.server)
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                client = stack.enter_context(self.logged_in())
                client.socket.sendall(struct.pack("<I", 4 * MEBIBYTE - 10)[:3] + b"\0" + b"\x03x")
            time.sleep(0.2)
            assert_memory_below(self, resident_bytes(self.server) - before, 30 * MEBIBYTE)

    def test_half_closed_socket_still_gets_its_answer(self):
        with self.logged_in() as client:
            client.send(0, b"\x03SELECT 'still there'")
            client.socket.shutdown(socket.SHUT_WR)
            self.assertIn(b"still there", client.drain())

    def test_wrong_password_and_unknown_user_are_told_the_same(self):
        messages = []
        for user in ("known", "unknown"):
            with self.assertRaises(pymysql.MySQLError) as raised:
                self.server.connect(user, "wrong")
            self.assertEqual(raised.exception.args[0], 1045)
            messages.append(raised.exception.args[1].replace(f"'{user}'", "USER"))
        self.assertEqual(*messages)

    def test_a_mebibyte_of_parentheses_is_an_error(self):
        for text in ("(" * MEBIBYTE, "SELECT " + "(" * MEBIBYTE, "SELECT " + "(" * MEBIBYTE + "1" + ")" * MEBIBYTE,
                     "SELECT " + "NOT " * (MEBIBYTE // 4) + "1", "SELECT " + "-" * MEBIBYTE + "1",
                     "SELECT 1" + " UNION SELECT 1" * (MEBIBYTE // 15), "SELECT " + "CASE WHEN " * (MEBIBYTE // 10),
                     "SELECT * FROM " + "(SELECT * FROM " * (MEBIBYTE // 15), "SELECT " + "~" * MEBIBYTE + "1",
                     "SELECT 1" + "+1" * (MEBIBYTE // 2), "SELECT 1" + " AND 1" * (MEBIBYTE // 6)):
            with self.subTest(text[:20]), self.logged_in() as client:
                answer = client.query(text)
                self.assertTrue(answer)

    def test_truncated_prepared_statement_packets_are_errors(self):
        with self.logged_in() as client:
            prepared = client.command(22, b"SELECT ?, ?")
            self.assertEqual(prepared[0], 0)
            statement = prepared[1:5]
            for _ in range(2 + 1 + 2 + 1):
                client.receive()
            whole = statement + b"\0" + struct.pack("<I", 1) + b"\0\1" + b"\x08\0\xfd\0" + b"\1" * 8 + b"\4text"
            for size in range(len(whole)):
                answer = client.command(23, whole[:size])
                self.assertEqual(answer[:1], b"\xff", size)
            self.assertEqual(client.command(23, whole)[:1], b"\2")

    def test_garbage_instead_of_tls(self):
        dice = random.Random(3)
        request = struct.pack("<IIB23s", CAPABILITIES | SSL, 1 << 24, 45, b"")
        for i in range(100):
            with RawClient(self.server.port) as client:
                client.receive()
                client.send(1, request)
                # Half of them look like the beginning of a handshake.
                head = b"\x16\x03\x01" + struct.pack(">H", 200) if i % 2 else b""
                client.socket.sendall(head + dice.randbytes(200))
                client.socket.shutdown(socket.SHUT_WR)
                self.assertNotIn(b"#08S01", client.drain())

    def test_a_thousand_bad_connections_leave_nothing_behind(self):
        dice = random.Random(4)

        def round_of_bad_connections(count):
            for i in range(count):
                with RawClient(self.server.port) as client:
                    if i % 4 == 0:
                        client.receive()
                        client.send(1, dice.randbytes(50))
                    elif i % 4 == 1:
                        client.log_in()
                        client.send(0, b"\x16SELECT ?")  # prepared, never closed
                        client.send(9, b"nonsense")
                    elif i % 4 == 2:
                        client.log_in()
                        client.socket.sendall(b"\xff\xff\x00\x00\x03SELECT")  # cut off
                    else:
                        client.receive()
                        client.send(1, struct.pack("<IIB23s", CAPABILITIES | SSL, 1 << 24, 45, b""))
                        client.socket.sendall(dice.randbytes(64))

        round_of_bad_connections(200)  # what is allocated once
        alone = lambda: self.server.query("SHOW STATUS LIKE 'Threads_connected'")[0][1] == "2"
        wait_until(alone, "bad connections are gone")
        descriptors, resident = self.descriptors(), resident_bytes(self.server)
        round_of_bad_connections(1000)
        wait_until(alone, "bad connections are gone")
        wait_until(lambda: self.descriptors() <= descriptors, f"{descriptors} descriptors again")
        assert_memory_below(self, resident_bytes(self.server) - resident, 8 * MEBIBYTE)


if __name__ == "__main__":
    unittest.main()
