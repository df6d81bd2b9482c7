"""A player that goes on where the other one ends: what it does not understand is left out, and a table that differs is copied from MariaDB."""

import re
import time

from suites.language import NotUnderstood
from suites.player import Player, Skip

MOST_ROWS, AT_ONCE, MOST_COPIES = 3000, 200, 300
ENGINE = re.compile(r"\) ENGINE=\w+")
OPTIONS = re.compile(r" (PAGE_CHECKSUM|TRANSACTIONAL|CHECKSUM|DELAY_KEY_WRITE|ROW_FORMAT|PACK_KEYS|MIN_ROWS|MAX_ROWS|AVG_ROW_LENGTH)=\w+")
NOW = re.compile(r"(DEFAULT|ON UPDATE) current_timestamp\((\d*)\)")


def in_mysqls_words(create):
    create = OPTIONS.sub("", ENGINE.sub(")", create))
    return NOW.sub(lambda found: f"{found[1]} CURRENT_TIMESTAMP" + (f"({found[2]})" if found[2] else ""), create)


def literal(value, kind):
    if value is None:
        return "NULL"
    text = value.decode(errors="replace")
    if kind == "bit" or text.encode() != value or any(character < " " for character in text):
        return "0x" + value.hex() if value else "''"
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


class CopyingPlayer(Player):
    copies = 0

    def run_all(self, commands):
        for command in commands:
            if time.monotonic() > self.end:
                raise Skip("its time is over")
            if command.name == "exit":
                raise Skip("")
            try:
                getattr(self, "do_" + command.name)(command)
            except NotUnderstood:
                self.counts["left out"] += 1

    def still_differs(self, name):
        if not super().still_differs(name):
            return False
        self.copies += 1
        return self.copies > MOST_COPIES or not self.copied(name) or super().still_differs(name)

    def copied(self, name):
        """In the present session: another one might wait for this one's locks."""
        mariadb, commitd = self.connections[self.current]
        shown = mariadb.run(f"SHOW CREATE TABLE `{name}`", want_warnings=False)
        if shown.error or shown.names[0] != "Table":  # or a view
            return False
        found = mariadb.run(f"SELECT * FROM `{name}`", want_warnings=False)
        if found.error or len(found.rows) > MOST_ROWS:
            return False
        mode = commitd.run("SELECT @@sql_mode", want_warnings=False).rows[0][0].decode()
        commitd.run("SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO', lock_wait_timeout = 1", want_warnings=False)
        commitd.run(f"DROP TABLE IF EXISTS `{name}`", want_warnings=False)
        made = commitd.run(in_mysqls_words(shown.rows[0][1].decode(errors="replace")), want_warnings=False)
        for first in range(0, len(found.rows), AT_ONCE):
            rows = ", ".join("(" + ", ".join(map(literal, row, found.columns)) + ")" for row in found.rows[first:first + AT_ONCE])
            commitd.run(f"INSERT INTO `{name}` VALUES {rows}", want_warnings=False)
        commitd.run(f"SET sql_mode = '{mode}', lock_wait_timeout = DEFAULT", want_warnings=False)
        return not made.error
