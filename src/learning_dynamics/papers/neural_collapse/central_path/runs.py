"""The central path: free features, renormalised flows and descent (section 3, appendix D)."""

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import DivergenceError, ProjectError
from learning_dynamics.papers.neural_collapse.central_path import flows, models
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def free_features(
    *,
    sizes: list[list[Count]],
    signal: Positive,
    seeds: Count,
    condition: Positive,
    seed: Seed,
) -> Trajectory:
    """Gaussian features, and what the paper's identities are tried on: any classifier, directions, changes of basis.

    `sizes` lists (classes, examples per class, features). For each size the series, with one recorded time, are H,
    shape (members, 1, features, samples), not centred, samples sorted by class; W, an extended classifier, shape
    (members, 1, classes, features + 1); Z, a direction, the shape of H; A, shape (members, 1, 3, features, features), a
    positive-definite, a symmetric indefinite and a general matrix, each of condition number `condition`. Class means
    have standard deviation `signal`, noise has one.
    """
    series: dict[str, list[np.ndarray]] = {}
    for size in sizes:
        classes, examples, features = size
        label = models.size_label(*size)
        for rng in generators(seed, f"central_path.features.{label}", seeds):
            H = models.gaussian_features(rng, classes, examples, features, signal=signal)
            draw = {
                # the features' offset: nothing here may depend on a zero global mean
                "H": H + rng.standard_normal((features, 1)),
                "W": rng.standard_normal((classes, features + 1)),
                "Z": rng.standard_normal(H.shape),
                "A": _changes_of_basis(rng, features, condition),
            }
            for name, array in draw.items():
                series.setdefault(f"{name}_{label}", []).append(array[None])
    return Trajectory(np.zeros(1), {name: np.stack(arrays) for name, arrays in series.items()})


def renormalised_flows(
    *,
    sizes: list[list[Count]],
    signal: Positive,
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Continually renormalised gradient flow under both tangent maps, from the same features (eq. 5).

    Series ``<map>_<size>``, shape (members, times, features, samples), for the maps orthogonal and printed. A member
    whose integration stops, whatever its size and map, is undecided.
    """
    starts = _starts(sizes, signal, seeds, seed)
    series = {}
    undecided = np.zeros(seeds, dtype=bool)
    for name, tangent_map in flows.TANGENT_MAPS.items():
        for size in progress(sizes, f"renormalised flow, {name} map"):
            label = models.size_label(*size)
            states = np.full((seeds, len(integration.times), *starts[label].shape[1:]), np.nan)
            for member, X in enumerate(starts[label]):
                try:
                    flow = flows.renormalised_flow(
                        X, size[0], tangent_map, times=integration.times, tolerances=integration
                    )
                except DivergenceError:
                    undecided[member] = True
                    continue
                states[member] = flow.states.reshape(states.shape[1:])
            series[f"{name}_{label}"] = states
    return Trajectory(integration.times, series, undecided=undecided)


def renormalised_descent(
    *,
    sizes: list[list[Count]],
    signal: Positive,
    seeds: Count,
    horizon: Positive,
    points: Count,
    steps: list[Positive],
    seed: Seed,
) -> Trajectory:
    """Gradient descent with renormalisation after each step, as appendix D.1 describes it, for several step sizes.

    It starts from the features of `renormalised_flows`. Time is step size times number of steps; recorded at up to
    `points` times, spaced evenly in log time to `horizon`, that all step sizes reach exactly. Series
    ``descent<k>_<size>``, k from 0, for the k-th of `steps`, which are step sizes; shape (members, times, features,
    samples).
    """
    step_sizes = steps  # the setting lists sizes, not numbers
    coarsest = max(step_sizes)
    ratios = [coarsest / step for step in step_sizes]
    # whole numbers, but for rounding; 1e-9 is chosen
    if any(abs(ratio - round(ratio)) > 1e-9 for ratio in ratios):
        raise ProjectError(f"steps {steps}: each must divide the largest, so that all reach the same times; fix them")
    counts = np.unique(np.concatenate([[0], np.round(np.geomspace(1, horizon / coarsest, points))]).astype(int))
    starts = _starts(sizes, signal, seeds, seed)
    series = {}
    for index, (step, ratio) in enumerate(zip(step_sizes, ratios, strict=True)):
        for size in progress(sizes, f"renormalised descent, step {step:g}"):
            label = models.size_label(*size)
            series[f"descent{index}_{label}"] = flows.renormalised_descent(
                starts[label], size[0], step, counts * round(ratio)
            )
    return Trajectory(counts * coarsest, series)


def _starts(sizes: list[list[int]], signal: float, seeds: int, seed: int) -> dict[str, np.ndarray]:
    """Return renormalised features with zero global mean, shape (members, features, samples), by size."""
    starts = {}
    for size in sizes:
        classes, examples, features = size
        label = models.size_label(*size)
        draws = [
            models.gaussian_features(rng, classes, examples, features, signal=signal)
            for rng in generators(seed, f"central_path.starts.{label}", seeds)
        ]
        starts[label] = models.renormalised(np.stack(draws), classes)
    return starts


def _changes_of_basis(rng: np.random.Generator, features: int, condition: float) -> np.ndarray:
    """Return a positive-definite, a symmetric indefinite and a general matrix, (3, features, features)."""
    spectrum = np.geomspace(1.0, condition, features)
    Q, R = (np.linalg.qr(rng.standard_normal((features, features)))[0] for _ in range(2))
    signs = np.where(np.arange(features) % 2, -1.0, 1.0)  # every second eigenvalue of the second is negative
    stretched = Q * spectrum
    return np.stack([stretched @ Q.T, (stretched * signs) @ Q.T, stretched @ R.T])
