"""Nuclear-norm minimisation: the convex baseline of matrix completion, solved once and kept as data."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.errors import ProjectError
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive, Seed


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

    The first-order solver SCS is stopped at `accuracy`. Its point is made feasible by clipping, and its dual
    variables, scaled into the dual's constraint, give a lower bound on the optimum: the gap between both is
    proved, whatever the solver's own report.

    Parameters
    ----------
    slack : float
        Largest allowed |W - W*| on an observed entry.
    accuracy : float
        The solver's absolute and relative tolerance.
    iterations : int
        The most iterations that the solver may take.

    Returns
    -------
    dict
        truth, mask, as in `low_rank`; minimiser, shape (draws, size, size); gap, shape (draws,), the proved
        relative distance of its nuclear norm from the least one.

    Raises
    ------
    ProjectError
        If the solver returns no point.
    """
    problem = low_rank(size=size, rank=rank, observed=observed, draws=draws, seed=seed)
    found, gaps = np.empty_like(problem["truth"]), np.empty(draws)
    for draw in progress(range(draws), "nuclear norm"):
        entries = np.flatnonzero(problem["mask"][draw])
        values = problem["truth"][draw].ravel()[entries]
        found[draw], gaps[draw] = least_nuclear_norm(size, entries, values, slack, accuracy, iterations)
    return {**problem, "minimiser": found, "gap": gaps}


def least_nuclear_norm(
    size: int, entries: np.ndarray, values: np.ndarray, slack: float, accuracy: float, iterations: int
) -> tuple[np.ndarray, float]:
    """Return the matrix of least nuclear norm that fits entries (flat indices) to within slack, and its duality gap.

    The matrix is feasible; the gap is the proved relative distance of its nuclear norm from the least one.
    """
    W = cp.Variable((size, size))
    seen = cp.vec(W, order="C")[entries]
    bounds = [seen - values <= slack, values - seen <= slack]
    task = cp.Problem(cp.Minimize(cp.normNuc(W)), bounds)
    with warnings.catch_warnings():
        # an inaccurate end is no secret: the gap below says how inaccurate
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        task.solve(solver=cp.SCS, eps_abs=accuracy, eps_rel=accuracy, max_iters=iterations)
    if W.value is None:
        raise ProjectError(f"nuclear-norm minimisation ended as `{task.status}`; raise iterations or accuracy")
    feasible = np.array(W.value)
    np.put(feasible, entries, np.clip(feasible.ravel()[entries], values - slack, values + slack))
    upper = np.linalg.norm(feasible, "nuc")
    # the dual: max <values, y> - slack |y|_1 over matrices supported on the observed entries of spectral norm <= 1
    multipliers = bounds[1].dual_value - bounds[0].dual_value
    supported = np.zeros(size * size)
    supported[entries] = multipliers
    multipliers = multipliers / max(1.0, np.linalg.norm(supported.reshape(size, size), 2))
    lower = multipliers @ values - slack * np.abs(multipliers).sum()
    return feasible, float((upper - lower) / upper)
