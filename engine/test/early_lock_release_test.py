"""Early lock release: what clients are told while commits wait for their group, and what holds when the server dies."""

import contextlib
import errno
import os
import pathlib
import random
import tempfile
import threading
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until
from preload import FAULTS, preload

DISK_FULL, DUPLICATE, DEADLOCK = 1021, 1062, 1213
RETRY = (1205, DEADLOCK)


class Statement(threading.Thread):
    """One statement on a connection of its own, which may wait."""

    def __init__(self, server, sql):
        super().__init__(daemon=True)
        self.connection = server.connect()
        self.sql = sql
        self.code = self.rows = None
        self.start()

    def run(self):
        def execute():
            with self.connection.cursor() as cursor:
                cursor.execute(self.sql)
                self.rows = cursor.fetchall()

        self.code = code_of(execute)

    def is_answered_within(self, seconds):
        self.join(seconds)
        return not self.is_alive()

    def result(self):
        self.join(60)
        self.connection.close()
        return self.code, self.rows


class HeldCommits:
    """While it lasts, commits stay in the queue: their order is fixed, they are not in the log."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connect()

    def execute(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)

    def __enter__(self):
        self.execute("FLUSH TABLES WITH READ LOCK")
        return self

    def __exit__(self, *_):
        self.connection.close()

    def release(self):
        self.execute("UNLOCK TABLES")


class RepliesTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.orders = pathlib.Path(self.directory, "orders")
        self.server = self.enterContext(Commitd("--commitd-early-lock-release=ON",
                                                wrapper=preload(FAULTS, self.directory, DISK_FAULTS=self.orders)))
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY, n INT, u INT UNIQUE)")
        self.server.query("INSERT INTO d.t VALUES (1, 10, 100), (2, 20, 200)")

    def queued(self, sql):
        before = self.server.metric("commitd_early_lock_releases_total")
        statement = Statement(self.server, sql)
        wait_until(lambda: self.server.metric("commitd_early_lock_releases_total") > before, f"queued: {sql}")
        return statement

    def open_transaction(self):
        connection = self.enterContext(contextlib.closing(self.server.connect(autocommit=False)))
        return self.enterContext(connection.cursor())

    def values(self):
        return self.server.query("SELECT id, n FROM d.t ORDER BY id")

    def test_changes_go_ahead_and_answers_wait(self):
        with HeldCommits(self.server) as held:
            first = self.queued("UPDATE d.t SET n = n + 1 WHERE id = 1")
            second = self.queued("UPDATE d.t SET n = n * 2 WHERE id = 1")
            cursor = self.open_transaction()
            self.assertEqual(cursor.execute("UPDATE d.t SET n = n + 1 WHERE id = 1"), 1)  # at once
            self.queued("INSERT INTO d.t VALUES (3, 30, 300), (4, 40, 400)")
            row = Statement(self.server, "SELECT n FROM d.t WHERE id = 3 FOR SHARE")
            duplicate = Statement(self.server, "INSERT INTO d.t VALUES (5, 50, 400)")
            unchanged = Statement(self.server, "UPDATE d.t SET n = 40 WHERE id = 4")
            waiting = (first, second, row, duplicate, unchanged)
            self.assertFalse(any(one.is_answered_within(0.1) for one in waiting))
            self.assertEqual(self.values(), ((1, 10), (2, 20)))
            held.release()
            self.assertEqual([one.result()[0] for one in waiting], [None, None, None, DUPLICATE, None])
            self.assertEqual(row.rows, ((30,),))
            cursor.execute("COMMIT")
        self.assertEqual(self.values(), ((1, 23), (2, 20), (3, 30), (4, 40)))

    def test_a_transaction_is_shown_what_its_own_changes_follow_from_when_that_is_acknowledged(self):
        self.check_that_a_read_waits("SELECT n FROM d.t WHERE id = 1")

    def test_so_it_is_by_a_prepared_statement_whose_plan_is_kept(self):
        self.check_that_a_read_waits("EXECUTE kept USING @one")

    def test_so_it_is_by_literals_that_are_kept(self):
        self.check_that_a_read_waits("SELECT 12")

    def check_that_a_read_waits(self, select):
        cursor = self.open_transaction()
        for statement in ("PREPARE kept FROM 'SELECT n FROM d.t WHERE id = ?'", "SET @one = 1", "EXECUTE kept USING @one", "SELECT 12", "COMMIT"):
            cursor.execute(statement)
        with HeldCommits(self.server) as held:
            self.queued("UPDATE d.t SET n = n + 1 WHERE id = 1")
            cursor.execute("UPDATE d.t SET n = n + 1 WHERE id = 1")
            reader = threading.Thread(target=lambda: cursor.execute(select), daemon=True)
            reader.start()
            reader.join(0.1)
            self.assertTrue(reader.is_alive())
            self.assertEqual(self.values(), ((1, 10), (2, 20)))
            held.release()
            reader.join(60)
            self.assertEqual(cursor.fetchall(), ((12,),))
            cursor.execute("ROLLBACK")
        self.assertEqual(self.values(), ((1, 11), (2, 20)))

    def test_who_has_seen_what_a_full_disk_refused_fails_and_the_server_goes_on(self):
        with HeldCommits(self.server) as held:
            first = self.queued("UPDATE d.t SET n = n + 1 WHERE id = 1")
            second = self.queued("UPDATE d.t SET n = n + 1 WHERE id = 1")
            committing, reading, rolling_back = (self.open_transaction() for _ in range(3))
            committing.execute("UPDATE d.t SET n = n + 1 WHERE id = 1")
            self.queued("INSERT INTO d.t VALUES (3, 30, 300)")
            self.queued("INSERT INTO d.t VALUES (4, 40, 400)")
            reading.execute("UPDATE d.t SET n = n + 1 WHERE id = 3")
            rolling_back.execute("UPDATE d.t SET n = n + 1 WHERE id = 4")
            duplicate = Statement(self.server, "INSERT INTO d.t VALUES (5, 50, 200)")  # nothing of this is lost
            self.orders.write_text(f"pwritev {errno.ENOSPC}\n")
            held.release()
            self.assertEqual([first.result()[0], second.result()[0]], [DISK_FULL, DISK_FULL])
            self.orders.unlink()
            self.assertEqual(code_of(lambda: committing.execute("COMMIT")), DEADLOCK)
            self.assertEqual(code_of(lambda: reading.execute("SELECT 1")), DEADLOCK)
            self.assertEqual(code_of(lambda: rolling_back.execute("ROLLBACK")), DEADLOCK)
            self.assertEqual(duplicate.result()[0], DUPLICATE)
            for cursor in (committing, reading, rolling_back):
                self.assertIsNone(code_of(lambda: cursor.execute("SELECT 1")))  # once is enough
        self.assertEqual(self.values(), ((1, 10), (2, 20)))
        self.server.query("UPDATE d.t SET n = n + 1 WHERE id = 1")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.values(), ((1, 11), (2, 20)))

    def test_switched_off_a_lock_is_held_to_the_end(self):
        self.server.query("SET GLOBAL commitd_early_lock_release = OFF")
        with HeldCommits(self.server) as held:
            first = Statement(self.server, "UPDATE d.t SET n = n + 1 WHERE id = 1")
            locked = "SELECT n FROM d.t WHERE id = 1 FOR UPDATE NOWAIT"
            wait_until(lambda: code_of(lambda: self.server.query(locked)) == 3572, "the row is locked")
            held.release()
            self.assertIsNone(first.result()[0])
        self.assertEqual(self.server.query(locked), ((11,),))
        self.assertEqual(self.server.metric("commitd_early_lock_releases_total"), 1)  # the rows of setUp()


class Ledger:
    """What clients were told, for the comparison after a crash."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tokens, self.claimed, self.refused, self.read = set(), set(), set(), {}

    def note_read(self, row, value):
        with self.lock:
            self.read[row] = max(self.read.get(row, 0), value)


class Writer(threading.Thread):
    """Increments few rows, claims slots that all others want too, and reads under a lock, until the server dies."""

    def __init__(self, server, number, seed, rows, ledger):
        super().__init__(daemon=True)
        self.server, self.number, self.rows, self.ledger = server, number, rows, ledger
        self.random = random.Random(seed)
        self.answers = 0

    def run(self):
        with contextlib.suppress(pymysql.err.Error, OSError):
            with contextlib.closing(self.server.connect(database="d")) as connection, connection.cursor() as cursor:
                cursor.execute("SELECT COALESCE(MAX(slot), 0) FROM claims")
                self.slot = cursor.fetchone()[0]
                while True:
                    self.step(cursor)
                    self.answers += 1

    def step(self, cursor):
        try:
            self.random.choice((self.increment, self.increment, self.claim, self.look))(cursor)
        except pymysql.err.OperationalError as failure:
            if failure.args[0] not in RETRY:
                raise
            cursor.execute("ROLLBACK")

    def increment(self, cursor):
        row, token = self.random.randrange(self.rows), self.random.getrandbits(62)
        cursor.execute("BEGIN")
        cursor.execute(f"UPDATE counters SET n = n + 1 WHERE id = {row}")
        cursor.execute(f"INSERT INTO tokens VALUES ({token}, {row})")
        cursor.execute("COMMIT")
        with self.ledger.lock:
            self.ledger.tokens.add((token, row))

    def claim(self, cursor):
        self.slot += 1
        try:
            cursor.execute(f"INSERT INTO claims VALUES ({self.slot}, {self.number})")
        except pymysql.err.IntegrityError:
            with self.ledger.lock:
                self.ledger.refused.add(self.slot)
        else:
            with self.ledger.lock:
                self.ledger.claimed.add((self.slot, self.number))

    def look(self, cursor):
        row = self.random.randrange(self.rows)
        cursor.execute(f"SELECT n FROM counters WHERE id = {row} FOR UPDATE")
        self.ledger.note_read(row, cursor.fetchone()[0])


class KillTest(unittest.TestCase):
    WRITERS, ROWS, ROUNDS = 16, 4, 4

    def check(self, server, ledger):
        counters = dict(server.query("SELECT id, n FROM d.counters"))
        tokens = set(server.query("SELECT token, id FROM d.tokens"))
        claims = dict(server.query("SELECT slot, owner FROM d.claims"))
        for row, value in counters.items():
            self.assertEqual(value, sum(of == row for _, of in tokens), f"row {row}: an update was lost, or done twice")
            self.assertGreaterEqual(value, ledger.read.get(row, 0), f"row {row}: a client saw what never was")
        self.assertEqual(ledger.tokens - tokens, set(), "acknowledged and lost")
        self.assertEqual({(slot, owner) for slot, owner in ledger.claimed if claims.get(slot) != owner}, set(), "claimed and lost")
        self.assertEqual(ledger.refused - set(claims), set(), "refused as a duplicate of nothing")

    def test_nothing_is_lost_or_seen_too_early_when_the_server_is_killed(self):
        # Groups wait before they are written, so that a kill finds many that others have seen already.
        with Commitd("--commitd-early-lock-release=ON", "--binlog-group-commit-sync-delay=5000") as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.counters (id INT PRIMARY KEY, n INT)")
            server.query("CREATE TABLE d.tokens (token BIGINT PRIMARY KEY, id INT)")
            server.query("CREATE TABLE d.claims (slot INT PRIMARY KEY, owner INT)")
            server.query("INSERT INTO d.counters VALUES " + ", ".join(f"({row}, 0)" for row in range(self.ROWS)))
            ledger = Ledger()
            for number in range(self.ROUNDS):
                writers = [Writer(server, writer, number * self.WRITERS + writer, self.ROWS, ledger) for writer in range(self.WRITERS)]
                for writer in writers:
                    writer.start()
                wait_until(lambda: sum(writer.answers for writer in writers) > 400, "the writers get on", seconds=120)
                self.assertGreater(server.metric("commitd_unacknowledged_versions_seen_total"), 0)
                server.kill()
                for writer in writers:
                    writer.join(60)
                server.start()
                self.check(server, ledger)
            self.assertGreater(len(ledger.refused), 0)


if __name__ == "__main__":
    unittest.main()
