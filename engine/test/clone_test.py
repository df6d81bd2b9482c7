"""CLONE INSTANCE between real servers: a member without history joins while others write, from a master and from a replica; a server that
has data is replaced; what fails, is killed or dies in between leaves what was there."""

import contextlib
import os
import pathlib
import threading
import unittest

import pymysql

from commitd_process import Commitd, code_of, wait_until
from members import OPERATOR, PASSWORD, ClusterTest, Member
from pair import PairTest

CHECKSUM = "SELECT COUNT(*), SUM(CRC32(CONCAT_WS('#', id, v))), MAX(id) FROM d.t"
GONE = (1053, 2003, 2006, 2013)


def clone_statement(donor, user=OPERATOR, password=PASSWORD, more=""):
    return f"CLONE INSTANCE FROM '{user}'@'127.0.0.1':{donor.port} IDENTIFIED BY '{password}' {more}"


def leftovers(server):
    """Of a clone, in a data directory."""
    return [path.name for path in pathlib.Path(server.datadir).iterdir() if "clone" in path.name and path.name != "commitd_clone_info"]


def fill(server, rows=400):
    server.query("CREATE DATABASE d")
    server.query("CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200), KEY (v))")
    server.query("INSERT INTO d.t (v) VALUES " + ", ".join(f"('row {n}')" for n in range(rows)))


class Writer(threading.Thread):
    """Inserts until it is stopped; knows the last id that was acknowledged."""

    def __init__(self, server):
        super().__init__()
        self.server, self.acknowledged, self.stopping = server, 0, False

    def run(self):
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            while not self.stopping:
                cursor.execute("INSERT INTO d.t (v) VALUES ('written meanwhile')")
                self.acknowledged = cursor.lastrowid

    def more(self, count=20):
        wanted = self.acknowledged + count
        wait_until(lambda: self.acknowledged >= wanted, "writes go on")
        return self.acknowledged

    def __enter__(self):
        self.start()
        self.more(1)
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.join()


class MemberJoinsByClone(ClusterTest):
    """The first two serve; the third one's volume is empty, and the log no longer goes back to its beginning."""

    def setUp(self):
        super().setUp()
        self.master, self.replica = self.members[:2]
        self.joiner = Member(4, self.master.operator_password_file)
        self.addCleanup(self.joiner.__exit__)
        self.joiner.start()
        for member in (self.master, self.replica):
            member.fence(1)
        self.master.promote(1, 1, [self.replica])
        self.replica.follow(1, self.master)
        wait_until(self.master.writable, "the master takes writes")
        fill(self.master)
        for member in (self.master, self.replica):
            member.control("FLUSH BINARY LOGS")
        self.master.query("INSERT INTO d.t (v) VALUES ('in the new file')")  # where the replica reads from now on
        wait_until(lambda: self.replica.shows(self.master.ids()), "both have the rows")
        for member in (self.master, self.replica):
            wait_until(lambda: self.has_lost_history(member), "its log does not go back to the beginning")

    def has_lost_history(self, member):
        newest = pathlib.Path(member.binlog_files()[-1]).name
        member.control(f"PURGE BINARY LOGS TO '{newest}'")
        return not member.binlog_files()[0].endswith(".000001")

    def join_from(self, donor):
        before = self.joiner.uuid
        with Writer(self.master) as writer:
            self.joiner.control(clone_statement(donor))
            during = writer.more()
            wait_until(lambda: self.restarted(before), "the joiner is another server: " + self.joiner.log_text())
            self.assertEqual(self.joiner.status()["role"], "undecided")
            self.assertEqual(int(self.joiner.status()["epoch"]), 0)
            self.joiner.follow(1, self.master)
            writer.more()
        self.assertLess(during, writer.acknowledged)
        wait_until(lambda: self.joiner.query(CHECKSUM) == self.master.query(CHECKSUM), "the joiner has followed")
        ids = self.joiner.ids()
        self.assertIn(during, ids)
        self.assertIn(writer.acknowledged, ids)
        self.assertEqual(self.executed(self.joiner), self.executed(self.master))
        self.assertEqual(leftovers(self.joiner), [])
        wait_until(lambda: not self.checkpoint_files(donor), "the donor keeps no copy")

    def restarted(self, before):
        try:
            status = self.joiner.status()
        except pymysql.err.MySQLError as gone:
            self.assertIn(gone.args[0], GONE)
            return False
        return status["role"] != "uninitialized" and status["server_uuid"] != before

    def executed(self, member):
        return member.query("SELECT @@GLOBAL.gtid_executed")[0][0]

    def checkpoint_files(self, donor):
        copies = pathlib.Path(donor.datadir) / "#clone_donor"
        return list(copies.iterdir()) if copies.exists() else []

    def test_from_the_master(self):
        self.join_from(self.master)
        (row,) = self.joiner.query("SELECT STATE, SOURCE, DESTINATION, ERROR_NO, BINLOG_FILE FROM performance_schema.clone_status")
        self.assertEqual(row[:4], ("Completed", f"127.0.0.1:{self.master.port}", "LOCAL INSTANCE", 0))
        self.assertTrue(row[4].startswith("binlog."))
        # A member like any other: it acknowledges, and takes the mastership over.
        for member in (self.master, self.replica, self.joiner):
            member.fence(2)
        self.joiner.promote(2, 1, [self.replica])
        self.replica.follow(2, self.joiner)
        wait_until(self.joiner.writable, "the joiner takes writes as the master")

    def test_from_a_replica(self):
        self.join_from(self.replica)

    def test_whoever_serves_a_role_keeps_its_data(self):
        for member, when in ((self.master, "this server is the master of its epoch: "), (self.replica, "this server is a replica: ")):
            with self.assertRaises(pymysql.MySQLError) as raised:
                member.control(clone_statement(self.joiner))
            self.assertEqual(raised.exception.args[0], 3875)
            self.assertRegex(raised.exception.args[1], f"^The clone operation cannot be executed when {when}.*\\.$")
        self.master.kill()
        self.master.start()
        self.assertEqual(self.master.status()["role"], "undecided")
        self.assertEqual(code_of(lambda: self.master.control(clone_statement(self.replica))), 3875)

    def test_a_fenced_member_is_cloned_and_keeps_its_promise(self):
        self.replica.fence(7)
        before = self.replica.uuid
        self.joiner = self.replica
        self.replica.control(clone_statement(self.master))
        wait_until(lambda: self.restarted(before), "it is another server")
        self.assertEqual(int(self.replica.status()["epoch"]), 7)
        self.assertEqual(code_of(lambda: self.replica.fence(6)), 3000)


class StandaloneClone(PairTest):
    def setUp(self):
        super().setUp()
        fill(self.source)
        self.replica.query("CREATE DATABASE of_before")
        self.allow()

    def allow(self):
        self.replica.query(f"SET PERSIST clone_valid_donor_list = 'elsewhere:1, 127.0.0.1:{self.source.port}'")

    def clone(self, more=""):
        self.replica.query(clone_statement(self.source, "root", "", more))

    def code(self, more=""):
        return code_of(lambda: self.clone(more))

    def test_takes_the_place_of_what_was_there(self):
        uuid = self.replica.query("SELECT @@server_uuid")
        self.clone()
        wait_until(self.has_other_uuid(uuid), "the server starts with the other data: " + self.replica.log_text())
        self.assertEqual(self.replica.query(CHECKSUM), self.source.query(CHECKSUM))
        self.assertEqual(self.replica.query("SHOW DATABASES LIKE 'of_before'"), ())
        self.assertIn("elsewhere", self.replica.query("SELECT @@clone_valid_donor_list")[0][0])
        self.assertNotEqual(self.replica.query("SELECT @@server_uuid"), self.source.query("SELECT @@server_uuid"))
        self.source.query("INSERT INTO d.t (v) VALUES ('later')")
        self.follow()
        self.wait_for_all()
        self.assertEqual(self.replica.query(CHECKSUM), self.source.query(CHECKSUM))
        self.assertEqual(self.code(), 3875)  # a replica

    def has_other_uuid(self, uuid):
        def look():
            try:
                return self.replica.query("SELECT @@server_uuid") != uuid
            except pymysql.err.MySQLError as gone:
                self.assertIn(gone.args[0], GONE)
                return False
        return look

    def test_into_another_directory(self):
        directory = os.path.join(self.replica.directory, "clone")
        self.clone(f"DATA DIRECTORY = '{directory}' REQUIRE SSL")
        self.assertEqual(self.code(f"DATA DIRECTORY '{directory}'"), 1086)
        self.assertEqual(len(self.replica.query("SHOW DATABASES LIKE 'of_before'")), 1)
        with Commitd(datadir=directory) as copy:
            self.assertEqual(copy.query(CHECKSUM), self.source.query(CHECKSUM))

    def test_local(self):
        directory = os.path.join(self.source.directory, "copy")
        self.source.query(f"CLONE LOCAL DATA DIRECTORY = '{directory}'")
        with Commitd(datadir=directory) as copy:
            self.assertEqual(copy.query(CHECKSUM), self.source.query(CHECKSUM))

    def test_refusals(self):
        self.source.query("CREATE USER plain@'%' IDENTIFIED BY 'p'")
        self.replica.query("CREATE USER plain@'%' IDENTIFIED BY 'p'")
        for code, server, statement in (
                (3862, self.replica, clone_statement(self.source, "plain", "wrong")),  # 1045 there
                (3862, self.replica, clone_statement(self.source, "plain", "p")),      # no BACKUP_ADMIN
                (3869, self.source, clone_statement(self.replica, "root", "")),        # not in the list
                (1210, self.replica, clone_statement(self.source, "root", "", "DATA DIRECTORY 'relative'"))):
            with self.subTest(code=code, statement=statement):
                self.assertEqual(code_of(lambda: server.query(statement)), code)
        self.assertEqual(code_of(lambda: self.replica.query(clone_statement(self.source), "plain", "p")), 1227)
        self.replica.query("GRANT SUPER ON *.* TO plain")
        self.assertEqual(code_of(lambda: self.replica.query(clone_statement(self.source, "plain", "wrong"), "plain", "p")), 3862)
        self.source.query(f"SET GLOBAL clone_valid_donor_list = '127.0.0.1:{self.source.port}'")
        self.assertEqual(code_of(lambda: self.source.query(clone_statement(self.source, "root", ""))), 3871)
        (row,) = self.source.query("SELECT STATE, ERROR_NO FROM performance_schema.clone_status")
        self.assertEqual(row, ("Failed", 3871))
        for server in (self.source, self.replica):
            self.assertEqual([name for name in leftovers(server) if name != "#clone_donor"], [])
            self.assertEqual(len(server.query("SHOW DATABASES LIKE 'd'") + server.query("SHOW DATABASES LIKE 'of_before'")), 1)

    def test_other_durability(self):
        with Commitd("--commitd-durability=xa", server_id=3) as other:
            other.query(f"SET GLOBAL clone_valid_donor_list = '127.0.0.1:{self.source.port}'")
            self.assertEqual(code_of(lambda: other.query(clone_statement(self.source, "root", ""))), 3868)


class CloneInterrupted(PairTest):
    """In the middle of a transfer that takes seconds."""

    def setUp(self):
        super().setUp()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v LONGBLOB)")
        with contextlib.closing(self.source.connect()) as connection, connection.cursor() as cursor:
            for _ in range(4):
                cursor.execute("INSERT INTO d.t (v) VALUES (_binary %s)", (os.urandom(1 << 20),))
        self.source.query("SET GLOBAL clone_max_data_bandwidth = 1")
        self.replica.query("CREATE DATABASE of_before")
        self.replica.query(f"SET PERSIST clone_valid_donor_list = '127.0.0.1:{self.source.port}'")
        self.failure = None
        self.cloning = threading.Thread(target=self.clone)
        self.cloning.start()
        self.addCleanup(self.cloning.join)
        wait_until(self.in_the_middle, "data comes")

    def clone(self):
        self.failure = code_of(lambda: self.replica.query(clone_statement(self.source, "root", "")))

    def in_the_middle(self):
        (row,) = self.replica.query("SELECT COALESCE(MAX(DATA > 0 AND STATE = 'In Progress'), 0) FROM performance_schema.clone_progress")
        return row[0]

    def check_nothing_changed(self):
        self.assertEqual(len(self.replica.query("SHOW DATABASES LIKE 'of_before'")), 1)
        self.assertEqual(leftovers(self.replica), [])

    def test_the_recipient_dies(self):
        self.assertIn("#clone", leftovers(self.replica))
        self.replica.kill()
        self.cloning.join()
        self.replica.start()
        self.check_nothing_changed()

    def test_the_donor_dies(self):
        self.source.kill()
        self.cloning.join()
        self.assertEqual(self.failure, 3862)
        self.check_nothing_changed()
        self.assertIn("#clone_donor", leftovers(self.source))
        self.source.start()
        self.assertEqual(leftovers(self.source), [])

    def test_it_is_killed_and_another_one_is_refused_meanwhile(self):
        self.assertEqual(code_of(lambda: self.replica.query(clone_statement(self.source, "root", ""))), 3874)
        ((number,),) = self.replica.query("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'CLONE INSTANCE%'")
        self.replica.query(f"KILL QUERY {number}")
        self.cloning.join()
        self.assertEqual(self.failure, 1317)
        self.check_nothing_changed()


if __name__ == "__main__":
    unittest.main()
