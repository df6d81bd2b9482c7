#!/usr/bin/env python3
"""Thousands of statements on commitd and on a MariaDB beside it: rows, counts, types, errors and warnings must be the same.

Runs with DIFFERENTIAL=1 only: differential/accepted.py does not yet list every difference that is right.
SEED= and COUNT= choose other statements; EXPLORE=1 prints all differences, not the first."""

import collections
import contextlib
import os
import shutil
import unittest

from commitd_process import Commitd
from differential.accepted import ACCEPTED
from differential.compare import aspects, only
from differential.servers import MariaDB, Session
from differential.statements import CHANGED, SCHEMA, Statements

SEED = int(os.environ.get("SEED", "20261121"))
COUNT = int(os.environ.get("COUNT", "4000"))
EXPLORE = bool(os.environ.get("EXPLORE"))
STRICT = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
LENIENT = "NO_ENGINE_SUBSTITUTION"
SHOWN = 40


class DifferentialTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not os.environ.get("DIFFERENTIAL"):
            self.skipTest("DIFFERENTIAL=1 compares with MariaDB")
        if not shutil.which("mariadb-install-db"):
            self.skipTest("mariadb-server is not installed")
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        commitd, mariadb = stack.enter_context(Commitd()), stack.enter_context(MariaDB())
        self.sessions = [Session(mariadb.port), Session(commitd.port)]
        for session in self.sessions:
            stack.callback(session.close)
        self.differences, self.used = [], collections.Counter()
        for statement in ("CREATE DATABASE difference CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE difference",
                          "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET time_zone = '+00:00'"):
            self.on_both(statement)

    def on_both(self, statement):
        """Fails at once: what the other statements stand on."""
        outcomes = [session.run(statement) for session in self.sessions]
        for outcome in outcomes:
            self.assertFalse(outcome.error, f"{statement}: {outcome}")

    def compare(self, kind, statement):
        mariadb, commitd = (session.run(statement) for session in self.sessions)
        differing = aspects(statement, mariadb, commitd)
        if not differing:
            return
        for accepted in ACCEPTED:
            if accepted.matches(statement, mariadb, commitd, differing):
                self.used[accepted.name] += 1
                return
        self.differences.append((kind, differing, statement, mariadb, commitd))

    def compare_table(self, table, last):
        """After a change: both tables hold the same. Goes on from MariaDB's rows when they do not."""
        order = CHANGED[table]
        query = f"SELECT * FROM {table}" + (f" ORDER BY {order}" if order else "")
        before = len(self.differences)
        self.compare("table after", query + f" /* after: {last} */")
        if len(self.differences) > before:
            for session in self.sessions:
                session.run(f"TRUNCATE TABLE {table}")

    def test_same_answers(self):
        print(f"\nSEED={SEED} COUNT={COUNT}")
        statements = Statements(SEED)
        for statement in SCHEMA:
            self.on_both(statement)
        self.set_mode(LENIENT)
        for statement in statements.data():
            self.compare("data", statement)
        for table in ("nums", "strs", "times", "people", "teams"):
            self.compare("data", f"SELECT * FROM {table}")
        self.set_mode(STRICT)
        for number in range(COUNT):
            if number % 200 == 0:
                self.set_mode(LENIENT if number // 200 % 4 == 3 else STRICT)
            if number % 3:
                self.compare(*statements.query())
            else:
                kind, table, statement = statements.change()
                self.compare(kind, statement)
                self.compare_table(table, statement)
        self.report()

    def set_mode(self, mode):
        mariadb, commitd = self.sessions
        self.assertFalse(commitd.run(f"SET sql_mode = '{mode}'").error)
        # MySQL rounds fractions of a second that a column has no room for; MariaDB does so when told to.
        self.assertFalse(mariadb.run(f"SET sql_mode = '{mode},TIME_ROUND_FRACTIONAL'").error)

    def report(self):
        shown = self.differences if EXPLORE else self.differences[:SHOWN]
        text = "\n".join(f"[{kind}: {', '.join(differing)}] {statement}\n    MariaDB: {only(mariadb, commitd)}\n    commitd: {only(commitd, mariadb)}"
                         for kind, differing, statement, mariadb, commitd in shown)
        unused = [accepted.name for accepted in ACCEPTED if not accepted.rare and not self.used[accepted.name]]
        print(f"{len(self.differences)} differences; accepted: {dict(self.used)}")
        self.assertFalse(self.differences, f"SEED={SEED}: {len(self.differences)} differences\n{text}")
        if SEED == 20261121:
            self.assertFalse(unused, "accepted differences that no longer occur: remove them from differential/accepted.py")


if __name__ == "__main__":
    unittest.main()
