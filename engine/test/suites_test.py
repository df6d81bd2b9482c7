"""A sample of the peers' suites (suites/README.md): files of MariaDB's beside MariaDB, and records as sqllogictest has them."""

import os
import shutil
import signal
import unittest

from commitd_process import Commitd
from differential.compare import aspects
from differential.servers import MariaDB, Outcome, Session
from suites import sqllogic
from suites.accepted import ACCEPTED
from suites.language import NotUnderstood, Reader
from suites.player import Player
from suites.run import SUITE
from suites.sample import SAMPLE

QUERIES = 300

# It makes a MariaDB server anew.
RUNS_ALONE = True

SCRIPT = r"""
# A comment; with a delimiter's sign
--disable_warnings
let $rows= 3;
let $limit= `SELECT 1 + 1`;
CREATE TABLE t (a INT, b VARCHAR(20));
while ($rows)
{
  if ($rows != 2)
  {
    eval INSERT INTO t VALUES ($rows, 'it''s; $rows');
  }
  dec $rows;
}
echo don't compare this;
SELECT a, b FROM t /* not; here */ LIMIT 9;
eval SELECT COUNT(*) = $limit FROM t;
--error ER_NO_SUCH_TABLE
SELECT * FROM missing;
delimiter |;
SELECT 1; |
delimiter ;|
connect (two,localhost,root,,test);
INSERT INTO t VALUES (4, 'two');
connection default;
disconnect two;
SELECT SUM(a) FROM t;
"""


class ReaderTest(unittest.TestCase):
    def test_blocks_and_delimiters(self):
        commands = Reader(SCRIPT).commands()
        self.assertEqual([command.name for command in commands],
                         ["let", "let", "sql", "while", "sql", "eval", "error", "sql", "sql", "connect", "sql", "connection", "disconnect", "sql"])
        self.assertEqual([command.name for command in commands[3].block], ["if", "dec"])
        self.assertEqual(commands[3].block[0].block[0].argument, "INSERT INTO t VALUES ($rows, 'it''s; $rows')")
        self.assertEqual(commands[4].argument, "SELECT a, b FROM t /* not; here */ LIMIT 9")
        self.assertEqual(commands[8].argument, "SELECT 1;")

    def test_what_it_does_not_understand_is_named(self):
        self.assertEqual([(command.name, command.argument) for command in Reader("SELECT 1;\n--change_user root\n").commands()],
                         [("sql", "SELECT 1"), ("unknown", "change_user")])
        for text, name in (("if (1)\n{\n", "a block without an end"), ("}", "a closing brace without a block")):
            with self.assertRaises(NotUnderstood) as raised:
                Reader(text).commands()
            self.assertEqual(str(raised.exception), name)


    def test_what_is_beside_the_servers_is_passed_over(self):
        text = "--exec ls\n--write_file x.sql\nSELECT 1;\nEOF\n--perl END\nprint 1;\nEND\nperl;\nprint 2;\nEOF\n--if ($a)\n{\n--send\nSELECT 2;\n}\nSELECT 3;\n"
        commands = Reader(text).commands()
        self.assertEqual([command.name for command in commands], ["if", "sql"])
        self.assertEqual([(command.name, command.argument) for command in commands[0].block], [("send", "SELECT 2")])


class RecordsTest(unittest.TestCase):
    TEXT = ("statement ok\nCREATE TABLE t(a INTEGER)\n\nskipif mysql\nstatement ok\nDROP TABLE t\n\nonlyif mysql # here\nquery I nosort\nSELECT a\nFROM t\n----\n1\n\n"
            "query IT rowsort label-1\nSELECT 1, ''\n----\n2 values hashing to 5\n\nhalt\n\nstatement error\nSELECT\n")

    def test_format(self):
        found = [(record.sql, record.types, record.sort, record.expected) for record in sqllogic.records(self.TEXT)]
        self.assertEqual(found, [("CREATE TABLE t(a INTEGER)", "", "nosort", ()), ("SELECT a\nFROM t", "I", "nosort", ("1",)),
                                 ("SELECT 1, ''", "IT", "rowsort", ("2 values hashing to 5",))])

    def test_values(self):
        rows = [(b"2", b"1.5", b""), (b"1", None, b"a\x01b")]
        self.assertEqual(sqllogic.values(rows, "IRT", "rowsort"), ["1", "NULL", "a@b", "2", "1.500", "(empty)"])
        self.assertEqual(sqllogic.values(rows, "IRT", "nosort"), ["2", "1.500", "(empty)", "1", "NULL", "a@b"])

    def test_generated_records(self):
        with Commitd() as commitd:
            commitd.query("CREATE DATABASE test")
            text = sqllogic.generated(20261124, QUERIES)
            session = Session(commitd.port, "test")
            wrong, count = sqllogic.play(text, session)
            self.assertEqual([(record.sql, str(outcome)) for record, outcome in wrong][:5], [])
            self.assertGreater(count, QUERIES)
            session.run("DELETE FROM t1 WHERE a > 170")
            queries = [record for record in sqllogic.records(text) if record.types]
            wrong = [record for record in queries if not sqllogic.as_expected(record, session.run(record.sql).rows)]
            self.assertGreater(len(wrong), QUERIES // 4, "the records tell other rows from these")
            session.close()


class AcceptedTest(unittest.TestCase):
    """What is accepted is narrow."""

    @staticmethod
    def accepted(statement, mariadb, commitd):
        return [rule.name for rule in ACCEPTED if rule.matches(statement, mariadb, commitd)]

    def test_warnings_have_the_same_numbers(self):
        row = (b"Warning", b"1292", b"a text")
        for other, names in (((b"Warning", b"1292", b"another"), ["texts of warnings"]), ((b"Warning", b"1264", b"a text"), []), ((b"Error", b"1292", b"a text"), [])):
            self.assertEqual(self.accepted("SHOW WARNINGS", Outcome(rows=(row,)), Outcome(rows=(other,))), names)

    def test_definitions_have_the_same_names(self):
        shown = lambda *columns: Outcome(rows=((b"t", b", ".join(b"`%s` int" % column for column in columns)),))
        self.assertEqual(self.accepted("SHOW CREATE TABLE t", shown(b"a", b"b"), shown(b"b", b"a")), ["SHOW CREATE TABLE"])
        self.assertEqual(self.accepted("SHOW CREATE TABLE t", shown(b"a", b"b"), shown(b"a")), [])

    def test_clocks_are_those_of_a_select_with_as_many_values(self):
        one, two = Outcome(columns=("integer",), rows=((b"1",),)), Outcome(columns=("integer",), rows=((b"1",), (b"2",)))
        self.assertEqual(self.accepted("SELECT NOW()", one, one), ["clocks and chance"])
        self.assertEqual(self.accepted("SELECT NOW()", one, two), [])
        self.assertEqual(self.accepted("SELECT NOW()", one, Outcome(error=1305)), [])
        self.assertEqual(self.accepted("INSERT INTO t VALUES (NOW())", one, one), [])

    def test_what_only_mariadb_has_is_refused_with_that_number(self):
        fine, refused = Outcome(), lambda code: Outcome(error=code)
        for statement, code, names in (("SET optimizer_switch='subquery_cache=off'", 1231, ["switches of its optimizer"]), ("SET sql_mode='ORACLE'", 1231, ["its sql_modes"]),
                                       ("SET sql_mode='ALLOW_INVALID_DATES'", 1231, []), ("INSERT INTO t VALUES (1) RETURNING a", 1064, ["its statements"]),
                                       ("INSERT INTO t VALUES (1) RETURNING a", 1146, []), ("SELECT 1 FROM t", 1064, []),
                                       ("INSERT INTO t SELECT seq FROM seq_1_to_10", 1146, ["tables of sequences"]), ("SELECT * FROM seq", 1146, [])):
            self.assertEqual(self.accepted(statement, fine, refused(code)), names, statement)
        self.assertEqual(self.accepted("SET sql_mode='ORACLE'", refused(1231), fine), [])

    def test_columns_are_the_same_but_for_widths(self):
        shown = lambda column: Outcome(columns=("string",), names=("Type",), rows=((column,),))
        self.assertEqual(self.accepted("DESC t", shown(b"int(11) unsigned"), shown(b"int unsigned")), ["widths of integers"])
        self.assertEqual(self.accepted("DESC t", shown(b"char(11)"), shown(b"char(12)")), [])

    def test_a_number_beside_a_text_that_is_none(self):
        number, text = (Outcome(columns=(kind,), names=("x",), rows=((value,),)) for kind, value in (("real", b"1"), ("string", b"1-1")))
        self.assertEqual(aspects("SELECT 1*1||-1 AS x", number, text), ["types", "rows"])


class PlayerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("mariadb-install-db"):
            raise unittest.SkipTest("there is no MariaDB: make -C engine test-deps")
        cls.mariadb = cls.enterClassContext(MariaDB())

    def play(self, text, seconds=60):
        with Commitd() as commitd:
            return Player(self.mariadb, commitd, SUITE, seconds).play(text)

    def test_own_script(self):
        player = self.play(SCRIPT)
        self.assertEqual((player.skipped, player.findings, dict(player.counts)), ("", [], {"same": 9}))

    def test_a_statement_that_waits_is_reaped_when_another_let_it_go_on(self):
        player = self.play("CREATE TABLE t (a INT);\nconnect (two,localhost,root,,);\nSELECT GET_LOCK('a', 10);\nconnection default;\nsend SELECT GET_LOCK('a', 10) + 1;\n"
                           "connection two;\nlet $held= query_get_value(SELECT IS_FREE_LOCK('a') AS x, x, 1);\nif ($held == 0)\n{\nDO RELEASE_LOCK('a');\n}\n"
                           "connection default;\nreap;\nSELECT * FROM missing;\nlet $number= $mysql_errno;\neval INSERT INTO t VALUES ($number);\nSELECT * FROM t WHERE a = 1146;\n")
        self.assertEqual((player.skipped, player.findings, dict(player.counts)), ("", [], {"same": 7}))

    def test_what_the_runner_does_not_have_ends_the_file_where_it_stands(self):
        player = self.play("SELECT 1;\n--change_user root\nSELECT 2;\n")
        self.assertEqual((player.skipped, dict(player.counts)), ("change_user", {"same": 1}))

    def test_another_user_may_connect(self):
        player = self.play("CREATE USER someone@'%' IDENTIFIED BY 'secret';\nconnect (c,localhost,someone,secret,*NO-ONE*);\nSELECT CURRENT_USER();\nSELECT * FROM mysql.user;\n"
                           "connection default;\nconnect (d,localhost,someone,wrong,*NO-ONE*);\nDROP USER someone@'%';\n")
        self.assertEqual((player.skipped, player.findings, dict(player.counts)), ("", [], {"same": 4}))

    def test_each_kind_is_told(self):
        player = self.play("CREATE TABLE t (a INT);\nSELECT CONNECTION_ID() * 0 + @@port;\nSELECT SPIDER_FLUSH_TABLE_MON_CACHE(1) FROM t;\n"
                           "CREATE TABLE s (a INT) WITH SYSTEM VERSIONING;\nINSERT INTO s VALUES (1);\nSELECT * FROM t;\nKILL 1;\n")
        self.assertEqual(player.counts["different"], 1, player.findings)
        self.assertEqual(player.counts["behind another"], 1, player.findings)
        self.assertEqual(player.counts["not played"], 1)

    def test_a_server_that_ends_is_found_and_one_that_does_not_answer(self):
        for way, kind in ((signal.SIGKILL, "crash"), (signal.SIGSTOP, "freeze")):
            with Commitd() as commitd:
                player = Player(self.mariadb, commitd, SUITE, 60)
                classify = player.classify
                player.freeze_seconds = 3

                def then_end(*arguments):
                    classify(*arguments)
                    os.kill(commitd.process.pid, way)
                    os.waitid(os.P_PID, commitd.process.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)  # on a busy machine it answers meanwhile

                player.classify = then_end
                player.play("SELECT missing;\nSELECT 2;\nSELECT 3;\n")  # behind an error, too
                self.assertEqual((dict(player.counts), player.findings[0].statement), ({"same": 1, kind: 1}, "SELECT 2"))

    def test_a_table_that_is_the_same_again_is_compared(self):
        player = self.play("CREATE TABLE t (a INT);\nCREATE TABLE s (a INT) WITH SYSTEM VERSIONING;\nINSERT INTO t VALUES (1) RETURNING a;\nSELECT * FROM t;\n"
                           "TRUNCATE TABLE t;\nINSERT INTO t VALUES (2);\nSELECT * FROM t;\nDROP TABLE s;\nCREATE TABLE s (a INT);\nSELECT * FROM s;\n")
        self.assertEqual(dict(player.counts), {"same": 6, "not known": 2, "behind another": 2}, player.findings)

    def test_sample_of_mariadb_s_suite(self):
        if not SUITE.exists():
            self.skipTest("there is no suite: .ci/apt-unpack build/mariadb-test mariadb-test-data")
        for name, known in SAMPLE.items():
            with self.subTest(name), Commitd() as commitd:
                player = Player(self.mariadb, commitd, SUITE, 120, ACCEPTED).play((SUITE / "main" / f"{name}.test").read_text(errors="replace"))
                self.assertEqual((player.skipped, player.counts["behind another"]), ("", 0))
                self.assertEqual({finding.line: finding for finding in player.findings if finding.line not in known}, {})
                self.assertEqual({finding.line for finding in player.findings}, set(known), "these do not differ any more")


if __name__ == "__main__":
    unittest.main()
