"""How a master waits for its members, hands over, and answers nobody when it may have been replaced."""

import contextlib
import signal
import threading
import time
import unittest

import pymysql

from commitd_process import code_of, wait_until
from members import OPERATOR, PASSWORD, ClusterTest

READ_ONLY, STALE_EPOCH, NOT_IN_TIME, OFFLINE, UNKNOWN_OUTCOME, IN_HOOK, DIVERGED, WRONG_ARGUMENTS, CONNECTION_LOST = 1290, 3000, 3024, 3032, 1053, 3100, 3002, 1210, 2013
LEASE = 3000  # ms
# What clients may be doing while their server's role changes.
OCCUPATIONS = ("SELECT SLEEP(600)", "SELECT WAIT_FOR_EXECUTED_GTID_SET('11111111-1111-1111-1111-111111111111:1')",
               "UPDATE d.t SET id = id", "ALTER TABLE d.t ADD COLUMN n INT", "SELECT REPEAT('x', 1000000) FROM d.t a, d.t b, d.t c, d.t e, d.t f")


class MastershipTest(ClusterTest):
    def begin(self, terms="", epoch=1):
        self.master, self.second, self.third = self.members
        self.replicas = [self.second, self.third]
        self.terms = terms
        self.promote_again(epoch)
        for replica in self.replicas:
            replica.follow(epoch, self.master)
        wait_until(self.master.writable, "the master accepts writes")
        self.master.query("CREATE DATABASE d")
        self.master.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        self.next = 0

    def promote_again(self, epoch=1):
        uuids = ",".join(replica.uuid for replica in self.replicas)
        self.master.control(f"ALTER INSTANCE PROMOTE EPOCH {epoch} WAIT_COUNT 1 MEMBERS '{uuids}' {self.terms}")

    def insert(self, member=None):
        self.next += 1
        (member or self.master).query(f"INSERT INTO d.t VALUES ({self.next})")

    def pause_replicas(self):
        for replica in self.replicas:
            replica.pause()
            self.addCleanup(replica.resume)

    def resume_replicas(self):
        for replica in self.replicas:
            replica.resume()

    def shown(self, column):
        try:
            return str(self.master.status()[column])
        except pymysql.OperationalError as error:
            # Who logs in while all clients are sent away is not yet known to be the operator.
            if error.args[0] != 2013:
                raise
            return "(sent away)"

    def hand_over(self, options="", epoch=1):
        return code_of(lambda: self.master.control(f"ALTER INSTANCE HANDOVER EPOCH {epoch} {options}"))

    def begin_insert(self):
        outcome = []
        writer = threading.Thread(target=lambda: outcome.append(code_of(self.insert)))
        writer.start()
        self.addCleanup(writer.join, 60)
        wait_until(lambda: self.shown("ack_waiting") != "0", "the commit waits")
        return writer, outcome

    def test_on_timeout_is_what_the_role_statement_says(self):
        self.begin("TIMEOUT 100 ON_TIMEOUT 'error'")
        self.assertEqual([self.shown(name) for name in ("semisync_timeout", "semisync_on_timeout", "semisync_wait_point", "source_lease")],
                         ["100", "error", "AFTER_SYNC", "0"])
        self.assertEqual(self.master.query("SELECT @@rpl_semi_sync_source_timeout, @@commitd_semi_sync_on_timeout"), ((100, "error"),))
        self.pause_replicas()
        self.assertEqual(code_of(self.insert), UNKNOWN_OUTCOME)
        self.assertEqual(code_of(self.insert), IN_HOOK)
        self.assertEqual(self.shown("writes_blocked"), "1")
        self.assertEqual(self.master.ids(), [])
        self.resume_replicas()
        wait_until(lambda: self.master.ids() == [1] and code_of(self.insert) is None, "what was logged is acknowledged, and what is new is let in")
        # As all of a quorum, terms are changed by a larger version; a commit that nobody acknowledges goes on then.
        self.terms = "TIMEOUT 100 ON_TIMEOUT 'async'"
        self.assertEqual(code_of(self.promote_again), STALE_EPOCH)
        uuids = ",".join(replica.uuid for replica in self.replicas)
        self.master.control(f"ALTER INSTANCE QUORUM EPOCH 1 VERSION 2 WAIT_COUNT 1 MEMBERS '{uuids}' {self.terms}")
        self.pause_replicas()
        self.insert()
        self.assertEqual(self.shown("writes_blocked"), "0")
        self.assertEqual(self.hand_over("TIMEOUT 100"), NOT_IN_TIME, "what no member has is not handed over")
        wait_until(self.master.writable, "the handover is taken back")
        self.resume_replicas()
        for wrong, code in (("ON_TIMEOUT 'panic'", WRONG_ARGUMENTS), ("WAIT_POINT 'SOON'", WRONG_ARGUMENTS)):
            self.terms = wrong
            self.assertEqual(code_of(lambda: self.promote_again(2)), code, wrong)

    def test_after_commit_a_failover_may_lose_what_was_shown_and_loses_nothing_that_was_answered(self):
        self.begin("WAIT_POINT 'AFTER_COMMIT'")
        self.assertEqual(self.shown("semisync_wait_point"), "AFTER_COMMIT")
        self.assertEqual(self.master.query("SELECT @@rpl_semi_sync_source_wait_point"), (("AFTER_COMMIT",),))
        self.insert()
        for replica in self.replicas:
            wait_until(lambda: replica.shows([1]), "the replica has it")  # noqa: B023
            replica.kill()
        writer, outcome = self.begin_insert()
        wait_until(lambda: self.master.ids() == [1, 2], "it is visible at the master")
        self.assertEqual(outcome, [], "nobody was told that it is committed")
        self.assertEqual(self.hand_over("TIMEOUT 100"), NOT_IN_TIME)
        self.master.fence(2)
        writer.join(60)
        self.assertIn(outcome, ([UNKNOWN_OUTCOME], [CONNECTION_LOST]))
        for replica in self.replicas:
            replica.start()
            replica.fence(2)
        self.second.promote(2, 1, [self.third, self.master])
        self.third.follow(2, self.second)
        wait_until(self.second.writable, "the new master accepts writes")
        self.assertEqual(self.second.ids(), [1])
        self.assertIn(code_of(lambda: self.master.follow(2, self.second)), (None, DIVERGED))
        wait_until(lambda: self.shown("receiver_state") == "diverged", "it has shown what the new master lacks")
        self.assertEqual((self.shown("role"), self.master.ids()), ("fenced", [1, 2]))
        self.insert(self.second)
        wait_until(lambda: self.third.shows([1, 3]), "the others go on")
        former = self.master.uuid
        self.master.control(f"CLONE INSTANCE FROM '{OPERATOR}'@'127.0.0.1':{self.second.port} IDENTIFIED BY '{PASSWORD}'")
        wait_until(lambda: code_of(lambda: self.master.uuid) is None and self.master.uuid != former, "it is another server")
        self.master.follow(2, self.second)
        wait_until(lambda: self.master.shows([1, 3]), "it follows")

    def test_after_commit_a_new_master_shows_nothing_before_its_epoch_is_acknowledged(self):
        self.begin("WAIT_POINT 'AFTER_COMMIT'")
        uuids = ",".join(replica.uuid for replica in self.replicas)
        self.pause_replicas()
        writer, _ = self.begin_insert()
        wait_until(lambda: self.master.ids() == [1], "it is visible at the master")
        self.master.control(f"ALTER INSTANCE PROMOTE EPOCH 2 WAIT_COUNT 1 MEMBERS '{uuids}' {self.terms}")
        writer.join(60)
        self.assertEqual(self.shown("writes_blocked"), "1")
        self.assertEqual(code_of(lambda: self.master.query("SELECT * FROM d.t", OPERATOR, PASSWORD)), None)
        self.assertNotEqual(code_of(self.insert), None)
        self.resume_replicas()
        for replica in self.replicas:
            replica.follow(2, self.master)
        wait_until(self.master.writable, "the epoch is acknowledged")
        wait_until(lambda: self.second.shows([1]) and self.third.shows([1]), "what was shown is acknowledged with it")

    def test_members_get_pages_that_were_framed_once(self):
        self.begin()
        shared = self.master.metric("commitd_dump_pages_shared_total")
        for _ in range(20):
            self.insert()
        wait_until(lambda: all(replica.shows(list(range(1, 21))) for replica in self.replicas), "both have all of it")
        self.assertGreater(self.master.metric("commitd_dump_pages_shared_total"), shared)

    def test_whoever_becomes_a_member_is_sent_what_waits_for_it_at_once(self):
        self.begin()
        uuids = ",".join(replica.uuid for replica in self.replicas)

        def seconds_of_an_insert():
            begun = time.monotonic()
            self.insert()
            return time.monotonic() - begun

        usual, of_new_members = [], []
        for version in range(2, 12, 2):
            usual.append(seconds_of_an_insert())
            self.master.control(f"ALTER INSTANCE QUORUM EPOCH 1 VERSION {version} WAIT_COUNT 0 MEMBERS ''")
            self.insert()
            self.master.control(f"ALTER INSTANCE QUORUM EPOCH 1 VERSION {version + 1} WAIT_COUNT 1 MEMBERS '{uuids}'")
            of_new_members.append(seconds_of_an_insert())
        # Readers that are not told look again within a second.
        self.assertLess(min(of_new_members), 30 * max(usual), (usual, of_new_members))

    def test_a_handover_leaves_nothing_unacknowledged_and_is_taken_back(self):
        self.begin()
        self.insert()
        self.assertEqual(code_of(lambda: self.second.control("ALTER INSTANCE HANDOVER EPOCH 1")), STALE_EPOCH)
        self.assertEqual(self.hand_over(epoch=2), STALE_EPOCH)
        self.pause_replicas()
        writer, outcome = self.begin_insert()
        self.assertEqual(self.hand_over("TIMEOUT 100"), NOT_IN_TIME)
        self.assertEqual(self.shown("handed_over"), "0")
        self.resume_replicas()
        self.master.query("FLUSH BINARY LOGS")  # the end of the log is in a file that has no transaction
        self.assertIsNone(self.hand_over())
        writer.join(60)
        self.assertEqual(outcome, [None])
        self.assertEqual([self.shown(name) for name in ("handed_over", "writes_blocked", "ack_waiting")], ["1", "1", "0"])
        self.assertNotEqual(self.shown("acked_members"), "")
        self.assertEqual(code_of(self.insert), READ_ONLY)
        self.assertEqual(self.master.ids(), [1, 2])
        self.promote_again()
        wait_until(self.master.writable, "the handover is taken back")
        self.insert()

    def test_whatever_clients_have_begun_nothing_is_logged_behind_a_handover(self):
        self.begin()
        self.insert()
        self.master.query("CREATE TABLE d.other (id INT PRIMARY KEY)")
        connections = [self.master.connect(autocommit=False) for _ in range(3)]
        for connection in connections:
            self.addCleanup(connection._force_close)
        opened, locking, working = (connection.cursor() for connection in connections)
        opened.execute("INSERT INTO d.t VALUES (100)")
        locking.execute("LOCK TABLES d.other WRITE")
        connections[2]._execute_command(pymysql.constants.COMMAND.COM_QUERY, "INSERT INTO d.t VALUES (100)")
        wait_until(lambda: self.statements_at_work() > 1, "the insert waits for the row")
        self.assertIsNone(self.hand_over())
        logged = self.shown("gtid_logged")
        self.assertEqual(code_of(connections[0].commit), READ_ONLY)
        opened.execute("ROLLBACK")
        with self.assertRaises(pymysql.MySQLError):
            connections[2]._read_query_result()
            connections[2].commit()
        for cursor, sql in ((locking, "INSERT INTO d.other VALUES (1)"), (working, "ALTER TABLE d.t ADD COLUMN n INT")):
            self.assertEqual(code_of(lambda: cursor.execute(sql)), READ_ONLY, sql)
        locking.execute("UNLOCK TABLES")
        self.assertEqual(self.shown("gtid_logged"), logged)
        self.assertEqual(self.master.ids(), [1])

    def test_sigterm_with_handover_ends_when_everything_is_acknowledged(self):
        self.members[0].flags.append("--handover")
        self.members[0].terminate()
        self.members[0].start()
        self.begin()
        self.pause_replicas()
        writer, outcome = self.begin_insert()
        self.master.process.send_signal(signal.SIGTERM)
        wait_until(lambda: self.shown("handed_over") == "1", "it takes no more writes")
        self.assertEqual(code_of(self.insert), READ_ONLY)
        self.resume_replicas()
        self.assertEqual(self.master.process.wait(60), 0)
        writer.join(60)
        self.assertEqual(outcome, [None], "who waited was answered")
        self.assertIn("handed over", self.master.log_text())

    def test_without_a_word_from_its_members_a_master_serves_no_clients(self):
        self.begin(f"SOURCE_LEASE {LEASE}")
        self.insert()
        client = self.master.connect()
        self.addCleanup(client.close)
        clients_of_log = self.shown("semisync_clients")
        self.pause_replicas()
        wait_until(lambda: self.shown("lease_held") == "0", "the lease runs out")
        with self.assertRaises((pymysql.MySQLError, OSError)):
            client.query("SELECT * FROM d.t")
        self.assertEqual(code_of(self.master.connect), OFFLINE)
        self.assertEqual(self.master.query("SELECT id FROM d.t", OPERATOR, PASSWORD), ((1,),))
        self.assertEqual(self.shown("semisync_clients"), clients_of_log, "streams of the log stay")
        self.resume_replicas()
        wait_until(lambda: code_of(self.master.connect) is None, "clients are served again")
        self.insert()
        self.assertNotIn("has connected again", self.master.log_text())

    def test_a_master_that_was_stopped_answers_nothing_when_it_goes_on(self):
        self.begin(f"SOURCE_LEASE {LEASE}")
        self.insert()
        client = self.master.connect()
        self.addCleanup(client.close)
        self.assertEqual(client.cursor().execute("SELECT id FROM d.t"), 1)
        self.master.pause()
        self.addCleanup(self.master.resume)
        for replica in self.replicas:
            replica.fence(2)
        new = max(self.replicas, key=lambda replica: replica.rank())
        new.promote(2, 0, [])
        wait_until(new.writable, "the new master accepts writes")
        client._execute_command(pymysql.constants.COMMAND.COM_QUERY, "SELECT id FROM d.t")
        new.query("INSERT INTO d.t VALUES (1000)")
        wait_until(lambda: waited_for_lease(new), "a lease is over")
        self.master.resume()
        with self.assertRaises((pymysql.MySQLError, OSError)):
            client._read_query_result()
        self.assertEqual(code_of(self.master.connect), OFFLINE)

    def test_who_is_fenced_knows_when_it_has_heard_its_master_last(self):
        self.begin(f"SOURCE_LEASE {LEASE}")
        self.insert()
        self.master.pause()
        self.addCleanup(self.master.resume)
        before, unheard = (float(self.second.status()["seconds_since_heartbeat"]), time.monotonic())
        self.second.fence(2)
        wait_until(lambda: float(self.second.status()["seconds_since_heartbeat"]) > before + 1, "it counts on")
        passed = time.monotonic() - unheard
        self.assertLessEqual(float(self.second.status()["seconds_since_heartbeat"]), before + passed + 1)
        self.second.fence(3)
        self.assertGreater(float(self.second.status()["seconds_since_heartbeat"]), before + 1)
        self.second.kill()
        self.second.start()
        self.second.fence(4)
        self.assertIsNone(self.second.status()["seconds_since_heartbeat"], "another process has heard it, and who knows when")
        self.second.promote(5, 0, [])
        self.assertIsNone(self.second.status()["seconds_since_heartbeat"])

    def occupy(self, statement):
        connection = self.master.connect()
        self.addCleanup(connection._force_close)
        connection._execute_command(pymysql.constants.COMMAND.COM_QUERY, statement)

    def statements_at_work(self):
        return int(self.master.query("SELECT COUNT(*) FROM information_schema.processlist WHERE info IS NOT NULL")[0][0])

    def test_fence_and_follow_answer_at_once_whatever_clients_do(self):
        self.begin()
        for _ in range(10):
            self.insert()
        holder = self.master.connect(autocommit=False)
        self.addCleanup(holder._force_close)
        holder.cursor().execute("SELECT * FROM d.t FOR UPDATE")
        self.addCleanup(self.master.connect()._force_close)  # idle
        for statement in OCCUPATIONS:
            self.occupy(statement)
        wait_until(lambda: self.statements_at_work() > len(OCCUPATIONS), "all are at work")
        follow = (f"SOURCE_HOST '127.0.0.1' SOURCE_PORT {self.second.port} SOURCE_UUID '{self.second.uuid}' "
                  "SOURCE_USER 'nobody' SOURCE_PASSWORD 'nothing'")
        for statement in ("ALTER INSTANCE FENCE EPOCH 2", f"ALTER INSTANCE FOLLOW EPOCH 3 {follow}"):
            # By root, which is no operator. Who does not end himself is given up after ten seconds: nobody is.
            with contextlib.closing(self.master.connect(read_timeout=8)) as connection:
                connection.cursor().execute(statement)
        self.assertEqual(self.master.status()["role"], "replica")


def waited_for_lease(member):
    member.query(f"SELECT SLEEP({LEASE / 1000})")
    return True


if __name__ == "__main__":
    unittest.main()
