#!/usr/bin/env python3
"""Plays MariaDB's main suite, or files of it, and what SQLLOGICTEST=DIR has; figures per file and in all, as JSON and as a table."""

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import sys
import time

import pymysql

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from commitd_process import ROOT, Commitd  # noqa: E402
from differential.servers import MariaDB, Session  # noqa: E402
from suites import sqllogic  # noqa: E402
from suites.accepted import ACCEPTED  # noqa: E402
from suites.copying import CopyingPlayer  # noqa: E402
from suites.player import Player  # noqa: E402

SUITE = ROOT / "build" / "mariadb-test" / "usr" / "share" / "mysql" / "mysql-test"
FILE_SECONDS = 60


def play_file(path, mariadb, seconds=FILE_SECONDS, kind=Player):
    """By a commitd of its own; after a crash or a freeze the next file has the next."""
    with Commitd() as commitd:
        player = kind(mariadb, commitd, SUITE, seconds, ACCEPTED)
        return player.play(path.read_text(errors="replace"))


def entry(path, player, seconds):
    return {"file": path.name, "skipped": player.skipped, "seconds": round(seconds), "counts": dict(player.counts),
            "findings": [dataclasses.asdict(finding) for finding in player.findings if finding.kind != "not supported"]}


def still_answers(mariadb):
    with contextlib.suppress(pymysql.err.MySQLError):
        Session(mariadb.port).close()
        return True
    return False


def play_all(paths, out, seconds, kind):
    entries = []
    with contextlib.ExitStack() as stack:
        mariadb = stack.enter_context(MariaDB())
        for path in paths:
            if not still_answers(mariadb):  # a file may have changed its accounts, or ended it
                stack.close()
                mariadb = stack.enter_context(MariaDB())
            begin = time.monotonic()
            try:
                player = play_file(path, mariadb, seconds, kind)
            except Exception as error:  # of the runner: counted, and named as such
                print(f"{path.name}: {type(error).__name__}: {error}", flush=True)
                entries.append({"file": path.name, "skipped": f"the runner: {error}", "seconds": 0, "counts": {}, "findings": []})
                continue
            entries.append(entry(path, player, time.monotonic() - begin))
            print(path.name, player.skipped and f"({player.skipped})", dict(player.counts), flush=True)
            out.write_text(json.dumps({"total": total(entries), "files": entries}, indent=1, ensure_ascii=False) + "\n")
    return entries


def total(entries):
    counts = sum((collections.Counter(entry["counts"]) for entry in entries), collections.Counter())
    return {"files": len(entries), "of these cut short or skipped": sum(bool(entry["skipped"]) for entry in entries), **counts}


def play_logic(directory):
    """Whole directories of records, a server for each file."""
    records = wrong = 0
    for path in sorted(pathlib.Path(directory).rglob("*.test")):
        with Commitd() as commitd:
            commitd.query("CREATE DATABASE test")
            found, count = sqllogic.play(path.read_text(), Session(commitd.port, "test"))
        records, wrong = records + count, wrong + len(found)
        for record, outcome in found[:3]:
            print(f"{path}:{record.line}: {record.sql[:200]}: {outcome}")
    print(f"sqllogictest: {records} records, {wrong} answered otherwise")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "build" / "suites.json")
    parser.add_argument("--copying", action="store_true", help="tables that differ are copied from MariaDB, what is not understood is left out")
    parser.add_argument("--seconds", type=float, default=FILE_SECONDS, help="for each file")
    parser.add_argument("names", nargs="*", help="of files of the suite, without .test (all)")
    options = parser.parse_args()
    paths = [SUITE / "main" / f"{name}.test" for name in options.names] or sorted((SUITE / "main").glob("*.test"))
    if not paths:
        raise SystemExit(f"there is no suite below {SUITE}: make -C engine suites")
    entries = play_all(paths, options.json, options.seconds, CopyingPlayer if options.copying else Player)
    print(json.dumps(total(entries), indent=1))
    wrong = play_logic(os.environ["SQLLOGICTEST"]) if os.environ.get("SQLLOGICTEST") else 0
    return 1 if wrong or any(entry["counts"].get(kind) for entry in entries for kind in ("crash", "freeze")) else 0


if __name__ == "__main__":
    sys.exit(main())
