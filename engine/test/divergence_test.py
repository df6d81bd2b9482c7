"""A replica whose rows are not those of its source: never changed in silence."""

import contextlib
import re
import unittest

from commitd_process import code_of, wait_until
from pair import PairTest

DUPLICATE, NOT_FOUND, ROLLED_BACK = 1062, 1032, 3101


class DivergenceTest(PairTest):
    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.keyed (id INT PRIMARY KEY, n INT NOT NULL, UNIQUE KEY (n))")
        self.source.query("CREATE TABLE d.keyless (id INT, n INT, KEY (n))")
        self.source.query("INSERT INTO d.keyed VALUES (1, 10), (2, 20)")
        self.source.query("INSERT INTO d.keyless VALUES (1, 10), (2, 20)")
        self.follow()
        self.wait_for_all()

    def change_replica_alone(self, *statements):
        """As somebody does who knows no better."""
        self.replica.query("STOP REPLICA")
        with self.replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_log_bin = 0")
            for statement in statements:
                cursor.execute(statement)
        self.replica.query("START REPLICA")

    def applier_stops_with(self, number, words):
        def stopped():
            row = self.status()
            return row["Replica_SQL_Running"] == "No" and row
        status = wait_until(stopped, "the applier stops")
        self.assertEqual(int(status["Last_SQL_Errno"]), number, status["Last_SQL_Error"])
        self.error = status["Last_SQL_Error"]
        self.assertIn(words, self.error)

    def rows(self, server, table):
        return server.query(f"SELECT id, n FROM d.{table} ORDER BY id, n")

    def test_who_began_before_the_server_was_a_replica_does_not_commit_on_older_data_behind_it(self):
        self.replica.query("STOP REPLICA")
        with self.replica.connect(autocommit=False) as connection, connection.cursor() as cursor:
            cursor.execute("UPDATE d.keyed SET n = n + 1 WHERE id = 1")
            self.replica.query("START REPLICA")
            self.source.query("UPDATE d.keyed SET n = n + 100 WHERE id = 1")
            self.wait_for_all()
            self.replica.query("STOP REPLICA")
            self.assertEqual(code_of(connection.commit), ROLLED_BACK)
            self.assertEqual(self.rows(self.replica, "keyed"), ((1, 110), (2, 20)))
            cursor.execute("UPDATE d.keyed SET n = n + 1 WHERE id = 1")
            connection.commit()
        self.assertEqual(self.rows(self.replica, "keyed"), ((1, 111), (2, 20)))

    def test_a_row_with_another_value_is_not_overwritten(self):
        self.change_replica_alone("UPDATE d.keyed SET n = 11 WHERE id = 1")
        self.source.query("UPDATE d.keyed SET n = 12 WHERE id = 1")
        self.applier_stops_with(NOT_FOUND, "Could not execute Update_rows event on table d.keyed; Can't find record in 'keyed'")
        self.assertEqual(self.rows(self.replica, "keyed"), ((1, 11), (2, 20)))

    def test_a_row_that_is_changed_under_two_names(self):
        for change, left in (("UPDATE d.keyless a JOIN d.keyless b ON b.id = a.id + 1 SET a.id = a.id + 10, b.n = 99", ((3, 99), (11, 10), (12, 99))),
                             ("UPDATE d.keyed a JOIN d.keyed b ON b.id = a.id SET a.n = a.n + 100, b.m = b.n", ((1, 110), (2, 120), (3, 130))),
                             ("DELETE a, b FROM d.keyed a JOIN d.keyed b ON b.id = a.id + 1", ())):
            self.source.query("DROP TABLE d.keyed, d.keyless")
            self.source.query("CREATE TABLE d.keyed (id INT PRIMARY KEY, n INT, m INT)")
            self.source.query("CREATE TABLE d.keyless (id INT, n INT)")
            for table in ("keyed (id, n)", "keyless"):
                self.source.query(f"INSERT INTO d.{table} VALUES (1, 10), (2, 20), (3, 30)")
            with contextlib.closing(self.source.connect()) as connection, connection.cursor() as cursor:
                cursor.execute("USE d")
                cursor.execute(change)
            self.wait_for_all()
            for table in ("keyed", "keyless"):
                self.assertEqual(self.rows(self.replica, table), self.rows(self.source, table), change)
            self.assertEqual(self.rows(self.source, "keyless" if "keyless" in change else "keyed"), left, change)
        self.assertEqual(self.status()["Replica_SQL_Running"], "Yes")

    def skip(self):
        """Leaves out the transaction that the applier has stopped at, MySQL's way."""
        at_fault = re.search(r"transaction ([0-9a-f-]+:\d+)", self.error).group(1)
        self.replica.query("STOP REPLICA")
        with self.replica.connect() as connection, connection.cursor() as cursor:
            for statement in (f"SET gtid_next = '{at_fault}'", "BEGIN", "COMMIT", "SET gtid_next = AUTOMATIC"):
                cursor.execute(statement)
        self.replica.query("START REPLICA")

    def test_a_key_that_is_taken_and_a_row_that_is_gone(self):
        self.change_replica_alone("DELETE FROM d.keyed WHERE id = 1", "INSERT INTO d.keyed VALUES (3, 30)")
        self.source.query("INSERT INTO d.keyed VALUES (4, 30), (5, 50)")
        self.applier_stops_with(DUPLICATE, "Duplicate entry '30' for key 'keyed.n'")
        self.skip()
        self.wait_for_all()
        self.source.query("DELETE FROM d.keyed WHERE id = 1")
        self.applier_stops_with(NOT_FOUND, "HA_ERR_KEY_NOT_FOUND")
        self.assertEqual(self.rows(self.replica, "keyed"), ((2, 20), (3, 30)))

    def test_a_replica_that_starts_with_it_says_so_and_serves(self):
        self.change_replica_alone("UPDATE d.keyed SET n = 11 WHERE id = 1")
        self.source.query("UPDATE d.keyed SET n = 12 WHERE id = 1")
        self.applier_stops_with(NOT_FOUND, "keyed")
        self.replica.kill()
        self.replica.start()
        self.applier_stops_with(NOT_FOUND, "keyed")
        self.assertEqual(self.rows(self.replica, "keyed"), ((1, 11), (2, 20)))

    def test_rows_without_a_key_are_found_by_their_values(self):
        self.change_replica_alone("INSERT INTO d.keyless VALUES (7, 70)")
        for statement in (
            "INSERT INTO d.keyless VALUES (3, 30), (3, 30), (4, 40), (5, 50)",
            "UPDATE d.keyless SET n = n + 1 WHERE id = 3",
            "UPDATE d.keyless SET n = n + 1 WHERE id = 5",
            "DELETE FROM d.keyless WHERE id = 4",
            "DELETE FROM d.keyless WHERE id = 3 LIMIT 1",
        ):
            self.source.query(statement)
        self.wait_for_all()
        self.assertEqual(self.rows(self.source, "keyless"), ((1, 10), (2, 20), (3, 31), (5, 51)))
        self.assertEqual(self.rows(self.replica, "keyless"), ((1, 10), (2, 20), (3, 31), (5, 51), (7, 70)))
        self.assertEqual(self.replica.query("SELECT id FROM d.keyless WHERE n = 51"), ((5,),))

    def test_rows_without_a_key_that_are_nowhere(self):
        self.change_replica_alone("UPDATE d.keyless SET n = 11 WHERE id = 1")
        self.source.query("DELETE FROM d.keyless WHERE id = 1")
        self.applier_stops_with(NOT_FOUND, "Could not execute Delete_rows event on table d.keyless")
        self.assertEqual(self.rows(self.replica, "keyless"), ((1, 11), (2, 20)))


if __name__ == "__main__":
    unittest.main()
