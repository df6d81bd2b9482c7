"""mysqldump (Debian's mariadb-dump) writes a schema with every type out, and what it wrote makes it again."""

import subprocess
import unittest

from commitd_process import Commitd

SCHEMA = r"""
CREATE DATABASE every CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
USE every;
CREATE TABLE types (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, m MEDIUMINT,
  mu MEDIUMINT UNSIGNED, i INT, b BIGINT, bo BOOL DEFAULT TRUE, d DECIMAL(30,10), f FLOAT, db DOUBLE, bt BIT(13), c CHAR(10),
  vc VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, bi BINARY(5), vb VARBINARY(70), tx TEXT, mt MEDIUMTEXT,
  lt LONGTEXT, tt TINYTEXT, bl BLOB, lb LONGBLOB, dd DATE, ti TIME(3), dt DATETIME(6),
  ts TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, y YEAR, e ENUM('a','b''c','ü'),
  st SET('x','y','z') DEFAULT 'x,z', l1 VARCHAR(30) CHARACTER SET latin1 DEFAULT 'é', js JSON,
  UNIQUE KEY u (vc), KEY k (i, b), KEY px (tx(10)), CONSTRAINT small CHECK (t < 100 AND c <> 'it''s "no"')
) COMMENT='it''s all of them' AUTO_INCREMENT=5;
INSERT INTO types (t,tu,s,m,mu,i,b,d,f,db,bt,c,vc,bi,vb,tx,mt,lt,tt,bl,lb,dd,ti,dt,ts,y,e,st,l1,js) VALUES
  (-128,255,-32768,-8388608,16777215,-2147483648,-9223372036854775808,-12345678901234567890.0123456789,1.5e-10,
   -2.2250738585072014e-308,b'1010101010101','ch ','v''"\\\n\0x',x'0001ff',x'00ff27225c0a0d1a','tëxt','😀',REPEAT('long',5000),
   '',x'00',REPEAT(x'ff00',1000),'0001-01-01','-838:59:59.000','9999-12-31 23:59:59.999999','2038-01-19 03:14:07',1901,
   'b''c','y,z','é','{"it''s": [1.50, "\\"ü\\n", null, {}]}'),
  (NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,
   NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE no_key (a INT, b VARCHAR(10));
INSERT INTO no_key VALUES (1,'a'),(1,'a'),(2,NULL);
CREATE TABLE empty_one (a INT PRIMARY KEY);
CREATE DATABASE other;
CREATE TABLE other.`odd ``name` (`a column` INT PRIMARY KEY, `key` INT);
INSERT INTO other.`odd ``name` VALUES (1, 2);
"""
TABLES = ("every.types", "every.no_key", "every.empty_one", "other.`odd ``name`")


class DumpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd()
        cls.server.start()
        cls.load(SCHEMA)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    @classmethod
    def load(cls, text):
        done = subprocess.run(["mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={cls.server.port}",
                               "--user=root", "--default-character-set=utf8mb4"], input=text, text=True, errors="surrogateescape", capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr

    def state(self):
        """What must be the same afterwards: definitions and checksums."""
        checksums = self.server.query("CHECKSUM TABLE " + ", ".join(TABLES))
        assert all(checksum for _, checksum in checksums if "empty" not in _), checksums
        return checksums, [self.server.query(f"SHOW CREATE TABLE {table}") for table in TABLES]

    def dump(self, *arguments):
        done = self.server.client("mysqldump", *arguments, errors="surrogateescape")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def reload(self, text):
        before = self.state()
        for db in ("every", "other"):
            self.server.query(f"DROP DATABASE {db}")
        self.load(text)
        self.assertEqual(self.state(), before)

    def test_all_databases(self):
        self.reload(self.dump("--single-transaction", "--all-databases", "--ignore-database=mysql", "--routines", "--triggers",
                              "--events"))

    def test_named_databases_with_default_options(self):
        self.reload(self.dump("--databases", "every", "other"))

    def test_hexadecimal_and_one_row_per_statement(self):
        self.reload(self.dump("--single-transaction", "--hex-blob", "--skip-extended-insert", "--complete-insert",
                              "--databases", "every", "other"))

    def test_xml(self):
        self.assertIn('<field name="b">a</field>', self.dump("--single-transaction", "--xml", "every"))


if __name__ == "__main__":
    unittest.main()
