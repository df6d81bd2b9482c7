"""Rules that every generated dashboard keeps, without exceptions."""

import json
import re
from pathlib import Path

import pytest

from commitlab_dashboards.__main__ import DASHBOARDS, GENERATED, render

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD_FILES = sorted(GENERATED.glob("*.json"))
VARIABLES = ["datasource", "namespace", "cluster", "instance"]
OUR_METRIC = re.compile(r"\b(commitd_[a-z_]+|process_[a-z_]+)\b")
OPERATOR_METRIC = re.compile(r"\bcommitlab_operator_[a-z_]+\b")
# What the operator shows of two finished tests, kept by a test of the operator.
OPERATOR_METRICS = ROOT / "operator" / "internal" / "recovery" / "testdata" / "metrics.txt"
SERIES_SUFFIX = re.compile(r"_(bucket|sum|count)$")


def load(path: Path) -> dict:
    return json.loads(path.read_text())


def panels(dashboard: dict) -> list[dict]:
    return [p for p in dashboard["panels"] if p["type"] != "row"]


def targets(dashboard: dict) -> list[tuple[str, str]]:
    return [(p["title"], t["expr"]) for p in panels(dashboard) for t in p["targets"]]


def marks(dashboard: dict) -> list[tuple[str, str]]:
    return [(a["name"], a["expr"]) for a in dashboard.get("annotations", {}).get("list", [])]


@pytest.fixture(params=DASHBOARD_FILES, ids=lambda p: p.stem)
def dashboard(request) -> dict:
    return load(request.param)


def test_generated_files_are_what_the_code_says():
    assert {p.name for p in DASHBOARD_FILES} == set(DASHBOARDS)
    for name, build in DASHBOARDS.items():
        assert (GENERATED / name).read_text() == render(build), f"{name} is stale: make -C dashboards generate"


def test_uids_are_stable_and_unique():
    uids = [load(p)["uid"] for p in DASHBOARD_FILES]
    assert len(set(uids)) == len(uids)
    for path, uid in zip(DASHBOARD_FILES, uids, strict=True):
        assert uid == f"commitlab-{path.stem}" and len(uid) <= 40


def test_variables_come_in_the_usual_order(dashboard):
    assert [v["name"] for v in dashboard["templating"]["list"]] == VARIABLES


def test_no_data_source_is_hard_coded(dashboard):
    references = re.findall(r'"uid":\s*"([^"]*)"', json.dumps({**dashboard, "uid": "${datasource}"}))
    assert references and set(references) == {"${datasource}"}
    for panel in dashboard["panels"]:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, panel["title"]


def test_every_panel_says_what_it_shows_and_in_what_unit(dashboard):
    for panel in panels(dashboard):
        assert panel["title"] and panel["title"][0].isupper()
        assert len(panel.get("description", "")) > 20 and panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"].get("unit"), panel["title"]
        assert panel["targets"], panel["title"]
        assert all(t.get("legendFormat") for t in panel["targets"]), panel["title"]


def test_panels_have_ids_of_their_own_and_do_not_overlap(dashboard):
    ids = [p["id"] for p in dashboard["panels"]]
    assert len(set(ids)) == len(ids) and min(ids) > 0
    covered = {}
    for panel in dashboard["panels"]:
        position = panel["gridPos"]
        assert position["x"] + position["w"] <= 24, panel["title"]
        for x in range(position["x"], position["x"] + position["w"]):
            for y in range(position["y"], position["y"] + position["h"]):
                assert (x, y) not in covered, f"{panel['title']} lies on {covered[x, y]}"
                covered[x, y] = panel["title"]


def test_queries_select_by_the_variables(dashboard):
    of_a_cluster = '{namespace=~"$namespace", cluster=~"$cluster"'
    for title, expr in targets(dashboard) + marks(dashboard):
        for metric, wanted in ((OUR_METRIC, of_a_cluster + ', instance=~"$instance"'), (OPERATOR_METRIC, of_a_cluster)):
            for match in metric.finditer(expr):
                assert expr[match.end() :].startswith(wanted), f"{title}: {match.group()} is not selected by the variables"


def test_rates_follow_the_scrape_interval(dashboard):
    for title, expr in targets(dashboard):
        assert set(re.findall(r"\[([^]]+)]", expr)) <= {"$__rate_interval"}, title


def contract_metrics() -> set[str]:
    text = (ROOT / "engine" / "CONTROL.md").read_text()
    return set(OUR_METRIC.findall(text[text.index("## Metrics") :]))


def test_every_metric_is_part_of_the_engines_contract(dashboard):
    known = contract_metrics()
    for title, expr in targets(dashboard) + marks(dashboard):
        for name in OUR_METRIC.findall(expr):
            assert name in known or SERIES_SUFFIX.sub("", name) in known, f"{title}: engine/CONTROL.md has no {name}"


def operator_metrics() -> set[str]:
    return set(re.findall(r"^# TYPE (\S+)", OPERATOR_METRICS.read_text(), re.MULTILINE))


def test_every_metric_of_recovery_tests_is_one_that_the_operator_shows(dashboard):
    for title, expr in targets(dashboard) + marks(dashboard):
        unknown = set(OPERATOR_METRIC.findall(expr)) - operator_metrics()
        assert not unknown, f"{title}: the operator shows no {unknown}"


def test_marks_say_what_happened_and_in_which_colour(dashboard):
    for mark in dashboard["annotations"].get("list", []):
        assert mark["datasource"]["uid"] == "${datasource}" and mark["iconColor"] and mark["titleFormat"] and mark["textFormat"], mark[
            "name"
        ]


REGRESSION = re.compile(r'\{"(R\d+)", "\d+", "(\w+)", "[^"]*",\s*"[^"]*",\s*((?:"[^"]*"\s*)+),')


def regressions_with_counters() -> dict[str, tuple[str, list[str]]]:
    """By number: the variable, and the counters that tell a legacy value, as the server lists them."""
    text = (ROOT / "engine" / "src" / "sql" / "information_schema" / "regressions.cc").read_text()
    found = {}
    for number, variable, counters in REGRESSION.findall(text):
        if names := [name for name in "".join(re.findall(r'"([^"]*)"', counters)).split(",") if name]:
            found[number] = variable, names
    return found


def test_each_regression_has_a_row_with_its_cause():
    panels_of = {}
    for panel in load(GENERATED / "regressions.json")["panels"]:
        if panel["type"] == "row":
            row = panels_of.setdefault(panel["title"].partition(":")[0], [])
        else:
            row.append(panel)
    known = regressions_with_counters()
    assert len(known) >= 9 and set(panels_of) == {"Now", *known}
    for number, (variable, counters) in known.items():
        text = json.dumps(panels_of[number])
        assert variable in text, number
        assert any(counter in text for counter in counters), number
