"""The central path: free features, renormalised flows and descent (section 3, appendix D).

Free features are variables themselves, which no network computes. On the central path they have their least-squares
classifier, so that the loss is a function of the features. Features of P dimensions, of C classes with N examples each,
are matrices (P, C N) with examples as columns, all of the first class first. A size is the triple (C, N, P), with the
label ``C<C>_N<N>_P<P>`` at the end of the names of series. A member is one draw of the features of every size.
"""

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
    """Draw Gaussian features, and the classifiers, directions and maps for which the paper's identities are tested.

    Nothing moves here, so that there is one recorded time, 0. For each size there are four series:

    - ``H_<label>``, (members, 1, P, C N): features, not centred
    - ``W_<label>``, (members, 1, C, P + 1): any classifier, with biases in its last column
    - ``Z_<label>``, (members, 1, P, C N): any direction in which features may move
    - ``A_<label>``, (members, 1, 3, P, P): a positive-definite, a symmetric indefinite and a general matrix

    Parameters
    ----------
    sizes : list of [C, N, P]
    signal : float
        Standard deviation of the class means; that of the deviations from them, the noise, is one.
    seeds : int
        How many members are drawn.
    condition : float
        Condition number of each A.
    seed : int
        Root of the random streams.
    """
    series: dict[str, list[np.ndarray]] = {}
    for size in sizes:
        classes, examples, features = size
        label = models.size_label(*size)
        for rng in generators(seed, f"central_path.features.{label}", seeds):
            H = models.gaussian_features(rng, classes, examples, features, signal=signal)
            draw = {
                # with an offset for all examples: no identity here may depend on a zero global mean
                "H": H + rng.standard_normal((features, 1)),
                "W": rng.standard_normal((classes, features + 1)),
                "Z": rng.standard_normal(H.shape),
                "A": _changes_of_basis(rng, features, condition),
            }
            for name, array in draw.items():  # each with a first axis for the one recorded time
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

    The maps are the orthogonal projection onto the tangent space and the map that Proposition 4 prints, another
    projection onto it (errata 3). Series ``<map>_<label>``, (members, times, P, C N), with the map ``orthogonal`` or
    ``printed``, are the renormalised features at the recorded times. Where an integration stops its states are nan, and
    its member is undecided for all sizes and maps.

    Parameters
    ----------
    sizes : list of [C, N, P]
    signal : float
        Standard deviation of the class means at the start, before renormalisation; that of the noise is one.
    seeds : int
        How many members are followed.
    integration : LogSpan
        The recorded times and the integrator's tolerances.
    seed : int
        Root of the random streams.
    """
    starts = _starts(sizes, signal, seeds, seed)
    series = {}
    undecided = np.zeros(seeds, dtype=bool)
    for name, tangent_map in flows.TANGENT_MAPS.items():
        for size in progress(sizes, f"renormalised flow, {name} map"):
            label = models.size_label(*size)
            states = np.full((seeds, len(integration.times), *starts[label].shape[1:]), np.nan)
            # X, (P, C N), is a member's start, and size[0] the number of classes
            for member, X in enumerate(starts[label]):
                try:
                    flow = flows.renormalised_flow(
                        X, size[0], tangent_map, times=integration.times, tolerances=integration
                    )
                except DivergenceError:
                    undecided[member] = True
                    continue
                # the flow's states are vectors of P C N entries
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

    For the same `sizes`, `signal` and `seed` it starts from the features that `renormalised_flows` starts from. Time is
    step size times number of steps. Series ``descent<k>_<label>``, (members, times, P, C N), are the renormalised
    features under step size k, counted from 0, of the list `steps`.

    Parameters
    ----------
    sizes, signal, seeds, seed
        As for `renormalised_flows`.
    horizon : float
        The last recorded time, rounded to a multiple of the largest step size.
    points : int
        At how many times after 0 features are recorded. The times are evenly spaced on a logarithmic axis and rounded
        to multiples of the largest step size, so that all step sizes reach them; they are fewer where some coincide.
    steps : list of float
        The step sizes; each divides the largest.

    Raises
    ------
    ProjectError
        If a step size does not divide the largest.
    """
    step_sizes = steps  # the setting lists sizes, not numbers
    coarsest = max(step_sizes)
    ratios = [coarsest / step for step in step_sizes]
    # each ratio must be a whole number, but for rounding; 1e-9 is chosen
    if any(abs(ratio - round(ratio)) > 1e-9 for ratio in ratios):
        raise ProjectError(f"steps {steps}: each must divide the largest, so that all reach the same times; fix them")
    # at each recorded time the number of steps of the largest step size; a smaller one takes `ratio` times as many
    counts = np.unique(np.concatenate([[0], np.round(np.geomspace(1, horizon / coarsest, points))]).astype(int))
    starts = _starts(sizes, signal, seeds, seed)
    series = {}
    for index, (step, ratio) in enumerate(zip(step_sizes, ratios, strict=True)):
        for size in progress(sizes, f"renormalised descent, step {step:g}"):
            label = models.size_label(*size)
            # size[0] is the number of classes
            series[f"descent{index}_{label}"] = flows.renormalised_descent(
                starts[label], size[0], step, counts * round(ratio)
            )
    return Trajectory(counts * coarsest, series)


def _starts(sizes: list[list[int]], signal: float, seeds: int, seed: int) -> dict[str, np.ndarray]:
    """Return renormalised features with zero global mean, (members, P, C N), by the label of their size."""
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
    """Return a positive-definite, a symmetric indefinite and a general matrix, (3, P, P) for P `features`.

    The singular values of each are spread from one to `condition`.
    """
    spectrum = np.geomspace(1.0, condition, features)
    Q, R = (np.linalg.qr(rng.standard_normal((features, features)))[0] for _ in range(2))
    signs = np.where(np.arange(features) % 2, -1.0, 1.0)  # every second eigenvalue of the second is negative
    stretched = Q * spectrum
    return np.stack([stretched @ Q.T, (stretched * signs) @ Q.T, stretched @ R.T])
