"""Statements that compute without end: others are answered beside them, and they can be ended."""

import contextlib
import threading
import time
import unittest

import pymysql

from commitd_process import Commitd, wait_until

ENDLESS = "SELECT COUNT(*) FROM " + ", ".join(f"d.t {name}" for name in "abcdefghijkl")  # 10^12 rows
QUESTIONS = 500
INTERRUPTED = 1317
ANSWER_SECONDS = 20  # when nothing answers, nothing ever will


class Busy:
    """A client with an endless statement."""

    def __init__(self, server):
        self.connection = server.connect()
        self.id = self.connection.thread_id()
        self.error = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            self.connection.cursor().execute(ENDLESS)
        except (pymysql.Error, OSError) as error:
            self.error = error


class BusyStatementsTest(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.server = stack.enter_context(Commitd())
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        self.server.query("INSERT INTO d.t VALUES " + ", ".join(f"({number})" for number in range(10)))

    def ask(self, sql):
        with self.server.connect(read_timeout=ANSWER_SECONDS) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def running(self):
        return self.ask(f"SELECT COUNT(*) FROM information_schema.processlist WHERE info = '{ENDLESS}'")[0][0]

    def start(self, count):
        busy = [Busy(self.server) for _ in range(count)]
        wait_until(lambda: self.running() == count, "the endless statements run")
        return busy

    def answer_beside(self, count):
        busy, times = self.start(count), []
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


if __name__ == "__main__":
    unittest.main()
