"""What a transaction sees of others while it changes rows: as InnoDB has it."""

import threading
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until

LOCK_WAIT, DEADLOCK = 1205, 1213
READ_COMMITTED = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"


class IsolationTest(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Commitd("--innodb-lock-wait-timeout=1"))
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.s (id INT PRIMARY KEY, v INT, w INT, KEY (v))")
        self.server.query("INSERT INTO d.s VALUES (1, 10, 0), (2, 20, 0)")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
        self.one, self.two = self.session(), self.session()

    def session(self):
        connection = self.server.connect()
        self.addCleanup(connection.close)
        connection.select_db("d")
        return connection

    @staticmethod
    def run_on(connection, sql):
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def begin_with_a_snapshot(self):
        """And then another session changes a row and adds one."""
        self.one.begin()
        self.assertEqual(self.run_on(self.one, "SELECT SUM(v) FROM s"), ((30,),))
        self.run_on(self.two, "UPDATE s SET v = 11 WHERE id = 1")
        self.run_on(self.two, "INSERT INTO s VALUES (3, 30, 0)")

    def test_one_s_own_changes_are_found_by_every_index(self):
        self.begin_with_a_snapshot()
        self.run_on(self.one, "UPDATE s SET w = w + 1 WHERE id IN (1, 3)")
        for condition, rows in (("v = 30", ((3, 30, 1),)), ("v = 10", ()), ("v = 11", ((1, 11, 1),)), ("v > 0", ((1, 11, 1), (2, 20, 0), (3, 30, 1)))):
            self.assertEqual(self.run_on(self.one, f"SELECT * FROM s FORCE INDEX (v) WHERE {condition} ORDER BY v"), rows, condition)

    def test_what_is_stored_comes_from_the_newest_rows(self):
        for change, stored in (("INSERT INTO t SELECT id, v FROM s", ((1, 11), (2, 20), (3, 30))),
                               ("INSERT INTO t VALUES (1, 0), (3, 0)", ((1, 0), (3, 0))),
                               ("UPDATE t SET v = (SELECT SUM(v) FROM s)", ((1, 61), (3, 61))),
                               ("UPDATE t SET v = (SELECT s.v FROM s WHERE s.id = t.id)", ((1, 11), (3, 30))),
                               ("DELETE FROM t WHERE id IN (SELECT id FROM s WHERE v = 30)", ((1, 11),)),
                               ("REPLACE INTO t SELECT id, v + 1 FROM s WHERE v = 11", ((1, 12),))):
            with self.subTest(change):
                if stored[0] == (1, 11) and len(stored) == 3 or "VALUES" in change:
                    self.run_on(self.two, "DELETE FROM t")
                self.begin_with_a_snapshot()
                self.run_on(self.one, change)
                self.assertEqual(self.run_on(self.one, "SELECT SUM(v) FROM s"), ((30,),), "its consistent reads stay as they were")
                self.one.commit()
                self.assertEqual(self.run_on(self.one, "SELECT * FROM t"), stored)
                self.run_on(self.two, "DELETE FROM s WHERE id = 3")
                self.run_on(self.two, "UPDATE s SET v = 10 WHERE id = 1")

    def test_what_a_change_was_made_from_stays_until_it_is_committed(self):
        take = "UPDATE s SET v = v + 1 WHERE id = 1"
        for change in ("INSERT INTO t SELECT id, v FROM s", "UPDATE t SET v = (SELECT MAX(v) FROM s)", "DELETE FROM t WHERE v IN (SELECT v FROM s)"):
            self.one.begin()
            self.run_on(self.one, change)
            self.assertEqual(code_of(lambda: self.run_on(self.two, take)), LOCK_WAIT, change)
            self.one.commit()
            self.run_on(self.two, take)
        self.run_on(self.one, READ_COMMITTED)
        self.one.begin()
        self.run_on(self.one, "INSERT INTO t SELECT id, v FROM s")
        self.run_on(self.two, take)
        self.one.rollback()

    def test_at_read_committed_an_update_does_not_wait_for_rows_that_do_not_match(self):
        self.one.begin()
        self.run_on(self.one, "UPDATE s SET w = 5 WHERE id = 1")
        self.assertEqual(code_of(lambda: self.run_on(self.two, "UPDATE s SET v = 0 WHERE w = 7")), LOCK_WAIT, "REPEATABLE READ")
        self.run_on(self.two, READ_COMMITTED)
        self.run_on(self.two, "UPDATE s SET v = 0 WHERE w = 7")
        self.run_on(self.two, "UPDATE s SET v = 21 WHERE w = 0 AND v = 20")
        self.assertEqual(code_of(lambda: self.run_on(self.two, "UPDATE s SET v = 0 WHERE w = 0")), LOCK_WAIT, "it matches as it was committed")
        self.assertEqual(code_of(lambda: self.run_on(self.two, "DELETE FROM s WHERE w = 7")), LOCK_WAIT, "DELETE waits")
        waiting = threading.Thread(target=lambda: self.run_on(self.two, "UPDATE s SET v = v + 100 WHERE w = 0"))
        self.server.query("SET GLOBAL innodb_lock_wait_timeout = 50")
        self.run_on(self.two, "SET innodb_lock_wait_timeout = 50")
        waiting.start()
        wait_until(lambda: self.server.query("SELECT COUNT(*) FROM performance_schema.data_lock_waits") == ((1,),), "it waits")
        self.one.commit()
        waiting.join()
        self.assertEqual(self.run_on(self.one, "SELECT * FROM s"), ((1, 10, 5), (2, 121, 0)), "what it waited for does not match any more")

    def test_nobody_copies_a_number_twice(self):
        self.server.query("CREATE TABLE d.counter (id INT PRIMARY KEY, n INT)")
        self.server.query("INSERT INTO d.counter VALUES (1, 0)")
        self.server.query("CREATE TABLE d.used (n INT)")
        self.server.query("SET GLOBAL innodb_lock_wait_timeout = 50")
        taken = []

        def take():
            connection = self.session()
            for _ in range(40):
                try:
                    connection.begin()
                    self.run_on(connection, "SELECT * FROM t")
                    self.run_on(connection, "INSERT INTO used SELECT n FROM counter")
                    self.run_on(connection, "UPDATE counter SET n = n + 1")
                    connection.commit()
                    taken.append(1)
                except pymysql.err.OperationalError as error:
                    self.assertEqual(error.args[0], DEADLOCK)
                    connection.rollback()

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertGreater(len(taken), 10)
        self.assertEqual(self.run_on(self.one, "SELECT n FROM used ORDER BY n"), tuple((n,) for n in range(len(taken))))


if __name__ == "__main__":
    unittest.main()
