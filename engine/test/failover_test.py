"""Roles and epochs on three real processes, driven with the statements of CONTROL.md as an operator would."""

import contextlib
import shutil
import threading
import time
import unittest

import pymysql

from commitd_process import wait_until
from members import ClusterTest, Member, transactions

OFFLINE = 3032


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
        wait_until(lambda: self.master.status()["gtid_logged"] == new.status()["gtid_logged"], "it holds what the new master holds")
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

    def add_accounts(self):
        """A client, and who may look at a server that is offline for clients."""
        for account, privilege in (("client", "SELECT"), ("admin", "SELECT, CONNECTION_ADMIN")):
            self.master.query(f"CREATE USER {account}")
            self.master.query(f"GRANT {privilege} ON *.* TO {account}")

    def ids_shown_to(self, user, member):
        return [row[0] for row in member.query("SELECT id FROM d.t ORDER BY id", user)]

    def open_client(self, member):
        connection = member.connect("client")
        self.addCleanup(lambda: connection.open and connection.close())
        return connection.cursor()

    def assert_offline_until_acknowledged(self, master, others, epoch, shown_before):
        """The new master that nobody follows yet."""
        self.assert_error(OFFLINE, self.ids_shown_to, "client", master)
        self.assertEqual(self.ids_shown_to("admin", master), shown_before)
        self.assertEqual(master.ids(), shown_before)
        self.assertEqual(master.status()["role"], "master")
        for member in others:
            self.assertIn(1, self.ids_shown_to("client", member))
            member.follow(epoch, master)
        wait_until(master.writable, "the epoch is acknowledged")
        self.assertEqual(self.ids_shown_to("client", master), [1, 2])

    def test_a_new_master_answers_no_clients_before_it_shows_what_was_acknowledged(self):
        self.add_accounts()
        self.insert(self.master, 1)
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
        # What the master tells its clients, its replicas hear a moment later: they hold the second row and do not show it.
        self.third_uuid = self.third.uuid
        self.begin_unacknowledged(2)
        on_replica, idle = self.open_client(self.second), self.open_client(self.second)
        on_replica.execute("SELECT id FROM d.t")
        self.master.kill()
        self.third.resume()
        for replica in (self.second, self.third):
            replica.fence(2)
        self.assertEqual(self.ids_shown_to("client", self.second), [1])
        self.second.promote(2, 1, [self.third])
        self.assert_error(OFFLINE, on_replica.execute, "SELECT id FROM d.t")
        self.assert_offline_until_acknowledged(self.second, [self.third], 2, [1])
        idle.execute("SELECT id FROM d.t ORDER BY id")
        self.assertEqual(idle.fetchall(), ((1,), (2,)))

    def assert_sends_clients_away_until_others_are_led_elsewhere(self, former, master):
        self.assert_error(OFFLINE, self.ids_shown_to, "client", former)
        self.ids_shown_to("admin", former)
        former.follow(2, master)
        self.assert_error(OFFLINE, self.ids_shown_to, "client", former)
        self.assertNotEqual(former.ready(), 200)
        wait_until(lambda: former.ready() == 200, "it is an ordinary replica")
        self.assertEqual(self.ids_shown_to("client", former), [1])

    def test_a_former_master_sends_clients_away_that_are_led_to_it_as_to_the_master(self):
        self.add_accounts()
        self.insert(self.master, 1)
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
        reader = self.open_client(self.third)
        reader.execute("SELECT id FROM d.t")
        for member in self.members:
            member.fence(2)
        self.second.promote(2, 1, [self.master, self.third])
        self.third.follow(2, self.second)
        wait_until(self.second.writable, "the epoch is acknowledged")
        self.assert_sends_clients_away_until_others_are_led_elsewhere(self.master, self.second)
        reader.execute("SELECT id FROM d.t")  # whoever reads from a replica notices nothing

    def test_a_former_master_that_was_started_again_sends_clients_away(self):
        self.add_accounts()
        self.insert(self.master, 1)
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
        self.master.kill()
        for replica in (self.second, self.third):
            replica.fence(2)
        self.second.promote(2, 1, [self.third])
        self.third.follow(2, self.second)
        wait_until(self.second.writable, "the epoch is acknowledged")
        self.master.start()
        self.assert_sends_clients_away_until_others_are_led_elsewhere(self.master, self.second)

    def test_a_master_that_is_started_again_answers_no_clients_before_it_shows_what_was_acknowledged(self):
        self.add_accounts()
        self.insert(self.master, 1)
        self.master.query("FLUSH ENGINE LOGS")
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
        self.insert(self.master, 2)
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1, 2])
        self.master.kill()
        self.master.start()
        shown_before = self.master.ids()
        uuids = f"{self.second.uuid},{self.third.uuid}"
        for replica in (self.second, self.third):
            replica.pause()
            self.addCleanup(replica.resume)
        self.master.control(f"ALTER INSTANCE PROMOTE EPOCH 1 WAIT_COUNT 1 MEMBERS '{uuids}'")
        self.assert_error(OFFLINE, self.ids_shown_to, "client", self.master)
        self.assertEqual(self.ids_shown_to("admin", self.master), shown_before)
        for replica in (self.second, self.third):
            replica.resume()
        wait_until(self.master.writable, "the master resumes")
        self.assertEqual(self.ids_shown_to("client", self.master), [1, 2])

    def test_a_replica_that_logs_in_as_an_ordinary_user_acknowledges_a_new_masters_epoch(self):
        self.master.query("CREATE USER reader")
        self.master.query("GRANT REPLICATION SLAVE ON *.* TO reader")
        for replica in (self.second, self.third):
            wait_until(lambda: replica.status()["gtid_executed"] == self.master.status()["gtid_executed"], "the account is everywhere")
        self.master.kill()
        for replica in (self.second, self.third):
            replica.fence(2)
        self.second.promote(2, 1, [self.third])
        self.third.control(f"ALTER INSTANCE FOLLOW EPOCH 2 SOURCE_HOST '127.0.0.1' SOURCE_PORT {self.second.port} "
                           f"SOURCE_UUID '{self.second.uuid}' SOURCE_USER 'reader' SOURCE_PASSWORD ''")
        wait_until(self.second.writable, "the epoch is acknowledged")

    def begin_unacknowledged(self, number):
        """An insert that one of two wanted members holds; the other is paused. Returns when that one has it."""
        self.third.pause()
        self.addCleanup(self.third.resume)
        members = f"{self.second.uuid},{self.third_uuid}"
        self.master.control(f"ALTER INSTANCE QUORUM EPOCH 1 VERSION 1 WAIT_COUNT 2 MEMBERS '{members}'")
        before = transactions(self.second.status()["gtid_logged"])
        writer = threading.Thread(target=attempt, args=(self.insert, self.master, number))
        writer.start()
        self.addCleanup(writer.join, 60)
        wait_until(lambda: transactions(self.second.status()["gtid_logged"]) > before, "one member holds the transaction")

    def test_what_a_returning_replica_holds_stays_invisible_until_it_is_acknowledged(self):
        self.insert(self.master, 1)
        self.third_uuid = self.third.uuid
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
        self.begin_unacknowledged(2)
        self.second.kill()
        self.second.start()
        self.second.follow(1, self.master)
        wait_until(lambda: self.second.status()["receiver_state"] == "receiving", "the replica receives again")
        # More than one heartbeat: the master has told what is acknowledged.
        wait_until(lambda: self.second.shows([1]), "the replica shows what is acknowledged")
        time.sleep(2.5)
        self.assertEqual(self.second.ids(), [1])
        self.assertEqual(self.master.ids(), [1])
        self.third.resume()
        for member in self.members:
            self.wait_for_ids(member, [1, 2])

    def test_a_member_keeps_what_a_master_has_lost_of_its_own(self):
        self.insert(self.master, 1)
        self.third_uuid = self.third.uuid
        for replica in (self.second, self.third):
            self.wait_for_ids(replica, [1])
        self.master.pause()
        saved = self.master.datadir + ".saved"
        shutil.copytree(self.master.datadir, saved, ignore=shutil.ignore_patterns("*.sock*"))
        self.addCleanup(shutil.rmtree, saved, True)
        self.master.resume()
        self.begin_unacknowledged(2)
        held = self.second.status()["gtid_logged"]
        self.master.kill()
        shutil.rmtree(self.master.datadir)
        shutil.copytree(saved, self.master.datadir)
        self.master.start()
        self.master.fence(2)
        self.master.promote(2, 0, [])
        self.second.follow(2, self.master)
        wait_until(lambda: self.second.status()["receiver_state"] == "diverged", "the member refuses to cut")
        status = self.second.status()
        self.assertEqual(status["role"], "fenced")
        self.assertEqual(status["gtid_logged"], held)
        self.assertIn("has lost transactions of its own", status["receiver_error"])

    def test_semisync_belongs_to_the_role_statements(self):
        self.assert_error(1290, self.master.control, "SET GLOBAL rpl_semi_sync_source_enabled = 0")
        self.assert_error(1290, self.second.control, "SET PERSIST rpl_semi_sync_master_timeout = 1")
        self.assertEqual(self.master.query("SELECT @@rpl_semi_sync_source_enabled, @@rpl_semi_sync_source_wait_for_replica_count, "
                                           "@@commitd_semi_sync_on_timeout"), ((1, 1, "block"),))
        self.assertEqual(self.second.query("SELECT @@rpl_semi_sync_source_enabled, @@rpl_semi_sync_replica_enabled"), ((0, 1),))
        shown = dict(self.master.query("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_%'"))
        self.assertEqual((shown["Rpl_semi_sync_source_status"], shown["Rpl_semi_sync_source_no_tx"]), ("ON", "0"))
        self.assertIn(("Rpl_semi_sync_replica_status", "ON"), self.second.query("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_replica_%'"))

    def test_members_sync_every_group(self):
        self.assert_error(1231, self.master.control, "SET GLOBAL sync_binlog = 0")
        self.assert_error(1231, self.second.control, "SET PERSIST sync_binlog = 100")
        self.third.kill()
        self.third.flags.append("--sync-binlog=0")
        with self.assertRaises(Exception):
            self.third.start()
        with open(self.third.log_path, encoding="utf-8") as log:
            self.assertIn("sync_binlog", log.read())

    def test_whoever_fences_as_another_user_than_the_operator_is_answered_and_goes_on(self):
        other = self.master.connect()
        with self.master.connect() as connection, connection.cursor() as cursor:
            cursor.execute("ALTER INSTANCE FENCE EPOCH 2")
            cursor.execute("SELECT role FROM performance_schema.commitd_instance")
            self.assertEqual(cursor.fetchall(), (("fenced",),))
        with self.assertRaises(pymysql.MySQLError):
            other.ping(reconnect=False)

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
