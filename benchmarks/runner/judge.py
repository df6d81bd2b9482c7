"""Whether two series of rounds, measured in turns, differ: by ranks, so that one slow round decides nothing, and by a size that matters."""

import dataclasses
import itertools
import math
import statistics

LEVEL = 0.05
# Several figures, either way, and ten tries shall flag nothing where there is nothing: 7 rounds at least can reach it.
BUILDS_LEVEL = 0.001


@dataclasses.dataclass(frozen=True)
class Judgement:
    flagged: bool
    ratio: float  # of the medians; infinite where nothing became something
    p: float

    def text(self):
        return f"{'x' + format(self.ratio, '.2f') if math.isfinite(self.ratio) else 'from nothing'}, p = {self.p:.3f}"


def rank_test(low, high):
    """Exact one-sided Mann-Whitney: how likely `high` would stand so far above `low` if both were the same. Ties share their ranks."""
    ranks = shared_ranks([*low, *high])
    observed = sum(ranks[len(low):])
    chosen = list(itertools.combinations(ranks, len(high)))
    return sum(sum(picked) >= observed for picked in chosen) / len(chosen)


def shared_ranks(values):
    """Twice the rank of each, so that half ranks are whole numbers."""
    return [sum(2 * (other < value) + (other == value) for other in values) for value in values]


def ratio_of(low, high):
    below, above = statistics.median(low), statistics.median(high)
    if below == 0:
        return 1.0 if above == 0 else math.inf
    return above / below


def is_more(low, high, by, level=LEVEL):
    """Is `high` at least `by` times `low`, and by ranks no accident?"""
    p, ratio = rank_test(low, high), ratio_of(low, high)
    return Judgement(p <= level and ratio >= by, ratio, p)


def differ(first, second, by):
    """Either way, in one of several figures: for two builds, of which nobody knows what has become slower."""
    return max(is_more(first, second, by, BUILDS_LEVEL), is_more(second, first, by, BUILDS_LEVEL), key=lambda j: (j.flagged, j.ratio))
