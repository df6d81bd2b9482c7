"""Recovery tests: verdicts, how long each fault was felt, what the servers did meanwhile."""

from grafana_foundation_sdk.builders import dashboard as builder

from . import frame
from .frame import MARK_STEP, Mark
from .panels import Query, alarm, graph, number
from .queries import PER_INSTANCE, SERVER, WRITABLE_ROLE, gauge, rate

UID = "commitlab-recovery-tests"

# The operator's metrics have a test's namespace and cluster; they come from no server.
TESTS = 'namespace=~"$namespace", cluster=~"$cluster"'
PER_TEST = "{{namespace}}/{{recovery_test}}"


def of_tests(metric: str, extra: str = "") -> str:
    return f"commitlab_operator_recovery_test_{metric}{{{TESTS}{extra}}}"


def _with_verdict(verdict: str) -> str:
    selected = of_tests("verdict", f', verdict=~"{verdict}"')
    return f"sum({selected}) or vector(0)"


def _now() -> list:
    return [
        number(
            "Passed",
            "Tests that are there and ended Passed: nothing lost, every fault proved.",
            "none",
            Query(_with_verdict("Passed"), "passed"),
        ),
        alarm(
            "Failed",
            "Tests that ended Failed: something that was promised is not so. The status of the test names the commits.",
            Query(f"clamp_max({_with_verdict('Failed')}, 1)", "failed"),
            {"0": ("none", "green"), "1": ("some", "red")},
        ),
        number(
            "Neither",
            "Tests that ended Inconclusive (a fault or a write was not proved) or Unsupported (a fault cannot be injected here).",
            "none",
            Query(_with_verdict("Inconclusive|Unsupported"), "neither"),
        ),
        number(
            "Acknowledged",
            "Commits that were acknowledged to the ledgers of these tests.",
            "none",
            Query(f"sum({of_tests('acknowledged_commits')})", "commits"),
        ),
        number(
            "Lost",
            "Acknowledged commits that are not there. Anything but 0 is a defect.",
            "none",
            Query(f"sum({of_tests('lost_commits')})", "commits"),
        ),
        number(
            "Longest RTO",
            "The longest time from the last acknowledgement before a fault to the first one after it.",
            "s",
            Query(f"max({of_tests('rto_seconds')})", "RTO"),
        ),
    ]


def _verdicts() -> list:
    return [
        graph(
            "Verdicts",
            "One line for each finished test, named by its verdict.",
            "none",
            Query(of_tests("verdict"), PER_TEST + " {{verdict}}"),
        ),
        graph("Phases", "Which phase each test is in.", "none", Query(of_tests("phase"), PER_TEST + " {{phase}}")),
        graph(
            "Acknowledged commits",
            "What the ledger of each test counts, as its status shows it.",
            "none",
            Query(of_tests("acknowledged_commits"), PER_TEST),
        ),
        graph("Lost commits", "Acknowledged and not there, for each test.", "none", Query(of_tests("lost_commits"), PER_TEST)),
    ]


def _faults() -> list:
    return [
        graph(
            "RTO per fault",
            "From the last acknowledgement before a fault to the first one behind it, as clients saw it, and what ended it.",
            "s",
            Query(of_tests("rto_seconds"), PER_TEST + " {{fault}}, {{recovered_by}}"),
            width=24,
        ),
        graph(
            "Acknowledged writes",
            "Transactions per second that masters committed. A gap behind a mark is what the fault cost.",
            "ops",
            Query(
                f"sum by (namespace, cluster) ({rate('commitd_transactions_committed_total')} and on ({SERVER}) ({WRITABLE_ROLE} == 1))",
                "{{namespace}}/{{cluster}}",
            ),
        ),
        graph(
            "Writes blocked",
            "1 while a server that may be written to refuses or delays writes.",
            "none",
            Query(f"{gauge('commitd_writes_blocked')} and on ({SERVER}) ({WRITABLE_ROLE} == 1)", PER_INSTANCE),
        ),
    ]


def _recovery() -> list:
    return [
        graph(
            "Epochs",
            "The epoch that each server has promised. A step is a change of master; two levels for long are a server that was left behind.",
            "none",
            Query(gauge("commitd_epoch"), PER_INSTANCE),
        ),
        graph("Masters", "1 where a server says that it is the master.", "none", Query(f"{WRITABLE_ROLE}", PER_INSTANCE + " {{role}}")),
        graph(
            "Rows replayed per fault",
            "Rows that the killed servers replayed from their logs before they took part again.",
            "none",
            Query(of_tests("replayed_rows"), PER_TEST + " {{fault}}"),
        ),
        graph(
            "Replay of the last start",
            "Rows that each server's last start replayed, and how long that took.",
            "none",
            Query(gauge("commitd_recovery_replayed_rows"), f"{PER_INSTANCE} rows"),
            Query(gauge("commitd_recovery_seconds"), f"{PER_INSTANCE} seconds"),
        ),
    ]


def _marks() -> list[Mark]:
    epoch = f"max by (namespace, cluster) ({gauge('commitd_epoch')})"
    before = f"max by (namespace, cluster) ({gauge('commitd_epoch')} offset {MARK_STEP})"
    injected = of_tests("injected_timestamp_seconds")
    return [
        Mark("Faults", "red", f"(time() - {injected}) < {MARK_STEP.removesuffix('s')}", "{{kind}}", "{{recovery_test}}: {{fault}}"),
        Mark("Changes of master", "blue", f"{epoch} > {before}", "epoch", "{{namespace}}/{{cluster}}"),
    ]


def build() -> builder.Dashboard:
    result = frame.dashboard(
        "Recovery tests", UID, "What recovery tests found: verdicts, how long each fault was felt, and what the servers did meanwhile."
    )
    for mark in _marks():
        result.annotation(mark)
    return frame.with_sections(result, {"Now": _now(), "Verdicts": _verdicts(), "Faults": _faults(), "Recovery": _recovery()})
