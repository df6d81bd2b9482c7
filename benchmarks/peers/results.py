"""Rounds as they were measured, in one JSON file that every run adds to; medians and ratios of them."""

import json
import pathlib
import statistics

import sync_counters

FIGURES = (  # name, heading, digits
    ("cpu_us", "CPU µs", 1), ("context_switches", "ctx sw.", 2), ("syncs", "syncs", 3), ("syncs_per_group", "syncs/group", 2), ("logged_bytes", "bytes logged", 0))


def of_round(operations, seconds, before, after):
    """One round's figures: all but the rate are per operation."""
    grown = {name: after[name] - before[name] for name in before if name != "sync_buckets"}
    figures = {name: value / operations for name, value in grown.items()}
    figures["rate"] = operations / seconds
    figures["syncs_per_group"] = grown["syncs"] / grown["groups"] if grown["groups"] else 0
    buckets = [b - a for a, b in zip(before["sync_buckets"], after["sync_buckets"])]
    figures["sync_p50_us"] = sync_counters.percentile_us(buckets, 0.5)
    figures["sync_p99_us"] = sync_counters.percentile_us(buckets, 0.99)
    return figures


def median(rounds):
    return {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}


class Results:
    """Keyed by load, disk, durability, clients and server; a case that is measured again replaces what was there."""

    def __init__(self, directory):
        self.path = pathlib.Path(directory) / "results.json"
        self.cases = json.loads(self.path.read_text()) if self.path.exists() else []

    def put(self, case, unit, rounds):
        self.cases = [c for c in self.cases if c["case"] != case]
        self.cases.append({"case": case, "unit": unit, "rounds": rounds, "median": median(rounds)})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.cases, indent=1) + "\n")

    def find(self, **wanted):
        return [c for c in self.cases if all(c["case"][key] == value for key, value in wanted.items())]


def table(results, baseline):
    """Markdown: one line per case and server, ratios to `baseline` in the same case."""
    lines = ["| load | disk | durable | clients | server | per second | ratio | " + " | ".join(h for _, h, _ in FIGURES) + " | sync p50/p99 µs |",
             "|---|---|---|---:|---|---:|---:|" + "---:|" * (len(FIGURES) + 1)]
    order = lambda c: (c["case"]["load"], c["case"]["disk"], not c["case"]["durable"], c["case"]["clients"], c["case"]["server"])
    for entry in sorted(results.cases, key=order):
        case, figures = entry["case"], entry["median"]
        peer = results.find(**dict(case, server=baseline))
        ratio = f"{figures['rate'] / peer[0]['median']['rate']:.2f}" if peer else ""
        cells = [case["load"], case["disk"], "yes" if case["durable"] else "no", str(case["clients"]), case["server"], f"{figures['rate']:.0f}", ratio]
        cells += [f"{figures[name]:.{digits}f}" for name, _, digits in FIGURES]
        cells.append(f"{figures['sync_p50_us']:.0f} / {figures['sync_p99_us']:.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def plot(results, directory):
    """Throughput against clients, one picture per load, disk and durability that was measured at several."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    written = []
    groups = {(c["case"]["load"], c["case"]["disk"], c["case"]["durable"]) for c in results.cases}
    for load, disk, durable in sorted(groups):
        entries = results.find(load=load, disk=disk, durable=durable)
        if len({e["case"]["clients"] for e in entries}) < 2:
            continue
        figure, axes = pyplot.subplots(figsize=(7, 4.5))
        for server in sorted({e["case"]["server"] for e in entries}):
            points = sorted((e["case"]["clients"], e["median"]["rate"]) for e in entries if e["case"]["server"] == server)
            axes.plot([p[0] for p in points], [p[1] for p in points], marker="o", label=server)
        axes.set(xscale="log", xlabel="clients", ylabel=f"{entries[0]['unit']} per second", ylim=(0, None),
                 title=f"{load}, disk {disk}, {'durable' if durable else 'relaxed'}")
        clients = sorted({e["case"]["clients"] for e in entries})
        axes.set_xticks(clients, [str(n) for n in clients], minor=False)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend()
        path = pathlib.Path(directory) / f"{load}-{disk.replace('/', '-per-')}-{'durable' if durable else 'relaxed'}.png"
        figure.tight_layout()
        figure.savefig(path, dpi=110)
        pyplot.close(figure)
        written.append(path)
    return written
