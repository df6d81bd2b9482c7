"""START, STOP and RESET REPLICA: the receiver and the applier apart."""

import unittest

from commitd_process import code_of, wait_until
from pair import FollowedPairTest

READ_ONLY, NOT_CONFIGURED, IO_MUST_STOP, MUST_STOP, NOT_SUPPORTED = 1290, 1200, 3021, 3081, 1235


class ReplicaThreadsTest(FollowedPairTest):
    def threads(self):
        status = self.status()
        return status["Replica_IO_Running"], status["Replica_SQL_Running"]

    def is_read_only(self):
        return code_of(lambda: self.replica.query("CREATE DATABASE own")) == READ_ONLY

    def test_without_its_applier_a_replica_receives_and_logs(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1, 2)
        self.wait_for_received()
        self.assertEqual(self.threads(), ("Yes", "No"))
        self.assertEqual(self.rows(), [])
        self.assertIsNone(self.status()["Seconds_Behind_Source"])
        self.replica.kill()  # its place is kept
        self.replica.start()
        wait_until(lambda: self.threads() == ("Yes", "No"), "it receives again")
        self.insert(3)
        self.wait_for_received()
        self.assertEqual(self.rows(), [])
        self.replica.query("START REPLICA SQL_THREAD")
        self.wait_for_all()
        self.assertEqual(self.rows(), [1, 2, 3])

    def test_without_its_receiver_a_replica_applies_what_it_has(self):
        self.replica.query("STOP SLAVE SQL_THREAD")
        self.insert(1)
        self.wait_for_received()
        self.replica.query("STOP REPLICA IO_THREAD")
        self.insert(2)
        self.assertEqual(self.threads(), ("No", "No"))
        self.replica.query("START REPLICA SQL_THREAD")
        wait_until(lambda: self.rows() == [1], "what was received is applied")
        self.assertEqual(self.threads(), ("No", "Yes"))
        self.assertIsNone(self.status()["Seconds_Behind_Source"])  # nobody knows
        self.assertTrue(self.is_read_only())
        self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY = 5")  # the receiver's
        self.replica.query("START REPLICA IO_THREAD, SQL_THREAD")
        self.assertEqual(code_of(lambda: self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY = 6")), IO_MUST_STOP)
        self.wait_for_all()
        self.assertEqual(self.rows(), [1, 2])

    def test_who_starts_the_receiver_alone_applies_nothing(self):
        self.replica.query("STOP REPLICA")
        self.insert(1)
        self.replica.query("START REPLICA IO_THREAD")
        self.wait_for_received()
        self.assertEqual((self.threads(), self.rows()), (("Yes", "No"), []))
        self.replica.query("STOP REPLICA IO_THREAD")
        self.assertTrue(self.is_read_only())  # behind what is not applied nobody writes
        self.replica.query("START REPLICA")
        self.wait_for_all()
        self.replica.query("STOP REPLICA")
        self.assertFalse(self.is_read_only())

    def test_reset_replica_gives_up_what_waits(self):
        self.assertEqual(code_of(lambda: self.replica.query("RESET REPLICA")), MUST_STOP)
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.assertEqual(code_of(lambda: self.replica.query("RESET REPLICA ALL")), MUST_STOP)
        self.insert(1, 2)
        self.wait_for_received()
        self.replica.query("STOP REPLICA IO_THREAD")
        self.replica.query("RESET REPLICA")
        self.assertFalse(self.is_read_only())
        status = self.status()
        self.assertEqual(status["Source_Port"], str(self.source.port))
        self.assertEqual(status["Retrieved_Gtid_Set"], status["Executed_Gtid_Set"])
        self.assertEqual(self.rows(), [])
        self.replica.kill()
        self.replica.start()
        self.assertEqual(self.rows(), [])
        self.replica.query("START REPLICA")  # its source still has it
        self.wait_for_all()
        self.assertEqual(self.rows(), [1, 2])
        self.replica.query("STOP REPLICA")
        self.replica.query("RESET SLAVE ALL")
        self.assertEqual(self.replica.query("SHOW REPLICA STATUS"), ())
        self.assertEqual(code_of(lambda: self.replica.query("START REPLICA")), NOT_CONFIGURED)

    def test_what_is_not_there_is_refused_by_name(self):
        with self.assertRaises(Exception) as raised:
            self.replica.query("START REPLICA UNTIL RELAY_LOG_FILE = 'f', RELAY_LOG_POS = 4")
        self.assertEqual(raised.exception.args[0], NOT_SUPPORTED)
        self.assertIn("START REPLICA UNTIL RELAY_LOG_FILE", raised.exception.args[1])

    def test_in_a_cluster_a_role_decides(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1)
        self.wait_for_received()
        self.replica.query("ALTER INSTANCE FENCE EPOCH 1")
        wait_until(lambda: self.rows() == [1], "what was received is applied")
        for sql in ("START REPLICA SQL_THREAD", "STOP REPLICA IO_THREAD", "RESET REPLICA ALL"):
            self.assertEqual(code_of(lambda: self.replica.query(sql)), READ_ONLY, sql)


if __name__ == "__main__":
    unittest.main()
