"""Three members of a cluster, driven with the statements of CONTROL.md as an operator would."""

import contextlib
import http.client
import os
import pathlib
import signal
import tempfile
import unittest

import pymysql

from commitd_process import Commitd, wait_until

NOT_THERE = (1049, 1146)  # no such database, no such table

OPERATOR = "commitlab_operator"
PASSWORD = "not-a-secret"


class Member(Commitd):
    def __init__(self, server_id, password_file):
        super().__init__("--require-bootstrap", server_id=server_id, password_file=password_file)

    def control(self, sql):
        return self.query(sql, OPERATOR, PASSWORD)

    def status(self):
        with contextlib.closing(self.connect(OPERATOR, PASSWORD)) as connection:
            with connection.cursor(pymysql.cursors.DictCursor) as cursor:
                cursor.execute("SELECT * FROM performance_schema.commitd_instance")
                (row,) = cursor.fetchall()
                return row

    @property
    def uuid(self):
        return self.status()["server_uuid"]

    def ready(self):
        """The status of /readyz."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/readyz")
            return connection.getresponse().status

    def fence(self, epoch):
        self.control(f"ALTER INSTANCE FENCE EPOCH {epoch}")

    def promote(self, epoch, wait_count, members):
        uuids = ",".join(member.uuid for member in members)
        self.control(f"ALTER INSTANCE PROMOTE EPOCH {epoch} WAIT_COUNT {wait_count} MEMBERS '{uuids}'")

    def follow(self, epoch, source):
        self.control(f"ALTER INSTANCE FOLLOW EPOCH {epoch} SOURCE_HOST '127.0.0.1' SOURCE_PORT {source.port} "
                     f"SOURCE_UUID '{source.uuid}' SOURCE_USER '{OPERATOR}' SOURCE_PASSWORD '{PASSWORD}'")

    def writable(self):
        return int(self.status()["writes_blocked"]) == 0

    def ids(self):
        return [row[0] for row in self.query("SELECT id FROM d.t ORDER BY id")]

    def shows(self, ids):
        """False also while a server that has just come back has not replayed the table's creation yet."""
        try:
            return self.ids() == ids
        except pymysql.err.MySQLError as absent:
            if absent.args[0] not in NOT_THERE:
                raise
            return False

    def pause(self):
        """Every thread of it: until then it may still acknowledge."""
        self.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: set(self.thread_states()) == {"T"}, "all threads are stopped")

    def thread_states(self):
        for stat in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
                yield stat.read_text().rsplit(")", 1)[1].split()[0]

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def rank(self):
        """Who holds most of the newest epoch's log ranks highest."""
        status = self.status()
        return int(status["last_log_epoch"]), transactions(status["gtid_logged"])


def transactions(gtid_set):
    """How many transactions a GTID set names."""
    total = 0
    for uuid_set in gtid_set.replace("\n", "").split(","):
        for interval in uuid_set.split(":")[1:]:
            first, _, last = interval.partition("-")
            total += int(last or first) - int(first) + 1
    return total


class ClusterTest(unittest.TestCase):
    """Starts three members that wait for a role."""

    FLAGS = ()  # more of them

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        password_file = os.path.join(directory.name, "operator-password")
        with open(password_file, "w") as file:
            file.write(PASSWORD + "\n")
        self.members = [Member(number, password_file) for number in (1, 2, 3)]
        for member in self.members:
            member.flags += self.FLAGS
            self.addCleanup(member.__exit__)
            member.start()
            self.assertEqual(member.status()["role"], "uninitialized")
            member.control("ALTER INSTANCE INITIALIZE")
            self.assertEqual(member.status()["role"], "undecided")
