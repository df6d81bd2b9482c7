"""START REPLICA UNTIL: the applier stops in front of a transaction, or behind the last one of a set."""

import unittest

from commitd_process import Commitd, code_of, wait_until
from pair import FollowedPairTest

MALFORMED, IGNORED = 1772, 1279


class ReplicaUntilTest(FollowedPairTest):
    def setUp(self):
        super().setUp()
        self.source_uuid = self.source.query("SELECT @@server_uuid")[0][0]

    def gtid(self, back=0):
        """Of the source's latest transaction, or of one before that."""
        return f"{self.source_uuid}:{int(self.executed().rpartition('-')[2]) - back}"

    def applier_stops(self):
        wait_until(lambda: self.status()["Replica_SQL_Running"] == "No", "the applier has stopped: " + self.replica.log_text())
        self.assertEqual(self.status()["Replica_IO_Running"], "Yes")

    def start_until(self, until):
        self.replica.query(f"START REPLICA SQL_THREAD UNTIL {until}")

    def test_it_stops_in_front_of_the_first_of_a_set(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1, 2, 3, 4)
        self.start_until(f"SQL_BEFORE_GTIDS = '{self.gtid(1)},{self.gtid()}'")
        self.applier_stops()
        self.assertEqual(self.rows(), [1, 2])
        self.assertEqual(self.status()["Until_Condition"], "SQL_BEFORE_GTIDS")
        self.start_until(f"SQL_BEFORE_GTIDS = '{self.gtid(2)}'")  # applied already: nothing to do
        self.applier_stops()
        self.assertEqual(self.rows(), [1, 2])
        self.replica.query("START REPLICA")
        self.wait_for_all()
        self.assertEqual((self.rows(), self.status()["Until_Condition"]), ([1, 2, 3, 4], "None"))

    def test_it_stops_behind_the_last_of_a_set_also_one_that_comes_later(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1)
        behind = int(self.gtid().rpartition(":")[2])
        self.start_until(f"SQL_AFTER_GTIDS = '{self.source_uuid}:{behind}:{behind + 2}'")
        wait_until(lambda: self.rows() == [1], "what comes first is applied")
        self.assertEqual(self.status()["Replica_SQL_Running"], "Yes")
        self.insert(2, 3, 4)
        self.applier_stops()
        self.wait_for_received()
        self.assertEqual(self.rows(), [1, 2, 3])
        self.assertEqual(self.status()["Until_Condition"], "SQL_AFTER_GTIDS")

    def test_where_it_has_stopped_it_stays_over_restarts_and_a_restart_forgets_what_is_not_reached(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1, 2)
        self.start_until(f"SQL_BEFORE_GTIDS = '{self.gtid()}'")
        self.applier_stops()
        self.replica.kill()
        self.replica.start()
        self.assertEqual(self.rows(), [1])
        later = int(self.gtid().rpartition(":")[2]) + 1
        self.start_until(f"SQL_BEFORE_GTIDS = '{self.source_uuid}:{later}'")
        wait_until(lambda: self.rows() == [1, 2], "what is in front is applied")
        self.replica.kill()
        self.replica.start()
        self.insert(3)
        self.wait_for_all()
        self.assertEqual(self.rows(), [1, 2, 3])

    def test_it_stops_within_what_was_let_through_before_the_applier_was_stopped(self):
        with self.replica.connect() as backup, backup.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")  # a replica that lags behind
            self.insert(1, 2, 3, 4)
            self.wait_for_received()
            self.replica.query("STOP REPLICA SQL_THREAD")
            cursor.execute("UNLOCK TABLES")
        self.start_until(f"SQL_BEFORE_GTIDS = '{self.gtid(1)}'")
        self.applier_stops()
        self.assertEqual(self.rows(), [1, 2])
        self.start_until(f"SQL_AFTER_GTIDS = '{self.gtid(1)}'")
        self.applier_stops()
        self.assertEqual(self.rows(), [1, 2, 3])

    def test_stop_replica_applies_nothing_behind_it(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1, 2)
        self.wait_for_received()
        self.start_until(f"SQL_BEFORE_GTIDS = '{self.gtid()}'")
        self.replica.query("STOP REPLICA")
        self.assertIn(self.rows(), ([], [1]))

    def test_another_replica_gets_what_is_let_through(self):
        leaf = self.started(Commitd(server_id=3))
        leaf.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={self.replica.port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1")
        leaf.query("START REPLICA")
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1, 2)
        self.start_until(f"SQL_BEFORE_GTIDS = '{self.gtid()}'")
        self.applier_stops()
        wait_until(lambda: leaf.query("SELECT id FROM d.t") == ((1,),), "the leaf has what was let through")

    def test_what_cannot_be_is_said(self):
        self.assertEqual(code_of(lambda: self.start_until("SQL_AFTER_GTIDS = 'nonsense'")), MALFORMED)
        with self.replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"START REPLICA UNTIL SQL_AFTER_GTIDS = '{self.gtid()}'")  # it runs
            cursor.execute("SHOW WARNINGS")
            self.assertEqual([row[1] for row in cursor.fetchall()], [IGNORED])
        self.insert(1)
        self.wait_for_all()
        self.assertEqual(self.rows(), [1])


if __name__ == "__main__":
    unittest.main()
