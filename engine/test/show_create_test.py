"""What SHOW CREATE TABLE says makes the same table again."""

import random
import unittest

from commitd_process import Commitd, code_of

TABLES = 150
KEY_COMMENTS = ("", "", " COMMENT 'it''s'")
TEXTS = ("", "a", "it''s", "back\\\\slash", "line\\nend", "é", "%")


def integer(rng):
    name = rng.choice(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "TINYINT(1)", "BOOLEAN"))
    unsigned = rng.random() < 0.4 and name != "BOOLEAN"
    return name + " UNSIGNED" * unsigned, [str(rng.randrange(0 if unsigned else -128, 100)), "'7'"]


def text(rng):
    charset = rng.choice(("", "", " CHARACTER SET latin1", " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", " COLLATE utf8mb4_general_ci"))
    return rng.choice(("CHAR(12)", "VARCHAR(12)", "VARCHAR(300)")) + charset, [f"'{rng.choice(TEXTS)}'"]


def bytes_(rng):
    return rng.choice(("BINARY(4)", "VARBINARY(9)")), ["x'00ff80'", "'ab'", "0x41"]


def moment(rng):
    places = rng.choice(("", "(3)", "(6)"))
    name = rng.choice(("DATETIME", "TIMESTAMP"))
    now = f"CURRENT_TIMESTAMP{places}"
    return name + places, [now, f"{now} ON UPDATE {now}", "'2001-02-03 04:05:06'"]


KINDS = (integer, integer, text, text, bytes_, moment,
         lambda rng: (f"DECIMAL({rng.choice(('5,2', '10,0', '30,10'))})", ["1.5", "-0.25", "0"]),
         lambda rng: (rng.choice(("FLOAT", "DOUBLE", "DOUBLE UNSIGNED", "FLOAT(7,3)", "DOUBLE(10,2) UNSIGNED")), ["1.5", "0"]),
         lambda rng: (f"BIT({rng.randrange(3, 65)})", ["b'101'", "5", "b'0'"]),
         lambda rng: (rng.choice(("DATE", "YEAR")), ["2001" if rng.random() < 0 else "NULL"]),
         lambda rng: ("TIME(2)", ["'-12:34:56.78'"]),
         lambda rng: ("ENUM('a','it''s','c,d')", ["'it''s'", "1"]),
         lambda rng: ("SET('x','y','z')", ["'x,z'", "''", "3"]),
         lambda rng: (rng.choice(("TEXT", "BLOB", "JSON", "LONGTEXT")), []))
LARGE = ("TEXT", "BLOB", "JSON", "LONGTEXT", "VARCHAR(300)")


def table(rng):
    """Whose statement may be refused: then it is no table."""
    columns, keys = [], []
    for number in range(rng.randrange(1, 8)):
        kind, defaults = rng.choice(KINDS)(rng)
        column = f"`c{number}` {kind}"
        if rng.random() < 0.3:
            column += rng.choice((" NOT NULL", " NULL"))
        if defaults and rng.random() < 0.6:
            column += f" DEFAULT {rng.choice(defaults)}"
        if rng.random() < 0.2:
            column += f" COMMENT '{rng.choice(TEXTS)}'"
        if kind.split()[0] not in LARGE and rng.random() < 0.4:
            keys.append(f"{rng.choice(('KEY', 'UNIQUE KEY', 'PRIMARY KEY' if not any('PRIMARY' in key for key in keys) else 'KEY'))} (`c{number}`{rng.choice(('', ' DESC'))}){rng.choice(KEY_COMMENTS)}")
        columns.append(column)
    if not any("PRIMARY" in key for key in keys) and rng.random() < 0.5:
        columns.insert(0, "`odd ``name` INT AUTO_INCREMENT PRIMARY KEY")
    if rng.random() < 0.2:
        columns.append("CONSTRAINT `k` CHECK (`c0` IS NULL OR `c0` <> '9')")
    options = rng.choice(("", " ENGINE=InnoDB", " ENGINE=MEMORY", " DEFAULT CHARSET=latin1", " COMMENT='it''s'", " AUTO_INCREMENT=77"))
    return f"CREATE TABLE t ({', '.join(columns + keys)}){options}"


class ShowCreateTest(unittest.TestCase):
    def test_the_same_table_is_made_again(self):
        server = self.enterContext(Commitd())
        server.query("CREATE DATABASE d")
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.select_db("d")

        def run_sql(sql):
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall()

        def described():
            return run_sql("SHOW CREATE TABLE t")[0][1], run_sql("SELECT * FROM information_schema.columns WHERE table_schema = 'd'"), run_sql("SHOW INDEX FROM t")

        made = 0
        for seed in range(TABLES):
            statement = table(random.Random(seed))
            if code_of(lambda statement=statement: run_sql(statement)) is not None:
                continue
            made += 1
            with self.subTest(statement):
                first = described()
                run_sql("DROP TABLE t")
                run_sql(first[0])
                self.assertEqual(described(), first)
            run_sql("DROP TABLE IF EXISTS t")
        self.assertGreater(made, TABLES // 2)


if __name__ == "__main__":
    unittest.main()
