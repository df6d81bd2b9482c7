#!/usr/bin/env python3
"""Runs the process tests, a file in a process of its own, several files at a time: they mostly wait.

The longest go first, by what each took the last time. Those that name themselves RUNS_ALONE measure what others would disturb: they come last, one by
one. What a file prints is kept in the log directory; of one that fails what unittest says of the failures is shown. Ends with one line that counts the
tests."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# A hang bound, not an expectation: the longest take a quarter of it under a sanitizer.
FILE_SECONDS = 1800
LAST_LINES = 60
RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", re.MULTILINE)
ALONE = re.compile(r"^RUNS_ALONE = True\b", re.MULTILINE)


class Outcome:
    def __init__(self, path, output, status, seconds):
        ran, skipped = RAN.search(output), SKIPPED.search(output)
        self.path, self.output, self.seconds = path, output, seconds
        self.tests = int(ran.group(1)) if ran else 0
        self.skipped = int(skipped.group(1)) if skipped else 0
        self.passed = status == 0 and self.tests > 0

    def line(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{'ok' if self.passed else 'FAILED':8}{self.path.name:32}{self.tests:4} tests{skipped:12}{self.seconds:6.0f} s"

    def failures(self):
        """Without what passed; the end of it all where unittest did not get that far."""
        begin = self.output.find("=" * 70)
        return self.output[begin:] if begin >= 0 else "\n".join(self.output.splitlines()[-LAST_LINES:])


def run_file(path, slot, slots):
    """In a session of its own, which ends with it: nothing that it started lives on."""
    begin = time.monotonic()
    process = subprocess.Popen([sys.executable, "-X", "faulthandler", "-m", "unittest", "-v", path.name], cwd=HERE, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                               env=dict(os.environ, COMMITD_TEST_SLOT=f"{slot}/{slots}"))
    try:
        output, _ = process.communicate(timeout=FILE_SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # says where it is
        time.sleep(1)
        end_session(process)
        output = process.communicate()[0] + f"\nnot finished within {FILE_SECONDS} s\n"
    end_session(process)
    return Outcome(path, output, process.returncode, time.monotonic() - begin)


def end_session(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Durations:
    """What each file took the last time, in any clone; where nothing is known of one, it may be long."""

    def __init__(self, kind):
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.path = pathlib.Path(cache, "commitlab", f"test-seconds-{kind}.json")
        self.seconds = json.loads(self.path.read_text()) if self.path.exists() else {}

    def longest_first(self, paths):
        return sorted(paths, key=lambda path: -self.seconds.get(path.name, float("inf")))

    def keep(self, outcomes):
        self.seconds.update({outcome.path.name: round(outcome.seconds) for outcome in outcomes})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(self.seconds, indent=1, sort_keys=True) + "\n")
        new.replace(self.path)


def run_all(paths, at_once, report):
    slots = queue.SimpleQueue()
    for slot in range(at_once):
        slots.put(slot)

    def in_a_slot(path):
        slot = slots.get()
        try:
            outcome = run_file(path, slot, at_once)
        finally:
            slots.put(slot)
        report(outcome)
        return outcome

    with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
        return list(threads.map(in_a_slot, paths))


def chosen(names):
    paths = [HERE / name for name in names] or sorted(HERE.glob("*_test.py"))
    alone = [path for path in paths if ALONE.search(path.read_text())]
    return [path for path in paths if path not in alone], alone


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-j", "--at-once", type=int, default=4, metavar="N", help="files at a time (%(default)s)")
    parser.add_argument("--logs", type=pathlib.Path, required=True, metavar="DIRECTORY", help="for what each file prints")
    parser.add_argument("names", nargs="*", metavar="FILE", help="some of the files here (all)")
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)

    def report(outcome):
        (options.logs / f"{outcome.path.stem}.log").write_text(outcome.output)
        print(outcome.line() if outcome.passed else f"{outcome.line()}\n{outcome.failures()}", flush=True)

    begin = time.monotonic()
    durations = Durations(options.logs.parent.name)
    together, alone = chosen(options.names)
    outcomes = run_all(durations.longest_first(together), options.at_once, report) + run_all(alone, 1, report)
    durations.keep(outcomes)
    failed = [outcome.path.name for outcome in outcomes if not outcome.passed]
    skipped = sum(outcome.skipped for outcome in outcomes)
    print(f"Ran {sum(outcome.tests for outcome in outcomes)} tests in {time.monotonic() - begin:.0f} s: {len(outcomes)} files, {skipped} skipped, "
          f"{'failed: ' + ' '.join(failed) if failed else 'OK'}")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
