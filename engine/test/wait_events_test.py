"""What a real server tells about waits and locks, held against what can be counted otherwise."""

import contextlib
import threading
import unittest

import pymysql

from commitd_process import Commitd, wait_until

SCHEMA = "performance_schema"


def waits(server, event):
    """COUNT_STAR and SUM_TIMER_WAIT."""
    rows = server.query(f"SELECT COUNT_STAR, SUM_TIMER_WAIT FROM {SCHEMA}.events_waits_summary_global_by_event_name "
                        f"WHERE EVENT_NAME = '{event}'")
    return rows[0] if rows else None


class WaitEventsTest(unittest.TestCase):
    def test_the_commit_paths_waits_are_counted_and_timed(self):
        with Commitd() as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
            start = server.query("SHOW BINARY LOG STATUS")[0][1]
            fsyncs = server.metric("commitd_binlog_fsyncs_total")
            server.query(f"TRUNCATE {SCHEMA}.events_waits_summary_global_by_event_name")
            for number in range(40):
                server.query(f"INSERT INTO d.t VALUES ({number})")
            fsyncs = server.metric("commitd_binlog_fsyncs_total") - fsyncs
            logged = server.query("SHOW BINARY LOG STATUS")[0][1] - start
            done = waits(server, "wait/synch/cond/sql/MYSQL_BIN_LOG::COND_done")
            self.assertEqual(done[0], 40)
            files = server.query("SELECT COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, COUNT_MISC "
                                 f"FROM {SCHEMA}.file_summary_by_event_name WHERE EVENT_NAME = 'wait/io/file/sql/binlog'")[0]
            self.assertEqual(fsyncs, 40)
            # Now and then room is made for more: a write and a sync that no commit asked for.
            self.assertGreaterEqual(files[0], fsyncs)
            self.assertGreaterEqual(files[1], logged)
            self.assertGreaterEqual(files[2], fsyncs)
            self.assertGreater(done[1], 0)
            self.assertGreater(waits(server, "wait/io/socket/sql/client_connection")[0], 80)

    def test_switched_off_nothing_is_counted(self):
        with Commitd("--performance-schema=OFF") as server:
            server.query("CREATE DATABASE d")
            self.assertEqual(server.query(f"SELECT SUM(COUNT_STAR) FROM {SCHEMA}.events_waits_summary_global_by_event_name"), ((0,),))
            self.assertEqual(server.query("SELECT @@performance_schema"), ((0,),))

    def test_status_is_the_sessions_or_the_servers(self):
        with Commitd() as server, contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE d")
            server.query("DO 1")
            cursor.execute("SHOW SESSION STATUS LIKE 'Com_do'")
            self.assertEqual(cursor.fetchone()[1], "0")
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Com_do'")
            self.assertEqual(cursor.fetchone()[1], "1")
            cursor.execute("SHOW GLOBAL STATUS WHERE Variable_name IN ('Bytes_sent', 'Bytes_received', 'Queries', 'Threads_running')")
            for name, value in cursor.fetchall():
                self.assertGreater(int(value), 0, name)


class DeadlockTest(unittest.TestCase):
    """Two sessions take two rows in opposite order."""

    def deadlock(self, server):
        """The errors of the two, after both have ended."""
        errors = [None, None]
        first_taken = threading.Barrier(2)

        def run(me):
            with contextlib.closing(server.connect(autocommit=False)) as connection, connection.cursor() as cursor:
                try:
                    cursor.execute("UPDATE d.t SET v = v + 1 WHERE id = %s", me)
                    first_taken.wait()
                    cursor.execute("UPDATE d.t SET v = v + 1 WHERE id = %s", 1 - me)
                    connection.commit()
                except pymysql.MySQLError as error:
                    errors[me] = error.args[0]

        sessions = [threading.Thread(target=run, args=(me,)) for me in (0, 1)]
        for session in sessions:
            session.start()
        for session in sessions:
            session.join()
        return errors

    def prepare(self, server):
        server.query("CREATE DATABASE d")
        server.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
        server.query("INSERT INTO d.t VALUES (0, 0), (1, 0)")

    def test_each_detector_ends_it_with_one_victim(self):
        with Commitd() as server:
            self.prepare(server)
            for rounds, detector in enumerate(("incremental", "background"), start=1):
                server.query(f"SET GLOBAL commitd_deadlock_detector = '{detector}'")
                self.assertCountEqual(self.deadlock(server), [None, 1213], detector)
                self.assertEqual(server.query("SELECT SUM(v) FROM d.t"), ((2 * rounds,),))
                self.assertEqual(server.metric("commitd_deadlocks_total"), rounds)
            status = server.query("SHOW ENGINE INNODB STATUS")[0][2]
            self.assertIn("LATEST DETECTED DEADLOCK", status)
            self.assertIn("UPDATE d.t SET v = v + 1 WHERE id = ", status)

    def test_without_detection_the_timeout_ends_it_and_switching_it_on_too(self):
        with Commitd("--innodb-lock-wait-timeout=1", "--innodb-deadlock-detect=OFF") as server:
            self.prepare(server)
            self.assertIn(1205, self.deadlock(server))
            self.assertEqual(server.metric("commitd_deadlocks_total"), 0)
            server.query("SET GLOBAL innodb_lock_wait_timeout = 100")
            switch = threading.Thread(target=lambda: (
                wait_until(lambda: server.metric("commitd_row_locks_waiting") == 2, "both wait"),
                server.query("SET GLOBAL deadlock_detect = ON")))
            switch.start()
            self.assertCountEqual(self.deadlock(server), [None, 1213])
            switch.join()

    def test_the_detector_that_blocks_threads_is_refused_where_threads_are_shared(self):
        with Commitd() as server:
            with self.assertRaises(pymysql.MySQLError) as refused:
                server.query("SET GLOBAL commitd_deadlock_detector = 'recursive'")
            self.assertEqual(refused.exception.args[0], 1231)
            self.assertIn("thread-handling=one-thread-per-connection", refused.exception.args[1])
            self.assertEqual(server.query("SELECT @@commitd_deadlock_detector"), (("incremental",),))

    def test_a_hot_row_costs_the_detector_one_step_per_wait(self):
        with Commitd() as server:
            self.prepare(server)

            def update():
                with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                    for _ in range(20):
                        cursor.execute("UPDATE d.t SET v = v + 1 WHERE id = 0")

            clients = [threading.Thread(target=update) for _ in range(16)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            self.assertEqual(server.query("SELECT v FROM d.t WHERE id = 0"), ((320,),))
            self.assertEqual(server.metric("commitd_deadlocks_total"), 0)
            self.assertLessEqual(server.metric("commitd_deadlock_search_steps_total"), server.metric("commitd_row_lock_waits_total"))


if __name__ == "__main__":
    unittest.main()
