"""Gunther's universal scalability law, X(n) = λn / (1 + σ(n−1) + κn(n−1)), fitted to measured throughputs. What it says beyond them is a model."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Law:
    rate: float  # λ: of one
    contention: float  # σ: the share that only one can do at a time
    coherence: float  # κ: what each pair costs each other
    error: float  # relative, root mean square, of points left out of the fit; infinite where there are too few

    def at(self, n):
        return self.rate * n / (1 + self.contention * (n - 1) + self.coherence * n * (n - 1))


def solve(matrix, right):
    """A small dense system by elimination with pivots; nothing when it is singular."""
    size = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda r: abs(rows[r][column]))
        if abs(rows[pivot][column]) < 1e-12:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for other in range(size):
            if other != column:
                factor = rows[other][column] / rows[column][column]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[column], strict=True)]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def least_squares(columns, right, weights):
    normal = [[sum(w * a * b for w, a, b in zip(weights, c, d, strict=True)) for d in columns] for c in columns]
    return solve(normal, [sum(w * a * y for w, a, y in zip(weights, c, right, strict=True)) for c in columns])


def coefficients(points):
    """n / X is linear: 1/λ + σ/λ (n−1) + κ/λ n(n−1). Relative errors count. What comes out negative is left out of the law, as 0."""
    ns, times = [n for n, _ in points], [n / x for n, x in points]
    every = [[1.0] * len(ns), [n - 1.0 for n in ns], [n * (n - 1.0) for n in ns]]
    weights = [1 / t**2 for t in times]
    best = None
    for kept in ((0, 1, 2), (0, 1), (0, 2), (0,)):
        found = least_squares([every[i] for i in kept], times, weights) if len(points) >= len(kept) else None
        if found is None or min(found) < 0:
            continue
        full = [found[kept.index(i)] if i in kept else 0.0 for i in range(3)]
        wrong = sum(w * (t - sum(f * c[k] for f, c in zip(full, every, strict=True)))**2 for k, (w, t) in enumerate(zip(weights, times, strict=True)))
        if best is None or wrong < best[0] - 1e-12:
            best = (wrong, full)
    return best[1]


def law_of(points, error=math.inf):
    one, contention, coherence = coefficients(points)
    return Law(1 / one, contention / one, coherence / one, error)


def fit(points):
    """`points`: (n, throughput), at least three different n. The error is that of each point under a law fitted to the others."""
    if len({n for n, _ in points}) < 3:
        raise ValueError("three numbers of clients at least")
    misses = []
    if len(points) > 3:
        for i, (n, x) in enumerate(points):
            misses.append(law_of(points[:i] + points[i + 1:]).at(n) / x - 1)
    error = math.sqrt(sum(m * m for m in misses) / len(misses)) if misses else math.inf
    return law_of(points, error)
