"""Two servers with one interface: a statement goes in, an Outcome comes out."""

import dataclasses
import os
import shutil
import signal
import subprocess
import tempfile

import pymysql
from pymysql.constants import FIELD_TYPE as T

from commitd_process import free_port, wait_until

# What a column's type is compared as: which of the integer or string types a function has is not told to users.
TYPE_CLASS = {
    **dict.fromkeys((T.TINY, T.SHORT, T.LONG, T.INT24, T.LONGLONG, T.YEAR), "integer"),
    **dict.fromkeys((T.DECIMAL, T.NEWDECIMAL), "decimal"),
    **dict.fromkeys((T.FLOAT, T.DOUBLE), "real"),
    **dict.fromkeys((T.TIMESTAMP, T.DATETIME), "datetime"),
    **dict.fromkeys((T.VAR_STRING, T.VARCHAR, T.STRING, T.BLOB, T.TINY_BLOB, T.MEDIUM_BLOB, T.LONG_BLOB, T.ENUM, T.SET), "string"),
    T.DATE: "date", T.TIME: "time", T.BIT: "bit", T.NULL: "null",
}

_sqlstate = None


def _raise_and_remember(data, original=pymysql.err.raise_mysql_exception):
    global _sqlstate
    _sqlstate = data[4:9].decode() if data[3:4] == b"#" else None
    original(data)


pymysql.err.raise_mysql_exception = _raise_and_remember


@dataclasses.dataclass
class Outcome:
    error: int = 0
    sqlstate: str = ""
    message: str = ""
    columns: tuple = ()   # type classes
    names: tuple = ()
    rows: tuple = ()
    affected: int = 0
    insert_id: int = 0
    warnings: tuple = ()  # (level, code), in order
    warning_texts: tuple = ()

    def __str__(self):
        if self.error:
            return f"error {self.error} ({self.sqlstate}): {self.message}"
        rows = ", ".join(str(row) for row in self.rows[:6]) + (f" … {len(self.rows)} rows" if len(self.rows) > 6 else "")
        what = f"{'/'.join(self.columns)}: {rows}" if self.columns else f"OK, {self.affected} rows, insert id {self.insert_id}"
        return what + (f" warnings {self.warning_texts[:4]}" if self.warnings else "")


def as_bytes(value):
    return value.encode() if isinstance(value, str) else value


class Session:
    """One connection; values come as the bytes the server sent."""

    def __init__(self, port, database=None, user="root", password=""):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user=user, password=password, database=database, charset="utf8mb4",
                                          autocommit=True, conv={}, use_unicode=False, read_timeout=60)

    def run(self, statement, want_warnings=True):
        try:
            return self.first_outcome(statement, want_warnings)
        except pymysql.err.MySQLError as error:  # behind the first of several results
            if _sqlstate is None:
                raise RuntimeError(f"connection lost behind: {statement}") from error
            return Outcome(error=error.args[0], sqlstate=_sqlstate or "", message=error.args[1])

    def first_outcome(self, statement, want_warnings):
        global _sqlstate
        _sqlstate = None  # an earlier error's would make an answer of a connection that is lost
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(statement)
            except pymysql.err.MySQLError as error:
                if len(error.args) < 2 or _sqlstate is None:
                    raise RuntimeError(f"connection lost by: {statement}") from error
                return Outcome(error=error.args[0], sqlstate=_sqlstate, message=error.args[1])
            result = cursor._result
            outcome = Outcome(affected=result.affected_rows if cursor.description is None else 0,
                              insert_id=(result.insert_id or 0) if cursor.description is None else 0)
            if cursor.description is not None:
                outcome.columns = tuple(TYPE_CLASS.get(column[1], str(column[1])) for column in cursor.description)
                outcome.names = tuple(column[0] for column in cursor.description)
                outcome.rows = tuple(tuple(as_bytes(value) for value in row) for row in cursor.fetchall())
            if want_warnings and result.warning_count:
                cursor.execute("SHOW WARNINGS")
                found = [[as_bytes(value).decode(errors="replace") for value in row] for row in cursor.fetchall()]
                outcome.warnings = tuple((level, int(code)) for level, code, _ in found)
                outcome.warning_texts = tuple(f"{level} {code}: {text}" for level, code, text in found)
        return outcome

    def close(self):
        self.connection.close()


class MariaDB:
    """A MariaDB server on a datadir of its own. `with MariaDB() as server:` starts, and kills at the end."""

    def __init__(self, *flags):
        self.flags = flags
        self.directory = tempfile.mkdtemp(prefix="differential-mariadb-")
        self.datadir = os.path.join(self.directory, "data")
        self.process = None

    def __enter__(self):
        self.port = free_port()
        self.log = open(os.path.join(self.directory, "log"), "ab")
        user = ["--user=root"] if os.geteuid() == 0 else []
        made = subprocess.run(["mariadb-install-db", "--no-defaults", *user, f"--datadir={self.datadir}", "--auth-root-authentication-method=normal",
                               "--skip-test-db", "--innodb-flush-log-at-trx-commit=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=180)
        if made.returncode != 0:
            raise AssertionError(f"mariadb-install-db ended with {made.returncode}:\n{made.stdout}")
        self.process = subprocess.Popen(
            ["mariadbd", "--no-defaults", *user, f"--datadir={self.datadir}", f"--port={self.port}", "--bind-address=127.0.0.1",
             f"--socket={self.directory}/socket", f"--pid-file={self.directory}/pid", "--innodb-flush-log-at-trx-commit=0",
             "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--innodb-buffer-pool-size=64M", *self.flags],
            stdout=self.log, stderr=self.log)
        wait_until(self.answers, f"MariaDB accepts connections, see {self.directory}/log")
        return self

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"MariaDB ended with {self.process.returncode}:\n{open(self.directory + '/log').read()}")
        try:
            Session(self.port).close()
            return True
        except pymysql.err.OperationalError:
            return False

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
