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
