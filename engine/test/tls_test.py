"""TLS with clients that are not ours: the mariadb command line client, PyMySQL and Python's ssl module."""

import contextlib
import os
import pathlib
import shutil
import ssl
import struct
import unittest

import pymysql

from commitd_process import Commitd
from raw_client import CAPABILITIES, SSL, RawClient


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd()
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def file(self, name):
        return os.path.join(self.server.datadir, name)

    def connect(self, user="root", **options):
        options.setdefault("ssl_ca", self.file("ca.pem"))
        options.setdefault("ssl_verify_cert", True)
        return self.server.connect(user, **options)

    def status(self, connection):
        with connection.cursor() as cursor:
            cursor.execute("SHOW STATUS LIKE 'Ssl\\_%'")
            return dict(cursor.fetchall())

    def refused(self, number, **options):
        with self.assertRaises(pymysql.MySQLError) as raised:
            self.connect(**options)
        self.assertEqual(raised.exception.args[0], number, raised.exception)

    def test_the_certificate_of_the_first_start_names_this_host_and_is_checked(self):
        with contextlib.closing(self.connect(ssl_verify_identity=True)) as connection:
            status = self.status(connection)
        self.assertEqual(status["Ssl_version"], "TLSv1.3")
        self.assertTrue(status["Ssl_cipher"])
        self.assertGreater(int(status["Ssl_accepts"]), 0)
        self.assertIn("GMT", status["Ssl_server_not_after"])
        with contextlib.closing(self.server.connect()) as plain:
            self.assertEqual(self.status(plain)["Ssl_cipher"], "")

    def test_the_mariadb_client_logs_in_checks_the_certificate_and_loads(self):
        done = self.server.client("mariadb", "--ssl-ca=" + self.file("ca.pem"), "--ssl-verify-server-cert",
                                  "--batch", "--skip-column-names", "-e",
                                  "SHOW STATUS LIKE 'Ssl_version'; SELECT REPEAT('x', 100000)")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("Ssl_version\tTLSv1."), done.stdout[:80])
        self.assertIn("x" * 100000, done.stdout)

    def test_accounts_require_what_they_say(self):
        self.server.query("CREATE USER secret@'%', known@'%' REQUIRE SSL")
        self.server.query("ALTER USER known@'%' REQUIRE X509")
        for user in ("secret", "known"):
            with self.assertRaises(pymysql.MySQLError) as raised:
                self.server.connect(user)
            self.assertEqual(raised.exception.args[0], 1045)
        self.connect("secret").close()
        self.refused(1045, user="known")
        self.connect("known", ssl_cert=self.file("client-cert.pem"), ssl_key=self.file("client-key.pem")).close()
        self.server.query("ALTER USER secret@'%' REQUIRE NONE")
        self.server.connect("secret").close()

    def test_require_secure_transport_is_live_and_spares_the_unix_socket(self):
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SET GLOBAL require_secure_transport = ON")
            try:
                with self.assertRaises(pymysql.MySQLError) as raised:
                    self.server.connect()
                self.assertEqual(raised.exception.args[0], 3159)
                pymysql.connect(unix_socket=self.server.socket, user="root").close()
                self.connect().close()
            finally:
                cursor.execute("SET GLOBAL require_secure_transport = OFF")

    def test_a_reload_takes_new_files_and_an_error_keeps_the_old(self):
        with Commitd() as other:
            for name in ("ca.pem", "server-cert.pem", "server-key.pem"):
                shutil.copy(self.file(name), self.file(name + ".old"))
                shutil.copy(os.path.join(other.datadir, name), self.file(name))
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            try:
                with self.assertRaises(pymysql.MySQLError):
                    self.connect()  # the new CA does not know the old certificate, which is still in use
                cursor.execute("ALTER INSTANCE RELOAD TLS")
                self.connect().close()
                with open(self.file("server-key.pem"), "w") as broken:
                    broken.write("no key\n")
                with self.assertRaises(pymysql.MySQLError) as raised:
                    cursor.execute("ALTER INSTANCE RELOAD TLS")
                self.assertEqual(raised.exception.args[0], 3888)
                self.connect().close()
            finally:
                for name in ("ca.pem", "server-cert.pem", "server-key.pem"):
                    shutil.move(self.file(name + ".old"), self.file(name))
                cursor.execute("ALTER INSTANCE RELOAD TLS")
        self.connect().close()

    def test_what_somebody_injects_behind_the_request_for_tls_is_never_a_login(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with RawClient(self.server.port) as client:
            client.receive()
            request = struct.pack("<IIB23s", CAPABILITIES | SSL, 1 << 24, 45, b"")
            injected = client.login_packet()
            packet = lambda sequence, payload: struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload
            client.socket.sendall(packet(1, request) + packet(2, injected))
            with self.assertRaises(OSError):  # the handshake gets the injected bytes, and fails
                context.wrap_socket(client.socket)

    def test_old_versions_are_refused(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(pymysql.MySQLError):
            self.server.connect(ssl=context)

    def test_without_versions_there_is_no_tls(self):
        with Commitd("--tls-version=") as server:
            self.assertEqual(server.query("SELECT @@have_ssl"), (("DISABLED",),))
            with contextlib.closing(server.connect(ssl_ca=self.file("ca.pem"))) as connection:  # goes on without
                self.assertEqual(self.status(connection)["Ssl_cipher"], "")

    def test_certificates_survive_a_restart(self):
        with Commitd() as server:
            certificate = pathlib.Path(server.datadir, "server-cert.pem")
            before = certificate.read_text()
            self.assertEqual(server.terminate(), 0)
            server.start()
            self.assertEqual(certificate.read_text(), before)


if __name__ == "__main__":
    unittest.main()
