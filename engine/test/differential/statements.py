"""Statements made up from a seed. The same seed gives the same statements, on any machine."""

import random

from differential.expressions import Expressions

# All column types; TABLES[name] lists (column, kind), kind being what expressions.py makes expressions of.
TABLES = {
    "nums": [("id", "int"), ("ti", "int"), ("tu", "uint"), ("si", "int"), ("mi", "int"), ("i", "int"), ("iu", "uint"), ("bi", "int"),
             ("bu", "uint"), ("d", "dec"), ("dl", "dec"), ("f", "real"), ("db", "real"), ("y", "year"), ("b", "uint")],
    "strs": [("id", "int"), ("c", "str"), ("v", "str"), ("vb", "str"), ("t", "str"), ("bn", "bin"), ("vbn", "bin"), ("bl", "bin"),
             ("e", "str"), ("st", "str")],
    "times": [("id", "int"), ("d", "date"), ("t", "time"), ("t3", "time"), ("dt", "datetime"), ("dt6", "datetime"), ("ts", "datetime")],
    "people": [("id", "int"), ("g", "int"), ("name", "str"), ("amount", "dec"), ("day", "date")],
    "teams": [("k", "int"), ("g", "int"), ("name", "str"), ("since", "date")],
}

SCHEMA = [
    "CREATE TABLE nums (id INT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT, i INT, iu INT UNSIGNED, "
    "bi BIGINT, bu BIGINT UNSIGNED, d DECIMAL(10,3), dl DECIMAL(20,0), f FLOAT, db DOUBLE, y YEAR, b BIT(10), "
    "KEY (i), KEY (ti, si), KEY (d), KEY (db), KEY (bu), KEY (bi, tu), KEY (y))",
    "CREATE TABLE strs (id INT PRIMARY KEY, c CHAR(8), v VARCHAR(30), vb VARCHAR(30) COLLATE utf8mb4_bin, t TEXT, bn BINARY(4), "
    "vbn VARBINARY(12), bl BLOB, e ENUM('small','medium','large','x'), st SET('a','b','c','d'), "
    "KEY (c), KEY (v), KEY (vb), KEY (t(5)), KEY (vbn), KEY (e), KEY (v, c))",
    "CREATE TABLE times (id INT PRIMARY KEY, d DATE, t TIME, t3 TIME(3), dt DATETIME, dt6 DATETIME(6), ts TIMESTAMP NULL, "
    "KEY (d), KEY (t), KEY (dt), KEY (dt6), KEY (ts))",
    "CREATE TABLE people (id INT PRIMARY KEY AUTO_INCREMENT, g INT, name VARCHAR(20), amount DECIMAL(8,2), day DATE, KEY (g), KEY (name, amount))",
    "CREATE TABLE teams (k INT NOT NULL, g INT, name VARCHAR(20), since DATE, PRIMARY KEY (k), UNIQUE KEY gn (g, name))",
    # What the changing statements work on.
    "CREATE TABLE work (id INT PRIMARY KEY AUTO_INCREMENT, a TINYINT, b INT UNSIGNED NOT NULL DEFAULT 5, c VARCHAR(6), d DECIMAL(5,2), "
    "e ENUM('x','y','zz') NOT NULL, f DATE, s CHAR(3) NOT NULL, UNIQUE KEY ua (a), UNIQUE KEY uc (c, b))",
    "CREATE TABLE plain (a INT, b VARCHAR(10), c DOUBLE)",
    "CREATE TABLE wide (k1 VARCHAR(5), k2 INT, u BIGINT UNSIGNED, bt BIT(4), y YEAR, t TIME, dt DATETIME NOT NULL, ts TIMESTAMP NULL, vb VARBINARY(3), "
    "tx TINYTEXT, fl FLOAT, st SET('p','q') NOT NULL, PRIMARY KEY (k1, k2))",
]
CHANGED = {"work": "id", "plain": None, "wide": "k1, k2"}


class Statements:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.make = Expressions(self.random)

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    # --- what is there to read ---
    def data(self):
        make, r = self.make, self.random
        for number in range(40):
            def num(low, high):
                return "NULL" if r.random() < 0.12 else str(r.choice([low, high, 0, 1, 7, r.randint(low, high), r.randint(max(low, -20), min(high, 20))]))
            yield (f"INSERT INTO nums VALUES ({number}, {num(-128, 127)}, {num(0, 255)}, {num(-32768, 32767)}, {num(-2**23, 2**23 - 1)}, "
                   f"{num(-2**31, 2**31 - 1)}, {num(0, 2**32 - 1)}, {num(-2**63, 2**63 - 1)}, {num(0, 2**64 - 1)}, "
                   f"{r.choice(['NULL', '0', '-1.5', '1.5', '0.001', '1234567.891', '-0.125', '12.340', str(r.randint(-99999, 99999) / 1000)])}, "
                   f"{num(-10**19, 10**19)}, {r.choice(['NULL', '0', '0.5', '-1.25', '3', '1e10', '1024.5'])}, "
                   f"{r.choice(['NULL', '0', '0.1', '-2.5', '1e100', '3.5', '12', '-1e-5', str(r.randint(-1000, 1000) / 8)])}, "
                   f"{r.choice(['NULL', '1901', '1999', '2024', '2155', '0'])}, {r.choice(['NULL', '0', '1', '5', '1023', '512'])})")
            text = lambda longest: make.text(longest)
            raw = lambda longest: r.choice(["NULL", "''", "'ab'", "'AB'", "x'00'", "x'ff01'", "'a '", "'1'", "'zz'"])
            yield (f"INSERT INTO strs VALUES ({number}, {text(8)}, {text(30)}, {text(30)}, {text(200)}, {raw(4)}, {raw(12)}, {raw(50)}, "
                   f"{r.choice(['NULL', 1, 2, 3, 4])}, {r.choice(['NULL', 0, 1, 2, 3, 5, 8, 15])})")
            yield (f"INSERT INTO times VALUES ({number}, {make.date()}, {make.time()}, {make.time()}, {make.datetime()}, {make.datetime()}, "
                   f"{r.choice(['NULL', repr('2024-02-29 12:00:00'), repr('1970-01-02 00:00:00'), repr('2038-01-18 03:14:07'), repr('2001-09-09 01:46:40')])})")
        names = ["'ann'", "'Bob'", "'bob'", "'Cyd'", "'Ärne'", "'dora'", "NULL", "''"]
        for number in range(60):
            yield (f"INSERT INTO people (g, name, amount, day) VALUES ({r.choice(['NULL', 1, 2, 3, 4, 5, 6, 9])}, {r.choice(names)}, "
                   f"{r.choice(['NULL', '0', '-1.5', str(r.randint(-9999, 9999) / 100), '10', '10.5'])}, {make.date()})")
        for number, (group, name) in enumerate([(1, "'red'"), (2, "'blue'"), (3, "'ann'"), (3, "'bob'"), ("NULL", "'none'"), (7, "NULL"), (7, "'Cyd'"), (4, "''")]):
            yield f"INSERT INTO teams VALUES ({number}, {group}, {name}, {make.date()})"

    # --- SELECT ---
    def value_query(self):
        """Expressions of literals alone."""
        items = ", ".join(self.make.expression(self.make.kind(), {}, self.random.randint(1, 3)) for _ in range(self.random.randint(1, 3)))
        return "SELECT " + items

    def columns(self, table, alias=None):
        columns = {}
        for name, kind in TABLES[table]:
            columns.setdefault(kind, []).append(f"{alias}.{name}" if alias else name)
        return columns

    def any_column(self, table, alias=None):
        name, kind = self.random.choice(TABLES[table])
        return (f"{alias}.{name}" if alias else name), kind

    def column_query(self):
        """Expressions of one table's columns, in the order of its key."""
        table = self.pick("nums", "strs", "times", "people")
        columns = self.columns(table)
        items = ["id"]
        for _ in range(self.random.randint(1, 3)):
            items.append(self.make.expression(self.make.kind_of(columns), columns, self.random.randint(1, 2)))
        where = f" WHERE {self.make.condition(columns, 2)}" if self.chance(0.4) else ""
        return f"SELECT {', '.join(items)} FROM {table}{where} ORDER BY id"

    def range_query(self):
        """Conditions an index can serve, with values of its own and of other types."""
        table = self.pick("nums", "strs", "times", "people", "teams")
        parts = []
        for _ in range(self.random.randint(1, 3)):
            column, kind = self.any_column(table)
            parts.append(self.make.comparison_with_value(column, kind))
        where = self.pick(" AND ", " AND ", " OR ").join(parts)
        key = "k" if table == "teams" else "id"
        if self.chance(0.2):
            where = f"NOT ({where})"
        order = f" ORDER BY {key}"
        if self.chance(0.3):
            column, _ = self.any_column(table)
            order = f" ORDER BY {column}{self.pick('', ' DESC', ' ASC')}, {key}{self.pick('', ' DESC')}"
        limit = self.pick("", "", " LIMIT 5", " LIMIT 3, 4", " LIMIT 4 OFFSET 2", " LIMIT 0")
        return f"SELECT {self.pick('*', key, column + ', ' + key)} FROM {table} WHERE {where}{order}{limit}"

    def from_clause(self):
        """A join, and what its tables are called."""
        tables = [("people", "a"), ("teams", "b"), (self.pick("people", "teams"), "c")][:self.random.randint(2, 3)]
        self.random.shuffle(tables)
        text = f"{tables[0][0]} {tables[0][1]}"
        for i, (table, alias) in enumerate(tables[1:], 1):
            other = tables[self.random.randrange(i)][1]
            on = self.pick(f"{alias}.g = {other}.g", f"{alias}.g = {other}.g", f"{alias}.name = {other}.name", f"{alias}.g < {other}.g",
                           f"{alias}.g = {other}.g AND {alias}.name = {other}.name", f"{alias}.g = {other}.g AND {other}.name > 'b'",
                           f"{alias}.g <=> {other}.g")
            kind = self.pick("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "CROSS JOIN", ",")
            if kind == "CROSS JOIN" or kind == ",":
                text += f"{kind if kind == ',' else ' ' + kind} {table} {alias}"
                if kind == ",":
                    break_on = i
                    tables = tables[:break_on + 1]
                    break
            else:
                text += f" {kind} {table} {alias} ON {on}"
        return text, tables

    def join_query(self):
        text, tables = self.from_clause()
        items, columns = [], {}
        for table, alias in tables:
            for kind, names in self.columns(table, alias).items():
                columns.setdefault(kind, []).extend(names)
            items.append(self.any_column(table, alias)[0])
            items.append(f"{alias}.{'k' if table == 'teams' else 'id'}")
        where = f" WHERE {self.make.condition(columns, 1)}" if self.chance(0.5) else ""
        if self.chance(0.15):
            items = ["*"]
        return f"SELECT {', '.join(items)} FROM {text}{where}"

    def row_comparison_query(self):
        """Rows compared behind an outer join: what is NULL there makes it true, false or unknown by where it stands."""
        sides = [self.pick("a.g", "b.k", "b.g"), self.pick("a.name", "b.name")]
        others = [self.pick("3", "b.g", "a.g", "NULL", "7"), self.pick("'ann'", "a.name", "b.name", "NULL", "'x'")]
        if self.chance(0.3):
            sides.reverse()
            others.reverse()
        condition = f"({', '.join(sides)}) {self.pick('=', '<>', '<', '<=', '>', '>=', '<=>')} ({', '.join(others)})"
        if self.chance(0.3):
            condition = f"{self.pick('NOT ', '')}({condition} {self.pick('AND', 'OR')} {self.pick('a.id > 20', 'b.k IS NULL', 'b.k < 4')})"
        return (f"SELECT a.id, b.k, b.name FROM people a {self.pick('LEFT', 'LEFT', 'RIGHT')} JOIN teams b ON {self.pick('a.g = b.g', 'a.name = b.name', 'a.g < b.g')} "
                f"WHERE {condition} ORDER BY a.id, b.k")

    def using_query(self):
        join = self.pick("JOIN", "LEFT JOIN", "RIGHT JOIN")
        condition = self.pick("USING (g)", "USING (g, name)", "USING (name)")
        if self.chance(0.4):
            join, condition = f"NATURAL {self.pick('', 'LEFT ', 'RIGHT ')}JOIN", ""
        items = self.pick("*", "g, people.id, teams.k", "name, people.g", "g, name", "people.*, teams.name", "COUNT(*)")
        return f"SELECT {items} FROM people {join} teams {condition}"

    def group_query(self):
        table = self.pick("people", "people", "nums", "strs", "times")
        columns = self.columns(table)
        groups = [self.any_column(table)[0] for _ in range(self.random.randint(0, 2))]
        if groups and self.chance(0.2):
            groups[0] = self.make.expression(self.make.kind_of(columns), columns, 1)
        items = groups + [self.make.aggregate(columns) for _ in range(self.random.randint(1, 3))]
        text = f"SELECT {', '.join(items)} FROM {table}"
        if self.chance(0.3):
            text += f" WHERE {self.make.condition(columns, 1)}"
        if groups:
            text += " GROUP BY " + ", ".join(self.pick(group, group, str(i + 1)) for i, group in enumerate(groups))
        if self.chance(0.3):
            text += f" HAVING {self.make.aggregate(columns)} {self.pick('>', '<', '=', '<>', '>=')} {self.make.literal('int')}"
        return text

    def full_group_query(self):
        """Columns outside GROUP BY: 1055, unless they depend on what is grouped by."""
        return self.pick(
            "SELECT g, name FROM people GROUP BY g", "SELECT id, name FROM people GROUP BY id", "SELECT name, COUNT(*) FROM people",
            "SELECT g, COUNT(*) FROM people GROUP BY name", "SELECT g + 1, COUNT(*) FROM people GROUP BY g",
            "SELECT g, MAX(name) FROM people GROUP BY g ORDER BY amount", "SELECT g FROM people GROUP BY g HAVING amount > 3",
            "SELECT g FROM people GROUP BY g HAVING MAX(amount) > 3", "SELECT MAX(id), g FROM people WHERE g = 3 GROUP BY g",
            "SELECT k, name FROM teams GROUP BY k", "SELECT UPPER(name) u, COUNT(*) FROM people GROUP BY u",
            "SELECT UPPER(name), COUNT(*) FROM people GROUP BY UPPER(name)", "SELECT a.id, a.name, COUNT(*) FROM people a JOIN teams b ON a.g = b.g GROUP BY a.id",
            "SELECT DISTINCT name FROM people GROUP BY name, g", "SELECT a.g, b.name FROM people a JOIN teams b ON a.g = b.g GROUP BY a.g",
            "SELECT g, ANY_VALUE(1) FROM people GROUP BY g" if False else "SELECT g, 1 FROM people GROUP BY g",
            "SELECT g FROM people GROUP BY g ORDER BY COUNT(*), g", "SELECT COUNT(*), (SELECT MAX(k) FROM teams) FROM people",
            "SELECT IFNULL(g, 0) x FROM people GROUP BY IFNULL(g, 0) ORDER BY x", "SELECT g, g * 2 FROM people GROUP BY g, name ORDER BY name, g")

    def distinct_query(self):
        table = self.pick("people", "nums", "strs", "times", "teams")
        items = ", ".join(self.any_column(table)[0] for _ in range(self.random.randint(1, 2)))
        return f"SELECT DISTINCT {items} FROM {table}"

    def union_query(self):
        kind = self.pick("int", "str", "dec", "date", "real", "datetime")
        parts = []
        for _ in range(self.random.randint(2, 3)):
            table = self.pick("people", "nums", "strs", "times", "teams")
            columns = self.columns(table)
            names = columns.get(kind) or [self.make.literal(kind)]
            parts.append(f"SELECT {self.random.choice(names)} AS x FROM {table}" + (f" WHERE {self.make.condition(columns, 1)}" if self.chance(0.3) else ""))
        text = parts[0]
        for part in parts[1:]:
            text += f" {self.pick('UNION', 'UNION ALL', 'UNION DISTINCT')} {part}"
        return text + self.pick("", "", " ORDER BY x", " ORDER BY 1 DESC", " ORDER BY x LIMIT 7" if "ALL" not in text and kind != "str" else "")

    def subquery(self):
        columns = self.columns("people", "a")
        choices = [
            lambda: f"a.g {self.pick('IN', 'NOT IN')} (SELECT g FROM teams WHERE {self.make.condition(self.columns('teams'), 1)})",
            lambda: f"{self.pick('EXISTS', 'NOT EXISTS')} (SELECT 1 FROM teams b WHERE b.g = a.g)",
            lambda: f"{self.pick('EXISTS', 'NOT EXISTS')} (SELECT * FROM teams b WHERE b.name = a.name AND b.k > {self.make.literal('int')})",
            lambda: f"a.amount {self.pick('>', '<', '=', '>=')} (SELECT {self.pick('AVG', 'MAX', 'MIN')}(amount) FROM people)",
            lambda: f"a.amount {self.pick('>', '<', '>=')} (SELECT {self.pick('AVG', 'MAX', 'MIN')}(amount) FROM people c WHERE c.g = a.g)",
            lambda: f"(a.g, a.name) {self.pick('IN', 'NOT IN')} (SELECT g, name FROM teams)",
            lambda: f"a.g {self.pick('>', '<', '=', '>=', '<>')} {self.pick('ANY', 'ALL', 'SOME')} (SELECT k FROM teams WHERE k > {self.random.randint(0, 9)})",
            lambda: f"a.name {self.pick('IN', 'NOT IN')} (SELECT name FROM teams b WHERE b.g >= a.g)",
            lambda: f"a.g = (SELECT b.g FROM teams b WHERE b.k = {self.random.randint(0, 9)})",
            lambda: f"(SELECT COUNT(*) FROM teams b WHERE b.g = a.g) {self.pick('=', '>', '<')} {self.random.randint(0, 2)}",
            lambda: f"a.id IN (SELECT MAX(id) FROM people c GROUP BY c.g HAVING COUNT(*) > {self.random.randint(1, 6)})",
            lambda: "EXISTS (SELECT 1 FROM teams b WHERE b.g = a.g AND EXISTS (SELECT 1 FROM people c WHERE c.name = b.name AND c.id <> a.id))",
        ]
        where = self.random.choice(choices)()
        if self.chance(0.3):
            where += f" {self.pick('AND', 'OR')} {self.random.choice(choices)()}"
        items = "a.id"
        if self.chance(0.4):
            items += self.pick(", (SELECT COUNT(*) FROM teams b WHERE b.g = a.g)", ", (SELECT MAX(name) FROM teams)", ", (SELECT MIN(c.id) FROM people c WHERE c.g = a.g)",
                               ", a.g IN (SELECT g FROM teams)", ", (SELECT name FROM teams b WHERE b.g = a.g)", ", (SELECT a.g + k FROM teams WHERE k = 2)")
        return f"SELECT {items} FROM people a WHERE {where} ORDER BY a.id"

    def derived_query(self):
        return self.pick(
            lambda: f"SELECT x.g, x.n FROM (SELECT g, COUNT(*) AS n FROM people GROUP BY g) x WHERE x.n {self.pick('>', '<', '=')} {self.random.randint(1, 9)} ORDER BY x.g",
            lambda: "SELECT a.id, x.m FROM people a JOIN (SELECT g, MAX(amount) AS m FROM people GROUP BY g) x ON x.g = a.g AND x.m = a.amount ORDER BY a.id",
            lambda: f"WITH x AS (SELECT g, SUM(amount) AS s FROM people GROUP BY g) SELECT g, s FROM x WHERE s > {self.make.literal('int')} ORDER BY g",
            lambda: "WITH x AS (SELECT k, g FROM teams), y (n, h) AS (SELECT k + 1, g FROM x WHERE g IS NOT NULL) SELECT x.k, y.n FROM x JOIN y ON x.g = y.h ORDER BY x.k, y.n",
            lambda: f"SELECT COUNT(*), SUM(v) FROM (SELECT {self.make.expression('int', self.columns('nums'), 1)} AS v FROM nums) z",
        )()

    def wrong_query(self):
        return self.pick(
            "SELECT nope FROM people", "SELECT * FROM nowhere", "SELECT people.nope FROM people", "SELECT x.id FROM people", "SELECT id FROM people a, people b",
            "SELECT g FROM people JOIN teams ON people.g = teams.g", "SELECT * FROM people a JOIN teams a", "SELECT 1 FROM", "SELECT COUNT(*) FROM people WHERE COUNT(*) > 1",
            "SELECT SUM(COUNT(*)) FROM people", "SELECT (1, 2) = 1", "SELECT 1 WHERE (SELECT 1, 2) = 1", "SELECT (SELECT id FROM people)", "SELECT 1 UNION SELECT 1, 2",
            "SELECT NOFUNC(1)", "SELECT ABS(1, 2)", "SELECT id FROM people ORDER BY 9", "SELECT id FROM people GROUP BY 9", "SELECT id FROM people ORDER BY nope",
            "SELECT id FROM people LIMIT -1", "SELECT id FROM people HAVING nope > 1", "SELECT 'a' COLLATE nope", "SELECT * ", "SELECT id, * FROM people" if False else "SELEC 1",
            "SELECT nowhere.people.id FROM people", "SELECT id FROM nodb.people", "INSERT INTO people (id, id) VALUES (1, 2)", "INSERT INTO people (nope) VALUES (1)",
            "INSERT INTO people VALUES (1)", "INSERT INTO people (id) VALUES (100), (101, 2)", "UPDATE people SET nope = 1", "UPDATE people SET id = 1 WHERE nope = 2",
            "DELETE FROM people WHERE nope = 2", "DELETE FROM nowhere", "SELECT @@nope", "SELECT a.* FROM people", "SELECT 1 FROM people WHERE id = (SELECT id FROM people)",
            "SELECT 9223372036854775807 + 1", "SELECT -9223372036854775808 - 1", "SELECT 18446744073709551615 + 1", "SELECT CAST(0 AS UNSIGNED) - 1", "SELECT EXP(1000)",
            "SELECT 1e308 * 10", "SELECT ~0 * 2", "SELECT id FROM people WHERE id IN (SELECT id, g FROM people)", "SELECT 'abc", "SELECT `id FROM people", "SELECT 1 +",
            "SELECT ((1)", "INSERT INTO teams VALUES (0, 1, 'x', NULL)", "INSERT INTO teams (g) VALUES (1)", "INSERT INTO teams (k) VALUES (NULL)",
            "SELECT AVG(DISTINCT)", "SELECT COUNT()", "SELECT people.g.x FROM people", "SELECT CAST(1 AS NOPE)", "SELECT INTERVAL 1 DAY", "SELECT DATE_ADD('2024-01-01', INTERVAL 1 NOPE)")

    # --- changes ---
    def value_for(self, wild=0.35):
        kind = self.make.kind()
        if self.chance(wild):
            return self.make.literal(kind)
        return self.pick("NULL", "DEFAULT", "1", "2", "5", "'x'", "'y'", "'a'", "'b'", "3.14", "'2024-02-29'", "300", "-1", "'toolongvalue'", "'12abc'", "''", "'abc   '")

    WORK = {"id": ["NULL", "0", "1", "2", "3", "5", "9", "DEFAULT", "'7'", "'x'"], "a": ["NULL", "1", "2", "3", "127", "128", "-129", "'4'", "'5x'", "2.5", "''"],
            "b": ["1", "2", "-1", "NULL", "DEFAULT", "4294967296", "'9'", "7.49", "1e3"], "c": ["'a'", "'A'", "'ab'", "NULL", "'toolongvalue'", "'abcdef '", "12", "1.50", "''"],
            "d": ["1", "1.005", "999.99", "999.995", "1000", "-1000", "'1.5'", "'abc'", "NULL", "'1.239'", "1e2"], "e": ["'x'", "'y'", "'Y'", "'zz'", "'nope'", "1", "4", "NULL", "0", "''"],
            "f": ["'2024-02-29'", "'2023-02-29'", "NULL", "'nope'", "'20240131'", "20240131", "'2024-01-01 10:11:12'", "0", "'0000-00-00'", "'2024-00-10'"],
            "s": ["'a'", "'abc'", "'abcd'", "'ab '", "NULL", "'äöü'", "1", "DEFAULT"]}
    WIDE = {"k1": ["'a'", "'A'", "'b'", "'ab '", "NULL", "'toolong'"], "k2": ["1", "2", "3", "NULL", "'x'", "2147483648"], "u": ["0", "18446744073709551615", "18446744073709551616", "-1", "NULL", "1.5", "'12'"],
            "bt": ["0", "b'101'", "15", "16", "'a'", "NULL"], "y": ["0", "70", "69", "1900", "2024", "'24'", "2156", "NULL", "'0'"], "t": ["'10:11:12'", "'839:00:00'", "101112", "'-1:00'", "'x'", "NULL", "'1 10:00:00'", "'10:11:12.6'"],
            "dt": ["'2024-02-29 10:11:12'", "'2024-02-29'", "'2024-02-30'", "NULL", "20240229101112", "'2024-02-29 10:11:12.7'", "'x'"], "ts": ["NULL", "'2024-02-29 10:11:12'", "'1969-12-31 00:00:00'", "'2039-01-01 00:00:00'", "0"],
            "vb": ["'abc'", "'abcd'", "x'00'", "NULL", "''"], "tx": ["'text'", "NULL", "REPEAT('x', 300)", "12"], "fl": ["0.1", "1e38", "1e39", "'1.5x'", "NULL", "-1.5", "16777217"], "st": ["'p'", "'q,p'", "'r'", "3", "4", "''", "NULL"]}

    def insert(self):
        table = self.pick("work", "work", "work", "wide", "plain")
        if table == "plain":
            columns = self.pick(("a", "b", "c"), ("a",), ("c", "b"))
            value = lambda column: self.value_for()
        else:
            pool = self.WORK if table == "work" else self.WIDE
            columns = [name for name in pool if self.chance(0.75 if table == "work" else 0.85)] or list(pool)[:1]
            value = lambda column: self.random.choice(pool[column][:3]) if self.chance(0.7) else self.random.choice(pool[column])
        rows = ", ".join(f"({', '.join(value(column) for column in columns)})" for _ in range(self.pick(1, 1, 1, 2, 3)))
        verb = self.pick("INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO")
        text = f"{verb} {table} ({', '.join(columns)}) VALUES {rows}"
        if verb.startswith("INSERT") and table == "work" and self.chance(0.3):
            text += " ON DUPLICATE KEY UPDATE " + self.pick("d = VALUES(d), s = 'dup'", "b = b + 1", "a = NULL", "c = CONCAT(c, 'x')", "id = id + 100", "d = d + 1, b = VALUES(b)", "s = VALUES(s)", "a = a")
        return table, text

    def insert_select(self):
        return self.pick(
            ("plain", "INSERT INTO plain SELECT id, name, amount FROM people WHERE g = 3"), ("plain", "INSERT INTO plain (b) SELECT DISTINCT name FROM teams"),
            ("work", f"INSERT IGNORE INTO work (a, c, s) SELECT id, name, LEFT(name, 2) FROM people WHERE id < {self.random.randint(1, 12)} ORDER BY id"),
            ("work", "REPLACE INTO work (a, c, e, s) SELECT k, name, 1 + k, 'r' FROM teams ORDER BY k"), ("plain", "INSERT INTO plain SELECT a + 1, b, c FROM plain LIMIT 2") if False else
            ("work", "INSERT INTO work (a, b, s) SELECT id, 1, 'q' FROM people WHERE id BETWEEN 2 AND 4 ORDER BY id ON DUPLICATE KEY UPDATE d = 1.5, b = VALUES(b) + work.b"),
            ("plain", "INSERT INTO plain SELECT 1, 2"), ("plain", "INSERT INTO plain SELECT COUNT(*), MAX(name), AVG(amount) FROM people"))

    def update(self):
        table = self.pick("work", "work", "wide", "plain")
        if table == "plain":
            sets, where = self.pick("a = a + 1", "b = UPPER(b)", "c = c * 2, a = NULL", "b = 'waytoolongvalue'"), self.pick("", " WHERE a > 3", " WHERE b LIKE 'a%'", " WHERE c IS NULL")
            return table, f"UPDATE {self.pick('', '', 'IGNORE ')}{table} SET {sets}{where}"
        pool = self.WORK if table == "work" else self.WIDE
        names = self.random.sample(list(pool), self.pick(1, 1, 2))
        sets = ", ".join(f"{name} = {self.random.choice(pool[name])}" for name in names)
        key = "id" if table == "work" else "k2"
        if table == "work" and self.chance(0.2):
            sets = self.pick("a = a + 1", "b = b * 2", "d = d / 3", "c = CONCAT(c, c)", "id = id + 1000", "a = b", "d = -d, a = d", "b = (SELECT MAX(k) FROM teams)")
        where = self.pick(f" WHERE {key} = {self.random.randint(1, 9)}", f" WHERE {key} > {self.random.randint(1, 9)}", f" WHERE {key} IN (1, 2, 3)",
                          f" WHERE {key} BETWEEN 2 AND 6 ORDER BY {key} DESC{', k1' if table == 'wide' else ''} LIMIT 2", "", f" WHERE {key} IN (SELECT k FROM teams WHERE g = 3)")
        return table, f"UPDATE {self.pick('', '', '', 'IGNORE ')}{table} SET {sets}{where or ' ORDER BY ' + key}"

    def delete(self):
        table = self.pick("work", "work", "wide", "plain")
        where = {"work": ["WHERE id > 6", "WHERE a IS NULL", "WHERE c = 'A'", "ORDER BY id LIMIT 1", "WHERE d > 1 ORDER BY id DESC LIMIT 2", "WHERE EXISTS (SELECT 1 FROM teams WHERE teams.k = work.a)"],
                 "wide": ["WHERE k2 = 1", "WHERE k1 = 'a'", "WHERE bt = 5", "WHERE y > 2000"], "plain": ["WHERE a > 2", "WHERE b IS NULL", "WHERE c > 1", ""]}[table]
        return table, f"DELETE FROM {table} {self.random.choice(where)}"

    def multi_table_change(self):
        return self.pick(
            ("work", "UPDATE work JOIN teams ON work.a = teams.k SET work.d = teams.k, work.s = 'jn'"), ("work", "UPDATE work, teams SET work.b = work.b + teams.k WHERE work.a = teams.k"),
            ("work", "DELETE work FROM work JOIN teams ON work.a = teams.k WHERE teams.g = 3"), ("work", "DELETE FROM work USING work JOIN teams ON work.b = teams.k WHERE teams.k > 5"),
            ("work", "UPDATE work LEFT JOIN teams ON work.a = teams.k SET work.c = teams.name WHERE work.id < 5"))

    QUERIES = (("value_query", 30), ("column_query", 24), ("range_query", 24), ("join_query", 10), ("row_comparison_query", 4), ("using_query", 3), ("group_query", 12), ("full_group_query", 2),
               ("distinct_query", 4), ("union_query", 5), ("subquery", 8), ("derived_query", 3), ("wrong_query", 6))
    CHANGES = (("insert", 10), ("insert_select", 1), ("update", 4), ("delete", 1), ("multi_table_change", 1))

    def query(self):
        name, = self.random.choices([name for name, _ in self.QUERIES], [weight for _, weight in self.QUERIES])
        return name, getattr(self, name)()

    def change(self):
        name, = self.random.choices([name for name, _ in self.CHANGES], [weight for _, weight in self.CHANGES])
        return (name, *getattr(self, name)())
