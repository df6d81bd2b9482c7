"""replica_parallel_workers: a backlog is applied by several threads, in order, and whatever ends applying ends it where one would."""

import random
import unittest

from commitd_process import code_of, wait_until
from pair import FollowedPairTest

DUPLICATE, WRONG_VALUE = 1062, 1231
BACKLOG = 3000


class ParallelApplyTest(FollowedPairTest):
    def started(self, server):
        if server.server_id == 2:
            server.flags.append("--replica-parallel-workers=4")
        return super().started(server)

    def setUp(self):
        super().setUp()
        self.source.query("CREATE TABLE d.p (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE, n INT)")
        self.wait_for_all()
        self.random = random.Random(self._testMethodName)
        self.backlogs = 0

    def made_ahead(self):
        return self.replica.metric("commitd_replica_ahead_transactions_total")

    def write_backlog(self, count=BACKLOG):
        """Rows of their own, and some that many change."""
        self.backlogs += 1
        with self.source.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET autocommit = 1")
            for i in range(count):
                if i % 10 == 0:
                    cursor.execute(f"UPDATE d.p SET n = n + 1 WHERE id = {self.random.randint(1, 20)}")
                else:
                    cursor.execute(f"INSERT INTO d.p (u, n) VALUES ({self.backlogs * 100000 + i}, {i})")

    def hold_a_backlog(self, count=BACKLOG):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.write_backlog(count)
        self.wait_for_received()

    def assert_equal_rows(self):
        rows = "SELECT id, u, n FROM d.p ORDER BY id"
        self.assertEqual(self.source.query(rows), self.replica.query(rows))
        self.assertEqual(self.replica.query("CHECK TABLE d.p")[-1][2:], ("status", "OK"))

    def test_a_backlog_is_applied_by_workers(self):
        self.hold_a_backlog()
        before = self.made_ahead()
        self.replica.query("START REPLICA SQL_THREAD")
        self.wait_for_all()
        self.assertGreater(self.made_ahead(), before)
        self.assert_equal_rows()
        rows = self.replica.query("SELECT WORKER_ID, SERVICE_STATE, LAST_ERROR_NUMBER, LAST_APPLIED_TRANSACTION, APPLYING_TRANSACTION "
                                  "FROM performance_schema.replication_applier_status_by_worker ORDER BY WORKER_ID")
        workers = self.replica.query("SELECT @@replica_parallel_workers")[0][0]
        self.assertEqual([row[0] for row in rows], list(range(workers + 1)))
        self.assertEqual({row[1:3] + row[4:] for row in rows}, {("ON", 0, "")})
        sid = self.source.query("SELECT @@server_uuid")[0][0]
        self.assertTrue(any(row[3].startswith(sid) for row in rows[1:]), rows)

    def test_their_number_can_be_changed(self):
        for workers in (0, 1, 7):
            self.hold_a_backlog(500)
            used = self.made_ahead()
            self.replica.query(f"SET GLOBAL replica_parallel_workers = {workers}")
            self.replica.query("START REPLICA SQL_THREAD")
            self.wait_for_all()
            if workers == 0:
                self.assertEqual(self.made_ahead(), used)
            self.assertEqual(self.replica.query("SELECT COUNT(*) FROM performance_schema.replication_applier_status_by_worker"), ((workers + 1,),))
        self.assert_equal_rows()

    def test_the_variables_are_mysqls(self):
        self.assertEqual(self.source.query("SELECT @@replica_parallel_workers"), ((0,),))
        self.assertEqual(self.replica.query("SELECT @@replica_parallel_workers, @@slave_parallel_workers, @@replica_parallel_type, "
                                            "@@replica_preserve_commit_order, @@slave_preserve_commit_order"), ((4, 4, "LOGICAL_CLOCK", 1, 1),))
        for refused in ("replica_parallel_type = 'DATABASE'", "replica_preserve_commit_order = OFF", "slave_parallel_type = 'DATABASE'"):
            self.assertEqual(code_of(lambda sql=refused: self.replica.query(f"SET GLOBAL {sql}")), WRONG_VALUE, refused)
        for taken in ("replica_parallel_type = LOGICAL_CLOCK", "slave_preserve_commit_order = ON", "slave_parallel_workers = 2"):
            self.replica.query(f"SET GLOBAL {taken}")
        self.assertEqual(self.replica.query("SELECT @@replica_parallel_workers"), ((2,),))
        self.replica.terminate()
        self.replica.flags.append("--slave-parallel-workers=3")
        self.replica.start()
        self.assertEqual(self.replica.query("SELECT @@replica_parallel_workers"), ((3,),))

    def test_it_stops_exactly_in_front_of_what_cannot_be_applied(self):
        self.replica.query("STOP REPLICA")
        with self.replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_log_bin = 0")
            cursor.execute("INSERT INTO d.p (id, u, n) VALUES (1000000, 5, 0)")
        self.replica.query("START REPLICA IO_THREAD")
        self.write_backlog(1000)
        before = self.executed()
        self.source.query("INSERT INTO d.p (u, n) VALUES (5, 5)")
        gtid = self.last_of(self.executed(), before)
        self.write_backlog(1000)
        self.wait_for_received()
        self.replica.query("START REPLICA SQL_THREAD")
        wait_until(lambda: self.status()["Replica_SQL_Running"] == "No", "the applier has stopped")
        self.assertEqual(self.status()["Last_SQL_Errno"], str(DUPLICATE))
        self.assertIn(gtid, self.status()["Last_SQL_Error"])
        self.assertEqual(self.replica.query("SELECT GTID_SUBTRACT(@@global.gtid_executed, %s)" % repr(before)), (("",),))
        self.assertEqual(self.replica.query("SELECT GTID_SUBSET(%s, @@global.gtid_executed)" % repr(before)), ((1,),))

    def last_of(self, executed, before):
        return self.source.query(f"SELECT GTID_SUBTRACT('{executed}', '{before}')")[0][0]

    def test_until_ends_where_it_says(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.write_backlog(700)
        until = self.executed()
        self.write_backlog(700)
        self.wait_for_received()
        self.replica.query(f"START REPLICA SQL_THREAD UNTIL SQL_AFTER_GTIDS = '{until}'")
        wait_until(lambda: self.status()["Replica_SQL_Running"] == "No", "it is at its end")
        self.assertEqual(self.replica.query("SELECT @@global.gtid_executed")[0][0], until)
        self.replica.query("START REPLICA SQL_THREAD")
        self.wait_for_all()
        self.assert_equal_rows()

    def test_stopping_it_in_the_middle(self):
        self.hold_a_backlog()
        while not self.has_all():
            self.replica.query("START REPLICA SQL_THREAD")
            self.replica.query("STOP REPLICA SQL_THREAD")
            first = self.replica.query("SELECT @@global.gtid_executed")
            self.assertEqual(self.replica.query("SELECT @@global.gtid_executed"), first)
            self.assertEqual(self.replica.query("CHECK TABLE d.p")[-1][2:], ("status", "OK"))
        self.assert_equal_rows()

    def has_all(self):
        return self.replica.query(f"SELECT GTID_SUBSET('{self.executed()}', @@global.gtid_executed)")[0][0] == 1

    def test_killed_in_the_middle(self):
        for _ in range(5):
            self.hold_a_backlog(1500)
            start = self.replica.metric("commitd_replica_applied_transactions_total")
            self.replica.query("START REPLICA SQL_THREAD")
            some = self.random.randint(1, 1400)
            wait_until(lambda: self.replica.metric("commitd_replica_applied_transactions_total") >= start + some, "some is applied")
            self.replica.kill()
            self.replica.start()
            self.wait_for_all()
            self.assert_equal_rows()


if __name__ == "__main__":
    unittest.main()
