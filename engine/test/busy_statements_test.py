"""Statements that compute without end: others are answered beside them, and they can be ended."""

import contextlib
import socket
import threading
import time
import unittest
import urllib.request
from pathlib import Path

import pymysql

from commitd_process import Commitd, free_port, wait_until

ENDLESS = "SELECT COUNT(*) FROM " + ", ".join(f"d.t {name}" for name in "abcdefghijkl")  # 10^12 rows
SUBQUERY = f"SELECT COUNT(*) FROM d.t WHERE ({ENDLESS} WHERE a.id = t.id) > 0"  # one run of it is as long
QUESTIONS = 500
INTERRUPTED = 1317
ANSWER_SECONDS = 20  # when nothing answers, nothing ever will


class Busy:
    """A client with an endless statement."""

    def __init__(self, server, sql):
        self.sql = sql
        self.connection = server.connect()
        self.id = self.connection.thread_id()
        self.error = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            self.connection.cursor().execute(self.sql)
        except (pymysql.Error, OSError) as error:
            self.error = error


class BusyStatementsTest(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.server = Commitd()
        self.server.admin_port = free_port()
        self.server.flags.append(f"--admin-port={self.server.admin_port}")
        stack.enter_context(self.server)
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        self.server.query("INSERT INTO d.t VALUES " + ", ".join(f"({number})" for number in range(10)))

    def ask(self, sql):
        with self.server.connect(read_timeout=ANSWER_SECONDS) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def running(self):
        return self.ask(f"SELECT COUNT(*) FROM information_schema.processlist WHERE info IN ('{ENDLESS}', '{SUBQUERY}')")[0][0]

    def start(self, count, sql=ENDLESS):
        busy = [Busy(self.server, sql) for _ in range(count)]
        wait_until(lambda: self.running() == count, "the endless statements run")
        return busy

    def answer_beside(self, count, sql=ENDLESS):
        busy, times = self.start(count, sql), []
        with self.server.connect(read_timeout=ANSWER_SECONDS) as connection, connection.cursor() as cursor:
            for _ in range(QUESTIONS):
                asked = time.perf_counter()
                cursor.execute("SELECT 1")
                self.assertEqual(cursor.fetchall(), ((1,),))
                times.append(time.perf_counter() - asked)
            self.assertEqual(self.running(), count)
            for number, client in enumerate(busy):
                cursor.execute(f"KILL {'QUERY ' if number % 2 else ''}{client.id}")
        for client in busy:
            client.thread.join(ANSWER_SECONDS)
            self.assertFalse(client.thread.is_alive())
        self.assertEqual(busy[1].error.args[0], INTERRUPTED)
        wait_until(lambda: self.running() == 0, "none of them runs any more")
        print(f"SELECT 1 beside {count}: p99 {sorted(times)[QUESTIONS * 99 // 100] * 1e3:.1f} ms", end=" ", flush=True)

    def test_others_are_answered_beside_two(self):
        self.answer_beside(2)

    def test_others_are_answered_beside_four(self):
        self.answer_beside(4)

    def test_others_are_answered_beside_subqueries(self):
        self.answer_beside(4, SUBQUERY)

    def test_others_are_answered_beside_a_definition_change_that_can_be_killed(self):
        self.server.query("CREATE TABLE d.many (id INT PRIMARY KEY AUTO_INCREMENT, a INT, pad VARCHAR(300))")
        self.server.query("INSERT INTO d.many (a, pad) VALUES (1, REPEAT('x', 300))")
        while (rows := self.ask("SELECT COUNT(*) FROM d.many")[0][0]) < 250_000:
            self.server.query("INSERT INTO d.many (a, pad) SELECT a, pad FROM d.many")
        change = "ALTER TABLE d.many MODIFY a BIGINT, ADD INDEX (pad)"
        with contextlib.ExitStack() as stack:  # one for each thread that serves sessions
            others = [stack.enter_context(self.server.connect(read_timeout=ANSWER_SECONDS)) for _ in range(8)]
            busy = Busy(self.server, change)
            wait_until(lambda: self.ask(f"SELECT COUNT(*) FROM information_schema.processlist WHERE info = '{change}'") == ((1,),), "it runs")
            for _ in range(5):
                for other in others:
                    with other.cursor() as cursor:
                        cursor.execute("SELECT 1")
                self.assertTrue(busy.thread.is_alive())
            self.server.query(f"KILL QUERY {busy.id}")
            busy.thread.join(ANSWER_SECONDS)
        self.assertEqual(busy.error.args[0], INTERRUPTED)
        self.assertEqual(self.ask("SELECT COUNT(*) FROM d.many"), ((rows,),))
        self.assertIn("`a` int ", self.ask("SHOW CREATE TABLE d.many")[0][1])

    def test_a_statement_whose_client_has_gone_ends(self):
        for sql in (ENDLESS, SUBQUERY):
            for client in self.start(2, sql):
                client.connection._sock.shutdown(socket.SHUT_RDWR)
                client.thread.join(ANSWER_SECONDS)
            wait_until(lambda: self.running() == 0, "none of them runs any more")

    def processor_times(self):
        """Nanoseconds, by thread of the server."""
        times = {}
        for task in Path(f"/proc/{self.server.process.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
                times[(task / "comm").read_text().strip()] = int((task / "schedstat").read_text().split()[0])
        return times

    def busiest(self, work):
        before = self.processor_times()
        work()
        return max((after - before[name], name) for name, after in self.processor_times().items() if name in before)[1]

    def ping_admin_port(self):
        port = self.server.admin_port
        with contextlib.closing(pymysql.connect(host="127.0.0.1", port=port, user="root")) as connection:
            for _ in range(QUESTIONS):
                connection.ping()

    def ask_for_health(self):
        for _ in range(QUESTIONS):
            url = f"http://127.0.0.1:{self.server.http_port}/healthz"
            with urllib.request.urlopen(url, timeout=ANSWER_SECONDS) as reply:
                self.assertEqual(reply.read(), b"ok\n")

    def test_admin_sessions_and_probes_have_threads_of_their_own(self):
        self.assertEqual(self.busiest(self.ping_admin_port), "admin")
        self.assertEqual(self.busiest(self.ask_for_health), "http")


if __name__ == "__main__":
    unittest.main()
