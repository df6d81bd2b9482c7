"""The options of CHANGE REPLICATION SOURCE TO: each is obeyed or refused, and shown as it is."""

import datetime
import os
import unittest

import pymysql
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from commitd_process import code_of, free_port, wait_until
from pair import PairTest

NOT_SUPPORTED, SYNTAX, AUTO_POSITION, NO_SUCH_CHANNEL = 1235, 1064, 1776, 3074
NO_CONNECTION, TLS_ERROR, TLS_SETUP, ACCESS_DENIED, READ_ONLY = 2003, 2026, 3888, 1045, 1290

REFUSED = {
    "SOURCE_BIND = 'eth0'": "SOURCE_BIND",
    "NETWORK_NAMESPACE = 'n'": "NETWORK_NAMESPACE",
    "RELAY_LOG_FILE = 'r', RELAY_LOG_POS = 4": "RELAY_LOG_FILE",
    "SOURCE_ZSTD_COMPRESSION_LEVEL = 3": "SOURCE_ZSTD_COMPRESSION_LEVEL",
    "SOURCE_COMPRESSION_ALGORITHMS = 'zstd'": "SOURCE_COMPRESSION_ALGORITHMS = zstd",
    "PRIVILEGE_CHECKS_USER = 'u'@'%'": "PRIVILEGE_CHECKS_USER",
    "REQUIRE_ROW_FORMAT = 0": "REQUIRE_ROW_FORMAT = 0",
    "GTID_ONLY = 0": "GTID_ONLY = 0",
    "REQUIRE_TABLE_PRIMARY_KEY_CHECK = ON": "REQUIRE_TABLE_PRIMARY_KEY_CHECK = ON",
    "SOURCE_CONNECTION_AUTO_FAILOVER = 1": "SOURCE_CONNECTION_AUTO_FAILOVER = 1",
    "IGNORE_SERVER_IDS = (1, 2)": "IGNORE_SERVER_IDS",
    "SOURCE_HEARTBEAT_PERIOD = 0": "SOURCE_HEARTBEAT_PERIOD = 0",
    "SOURCE_HOST = 'h' FOR CHANNEL 'other'": "multi-source replication",
}
MALFORMED = ("SOURCE_HOSTS = 'h'", "SOURCE_HOST = 3306", "SOURCE_PORT = '3306'", "SOURCE_SSL", "SOURCE_SSL_CA = NULL",
             "HOST = 'h'", "SOURCE_HEARTBEAT_PERIOD = 'soon'", "SOURCE_HOST = 'h' FOR CHANNEL")


class ReplicaOptionsTest(PairTest):
    def change(self, options):
        self.replica.query("CHANGE REPLICATION SOURCE TO " + options)

    def begin(self, user, password="", options="SOURCE_SSL = 0"):
        self.change(f"SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {self.source.port}, SOURCE_USER = '{user}', "
                    f"SOURCE_PASSWORD = '{password}', SOURCE_AUTO_POSITION = 1, {options}")
        self.replica.query("START REPLICA")

    def again(self, options):
        self.replica.query("STOP REPLICA")
        self.change(options)
        self.replica.query("START REPLICA")

    def account(self, user, condition=""):
        for sql in (f"CREATE USER {user} IDENTIFIED WITH caching_sha2_password BY 'secret' {condition}",
                    f"GRANT REPLICATION SLAVE ON *.* TO {user}"):
            self.source.query(sql)

    def wait_for_error(self, number):
        wait_until(lambda: int(self.status()["Last_IO_Errno"]) == number, f"error {number} is shown")
        return self.status()["Last_IO_Error"]

    def file(self, name, server=None):
        return os.path.join((server or self.source).datadir, name)

    def refusal(self, sql):
        with self.assertRaises(pymysql.MySQLError) as raised:
            self.replica.query(sql)
        return raised.exception.args

    def test_an_option_that_is_not_there_is_refused_by_name(self):
        for option, name in REFUSED.items():
            number, text = self.refusal("CHANGE REPLICATION SOURCE TO " + option)
            self.assertEqual(number, NOT_SUPPORTED, option)
            self.assertIn(name, text)
        for option in MALFORMED:
            self.assertEqual(self.refusal("CHANGE REPLICATION SOURCE TO " + option)[0], SYNTAX, option)
        for sql, name in (("START REPLICA USER = 'u'", "START REPLICA USER"),
                          ("START REPLICA UNTIL RELAY_LOG_FILE = 'r.000001', RELAY_LOG_POS = 4", "START REPLICA UNTIL RELAY_LOG_FILE")):
            number, text = self.refusal(sql)
            self.assertEqual(number, NOT_SUPPORTED, sql)
            self.assertIn(name, text)
        self.assertEqual(self.replica.query("SHOW REPLICA STATUS"), ())
        self.change("SOURCE_AUTO_POSITION = 1")
        self.assertEqual(self.refusal("CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE = 'binlog.000001'")[0], AUTO_POSITION)

    def test_there_is_one_channel_and_it_has_no_name(self):
        self.change("SOURCE_HOST = '127.0.0.1', SOURCE_AUTO_POSITION = 1 FOR CHANNEL ''")
        for statement in ("START REPLICA", "STOP REPLICA", "STOP REPLICA SQL_THREAD", "SHOW REPLICA STATUS", "SHOW RELAYLOG EVENTS",
                          "SHOW RELAYLOG EVENTS LIMIT 1", "FLUSH RELAY LOGS", "CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d)", "RESET REPLICA",
                          "RESET REPLICA ALL"):
            with self.subTest(statement):
                self.assertEqual(self.refusal(f"{statement} FOR CHANNEL 'other'"), (NO_SUCH_CHANNEL, "Replica channel 'other' does not exist."))
                self.replica.query(f"{statement} FOR CHANNEL ''")
        self.assertEqual(self.replica.query("SHOW REPLICA STATUS"), ())

    def test_what_says_how_it_is_here_anyway_is_taken(self):
        self.change("SOURCE_HOST = '127.0.0.1', SOURCE_AUTO_POSITION = 1, REQUIRE_ROW_FORMAT = 1, GTID_ONLY = 1, "
                    "PRIVILEGE_CHECKS_USER = NULL, REQUIRE_TABLE_PRIMARY_KEY_CHECK = STREAM, "
                    "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS = OFF, SOURCE_CONNECTION_AUTO_FAILOVER = 0, "
                    "SOURCE_COMPRESSION_ALGORITHMS = 'uncompressed', IGNORE_SERVER_IDS = (), SOURCE_DELAY = 0 FOR CHANNEL ''")
        self.assertEqual(self.status()["Source_Host"], "127.0.0.1")

    def test_the_status_shows_each_option_and_what_is_not_named_stays(self):
        self.change("SOURCE_HOST = 'db-0', SOURCE_PORT = 3307, SOURCE_USER = 'repl', SOURCE_AUTO_POSITION = 1, SOURCE_SSL = 1, "
                    "SOURCE_SSL_CA = '/ca', SOURCE_SSL_CAPATH = '/capath', SOURCE_SSL_CERT = '/cert', SOURCE_SSL_KEY = '/key', "
                    "SOURCE_SSL_CRL = '/crl', SOURCE_SSL_CRLPATH = '/crlpath', SOURCE_SSL_CIPHER = 'AES', "
                    "SOURCE_SSL_VERIFY_SERVER_CERT = 1, SOURCE_TLS_VERSION = 'TLSv1.3', SOURCE_TLS_CIPHERSUITES = NULL, "
                    "GET_MASTER_PUBLIC_KEY = 1, MASTER_PUBLIC_KEY_PATH = '/public', MASTER_CONNECT_RETRY = 7, "
                    "SOURCE_RETRY_COUNT = 3, SOURCE_HEARTBEAT_PERIOD = 2.5")
        self.change("SOURCE_USER = 'other'")
        expected = {
            "Source_Host": "db-0", "Source_Port": "3307", "Source_User": "other", "Auto_Position": "1",
            "Source_SSL_Allowed": "Yes", "Source_SSL_CA_File": "/ca", "Source_SSL_CA_Path": "/capath",
            "Source_SSL_Cert": "/cert", "Source_SSL_Key": "/key", "Source_SSL_Crl": "/crl", "Source_SSL_Crlpath": "/crlpath",
            "Source_SSL_Cipher": "AES", "Source_SSL_Verify_Server_Cert": "Yes", "Source_TLS_Version": "TLSv1.3",
            "Get_Source_public_key": "1", "Source_public_key_path": "/public", "Connect_Retry": "7", "Source_Retry_Count": "3",
        }
        self.assertEqual({name: self.status()[name] for name in expected}, expected)
        self.replica.kill()
        self.replica.start()
        self.assertEqual({name: self.status()[name] for name in expected}, expected)

    def test_tls_is_used_and_checks_who_the_source_is(self):
        self.account("tls", "REQUIRE SSL")
        self.source.query("CREATE DATABASE d")
        self.begin("tls", "secret", "GET_SOURCE_PUBLIC_KEY = 1")
        self.wait_for_error(ACCESS_DENIED)  # the account wants TLS
        self.again("SOURCE_SSL = 1")
        self.wait_for_all()
        self.again(f"SOURCE_SSL_CA = '{self.file('ca.pem')}', SOURCE_SSL_VERIFY_SERVER_CERT = 1")
        self.source.query("CREATE DATABASE e")
        self.wait_for_all()
        self.assertEqual(self.status()["Source_UUID"], self.source.query("SELECT @@server_uuid")[0][0])
        self.assertEqual(self.status()["Source_Server_Id"], "1")

        self.again(f"SOURCE_SSL_CA = '{self.file('ca.pem', self.replica)}'")  # has not signed the source's
        self.assertIn("certificate verify failed", self.wait_for_error(TLS_ERROR))
        self.again("SOURCE_SSL_CA = ''")
        self.assertIn("CA certificate is required", self.wait_for_error(TLS_SETUP))
        self.again("SOURCE_SSL_CA = '/not/there'")
        self.assertIn("/not/there", self.wait_for_error(TLS_SETUP))
        self.again(f"SOURCE_SSL_CA = '{self.file('ca.pem')}', SOURCE_SSL_CRL = '{self.list_that_revokes('server-cert.pem')}'")
        self.assertIn("certificate verify failed", self.wait_for_error(TLS_ERROR))
        self.again(f"SOURCE_SSL_CRL = '{self.list_that_revokes('client-cert.pem')}'")
        self.source.query("CREATE DATABASE f")
        self.wait_for_all()

    def list_that_revokes(self, name):
        with open(self.file("ca.pem"), "rb") as ca, open(self.file("ca-key.pem"), "rb") as key, open(self.file(name), "rb") as one:
            issuer = x509.load_pem_x509_certificate(ca.read())
            signer = serialization.load_pem_private_key(key.read(), None)
            serial = x509.load_pem_x509_certificate(one.read()).serial_number
        now = datetime.datetime.now(datetime.timezone.utc)
        revoked = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build()
        listed = (x509.CertificateRevocationListBuilder().issuer_name(issuer.subject).last_update(now - datetime.timedelta(days=1))
                  .next_update(now + datetime.timedelta(days=1)).add_revoked_certificate(revoked).sign(signer, hashes.SHA256()))
        path = os.path.join(self.replica.directory, name + ".crl")
        with open(path, "wb") as file:
            file.write(listed.public_bytes(serialization.Encoding.PEM))
        return path

    def test_the_receiver_gives_up_after_so_many_retries(self):
        self.change(f"SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {free_port()}, SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1, "
                    "SOURCE_RETRY_COUNT = 2")
        self.replica.query("START REPLICA")
        wait_until(lambda: self.status()["Replica_IO_Running"] == "No", "the receiver has given up")
        self.assertEqual(int(self.status()["Last_IO_Errno"]), NO_CONNECTION)
        self.replica.query("START REPLICA")  # and tries again
        wait_until(lambda: self.status()["Replica_IO_Running"] == "No", "it has given up again")
        self.source.query("CREATE DATABASE d")
        self.again(f"SOURCE_PORT = {self.source.port}")
        self.wait_for_all()
        self.assertEqual(code_of(lambda: self.replica.query("CREATE DATABASE e")), READ_ONLY)


if __name__ == "__main__":
    unittest.main()
