"""Rules are valid, each alert is tested by promtool in both directions, and each has a runbook."""

import subprocess
from pathlib import Path

import pytest
import yaml

from .test_lint import OPERATOR_METRIC, OUR_METRIC, SERIES_SUFFIX, contract_metrics, operator_metrics

HERE = Path(__file__).resolve().parents[1]
RULES = HERE / "rules"
PROMTOOL = HERE.parent / "build" / "bin" / "promtool"


def rules(file: str) -> list[dict]:
    return [rule for group in yaml.safe_load((RULES / file).read_text())["groups"] for rule in group["rules"]]


ALERTS = rules("alerts.yaml")


def promtool(*arguments: str) -> None:
    result = subprocess.run([PROMTOOL, *arguments], cwd=RULES, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_promtool_accepts_the_rules():
    promtool("check", "rules", "--lint=all", "--lint-fatal", "alerts.yaml", "recording.yaml")


@pytest.mark.parametrize("file", sorted((RULES / "tests").glob("*.yaml")), ids=lambda p: p.stem)
def test_promtool_tests_pass(file):
    promtool("test", "rules", str(file))


def test_every_rule_is_tested():
    tests = "".join(p.read_text() for p in (RULES / "tests").glob("*.yaml"))
    for rule in rules("recording.yaml"):
        assert f"expr: {rule['record']}" in tests or f"expr: '{rule['record']}'" in tests, rule["record"]
    tested = {}
    for group in yaml.safe_load((RULES / "tests" / "alerts_test.yaml").read_text())["tests"]:
        for case in group["alert_rule_test"]:
            tested.setdefault(case["alertname"], set()).add(bool(case["exp_alerts"]))
    for alert in ALERTS:
        assert tested.get(alert["alert"]) == {True, False}, f"{alert['alert']} needs a test that fires and one that does not"


@pytest.mark.parametrize("alert", ALERTS, ids=lambda a: a["alert"])
def test_alert_says_what_to_do(alert):
    assert alert["labels"]["severity"] in {"warning", "critical"}
    assert set(alert["annotations"]) == {"summary", "description", "runbook"}
    assert alert["annotations"]["runbook"] == f"dashboards/runbooks/{alert['alert']}.md"
    runbook = (HERE.parent / alert["annotations"]["runbook"]).read_text()
    assert runbook.startswith(f"# {alert['alert']}\n")
    assert all(word in runbook for word in ("**What it means.**", "**Look at**", "**Do.**"))


def test_no_runbook_is_left_over():
    assert {p.stem for p in (HERE / "runbooks").glob("*.md")} == {a["alert"] for a in ALERTS}


def test_every_metric_is_part_of_the_engines_contract():
    known = contract_metrics()
    recorded = {rule["record"] for rule in rules("recording.yaml")}
    for rule in ALERTS + rules("recording.yaml"):
        expr = rule["expr"]
        for name in recorded:
            expr = expr.replace(name, "")
        for name in OUR_METRIC.findall(expr):
            assert name in known or SERIES_SUFFIX.sub("", name) in known, name


def test_every_metric_of_the_operator_is_one_that_it_shows():
    used = {name for rule in ALERTS for name in OPERATOR_METRIC.findall(rule["expr"])}
    assert used and used <= operator_metrics()
