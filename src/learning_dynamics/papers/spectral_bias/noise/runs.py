"""The process that label noise alone drives (section 4): many paths, a few to look at, and long ones for their
rates.
"""

from dataclasses import dataclass

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.noise import exponents, models, observables
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory

# steps between orthonormalisations; chosen, and even as `lyapunov_sums` asks: columns lose a few digits against one
# another over this time, not all
BLOCK = 20


@dataclass(frozen=True)
class Scheme:
    """How paths are followed, from time 0 on, by the Euler-Maruyama method.

    Parameters
    ----------
    horizon : float
        The last time.
    points : int
        At how many times, evenly spaced, paths are recorded: at the first step that reaches each.
    step : float
        The first step.
    schedule : str
        Whether the others are as long, or shrink with the square root of their number.
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
        Of each path the series of `observables.on_each_path`, shape (paths, times), in single precision, whose rounding
        lies far below what sampling leaves open.

    Raises
    ------
    ProjectError
        If there is one dimension only, in which nothing has a second column or direction.
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
    """A few paths of the noise-driven process, to be looked at one by one; see `noise_process`.

    Returns
    -------
    Trajectory
        Series W1 (the paper's W), shape (paths, times, d, d), and W2 (a), shape (paths, times, d).
    """
    time, W, a, _ = _simulate(inputs, paths, integration, seed)
    return Trajectory(time, {"W1": W, "W2": a})


def _simulate(
    inputs: int, paths: int, integration: Scheme, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the recorded times, and W, a and a's moving average $e^{-t}\int_0^t e^s a\,ds$ at them, paths first."""
    sizes = models.step_sizes(integration.schedule, integration.step, integration.horizon)
    times = np.r_[0.0, np.cumsum(sizes)]
    # for each time the first step that reaches it, up to rounding; one long step may pass several times
    grid = np.linspace(0.0, integration.horizon, integration.points)
    recorded_steps = np.unique(np.searchsorted(times, grid * (1 - 1e-9)))
    return times[recorded_steps], *models.simulate(inputs, paths, sizes, recorded_steps, seed=seed)


def noise_exponents(
    *, dimensions: list[Count], paths: Count, horizon: Positive, burn: Positive, step: Positive, seed: Seed
) -> Trajectory:
    """Long renormalised paths of the noise-driven process in several dimensions, for the rates at which they grow.

    The fastest direction shrinks at about the dimension d, so that the step taken is `step` / d.

    Returns
    -------
    Trajectory
        Series growth_<d>, shape (paths, 2, d + 1): logarithmic growth per unit of time of all directions (of W and
        a together), measured with the step and with twice the step in place of times.
    """
    growth = {}
    for inputs in progress(dimensions, "Lyapunov exponents"):
        rngs = generators(seed, f"noise_process.exponents.d{inputs}", paths)
        growth[f"growth_{inputs}"] = _growth(np.ones(inputs), rngs, step=step / inputs, horizon=horizon, burn=burn)
    # in place of times: lengths of the step, relative to the step taken
    return Trajectory(np.array([1.0, 2.0]), growth, {"dimensions": np.array(dimensions)})


def weighted_noise_exponents(
    *, weights: list[Positive], paths: Count, horizon: Positive, burn: Positive, step: Positive, seed: Seed
) -> Trajectory:
    """As `noise_exponents`, for dW = D dB a^T, da = W^T D dB with the diagonal matrix D of `weights` (appendix D).

    Returns
    -------
    Trajectory
        Series growth, shape (paths, 2, d + 1).
    """
    scales = np.array(weights)
    rngs = generators(seed, "noise_process.exponents.weighted", paths)
    growth = _growth(scales, rngs, step=step / float(np.sum(scales**2)), horizon=horizon, burn=burn)
    return Trajectory(np.array([1.0, 2.0]), {"growth": growth})


def _growth(
    weights: np.ndarray, rngs: list[np.random.Generator], *, step: float, horizon: float, burn: float
) -> np.ndarray:
    """Return growth per unit of time over `horizon`, after `burn`, of a path for each generator.

    The shape is (paths, 2, d + 1): with the step and with twice it, of all directions.
    """
    burn_blocks, blocks = (max(1, round(time / (step * BLOCK))) for time in (burn, horizon))
    sums = [
        exponents.lyapunov_sums(weights, step, rng, burn_blocks=burn_blocks, blocks=blocks, every=BLOCK) for rng in rngs
    ]
    return np.stack(sums) / (step * BLOCK * blocks)
