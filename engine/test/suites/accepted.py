"""Differences that are right, each with its reason: what MySQL 8.4 does, or what is not defined."""

import dataclasses
import re
from typing import Callable


@dataclasses.dataclass
class Accepted:
    name: str
    reason: str
    matches: Callable  # (statement, MariaDB's outcome, commitd's outcome)


ACCEPTED = [
    Accepted("the server's own words", "Which engines, variables, counters and plans a server has is its own affair",
             lambda s, m, c: not c.error and not m.error and re.match(r"\s*(EXPLAIN|DESC(RIBE)? SELECT|ANALYZE|SHOW (GLOBAL |SESSION |FULL )*(VARIABLES|STATUS|ENGINES?|PROCESSLIST|PLUGINS|WARNINGS|ERRORS))\b", s, re.I)),
    Accepted("SHOW CREATE TABLE", "MySQL's defaults, character sets and engine; whether it makes the same table again is show_create_test.py's",
             lambda s, m, c: not c.error and not m.error and re.match(r"\s*SHOW CREATE\b", s, re.I)),
    Accepted("clocks and chance", "They change between two calls", lambda s, m, c: re.search(r"\b(NOW|SYSDATE|CURRENT_TIMESTAMP|CURTIME|UUID|RAND|CONNECTION_ID|VERSION)\s*\(|@@version", s, re.I)
             and not c.error and not m.error),
]
