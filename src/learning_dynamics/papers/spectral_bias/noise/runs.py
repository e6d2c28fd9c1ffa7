"""The process dW = dB a^T, da = W^T dB that label noise alone drives (eq. 4.1): many paths, a few, and long ones.

Many paths are for statistics, a few to be looked at one by one, and long ones for the rates at which they grow. The
dimension d is called `inputs`. Members are paths.
"""

from dataclasses import dataclass

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.noise import exponents, models, observables
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory

# Steps between orthonormalisations of the directions that are followed; even, as `lyapunov_sums` asks. Chosen: over
# so many steps all directions turn towards the fastest, and lose a few digits of their differences, but not all
BLOCK = 20


@dataclass(frozen=True)
class Scheme:
    """How paths are followed, from time 0 on, by the Euler-Maruyama method.

    Parameters
    ----------
    horizon : float
        The last time.
    points : int
        For how many times, evenly spaced from 0 to the last, paths are recorded: at the first step that reaches each.
    step : float
        The length of the first step.
    schedule : str
        The lengths of the others: with `constant` the same, with `inverse square root` that of the k-th step is
        step / sqrt(k).
    """

    horizon: Positive
    points: Count
    step: Positive
    schedule: models.Schedule


def noise_process(*, inputs: Count, paths: Count, integration: Scheme, seed: Seed) -> Trajectory:
    """Many paths of dW = dB a^T, da = W^T dB from W(0) = I, a(0) = 0, by the Euler-Maruyama method (eq. 4.1).

    Returns
    -------
    Trajectory
        A series for each quantity of `observables.on_each_path`, shape (paths, times). They are in single precision,
        whose rounding is far below what sampling leaves open.

    Raises
    ------
    ProjectError
        If d = 1: then W has no second column for a commutator, and rows have no angle with a.
    """
    if inputs < 2:
        raise ProjectError(f"noise_process measures commutators and angles, which {inputs} input has not; raise inputs")
    time, W, a, average = _simulate(inputs, paths, integration, seed)
    by_time = []
    for index in range(len(time)):
        values = observables.on_each_path(W[:, index], a[:, index], average[:, index])
        by_time.append({name: numbers.astype(np.float32) for name, numbers in values.items()})
    series = {name: np.stack([values[name] for values in by_time], axis=1) for name in by_time[0]}
    return Trajectory(time, series)


def noise_paths(*, inputs: Count, paths: Count, integration: Scheme, seed: Seed) -> Trajectory:
    """A few paths of the process of `noise_process`, with their states, to be looked at one by one.

    Returns
    -------
    Trajectory
        Series W1, the paper's W, shape (paths, times, d, d), and W2, the paper's a, shape (paths, times, d).
    """
    time, W, a, _ = _simulate(inputs, paths, integration, seed)
    return Trajectory(time, {"W1": W, "W2": a})


def _simulate(
    inputs: int, paths: int, integration: Scheme, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the recorded times, and W, a and the moving average of a, $e^{-t}\int_0^t e^s a(s)\,ds$, at these times.

    Times have the shape (times,), W (paths, times, d, d), and a and its moving average (paths, times, d).
    """
    sizes = models.step_sizes(integration.schedule, integration.step, integration.horizon)
    times = np.r_[0.0, np.cumsum(sizes)]
    # `grid` has the times for which records are wanted. Recorded is the first step that reaches each, up to rounding;
    # one long step may pass several of them, and is recorded once
    grid = np.linspace(0.0, integration.horizon, integration.points)
    recorded_steps = np.unique(np.searchsorted(times, grid * (1 - 1e-9)))
    return times[recorded_steps], *models.simulate(inputs, paths, sizes, recorded_steps, seed=seed)


def noise_exponents(
    *, dimensions: list[Count], paths: Count, horizon: Positive, burn: Positive, step: Positive, seed: Seed
) -> Trajectory:
    """Long renormalised paths of the noise-driven process in several dimensions, for the rates at which they grow.

    The fastest direction shrinks at about the rate d, the dimension, so that the step taken is `step` / d. Rates are
    measured over `horizon`, after the time `burn`.

    Returns
    -------
    Trajectory
        A series growth_<d> for each dimension d, shape (paths, 2, d + 1): the logarithmic growth, per unit of time, of
        the d + 1 directions of (W, a), the matrix with the rows of W and a as the last one. The axis that other series
        have for times is here for the step and twice the step; so `time` is 1 and 2. Constant dimensions, every d.
    """
    growth = {}
    for inputs in progress(dimensions, "Lyapunov exponents"):
        rngs = generators(seed, f"noise_process.exponents.d{inputs}", paths)
        growth[f"growth_{inputs}"] = _growth(np.ones(inputs), rngs, step=step / inputs, horizon=horizon, burn=burn)
    # where other trajectories have times, this one has lengths of the step, relative to the step taken
    return Trajectory(np.array([1.0, 2.0]), growth, {"dimensions": np.array(dimensions)})


def weighted_noise_exponents(
    *, weights: list[Positive], paths: Count, horizon: Positive, burn: Positive, step: Positive, seed: Seed
) -> Trajectory:
    """As `noise_exponents`, for dW = D dB a^T, da = W^T D dB with the diagonal matrix D of `weights` (appendix D).

    The dimension d is the number of weights, and the step taken is `step` over the sum of their squares.

    Returns
    -------
    Trajectory
        Series growth, shape (paths, 2, d + 1), as growth_<d> in `noise_exponents`.
    """
    scales = np.array(weights)
    rngs = generators(seed, "noise_process.exponents.weighted", paths)
    growth = _growth(scales, rngs, step=step / float(np.sum(scales**2)), horizon=horizon, burn=burn)
    return Trajectory(np.array([1.0, 2.0]), {"growth": growth})


def _growth(
    weights: np.ndarray, rngs: list[np.random.Generator], *, step: float, horizon: float, burn: float
) -> np.ndarray:
    """Return the logarithmic growth per unit of time over `horizon`, after `burn`, on a path for each generator.

    The shape is (paths, 2, d + 1): of the d + 1 directions of (W, a), with the step and with twice the step. `weights`
    is the diagonal of D, shape (d,).
    """
    # how many blocks of BLOCK steps the times are
    burn_blocks, blocks = (max(1, round(time / (step * BLOCK))) for time in (burn, horizon))
    sums = [
        exponents.lyapunov_sums(weights, step, rng, burn_blocks=burn_blocks, blocks=blocks, every=BLOCK) for rng in rngs
    ]
    return np.stack(sums) / (step * BLOCK * blocks)
