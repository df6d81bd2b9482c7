#!/usr/bin/python3
"""Plots what bench/gtid_set_cost prints: the cost of adding one GTID by intervals, with seed 001's persister beside it, and
the seed's own 25,000 calls.

    build/engine/release/bench/gtid_set_cost | engine/bench/gtid_set_cost.py --plot build/bench/gtid_set_cost.png
"""

import argparse
import pathlib
import sys


def tables(lines):
    """Numbers of each table, line by line; a blank line is between them."""
    table = []
    for line in lines:
        print(line, end="")
        fields = line.split()
        if not fields and table:
            yield table
            table = []
        elif fields and fields[0].isdigit():
            table.append([float(field) for field in fields])
    yield table


def plot(by_intervals, by_calls, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    figure, (costs, calls) = pyplot.subplots(1, 2, figsize=(10, 4), dpi=80)
    intervals, add, growth, legacy, _ = zip(*by_intervals)
    for cost, label in ((add, "the set"), (growth, "the set, and the rows that change"), (legacy, "legacy: a list from its head")):
        costs.loglog(intervals, cost, marker="o", label=label)
    costs.set(xlabel="intervals", ylabel="ns of CPU for one GTID")
    done, of_set, of_list, _ = zip(*by_calls)
    for cost, label in ((of_set, "the set"), (of_list, "legacy")):
        calls.semilogy(done, cost, marker=".", label=label)
    calls.set(xlabel="calls, a gap before each (averages of 1,000)", ylim=100)
    for axes in (costs, calls):
        axes.grid(True)
        axes.legend()
    figure.tight_layout()
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"plot: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", required=True, help="file for the plot")
    options = parser.parse_args()
    by_intervals, by_calls = tables(sys.stdin)
    plot(by_intervals, by_calls, options.plot)


if __name__ == "__main__":
    main()
