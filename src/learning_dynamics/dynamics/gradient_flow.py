"""Gradient flow by adaptive Runge-Kutta integration, with an end that is a condition rather than a time."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.settings import Count, Positive

METHODS = ("DOP853", "LSODA", "Radau", "BDF")


@dataclass(frozen=True)
class Tolerances:
    """How accurate each step of an integration is.

    Parameters
    ----------
    rtol, atol : float
        Local error bounds: each step's error stays below ``atol + rtol * |state|``.
    """

    rtol: Positive
    atol: Positive


@dataclass(frozen=True)
class Span(Tolerances):
    """An integration from time 0 to a horizon.

    Parameters
    ----------
    horizon : float
        The last time recorded.
    points : int
        How many times are recorded, evenly spaced where nothing else is said.
    """

    horizon: Positive
    points: Count

    @property
    def times(self) -> np.ndarray:
        """The times recorded, shape (points,)."""
        return np.linspace(0.0, self.horizon, self.points)


@dataclass(frozen=True)
class LogSpan(Tolerances):
    """An integration from time 0 on, recorded there and at times evenly spaced in the logarithm.

    Parameters
    ----------
    start, horizon : float
        The first time recorded after 0, and the last.
    points : int
        How many times are recorded after 0.
    """

    start: Positive
    horizon: Positive
    points: Count

    @property
    def times(self) -> np.ndarray:
        """The times recorded, shape (1 + points,)."""
        return np.r_[0.0, np.geomspace(self.start, self.horizon, self.points)]


@dataclass(frozen=True)
class Flow:
    """An integrated flow.

    Attributes
    ----------
    states : ndarray, shape (times, size)
        The state at each requested time.
    final_state : ndarray, shape (size,)
        The state where the integration ended: the first step at or after the last requested time or, with
        a condition, the first after it at which the condition held.
    final_time : float
    steps, evaluations : int
        Steps taken, and evaluations of the vector field.
    """

    states: np.ndarray
    final_state: np.ndarray
    final_time: float
    steps: int
    evaluations: int


def integrate(
    field: Callable[[float, np.ndarray], np.ndarray],
    initial: np.ndarray,
    times: np.ndarray,
    *,
    rtol: float,
    atol: float,
    method: str = "DOP853",
    until: Callable[[np.ndarray], bool] | None = None,
    last_time: float = np.inf,
    max_steps: int = 100_000,
    land: bool = False,
    jacobian: Callable[[float, np.ndarray], np.ndarray] | None = None,
    restarts: int = 0,
) -> Flow:
    """Integrate d(state)/dt = field(t, state) and record it at `times`.

    Parameters
    ----------
    field : callable
        (time, state) to derivative, both of shape (size,).
    initial : ndarray, shape (size,)
        The state at ``times[0]``.
    times : ndarray, shape (times,), ascending
        When to record.
    rtol, atol : float
        Local error bounds: each step's error stays below ``atol + rtol * |state|``.
    method : str
        DOP853, or a stiff method: LSODA, Radau, BDF.
    until : callable, optional
        Keep integrating beyond the last time until this holds of the state.
    last_time : float
        Give up waiting for `until` here; the final state is then the one at this time.
    max_steps : int
        Bound on the number of steps.
    land : bool
        Cut steps so that they end on the recorded times, where states are then the integrator's own, and not
        interpolated between steps.
    jacobian : callable, optional
        (time, state) to the field's derivative by the state, shape (size, size), for the stiff methods; without it
        they take differences, which rounding spoils where the field is an exponential of large numbers.
    restarts : int
        How often a solver that gives up may start afresh, with a small step, from the last state that it reached.

    Raises
    ------
    DivergenceError
        If the state leaves the finite numbers, the step size underflows, or the steps run out.
    """
    from scipy import integrate as solvers  # takes half a second to import, which most stages need not wait for

    states = np.empty((len(times), len(initial)))
    recorded = int(np.searchsorted(times, times[0], side="right"))
    states[:recorded] = initial
    options = {"rtol": rtol, "atol": atol} | ({} if jacobian is None else {"jac": jacobian})
    end = float(max(last_time, times[-1]))
    start = getattr(solvers, method)
    solver = start(field, times[0], initial, end, **options)
    steps, evaluations = 0, 0
    if land and recorded < len(times):
        solver.t_bound = float(times[recorded])
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        # LSODA says why it gives up as a warning; what becomes of it is decided below
        warnings.filterwarnings("ignore", message="lsoda: ")
        while recorded < len(times) or (solver.status == "running" and until is not None and not until(solver.y)):
            if steps >= max_steps:
                raise DivergenceError(
                    f"gradient flow ran out of steps: {steps} taken by time {solver.t:g}; raise max_steps, or use a "
                    "stiff method"
                )
            before, state = solver.t, solver.y.copy()
            message = solver.step()
            steps += 1
            finite = bool(np.isfinite(solver.y).all())
            if restarts and (solver.status == "failed" or not finite):
                restarts -= 1
                evaluations += solver.nfev
                solver = start(field, before, state, end, **options)
                continue
            if not finite:
                raise DivergenceError(
                    f"gradient flow diverged at time {solver.t:g} (step {steps}): the state is not finite"
                )
            if solver.status == "failed":
                raise DivergenceError(f"gradient flow stopped at time {solver.t:g} (step {steps}): {message}")
            passed = int(np.searchsorted(times, solver.t, side="right"))
            if passed > recorded:
                # a step that lands on a recorded time needs no interpolant, whose stages are evaluations of their own
                states[recorded:passed] = solver.y if land else solver.dense_output()(times[recorded:passed]).T
                recorded = passed
                if land and solver.t < end:
                    solver.t_bound = float(times[recorded]) if recorded < len(times) else end
                    solver.status = "running"
    return Flow(states, solver.y.copy(), float(solver.t), steps, evaluations + solver.nfev)
