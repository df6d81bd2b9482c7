#!/usr/bin/env python3
"""Thousands of statements on commitd and on a MariaDB beside it: rows, counts, types, errors and warnings must be the same.

differential/accepted.py lists what may differ, and why. DIFFERENTIAL_SEED=n and DIFFERENTIAL_STATEMENTS=n choose other statements and how many."""

import collections
import contextlib
import os
import shutil
import unittest

from commitd_process import Commitd
from differential.accepted import ACCEPTED
from differential.compare import aspects, only
from differential.servers import MariaDB, Session
from differential.statements import CHANGED, SCHEMA, Statements

USUAL = (20261121, 3000)
SEED = int(os.environ.get("DIFFERENTIAL_SEED", USUAL[0]))
COUNT = int(os.environ.get("DIFFERENTIAL_STATEMENTS", USUAL[1]))
STRICT = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
LENIENT = "NO_ENGINE_SUBSTITUTION"
SHOWN = int(os.environ.get("DIFFERENTIAL_SHOWN", "8"))

Difference = collections.namedtuple("Difference", "number kind aspects statement mariadb commitd")

# Each test makes a MariaDB server anew.
RUNS_ALONE = True


class DifferentialTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not shutil.which("mariadb-install-db"):
            self.skipTest("there is no MariaDB: make -C engine test-deps")
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        commitd, mariadb = stack.enter_context(Commitd()), stack.enter_context(MariaDB())
        self.sessions = [Session(mariadb.port), Session(commitd.port)]
        for session in self.sessions:
            stack.callback(session.close)
        self.number, self.differences, self.used = 0, [], collections.Counter()
        for statement in ("CREATE DATABASE difference CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE difference",
                          "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET time_zone = '+00:00'", "SET group_concat_max_len = 1048576"):
            self.on_both(statement)
        self.assertFalse(self.sessions[0].run("SET max_error_count = 1024").error)  # MySQL's default; MariaDB's is 64

    def on_both(self, statement):
        """Fails at once: what the other statements stand on."""
        for outcome in [session.run(statement) for session in self.sessions]:
            self.assertFalse(outcome.error, f"{statement}: {outcome}")

    def compare(self, kind, statement):
        """What differs; noted when it should not."""
        mariadb, commitd = (session.run(statement) for session in self.sessions)
        differing = left = aspects(statement, mariadb, commitd)
        for accepted in ACCEPTED:
            if accepted.aspects & set(left) and accepted.matches(statement, mariadb, commitd):
                self.used[accepted.name] += 1
                left = [aspect for aspect in left if aspect not in accepted.aspects]
        if left:
            self.differences.append(Difference(self.number, kind, left, statement, mariadb, commitd))
        return differing

    def compare_change(self, kind, table, statement):
        """After a change both tables hold the same. Both go on empty when they do not, or need not because the change failed on one."""
        order = CHANGED[table]
        query = f"SELECT * FROM {table}" + (f" ORDER BY {order}" if order else "")
        if "error" in self.compare(kind, statement) or self.compare("table after", f"{query} /* after: {statement} */"):
            self.on_both(f"TRUNCATE TABLE {table}")

    def test_same_answers(self):
        statements = Statements(SEED)
        for statement in SCHEMA:
            self.on_both(statement)
        self.set_mode(LENIENT)
        for statement in statements.data():
            self.compare("data", statement)
        for table in ("nums", "strs", "times", "people", "teams"):
            self.compare("data", f"SELECT * FROM {table}")
        for self.number in range(1, COUNT + 1):  # statements, for the message
            if self.number % 200 == 1:
                self.set_mode(LENIENT if self.number // 200 % 4 == 3 else STRICT)
            if self.number % 3:
                self.compare(*statements.query())
            else:
                self.compare_change(*statements.change())
        self.report()

    def test_rows_compared_behind_outer_joins(self):
        """(a, b) <> (c, d) is a <> c OR b <> d, also where a row of NULLs stands in for b: MariaDB is asked with AND and OR, which it answers rightly."""
        for statement in ("CREATE TABLE l (id INT PRIMARY KEY, a INT, b VARCHAR(5))", "CREATE TABLE r (k INT PRIMARY KEY, a INT, b VARCHAR(5))",
                          "INSERT INTO l VALUES (1, 1, 'x'), (2, 2, NULL), (3, NULL, 'y'), (4, 4, 'z'), (5, 3, 'x'), (6, NULL, NULL)",
                          "INSERT INTO r VALUES (1, 1, 'q'), (2, 3, NULL), (3, NULL, 'x'), (4, 4, 'z'), (5, 9, 'x')"):
            self.on_both(statement)
        mariadb, commitd = self.sessions
        rows = 0
        for join in ("l LEFT JOIN r ON l.a = r.a", "l RIGHT JOIN r ON l.a = r.a", "l LEFT JOIN r ON l.b = r.b AND r.k > 2"):
            for (a, b), (c, d) in ((("l.a", "r.b"), ("3", "'x'")), (("r.a", "l.b"), ("4", "'x'")), (("l.a", "l.b"), ("r.a", "r.b")), (("r.a", "r.b"), ("NULL", "'x'")), (("r.k", "l.a"), ("l.a", "r.k"))):
                written_out = {"=": f"{a} = {c} AND {b} = {d}", "<>": f"{a} <> {c} OR {b} <> {d}", "<=>": f"{a} <=> {c} AND {b} <=> {d}",
                               **{op: f"{a} {op[0]} {c} OR {a} = {c} AND {b} {op} {d}" for op in ("<", "<=", ">", ">=")}}
                for operator, condition in written_out.items():
                    query = f"SELECT id, k FROM {join} WHERE %s ORDER BY id, k"
                    right = mariadb.run(query % condition)
                    compared = commitd.run(query % f"({a}, {b}) {operator} ({c}, {d})")
                    self.assertEqual((compared.error, compared.rows), (0, right.rows), f"{join}: ({a}, {b}) {operator} ({c}, {d})")
                    rows += len(right.rows)
        self.assertGreater(rows, 100, "the comparisons are about something")

    def test_bits_where_texts_are_wanted(self):
        for statement in ("CREATE TABLE bits (id INT PRIMARY KEY, b BIT(12), s BIT(8), one BIT, v VARCHAR(9))",
                          "INSERT INTO bits VALUES (1, b'100000101', 65, 1, 'A'), (2, NULL, 0, 0, ''), (3, b'11000011001', x'42', b'1', 'aB')"):
            self.on_both(statement)
        for expressions in ("LENGTH(b), LENGTH(s), LENGTH(one)", "CHAR_LENGTH(b), BIT_LENGTH(b), OCTET_LENGTH(s)", "CONCAT(b), CONCAT(s, 'x')", "CONCAT(s, 1, b)",
                            "CONCAT_WS('-', s, s)", "HEX(CONCAT(b)), HEX(b), HEX(s)", "ASCII(s), ORD(b)", "UPPER(s), LOWER(s)", "LEFT(s, one), RIGHT(b, 1), SUBSTRING(b, 2)",
                            "REVERSE(b), REPEAT(s, 2), REPEAT('ab', one)", "MD5(s), CRC32(s), SHA1(b)", "TRIM(s), LPAD(s, 3, 'x')", "REPLACE(v, s, 'Z'), LOCATE(s, v), INSTR(v, s)",
                            "STRCMP(s, 'A'), FIND_IN_SET('A', s), QUOTE(s)", "TO_BASE64(b), UNHEX(s), SOUNDEX(s)", "CAST(s AS CHAR), CAST(b AS BINARY), CAST(s AS SIGNED)",
                            "CONVERT(s USING utf8mb4)", "s LIKE 'A', s REGEXP 'A', v LIKE s", "GROUP_CONCAT(s)", "CONCAT(s + 0), s = 65, b + one", "INSERT(s, 1, 0, 'x'), SUBSTRING_INDEX(s, 'x', 1)"):
            self.compare("bits", f"SELECT {expressions} FROM bits" + ("" if "GROUP_CONCAT" in expressions else " ORDER BY id"))
        self.compare("bits", "SELECT CONCAT(x.s) FROM (SELECT s FROM bits) x")
        self.assertFalse(self.differences, self.described())

    def test_sizes_that_a_cast_may_have(self):
        for target in ("CHAR(4294967295)", "CHAR(4294967296)", "CHAR(4294967297)", "BINARY(4294967297)", "DECIMAL(65)", "DECIMAL(66)", "DECIMAL(4294967306)", "DECIMAL(10,40)",
                       "DECIMAL(10,257)", "DECIMAL(3,5)", "DECIMAL(3,3)", "TIME(6)", "TIME(7)", "TIME(4294967297)", "DATETIME(4294967296)"):
            for operand in ("'1'", "NULL"):
                self.compare("cast", f"SELECT CAST({operand} AS {target})")
                self.compare("cast", f"SELECT CONVERT({operand}, {target})")
        self.assertFalse(self.differences, self.described())

    def test_answers_that_were_wrong(self):
        for statement in ("CREATE TABLE t (a INT, b INT, e ENUM('y', 'x', 'z'), l VARCHAR(9) CHARACTER SET latin1, u BIGINT UNSIGNED, f FLOAT(7,3), g DOUBLE(10,2))",
                          "INSERT INTO t VALUES (3, 1, 'x', 'é€', '18446744073709551615', 1.23456, 2.345), (1, 1, 'y', 'A', '9223372036854775808', 0, 1), (2, 2, 'z', '', '2.5', -1, 3), (4, 2, NULL, NULL, 0, 0, 0)"):
            self.on_both(statement)
        for statement in ("SELECT * FROM t ORDER BY a", "INSERT INTO t (u) VALUES ('18446744073709551616')", "INSERT INTO t (u) VALUES ('1e20')", "INSERT INTO t (f) VALUES (12345.6)",
                          "(SELECT a FROM t ORDER BY a LIMIT 2) ORDER BY a DESC", "(SELECT a FROM t ORDER BY a DESC LIMIT 3) LIMIT 1", "(SELECT a FROM t ORDER BY a LIMIT 3) ORDER BY a DESC LIMIT 2",
                          "SELECT (SELECT SUM(o.a)) FROM t o", "SELECT b FROM t o GROUP BY b HAVING (SELECT MAX(o.a)) > 3 ORDER BY b",
                          "SELECT a FROM t WHERE a IN ((SELECT a FROM t WHERE a < 3)) ORDER BY a", "SELECT a FROM t WHERE a NOT IN ((SELECT a FROM t WHERE a < 3)) ORDER BY a",
                          "SELECT CASE e WHEN 1 THEN 'one' WHEN 'x' THEN 'ex' ELSE 'no' END, NULLIF(e, 1), NULLIF(e, 'x') FROM t ORDER BY a",
                          "SELECT e, e + 0, e = 1 FROM (SELECT e FROM t WHERE e IS NOT NULL) x ORDER BY e",
                          "SELECT LENGTH(l), CHAR_LENGTH(l), HEX(l), MD5(l), HEX(CAST(l AS BINARY)), CHARSET(l) FROM t ORDER BY a",
                          "SELECT HEX(CONVERT('é' USING latin1)), CHARSET(CONVERT('a' USING latin1)), HEX(CAST('é' AS CHAR CHARACTER SET latin1)), _utf8mb4 0x41, CHARSET(_utf8mb4 0x41), HEX(_latin1 0xE9)",
                          "SELECT 'a' LIKE BINARY 'A', 'a' LIKE 'A' COLLATE utf8mb4_bin, 'a' REGEXP BINARY 'A', 'a' REGEXP 'A' COLLATE utf8mb4_bin, 'a' IN ('A', 'b' COLLATE utf8mb4_bin)",
                          "SELECT 'b' BETWEEN 'A' AND 'C' COLLATE utf8mb4_bin", "SELECT 'a' COLLATE utf8mb4_bin = 'a' COLLATE utf8mb4_general_ci",
                          "SELECT HOUR('10:11:12'), MINUTE(101112), SECOND(101112.5), HOUR('-10:11:12'), HOUR('272:59:59'), HOUR(20200101101112), EXTRACT(MINUTE_SECOND FROM '10:11:12')",
                          "SELECT CAST(200102 AS DATE), CAST(20200102030405 AS DATETIME), CAST(101112 AS TIME), CAST(CAST('2020-01-02 03:04:05.678901' AS DATETIME(6)) AS DECIMAL(30,6))",
                          "SELECT CAST('2020-01-02 03:04:05.678901' AS DATETIME(6)) + 0, CAST(TIME'10:11:12' AS DATE) = CURRENT_DATE", "SELECT DATE'2020-02-30'", "SELECT TIME'25:61:00'",
                          "SELECT CAST(0x41 AS SIGNED), CASE 0x41 WHEN 65 THEN 'n' ELSE 's' END, CHAR(0x41), SUBSTRING('abc', 0x02), REPEAT('a', 0x03)",
                          "SELECT RAND(1), RAND(3), RAND(0), RAND(-5)", "SELECT RAND(1) FROM t", "SELECT RAND(a) FROM t ORDER BY a",
                          "SELECT FORMAT(1234567.891, 2, 'de_DE'), FORMAT(12345678.9, 1, 'en_IN'), FORMAT(12345.6, 0, 'de_CH')", "SELECT FORMAT(1.5, 1, 'xx_XX')",
                          "SELECT 123456789012345678901234567890 / 7, 1 / 3.0000000000000000000000000001", "SELECT GET_LOCK('a', 0), IS_FREE_LOCK('a'), RELEASE_LOCK('a'), RELEASE_LOCK('a')"):
            self.compare("once wrong", statement)
        self.assertFalse(self.differences, self.described())

    def test_selected_literals_of_bytes_are_numbers_for_columns_of_numbers(self):
        """As in MySQL; of MariaDB's only b'…' are."""
        self.on_both("CREATE TABLE stored (id INT AUTO_INCREMENT PRIMARY KEY, i INT, d DECIMAL(10,2), f DOUBLE, v VARCHAR(5), b BIT(8))")
        for column, literal in (("i", "b'1000001'"), ("d", "b'1000001'"), ("f", "b'1000001'"), ("v", "b'1000001'"), ("v", "x'41'"), ("b", "x'41'")):
            self.compare("stored", f"INSERT INTO stored ({column}) SELECT {literal}")
        self.compare("stored", "SELECT * FROM stored ORDER BY id")
        self.assertFalse(self.differences, self.described())

    def set_mode(self, mode):
        mariadb, commitd = self.sessions
        self.assertFalse(commitd.run(f"SET sql_mode = '{mode}'").error)
        # MySQL rounds fractions of a second that a column has no room for; MariaDB does so when told to.
        self.assertFalse(mariadb.run(f"SET sql_mode = '{mode},TIME_ROUND_FRACTIONAL'").error)

    def described(self):
        return "\n".join(f"[{d.number}, {d.kind}: {', '.join(d.aspects)}] {d.statement}\n    MariaDB: {only(d.mariadb, d.commitd)}\n    commitd: {only(d.commitd, d.mariadb)}"
                         for d in self.differences[:SHOWN])

    def report(self):
        kinds = collections.Counter((difference.kind, *difference.aspects) for difference in self.differences)
        if self.differences:
            first = self.differences[0].number
            self.fail(f"{len(self.differences)} statements are answered differently: {dict(kinds)}\n{self.described()}\n"
                      f"The first again: DIFFERENTIAL_SEED={SEED} DIFFERENTIAL_STATEMENTS={first} python3 -m unittest differential_test")
        if (SEED, COUNT) == USUAL:
            unused = [accepted.name for accepted in ACCEPTED if not accepted.rare and not self.used[accepted.name]]
            self.assertFalse(unused, "accepted differences that no longer occur: remove them from differential/accepted.py")


if __name__ == "__main__":
    unittest.main()
