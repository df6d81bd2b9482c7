"""Differences that are right, each with its reason: what MySQL 8.4 does, or what is not defined."""

import dataclasses
import re
from typing import Callable


@dataclasses.dataclass
class Accepted:
    name: str
    reason: str
    matches: Callable  # (statement, MariaDB's outcome, commitd's outcome)


def both(pattern, same=lambda mariadb, commitd: True):
    """Both answer such a statement, and agree in what `same` looks at."""
    begins = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda statement, mariadb, commitd: not mariadb.error and not commitd.error and begins.match(statement) and same(mariadb, commitd)


def as_many_values(mariadb, commitd):
    return len(mariadb.rows) == len(commitd.rows) and len(mariadb.columns) == len(commitd.columns)


def names_in(outcome):
    return [[set(re.findall(rb"`([^`]+)`", value or b"")) for value in row] for row in outcome.rows]


def levels_and_codes(mariadb, commitd):
    return [row[:2] for row in mariadb.rows] == [row[:2] for row in commitd.rows]


def errors(mariadb_code, commitd_code):
    return lambda statement, mariadb, commitd: (mariadb.error, commitd.error) == (mariadb_code, commitd_code)


ACCEPTED = [
    Accepted("a row beside a value", "MySQL's number; 4078 is MariaDB's own", errors(4078, 1241)),
    Accepted("a row as an operand", "MySQL's number; 4079 is MariaDB's own", errors(4079, 1241)),
    Accepted("out of range", "MySQL's number; 167 is MariaDB's own, with the same text", errors(167, 1264)),
    Accepted("plans", "Which plan a server has is its own affair", both(r"\s*(EXPLAIN|DESC(RIBE)?\s+SELECT|ANALYZE)\b")),
    Accepted("the server's own values", "Variables, counters, engines and plugins are each server's own",
             both(r"\s*SHOW (GLOBAL |SESSION |FULL )*(VARIABLES|STATUS|ENGINES?|PROCESSLIST|PLUGINS)\b")),
    Accepted("texts of warnings", "Level and number are the same; the text is MySQL's", both(r"\s*SHOW (WARNINGS|ERRORS)\b", levels_and_codes)),
    Accepted("SHOW CREATE TABLE", "The same names in it; defaults, character sets and engine are MySQL's (whether it makes the same table again is show_create_test.py's)",
             both(r"\s*SHOW CREATE\b", lambda mariadb, commitd: names_in(mariadb) == names_in(commitd))),
    Accepted("clocks and chance", "They change between two calls; there are as many values",
             both(r"\s*SELECT\b.*(\b(NOW|SYSDATE|CURRENT_TIMESTAMP|CURTIME|UUID|UUID_SHORT|RAND|CONNECTION_ID|VERSION|UNIX_TIMESTAMP)\s*\(|@@version)", as_many_values)),
]
