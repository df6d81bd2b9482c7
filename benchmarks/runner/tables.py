"""Markdown of results: the report's, and what the READMEs hold between `<!-- results: NAME -->` and `<!-- end -->`."""

import pathlib
import re

import record

BLOCK = re.compile(r"(<!-- results: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def number(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def with_range(figure):
    return f"{number(figure['median'])} ({number(figure['min'])}–{number(figure['max'])})"


def times(now, base):
    return "" if not base else f"{now / base:.2f}"


def host(found):
    ordered = found.host["fdatasync_us"]
    at = lambda share: ordered[min(len(ordered) - 1, int(len(ordered) * share))]
    return (f"{found.host['system']}, {found.host['cores']} cores, load average before {found.host['load_before']}; append + fdatasync of "
            f"300 bytes: p50 {at(0.5):.0f} µs, p99 {at(0.99):.0f} µs")


def counted(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def conditions(cell):
    key = cell["key"]
    parts = [counted(key["clients"], "client")] + ([counted(key["readers"], "reader")] if key["readers"] else [])
    parts += [f"{key['semisync_readers']} of them semisync"] * bool(key["semisync_readers"])
    parts += [f"disk {key['disk']}"] * (key["disk"] != "native") + ["relaxed"] * (not key["durable"])
    return ", ".join(parts)


def judged(cell):
    found = cell["judgement"]
    if not found:
        return ""
    size = "from nothing" if found["ratio"] is None else f"× {number(found['ratio'])}"
    return f"{size}, p {found['p']:.3f}{'' if found['flagged'] else ': **not shown**'}"


def regressions(found, known):
    """A line for each server of each cell: throughput, the ratio to the default, the count that is judged."""
    lines = ["| | what | conditions | value | per second | of default | count per operation | legacy beside default |", "|---|---|---|---|---:|---:|---|---|"]
    for scenario, cell in measured(found, known, lambda s: not s.servers):
        base = cell["figures"][scenario.fixed]["rate"]["median"]
        for value, figures in cell["figures"].items():
            verdict = judged(cell) if cell["judgement"] and value == cell["judgement"]["legacy"] else ""
            lines.append(f"| {scenario.id} | {scenario.title if value == scenario.fixed else ''} | {conditions(cell)} | `{value}` "
                         f"| {with_range(figures['rate'])} | {times(figures['rate']['median'], base)} "
                         f"| {scenario.judged.figure} {number(figures[scenario.judged.figure]['median'])} | {verdict} |")
    return "\n".join(lines) + "\n"


def measured(found, known, wanted):
    """(scenario, cell) of each that is wanted, in the catalogue's order; none of two builds."""
    for cell in sorted(found.cells, key=lambda c: order(c, known)):
        scenario = known.get(cell["key"]["scenario"])
        if scenario is not None and not cell["key"]["builds"] and wanted(scenario):
            yield scenario, cell


def per_reader(cell, alone, server):
    """What one reader costs the server for each operation, in µs of CPU; nothing without readers, or where none were measured for comparison."""
    if not cell["key"]["readers"] or alone is None:
        return ""
    more = cell["figures"][server]["cpu_us"]["median"] - alone["figures"][server]["cpu_us"]["median"]
    return f"{more / cell['key']['readers']:.2f}"


def acknowledging(scenario, cell):
    late = f", {number(scenario.acknowledgement_ms)} ms late" if scenario.acknowledgement_ms else ""
    count = cell["key"]["semisync_readers"]
    return f"{count}{late}" if count else "0"


def readers(found, known):
    """The seed's table: how many read the log, and how many of them acknowledge. `of the first` is the first line of that scenario with as many clients."""
    lines = ["| clients | readers | semisync | server | per second | of the first | CPU µs for each insert | for each reader |", "|---:|---:|---:|---|---:|---:|---:|---:|"]
    first, alone = {}, {}
    for scenario, cell in measured(found, known, lambda s: s.readers_and_semisync):
        clients = cell["key"]["clients"]
        base = first.setdefault((scenario.id, clients), cell)
        if not cell["key"]["readers"]:
            alone[scenario.id, clients] = cell
        for server, figures in cell["figures"].items():
            lines.append(f"| {clients} | {cell['key']['readers']} | {acknowledging(scenario, cell)} | {server} | {with_range(figures['rate'])} "
                         f"| {times(figures['rate']['median'], base['figures'][server]['rate']['median'])} "
                         f"| {number(figures['cpu_us']['median'])} | {per_reader(cell, alone.get((scenario.id, clients)), server)} |")
    return "\n".join(lines) + "\n"


def peers(found, known):
    lines = ["| load | conditions | server | per second | ratio | " + " | ".join(record.ALWAYS[f] for f in ("cpu_us", "syncs", "logged_bytes")) + " |",
             "|---|---|---|---:|---:|---:|---:|---:|"]
    for scenario, cell in measured(found, known, lambda s: s.servers and not s.readers_and_semisync):
        base = cell["figures"][scenario.baseline()]["rate"]["median"]
        for server, figures in cell["figures"].items():
            lines.append(f"| {scenario.load} | {conditions(cell)} | {server} | {with_range(figures['rate'])} | {times(figures['rate']['median'], base)} | "
                         + " | ".join(number(figures[f]["median"]) for f in ("cpu_us", "syncs", "logged_bytes")) + " |")
    return "\n".join(lines) + "\n"


def skipped(found):
    return "".join(f"* {id}: {reason}\n" for id, reason in found.skipped.items())


def order(cell, known):
    key, names = cell["key"], list(known)
    return (names.index(key["scenario"]) if key["scenario"] in known else len(names), key["semisync_readers"], key["readers"], key["clients"])


TABLES = {"host": lambda found, known: host(found) + "\n", "regressions": regressions, "peers": peers, "readers": readers,
          "skipped": lambda found, known: skipped(found)}


def filled(text, found, known):
    """The text with each marked block made anew; a name that there is not is a KeyError."""
    return BLOCK.sub(lambda m: m.group(1) + TABLES[m.group(2)](found, known) + m.group(4), text)


def fill(path, found, known, check):
    """Writes the file's tables; with `check` only says whether they are what the results say."""
    path = pathlib.Path(path)
    before = path.read_text()
    after = filled(before, found, known)
    if after != before and not check:
        path.write_text(after)
    return after == before
