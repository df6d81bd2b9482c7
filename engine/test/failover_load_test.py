"""Masters lost under load, again and again: no acknowledged row may be missing afterwards, and all members must hold the same."""

import contextlib
import itertools
import os
import random
import threading
import time
import unittest

import pymysql

from commitd_process import wait_until
from members import OPERATOR, PASSWORD, ClusterTest, Member

ROUNDS = int(os.environ.get("FAILOVER_ROUNDS", "6"))
WRITERS = 8


class Ledger:
    """Writers that follow the master and remember what was acknowledged."""

    def __init__(self, master):
        self.master = master
        self.acknowledged = set()
        self._numbers = itertools.count(1)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write) for _ in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self):
        while not self._stop.is_set():
            with contextlib.suppress(pymysql.MySQLError, OSError):
                self._write_to(self.master)
            time.sleep(0.02)

    def _write_to(self, master):
        with contextlib.closing(master.connect(read_timeout=10, autocommit=True)) as connection, connection.cursor() as cursor:
            while not self._stop.is_set() and self.master is master:
                number = next(self._numbers)
                cursor.execute(f"INSERT INTO d.heap VALUES ({number % 50}, '{number}')")
                cursor.execute(f"DELETE FROM d.heap WHERE bucket = {(number + 7) % 50} LIMIT 1")
                cursor.execute(f"INSERT INTO d.ledger VALUES ({number})")
                self.acknowledged.add(number)


class FailoverUnderLoadTest(ClusterTest):
    TERMS = ""  # of the quorum

    def setUp(self):
        super().setUp()
        self.uuids = {member: member.uuid for member in self.members}
        self.epoch = 1
        self.elect(self.members[0], self.members)
        self.master.query("CREATE DATABASE d")
        self.master.query("CREATE TABLE d.ledger (id BIGINT PRIMARY KEY)")
        self.master.query("CREATE TABLE d.heap (bucket INT, note VARCHAR(20), KEY (bucket))")

    def elect(self, chosen, reached):
        """Every member counts, reached or not: the lost one is to rejoin."""
        chosen.control(f"ALTER INSTANCE PROMOTE EPOCH {self.epoch} {self.quorum(chosen)}")
        for member in reached:
            if member is not chosen:
                self.follow(member, chosen)
        wait_until(chosen.writable, "the master accepts writes")
        self.master = chosen

    def quorum(self, master):
        others = ",".join(self.uuids[member] for member in self.members if member is not master)
        return f"WAIT_COUNT 1 MEMBERS '{others}' {self.TERMS}"

    def follow(self, member, source):
        member.control(f"ALTER INSTANCE FOLLOW EPOCH {self.epoch} SOURCE_HOST '127.0.0.1' SOURCE_PORT {source.port} "
                       f"SOURCE_UUID '{self.uuids[source]}' SOURCE_USER '{OPERATOR}' SOURCE_PASSWORD '{PASSWORD}'")

    def fail_over(self, lost):
        self.epoch += 1
        reached = [member for member in self.members if member is not lost]
        for member in reached:
            member.fence(self.epoch)
        self.elect(max(reached, key=Member.rank), reached)

    def begin_load(self):
        ledger = Ledger(self.master)
        self.addCleanup(ledger.stop)
        return ledger

    def lose_the_master(self, ledger):
        """Cut off for a while, or dead."""
        lost, paused = self.master, random.random() < 0.5
        if paused:
            lost.pause()
        else:
            self.before_kill(lost)
            lost.kill()
        self.fail_over(lost)
        ledger.master = self.master
        lost.resume() if paused else lost.start()
        self.rejoin(lost)

    def rejoin(self, lost):
        self.follow(lost, self.master)
        wait_until(lambda: lost.status()["receiver_state"] == "receiving", "the lost master has rejoined")

    def before_kill(self, member):
        """What a test wants to know of it before it goes."""

    def assert_nothing_is_lost(self, ledger, least):
        ledger.stop()
        self.assertGreater(len(ledger.acknowledged), least)
        rows = {row[0] for row in self.master.query("SELECT id FROM d.ledger")}
        self.assertEqual(ledger.acknowledged - rows, set(), "acknowledged rows that are lost")
        self.assertEqual(self.master.query("SELECT note FROM d.heap GROUP BY note HAVING COUNT(*) > 1"), (), "each was inserted once")
        executed = self.master.status()["gtid_executed"]
        for member in self.members:
            wait_until(lambda: member.status()["gtid_executed"] == executed, f"server {member.server_id} has caught up")
            for table in ("ledger", "heap"):
                contents = [sorted(server.query(f"SELECT * FROM d.{table}")) for server in (self.master, member)]
                self.assertEqual(contents[0], contents[1], f"{table} on server {member.server_id}")
                self.assertEqual(self.master.query(f"CHECKSUM TABLE d.{table}"), member.query(f"CHECKSUM TABLE d.{table}"))
                self.assertEqual(member.query(f"CHECK TABLE d.{table}")[-1][2:], ("status", "OK"))

    def test_no_acknowledged_row_is_lost(self):
        ledger = self.begin_load()
        for _ in range(ROUNDS):
            time.sleep(random.uniform(0.3, 1))
            self.lose_the_master(ledger)
        self.assert_nothing_is_lost(ledger, ROUNDS)


class FailoverWithWorkersTest(FailoverUnderLoadTest):
    """With replica_parallel_workers: FENCE, FOLLOW and PROMOTE come while they apply a backlog."""

    FLAGS = ("--replica-parallel-workers=4",)

    def setUp(self):
        super().setUp()
        self.made_ahead = {}  # by those that were killed since

    def before_kill(self, member):
        self.made_ahead[member] = self.made_ahead.get(member, 0) + member.metric("commitd_replica_ahead_transactions_total")

    def give_a_backlog(self, replica):
        """It takes in the end what the source has, and is about to apply it: nobody but the other replica acknowledged it before."""
        replica.pause()
        logged = self.master.rank()
        wait_until(lambda: self.master.rank()[1] > logged[1] + 300, "the source goes on without it")
        replica.resume()
        wait_until(lambda: replica.rank() > logged, "it receives")

    def test_no_acknowledged_row_is_lost(self):
        ledger = self.begin_load()
        for round_number in range(ROUNDS):
            self.give_a_backlog(self.members[(self.members.index(self.master) + 1 + round_number % 2) % 3])
            time.sleep(random.choice((0, random.uniform(0, 0.05))))
            self.lose_the_master(ledger)
        for member in self.members:
            self.before_kill(member)
        self.assertGreater(sum(self.made_ahead.values()), ROUNDS)
        self.assert_nothing_is_lost(ledger, ROUNDS)


class FailoverAfterCommitTest(FailoverUnderLoadTest):
    """With AFTER_COMMIT a lost master may have shown what the new one lacks; what was answered is nowhere lost."""

    TERMS = "WAIT_POINT 'AFTER_COMMIT'"

    def rejoin(self, lost):
        with contextlib.suppress(pymysql.MySQLError):  # 3002, or it shows below
            self.follow(lost, self.master)
        wait_until(lambda: lost.status()["receiver_state"] in ("receiving", "diverged"), f"it follows or has diverged: {lost.log_text()[-2000:]}")
        if lost.status()["receiver_state"] == "diverged":
            self.replace_its_data(lost)

    def replace_its_data(self, lost):
        former = self.uuids[lost]
        lost.control(f"CLONE INSTANCE FROM '{OPERATOR}'@'127.0.0.1':{self.master.port} IDENTIFIED BY '{PASSWORD}'")
        wait_until(lambda: self.uuid_of(lost) not in (None, former), "it is another server: " + lost.log_text()[-2000:])
        self.uuids[lost] = lost.uuid
        self.master.control(f"ALTER INSTANCE QUORUM EPOCH {self.epoch} VERSION 1 {self.quorum(self.master)}")
        self.follow(lost, self.master)
        wait_until(lambda: lost.status()["receiver_state"] == "receiving", "it has joined")

    def uuid_of(self, member):
        with contextlib.suppress(pymysql.MySQLError, OSError):
            return member.uuid
        return None


if __name__ == "__main__":
    unittest.main()
