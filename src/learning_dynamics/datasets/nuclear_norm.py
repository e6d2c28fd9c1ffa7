"""Nuclear-norm minimisation: the convex baseline of matrix completion, solved once and kept as data."""

import numpy as np

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive, Seed

# All three are chosen. They set how many steps are taken; how near the minimum is comes from the proved gap.
THRESHOLD = 0.1  # of the singular values, as a share of the largest one of the observed entries
RELAXATION = 1.8  # below 2, where the splitting no longer converges
LOOK_EVERY = 20  # steps between computations of the gap


def minimiser(
    *,
    size: Count,
    rank: Count,
    observed: Count,
    draws: Count,
    slack: Positive,
    accuracy: Positive,
    iterations: Count,
    seed: Seed,
) -> dict[str, np.ndarray]:
    """Matrices of least nuclear norm that fit the observed entries of `low_rank` to within `slack`.

    Parameters
    ----------
    slack : float
        Largest allowed |W - W*| on an observed entry.
    accuracy : float
        Proved relative gap to the least nuclear norm at which the solver stops.
    iterations : int
        The most iterations that the solver may take.

    Returns
    -------
    dict
        truth, mask, as in `low_rank`; minimiser, shape (draws, size, size); gap, shape (draws,), the proved
        relative distance of its nuclear norm from the least one.
    """
    problem = low_rank(size=size, rank=rank, observed=observed, draws=draws, seed=seed)
    found, gaps = np.empty_like(problem["truth"]), np.empty(draws)
    for draw in progress(range(draws), "nuclear norm"):
        found[draw], gaps[draw] = least_nuclear_norm(
            problem["truth"][draw], problem["mask"][draw], slack, accuracy, iterations
        )
    return {**problem, "minimiser": found, "gap": gaps}


def least_nuclear_norm(
    truth: np.ndarray, mask: np.ndarray, slack: float, accuracy: float, iterations: int
) -> tuple[np.ndarray, float]:
    """Return the matrix of least nuclear norm that fits observed entries to within slack, and its duality gap.

    Douglas-Rachford splitting (Lions and Mercier 1979): projections onto the matrices that fit in turn with
    thresholding of singular values. The matrix fits; the gap is the proved relative distance of its nuclear norm
    from the least one.

    Parameters
    ----------
    truth : ndarray, shape (rows, columns)
        Read where `mask`, of bool and the same shape, is true.
    """
    lower = np.where(mask, truth - slack, -np.inf)
    upper = np.where(mask, truth + slack, np.inf)
    threshold = THRESHOLD * float(np.linalg.norm(mask * truth, 2))
    state = np.zeros_like(truth)
    for step in range(1, iterations + 1):
        fitting = np.clip(state, lower, upper)
        low_rank_part = _threshold(2 * fitting - state, threshold)
        if step % LOOK_EVERY == 0 or step == iterations:
            found = np.clip(low_rank_part, lower, upper)
            gap = _gap(found, (fitting - state) / threshold, truth, mask, slack)
            if gap <= accuracy:
                break
        state += RELAXATION * (low_rank_part - fitting)
    return found, gap


def _threshold(matrix: np.ndarray, by: float) -> np.ndarray:
    """Return the matrix with its singular values lowered by a number, to no less than zero."""
    U, values, Vt = np.linalg.svd(matrix, full_matrices=False)
    kept = int(np.sum(values > by))
    return (U[:, :kept] * (values[:kept] - by)) @ Vt[:kept]


def _gap(found: np.ndarray, multipliers: np.ndarray, truth: np.ndarray, mask: np.ndarray, slack: float) -> float:
    """Return the relative distance of a fitting matrix's nuclear norm from a lower bound on the least one.

    The bound is the dual's value, <truth, Y> - slack |Y|_1, at the multipliers: a matrix Y that vanishes off the
    observed entries, scaled to spectral norm at most one.
    """
    dual = mask * multipliers
    dual /= max(1.0, np.linalg.norm(dual, 2))
    upper = np.linalg.norm(found, "nuc")
    return float((upper - (np.sum(truth * dual) - slack * np.abs(dual).sum())) / upper) if upper > 0 else 0.0
