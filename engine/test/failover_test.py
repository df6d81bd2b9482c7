"""Roles and epochs on three real processes, driven with the statements of CONTROL.md as an operator would."""

import contextlib
import threading
import unittest

import pymysql

from commitd_process import wait_until
from members import ClusterTest, Member


class FailoverTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.master, self.second, self.third = self.members
        self.master.promote(1, 1, [self.second, self.third])
        self.second.follow(1, self.master)
        self.third.follow(1, self.master)
        wait_until(self.master.writable, "the master accepts writes")
        self.master.query("CREATE DATABASE d")
        self.master.query("CREATE TABLE d.t (id INT PRIMARY KEY)")

    def insert(self, member, *ids):
        for number in ids:
            member.query(f"INSERT INTO d.t VALUES ({number})")

    def assert_error(self, number, call, *arguments):
        with self.assertRaises(pymysql.MySQLError) as raised:
            call(*arguments)
        self.assertEqual(raised.exception.args[0], number, raised.exception)

    def wait_for_ids(self, member, ids):
        wait_until(lambda: member.shows(ids), f"server {member.server_id} shows {ids}")

    def fail_over(self, epoch, reached):
        """Fence, elect, promote, re-point: what the operator does, without its safety checks. Returns the new master."""
        for member in reached:
            member.fence(epoch)
        chosen = max(reached, key=Member.rank)
        others = [member for member in reached if member is not chosen]
        chosen.promote(epoch, 1 if others else 0, others)
        for member in others:
            member.follow(epoch, chosen)
        wait_until(chosen.writable, "the new master accepts writes")
        return chosen

    def test_replicas_refuse_writes_and_show_the_masters_rows(self):
        self.insert(self.master, 1, 2, 3)
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1, 2, 3])
            self.assert_error(1290, self.insert, replica, 4)

    def test_acknowledged_rows_survive_the_masters_death_and_the_old_master_rejoins(self):
        self.insert(self.master, *range(50))
        old = self.master
        old.kill()
        new = self.fail_over(2, [self.second, self.third])
        self.assertEqual(new.ids(), list(range(50)))
        self.insert(new, 50, 51)

        old.start()
        self.assertEqual(old.status()["role"], "undecided")
        self.assert_error(1290, self.insert, old, 99)
        old.follow(2, new)
        for member in self.members:
            self.wait_for_ids(member, list(range(52)))
        executed = {member.status()["gtid_executed"] for member in self.members}
        self.assertEqual(len(executed), 1, executed)

    def test_a_lower_epoch_is_refused(self):
        self.second.fence(5)
        self.assert_error(3000, self.second.fence, 4)
        self.assert_error(3000, self.second.follow, 4, self.master)
        self.assertEqual(int(self.second.status()["epoch"]), 5)
        self.second.kill()
        self.second.start()
        self.assert_error(3000, self.second.fence, 4)

    def test_without_acknowledgements_a_commit_waits_and_stays_invisible(self):
        self.insert(self.master, 1)
        self.wait_for_ids(self.second, [1])
        self.wait_for_ids(self.third, [1])
        self.second.pause()
        self.third.pause()
        self.addCleanup(self.second.resume)
        self.addCleanup(self.third.resume)
        outcome = []
        writer = threading.Thread(target=lambda: outcome.append(attempt(self.insert, self.master, 2)))
        writer.start()
        wait_until(lambda: int(self.master.status()["ack_waiting"]) >= 1, "a commit waits for its acknowledgement")
        self.assertEqual(self.master.ids(), [1])
        self.second.resume()
        writer.join(timeout=60)
        self.assertEqual(outcome, [None])
        self.assertEqual(self.master.ids(), [1, 2])

    def test_an_unacknowledged_tail_is_cut_when_its_master_rejoins(self):
        self.insert(self.master, 1)
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
            replica.pause()
        writer = threading.Thread(target=attempt, args=(self.insert, self.master, 666))
        writer.start()
        wait_until(lambda: int(self.master.status()["ack_waiting"]) >= 1, "a commit waits for its acknowledgement")
        lost = self.master.status()["gtid_logged"]
        self.master.kill()
        writer.join(timeout=60)
        # What the dead master had sent into their sockets must not count: a fence ends the reception first.
        for replica in (self.second, self.third):
            replica.resume()
        new = self.fail_over(2, [self.second, self.third])
        expected = new.ids()  # the frame may have arrived before the pause took hold: then it is kept everywhere
        self.master.start()
        self.master.follow(2, new)
        self.wait_for_ids(self.master, expected)
        # A number once written is never given to another transaction.
        for member in (self.second, self.third):
            member.fence(3)
        self.master.fence(3)
        self.master.promote(3, 1, [self.second, self.third])
        self.second.follow(3, self.master)
        self.third.follow(3, self.master)
        wait_until(self.master.writable, "the first master is master again")
        self.insert(self.master, 7)
        highest = max(int(part.split("-")[-1]) for part in lost.split(":")[1:])
        own = self.master.query("SELECT @@global.gtid_executed")[0][0]
        ours = [part for part in own.replace("\n", "").split(",") if part.startswith(self.master.uuid)][0]
        self.assertGreater(int(ours.replace(":", "-").split("-")[-1]), highest)
        for member in self.members:
            self.wait_for_ids(member, sorted(expected + [7]))

    def test_a_restarted_master_resumes_with_its_tail_once_acknowledged(self):
        self.insert(self.master, 1)
        # An undecided server shows what its engine had: the table and its first row, to see that the second is not there.
        self.master.query("FLUSH ENGINE LOGS")
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
            replica.pause()
        writer = threading.Thread(target=attempt, args=(self.insert, self.master, 2))
        writer.start()
        wait_until(lambda: int(self.master.status()["ack_waiting"]) >= 1, "a commit waits for its acknowledgement")
        self.master.kill()
        writer.join(timeout=60)
        self.master.start()
        self.assertEqual(self.master.ids(), [1])
        for replica in (self.second, self.third):
            replica.resume()
            replica.fence(2)
        self.master.promote(2, 1, [self.second, self.third])
        self.second.follow(2, self.master)
        self.third.follow(2, self.master)
        wait_until(self.master.writable, "the master resumes")
        for member in self.members:
            self.wait_for_ids(member, [1, 2])

    def test_a_demoted_master_closes_its_sessions_and_refuses_writes(self):
        with contextlib.closing(self.master.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            self.master.fence(2)
            with self.assertRaises(pymysql.MySQLError):
                wait_until(lambda: cursor.execute("SELECT 1") is None, "the session is closed", 10)
        self.assert_error(1290, self.insert, self.master, 1)


def attempt(call, *arguments):
    """The error of a call, or None."""
    try:
        call(*arguments)
    except pymysql.MySQLError as error:
        return error
    return None


if __name__ == "__main__":
    unittest.main()
