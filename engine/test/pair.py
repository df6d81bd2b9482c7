"""A source and a replica outside of a cluster."""

import contextlib
import unittest

import pymysql

from commitd_process import Commitd, wait_until


class PairTest(unittest.TestCase):
    """Starts both; the replica follows once follow() is called."""

    def setUp(self):
        self.source = self.started(Commitd(server_id=1))
        self.replica = self.started(Commitd(server_id=2))

    def started(self, server):
        self.addCleanup(server.__exit__)
        server.start()
        return server

    def follow(self):
        self.replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={self.source.port}, "
                           "SOURCE_USER='root', SOURCE_AUTO_POSITION=1")
        self.replica.query("START REPLICA")

    def status(self):
        with contextlib.closing(self.replica.connect()) as connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute("SHOW REPLICA STATUS")
            (row,) = cursor.fetchall()
            return row

    def executed(self):
        return self.source.query("SELECT @@global.gtid_executed")[0][0].replace("\n", "")

    def wait_for_all(self):
        executed = self.executed()
        wait_until(lambda: self.replica.query(f"SELECT GTID_SUBSET('{executed}', @@global.gtid_executed)")[0][0] == 1,
                   "the replica has applied everything: " + self.replica.log_text())


class FollowedPairTest(PairTest):
    """The replica follows, and both have d.t."""

    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        self.follow()
        self.wait_for_all()

    def insert(self, *ids):
        for number in ids:
            self.source.query(f"INSERT INTO d.t VALUES ({number})")

    def rows(self):
        return [row[0] for row in self.replica.query("SELECT id FROM d.t ORDER BY id")]

    def wait_for_received(self):
        executed = self.executed()
        wait_until(lambda: self.replica.query(f"SELECT GTID_SUBSET('{executed}', gtid_logged) FROM performance_schema.commitd_instance")
                   == ((1,),), "everything is received: " + self.replica.log_text())
