"""Links between a replica and its source that are cut, slow, or dead without saying so: no gap, no duplicate."""

import contextlib
import itertools
import random
import threading
import time
import unittest

from commitd_process import wait_until
from pair import PairTest
from remote_proxy import Proxy

ROUNDS = 15
HEARTBEAT = "SOURCE_HEARTBEAT_PERIOD=0.2"


class ReplicaLinksTest(PairTest):
    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.log (n INT, filler VARBINARY(20000))")  # no key: what comes twice is there twice
        self.proxy = Proxy(self.source.port)
        self.addCleanup(self.proxy.close)
        self.random = random.Random(self._testMethodName)
        self.over = threading.Event()
        self.writer = threading.Thread(target=self.write)

    def write(self):
        """Small transactions and large ones, so that a link breaks inside of any."""
        with contextlib.closing(self.source.connect()) as connection, connection.cursor() as cursor:
            for number in itertools.count(1):
                if self.over.is_set():
                    return
                cursor.execute(f"INSERT INTO d.log VALUES ({number}, REPEAT('x', {20000 if number % 10 == 0 else 10}))")
                if number % 50 == 0:
                    cursor.execute("FLUSH BINARY LOGS")
                time.sleep(0.002)

    def follow_through_the_proxy(self, *options):
        self.replica.query("CHANGE REPLICATION SOURCE TO " + ", ".join(
            ("SOURCE_HOST='127.0.0.1'", f"SOURCE_PORT={self.proxy.port}", "SOURCE_USER='root'", "SOURCE_CONNECT_RETRY=1", HEARTBEAT, *options)))
        self.replica.query("START REPLICA")
        self.wait_for_all()
        self.writer.start()
        self.addCleanup(self.stop_writing)

    def stop_writing(self):
        self.over.set()
        self.writer.join(60)

    def count(self, server):
        return server.query("SELECT COUNT(*) FROM d.log")[0][0]

    def goes_on(self):
        """Behind what it has now, and some more."""
        has = self.count(self.replica)
        wait_until(lambda: self.count(self.replica) > has, f"it goes on: {self.status()}")

    def assert_no_gap_and_no_duplicate(self):
        self.proxy.allow(None)
        self.stop_writing()
        self.wait_for_all()
        self.assertEqual(self.executed(), self.replica.query("SELECT @@global.gtid_executed")[0][0].replace("\n", ""))
        counts = "SELECT COUNT(*), COUNT(DISTINCT n), MAX(n), SUM(LENGTH(filler)) FROM d.log"
        self.assertEqual(self.source.query(counts), self.replica.query(counts))
        ((rows, distinct, last, _),) = self.replica.query(counts)
        self.assertEqual((rows, distinct), (last, last))
        self.assertEqual(self.source.query("CHECKSUM TABLE d.log"), self.replica.query("CHECKSUM TABLE d.log"))

    def cut_again_and_again(self):
        connections = self.proxy.connections
        for _ in range(ROUNDS):
            self.proxy.allow(self.random.choice((self.random.randint(0, 300), self.random.randint(0, 60000))), cut=True)
            wait_until(lambda: self.proxy.open == 0 or self.proxy.connections > connections, "it is cut")
            connections = self.proxy.connections
            self.proxy.allow(None)
            self.goes_on()
        self.assert_no_gap_and_no_duplicate()

    def test_cut_anywhere(self):
        self.follow_through_the_proxy("SOURCE_AUTO_POSITION=1")
        self.cut_again_and_again()

    def test_cut_anywhere_by_file_and_position(self):
        self.follow_through_the_proxy("SOURCE_AUTO_POSITION=0", "SOURCE_LOG_FILE='binlog.000001'", "SOURCE_LOG_POS=4")
        self.cut_again_and_again()

    def test_dead_without_a_word(self):
        """Nothing comes any more, and nobody says so: the replica connects anew, and what it got late, it does not take twice."""
        self.follow_through_the_proxy("SOURCE_AUTO_POSITION=1")
        for _ in range(3):
            before = self.proxy.connections
            self.proxy.allow(self.random.randint(0, 30000))
            self.proxy.wait_for(lambda: self.proxy.stalled > 0, "the link is dead")
            wait_until(lambda: self.proxy.connections > before, f"it connects anew: {self.status()}")  # noqa: B023
            self.proxy.allow(None)
            self.goes_on()
        self.assert_no_gap_and_no_duplicate()

    def test_slow_links_and_semisync(self):
        """Each piece comes late, and a commit waits for its acknowledgement all the same."""
        self.proxy.delay = 0.03
        self.follow_through_the_proxy("SOURCE_AUTO_POSITION=1")
        self.source.query("SET GLOBAL rpl_semi_sync_source_timeout = 4294967295")
        self.source.query("SET GLOBAL rpl_semi_sync_source_enabled = 1")
        for _ in range(5):
            self.goes_on()
            self.proxy.allow(self.random.randint(0, 5000), cut=True)
            wait_until(lambda: self.proxy.open == 0, "it is cut")
            self.proxy.allow(None)
        self.goes_on()
        begun = time.monotonic()
        self.source.query("INSERT INTO d.log VALUES (0, '')")
        self.assertGreater(time.monotonic() - begun, self.proxy.delay)
        self.source.query("DELETE FROM d.log WHERE n = 0")
        self.assertEqual(self.source.query("SHOW STATUS LIKE 'Rpl_semi_sync_source_no_tx'")[0][1], "0")
        self.assert_no_gap_and_no_duplicate()


if __name__ == "__main__":
    unittest.main()
