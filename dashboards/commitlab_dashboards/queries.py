"""What the dashboards' queries are made of: rates, quotients and gauges, selected by the variables."""

from .variables import SELECTOR

# The labels that name one server. Pods of two clusters may share a name.
SERVER = "namespace, cluster, instance"


def rate(metric: str, extra: str = "") -> str:
    """The per-second rate of a counter, for each instance."""
    selector = SELECTOR + (f", {extra}" if extra else "")
    return f"sum by ({SERVER}) (rate({metric}{{{selector}}}[$__rate_interval]))"


def ratio(numerator: str, denominator: str) -> str:
    """A quotient that has no value, instead of NaN, while the denominator stands still."""
    return f"{numerator} / ({denominator} > 0)"


def gauge(metric: str) -> str:
    return f"{metric}{{{SELECTOR}}}"


WRITABLE_ROLE = f'commitd_role{{{SELECTOR}, role=~"master|standalone"}}'
TRANSACTIONS = rate("commitd_commit_group_transactions_total")
PER_INSTANCE = "{{instance}}"
STAGE_BUCKETS = "commitd_commit_stage_seconds_bucket"


def quantile(q: float, stage: str) -> str:
    buckets = f'rate({STAGE_BUCKETS}{{{SELECTOR}, stage="{stage}"}}[$__rate_interval])'
    return f"histogram_quantile({q}, sum by (le, {SERVER}) ({buckets}))"
