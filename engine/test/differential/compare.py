"""What two outcomes of one statement differ in."""

import collections
import dataclasses
import re
import unicodedata


def canonical(value, kind):
    """Floating-point numbers as numbers: their last digit is the C library's. MariaDB knows a negative zero (-0.00)."""
    if value is not None and kind == "decimal" and not value.strip(b"-0."):
        return value.lstrip(b"-")
    if value is None or kind != "real":
        return value
    try:
        number = float(value)
    except ValueError:  # the other server's value, of another type
        return value
    return float(f"{number:.13g}") + 0.0


def canonical_rows(outcome, kinds=None):
    return [tuple(canonical(value, kind) for value, kind in zip(row, kinds or outcome.columns)) for row in outcome.rows]


def common_kinds(left, right):
    """Where one announces floating-point numbers, the other's numbers are compared as such."""
    return tuple("real" if "real" in pair and set(pair) <= {"real", "integer", "decimal"} else pair[0] for pair in zip(left.columns, right.columns))


def ordered(statement):
    """ORDER BY leaves no two rows whose order is open: it ends with a key."""
    clause = re.search(r"\bORDER BY ([\w., ]+?)(?: LIMIT [^()]*)?(?: /\*.*)?$", statement)
    if not clause:
        return False
    columns = {column.split()[0].split(".")[-1] for column in clause[1].split(",")}
    return bool(columns & {"id", "k"}) or columns >= {"k1", "k2"} or clause[1] == "x.g"


def ordered_by_itself(statement, outcome):
    """One column in its own order. (Texts that are equal may differ, and then come in any.)"""
    return re.search(r"\bORDER BY (x|1)( DESC)?( LIMIT \d+)?$", statement) is not None and outcome.columns != ("string",) and len(outcome.columns) == 1


def of_some_row(statement):
    """Of texts that compare equal a group shows any one: which is not defined."""
    return re.search(r"\b(DISTINCT|GROUP BY|UNION|MIN|MAX)\b", statement) is not None


def folded(rows):
    """Texts without case and accents, as utf8mb4_general_ci compares them."""
    def fold(text):
        return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)).casefold().rstrip(" ")

    return [tuple(fold(value.decode(errors="replace")).encode() if isinstance(value, bytes) else value for value in row) for row in rows]


def same_rows(statement, left, right):
    in_order = ordered(statement) or ordered_by_itself(statement, left)
    kinds = common_kinds(left, right)
    left, right = canonical_rows(left, kinds), canonical_rows(right, kinds)
    if of_some_row(statement):
        left, right = folded(left), folded(right)
    return left == right if in_order else collections.Counter(left) == collections.Counter(right)


def canonical_names(names):
    """MariaDB's identifiers have no characters beyond the basic plane (it shows a question mark), and 255 bytes."""
    return tuple(re.sub("[^\u0000-\uffff]", "?", name).encode()[:255].decode(errors="ignore") for name in names)


def same_types(left, right):
    if len(left) != len(right):
        return False
    return all(l == r or "null" in (l, r) for l, r in zip(left, right))


def warnings_of(statement, outcome):
    """How often a SELECT repeats a warning depends on how often it evaluates an expression."""
    return set(outcome.warnings) if re.match(r"\(*(SELECT|WITH)\b", statement) else collections.Counter(outcome.warnings)


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
    if warnings_of(statement, left) != warnings_of(statement, right):
        found.append("warnings")
    return found


def only(one, other):
    """The first outcome without the rows that the other has as well: what to look at."""
    if one.error or other.error or not one.columns:
        return one
    left, right = canonical_rows(one), collections.Counter(canonical_rows(other))
    rows = tuple(row for row in left if not right.get(row)) or one.rows
    return dataclasses.replace(one, rows=rows)
