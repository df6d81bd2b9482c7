"""Plays a file of mysqltest's language to MariaDB and to commitd, and says of each statement how they compare."""

import collections
import contextlib
import dataclasses
import re
import tempfile
import time

import pymysql

from differential.compare import aspects
from differential.servers import Session
from suites.language import NotUnderstood, Reader
from suites.sent import Sent

SYSTEM = {"mysql", "information_schema", "performance_schema", "sys"}
MOVING = {b"GTID_BINLOG_STATE", b"GTID_SLAVE_POS", b"GTID_CURRENT_POS", b"GTID_BINLOG_POS"}  # they follow what is executed
COMPARED = {"error", "columns", "rows", "affected"}
NOT_SUPPORTED = {1235}
# MariaDB's defaults: the files are written for them. (MySQL's refuse GROUP BYs and dates that many of them contain.)
SQL_MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
ENGINE = re.compile(r"\bENGINE\s*=?\s*'?(MyISAM|Aria|MEMORY|HEAP|InnoDB)\b'?", re.IGNORECASE)  # which one says nothing about answers
MANNERS_OF_NOT_KNOWING = {1064, 1305, 1193, 1286, 1273, 1115}  # where 1235 and its name would say more
NOT_PLAYED = re.compile(r"\s*(SHUTDOWN|KILL|INSTALL|UNINSTALL|CHANGE MASTER|START (ALL )?SLAVE|STOP (ALL )?SLAVE|RESET (MASTER|SLAVE)|FLUSH TABLES WITH READ LOCK|BACKUP)\b", re.IGNORECASE)
CHANGES = re.compile(r"\s*(CREATE|ALTER|INSERT|REPLACE|UPDATE|DELETE|LOAD|RENAME|TRUNCATE|DROP|SET|PREPARE|HANDLER|LOCK)\b", re.IGNORECASE)
DROPPED = re.compile(r"\s*DROP\s+(?:TEMPORARY\s+)?(?:TABLE|VIEW|DATABASE|SCHEMA|PROCEDURE|FUNCTION|USER|TRIGGER)\b", re.IGNORECASE)
DROPPED_TABLES = re.compile(r"(\s*DROP\s+TABLES?)\s+", re.IGNORECASE)  # of several that are there but for one none is dropped
UNKNOWN_TABLE = 1051
NO_USER_BY_GRANT = 1410  # MariaDB makes the account
GRANTED_TO = re.compile(r"\s*GRANT\b.*?\bTO\b(.*)", re.IGNORECASE | re.DOTALL)
NAME = r"(?:'[^']*'|`[^`]*`|\"[^\"]*\"|[\w.%]+)"
ACCOUNT = re.compile(rf"{NAME}@{NAME}")
CREATED = re.compile(r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?TABLE\b", re.IGNORECASE)
OBJECT = re.compile(r"\b(?:TABLE|VIEW|DATABASE|SCHEMA|PROCEDURE|FUNCTION|TRIGGER|SEQUENCE|USER|ROLE|INTO|UPDATE|FROM|PREPARE|HANDLER)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:IGNORE\s+)?((?:`[^`]+`|[\w$]+)(?:\.(?:`[^`]+`|[\w$]+))?)",
                    re.IGNORECASE)
VARIABLE = re.compile(r"\\?\$(\w+)")
ASKED_VALUE = re.compile(r"query_get_value\s*\((.*),([^,]+),([^,]+)\)$", re.DOTALL)
LOOPS = 100000  # of one `while`
WAIT_SECONDS = 0.02
WAYS_OF_TESTING = ("VALGRIND_TEST", "VIEW_PROTOCOL", "PS_PROTOCOL", "CURSOR_PROTOCOL", "SP_PROTOCOL")  # that this one is not


class Gone(Exception):
    """commitd crashed or froze: the file goes no further."""


class Skip(Exception):
    """The file itself says that it is not for this server, or its time is over."""


@dataclasses.dataclass
class Finding:
    kind: str
    line: int
    statement: str
    aspects: list
    mariadb: str
    commitd: str


def objects(statement):
    return {name.split(".")[-1].strip("`").lower() for name in OBJECT.findall(statement)} - {"values", "select", "if", "set"}


def restore(mariadb):
    """What earlier files left of databases, accounts and settings: commitd is a new one."""
    session = Session(mariadb.port)
    for (database,) in session.run("SHOW DATABASES").rows:
        if database.decode() not in SYSTEM:
            session.run(f"DROP DATABASE `{database.decode()}`")
    session.run("CREATE DATABASE test")
    for user, host in session.run("SELECT user, host FROM mysql.user WHERE user NOT IN ('root', 'mariadb.sys') AND is_role = 'N'").rows:
        session.run(f"DROP USER '{user.decode()}'@'{host.decode()}'")
    settings = dict(session.run("SELECT variable_name, variable_value FROM information_schema.global_variables").rows)
    if not hasattr(mariadb, "first_settings"):
        mariadb.first_settings = settings
    for name, value in mariadb.first_settings.items():
        if settings.get(name) != value and name not in MOVING:
            number = re.fullmatch(rb"-?[\d.]+", value)
            session.run(f"SET GLOBAL {name.decode()} = " + (value.decode() if number else "'" + value.decode().replace("'", "''") + "'"))
    session.close()


class Player:
    def __init__(self, mariadb, commitd, root, seconds, accepted=()):
        self.mariadb, self.commitd, self.root = mariadb, commitd, root
        self.end, self.accepted = time.monotonic() + seconds, accepted
        self.variables, self.connections, self.current, self.sent = {"mysql_errno": "0"}, {}, "default", {}
        self.counts, self.findings, self.differing = collections.Counter(), [], set()
        self.skipped, self.freeze_seconds = "", 20  # a hang bound

    def play(self, text):
        with contextlib.ExitStack() as stack:
            stack.callback(self.close)
            own = stack.enter_context(tempfile.TemporaryDirectory(prefix="suites-"))
            self.variables |= {"MYSQLTEST_VARDIR": own, "MYSQL_TMP_DIR": own, "MYSQL_TEST_DIR": str(self.root), **dict.fromkeys(WAYS_OF_TESTING, "0")}
            try:
                self.begin()
                self.run_all(Reader(text).commands())
            except (NotUnderstood, Skip) as reason:
                self.skipped = str(reason)
            except Gone:
                pass
        return self

    def begin(self):
        restore(self.mariadb)
        self.commitd.query("CREATE DATABASE IF NOT EXISTS test")
        self.commitd.query(f"SET GLOBAL sql_mode = '{SQL_MODE}'")
        self.connections["default"] = [self.connected(server, "test") for server in (self.mariadb, self.commitd)]

    def connected(self, server, database, user="root", password=""):
        session = Session(server.port, database, user, password)
        session.connection._read_timeout = self.freeze_seconds
        return session

    def close(self):
        for pair in self.connections.values():
            for session in pair:
                with contextlib.suppress(Exception):
                    session.connection._force_close()

    def run_all(self, commands):
        for command in commands:
            if time.monotonic() > self.end:
                raise Skip("its time is over")
            if command.name == "exit":
                raise Skip("")
            getattr(self, "do_" + command.name)(command)

    # --- commands ---
    def do_let(self, command):
        name, _, value = command.argument.partition("=")
        value = value.strip().removesuffix(";")
        self.variables[name.strip().lstrip("$")] = self.value_of(value)

    def do_inc(self, command, by=1):
        name = command.argument.strip().lstrip("$").removesuffix(";")
        self.variables[name] = str(int(self.variables.get(name) or 0) + by)

    def do_dec(self, command):
        self.do_inc(command, -1)

    def do_if(self, command):
        if self.true(command.argument):
            self.run_all(command.block)

    def do_while(self, command):
        for _ in range(LOOPS):
            if not self.true(command.argument):
                return
            self.run_all(command.block)
        raise Skip("a loop without an end")

    def do_source(self, command):
        name = self.replaced(command.argument.removesuffix(";").strip())
        places = [self.root / name, self.root / "main" / name, self.root / "suite" / name]
        path = next((path for path in places if path.is_file()), None)
        if not path:
            raise NotUnderstood(f"source {name}")
        self.run_all(Reader(path.read_text(errors="replace")).commands())

    def do_skip(self, command):
        raise Skip(f"it skips itself: {command.argument}")

    def do_die(self, command):
        raise Skip(f"it gives up: {command.argument}")

    def do_error(self, command):
        """What a statement answers is compared with MariaDB's answer, not with what the file expects of it."""

    def do_end(self, command):
        raise NotUnderstood("end")

    def do_connect(self, command):
        words = [word.strip(" '\"") for word in self.replaced(command.argument.strip("(); \n")).split(",")]
        name, _, user, password, database, *_ = words + [""] * 5
        sessions, errors = [], []
        for server in (self.mariadb, self.commitd):
            try:
                sessions.append(self.connected(server, None if database == "*NO-ONE*" else database or "test", user or "root", password))
            except pymysql.err.MySQLError as error:
                errors.append(error)
        if len(errors) == 1:
            raise NotUnderstood(f"connect, which only one answers with {errors[0]}")
        if not errors:
            self.connections[name], self.current = sessions, name

    def do_connection(self, command):
        name = self.replaced(command.argument.strip("; "))
        if name not in self.connections:
            raise NotUnderstood(f"connection {name}")
        self.current = name

    def do_disconnect(self, command):
        name = self.replaced(command.argument.strip("; "))
        for session in self.connections.pop(name, []):
            session.close()
        if name == self.current:
            self.current = "default"

    def do_unknown(self, command):
        raise NotUnderstood(command.argument)

    def do_send(self, command):
        statement = command.argument
        if not NOT_PLAYED.match(statement):
            self.sent[self.current] = Sent(statement, command.line, [lambda session=session, text=text: session.run(text, want_warnings=False) for session, text in
                                                                     zip(self.connections[self.current], (statement, self.for_commitd(statement)))])

    def do_send_eval(self, command):
        self.do_send(dataclasses.replace(command, argument=self.replaced(command.argument)))

    def do_sleep(self, command):
        """Only what was sent may need time: the files wait for it in loops."""
        if self.sent:
            time.sleep(WAIT_SECONDS)

    do_real_sleep = do_sleep

    def do_reap(self, command):
        if sent := self.sent.pop(self.current, None):
            self.answered(sent.statement, sent.line, *sent.answers(self.freeze_seconds))

    def do_eval(self, command):
        self.statement(self.replaced(command.argument), command.line)

    do_evalp = do_eval

    def do_query(self, command):
        self.statement(command.argument, command.line)

    do_query_vertical = do_query_horizontal = do_eval

    def do_sql(self, command):
        self.statement(command.argument, command.line)

    # --- values ---
    def replaced(self, text):
        def value(match):
            if match[0].startswith("\\"):
                return match[0][1:]
            if match[1] not in self.variables:
                if match[1] == match[1].upper() and not match[1].isdigit():
                    raise NotUnderstood(f"variable ${match[1]}")
                return ""
            return self.variables[match[1]]

        return VARIABLE.sub(value, text)

    def asked(self, statement):
        """By the file, to decide about itself: MariaDB answers."""
        outcome = self.connections[self.current][0].run(statement.removesuffix(";"), want_warnings=False)
        return outcome.rows, outcome.names

    def value_of(self, text):
        text = text.strip()
        if text.startswith("`") and text.endswith("`"):
            rows, _ = self.asked(self.replaced(text[1:-1]))
            return "\t".join("NULL" if value is None else value.decode(errors="replace") for value in rows[0]) if rows else ""
        if asked := ASKED_VALUE.match(text):
            return self.one_value(*map(self.replaced, asked.groups()))
        return self.replaced(text)

    def one_value(self, statement, column, row):
        rows, names = self.asked(statement.strip(" '\""))
        column, row = column.strip(" '\""), int(row)
        if column not in names:
            raise NotUnderstood(f"query_get_value of {column}")
        value = rows[row - 1][names.index(column)] if row <= len(rows) else b"No such row"
        return "NULL" if value is None else value.decode(errors="replace")

    def true(self, condition):
        negated = condition.startswith("!")
        condition = condition.lstrip("! ")
        if compared := re.match(r"(\$\w+)\s*(==|!=|<=|>=|<|>)\s*(.*)$", condition, re.DOTALL):
            left, right = self.value_of(compared[1]), self.value_of(compared[3]).strip("'\"")
            left, right = (int(left), int(right)) if left.lstrip("-").isdigit() and right.lstrip("-").isdigit() else (left, right)
            if type(left) is str and compared[2] not in ("==", "!="):
                raise NotUnderstood(f"comparison {condition}")
            return {"==": left == right, "!=": left != right}.get(compared[2]) if type(left) is str else eval(f"{left} {compared[2]} {right}")
        value = self.variables.get(condition[1:], "") if re.fullmatch(r"\$\w+", condition) else self.value_of(condition)
        return (value not in ("", "0")) != negated

    # --- statements ---
    def statement(self, statement, line):
        if NOT_PLAYED.match(statement):
            self.counts["not played"] += 1
            return
        answers = []
        for session, text in zip(self.connections[self.current], (statement, self.for_commitd(statement))):
            try:
                answers.append(session.run(text, want_warnings=False))
            except (RuntimeError, UnicodeError) as error:
                answers.append(error)
                break
        if getattr(answers[-1], "error", 0) == NO_USER_BY_GRANT and not answers[0].error and (granted := GRANTED_TO.match(statement)):
            answers[-1] = self.granted(statement, ACCOUNT.findall(granted[1]))
        self.answered(statement, line, answers[0], answers[-1])

    def granted(self, statement, accounts):
        commitd = self.connections[self.current][1]
        for account in accounts:
            commitd.run(f"CREATE USER IF NOT EXISTS {account}", want_warnings=False)
        return commitd.run(self.for_commitd(statement), want_warnings=False)

    @staticmethod
    def for_commitd(statement):
        return ENGINE.sub("", statement) if re.match(r"\s*(CREATE|ALTER)\b", statement, re.I) else statement

    def answered(self, statement, line, mariadb, commitd):
        """Outcomes, or what was raised in place of one."""
        if isinstance(mariadb, Exception):
            raise Skip(f"MariaDB's connection ended at line {line}: {str(mariadb)[:60]}")
        self.variables["mysql_errno"] = str(mariadb.error)
        if isinstance(commitd, Exception):
            crashed = self.process_ended()
            self.note("crash" if crashed else "freeze", line, statement, [], mariadb, "the process ended" if crashed else "no answer, or the connection ended")
            raise Gone
        self.classify(statement, line, mariadb, commitd)
        if commitd.error == UNKNOWN_TABLE and not mariadb.error and DROPPED_TABLES.match(statement):
            self.connections[self.current][1].run(DROPPED_TABLES.sub(r"\1 IF EXISTS ", statement), want_warnings=False)

    def process_ended(self):
        for _ in range(100):
            if self.commitd.process.poll() is not None:
                return True
            time.sleep(0.02)
        return False

    def note(self, kind, line, statement, differing, mariadb, commitd):
        self.counts[kind] += 1
        self.findings.append(Finding(kind, line, statement[:400], differing, str(mariadb)[:300], str(commitd)[:300]))

    def classify(self, statement, line, mariadb, commitd):
        differing = [aspect for aspect in aspects(statement, mariadb, commitd) if aspect in COMPARED]
        named = {word.lower() for word in re.findall(r"[\w$]+", statement)}
        if any(self.still_differs(name) for name in self.differing & named):
            self.counts["behind another"] += 1
            if (DROPPED.match(statement) or CREATED.match(statement)) and not mariadb.error and not commitd.error:
                self.differing -= objects(statement)
            return
        if not differing:
            self.counts["same"] += 1
            return
        self.counts_as(statement, line, mariadb, commitd, differing)
        if CHANGES.match(statement):
            self.differing |= objects(statement)

    def still_differs(self, name):
        """A table that has the same rows on both sides again, or never had others, is compared again."""
        mariadb, commitd = (session.run(f"SELECT * FROM `{name}`", want_warnings=False) for session in self.connections[self.current])
        if mariadb.error or commitd.error or aspects("SELECT", mariadb, commitd) not in ([], ["types"]):
            return True
        self.differing.discard(name)
        return False

    def counts_as(self, statement, line, mariadb, commitd, differing):
        if commitd.error in NOT_SUPPORTED:
            self.note("not supported", line, statement, differing, mariadb, commitd)
        elif any(accepted.matches(statement, mariadb, commitd) for accepted in self.accepted):
            self.counts["accepted"] += 1
        elif commitd.error in MANNERS_OF_NOT_KNOWING and not mariadb.error:
            self.note("not known", line, statement, differing, mariadb, commitd)
        else:
            self.note("different", line, statement, differing, mariadb, commitd)
