"""A replica outside a cluster: transactions that cannot be applied, and what is received when replication is stopped."""

import unittest

import pymysql

from commitd_process import code_of, wait_until
from pair import PairTest

NO_SUCH_TABLE = "1146"  # as SHOW gives it
READ_ONLY = 1290


class ApplierTest(PairTest):
    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL)")
        self.follow()
        self.wait_for_all()

    def stop_at_a_missing_table(self):
        """Leaves the replica's applier at a transaction whose table is not there."""
        self.replica.query("STOP REPLICA")
        with self.replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_log_bin = 0")
            cursor.execute("DROP TABLE d.t")
        self.replica.query("START REPLICA")
        self.source.query("INSERT INTO d.t VALUES (1, 1)")
        self.at_fault = f"{self.source.query('SELECT @@server_uuid')[0][0]}:{self.last_number()}"
        self.source.query("CREATE TABLE d.u (id INT PRIMARY KEY)")
        wait_until(lambda: self.status()["Replica_SQL_Running"] == "No", "the applier has stopped")

    def last_number(self):
        return int(self.executed().replace(":", "-").split("-")[-1])

    def test_an_unappliable_transaction_stops_the_applier_and_says_why(self):
        self.stop_at_a_missing_table()
        status = self.status()
        self.assertEqual(status["Last_SQL_Errno"], NO_SUCH_TABLE)
        self.assertIn(self.at_fault, status["Last_SQL_Error"])
        self.assertEqual(status["Replica_IO_Running"], "Yes")
        self.assertIsNone(status["Seconds_Behind_Source"])
        wait_until(lambda: f"-{self.last_number()}" in self.status()["Retrieved_Gtid_Set"], "what follows is received all the same")
        self.assertEqual(self.replica.query("SELECT applier_state FROM performance_schema.commitd_instance"), (("error",),))

    def test_the_server_starts_with_it_and_can_leave_it_out(self):
        self.stop_at_a_missing_table()
        self.replica.kill()
        self.replica.start()
        wait_until(lambda: self.status()["Last_SQL_Errno"] == NO_SUCH_TABLE, "the applier stands where it stood")
        with self.replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"SET gtid_next = '{self.at_fault}'")
            cursor.execute("BEGIN")
            cursor.execute("COMMIT")
            cursor.execute("SET gtid_next = AUTOMATIC")
        self.wait_for_all()
        self.assertEqual(self.status()["Replica_SQL_Running"], "Yes")
        self.assertEqual(self.replica.query("SHOW TABLES FROM d"), (("u",),))

    def test_a_server_with_something_unapplied_takes_no_writes(self):
        self.stop_at_a_missing_table()
        self.replica.query("STOP REPLICA")
        self.assertEqual(code_of(lambda: self.replica.query("CREATE TABLE d.own (id INT PRIMARY KEY)")), READ_ONLY)
        self.replica.kill()
        self.replica.start()
        self.assertEqual(code_of(lambda: self.replica.query("CREATE TABLE d.own (id INT PRIMARY KEY)")), READ_ONLY)

    def test_stop_replica_opens_for_writes_above_all_that_was_received(self):
        self.source.query("INSERT INTO d.t VALUES (1, 0)")
        self.wait_for_all()
        with self.replica.connect() as lock, lock.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")
            for _ in range(100):
                self.source.query("UPDATE d.t SET n = n + 1 WHERE id = 1")
            self.source.query("CREATE TABLE d.received (id INT PRIMARY KEY)")
            self.source.query("INSERT INTO d.received VALUES (5)")
            last = self.last_number()
            wait_until(lambda: f"-{last}" in self.status()["Retrieved_Gtid_Set"], "everything is received")
            self.assertEqual(self.replica.query("SELECT n FROM d.t"), ((0,),))
            stopping = self.replica.connect()
            self.addCleanup(stopping.close)
            stopping.cursor().execute("SELECT 1")
            stopping._execute_command(pymysql.constants.COMMAND.COM_QUERY, "STOP REPLICA")
            wait_until(lambda: self.status()["Replica_IO_Running"] == "No", "the receiver has ended")
            self.assertEqual(code_of(lambda: self.replica.query("UPDATE d.t SET n = n + 1000")), READ_ONLY)
            cursor.execute("UNLOCK TABLES")
        stopping._read_query_result()  # answered when everything is applied
        self.replica.query("UPDATE d.t SET n = n + 1000")
        self.replica.query("CREATE TABLE d.own (id INT PRIMARY KEY)")
        self.assertEqual(self.replica.query("SELECT n FROM d.t"), ((1100,),))
        self.assertEqual(self.replica.query("SELECT * FROM d.received"), ((5,),))
        self.assertEqual(self.replica.query("SELECT * FROM d.own"), ())


if __name__ == "__main__":
    unittest.main()
