"""Semisync outside of a cluster: MySQL's variables, what a commit waits for, and what it never does."""

import threading
import unittest

import pymysql

from commitd_process import code_of, wait_until
from pair import PairTest

FOR_EVER = 4294967295
SHORT = 50
DEMOTED, IN_HOOK, WRONG_VALUE, ROLLED_BACK, LOCK_WAIT_TIMEOUT = 1053, 3100, 1231, 3101, 1205


class SemisyncTest(PairTest):
    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.t (id INT PRIMARY KEY)")

    def set(self, **variables):
        for name, value in variables.items():
            self.source.query(f"SET GLOBAL {name} = {value}")

    def enable(self, on_timeout, timeout):
        self.set(commitd_semi_sync_on_timeout=on_timeout, rpl_semi_sync_source_timeout=timeout, rpl_semi_sync_source_enabled=1)

    def shown(self, name):
        ((_, value),) = self.source.query(f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_{name}'")
        return value

    def ids(self):
        return [number for (number,) in self.source.query("SELECT id FROM d.t ORDER BY id")]

    def insert(self, number):
        self.source.query(f"INSERT INTO d.t VALUES ({number})")

    def begin_insert(self, number):
        return self.begin(f"INSERT INTO d.t VALUES ({number})")

    def begin(self, statement):
        """On a connection of its own; gives that connection's id and, later, the error."""
        connection = self.source.connect()
        outcome = []
        def run():
            try:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                outcome.append(None)
            except pymysql.MySQLError as error:
                outcome.append(error.args[0])
        writer = threading.Thread(target=run)
        writer.start()
        self.addCleanup(writer.join, 60)
        wait_until(lambda: self.shown("wait_sessions") != "0", "the commit waits")
        return connection.thread_id(), outcome

    def test_the_variables_have_both_names_and_are_checked(self):
        self.set(rpl_semi_sync_master_timeout=1234, rpl_semi_sync_master_wait_for_slave_count=3, rpl_semi_sync_source_wait_no_replica=0)
        self.assertEqual(self.source.query("SHOW VARIABLES LIKE 'rpl_semi_sync_source%'"), (
            ("rpl_semi_sync_source_enabled", "OFF"), ("rpl_semi_sync_source_timeout", "1234"), ("rpl_semi_sync_source_trace_level", "32"),
            ("rpl_semi_sync_source_wait_for_replica_count", "3"), ("rpl_semi_sync_source_wait_no_replica", "OFF"),
            ("rpl_semi_sync_source_wait_point", "AFTER_SYNC")))
        self.assertEqual(self.source.query("SELECT @@rpl_semi_sync_master_wait_no_slave, @@rpl_semi_sync_slave_enabled"), ((0, 1),))
        self.set(rpl_semi_sync_master_wait_point="AFTER_COMMIT")
        self.assertEqual(self.source.query("SELECT @@rpl_semi_sync_source_wait_point, @@rpl_semi_sync_master_wait_point"), (("AFTER_COMMIT",) * 2,))
        for statement, number in (("rpl_semi_sync_source_wait_point = 'SOON'", WRONG_VALUE),
                                  ("commitd_semi_sync_on_timeout = 'panic'", WRONG_VALUE), ("rpl_semi_sync_source_enabled = 7", WRONG_VALUE)):
            self.assertEqual(code_of(lambda: self.source.query(f"SET GLOBAL {statement}")), number, statement)
        self.source.query("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
        self.source.query("SET PERSIST rpl_semi_sync_source_enabled = 1")
        self.source.terminate()
        self.source.start()
        self.assertEqual(self.source.query("SELECT @@rpl_semi_sync_source_enabled, @@rpl_semi_sync_master_enabled"), ((1, 1),))
        self.assertEqual(self.shown("status"), "ON")

    def test_a_killed_commit_stays_invisible_until_it_is_acknowledged(self):
        self.enable("block", SHORT)
        connection, outcome = self.begin_insert(1)
        self.source.query(f"KILL QUERY {connection}")
        self.source.query(f"KILL {connection}")
        self.assertEqual(self.ids(), [])
        self.assertEqual(self.shown("status"), "ON")
        self.assertEqual(outcome, [], "nobody was told that it is committed")
        self.follow()
        wait_until(lambda: self.ids() == [1], "it is acknowledged")
        self.assertEqual(self.shown("yes_tx"), "1")
        self.assertEqual(self.shown("no_tx"), "0")
        self.assertEqual(self.shown("clients"), "1")

    def tables(self):
        return [name for (name,) in self.source.query("SHOW TABLES FROM d")]

    def assert_both_tables_are_there_and_apart(self):
        self.source.query("CREATE TABLE d.second (id INT PRIMARY KEY)")
        self.source.query("INSERT INTO d.first VALUES (1)")
        self.source.query("INSERT INTO d.second VALUES (2)")
        self.assertEqual(self.source.query("SELECT * FROM d.first"), ((1,),))
        self.wait_for_all()
        self.assertEqual(self.replica.query("SELECT * FROM d.first"), ((1,),))

    def test_a_definition_that_waits_keeps_its_lock_when_it_is_killed(self):
        self.enable("block", SHORT)
        connection, outcome = self.begin("CREATE TABLE d.first (id INT PRIMARY KEY)")
        self.source.query(f"KILL QUERY {connection}")
        self.source.query(f"KILL {connection}")
        self.source.query("SET GLOBAL lock_wait_timeout = 1")
        self.assertEqual(code_of(lambda: self.source.query("CREATE TABLE d.second (id INT PRIMARY KEY)")), LOCK_WAIT_TIMEOUT)
        self.assertEqual(self.tables(), ["t"])
        self.assertEqual(outcome, [], "nobody was told that it is committed")
        self.follow()
        wait_until(lambda: self.tables() == ["first", "t"], "it is acknowledged")
        self.assert_both_tables_are_there_and_apart()

    def test_nobody_plans_a_definition_beside_one_whose_outcome_is_unknown(self):
        self.enable("error", SHORT)
        self.assertEqual(code_of(lambda: self.source.query("CREATE TABLE d.first (id INT PRIMARY KEY)")), DEMOTED)
        self.set(commitd_semi_sync_on_timeout="block")  # lets new commits in
        self.assertEqual(code_of(lambda: self.source.query("CREATE TABLE d.second (id INT PRIMARY KEY)")), ROLLED_BACK)
        self.follow()
        wait_until(lambda: self.tables() == ["first", "t"], "it is acknowledged")
        self.assert_both_tables_are_there_and_apart()

    def test_as_many_replicas_as_wanted_have_to_acknowledge(self):
        self.follow()
        self.wait_for_all()
        self.set(rpl_semi_sync_source_wait_for_replica_count=2)
        self.enable("async", FOR_EVER)
        self.begin_insert(1)
        self.assertEqual(self.ids(), [])
        self.set(rpl_semi_sync_source_wait_for_replica_count=1)
        wait_until(lambda: self.ids() == [1], "one is enough")

    def test_async_gives_up_and_comes_back(self):
        self.enable("async", SHORT)
        self.insert(1)
        self.assertEqual([self.shown(name) for name in ("status", "no_times", "no_tx", "yes_tx")], ["OFF", "1", "1", "0"])
        self.insert(2)
        self.assertEqual([self.shown(name) for name in ("no_times", "no_tx", "yes_tx")], ["1", "2", "0"])
        self.follow()
        wait_until(lambda: self.shown("status") == "ON", "the replica has caught up")
        self.set(rpl_semi_sync_source_timeout=FOR_EVER)
        self.insert(3)
        self.assertEqual([self.shown(name) for name in ("no_times", "no_tx", "yes_tx")], ["1", "2", "1"])

    def test_error_refuses_what_is_new_and_keeps_what_waits_invisible(self):
        self.enable("error", SHORT)
        self.assertEqual(code_of(lambda: self.insert(1)), DEMOTED)
        self.assertEqual(code_of(lambda: self.insert(2)), IN_HOOK)
        self.assertEqual(self.ids(), [])
        self.assertNotEqual(code_of(lambda: self.source.query("RESET BINARY LOGS AND GTIDS")), None)
        self.follow()
        wait_until(lambda: self.shown("status") == "ON" and self.ids() == [1], "the replica acknowledges")
        self.set(rpl_semi_sync_source_timeout=FOR_EVER)
        self.insert(3)
        self.assertEqual(self.ids(), [1, 3])

    def test_who_began_beside_an_unknown_outcome_does_not_commit_on_older_data(self):
        self.source.query("CREATE TABLE d.c (id INT PRIMARY KEY, n INT)")
        self.source.query("INSERT INTO d.c VALUES (1, 0)")
        add_one = "UPDATE d.c SET n = n + 1"
        before, beside = self.source.connect(), self.source.connect()
        for connection in (before, beside):
            self.addCleanup(connection.close)
        before.begin()
        before.cursor().execute("SELECT * FROM d.t")
        self.enable("error", SHORT)
        self.assertEqual(code_of(lambda: self.source.query(add_one)), DEMOTED)
        beside.begin()
        beside.cursor().execute(add_one)
        self.follow()
        wait_until(lambda: self.shown("status") == "ON" and self.source.query("SELECT n FROM d.c") == ((1,),), "the replica acknowledges")
        self.assertEqual(code_of(beside.commit), ROLLED_BACK)
        before.cursor().execute(add_one)
        self.assertEqual(code_of(before.commit), ROLLED_BACK)
        self.set(rpl_semi_sync_source_timeout=FOR_EVER)
        for connection in (before, beside):
            connection.cursor().execute(add_one)
            connection.commit()
        self.assertEqual(self.source.query("SELECT n FROM d.c"), ((3,),))

    def show_first(self):
        self.set(rpl_semi_sync_source_wait_point="'AFTER_COMMIT'")

    def test_after_commit_others_see_it_and_its_session_waits(self):
        self.show_first()
        self.enable("block", SHORT)
        connection, outcome = self.begin_insert(1)
        wait_until(lambda: self.ids() == [1], "it is in the engine")
        self.source.query("UPDATE d.t SET id = 2 WHERE id = 3")  # changes nothing, so nobody waits
        self.source.query(f"KILL QUERY {connection}")
        self.source.query(f"KILL {connection}")
        self.assertEqual([self.shown(name) for name in ("status", "wait_sessions", "yes_tx")], ["ON", "1", "0"])
        self.assertEqual(outcome, [], "nobody was told that it is committed")
        # Who waits already is shown when the wait point changes, and waits on; who comes behind AFTER_SYNC is not shown.
        self.set(rpl_semi_sync_source_wait_point="'AFTER_SYNC'")
        _, second = self.begin_insert(2)
        wait_until(lambda: self.shown("wait_sessions") == "2", "both wait")
        self.assertEqual(self.ids(), [1])
        self.show_first()
        wait_until(lambda: self.ids() == [1, 2], "both are shown")
        self.assertEqual((outcome, second), ([], []))
        self.follow()
        wait_until(lambda: second == [None], "it is acknowledged")
        self.assertEqual([self.shown(name) for name in ("wait_sessions", "yes_tx", "no_tx")], ["0", "2", "0"])
        self.assertGreater(int(self.shown("tx_wait_time")), SHORT)
        self.wait_for_all()

    def test_after_commit_a_timeout_answers_as_it_is_told_to(self):
        self.show_first()
        self.enable("error", SHORT)
        self.assertEqual(code_of(lambda: self.insert(1)), DEMOTED)
        self.assertEqual(code_of(lambda: self.insert(2)), IN_HOOK)
        self.assertEqual(self.ids(), [1])
        self.set(commitd_semi_sync_on_timeout="async")
        self.insert(3)
        self.assertEqual([self.shown(name) for name in ("status", "no_tx")], ["OFF", "1"])
        self.follow()
        wait_until(lambda: self.shown("status") == "ON", "the replica has caught up")
        self.set(rpl_semi_sync_source_timeout=FOR_EVER)
        self.insert(4)
        self.assertEqual(self.ids(), [1, 3, 4])
        self.replica.kill()
        _, outcome = self.begin_insert(5)
        wait_until(lambda: 5 in self.ids(), "it comes back with the same wait point")
        self.assertEqual(outcome, [])
        self.set(rpl_semi_sync_source_enabled=0)
        wait_until(lambda: outcome == [None], "nobody is waited for any more")

    def test_after_commit_readers_elsewhere_see_what_is_acknowledged(self):
        self.show_first()
        self.follow()
        self.wait_for_all()
        self.set(rpl_semi_sync_source_wait_for_replica_count=2)
        self.enable("block", SHORT)
        self.begin_insert(1)
        wait_until(lambda: self.ids() == [1], "it is in the engine")
        wait_until(lambda: self.replica.query("SELECT gtid_logged FROM performance_schema.commitd_instance")
                   == self.source.query("SELECT gtid_logged FROM performance_schema.commitd_instance"), "the replica holds it")
        self.assertEqual(self.replica.query("SELECT id FROM d.t"), ())
        self.set(rpl_semi_sync_source_wait_for_replica_count=1)
        self.wait_for_all()
        self.assertEqual(self.replica.query("SELECT id FROM d.t"), ((1,),))

    def test_without_wait_no_replica_nobody_waits_for_those_that_are_not_there(self):
        self.set(rpl_semi_sync_source_wait_no_replica=0)
        self.enable("async", FOR_EVER)
        self.insert(1)
        self.assertEqual(self.shown("status"), "OFF")
        self.follow()
        wait_until(lambda: self.shown("status") == "ON", "the replica has caught up")
        self.insert(2)
        self.assertGreater(int(self.shown("yes_tx")), 0)
        self.replica.kill()
        wait_until(lambda: self.shown("status") == "OFF", "it is gone")
        self.insert(3)


if __name__ == "__main__":
    unittest.main()
