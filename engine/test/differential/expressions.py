"""Expressions made up at random, by the kind of value they have."""

INTEGERS = ["0", "1", "2", "3", "7", "10", "-1", "-5", "127", "128", "255", "256", "-128", "-129", "32767", "65536", "2147483647", "2147483648",
            "-2147483648", "4294967295", "9223372036854775807", "-9223372036854775808", "18446744073709551615"]
DECIMALS = ["0.0", "0.5", "1.5", "-2.5", "0.05", "123.456", "-0.001", "99.995", "10.00", "12345678901234.5678", "0.1", "3.0"]
REALS = ["0e0", "1e0", "1.5e3", "-2e-2", "1e10", "2.5e0", "1e100"]
TEXTS = ["", "a", "A", "abc", "ABC", "abd", "a b", "b", "Bob", "ann", "ä", "Ä", "é", "E", "straße", "Ωmega", "日本", "12", "12abc", "-3.5", "1e2", "0", "  7", " x ", "x", "a%", "a_c",
         "it''s", "2024-02-29", "10:11:12", "c,d", "a,b,c", "small", "🙂"]
PATTERNS = ["%", "a%", "%b%", "_", "__", "A_C", "%c", "", "a\\\\%", "%ä%", "1%", "a%c%", "_b%"]
REGEXPS = ["^a", "b$", "a.c", "^[0-9]+$", "[[:alpha:]]+", "a|b", "x*", "^$", "[a-c]{2}"]
DATES = ["'2024-02-29'", "'2023-12-31'", "'2000-01-01'", "'1999-12-31'", "'1970-01-01'", "'2024-03-01'", "'9999-12-31'", "'1000-01-01'"]
TIMES = ["'10:11:12'", "'00:00:00'", "'-01:02:03'", "'23:59:59'", "'100:00:00'", "'12:34:56.789'"]
DATETIMES = ["'2024-02-29 10:11:12'", "'2023-12-31 23:59:59'", "'2000-01-01 00:00:00'", "'1999-12-31 12:34:56.789012'", "'2024-03-10 02:30:00'", "'1970-01-01 00:00:01'"]
UNITS = ["DAY", "MONTH", "YEAR", "WEEK", "QUARTER", "HOUR", "MINUTE", "SECOND", "MICROSECOND"]
COMPOSITE = {"DAY_HOUR": "'1 2'", "DAY_MINUTE": "'1 2:3'", "DAY_SECOND": "'1 2:3:4'", "HOUR_MINUTE": "'1:30'", "HOUR_SECOND": "'1:2:3'", "MINUTE_SECOND": "'5:6'", "YEAR_MONTH": "'1-2'",
             "SECOND_MICROSECOND": "'1.5'", "DAY_MICROSECOND": "'1 2:3:4.5'"}
COMPARISONS = ["=", "<", ">", "<=", ">=", "<>", "!=", "<=>"]
KINDS = ["int", "int", "dec", "real", "str", "str", "date", "datetime", "time", "uint"]


class Expressions:
    def __init__(self, random):
        self.random = random

    def pick(self, *choices):
        return self.random.choice(choices)

    def kind(self):
        return self.random.choice(KINDS)

    def kind_of(self, columns):
        return self.random.choice([kind for kind in columns if kind not in ("bin", "year")] + KINDS[:3])

    # --- literals ---
    def text(self, longest):
        if self.random.random() < 0.12:
            return "NULL"
        return "'" + self.random.choice([text for text in TEXTS if len(text.replace("''", "'")) <= longest]) + "'"

    def date(self):
        return "NULL" if self.random.random() < 0.12 else self.random.choice(DATES)

    def time(self):
        return "NULL" if self.random.random() < 0.12 else self.random.choice(TIMES)

    def datetime(self):
        return "NULL" if self.random.random() < 0.12 else self.random.choice(DATETIMES)

    def literal(self, kind):
        if self.random.random() < 0.06:
            return "NULL"
        if kind == "int":
            return self.random.choice(INTEGERS[:-1]) if self.random.random() < 0.6 else str(self.random.randint(-20, 20))
        if kind == "year":
            return self.pick("1901", "1999", "2024", "2155", "2000")
        if kind == "uint":
            return self.random.choice([number for number in INTEGERS if number[0] != "-"])
        if kind == "dec":
            return self.random.choice(DECIMALS)
        if kind == "real":
            return self.random.choice(REALS)
        if kind == "date":
            return f"DATE {self.random.choice(DATES)}"
        if kind == "time":
            return f"TIME {self.random.choice(TIMES)}"
        if kind == "datetime":
            return f"TIMESTAMP {self.random.choice(DATETIMES)}"
        if kind == "bin":
            return self.pick("'ab'", "x'ff01'", "'a '", "BINARY 'AB'")
        return self.text(100)

    def leaf(self, kind, columns):
        if columns.get(kind) and self.random.random() < 0.75:
            return self.random.choice(columns[kind])
        return self.literal(kind)

    # --- expressions ---
    def expression(self, kind, columns, depth):
        if depth <= 0:
            return self.leaf(kind, columns)
        def of(other, less=1):
            return self.expression(other, columns, depth - less)
        if self.random.random() < 0.12:
            return self.any_kind(kind, columns, depth, of)
        return getattr(self, {"uint": "int", "year": "int"}.get(kind, kind) + "_expression")(columns, depth, of)

    def any_kind(self, kind, columns, depth, of):
        return self.pick(
            lambda: f"COALESCE({of(kind)}, {of(kind)})", lambda: f"IFNULL({of(kind)}, {of(kind)})", lambda: f"NULLIF({of(kind)}, {of(kind)})",
            lambda: f"IF({self.condition(columns, depth - 1)}, {of(kind)}, {of(kind)})", lambda: f"GREATEST({of(kind)}, {of(kind)})", lambda: f"LEAST({of(kind)}, {of(kind)}, {of(kind)})",
            lambda: f"CASE WHEN {self.condition(columns, depth - 1)} THEN {of(kind)} ELSE {of(kind)} END",
            lambda: f"CASE {of('int')} WHEN {of('int')} THEN {of(kind)} WHEN {of('int')} THEN {of(kind)} END")()

    def int_expression(self, columns, depth, of):
        return self.pick(
            lambda: f"({of('int')} {self.pick('+', '-', '*', '%', 'DIV', '&', '|', '^', '<<', '>>')} {of('int')})",
            lambda: f"({of('int')} {self.pick('+', '-', '*', '%', 'DIV')} {of(self.pick('int', 'dec', 'real', 'str'))})",
            lambda: f"ABS({of('int')})", lambda: f"SIGN({of(self.pick('int', 'dec', 'real'))})", lambda: f"MOD({of('int')}, {of('int')})", lambda: f"-{of('int')}", lambda: f"~{of('int')}",
            lambda: f"FLOOR({of(self.pick('dec', 'real', 'int'))})", lambda: f"CEIL({of(self.pick('dec', 'real', 'int'))})", lambda: f"ROUND({of(self.pick('int', 'dec'))}{self.pick('', ', 1', ', -1')})",
            lambda: f"CAST({of(self.kind())} AS {self.pick('SIGNED', 'UNSIGNED')})", lambda: f"LENGTH({of(self.kind())})", lambda: f"CHAR_LENGTH({of('str')})", lambda: f"ASCII({of('str')})",
            lambda: f"ORD({of('str')})", lambda: f"LOCATE({of('str')}, {of('str')})", lambda: f"INSTR({of('str')}, {of('str')})", lambda: f"LOCATE({of('str')}, {of('str')}, {self.random.randint(0, 3)})",
            lambda: f"STRCMP({of('str')}, {of('str')})", lambda: f"FIELD({of('str')}, {of('str')}, {of('str')})", lambda: f"FIND_IN_SET({of('str')}, {of('str')})", lambda: f"BIT_COUNT({of('int')})",
            lambda: f"CRC32({of('str')})", lambda: f"({self.condition(columns, depth - 1)})", lambda: f"INTERVAL({of('int')}, 1, 5, 10)", lambda: f"BIT_LENGTH({of('str')})",
            lambda: f"{self.pick('YEAR', 'MONTH', 'DAY', 'QUARTER', 'DAYOFWEEK', 'DAYOFYEAR', 'WEEKDAY', 'TO_DAYS', 'WEEK', 'YEARWEEK', 'WEEKOFYEAR', 'DAYOFMONTH')}({of(self.pick('date', 'datetime'))})",
            lambda: f"{self.pick('HOUR', 'MINUTE', 'SECOND', 'MICROSECOND')}({of(self.pick('time', 'datetime'))})", lambda: f"DATEDIFF({of('date')}, {of('datetime')})",
            lambda: f"TIMESTAMPDIFF({self.pick(*UNITS)}, {of('datetime')}, {of('datetime')})", lambda: f"(TIME_TO_SEC({of('time')}) DIV 1)",
            lambda: f"EXTRACT({self.pick('YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'YEAR_MONTH', 'DAY_HOUR', 'HOUR_SECOND', 'QUARTER', 'WEEK')} FROM {of('datetime')})",
            lambda: f"TO_SECONDS({of('datetime')})", lambda: f"PERIOD_ADD(202401, {self.random.randint(-30, 30)})", lambda: f"PERIOD_DIFF(202401, 202{self.random.randint(1, 9)}05)",
            lambda: f"UNIX_TIMESTAMP(TIMESTAMP {self.random.choice(DATETIMES)})", lambda: f"ISNULL({of(self.kind())})")()

    def dec_expression(self, columns, depth, of):
        return self.pick(
            lambda: f"({of('dec')} {self.pick('+', '-', '*', '/', '%')} {of(self.pick('dec', 'int'))})", lambda: f"({of('int')} / {of('int')})", lambda: f"ROUND({of('dec')}, {self.random.randint(-2, 4)})",
            lambda: f"TRUNCATE({of('dec')}, {self.random.randint(-2, 4)})", lambda: f"CAST({of(self.pick('str', 'int', 'real', 'dec'))} AS DECIMAL({self.pick('10,2', '5,1', '20,6', '3,0', '10')}))",
            lambda: f"ABS({of('dec')})", lambda: f"-{of('dec')}", lambda: f"MOD({of('dec')}, {of('dec')})")()

    def real_expression(self, columns, depth, of):
        return self.pick(
            lambda: f"({of('real')} {self.pick('+', '-', '*', '/')} {of(self.pick('real', 'int', 'dec'))})", lambda: f"({of('str')} {self.pick('+', '-', '*', '/')} {of(self.pick('str', 'int'))})",
            lambda: f"SQRT({of(self.pick('int', 'dec'))})", lambda: f"ROUND({of('real')}, {self.random.randint(-1, 3)})", lambda: f"TRUNCATE({of('real')}, {self.random.randint(-1, 3)})",
            lambda: f"POW({of('int')}, {self.random.randint(-2, 3)})", lambda: f"{self.pick('LN', 'LOG2', 'LOG10', 'EXP', 'ATAN', 'DEGREES', 'RADIANS', 'ASIN', 'ACOS')}({self.literal('dec')})",
            lambda: f"ABS({of('real')})", lambda: f"-{of('real')}", lambda: "PI()", lambda: f"({of('str')} + 0)", lambda: f"CAST({of('str')} AS DOUBLE)", lambda: f"{self.pick('SIN', 'COS', 'TAN')}({self.literal('dec')})")()

    def str_expression(self, columns, depth, of):
        small = self.random.randint(-3, 6)
        return self.pick(
            lambda: f"CONCAT({of('str')}, {of(self.kind())})", lambda: f"CONCAT_WS({of('str')}, {of('str')}, {of(self.kind())}, {of('str')})", lambda: f"{self.pick('LOWER', 'UPPER', 'LCASE', 'UCASE')}({of('str')})",
            lambda: f"LEFT({of('str')}, {small})", lambda: f"RIGHT({of('str')}, {small})", lambda: f"SUBSTRING({of('str')}, {small})", lambda: f"SUBSTRING({of('str')}, {small}, {self.random.randint(-1, 5)})",
            lambda: f"SUBSTRING_INDEX({of('str')}, {self.pick(repr(','), repr(' '), repr('b'), repr(''))}, {self.random.randint(-2, 2)})", lambda: f"REPLACE({of('str')}, {of('str')}, {of('str')})",
            lambda: f"REVERSE({of('str')})", lambda: f"REPEAT({of('str')}, {small})", lambda: f"LPAD({of('str')}, {small}, {of('str')})", lambda: f"RPAD({of('str')}, {small}, {of('str')})",
            lambda: f"{self.pick('TRIM', 'LTRIM', 'RTRIM')}({of('str')})", lambda: f"TRIM({self.pick('LEADING', 'TRAILING', 'BOTH')} {self.pick(repr('a'), repr('x'), repr(' '))} FROM {of('str')})",
            lambda: f"HEX({of(self.pick('str', 'int', 'uint'))})", lambda: f"BIN({of('int')})", lambda: f"OCT({of('int')})", lambda: f"CONV({of('int')}, 10, {self.pick(2, 8, 16, 36)})",
            lambda: f"FORMAT({of(self.pick('int', 'dec'))}, {self.random.randint(0, 3)})", lambda: f"{self.pick('MD5', 'SHA1')}({of('str')})", lambda: f"SHA2({of('str')}, 256)",
            lambda: f"ELT({small}, {of('str')}, {of('str')})", lambda: f"INSERT({of('str')}, {small}, 2, {of('str')})", lambda: f"SPACE({small})", lambda: f"QUOTE({of('str')})",
            lambda: f"CAST({of(self.kind())} AS CHAR{self.pick('', '(3)', '(10)')})", lambda: f"MAKE_SET({of('int')}, 'a', 'b', 'c')", lambda: f"TO_BASE64({of('str')})", lambda: f"SOUNDEX({of('str')})",
            lambda: f"CHAR({self.random.randint(32, 126)}, {self.random.randint(32, 126)} USING utf8mb4)", lambda: f"DAYNAME({of('date')})", lambda: f"MONTHNAME({of('date')})", lambda: f"UNHEX(HEX({of('str')}))",
            lambda: f"DATE_FORMAT({of('datetime')}, {self.pick(repr('%Y-%m-%d'), repr('%H:%i:%s.%f'), repr('%W %D %M %y'), repr('%a %b %e %j'), repr('%r %T %p %l'), repr('%U %u %V %v %X %x'), repr('%h %I %k %c %%'))})",
            lambda: f"EXPORT_SET({of('int')}, 'Y', 'N', ',', 4)", lambda: f"TIME_FORMAT({of('time')}, '%H %k %h %i %s')", lambda: f"FROM_BASE64(TO_BASE64({of('str')}))", lambda: f"STRCMP({of('str')}, {of('str')})")()

    def date_expression(self, columns, depth, of):
        return self.pick(
            lambda: f"DATE({of(self.pick('datetime', 'date'))})", lambda: f"DATE_{self.pick('ADD', 'SUB')}({of('date')}, INTERVAL {self.random.randint(-40, 40)} {self.pick(*UNITS[:5])})", lambda: f"LAST_DAY({of('date')})",
            lambda: f"CAST({of('datetime')} AS DATE)", lambda: f"MAKEDATE({self.random.randint(1990, 2030)}, {self.random.randint(0, 400)})", lambda: f"FROM_DAYS({self.random.randint(700000, 740000)})",
            lambda: f"({of('date')} {self.pick('+', '-')} INTERVAL {self.random.randint(0, 400)} DAY)", lambda: f"STR_TO_DATE('{self.random.randint(1, 31)},{self.random.randint(1, 12)},20{self.random.randint(10, 30)}', '%d,%m,%Y')",
            lambda: f"ADDDATE({of('date')}, {self.random.randint(-40, 40)})")()

    def datetime_expression(self, columns, depth, of):
        unit = self.random.choice(list(COMPOSITE))
        return self.pick(
            lambda: f"DATE_{self.pick('ADD', 'SUB')}({of('datetime')}, INTERVAL {self.random.randint(-100, 100)} {self.pick(*UNITS)})", lambda: f"({of('datetime')} + INTERVAL {COMPOSITE[unit]} {unit})",
            lambda: f"CAST({of(self.pick('datetime', 'date'))} AS DATETIME{self.pick('', '(3)', '(6)')})", lambda: f"TIMESTAMP({of('date')}, {of('time')})", lambda: f"FROM_UNIXTIME({self.random.randint(0, 2000000000)})",
            lambda: f"ADDTIME({of('datetime')}, {of('time')})", lambda: f"TIMESTAMPADD({self.pick(*UNITS)}, {self.random.randint(-50, 50)}, {of('datetime')})", lambda: f"STR_TO_DATE('2024-03-0{self.random.randint(1, 9)} 10:11:12', '%Y-%m-%d %H:%i:%s')",
            lambda: f"CONVERT_TZ({of('datetime')}, '+00:00', '{self.pick('+02:00', '-05:30', '+00:00')}')", lambda: f"TIMESTAMP({of('datetime')})")()

    def time_expression(self, columns, depth, of):
        return self.pick(
            lambda: f"TIME({of('datetime')})", lambda: f"CAST({of(self.pick('datetime', 'time'))} AS TIME{self.pick('', '(2)')})", lambda: f"SEC_TO_TIME({self.random.randint(-9000, 90000)})",
            lambda: f"MAKETIME({self.random.randint(0, 30)}, {self.random.randint(0, 60)}, {self.random.randint(0, 60)})", lambda: f"TIMEDIFF({of('time')}, {of('time')})", lambda: f"ADDTIME({of('time')}, {of('time')})", lambda: f"SUBTIME({of('time')}, {of('time')})")()

    # --- conditions ---
    def condition(self, columns, depth):
        kind = self.kind_of(columns)
        plain = kind if kind not in ("date", "datetime", "time") else "int"
        def of(other):
            return self.expression(other, columns, max(0, depth - 1))
        choices = [
            lambda: f"{of(kind)} {self.pick(*COMPARISONS)} {of(kind)}", lambda: f"{of(plain)} {self.pick(*COMPARISONS)} {of(self.pick('int', 'dec', 'real', 'str'))}", lambda: f"{of(kind)} IS {self.pick('', 'NOT ')}NULL",
            lambda: f"{of(kind)} {self.pick('', 'NOT ')}BETWEEN {of(kind)} AND {of(kind)}", lambda: f"{of(kind)} {self.pick('', 'NOT ')}IN ({of(kind)}, {of(kind)}, {of(kind)})",
            lambda: f"{of('str')} {self.pick('', 'NOT ')}LIKE '{self.pick(*PATTERNS)}'", lambda: f"{of('str')} {self.pick('', 'NOT ')}REGEXP '{self.pick(*REGEXPS)}'", lambda: f"({of('int')} {self.pick('<', '>', '=')} {of('int')}) IS {self.pick('TRUE', 'FALSE', 'NOT TRUE', 'UNKNOWN', 'NOT UNKNOWN')}",
            lambda: f"({of('int')}, {of('str')}) {self.pick('=', '<>', '<', '>=')} ({of('int')}, {of('str')})", lambda: f"{of('str')} COLLATE {self.pick('utf8mb4_bin', 'utf8mb4_general_ci')} {self.pick('=', '<', '>')} {of('str')}"]
        if depth > 0:
            choices += [lambda: f"({self.condition(columns, depth - 1)} {self.pick('AND', 'OR', 'XOR')} {self.condition(columns, depth - 1)})", lambda: f"NOT ({self.condition(columns, depth - 1)})"]
        return self.random.choice(choices)()

    def comparison_with_value(self, column, kind):
        # How a time compares with a number, a day or a text that is none differs even between versions of MySQL.
        other = kind
        if kind not in ("date", "datetime", "time") and self.random.random() < 0.3:
            other = self.pick("int", "dec", "real", "str", "uint")
        elif kind in ("date", "datetime") and self.random.random() < 0.3:
            other = self.pick("date", "datetime")
        def value():
            if other in ("date", "datetime", "time") and self.random.random() < 0.5:
                return self.random.choice({"date": DATES, "datetime": DATETIMES, "time": TIMES}[other])
            return self.literal(other)
        return self.pick(
            lambda: f"{column} {self.pick(*COMPARISONS)} {value()}", lambda: f"{column} {self.pick(*COMPARISONS[:5])} {value()}", lambda: f"{value()} {self.pick(*COMPARISONS)} {column}",
            lambda: f"{column} BETWEEN {value()} AND {value()}", lambda: f"{column} {self.pick('', 'NOT ')}IN ({value()}, {value()}, {value()})", lambda: f"{column} IS {self.pick('', 'NOT ')}NULL",
            lambda: f"{column} LIKE '{self.pick(*PATTERNS)}'")()

    def aggregate(self, columns):
        kind = self.kind_of(columns)
        one = self.expression(kind, columns, self.pick(0, 0, 1))
        number = self.expression(self.pick("int", "dec", "real"), columns, self.pick(0, 0, 1))
        return self.pick(
            lambda: "COUNT(*)", lambda: f"COUNT({one})", lambda: f"COUNT(DISTINCT {one})", lambda: f"MIN({one})", lambda: f"MAX({one})", lambda: f"SUM({number})", lambda: f"AVG({number})",
            lambda: f"SUM(DISTINCT {number})", lambda: f"{self.pick('BIT_AND', 'BIT_OR', 'BIT_XOR')}({self.expression('int', columns, 0)})", lambda: f"GROUP_CONCAT({one} ORDER BY {one}{self.pick('', ' DESC')}{self.pick('', ' SEPARATOR ' + repr('|'))})",
            lambda: f"GROUP_CONCAT(DISTINCT {one} ORDER BY 1)", lambda: f"{self.pick('STD', 'STDDEV_POP', 'STDDEV_SAMP', 'VAR_POP', 'VARIANCE', 'VAR_SAMP')}({self.expression('int', {k: v for k, v in columns.items() if k == 'int'}, 0)})",
            lambda: f"COUNT(DISTINCT {one}, {number})")()
