"""log_replica_updates=OFF: what a replica applies stands in a relay log of its own, and not in its binary log."""

import pathlib
import subprocess
import threading
import unittest

import pymysql

from commitd_process import COMMITD, Commitd, wait_until
from log_reader import LogReader
from pair import FollowedPairTest

READ_ONLY, FATAL_READING_LOG = 1290, 1236
NO_UPDATES = ["--commitd-durability=xa", "--log-replica-updates=OFF"]


class RelayLogTest(FollowedPairTest):
    def setUp(self):
        self.more_flags = ["--max-binlog-size=4096"] if "small" in self.id() else []
        super().setUp()

    def started(self, server):
        if server.server_id == 2:
            server.flags += NO_UPDATES + self.more_flags
        return super().started(server)

    def relay_files(self):
        return sorted(path.name for path in pathlib.Path(self.replica.datadir).glob("commitd-relay-bin.[0-9]*"))

    def events(self, what, files):
        return [row[5] for name in files for row in self.replica.query(f"SHOW {what} EVENTS IN '{name}'")]

    def logged_gtids(self):
        """Of each transaction in the replica's binary log, its server."""
        files = [row[0] for row in self.replica.query("SHOW BINARY LOGS")]
        return {info.split("'")[1].split(":")[0] for info in self.events("BINLOG", files) if info.startswith("SET @@SESSION.GTID_NEXT")}

    def uuid(self, server):
        return server.query("SELECT @@server_uuid")[0][0]

    def gtids(self, name):
        return self.replica.query(f"SELECT @@global.{name}")[0][0].replace("\n", "")

    def write_locally(self, number):
        self.replica.query(f"INSERT INTO own.t VALUES ({number})")

    def stop(self):
        self.replica.query("STOP REPLICA")
        wait_until(lambda: not self.replica.query("SELECT @@super_read_only")[0][0] and self.may_write(), "the replica takes writes again")

    def may_write(self):
        try:
            self.replica.query("CREATE DATABASE IF NOT EXISTS own")
            self.replica.query("CREATE TABLE IF NOT EXISTS own.t (id INT PRIMARY KEY)")
            return True
        except pymysql.MySQLError as error:
            self.assertEqual(error.args[0], READ_ONLY)
            return False

    def test_what_is_applied_is_in_the_relay_log_only_and_own_writes_are_in_the_binary_log(self):
        self.assertEqual(self.replica.query("SELECT @@log_bin, @@log_replica_updates, @@log_slave_updates"), ((1, 0, 0),))
        self.insert(*range(10))
        self.wait_for_all()
        self.assertEqual(self.logged_gtids(), set())
        status = self.status()
        relay = self.relay_files()
        self.assertEqual((status["Relay_Log_File"], status["Relay_Log_Space"]),
                         (relay[-1], str(sum((pathlib.Path(self.replica.datadir) / name).stat().st_size for name in relay) - self.written_ahead())))
        self.assertGreater(int(status["Relay_Log_Pos"]), 4)
        self.assertIn("SET @@SESSION.GTID_NEXT= '%s:1'" % self.uuid(self.source), self.events("RELAYLOG", relay))
        self.assertEqual(self.gtids("gtid_purged"), self.executed())
        self.assertEqual(self.gtids("gtid_executed"), self.executed())

        self.stop()
        self.write_locally(1)
        self.assertEqual(self.logged_gtids(), {self.uuid(self.replica)})
        self.assertEqual(self.gtids("gtid_purged"), self.executed())
        self.assertEqual(set(self.gtids("gtid_executed").split(",")) - {self.executed()}, {self.uuid(self.replica) + ":1-3"})
        self.replica.query("START REPLICA")
        self.insert(100)
        self.wait_for_all()
        self.assertEqual(self.logged_gtids(), {self.uuid(self.replica)})
        rows = {server: int(count) for server, count in self.replica.query(
            "SELECT source_uuid, SUM(interval_end - interval_start + 1) FROM mysql.gtid_executed GROUP BY source_uuid")}
        self.assertEqual(rows, {self.uuid(self.source): int(self.executed().rpartition("-")[2]), self.uuid(self.replica): 3})

    def written_ahead(self):
        """Zeros behind the end of the file that is written."""
        name = self.relay_files()[-1]
        end = int(self.status()["Relay_Log_Pos"])
        return (pathlib.Path(self.replica.datadir) / name).stat().st_size - end

    def test_readers_get_own_writes_and_those_who_lack_the_rest_are_refused(self):
        self.insert(1)
        self.wait_for_all()
        self.stop()
        self.write_locally(1)
        self.replica.query("START REPLICA")
        self.insert(2)
        self.wait_for_all()
        with LogReader(self.replica) as reader, self.assertRaises(pymysql.MySQLError) as raised:
            reader.attach()
        self.assertEqual(raised.exception.args[0], FATAL_READING_LOG)
        with LogReader(self.replica) as reader:
            self.assertTrue(reader.attach(self.executed()).startswith("binlog."))
        follower = self.started(Commitd(server_id=3))
        follower.query(f"SET GLOBAL gtid_purged = '{self.executed()}'")
        follower.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={self.replica.port}, SOURCE_USER='root', "
                       "SOURCE_AUTO_POSITION=1")
        follower.query("START REPLICA")
        wait_until(lambda: follower.query("SHOW DATABASES LIKE 'own'") and follower.query("SELECT id FROM own.t") == ((1,),), "the follower has it")
        # It stays connected while the source's transactions pass it by, and gets what comes behind them.
        self.insert(3)
        self.wait_for_all()
        self.stop()
        self.write_locally(2)
        wait_until(lambda: follower.query("SELECT id FROM own.t ORDER BY id") == ((1,), (2,)), "the follower has the next one")
        self.assertEqual(follower.query("SHOW DATABASES LIKE 'd'"), ())

    def test_kills_leave_no_gap_and_nothing_twice(self):
        stop = threading.Event()

        def write():
            number = 1000
            while not stop.is_set():
                self.insert(number)
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(8):
                seen = len(self.rows())
                wait_until(lambda: len(self.rows()) > seen + 20, "the replica goes on")  # noqa: B023
                self.replica.kill()
                self.replica.start()
        finally:
            stop.set()
            writer.join()
        self.wait_for_all()
        self.assertIsNone(self.status()["Last_SQL_Error"] or None)
        self.assertEqual(self.rows(), [row[0] for row in self.source.query("SELECT id FROM d.t ORDER BY id")])
        self.assertEqual(self.gtids("gtid_executed"), self.executed())
        self.assertEqual(self.logged_gtids(), set())

    def test_small_files_are_purged_when_they_are_applied(self):
        self.insert(*range(100))
        self.wait_for_all()
        wait_until(lambda: len(self.relay_files()) <= 2, "applied files go: " + str(self.relay_files()))
        self.assertGreater(int(self.relay_files()[-1].rpartition(".")[2]), 5)
        self.assertEqual(self.gtids("gtid_purged"), self.executed())
        self.replica.kill()
        self.replica.start()
        self.assertEqual(self.gtids("gtid_purged"), self.executed())
        self.insert(200)
        self.wait_for_all()
        self.replica.query("SET GLOBAL relay_log_purge = OFF")
        self.insert(*range(300, 330))
        self.wait_for_all()
        self.replica.query("FLUSH RELAY LOGS")
        self.assertGreater(len(self.relay_files()), 2)

    def test_relay_log_recovery_asks_the_source_again(self):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(*range(5))
        self.wait_for_received()
        for recovery in ("OFF", "ON"):
            with self.subTest(recovery):
                self.source_is_away()
                self.replica.kill()
                self.replica.flags = [flag for flag in self.replica.flags if "recovery" not in flag] + [f"--relay-log-recovery={recovery}"]
                self.replica.start()
                retrieved = self.replica.query("SELECT gtid_logged FROM performance_schema.commitd_instance")[0][0].replace("\n", "")
                self.assertEqual(retrieved == self.executed_before, recovery == "OFF")
                self.source.start()
        self.wait_for_received()
        self.assertEqual(self.rows(), [])
        self.replica.query("START REPLICA SQL_THREAD")
        self.wait_for_all()
        self.assertEqual(self.rows(), list(range(5)))

    def source_is_away(self):
        self.executed_before = self.executed()
        self.source.kill()

    def test_by_file_and_position_nothing_that_was_received_is_thrown_away(self):
        self.replica.query("STOP REPLICA")
        self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 0, SOURCE_LOG_FILE = 'binlog.000001', SOURCE_LOG_POS = 4")
        self.replica.query("START REPLICA")
        self.insert(1)
        self.wait_for_all()
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.insert(2, 3)
        self.wait_for_received()
        self.replica.query("STOP REPLICA IO_THREAD")
        self.replica.kill()
        self.replica.flags.append("--relay-log-recovery=ON")
        self.replica.start()
        self.replica.query("START REPLICA")
        self.insert(4)
        self.wait_for_all()
        self.assertEqual(self.rows(), [1, 2, 3, 4])

    def test_small_files_go_only_when_where_the_replica_stands_is_known_without_them(self):
        self.replica.query("STOP REPLICA")
        self.replica.query("CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 0, SOURCE_LOG_FILE = 'binlog.000001', SOURCE_LOG_POS = 4")
        self.replica.query("START REPLICA")
        for first in range(0, 120, 30):
            self.insert(*range(first, first + 30))
            self.wait_for_all()
            wait_until(lambda: len(self.relay_files()) <= 3, "applied files go: " + str(self.relay_files()))
            place = self.source.query("SHOW BINARY LOG STATUS")[0][:2]
            self.replica.kill()
            self.replica.start()
            status = self.status()
            self.assertEqual((status["Source_Log_File"], int(status["Read_Source_Log_Pos"])), place)
        self.assertEqual(self.rows(), list(range(120)))

    def test_it_belongs_to_no_cluster(self):
        self.stop()
        for statement in ("FENCE EPOCH 5", "PROMOTE EPOCH 5 WAIT_COUNT 1 MEMBERS 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'"):
            with self.assertRaises(pymysql.MySQLError) as raised:
                self.replica.query("ALTER INSTANCE " + statement)
            self.assertEqual(raised.exception.args[0], READ_ONLY)
            self.assertIn("log-replica-updates", raised.exception.args[1])

    def test_switched_on_again_what_is_received_is_logged(self):
        self.insert(1)
        self.wait_for_all()
        before = self.executed()
        self.replica.terminate()
        self.replica.flags = [flag for flag in self.replica.flags if "updates" not in flag]
        self.replica.start()
        self.insert(2)
        self.wait_for_all()
        self.assertEqual(self.logged_gtids(), {self.uuid(self.source)})
        self.assertEqual(self.gtids("gtid_purged"), before)


class RelayLogStartTest(unittest.TestCase):
    def refusal(self, *flags):
        server = Commitd(*flags)
        self.addCleanup(server.__exit__)
        done = subprocess.run([COMMITD, f"--datadir={server.datadir}", "--initialize-insecure", *flags], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr + done.stdout

    def test_it_needs_xa(self):
        for name in ("log-replica-updates", "log_slave_updates"):
            self.assertRegex(self.refusal(f"--{name}=OFF"), "'log_replica_updates' can't be set to the value of 'OFF'.*commitd-durability=xa")

    def test_it_goes_with_no_role(self):
        with Commitd(*NO_UPDATES) as server:
            self.assertEqual(server.query("SELECT @@log_replica_updates, @@relay_log_purge, @@relay_log_recovery"), ((0, 1, 0),))
            self.assertEqual(server.query("SHOW RELAYLOG EVENTS"), ())
            server.terminate()
            server.flags.append("--require-role")
            server.start(wait=False)
            self.assertNotEqual(server.process.wait(timeout=60), 0)
            self.assertIn("--log-replica-updates=OFF", server.log_text())


if __name__ == "__main__":
    unittest.main()
