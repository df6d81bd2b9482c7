"""Transactions append to lists and read them, all at once; no level shows an anomaly that it forbids (list_append.py).

LIST_APPEND=20000 runs that many transactions at each level.
"""

import contextlib
import itertools
import os
import random
import threading
import unittest

import pymysql

from commitd_process import Commitd
from list_append import Append, History, Read, Transaction

TRANSACTIONS = int(os.environ.get("LIST_APPEND", "1000"))
SESSIONS = 8
KEYS_AT_ONCE, LIST_LENGTH = 6, 40
DEADLOCK, LOCK_WAIT = 1213, 1205

BY_WRITES = {"order", "lost", "G0", "G1a", "G1b", "G1c"}
# InnoDB's REPEATABLE READ: reads are of one snapshot, writes go by the newest rows. So only who writes may have G-single.
FORBIDDEN = {"READ COMMITTED": BY_WRITES, "REPEATABLE READ": BY_WRITES | {"read skew"}, "SERIALIZABLE": BY_WRITES | {"read skew", "G-single", "G2"}}


def r(key, *elements):
    return Read(key, elements)


def a(key, element):
    return Append(key, element)


def t(*operations, committed=True):
    return Transaction(operations, committed)


# What such histories look like: (name, transactions, lists at the end).
BAD = [
    ("G0", [t(a(1, 1), a(2, 1)), t(a(1, 2), a(2, 2))], {1: (1, 2), 2: (2, 1)}),
    ("G1a", [t(a(1, 1)), t(a(1, 2), committed=False), t(r(1, 1, 2))], {1: (1, 2)}),
    ("G1a", [t(a(1, 1)), t(a(1, 2), committed=False)], {1: (1, 2)}),
    ("G1b", [t(a(1, 1), a(1, 2)), t(r(1, 1))], {1: (1, 2)}),
    ("G1c", [t(a(1, 1), r(2, 1)), t(a(2, 1), r(1, 1))], {1: (1,), 2: (1,)}),
    ("G-single", [t(r(1), a(1, 2)), t(a(1, 1))], {1: (1, 2)}),  # a lost update
    ("read skew", [t(r(1), r(2, 1)), t(a(1, 1), a(2, 1))], {1: (1,), 2: (1,)}),
    ("G2", [t(r(1), r(2), a(1, 1)), t(r(1), r(2), a(2, 1))], {1: (1,), 2: (1,)}),
    ("G2", [t(r(1), a(2, 1)), t(r(2), a(3, 1)), t(r(3), a(1, 1))], {1: (1,), 2: (1,), 3: (1,)}),
    ("lost", [t(a(1, 1)), t(a(1, 2))], {1: (1,)}),
    ("order", [t(a(1, 1)), t(a(1, 2)), t(r(1, 2))], {1: (1, 2)}),
]
GOOD = [
    ([t(a(1, 1)), t(r(1, 1), a(1, 2), r(1, 1, 2)), t(r(1)), t(r(1, 1, 2)), t(a(1, 3), committed=False)], {1: (1, 2)}),
    ([t(r(1), r(2)), t(a(1, 1), a(2, 1)), t(r(2, 1), r(1, 1)), t(a(1, 2), a(1, 3)), t(r(1, 1, 2, 3))], {1: (1, 2, 3), 2: (1,)}),
]


class CheckerTest(unittest.TestCase):
    def test_each_anomaly_is_found_and_named(self):
        for name, transactions, final in BAD:
            with self.subTest(name, transactions=transactions):
                self.assertIn(name, History(transactions, final).anomalies())

    def test_cycles_are_no_other_anomaly(self):
        for name, transactions, final in BAD:
            if name in ("G0", "G1c", "G-single", "read skew", "G2"):
                self.assertEqual(set(History(transactions, final).anomalies()), {name})

    def test_good_histories_have_none(self):
        for transactions, final in GOOD:
            self.assertEqual(History(transactions, final).anomalies(), {})

    def test_a_long_circle(self):
        count = 5000
        transactions = [t(a(i, 1), r((i + 1) % count)) for i in range(count)]
        self.assertEqual(set(History(transactions, {i: (1,) for i in range(count)}).anomalies()), {"G2"})


class Load:
    """`count` transactions of a few operations each by several sessions; keys that are full give way to new ones."""

    def __init__(self, server, level, count, seed):
        self.server, self.level = server, level
        self.numbers, self.elements = iter(range(count)), itertools.count(1)
        self.seed, self.appended = seed, 0
        self.transactions, self.failures, self.lock = [], [], threading.Lock()

    def run(self):
        self.server.query("CREATE DATABASE IF NOT EXISTS d")
        self.server.query("DROP TABLE IF EXISTS d.lists")
        self.server.query("CREATE TABLE d.lists (id INT PRIMARY KEY, elements TEXT NOT NULL)")
        threads = [threading.Thread(target=self.session, args=(random.Random(self.seed + i),)) for i in range(SESSIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]
        final = {key: parsed(text) for key, text in self.server.query("SELECT id, elements FROM d.lists")}
        return History(self.transactions, final)

    def session(self, chance):
        try:
            with contextlib.closing(self.server.connect(database="d")) as connection, connection.cursor() as cursor:
                cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {self.level}")
                while self.take_number() is not None:
                    transaction = self.transaction(connection, cursor, chance)
                    with self.lock:
                        self.transactions.append(transaction)
        except Exception as failure:  # for the test's own thread
            self.failures.append(failure)

    def take_number(self):
        with self.lock:
            return next(self.numbers, None)

    def transaction(self, connection, cursor, chance):
        done, reads_only = [], chance.random() < 0.3
        connection.begin()
        try:
            for _ in range(chance.randrange(1, 5)):
                key = self.appended // (KEYS_AT_ONCE * LIST_LENGTH) * KEYS_AT_ONCE + chance.randrange(KEYS_AT_ONCE)
                if reads_only or chance.random() < 0.4:
                    cursor.execute(f"SELECT elements FROM lists WHERE id = {key}")
                    row = cursor.fetchone()
                    done.append(Read(key, parsed(row[0]) if row else ()))
                else:
                    element = next(self.elements)
                    done.append(Append(key, element))
                    cursor.execute(f"INSERT INTO lists VALUES ({key}, '{element}') ON DUPLICATE KEY UPDATE elements = CONCAT(elements, ',{element}')")
                    self.appended += 1
        except pymysql.err.OperationalError as error:
            if error.args[0] not in (DEADLOCK, LOCK_WAIT):
                raise
            connection.rollback()
            return Transaction(tuple(done), committed=False)
        if chance.random() < 0.05:
            connection.rollback()
            return Transaction(tuple(done), committed=False)
        connection.commit()
        return Transaction(tuple(done))


def parsed(text):
    return tuple(map(int, text.split(",")))


class ListAppendTest(unittest.TestCase):
    def test_no_level_shows_what_it_forbids(self):
        with Commitd() as server:
            for level, forbidden in FORBIDDEN.items():
                with self.subTest(level):
                    history = Load(server, level, TRANSACTIONS, seed=20261124).run()
                    committed = sum(transaction.committed for transaction in history.transactions)
                    self.assertGreater(committed, TRANSACTIONS // 4)
                    found = history.anomalies()
                    print(f"{level}: {committed} of {len(history.transactions)} committed;",
                          ", ".join(f"{name} {len(examples)}" for name, examples in found.items()) or "no anomaly", flush=True)
                    self.assertEqual({name: examples[:3] for name, examples in found.items() if name in forbidden}, {})


if __name__ == "__main__":
    unittest.main()
