#!/usr/bin/python3
"""Results into one self-contained HTML page with plots, a Markdown summary, and the tables of the READMEs.

    report.py                       OUT/report.html and OUT/report.md of OUT/results.json (default: build/bench)
    report.py --tables              fills the marked tables of benchmarks/README.md from benchmarks/results/results.json
    report.py --check               changes nothing; fails when they are not what the results say
"""

import argparse
import html
import io
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "peers"))

import catalogue  # noqa: E402
import record  # noqa: E402
import scaling  # noqa: E402
import tables  # noqa: E402

KEPT = HERE.parent / "results"
WITH_TABLES = (HERE.parent / "README.md",)
MODELLED_CORES = (16, 64)

STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#1b1f24}
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #d0d7de;padding:.25em .6em;text-align:left}td.n{text-align:right}
.note{color:#57606a}.model{border-left:4px solid #bf8700;padding:.2em 1em;background:#fff8e5}figure{display:inline-block;margin:0 1em 1em 0}svg{max-width:100%;height:auto}"""


def svg(figure):
    """Inline, without what differs from run to run."""
    from matplotlib import pyplot
    out = io.StringIO()
    figure.tight_layout()
    figure.savefig(out, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    text = out.getvalue()
    return text[text.index("<svg"):]


def axes_of(width=5.2, height=3.2):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "commitlab"
    from matplotlib import pyplot
    return pyplot.subplots(figsize=(width, height))


def bars(cell, figure, heading):
    drawing, axes = axes_of()
    names = list(cell["figures"])
    found = [cell["figures"][name][figure] for name in names]
    medians = [f["median"] for f in found]
    spread = [[f["median"] - f["min"] for f in found], [f["max"] - f["median"] for f in found]]
    axes.barh(names, medians, xerr=spread, color=["#2da44e"] + ["#cf222e"] * (len(names) - 1), capsize=3)
    axes.invert_yaxis()
    axes.set(xlabel=heading, xlim=(0, None))
    axes.grid(axis="x", alpha=0.3)
    return svg(drawing)


def lines(cells, unit):
    drawing, axes = axes_of()
    for name in cells[0]["figures"]:
        points = sorted((c["key"]["clients"], c["figures"][name]["rate"]["median"]) for c in cells)
        axes.plot([p[0] for p in points], [p[1] for p in points], marker="o", label=name)
    clients = sorted(c["key"]["clients"] for c in cells)
    axes.set(xscale="log", xlabel="clients", ylabel=f"{unit} per second", ylim=(0, None))
    axes.set_xticks(clients, [str(n) for n in clients])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    return svg(drawing)


def distribution(sorted_us):
    drawing, axes = axes_of(6, 2.6)
    axes.plot(sorted_us, [(i + 1) / len(sorted_us) for i in range(len(sorted_us))])
    axes.set(xscale="log", xlabel="append + fdatasync of 300 bytes, µs", ylabel="share", ylim=(0, 1))
    axes.grid(alpha=0.3)
    return svg(drawing)


def modelled(scenario, cells, cores):
    """Markdown lines: what the law fitted to 1 … n clients says; empty where too few were measured."""
    found = []
    for name in cells[0]["figures"]:
        points = sorted((c["key"]["clients"], c["figures"][name]["rate"]["median"]) for c in cells)
        if len({n for n, _ in points}) < 3:
            continue
        law = scaling.fit(points)
        error = f"± {law.error:.0%}" if law.error < 10 else "error unknown: too few points"
        said = ", ".join(f"{n}: {tables.number(law.at(n))}/s" for n in MODELLED_CORES)
        found.append(f"`{scenario.switch or 'server'} = {name}`: λ {tables.number(law.rate)}/s, σ {law.contention:.4f}, κ {law.coherence:.6f}, {error}; at {said}")
    if not found:
        return []
    measured = ", ".join(str(c["key"]["clients"]) for c in cells)
    return [f"Model, not a measurement: the universal scalability law, fitted to {measured} clients on {cores} cores; a client of the model stands for a core."
            " Where clients share cores, σ also holds their waiting for them. The error is that of points left out of the fit.", *found]


def by_conditions(cells):
    """Cells that differ only by their clients."""
    groups = {}
    for cell in cells:
        key = cell["key"]
        groups.setdefault((key["readers"], key["semisync_readers"], key["disk"], key["durable"]), []).append(cell)
    return [sorted(group, key=lambda c: c["key"]["clients"]) for group in groups.values()]


def cells_of(found, scenario):
    return [c for c in found.cells if c["key"]["scenario"] == scenario.id and not c["key"]["builds"]]


def inline(text):
    """Markdown's `code` as HTML's; everything else is escaped, and nothing is bold."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text).replace("**", ""))


def to_html(markdown_table):
    """A table of ours."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown_table.strip().splitlines()]
    head, body = rows[0], rows[2:]
    write = lambda tag, cells: "<tr>" + "".join(f"<{tag}>{inline(c)}</{tag}>" for c in cells) + "</tr>"
    return "<table>" + write("th", head) + "".join(write("td", row) for row in body) + "</table>"


def section(found, scenario, cells):
    parts = [f"<h3 id='{scenario.id}'>{scenario.id}: {html.escape(scenario.title)}</h3>"]
    if scenario.switch:
        parts.append(f"<p class=note>Seed {scenario.seed}; <code>{scenario.switch}</code> = {scenario.fixed} against {', '.join(scenario.legacy)}; load {scenario.load}.</p>")
    for group in by_conditions(cells):
        if len(group) > 1:
            parts.append(f"<figure>{lines(group, group[0]['unit'])}</figure>")
        if scenario.model and (said := modelled(scenario, group, found.host["cores"])):
            parts.append("<div class=model>" + "".join(f"<p>{inline(line)}</p>" for line in said) + "</div>")
    for cell in cells:
        parts.append(f"<p>{tables.conditions(cell)}, {cell['measured']}: {inline(tables.judged(cell))}</p>")
        parts.append(f"<figure>{bars(cell, 'rate', cell['unit'] + ' per second')}</figure>")
        if scenario.judged:
            parts.append(f"<figure>{bars(cell, scenario.judged.figure, scenario.judged.figure + ' per operation')}</figure>")
    if scenario.seed_figures:
        rows = "".join(f"<tr><td>{html.escape(what)}</td><td>{html.escape(figure)}</td></tr>" for what, figure in scenario.seed_figures)
        parts.append(f"<table><tr><th>the seed</th><th>its figure</th></tr>{rows}</table>")
    return "".join(parts)


def page(found, known):
    measured = [s for s in known.values() if cells_of(found, s)]
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>commitlab: benchmark report</title>", f"<style>{STYLE}</style>",
             "<h1>commitlab: benchmark report</h1>", f"<p>{html.escape(tables.host(found))}</p>", distribution(found.host["fdatasync_us"]),
             "<p>Bars are medians, whiskers least and most. Servers of one comparison were loaded in turns in one run. Counts are per operation and do not depend on the "
             "machine's speed; seconds do. A count is judged by ranks over the rounds and by its least size.</p>",
             "<h2>Legacy against fixed</h2>", to_html(tables.regressions(found, known)),
             *[section(found, s, cells_of(found, s)) for s in measured if not s.servers],
             "<h2>Beside a peer</h2>", to_html(tables.peers(found, known)),
             "<h2>Readers of the log</h2>", to_html(tables.readers(found, known)), *[section(found, s, cells_of(found, s)) for s in measured if s.servers],
             "<h2>Not run</h2><ul>", *[f"<li>{html.escape(id)}: {html.escape(reason)}</li>" for id, reason in found.skipped.items()], "</ul></html>"]
    return "\n".join(parts) + "\n"


def summary(found, known):
    parts = ["# Benchmark report", tables.host(found), "## Legacy against fixed", tables.regressions(found, known), "## Beside a peer", tables.peers(found, known),
             "## Readers of the log", tables.readers(found, known)]
    for scenario in known.values():
        for group in by_conditions(cells_of(found, scenario)):
            if scenario.model and (said := modelled(scenario, group, found.host["cores"])):
                parts += [f"## {scenario.id}: a model", said[0], "\n".join(f"* {line}" for line in said[1:])]
    return "\n\n".join([*parts, "## Not run", tables.skipped(found)]).rstrip() + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=str(ROOT / "build" / "bench"))
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    known = catalogue.scenarios()
    if options.tables or options.check:
        stale = [path for path in WITH_TABLES if not tables.fill(path, record.Results(KEPT), known, options.check)]
        if stale and options.check:
            print(f"{', '.join(map(str, stale))}: tables are not what benchmarks/results says: run make -C benchmarks tables", file=sys.stderr)
            return 1
        return 0
    out = pathlib.Path(options.out)
    found = record.Results(out)
    if not found.host:
        print(f"{found.path} has no results: make bench", file=sys.stderr)
        return 1
    (out / "report.html").write_text(page(found, known))
    (out / "report.md").write_text(summary(found, known))
    print(f"file://{(out / 'report.html').resolve()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
