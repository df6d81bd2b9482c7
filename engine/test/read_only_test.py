"""read_only and super_read_only outside of a cluster, where one can SET them."""

import contextlib
import unittest
import urllib.request

from commitd_process import code_of, wait_until
from pair import PairTest

READ_ONLY = 1290


class ReadOnlyTest(PairTest):
    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        self.source.query("CREATE USER writer")
        self.source.query("GRANT ALL ON d.* TO writer")

    def insert(self, number, user="root", server=None):
        return code_of(lambda: (server or self.source).query(f"INSERT INTO d.t VALUES ({number})", user))

    def variables(self):
        return self.source.query("SELECT @@read_only, @@super_read_only")[0]

    def test_each_keeps_the_writes_of_those_it_concerns_away(self):
        self.source.query("SET GLOBAL read_only = 1")
        self.assertEqual(self.variables(), (1, 0))
        self.assertEqual((self.insert(1, "writer"), self.insert(2)), (READ_ONLY, None))
        self.assertEqual(code_of(lambda: self.source.query("CREATE TABLE d.u (id INT)", "writer")), READ_ONLY)
        self.source.query("SET GLOBAL super_read_only = 1")
        self.assertEqual((self.insert(3, "writer"), self.insert(4)), (READ_ONLY, READ_ONLY))
        self.source.query("SET GLOBAL read_only = 0")
        self.assertEqual(self.variables(), (0, 0))
        self.assertEqual((self.insert(5, "writer"), self.insert(6)), (None, None))
        self.source.query("SET GLOBAL super_read_only = 1")
        self.assertEqual(self.variables(), (1, 1))
        self.source.query("SET GLOBAL super_read_only = 0")
        self.assertEqual(self.variables(), (1, 0))
        self.assertEqual(code_of(lambda: self.source.query("SET GLOBAL read_only = 0", "writer")), 1227)

    def test_a_transaction_that_is_open_cannot_be_committed_any_more(self):
        for variable, user in (("read_only", "writer"), ("super_read_only", "root")):
            with contextlib.closing(self.source.connect(user, autocommit=False)) as connection, connection.cursor() as cursor:
                cursor.execute("INSERT INTO d.t VALUES (1)")
                self.source.query(f"SET GLOBAL {variable} = 1")
                self.assertEqual(code_of(connection.commit), READ_ONLY, variable)
            self.assertEqual(self.source.query("SELECT * FROM d.t"), ())
            self.source.query("SET GLOBAL read_only = 0")

    def test_a_server_that_is_to_be_read_only_is_ready(self):
        self.source.query("SET GLOBAL super_read_only = 1")
        ((blocked,),) = self.source.query("SELECT writes_blocked FROM performance_schema.commitd_instance")
        self.assertEqual(int(blocked), 1)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.source.http_port}/readyz", timeout=10) as answer:
            self.assertEqual(answer.status, 200)

    def test_it_can_be_persisted(self):
        self.source.query("SET PERSIST super_read_only = 1")
        self.source.terminate()
        self.source.start()
        self.assertEqual((self.variables(), self.insert(1)), ((1, 1), READ_ONLY))
        self.source.query("SET GLOBAL read_only = 0")
        self.assertEqual(self.insert(1), None)

    def test_a_replica_applies_all_the_same_and_stays_read_only_when_it_stops(self):
        self.replica.query("SET GLOBAL super_read_only = 1")
        self.follow()
        self.assertEqual(self.insert(1), None)
        self.wait_for_all()
        self.assertEqual(self.insert(2, server=self.replica), READ_ONLY)
        self.replica.query("STOP REPLICA")
        self.assertEqual(self.insert(2, server=self.replica), READ_ONLY)
        self.replica.query("SET GLOBAL read_only = 0")
        wait_until(lambda: self.insert(2, server=self.replica) is None, "it takes writes")

    def test_semisync_that_comes_back_opens_nothing(self):
        self.source.query("SET GLOBAL commitd_semi_sync_on_timeout = 'error'")
        self.source.query("SET GLOBAL rpl_semi_sync_source_timeout = 50")
        self.source.query("SET GLOBAL rpl_semi_sync_source_enabled = 1")
        self.assertNotEqual(self.insert(1), None)
        self.source.query("SET GLOBAL super_read_only = 1")
        self.follow()
        wait_until(lambda: self.source.query("SELECT * FROM d.t"), "the transaction is acknowledged")
        self.assertEqual(self.insert(2), READ_ONLY)


if __name__ == "__main__":
    unittest.main()
