"""SHOW REPLICA STATUS and performance_schema.replication_…: what they say is so."""

import contextlib
import re
import unittest

import pymysql

from commitd_process import free_port, wait_until
from pair import FollowedPairTest

NO_CONNECTION, NO_TABLE = 2003, 1146
NOTHING = "0000-00-00 00:00:00.000000"


class ReplicaStatusTest(FollowedPairTest):
    def table(self, name):
        with contextlib.closing(self.replica.connect()) as connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute(f"SELECT * FROM performance_schema.replication_{name}")
            row, *workers = cursor.fetchall()
            self.assertTrue(not workers or name == "applier_status_by_worker")
            return row

    def source_place(self):
        return self.source.query("SHOW BINARY LOG STATUS")[0][:2]

    def executed_place(self):
        status = self.status()
        return status["Relay_Source_Log_File"], int(status["Exec_Source_Log_Pos"])

    def last_gtid(self):
        uuid, numbers = self.executed().split(":")
        return f"{uuid}:{numbers.split('-')[-1]}"

    def test_where_it_has_come_to(self):
        wait_until(lambda: self.executed_place() == self.source_place(), "it stands where its source stands")
        status = self.status()
        self.assertEqual(status["Seconds_Behind_Source"], "0")
        self.assertEqual(status["Replica_SQL_Running_State"], "Replica has read all relay log; waiting for more updates")
        self.assertEqual((status["Relay_Log_File"], int(status["Relay_Log_Pos"])), self.replica.query("SHOW BINARY LOG STATUS")[0][:2])
        self.assertEqual(status["Relay_Log_Space"], "0")
        before = self.source_place()
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.source.query("INSERT INTO d.t VALUES (1)")
        self.wait_for_received()
        self.assertEqual(self.executed_place(), before)
        self.assertEqual(self.status()["Source_Log_File"], before[0])
        self.assertGreater(int(self.status()["Read_Source_Log_Pos"]), before[1])
        self.assertGreater(int(self.status()["Relay_Log_Space"]), 0)
        self.replica.query("START REPLICA SQL_THREAD")
        self.source.query("FLUSH BINARY LOGS")
        wait_until(lambda: self.executed_place() == self.source_place(), "in the next file too")

    def test_how_long_it_is_behind(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.source.query("INSERT INTO d.t VALUES (1)")
        self.wait_for_received()
        self.assertIsNone(self.status()["Seconds_Behind_Source"])
        with self.replica.connect() as lock, lock.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")
            self.replica.query("START REPLICA SQL_THREAD")
            wait_until(lambda: int(self.status()["Seconds_Behind_Source"]) in range(1, 600), "it is behind")
            cursor.execute("UNLOCK TABLES")
        self.wait_for_all()
        wait_until(lambda: self.status()["Seconds_Behind_Source"] == "0", "it is not any more")
        self.replica.query("STOP REPLICA IO_THREAD")
        self.assertIsNone(self.status()["Seconds_Behind_Source"])

    def test_errors_and_when_they_were(self):
        stamp = re.compile(r"\d{6} \d\d:\d\d:\d\d")
        self.assertEqual(self.status()["Last_IO_Error_Timestamp"], "")
        self.replica.query("STOP REPLICA")
        with self.replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_log_bin = 0")
            cursor.execute("DROP TABLE d.t")
        self.replica.query("START REPLICA")
        self.source.query("INSERT INTO d.t VALUES (1)")
        wait_until(lambda: self.status()["Replica_SQL_Running"] == "No", "the applier has stopped")
        status, worker = self.status(), self.table("applier_status_by_worker")
        self.assertRegex(status["Last_SQL_Error_Timestamp"], stamp)
        self.assertEqual((status["Last_SQL_Errno"], worker["LAST_ERROR_NUMBER"]), (str(NO_TABLE), NO_TABLE))
        self.assertEqual((status["Last_SQL_Error"], worker["SERVICE_STATE"]), (worker["LAST_ERROR_MESSAGE"], "OFF"))
        self.assertNotEqual(worker["LAST_ERROR_TIMESTAMP"], NOTHING)
        self.assertEqual(worker["APPLYING_TRANSACTION"], self.last_gtid())
        self.replica.query("STOP REPLICA IO_THREAD")
        self.replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_PORT = {free_port()}")
        self.replica.query("START REPLICA IO_THREAD")
        wait_until(lambda: int(self.status()["Last_IO_Errno"]) == NO_CONNECTION, "nobody is there")
        self.assertRegex(self.status()["Last_IO_Error_Timestamp"], stamp)
        connection = self.table("connection_status")
        self.assertEqual((connection["LAST_ERROR_NUMBER"], connection["SERVICE_STATE"]), (NO_CONNECTION, "CONNECTING"))

    def test_the_tables_of_performance_schema(self):
        self.source.query("INSERT INTO d.t VALUES (1)")
        self.wait_for_all()
        wait_until(lambda: self.table("connection_status")["COUNT_RECEIVED_HEARTBEATS"] > 0, "the source is heard")
        connection, worker = self.table("connection_status"), self.table("applier_status_by_worker")
        self.assertEqual(connection["SOURCE_UUID"], self.source.query("SELECT @@server_uuid")[0][0])
        self.assertEqual((connection["SERVICE_STATE"], worker["SERVICE_STATE"]), ("ON", "ON"))
        self.assertEqual(connection["LAST_QUEUED_TRANSACTION"], self.last_gtid())
        self.assertEqual(worker["LAST_APPLIED_TRANSACTION"], self.last_gtid())
        self.assertEqual(worker["APPLYING_TRANSACTION"], "")
        for told in ("LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP", "LAST_HEARTBEAT_TIMESTAMP"):
            self.assertRegex(connection[told], r"^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$")
        self.assertEqual(worker["LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"],
                         connection["LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"])
        configuration = self.table("connection_configuration")
        self.assertEqual((configuration["HOST"], configuration["PORT"], configuration["AUTO_POSITION"], configuration["SSL_ALLOWED"]),
                         ("127.0.0.1", self.source.port, "1", "NO"))
        self.assertEqual(self.table("applier_status")["REMAINING_DELAY"], None)
        self.assertEqual(self.table("applier_status")["COUNT_TRANSACTIONS_RETRIES"], 0)
        self.assertEqual(self.table("applier_configuration")["DESIRED_DELAY"], 0)
        self.assertEqual(self.replica.query("SELECT * FROM performance_schema.replication_applier_status_by_coordinator"), ())
        self.assertEqual(self.source.query("SELECT * FROM performance_schema.replication_connection_status"), ())

    def test_nothing_is_retried_and_the_variable_says_so(self):
        with contextlib.closing(self.replica.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT @@replica_transaction_retries, @@slave_transaction_retries")
            self.assertEqual(cursor.fetchall(), ((10, 10),))
            cursor.execute("SET GLOBAL slave_transaction_retries = 20")
            cursor.execute("SHOW WARNINGS")
            self.assertIn("has no effect", cursor.fetchall()[0][2])
            cursor.execute("SELECT @@replica_transaction_retries")
            self.assertEqual(cursor.fetchall(), ((20,),))


if __name__ == "__main__":
    unittest.main()
