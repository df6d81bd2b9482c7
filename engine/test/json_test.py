"""JSON columns in the log: programs that are not ours read the documents, recovery and replay keep them."""

import contextlib
import json
import os
import subprocess
import unittest

from commitd_process import ROOT, Commitd

DOCUMENTS = [
    '{"name": "Barney", "list": [1, -2, 70000, 5000000000, 18446744073709551615, 2.5, true, false, null], "empty": [{}, []]}',
    '[]',
    '"just \\"text\\" \u00e4"',
    '-5',
    'null',
    '["' + 'x' * 70000 + '", {"k": 100000}]',  # large: offsets of four bytes
    '{' + ', '.join(f'"key{n:05d}": {n}' for n in range(6000)) + '}',
]


class JsonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd()
        cls.addClassCleanup(cls.server.__exit__)
        cls.server.start()
        with contextlib.closing(cls.server.connect(charset="utf8mb4")) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE d")
            cursor.execute("CREATE TABLE d.docs (id INT PRIMARY KEY, doc JSON, n INT)")
            for number, document in enumerate(DOCUMENTS):
                cursor.execute("INSERT INTO d.docs VALUES (%s, %s, 0)", (number, document))
            cursor.execute("INSERT INTO d.docs VALUES (100, NULL, 0), (101, JSON_ARRAY(1.50, CAST('2026-11-21' AS DATE)), 0)")
            cursor.execute("UPDATE d.docs SET doc = JSON_SET(doc, '$.name', 'Betty') WHERE id = 0")
            cursor.execute("FLUSH BINARY LOGS")

    def documents(self, server):
        with contextlib.closing(server.connect(charset="utf8mb4")) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT id, doc, JSON_TYPE(JSON_EXTRACT(doc, '$[0]')) FROM d.docs ORDER BY id")
            return cursor.fetchall()

    def test_clients_get_texts_that_mean_what_they_sent(self):
        found = {number: document for number, document, _ in self.documents(self.server)}
        for number, document in list(enumerate(DOCUMENTS))[1:]:
            self.assertEqual(json.loads(found[number]), json.loads(document))
        self.assertEqual(json.loads(found[0])["name"], "Betty")
        self.assertEqual(found[101], '[1.50, "2026-11-21"]')

    def test_go_mysql_reads_the_documents(self):
        program = ROOT / "build" / "test" / "gomysql"
        subprocess.run(["go", "build", "-o", program, "."], cwd=os.path.join(os.path.dirname(__file__), "gomysql"), check=True)
        done = subprocess.run([program, "-files=" + self.server.binlog_files()[0]], capture_output=True, text=True, timeout=180)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = json.loads(done.stdout)["tables"]["d.docs"]
        for number, document, _ in self.documents(self.server):
            if document is None:
                self.assertIsNone(rows[str(number)][1])
            elif number != 101:
                self.assertEqual(json.loads(bytes.fromhex(rows[str(number)][1])), json.loads(document), number)
        self.assertEqual(json.loads(bytes.fromhex(rows["101"][1]))[1][:10], "2026-11-21")

    def test_what_mariadb_binlog_prints_makes_the_same_documents_elsewhere(self):
        printed = subprocess.run(["mariadb-binlog", "--no-defaults", self.server.binlog_files()[0]], capture_output=True, check=True, timeout=120)
        with Commitd(server_id=2) as other:
            done = other.client("mariadb", input=printed.stdout.decode(errors="surrogateescape"), errors="surrogateescape")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.documents(other), self.documents(self.server))

    def test_replay_after_a_crash_keeps_the_documents(self):
        before = self.documents(self.server)
        self.server.kill()
        self.server.start()
        self.assertEqual(self.documents(self.server), before)

    def test_a_dump_makes_the_same_documents_again(self):
        before = self.documents(self.server)
        dump = self.server.client("mariadb-dump", "--default-character-set=utf8mb4", "--databases", "d")
        self.assertEqual((dump.returncode, dump.stderr), (0, ""))
        with Commitd() as other:
            done = other.client("mariadb", "--default-character-set=utf8mb4", input=dump.stdout)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            loaded = self.documents(other)
        # As with MySQL, text has no decimals and dates: they come back as doubles and strings.
        self.assertEqual([row for row in loaded if row[0] != 101], [row for row in before if row[0] != 101])
        self.assertEqual(json.loads(loaded[-1][1]), json.loads(before[-1][1]))


if __name__ == "__main__":
    unittest.main()
