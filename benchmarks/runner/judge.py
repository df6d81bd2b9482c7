"""Whether two series of rounds, measured in turns, differ: by ranks, so that one slow round decides nothing, and by a size that matters."""

import dataclasses
import itertools
import math
import statistics

LEVEL = 0.05


@dataclasses.dataclass(frozen=True)
class Judgement:
    flagged: bool
    ratio: float  # of the medians; infinite where nothing became something
    p: float

    def text(self):
        return f"{'x' + format(self.ratio, '.2f') if math.isfinite(self.ratio) else 'from nothing'}, p = {self.p:.3f}"


def rank_test(low, high):
    """Exact one-sided Mann-Whitney: how likely `high` would stand so far above `low` if both were the same. Ties count half."""
    values = [*low, *high]
    observed = wins(low, high)
    chosen = list(itertools.combinations(range(len(values)), len(high)))
    as_far = 0
    for indices in chosen:
        picked = set(indices)
        first = [v for i, v in enumerate(values) if i not in picked]
        as_far += wins(first, [values[i] for i in indices]) >= observed
    return as_far / len(chosen)


def wins(low, high):
    return sum(0.5 if a == b else a < b for a in low for b in high)


def ratio_of(low, high):
    below, above = statistics.median(low), statistics.median(high)
    if below == 0:
        return 1.0 if above == 0 else math.inf
    return above / below


def is_more(low, high, by):
    """Is `high` at least `by` times `low`, and by ranks no accident?"""
    p, ratio = rank_test(low, high), ratio_of(low, high)
    return Judgement(p <= LEVEL and ratio >= by, ratio, p)


def differ(first, second, by):
    """Either way: for two builds, of which nobody knows which is the slower one."""
    return max(is_more(first, second, by), is_more(second, first, by), key=lambda j: (j.flagged, j.ratio))
