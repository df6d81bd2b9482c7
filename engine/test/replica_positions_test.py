"""Replication by file and position: where a replica stands in its source's log survives everything, and START
REPLICA UNTIL takes a place there."""

import contextlib
import time
import unittest

import pymysql

from commitd_process import code_of, wait_until
from killed_replica import kill_while_source_is_written
from pair import PairTest

AUTO_POSITION, FATAL, BAD_UNTIL, WRONG_VALUE, WITH_AUTO_POSITION, UNTIL_GTIDS = 1776, 1236, 1277, 1525, 4014, 4019


class ReplicaPositionsTest(PairTest):
    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.t (id INT PRIMARY KEY)")

    def change(self, *options):
        self.replica.query("CHANGE REPLICATION SOURCE TO " + ", ".join(options))

    def follow_from(self, file, position, *options):
        self.change("SOURCE_HOST='127.0.0.1'", f"SOURCE_PORT={self.source.port}", "SOURCE_USER='root'", "SOURCE_AUTO_POSITION=0",
                    f"SOURCE_LOG_FILE='{file}'", f"SOURCE_LOG_POS={position}", *options)
        self.replica.query("START REPLICA")

    def follow_from_the_first(self):
        self.follow_from("binlog.000001", 4)
        self.wait_for_all()

    def insert(self, *ids):
        for number in ids:
            self.source.query(f"INSERT INTO d.t VALUES ({number})")

    def rows(self):
        return [row[0] for row in self.replica.query("SELECT id FROM d.t ORDER BY id")]

    def place(self):
        return self.source.query("SHOW BINARY LOG STATUS")[0][:2]

    def read_place(self):
        status = self.status()
        return status["Source_Log_File"], int(status["Read_Source_Log_Pos"])

    def executed_place(self):
        status = self.status()
        return status["Relay_Source_Log_File"], int(status["Exec_Source_Log_Pos"])

    def stands_at(self, place):
        wait_until(lambda: (self.read_place(), self.executed_place()) == (place, place), f"it stands at {place}: {self.status()}")

    def performance_schema(self, table, column):
        return self.replica.query(f"SELECT {column} FROM performance_schema.replication_{table}")

    def restart(self):
        self.replica.kill()
        self.replica.start()

    def test_it_takes_what_stands_behind_the_place(self):
        self.replica.query("CREATE DATABASE d")
        self.replica.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        self.insert(1)
        place = self.place()
        self.follow_from(*place)
        self.insert(2)
        self.stands_at(self.place())
        self.assertEqual(self.rows(), [2])
        self.assertEqual(self.status()["Auto_Position"], "0")
        self.assertEqual(self.performance_schema("connection_configuration", "AUTO_POSITION, GTID_ONLY"), (("0", "0"),))
        self.assertEqual(self.performance_schema("connection_status", "SERVICE_STATE"), (("ON",),))

    def test_the_old_spellings_and_the_first_file(self):
        self.replica.query(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={self.source.port}, MASTER_USER='root'")
        self.assertEqual((self.read_place(), self.status()["Auto_Position"]), (("", 4), "0"))
        self.replica.query("START SLAVE")
        self.stands_at(self.place())
        self.replica.query("STOP SLAVE")
        self.replica.query("CHANGE MASTER TO MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4")
        self.assertEqual((self.read_place(), self.executed_place()), (("binlog.000001", 4),) * 2)
        self.replica.query("START SLAVE")  # what it has already is passed over
        self.insert(1)
        self.stands_at(self.place())
        self.assertEqual(self.rows(), [1])

    def test_where_it_stands_survives_stopping_killing_and_the_loss_of_its_own_old_files(self):
        self.follow_from_the_first()
        self.insert(1)
        self.stands_at(self.place())
        stood = self.place()
        for step in ("STOP REPLICA", "FLUSH BINARY LOGS", "FLUSH BINARY LOGS"):
            self.replica.query(step)
            self.restart()
            self.assertEqual((self.read_place(), self.executed_place()), (stood, stood), step)
        self.replica.query(f"PURGE BINARY LOGS TO '{self.replica.query('SHOW BINARY LOG STATUS')[0][0]}'")
        self.restart()
        self.assertEqual(self.executed_place(), stood)
        self.insert(2)
        self.source.query("FLUSH BINARY LOGS")
        self.insert(3)
        self.replica.query("START REPLICA")
        self.stands_at(self.place())
        self.assertEqual(self.rows(), [1, 2, 3])

    def test_an_idle_replica_follows_into_the_source_s_next_file(self):
        self.follow_from_the_first()
        self.source.query("FLUSH BINARY LOGS")
        wait_until(lambda: self.read_place()[0] == "binlog.000002", "it has seen the next file")
        time.sleep(2.5)  # it is told so by a heartbeat, each second
        self.source.query("PURGE BINARY LOGS TO 'binlog.000002'")
        self.restart()
        self.insert(1)
        self.stands_at(self.place())
        self.assertEqual(self.rows(), [1])

    def test_own_files_can_be_purged_while_it_runs(self):
        self.follow_from_the_first()
        for number in range(1, 4):
            self.insert(number)
            self.wait_for_all()
            self.replica.query("FLUSH BINARY LOGS")
        self.insert(4)
        self.stands_at(self.place())
        (current, *_), = self.replica.query("SHOW BINARY LOG STATUS")

        def purged():
            self.replica.query(f"PURGE BINARY LOGS TO '{current}'")
            return len(self.replica.query("SHOW BINARY LOGS")) == 1
        wait_until(purged, "what it stands on is no longer in the old files")
        self.restart()
        self.stands_at(self.place())

    def test_what_waits_for_the_applier_says_where_it_comes_from_after_a_kill(self):
        self.follow_from_the_first()
        self.replica.query("STOP REPLICA SQL_THREAD")
        applied = self.place()
        self.insert(1, 2)
        wait_until(lambda: self.read_place() == self.place(), "both are received")
        self.restart()
        wait_until(lambda: self.read_place() == self.place(), "it goes on receiving")
        self.assertEqual((self.rows(), self.executed_place()), ([], applied))
        self.replica.query("START REPLICA SQL_THREAD")
        self.stands_at(self.place())
        self.assertEqual(self.rows(), [1, 2])

    def test_killed_at_any_moment_it_misses_nothing(self):
        self.source.query("CREATE TABLE d.log (n INT, at TIMESTAMP(6) DEFAULT NOW(6))")
        self.follow_from_the_first()
        kill_while_source_is_written(self.source.connect, self.replica, flush_every=50, seed=7)
        self.wait_for_all()
        self.stands_at(self.place())
        count = "SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM d.log"
        self.assertEqual(self.replica.query(count), self.source.query(count))

    def test_reset_replica_forgets_where_it_stood(self):
        self.follow_from_the_first()
        self.replica.query("STOP REPLICA")
        self.replica.query("RESET REPLICA")
        self.assertEqual((self.read_place(), self.status()["Source_Host"]), (("", 4), "127.0.0.1"))
        self.restart()
        self.assertEqual(self.read_place(), ("", 4))
        self.replica.query("START REPLICA")
        self.stands_at(self.place())

    def test_reset_binary_logs_does_not(self):
        self.follow_from_the_first()
        self.stands_at(self.place())
        stood = self.place()
        self.replica.query("STOP REPLICA")
        self.replica.query("RESET BINARY LOGS AND GTIDS")
        self.assertEqual(self.read_place(), stood)
        self.restart()
        self.assertEqual(self.read_place(), stood)
        self.insert(1)
        self.replica.query("START REPLICA")
        self.stands_at(self.place())
        self.assertEqual(self.rows(), [1])

    def test_to_auto_position_and_back(self):
        self.follow_from_the_first()
        self.replica.query("STOP REPLICA")
        self.assertEqual(code_of(lambda: self.change("SOURCE_AUTO_POSITION=1", "SOURCE_LOG_POS=4")), AUTO_POSITION)
        self.change("SOURCE_AUTO_POSITION=1")
        self.insert(1)
        self.replica.query("START REPLICA")
        self.wait_for_all()
        self.replica.query("STOP REPLICA")
        stood = self.place()
        self.change("SOURCE_AUTO_POSITION=0")
        self.assertEqual(self.read_place(), stood)
        self.insert(2)
        self.replica.query("START REPLICA")
        self.stands_at(self.place())
        self.assertEqual(self.rows(), [1, 2])

    def test_a_place_that_is_not_there_is_said_in_mysqls_words(self):
        last_error = lambda: (int(self.status()["Last_IO_Errno"]), self.status()["Last_IO_Error"])
        self.follow_from("binlog.000009", 4)
        wait_until(lambda: last_error()[0] == FATAL, f"an error: {self.status()}")
        self.assertIn("Got fatal error 1236 from source when reading data from binary log: 'Could not find first log file name in binary log index file",
                      last_error()[1])
        self.replica.query("STOP REPLICA")
        self.change("SOURCE_LOG_FILE='binlog.000001'", "SOURCE_LOG_POS=99999999")
        self.replica.query("START REPLICA")
        wait_until(lambda: "> file size" in last_error()[1], f"another error: {self.status()}")
        self.replica.query("STOP REPLICA")
        self.change("SOURCE_LOG_POS=0")
        self.assertEqual(self.read_place(), ("binlog.000001", 4))

    def test_who_gives_gtids_to_what_has_none(self):
        options = ("OFF", None), ("LOCAL", self.replica.query("SELECT @@server_uuid")[0][0]), \
                  ("'3e11fa47-71ca-11e1-9e33-c80aa9429562'", "3e11fa47-71ca-11e1-9e33-c80aa9429562")
        self.change("SOURCE_HOST='h'", "SOURCE_AUTO_POSITION=0")
        for option, value in options:
            self.change(f"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS={option}")
            kind = "UUID" if option.startswith("'") else option
            self.assertEqual(self.performance_schema("applier_configuration", "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE, "
                                                     "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE"), ((kind, value),))
        self.assertEqual(code_of(lambda: self.change("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS='mine'")), WRONG_VALUE)
        self.assertEqual(code_of(lambda: self.change("SOURCE_AUTO_POSITION=1")), WITH_AUTO_POSITION)
        self.assertEqual(code_of(lambda: self.replica.query("START REPLICA UNTIL SQL_AFTER_GTIDS='3e11fa47-71ca-11e1-9e33-c80aa9429562:1'")),
                         UNTIL_GTIDS)

    # --- START REPLICA UNTIL ---

    def applier_stops(self):
        wait_until(lambda: self.status()["Replica_SQL_Running"] == "No", f"the applier has stopped: {self.status()}")

    def start_until(self, place):
        self.replica.query(f"START REPLICA SQL_THREAD UNTIL SOURCE_LOG_FILE='{place[0]}', SOURCE_LOG_POS={place[1]}")

    def hold_three(self):
        """Three transactions that wait for the applier; where each of them begins, and the last ends."""
        self.replica.query("STOP REPLICA SQL_THREAD")
        places = [self.place()]
        for number in (1, 2, 3):
            if number == 3:
                self.source.query("FLUSH BINARY LOGS")
            self.insert(number)
            places.append(self.place())
        wait_until(lambda: self.read_place() == places[-1], f"all are received: {self.status()}")
        return places

    def until_a_place(self):
        places = self.hold_three()
        self.start_until(places[1])
        self.applier_stops()
        self.assertEqual(self.rows(), [1])
        status = self.status()
        self.assertEqual((status["Until_Condition"], status["Until_Log_File"], int(status["Until_Log_Pos"])), ("Source", *places[1]))
        self.start_until(places[1])  # it is there already
        self.applier_stops()
        self.assertEqual(self.rows(), [1])
        self.restart()
        self.assertEqual(self.rows(), [1])
        self.start_until((places[1][0], places[1][1] + 1))  # inside the second: as a whole
        self.applier_stops()
        self.assertEqual(self.rows(), [1, 2])
        self.restart()
        self.start_until((places[3][0], places[3][1]))
        self.applier_stops()
        self.assertEqual(self.rows(), [1, 2, 3])
        self.replica.query("START REPLICA")
        self.insert(4)
        wait_until(lambda: self.rows() == [1, 2, 3, 4], "it goes on")

    def test_until_a_place_by_file_and_position(self):
        self.follow_from_the_first()
        self.until_a_place()

    def test_until_a_place_with_auto_position(self):
        self.follow()
        self.wait_for_all()
        self.until_a_place()

    def test_until_a_place_that_comes_later(self):
        self.follow_from_the_first()
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(1)
        self.start_until((self.place()[0], self.place()[1] + 1))
        wait_until(lambda: self.rows() == [1], "what stands in front is applied")
        self.insert(2, 3)
        self.applier_stops()
        self.assertEqual(self.rows(), [1, 2])

    def test_of_more_than_are_remembered_each_has_its_turn(self):
        self.follow_from_the_first()
        self.replica.query("STOP REPLICA SQL_THREAD")
        many, at_once = 18000, 500  # ReceivedQueue::kMost is 16384
        self.source.query("SET GLOBAL sync_binlog = 0")
        with contextlib.closing(self.source.connect(client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS)) as connection, \
                connection.cursor() as cursor:
            for first in range(1, many, at_once):
                cursor.execute(";".join(f"INSERT INTO d.t VALUES ({number})" for number in range(first, first + at_once)))
                while cursor.nextset():
                    pass
        last_but_one = self.place()
        self.insert(many + 1)
        wait_until(lambda: self.read_place() == self.place(), f"all are received: {self.status()}")
        self.start_until(last_but_one)
        self.applier_stops()
        self.assertEqual(self.replica.query("SELECT COUNT(*), MAX(id) FROM d.t"), ((many, many),))
        self.assertEqual(self.executed_place(), last_but_one)
        self.replica.query("START REPLICA SQL_THREAD")
        self.stands_at(self.place())

    def test_there_are_no_gaps(self):
        self.follow_from_the_first()
        self.hold_three()
        self.replica.query("START REPLICA SQL_THREAD UNTIL SQL_AFTER_MTS_GAPS")
        self.applier_stops()
        self.assertEqual((self.rows(), self.status()["Until_Condition"]), ([], "SQL_AFTER_MTS_GAPS"))

    def test_half_a_place_is_none(self):
        self.follow_from_the_first()
        for until in ("SOURCE_LOG_FILE='binlog.000001'", "MASTER_LOG_POS=4"):
            self.assertEqual(code_of(lambda: self.replica.query("START REPLICA UNTIL " + until)), BAD_UNTIL)
        with self.assertRaises(pymysql.MySQLError):
            self.replica.query("START REPLICA UNTIL SOURCE_LOG_FILE='binlog.000001', SQL_AFTER_MTS_GAPS")


if __name__ == "__main__":
    unittest.main()
