"""Hermitage: which anomalies each isolation level allows, case by case, as InnoDB answers.

A line is a session's number, its statement and what that gives: rows (`1=10 2=20`), `ok`, `waits` (for a lock), `deadlock`. A line without
a statement is the end of the wait. HERMITAGE_BESIDE=1 plays the cases to a MariaDB beside it, too: its InnoDB must answer the same, but for
READ UNCOMMITTED, which reads like READ COMMITTED here (src/txn/README.md).
"""

import concurrent.futures
import contextlib
import os
import unittest

import pymysql

from commitd_process import Commitd, wait_until
from differential.servers import MariaDB

DEADLOCK = 1213
READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE = "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"
EVERY = (READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE)
SNAPSHOT = (REPEATABLE_READ,)

CASES = [
    ("G0: dirty writes wait", EVERY, """
        1 update test set value = 11 where id = 1       : ok
        2 update test set value = 12 where id = 1       : waits
        1 update test set value = 21 where id = 2       : ok
        1 commit                                        : ok
        2                                               : ok
        2 update test set value = 22 where id = 2       : ok
        2 commit                                        : ok
        1 select * from test                            : 1=12 2=22
    """),
    ("G1a: what was rolled back is not read", (READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ), """
        1 update test set value = 101 where id = 1      : ok
        2 select * from test                            : 1=10 2=20
        1 rollback                                      : ok
        2 select * from test                            : 1=10 2=20
    """),
    ("G1a: it waits", (SERIALIZABLE,), """
        1 update test set value = 101 where id = 1      : ok
        2 select * from test                            : waits
        1 rollback                                      : ok
        2                                               : 1=10 2=20
    """),
    ("G1b: intermediate values are not read", (READ_UNCOMMITTED, READ_COMMITTED), """
        1 update test set value = 101 where id = 1      : ok
        2 select * from test                            : 1=10 2=20
        1 update test set value = 11 where id = 1       : ok
        1 commit                                        : ok
        2 select * from test                            : 1=11 2=20
    """),
    ("G1b: nor later ones", SNAPSHOT, """
        1 update test set value = 101 where id = 1      : ok
        2 select * from test                            : 1=10 2=20
        1 update test set value = 11 where id = 1       : ok
        1 commit                                        : ok
        2 select * from test                            : 1=10 2=20
    """),
    ("G1c: information does not flow in a circle", (READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ), """
        1 update test set value = 11 where id = 1       : ok
        2 update test set value = 22 where id = 2       : ok
        1 select * from test where id = 2               : 2=20
        2 select * from test where id = 1               : 1=10
    """),
    ("G1c: it ends as a deadlock", (SERIALIZABLE,), """
        1 update test set value = 11 where id = 1       : ok
        2 update test set value = 22 where id = 2       : ok
        1 select * from test where id = 2               : waits
        2 select * from test where id = 1               : deadlock
        1                                               : 2=20
    """),
    ("OTV: a transaction that was observed does not vanish", (READ_UNCOMMITTED, READ_COMMITTED), """
        1 update test set value = 11 where id = 1       : ok
        1 update test set value = 19 where id = 2       : ok
        2 update test set value = 12 where id = 1       : waits
        1 commit                                        : ok
        2                                               : ok
        3 select * from test where id = 1               : 1=11
        2 update test set value = 18 where id = 2       : ok
        3 select * from test where id = 2               : 2=19
        2 commit                                        : ok
        3 select * from test                            : 1=12 2=18
    """),
    ("OTV: with one snapshot", SNAPSHOT, """
        1 update test set value = 11 where id = 1       : ok
        1 update test set value = 19 where id = 2       : ok
        2 update test set value = 12 where id = 1       : waits
        1 commit                                        : ok
        2                                               : ok
        3 select * from test where id = 1               : 1=11
        2 update test set value = 18 where id = 2       : ok
        2 commit                                        : ok
        3 select * from test                            : 1=11 2=19
    """),
    ("PMP: a predicate is read anew", (READ_UNCOMMITTED, READ_COMMITTED), """
        1 select * from test where value = 30           : nothing
        2 insert into test values (3, 30)               : ok
        2 commit                                        : ok
        1 select * from test where value % 3 = 0        : 3=30
    """),
    ("PMP: a predicate stays", SNAPSHOT, """
        1 select * from test where value = 30           : nothing
        2 insert into test values (3, 30)               : ok
        2 commit                                        : ok
        1 select * from test where value % 3 = 0        : nothing
    """),
    ("PMP: what a predicate may find is locked", (SERIALIZABLE,), """
        1 select * from test where value = 30           : nothing
        2 insert into test values (3, 30)               : waits
        1 select * from test where value % 3 = 0        : nothing
        1 commit                                        : ok
        2                                               : ok
    """),
    ("PMP of a write: by the rows as they are then", (READ_UNCOMMITTED, READ_COMMITTED), """
        1 update test set value = value + 10            : ok
        2 select * from test where value = 20           : 2=20
        2 delete from test where value = 20             : waits
        1 commit                                        : ok
        2                                               : ok
        2 select * from test                            : 2=30
    """),
    ("PMP of a write: by the rows as they are then, whatever is seen", SNAPSHOT, """
        1 update test set value = value + 10            : ok
        2 select * from test where value = 20           : 2=20
        2 delete from test where value = 20             : waits
        1 commit                                        : ok
        2                                               : ok
        2 select * from test where value = 20           : 2=20
        2 commit                                        : ok
        2 select * from test                            : 2=30
    """),
    ("P4: updates are lost below SERIALIZABLE", (READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ), """
        1 select * from test where id = 1               : 1=10
        2 select * from test where id = 1               : 1=10
        1 update test set value = 11 where id = 1       : ok
        2 update test set value = 12 where id = 1       : waits
        1 commit                                        : ok
        2                                               : ok
        2 commit                                        : ok
        1 select * from test                            : 1=12 2=20
    """),
    ("P4: a deadlock", (SERIALIZABLE,), """
        1 select * from test where id = 1               : 1=10
        2 select * from test where id = 1               : 1=10
        1 update test set value = 11 where id = 1       : waits
        2 update test set value = 12 where id = 1       : deadlock
        1                                               : ok
        1 commit                                        : ok
        2 select * from test                            : 1=11 2=20
    """),
    ("G-single: read skew", (READ_UNCOMMITTED, READ_COMMITTED), """
        1 select * from test where id = 1               : 1=10
        2 update test set value = 12 where id = 1       : ok
        2 update test set value = 18 where id = 2       : ok
        2 commit                                        : ok
        1 select * from test where id = 2               : 2=18
    """),
    ("G-single: no read skew", SNAPSHOT, """
        1 select * from test where id = 1               : 1=10
        2 update test set value = 12 where id = 1       : ok
        2 update test set value = 18 where id = 2       : ok
        2 commit                                        : ok
        1 select * from test where id = 2               : 2=20
        1 delete from test where value = 20             : ok
        1 select * from test where id = 2               : 2=20
    """),
    ("G-single: a deadlock", (SERIALIZABLE,), """
        1 select * from test where id = 1               : 1=10
        2 update test set value = 18 where id = 2       : ok
        2 update test set value = 12 where id = 1       : waits
        1 select * from test where id = 2               : deadlock
        2                                               : ok
    """),
    ("G-single by predicates", SNAPSHOT, """
        1 select * from test where value % 5 = 0        : 1=10 2=20
        2 update test set value = 12 where value = 10   : ok
        2 commit                                        : ok
        1 select * from test where value % 3 = 0        : nothing
    """),
    ("G2-item: write skew below SERIALIZABLE", (READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ), """
        1 select * from test where id in (1, 2)         : 1=10 2=20
        2 select * from test where id in (1, 2)         : 1=10 2=20
        1 update test set value = 11 where id = 1       : ok
        2 update test set value = 21 where id = 2       : ok
        1 commit                                        : ok
        2 commit                                        : ok
        1 select * from test                            : 1=11 2=21
    """),
    ("G2-item: a deadlock", (SERIALIZABLE,), """
        1 select * from test where id in (1, 2)         : 1=10 2=20
        2 select * from test where id in (1, 2)         : 1=10 2=20
        1 update test set value = 11 where id = 1       : waits
        2 update test set value = 21 where id = 2       : deadlock
        1                                               : ok
    """),
    ("G2: predicates cross below SERIALIZABLE", (READ_UNCOMMITTED, READ_COMMITTED, REPEATABLE_READ), """
        1 select * from test where value % 3 = 0        : nothing
        2 select * from test where value % 3 = 0        : nothing
        1 insert into test values (3, 30)               : ok
        2 insert into test values (4, 42)               : ok
        1 commit                                        : ok
        2 commit                                        : ok
        1 select * from test where value % 3 = 0        : 3=30 4=42
    """),
    ("G2: a deadlock", (SERIALIZABLE,), """
        1 select * from test where value % 3 = 0        : nothing
        2 select * from test where value % 3 = 0        : nothing
        1 insert into test values (3, 30)               : waits
        2 insert into test values (4, 42)               : deadlock
        1                                               : ok
    """),
    ("G2 with two edges: readers hold off writers", (SERIALIZABLE,), """
        1 select * from test                            : 1=10 2=20
        2 update test set value = value + 5 where id = 2: waits
        3 select * from test where id = 1               : 1=10
        3 commit                                        : ok
        1 commit                                        : ok
        2                                               : ok
        2 commit                                        : ok
        1 select * from test                            : 1=10 2=25
    """),
]


def steps(text):
    for line in text.strip().splitlines():
        session, _, rest = line.strip().partition(" ")
        statement, _, expected = rest.rpartition(":")
        yield int(session), statement.strip(), expected.strip()


class Sessions:
    """Three connections, each with a thread of its own, so that one can wait."""

    def __init__(self, port, level):
        self.stack = contextlib.ExitStack()
        self.sessions, self.waiting = {}, {}
        self.observer = self.connect(port)
        for number in (1, 2, 3):
            connection = self.connect(port)
            with connection.cursor() as cursor:
                cursor.execute("USE d")
                cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
            connection.begin()
            self.sessions[number] = connection, self.stack.enter_context(concurrent.futures.ThreadPoolExecutor(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection, _ in self.sessions.values():
            with contextlib.suppress(OSError, pymysql.err.MySQLError):
                connection._force_close()
        self.stack.close()

    def connect(self, port):
        return self.stack.enter_context(contextlib.closing(pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)))

    def waiters(self):
        with self.observer.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")
            return int(cursor.fetchone()[1])

    def answer(self, session, statement, expected):
        connection, thread = self.sessions[session]
        pending = self.waiting.pop(session) if not statement else thread.submit(execute, connection, statement)
        if expected == "waits":
            self.waiting[session] = pending
            wait_until(lambda: pending.done() or self.waiters() == len(self.waiting), f"{statement}: waits, or ends")
            return pending.result() if pending.done() else "waits"
        return pending.result(60)  # a hang bound


def execute(connection, statement):
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
        except pymysql.err.OperationalError as error:
            return "deadlock" if error.args[0] == DEADLOCK else str(error)
        if cursor.description is None:
            return "ok"
        return " ".join(f"{identity}={value}" for identity, value in cursor.fetchall()) or "nothing"


class HermitageTest(unittest.TestCase):
    def play(self, port, left_out=()):
        administrator = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
        self.addCleanup(administrator.close)
        with administrator.cursor() as cursor:
            cursor.execute("CREATE DATABASE d")
            cursor.execute("CREATE TABLE d.test (id INT PRIMARY KEY, value INT)" + ("" if not left_out else " ENGINE=InnoDB"))
            for name, levels, text in CASES:
                for level in (level for level in levels if level not in left_out):
                    cursor.execute("DELETE FROM d.test")
                    cursor.execute("INSERT INTO d.test VALUES (1, 10), (2, 20)")
                    with self.subTest(name, level=level), Sessions(port, level) as sessions:
                        for session, statement, expected in steps(text):
                            self.assertEqual(sessions.answer(session, statement, expected), expected, f"{session} {statement}")

    def test_cases(self):
        with Commitd() as server:
            self.play(server.port)

    @unittest.skipUnless(os.environ.get("HERMITAGE_BESIDE"), "HERMITAGE_BESIDE=1: what MariaDB's InnoDB answers")
    def test_innodb_answers_the_same(self):
        with MariaDB() as server:
            self.play(server.port, left_out=(READ_UNCOMMITTED,))


if __name__ == "__main__":
    unittest.main()
