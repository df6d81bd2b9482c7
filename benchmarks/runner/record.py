"""What was measured: rounds as they were, medians with least and most, the judgement, and the machine."""

import dataclasses
import json
import os
import pathlib
import platform
import statistics
import time

import judge
import results as of_peers

DIGITS = 6
ALWAYS = {"rate": "per second", "cpu_us": "CPU µs", "context_switches": "context switches", "syncs": "syncs", "logged_bytes": "bytes logged"}


def series_of(figures):
    """What is to be read for figures: lists of series by name; a figure that is a ratio has two."""
    for name, series in figures.items():
        if isinstance(series, dict):
            yield (name, "of"), series["of"]
            yield (name, "per"), series["per"]
        else:
            yield name, series


def counts(server, figures):
    found = server.counts()
    if figures and hasattr(server, "metrics"):
        values = server.metrics()
        found.update({name: sum(values.get(series, 0) for series in all_series) for name, all_series in series_of(figures)})
    return found


def with_ratios(found, figures):
    """Those of two counts in the place of the counts; nothing over nothing is 0."""
    for name, series in figures.items():
        if isinstance(series, dict) and (name, "of") in found:
            of, per = found.pop((name, "of")), found.pop((name, "per"))
            found[name] = of / per if per else 0
    return found


def one_round(server, load, clients, seconds, figures):
    before = counts(server, figures)
    operations, took = load.run(server, clients, seconds)
    found = with_ratios(of_peers.of_round(operations, took, before, counts(server, figures)), figures)
    return {name: float(f"{value:.{DIGITS}g}") for name, value in found.items()}


def spread(rounds, figure):
    values = [r[figure] for r in rounds]
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def judgement_of(scenario, rounds):
    """Of the legacy value's count beside the fixed one's; a comparison with a peer asserts nothing."""
    if scenario.judged is None or scenario.fixed not in rounds or scenario.judged_value() not in rounds:
        return None
    low, high = ([r[scenario.judged.figure] for r in rounds[name]] for name in (scenario.fixed, scenario.judged_value()))
    found = judge.is_more(low, high, scenario.judged.by)
    # JSON knows no infinity.
    return dict(dataclasses.asdict(found), figure=scenario.judged.figure, legacy=scenario.judged_value(),
                ratio=None if found.ratio == float("inf") else found.ratio)


def summary(scenario, cell):
    """Lines that a person reads while the run goes on."""
    for name, figures in cell["figures"].items():
        shown = [f"{f['median']:.0f} {cell['unit']}/s ({f['min']:.0f}–{f['max']:.0f})" for f in [figures["rate"]]]
        shown += [f"{key} {figures[key]['median']:.3g}" for key in (*scenario.figures, "syncs", "cpu_us") if key in figures]
        yield f"{name}: {', '.join(shown)}"
    if found := cell["judgement"]:
        times = "from nothing" if found["ratio"] is None else f"x{found['ratio']:.2f}"
        yield f"{found['figure']} per operation, {found['legacy']}: {times}, p = {found['p']:.3f}: {'shown' if found['flagged'] else 'NOT shown'}"


class Results:
    """Keyed by scenario, clients, readers, disk and durability; a cell that is measured again replaces what was there."""

    def __init__(self, directory):
        self.path = pathlib.Path(directory) / "results.json"
        found = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.host, self.cells, self.skipped = found.get("host", {}), found.get("cells", []), found.get("skipped", {})

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        on_a_line = lambda value: json.dumps(value, ensure_ascii=False)
        cells = ",\n".join(map(on_a_line, self.cells))
        self.path.write_text(f'{{"host": {on_a_line(self.host)},\n"skipped": {on_a_line(self.skipped)},\n"cells": [\n{cells}\n]}}\n')

    def describe_host(self, fdatasync_us, load):
        self.host = {"system": f"{platform.system()} {platform.release()}", "cores": len(os.sched_getaffinity(0)), "load_before": round(load, 2),
                     "fdatasync_us": [round(us, 1) for us in fdatasync_us]}
        self.write()

    def skip(self, scenario, reason):
        self.skipped[scenario] = reason
        self.write()

    def put(self, scenario, clients, readers, options, unit, rounds, versions):
        """`readers`: all of them, and those that acknowledge."""
        key = {"scenario": scenario.id, "clients": clients, "readers": readers[0], "semisync_readers": readers[1], "disk": options.disk, "durable": not options.relaxed,
               "builds": bool(options.build)}
        self.cells = [cell for cell in self.cells if cell["key"] != key]
        self.skipped.pop(scenario.id, None)
        figures = {name: {f: spread(rs, f) for f in rs[0]} for name, rs in rounds.items()}
        cell = {"key": key, "unit": unit, "measured": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "versions": versions,
                "figures": figures, "judgement": judgement_of(scenario, rounds), "rounds": rounds}
        self.cells.append(cell)
        self.write()
        return cell
