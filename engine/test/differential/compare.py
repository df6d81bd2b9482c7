"""What two outcomes of one statement differ in."""

import collections
import dataclasses
import re


def canonical(value, kind):
    """Floating-point numbers as numbers: their last digit is the C library's. MariaDB knows a negative zero (-0.00)."""
    if value is not None and kind == "decimal" and not value.strip(b"-0."):
        return value.lstrip(b"-")
    if value is None or kind != "real":
        return value
    number = float(value)
    return float(f"{number:.13g}") + 0.0


def canonical_rows(outcome):
    return [tuple(canonical(value, kind) for value, kind in zip(row, outcome.columns)) for row in outcome.rows]


def ordered(statement):
    return re.search(r"\bORDER BY (a\.)?(id|k|x\.k|k1, k2)\b[^()]*$", statement) is not None


def of_some_row(statement):
    """Of texts that compare equal a group shows any one: which is not defined."""
    return re.search(r"\b(DISTINCT|GROUP BY|UNION|MIN|MAX)\b", statement) is not None


def folded(rows):
    return [tuple(value.decode(errors="replace").casefold().encode() if isinstance(value, bytes) else value for value in row) for row in rows]


def same_rows(statement, left, right):
    left, right = canonical_rows(left), canonical_rows(right)
    if of_some_row(statement):
        left, right = folded(left), folded(right)
    return left == right if ordered(statement) else collections.Counter(left) == collections.Counter(right)


def canonical_names(names):
    """MariaDB's identifiers have no characters beyond the basic plane: it shows a question mark."""
    return tuple(re.sub("[^\u0000-\uffff]", "?", name) for name in names)


def same_types(left, right):
    if len(left) != len(right):
        return False
    return all(l == r or "null" in (l, r) for l, r in zip(left, right))


def aspects(statement, left, right):
    """Names of what differs; empty when nothing does."""
    if left.error or right.error:
        found = []
        if left.error != right.error:
            found.append("error")
        elif left.sqlstate != right.sqlstate:
            found.append("sqlstate")
        return found
    found = []
    if len(left.columns) != len(right.columns):
        return ["columns"]
    if canonical_names(left.names) != canonical_names(right.names):
        found.append("names")
    if not same_types(left.columns, right.columns):
        found.append("types")
    if not same_rows(statement, left, right):
        found.append("rows")
    if left.affected != right.affected:
        found.append("affected")
    if left.insert_id != right.insert_id:
        found.append("insert id")
    if left.warnings != right.warnings:
        found.append("warnings")
    return found


def only(one, other):
    """The first outcome without the rows that the other has as well: what to look at."""
    if one.error or other.error or not one.columns:
        return one
    left, right = canonical_rows(one), collections.Counter(canonical_rows(other))
    rows = tuple(row for row in left if not right.get(row)) or one.rows
    return dataclasses.replace(one, rows=rows)
