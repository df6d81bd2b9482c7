"""SOURCE_DELAY: what is received is logged at once and applied so long after its commit at the source."""

import time
import unittest

from commitd_process import code_of, wait_until
from pair import FollowedPairTest

READ_ONLY, SQL_THREAD_MUST_STOP, DELAY_TOO_LONG = 1290, 3085, 1729
HOUR = 3600


class ReplicaDelayTest(FollowedPairTest):
    def delay(self, seconds):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_DELAY = {seconds}")
        self.replica.query("START REPLICA SQL_THREAD")

    def test_it_is_received_and_logged_at_once_and_applied_when_its_time_has_come(self):
        self.delay(HOUR)
        self.insert(1, 2)
        self.wait_for_received()
        self.assertEqual(self.rows(), [])
        status = self.status()
        self.assertEqual(status["SQL_Delay"], str(HOUR))
        self.assertIn(int(status["SQL_Remaining_Delay"]), range(1, HOUR + 1))
        self.assertEqual(status["Replica_SQL_Running_State"], "Waiting until SOURCE_DELAY seconds after source executed event")
        self.assertEqual((status["Replica_IO_Running"], status["Replica_SQL_Running"]), ("Yes", "Yes"))
        self.assertEqual(self.replica.query("SELECT DESIRED_DELAY FROM performance_schema.replication_applier_configuration"), ((HOUR,),))
        self.assertEqual(code_of(lambda: self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 0")), SQL_THREAD_MUST_STOP)
        self.delay(0)
        self.wait_for_all()
        self.assertEqual(self.rows(), [1, 2])
        self.assertIsNone(self.status()["SQL_Remaining_Delay"])

    def test_not_before_its_time(self):
        self.delay(2)
        began = time.time()
        self.insert(1)
        self.wait_for_received()
        self.wait_for_all()
        self.assertGreaterEqual(time.time() - began, 2)

    def test_stop_replica_leaves_what_waits_and_a_restart_does_too(self):
        self.insert(1)
        self.wait_for_all()
        self.delay(HOUR)
        self.insert(2)
        self.wait_for_received()
        for again in (False, True):
            self.assertEqual(self.rows(), [1])
            self.assertEqual(code_of(lambda: self.replica.query("INSERT INTO d.t VALUES (9)")), READ_ONLY)
            self.assertEqual(self.status()["Replica_SQL_Running"], "No" if again else "Yes")
            self.replica.kill()
            self.replica.start()
            self.assertEqual(self.rows(), [1])  # what was visible stays so
            self.replica.query("STOP REPLICA")
        self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 0")
        self.replica.query("START REPLICA")
        self.wait_for_all()
        self.assertEqual(self.rows(), [1, 2])
        self.replica.query("STOP REPLICA")
        self.replica.query("INSERT INTO d.t VALUES (9)")

    def test_no_role_of_a_cluster_waits_for_it(self):
        self.delay(HOUR)
        self.insert(1)
        self.wait_for_received()
        self.replica.query("ALTER INSTANCE FENCE EPOCH 1")
        wait_until(lambda: self.rows() == [1], "what was received is applied: " + self.replica.log_text())
        self.assertEqual(code_of(lambda: self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 1")), READ_ONLY)

    def test_the_longest(self):
        self.replica.query("STOP REPLICA")
        self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 2147483647")
        self.assertEqual(self.status()["SQL_Delay"], "2147483647")
        self.assertEqual(code_of(lambda: self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 2147483648")), DELAY_TOO_LONG)


if __name__ == "__main__":
    unittest.main()
