"""sqllogictest's format: `statement ok|error` and `query TYPES [sort] [label]` with what is expected, as values or as their number and MD5."""

import dataclasses
import hashlib
import random
import sqlite3

SERVER = "mysql"  # for skipif and onlyif


@dataclasses.dataclass
class Record:
    line: int
    sql: str
    fails: bool = False
    types: str = ""  # empty: a statement
    sort: str = "nosort"
    expected: tuple = ()


def records(text):
    lines = text.split("\n")
    at, applies = 0, True
    while at < len(lines):
        words = lines[at].split("#")[0].split()
        at += 1
        if not words:
            continue
        if words[0] in ("skipif", "onlyif"):
            applies = applies and (words[1] == SERVER) == (words[0] == "onlyif")
        elif words[0] == "halt":
            if applies:
                return
            applies = True
        elif words[0] in ("statement", "query"):
            begin = at
            while at < len(lines) and lines[at].strip():
                at += 1
            block = lines[begin:at]
            if applies:
                yield record_of(words, block, begin)
            applies = True


def record_of(words, block, line):
    if words[0] == "statement":
        return Record(line, "\n".join(block), fails=words[1] == "error")
    split = block.index("----") if "----" in block else len(block)
    return Record(line, "\n".join(block[:split]), types=words[1], sort=words[2] if len(words) > 2 else "nosort", expected=tuple(block[split + 1:]))


def shown(value, kind):
    if value is None:
        return "NULL"
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    if kind == "I":
        return str(int(float(text)))
    if kind == "R":
        return f"{float(text):.3f}"
    return "".join(c if " " <= c <= "~" else "@" for c in text) or "(empty)"


def values(rows, types, sort):
    rows = [[shown(value, kind) for value, kind in zip(row, types)] for row in rows]
    if sort == "rowsort":
        rows.sort()
    flat = [value for row in rows for value in row]
    return sorted(flat) if sort == "valuesort" else flat


def digest(flat):
    return f"{len(flat)} values hashing to {hashlib.md5(''.join(value + chr(10) for value in flat).encode()).hexdigest()}"


def as_expected(record, rows):
    flat = values(rows, record.types, record.sort)
    return list(record.expected) == flat or list(record.expected) == [digest(flat)]


def generated(seed, count):
    """A text of the same shapes: a table of integers, queries whose answers SQLite gave."""
    chance, sqlite, out = random.Random(seed), sqlite3.connect(":memory:"), []

    def run(statement):
        sqlite.execute(statement)
        out.append(f"statement ok\n{statement}\n")

    for table in ("t1", "t2"):
        run(f"CREATE TABLE {table}(a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER)")
        for _ in range(30):
            row = chance.sample(range(100, 250), 5)
            run(f"INSERT INTO {table}(e,c,b,d,a) VALUES({','.join('NULL' if chance.random() < 0.08 else str(value) for value in row)})")
    run("CREATE INDEX t1b ON t1(b)")
    out.append("statement error\nSELECT nothing FROM t1\n")
    for _ in range(count):
        query, columns = select(chance)
        sort = "rowsort" if "GROUP BY" in query or chance.random() < 0.5 else "valuesort"
        flat = values(sqlite.execute(query).fetchall(), "I" * columns, sort)
        answer = digest(flat) if len(flat) > 8 else "\n".join(flat)
        out.append(f"query {'I' * columns} {sort}\n{query}\n----\n{answer}\n" if flat else f"query {'I' * columns} {sort}\n{query}\n----\n")
    return "\n".join(out)


def number(chance, alias, depth=2):
    column = f"{alias}.{chance.choice('abcde')}"
    if not depth:
        return column
    inner = lambda: number(chance, alias, depth - 1)
    shapes = (lambda: f"{inner()}-{inner()}", lambda: f"{inner()}+{inner()}*2", lambda: f"abs({inner()}-{inner()})", lambda: str(chance.randrange(100, 250)), lambda: column,
              lambda: f"CASE WHEN {condition(chance, alias, 0)} THEN {inner()} ELSE {inner()} END", lambda: f"coalesce({inner()},{inner()},{inner()})",
              lambda: f"CASE {column} WHEN {inner()} THEN 111 WHEN {inner()} THEN 222 ELSE 333 END", lambda: f"(SELECT count(*) FROM t2 AS x WHERE x.b<{column})")
    return f"({chance.choice(shapes)()})"


def condition(chance, alias, depth=2):
    column = lambda: f"{alias}.{chance.choice('abcde')}"
    if depth and chance.random() < 0.5:
        return f"({condition(chance, alias, depth - 1)} {chance.choice(('AND', 'OR'))} {condition(chance, alias, depth - 1)})"
    shapes = (lambda: f"{column()}{chance.choice(('<', '>', '=', '<>', '<=', '>='))}{column()}", lambda: f"{column()} BETWEEN {chance.randrange(100, 180)} AND {chance.randrange(150, 250)}",
              lambda: f"{column()} IS {chance.choice(('', 'NOT '))}NULL", lambda: f"EXISTS(SELECT 1 FROM t2 AS x WHERE x.b<{column()})",
              lambda: f"{column()} {chance.choice(('', 'NOT '))}IN (SELECT c FROM t2 WHERE c IS NOT NULL)", lambda: f"{column()}>(SELECT avg(c) FROM t2)")
    return chance.choice(shapes)()


def select(chance):
    kind = chance.randrange(4)
    if kind == 0:
        return f"SELECT {number(chance, 'x')}, count(*), sum(x.b) FROM t1 AS x WHERE {condition(chance, 'x')} GROUP BY 1", 3
    if kind == 1:
        return f"SELECT x.a, y.b FROM t1 AS x {chance.choice(('', 'LEFT '))}JOIN t2 AS y ON x.{chance.choice('abcde')}=y.{chance.choice('abcde')} WHERE {condition(chance, 'x')}", 2
    if kind == 2:
        return f"SELECT x.a FROM t1 AS x WHERE {condition(chance, 'x')} UNION {chance.choice(('', 'ALL '))}SELECT y.b FROM t2 AS y WHERE {condition(chance, 'y')}", 1
    columns = chance.randrange(1, 6)
    return f"SELECT {', '.join(number(chance, 'x') for _ in range(columns))} FROM t1 AS x WHERE {condition(chance, 'x')}", columns


def play(text, session):
    """The records that are not answered as expected, with what was answered, and how many there were."""
    wrong, count = [], 0
    for count, record in enumerate(records(text), 1):
        outcome = session.run(record.sql, want_warnings=False)
        right = bool(outcome.error) == record.fails and (not record.types or outcome.error or as_expected(record, outcome.rows))
        if not right:
            wrong.append((record, outcome))
    return wrong, count
