"""commitd_max_replica_lag: a source slows its writers so that its replicas keep up. What is compared is compared within one run."""

import contextlib
import random
import signal
import statistics
import threading
import time
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until
from members import ClusterTest
from remote_proxy import Proxy

READ_ONLY, INTERRUPTED, WRONG_TYPE = 1290, 1317, 1232
WAITING = "Waiting for replicas to catch up"
LEAST_RATE = 4096
LARGE = 3 * LEAST_RATE  # bytes of a row: at the least rate whoever comes next waits for a second, which is the most


class Writers:
    """Sessions that write until they are told to stop, each a statement of its own: statement(number)."""

    def __init__(self, server, statement, count=4):
        self.server, self.statement = server, statement
        self.over, self.lock, self.written, self.codes = threading.Event(), threading.Lock(), 0, []
        self.threads = [threading.Thread(target=self.write, args=(writer,)) for writer in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def write(self, writer):
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            number = writer
            while not self.over.is_set():
                number += len(self.threads)
                try:
                    cursor.execute(self.statement(number))
                except pymysql.err.MySQLError as failure:
                    self.codes.append(failure.args[0])
                    return
                with self.lock:
                    self.written += 1

    def wait_for(self, more, seconds=120):
        goal = self.written + more
        wait_until(lambda: self.written >= goal or self.codes, f"{more} more are written", seconds)


class LagTest(unittest.TestCase):
    """A source, and replicas that follow it once follow() is called."""

    REPLICAS = 1

    def setUp(self):
        self.source = self.started(Commitd(server_id=1))
        self.replicas = [self.started(Commitd(server_id=2 + number)) for number in range(self.REPLICAS)]
        self.replica = self.replicas[-1]
        self.on_all("CREATE DATABASE d")

    def started(self, server):
        self.addCleanup(server.__exit__)
        server.start()
        return server

    def on_all(self, *statements):
        """Of which no log tells."""
        for server in (self.source, *self.replicas):
            self.on(server, *statements)

    def on(self, server, *statements):
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            for statement in ("SET sql_log_bin = 0", *statements):
                cursor.execute(statement)

    def follow(self, replica, port=None):
        replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port or self.source.port}, "
                      "SOURCE_USER='root', SOURCE_AUTO_POSITION=1")
        replica.query("START REPLICA")

    def follow_and_create(self):
        for replica in self.replicas:
            self.follow(replica)
        self.source.query("CREATE TABLE d.t (id INT PRIMARY KEY, filler VARBINARY(60000))")
        wait_until(lambda: self.behind() == 0, "the table is there")

    def limit(self, seconds):
        self.source.query(f"SET GLOBAL commitd_max_replica_lag = {seconds}")

    def shown(self, name):
        return float(self.source.query(f"SHOW GLOBAL STATUS LIKE 'Commitd_throttle_{name}'")[0][1])

    def wait_until_counted(self, count=1):
        wait_until(lambda: self.shown("replicas") == count, f"{count} count: {self.replica.log_text()}")

    def behind(self, replica=None):
        """Transactions that it has not applied."""
        gtids = [server.query("SELECT @@global.gtid_executed")[0][0].replace("\n", "") for server in (self.source, replica or self.replica)]
        # Of the source alone: <uuid>:1-n.
        last = [int(gtid.rsplit(":", 1)[1].rsplit("-", 1)[-1]) if gtid else 0 for gtid in gtids]
        return last[0] - last[1]

    def behind_without_a_limit(self, statement, written, writers=4):
        """How far it is behind when so many are written."""
        with Writers(self.source, statement, writers) as writers:
            writers.wait_for(written)
            behind = self.behind()
        self.assertEqual((writers.codes, self.shown("waits_total")), ([], 0))
        self.assertGreater(behind, written / 2, "without a limit it must fall behind, or nothing is shown")
        return behind

    def assert_stays_closer(self, statement, than, applied, writers=4):
        """Under a load that does not end the replica comes closer than that, and is mostly closer while it applies so many more."""
        with Writers(self.source, statement, writers) as writers:
            wait_until(lambda: self.shown("waits_total") > 0 and self.behind() < than / 2, "writers are slowed and it comes closer", 300)
            goal, looks = self.applied() + applied, []
            wait_until(lambda: looks.append(self.behind()) or self.applied() >= goal, "it goes on", 300)
        self.assertEqual(writers.codes, [])
        self.assertLess(statistics.median(looks), than)  # one look may fall into a burst

    def applied(self):
        return self.replica.metric("commitd_replica_applied_transactions_total")

    def waiting(self):
        """Connections whose commits wait."""
        return [row[0] for row in self.source.query("SELECT id FROM information_schema.processlist WHERE state = '" + WAITING + "'")]

    @contextlib.contextmanager
    def standing(self):
        """The replica receives and does not apply."""
        with contextlib.closing(self.replica.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")
            yield


class SlowReplicaTest(LagTest):
    """A replica whose table has no key: it searches the rows that its source finds at once. Another one keeps up."""

    REPLICAS = 2
    ROWS = 80000  # so many are searched for each row that is changed: no machine keeps up with that
    WRITTEN = 100

    def setUp(self):
        super().setUp()
        rows = ",".join(f"({number}, 0)" for number in range(self.ROWS))
        for server in (self.source, self.replicas[0]):
            self.on(server, "CREATE TABLE d.t (id INT, v INT, KEY (id))", "INSERT INTO d.t VALUES " + rows)
        # In another order: with the row ids of its own it must look at the values.
        backwards = ",".join(f"({number}, 0)" for number in reversed(range(self.ROWS)))
        self.on(self.replica, "CREATE TABLE d.t (id INT, v INT)", "INSERT INTO d.t VALUES " + backwards)
        for replica in self.replicas:
            self.follow(replica)
        self.random = random.Random(1)

    def update(self, _):
        return f"UPDATE d.t SET v = v + 1 WHERE id = {self.random.randrange(self.ROWS)}"

    def test_a_replica_that_is_slower_falls_no_further_behind(self):
        without = self.behind_without_a_limit(self.update, self.WRITTEN)
        wait_until(lambda: self.behind() == 0, "it has caught up", 300)
        self.limit(0.5)
        self.wait_until_counted(2)
        self.assert_stays_closer(self.update, without, self.WRITTEN)
        self.assertGreater(self.shown("wait_seconds_total"), 0)
        self.assertIn("writers are slowed (commitd_max_replica_lag): replica ", self.source.log_text())
        # Nothing is lost or done twice by it.
        wait_until(lambda: max(map(self.behind, self.replicas)) == 0, "all have caught up", 300)
        total = self.source.query("SELECT SUM(v) FROM d.t")
        for replica in self.replicas:
            self.assertEqual(replica.query("SELECT SUM(v) FROM d.t"), total)


class StandingReplicaTest(LagTest):
    """A replica that does not apply at all, though nobody has stopped its applier."""

    def setUp(self):
        super().setUp()
        self.follow_and_create()

    def insert(self, number):
        return f"INSERT INTO d.t VALUES ({number}, REPEAT('x', {LARGE}))"

    @contextlib.contextmanager
    def slowed(self, count=4):
        """Writers at the least rate."""
        self.limit(0.2)
        self.wait_until_counted()
        with self.standing(), Writers(self.source, self.insert, count) as writers:
            wait_until(lambda: self.shown("bytes_per_second") == LEAST_RATE and self.waiting(), "they are slowed as far as can be")
            yield writers

    def wait_until_released(self, writers):
        """More than a few at the least rate could be, in what time ever."""
        before = self.shown("waits_total")
        writers.wait_for(50)
        self.assertEqual(self.shown("bytes_per_second"), 0)
        self.assertLessEqual(self.shown("waits_total"), before + len(writers.threads))

    def test_writers_go_on_and_are_let_go_when_it_applies(self):
        with self.slowed() as writers:
            self.assertGreater(self.shown("replica_lag_seconds"), 0)
            writers.wait_for(5)
            self.assertEqual(self.shown("bytes_per_second"), LEAST_RATE)
            self.assertEqual(self.shown("replicas"), 1)
            self.assertGreater(self.shown("waiting"), 0)
        wait_until(lambda: self.behind() == 0 and self.shown("bytes_per_second") == 0, "all is applied, and nobody is slowed")

    def test_without_a_limit_they_are_let_go_at_once(self):
        with self.slowed() as writers:
            self.limit(0)
            self.assertEqual(self.waiting(), [])
            self.wait_until_released(writers)
            self.assertEqual((self.shown("replicas"), self.shown("replica_lag_seconds")), (0, 0))
            self.limit(0.2)
            wait_until(self.waiting, "and slowed again")

    def test_a_replica_that_is_gone_holds_up_nobody(self):
        with self.slowed() as writers:
            self.replica.kill()
            self.wait_until_released(writers)

    def test_a_replica_whose_process_stands_holds_up_nobody(self):
        with self.slowed() as writers:
            self.replica.process.send_signal(signal.SIGSTOP)
            self.wait_until_released(writers)
            self.replica.process.send_signal(signal.SIGCONT)
            wait_until(self.waiting, "it is there again, and behind")

    def test_a_killed_query_has_not_committed(self):
        with self.slowed(1), contextlib.closing(self.source.connect()) as connection, connection.cursor() as cursor:
            for statements in (["INSERT INTO d.t VALUES (-1, '')"], ["BEGIN", "INSERT INTO d.t VALUES (-1, '')", "COMMIT"]):
                for statement in statements[:-1]:
                    cursor.execute(statement)
                # Of an earlier statement's time: it does not count any more.
                self.source.query(f"KILL QUERY {connection.thread_id()}")
                killer = threading.Thread(target=self.kill, args=(connection.thread_id(),))
                killer.start()
                self.assertEqual(code_of(lambda: cursor.execute(statements[-1])), INTERRUPTED)  # noqa: B023
                killer.join()
                cursor.execute("SELECT COUNT(*) FROM d.t WHERE id = -1")
                self.assertEqual(cursor.fetchall(), ((0,),))

    def kill(self, thread):
        wait_until(lambda: thread in self.waiting(), "its commit waits")
        self.source.query(f"KILL QUERY {thread}")

    def test_a_server_that_ends_does_not_wait(self):
        with self.slowed() as writers:
            self.source.terminate()
            for thread in writers.threads:
                thread.join()
            self.assertEqual(len(writers.codes), len(writers.threads))

    def test_what_is_not_logged_for_replicas_does_not_wait(self):
        with self.slowed():
            before = self.shown("waits_total")
            self.on(self.source, *(f"INSERT INTO d.t VALUES ({-number}, REPEAT('x', {LARGE}))" for number in range(1, 20)))
            self.assertLess(self.shown("waits_total") - before, 20)


class WhoCountsTest(LagTest):
    def setUp(self):
        super().setUp()
        self.follow_and_create()

    def test_whose_applier_is_meant_to_keep_up(self):
        self.assertEqual(self.shown("replicas"), 0)  # nobody is asked
        self.limit(0.5)
        self.wait_until_counted()
        for stop, go_on in (("STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD"), ("STOP REPLICA IO_THREAD", "START REPLICA IO_THREAD")):
            self.replica.query(stop)
            self.wait_until_counted(0)
            self.replica.query(go_on)
            self.wait_until_counted()
        self.delay(3600)
        self.wait_until_counted(0)
        self.delay(0)
        self.wait_until_counted()
        # An error.
        self.source.query("INSERT INTO d.t VALUES (1, '')")
        wait_until(lambda: self.behind() == 0, "it is applied")
        self.replica.query("STOP REPLICA")
        self.replica.query("DELETE FROM d.t")
        self.replica.query("START REPLICA")
        self.wait_until_counted()
        self.source.query("DELETE FROM d.t")
        self.wait_until_counted(0)

    def delay(self, seconds):
        self.replica.query("STOP REPLICA SQL_THREAD")
        self.replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_DELAY = {seconds}")
        self.replica.query("START REPLICA SQL_THREAD")

    def test_a_replica_that_acknowledges_nothing_counts_too(self):
        self.replica.query("SET GLOBAL rpl_semi_sync_replica_enabled = 0")
        self.replica.query("STOP REPLICA")
        self.replica.query("START REPLICA")
        wait_until(lambda: self.replica.metric("commitd_replica_acknowledges") == 0 and self.source.metric("commitd_dump_sessions") == 1, "it reads")
        self.limit(0.2)
        self.wait_until_counted()
        with self.standing(), Writers(self.source, lambda number: f"INSERT INTO d.t VALUES ({number}, REPEAT('x', {LARGE}))"):
            wait_until(self.waiting, "writers are slowed")

    def test_values(self):
        for value in ("'soon'", "NULL"):
            self.assertEqual(code_of(lambda: self.limit(value)), WRONG_TYPE)  # noqa: B023
        with contextlib.closing(self.source.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET GLOBAL commitd_max_replica_lag = 0.01")
            cursor.execute("SHOW WARNINGS")
            self.assertIn("below 0.1 s is not measured", cursor.fetchall()[0][2])
            cursor.execute("SET GLOBAL commitd_max_replica_lag = 2.5")
            cursor.execute("SHOW VARIABLES LIKE 'commitd_max_replica_lag'")
            self.assertEqual(cursor.fetchall(), (("commitd_max_replica_lag", "2.500000"),))


class SlowLinkTest(LagTest):
    """What is on its way is not applied either."""

    SIZE = 30000
    WRITTEN = 100

    def test_what_is_sent_and_has_not_arrived(self):
        self.on_all(f"CREATE TABLE d.t (id INT PRIMARY KEY, filler VARBINARY({self.SIZE}))")
        proxy = Proxy(self.source.port)
        self.addCleanup(proxy.close)
        proxy.delay = 0.1  # of each 64 KiB
        self.follow(self.replica, proxy.port)
        self.source.query("INSERT INTO d.t VALUES (0, '')")
        wait_until(lambda: self.behind() == 0, "it follows")
        without = self.behind_without_a_limit(self.inserts(1000000), self.WRITTEN, 1)
        wait_until(lambda: self.behind() == 0, "it has caught up", 300)
        self.limit(0.5)
        self.wait_until_counted()
        self.assert_stays_closer(self.inserts(2000000), without / 2, self.WRITTEN, 1)
        self.assertEqual(self.shown("replicas"), 1)

    def inserts(self, first):
        return lambda number: f"INSERT INTO d.t VALUES ({first + number}, REPEAT('x', {self.SIZE}))"


class SlowMemberTest(ClusterTest):
    """A cluster: the statements that take a mastership away end the waits of its writers."""

    def test_a_master_that_steps_down(self):
        master, second, third = self.members
        master.fence(1)
        master.promote(1, 1, (second, third))
        for member in (second, third):
            member.follow(1, master)
        wait_until(master.writable, "it is the master")
        for statement in ("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, filler VARBINARY(60000))", "SET GLOBAL commitd_max_replica_lag = 0.2"):
            master.query(statement)
        wait_until(lambda: third.shows([]), "the table is there")
        with contextlib.closing(third.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")
            with Writers(master, lambda number: f"INSERT INTO d.t VALUES ({number}, REPEAT('x', {LARGE}))") as writers:
                wait_until(lambda: master.metric("commitd_throttle_bytes_per_second") == LEAST_RATE
                           and master.metric("commitd_throttle_waiting") >= len(writers.threads) - 1, "they wait")
                began = time.monotonic()
                master.control("ALTER INSTANCE HANDOVER EPOCH 1 TIMEOUT 600000")
                for thread in writers.threads:
                    thread.join()
                self.assertEqual(writers.codes, [READ_ONLY] * len(writers.threads))
                self.assertLess(time.monotonic() - began, 600)
            cursor.execute("UNLOCK TABLES")
        # What was answered is there, and nothing else.
        wait_until(lambda: len(third.ids()) == writers.written, "the other members have what was committed")
        self.assertEqual(len(master.ids()), writers.written)


if __name__ == "__main__":
    unittest.main()
