"""A cluster whose members know each other by certificates of one authority, and replicate by an account that can do nothing else."""

import contextlib
import hashlib
import os
import pathlib
import shutil
import tempfile
import unittest

import pymysql

from authority import Authority
from commitd_process import code_of, wait_until
from members import OPERATOR, PASSWORD, Member

REPLICATION = "commitlab_replication"
SECOND_PASSWORD = "not-a-secret-either"
DENIED = 1045


class TlsMember(Member):
    """Serves with a certificate for the name member-N."""

    def __init__(self, number, directory, authority, signer=None):
        super().__init__(number, os.path.join(directory, "operator-password"))
        self.name = f"member-{number}"
        self.authority = authority
        self.certificate, self.key = (signer or authority).sign(self.name)
        self.client = authority.sign(f"operator-of-{number}")
        self.flags += [f"--replication-password-file={directory}/replication-password", f"--ssl-ca={authority.certificate}",
                       f"--ssl-cert={self.certificate}", f"--ssl-key={self.key}", f"--clone-ssl-ca={authority.certificate}",
                       f"--clone-ssl-cert={self.certificate}", f"--clone-ssl-key={self.key}"]

    def connect(self, user="root", password="", **options):
        if user == OPERATOR:
            options.setdefault("ssl_ca", self.authority.certificate)
            options.setdefault("ssl_cert", self.client[0])
            options.setdefault("ssl_key", self.client[1])
        return super().connect(user, password, **options)

    def follow(self, epoch, source, name=None):
        self.control(f"ALTER INSTANCE FOLLOW EPOCH {epoch} SOURCE_HOST '127.0.0.1' SOURCE_PORT {source.port} "
                     f"SOURCE_UUID '{source.uuid}' SOURCE_USER '{REPLICATION}' SOURCE_PASSWORD '{SECOND_PASSWORD}' "
                     f"SOURCE_SSL_NAME '{name or source.name}'")

    def require(self, what):
        self.control(f"SET GLOBAL commitd_built_in_accounts_require = {what}")


class MembersWithCertificates(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        for account, password in (("operator", PASSWORD), ("replication", SECOND_PASSWORD)):
            pathlib.Path(self.directory, f"{account}-password").write_text(password + "\n")
        self.authority = Authority(self.directory, "ours")

    def started(self, number, **options):
        member = TlsMember(number, self.directory, self.authority, **options)
        self.addCleanup(member.__exit__)
        member.start()
        return member

    def members(self, *numbers):
        members = [self.started(number) for number in numbers]
        for member in members:
            member.control("ALTER INSTANCE INITIALIZE")
            member.fence(1)
        return members

    def pair(self):
        master, replica = self.members(1, 2)
        master.promote(1, 1, [replica])
        replica.follow(1, master)
        wait_until(master.writable, "the master takes writes")
        return master, replica

    def receiver_stays_away(self, replica, why):
        wait_until(lambda: why in replica.status()["receiver_error"], f"the replica says {why}")
        self.assertNotEqual(replica.status()["receiver_state"], "receiving")

    def test_replicas_attach_with_their_certificates_where_those_are_required(self):
        master, replica = self.members(1, 2)
        for member in (master, replica):
            self.assertEqual(member.status()["built_in_accounts"], f"{OPERATOR},{REPLICATION}")
            member.require("X509")
            self.assertEqual(code_of(lambda m=member: m.connect(OPERATOR, PASSWORD, ssl_ca="", ssl_cert="", ssl_key="")), DENIED)
            without = {"ssl_ca": self.authority.certificate, "ssl_cert": None, "ssl_key": None}
            self.assertEqual(code_of(lambda m=member, o=without: m.connect(OPERATOR, PASSWORD, **o)), DENIED)
        master.promote(1, 1, [replica])
        replica.follow(1, master)
        wait_until(master.writable, "the master takes writes")
        master.query("CREATE DATABASE d")
        master.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        master.query("INSERT INTO d.t VALUES (1)")
        wait_until(lambda: replica.shows([1]), "the replica applies")
        with contextlib.closing(replica.connect(OPERATOR, PASSWORD)) as connection:
            with connection.cursor(pymysql.cursors.DictCursor) as cursor:
                cursor.execute("SHOW REPLICA STATUS")
                self.assertEqual(cursor.fetchone()["Source_SSL_Allowed"], "Yes")

    def test_without_a_certificate_a_replica_is_kept_out_where_they_are_required(self):
        master, replica = self.pair()
        master.require("X509")
        replica.fence(2)
        master.promote(2, 1, [replica])
        plain = (f"ALTER INSTANCE FOLLOW EPOCH 2 SOURCE_HOST '127.0.0.1' SOURCE_PORT {master.port} SOURCE_UUID '{master.uuid}' "
                 f"SOURCE_USER '{REPLICATION}' SOURCE_PASSWORD '{SECOND_PASSWORD}'")
        replica.control(plain)
        self.receiver_stays_away(replica, "Access denied")
        self.assertFalse(master.writable())
        master.require("NONE")
        wait_until(master.writable, "the replica gets in")

    def test_a_certificate_for_another_name_is_not_the_source(self):
        master, replica = self.members(1, 2)
        master.promote(1, 1, [replica])
        replica.follow(1, master, name="member-3")
        self.receiver_stays_away(replica, "certificate")
        self.assertFalse(master.writable())

    def test_a_server_of_another_authority_is_not_the_source(self):
        (replica,) = self.members(2)
        stranger = self.started(1, signer=Authority(self.directory, "theirs"))
        options = {"ssl_ca": None, "ssl_cert": None, "ssl_key": None}
        for statement in ("ALTER INSTANCE INITIALIZE", "ALTER INSTANCE FENCE EPOCH 1",
                          f"ALTER INSTANCE PROMOTE EPOCH 1 WAIT_COUNT 1 MEMBERS '{replica.uuid}'"):
            with contextlib.closing(stranger.connect(OPERATOR, PASSWORD, **options)) as connection, connection.cursor() as cursor:
                cursor.execute(statement)
        with contextlib.closing(stranger.connect(OPERATOR, PASSWORD, **options)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT server_uuid FROM performance_schema.commitd_instance")
            (uuid,) = cursor.fetchone()
        replica.control(f"ALTER INSTANCE FOLLOW EPOCH 1 SOURCE_HOST '127.0.0.1' SOURCE_PORT {stranger.port} SOURCE_UUID '{uuid}' "
                        f"SOURCE_USER '{REPLICATION}' SOURCE_PASSWORD '{SECOND_PASSWORD}' SOURCE_SSL_NAME '{stranger.name}'")
        self.receiver_stays_away(replica, "certificate")

    def test_the_account_of_replicas_reads_the_log_and_nothing_else(self):
        master, replica = self.pair()
        replicate = lambda sql: (lambda: master.query(sql, REPLICATION, SECOND_PASSWORD))
        for sql, error in (("SELECT * FROM mysql.user", 1142), ("CREATE DATABASE x", 1044), ("SET GLOBAL max_connections = 5", 1227),
                           ("ALTER INSTANCE FENCE EPOCH 7", 1227), ("SHUTDOWN", 1227), ("CREATE USER x", 1227)):
            self.assertEqual(code_of(replicate(sql)), error, sql)
        self.assertEqual(master.query("SELECT COUNT(*) FROM mysql.user WHERE user = 'commitlab_replication'"), ((0,),))
        for sql in ("CREATE USER commitlab_replication", "DROP USER commitlab_replication",
                    "GRANT ALL ON *.* TO commitlab_replication"):
            self.assertEqual(code_of(lambda s=sql: master.query(s)), 1396, sql)
        master.control("SET GLOBAL max_connections = 1")
        self.assertEqual(code_of(master.connect), 1040)
        replicate("DO 1")()
        replica.kill()
        replica.start()
        replica.fence(2)
        master.promote(2, 1, [replica])
        replica.follow(2, master)
        wait_until(master.writable, "a replica comes back where no client would be let in")

    def test_a_clone_comes_by_that_account_over_tls(self):
        master, _ = self.pair()
        master.query("CREATE DATABASE d")
        master.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        master.query("INSERT INTO d.t VALUES (7)")
        master.require("X509")
        joiner = self.started(3)
        joiner.control(f"CLONE INSTANCE FROM '{REPLICATION}'@'127.0.0.1':{master.port} IDENTIFIED BY '{SECOND_PASSWORD}' REQUIRE SSL")
        def is_whole():
            with contextlib.suppress(pymysql.MySQLError):
                return joiner.status()["role"] == "undecided"
        wait_until(is_whole, "the clone has started")
        self.assertEqual(joiner.ids(), [7])

    def test_replaced_files_are_told_from_those_in_use(self):
        (member,) = self.members(1)
        digest = lambda: hashlib.sha256(b"".join(pathlib.Path(path).read_bytes()
                                                 for path in (self.authority.certificate, member.certificate))).hexdigest()
        before = digest()
        self.assertEqual(member.status()["tls_digest"], before)
        certificate, key = Authority(self.directory, "new").sign("member-1")
        with open(self.authority.certificate, "a") as bundle:
            bundle.write(pathlib.Path(self.directory, "new-ca.pem").read_text())
        shutil.copy(certificate, member.certificate)
        shutil.copy(key, member.key)
        self.assertEqual(member.status()["tls_digest"], before)
        member.control("ALTER INSTANCE RELOAD TLS")
        self.assertEqual(member.status()["tls_digest"], digest())
        self.assertNotEqual(digest(), before)

    def test_replaced_files_are_taken_by_themselves_and_an_error_keeps_the_former_ones(self):
        member = TlsMember(1, self.directory, self.authority)
        member.flags.append("--commitd-tls-reload-interval=1")
        self.addCleanup(member.__exit__)
        member.start()
        before = member.status()["tls_digest"]
        good = pathlib.Path(member.certificate).read_bytes()
        pathlib.Path(member.certificate).write_text("no certificate")
        wait_until(lambda: "cannot be used" in member.log_text(), "the log says that the file cannot be used")
        self.assertEqual(member.status()["tls_digest"], before)
        pathlib.Path(member.certificate).write_bytes(good)
        certificate, key = self.authority.sign("member-1")  # at the same paths
        self.assertEqual((certificate, key), (member.certificate, member.key))
        wait_until(lambda: member.status()["tls_digest"] != before, "the new certificate is in use")

    def test_without_certificates_of_its_own_it_does_not_follow_by_name(self):
        member = Member(5, os.path.join(self.directory, "operator-password"))
        member.flags.append("--tls-version=")
        self.addCleanup(member.__exit__)
        member.start()
        member.control("ALTER INSTANCE INITIALIZE")
        member.fence(1)
        follow = (f"ALTER INSTANCE FOLLOW EPOCH 1 SOURCE_HOST 'h' SOURCE_PORT 1 SOURCE_UUID '{member.uuid}' SOURCE_USER 'u' "
                  "SOURCE_PASSWORD 'p' SOURCE_SSL_NAME 'n'")
        self.assertEqual(code_of(lambda: member.control(follow)), 1210)
        self.assertEqual(member.status()["tls_digest"], "")


if __name__ == "__main__":
    unittest.main()
