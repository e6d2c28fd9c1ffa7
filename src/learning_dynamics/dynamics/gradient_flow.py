"""Gradient flow by scipy's adaptive integrators, with an end that is a time or a condition on the state."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.settings import Count, Positive

METHODS = ("DOP853", "LSODA", "Radau", "BDF")  # classes of scipy.integrate; all but the first are for stiff flows


@dataclass(frozen=True)
class Tolerances:
    """How accurate each step of an integration is.

    Parameters
    ----------
    rtol, atol : float
        Local error bounds: each step's estimated error stays below ``atol + rtol * |state|``, in the root mean square
        over entries; with LSODA in every entry.
    """

    rtol: Positive
    atol: Positive


@dataclass(frozen=True)
class Span(Tolerances):
    """An integration from time 0 to a horizon.

    Parameters
    ----------
    horizon : float
        The last time recorded; with one point that is 0.
    points : int
        How many times are recorded. Those of `times` are evenly spaced; a run that spaces them otherwise says so.
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
    first_time, horizon : float
        The first time recorded after 0, and the last; with one point that is `first_time`.
    points : int
        How many times are recorded after 0.
    """

    first_time: Positive
    horizon: Positive
    points: Count

    @property
    def times(self) -> np.ndarray:
        """The times recorded, shape (1 + points,)."""
        return np.r_[0.0, np.geomspace(self.first_time, self.horizon, self.points)]


@dataclass(frozen=True)
class Flow:
    """An integrated flow.

    Attributes
    ----------
    states : ndarray, shape (times, size)
        The state at each requested time.
    final_state : ndarray, shape (size,)
        The state where the integration ended. Without a condition this is after the first step that reaches the last
        requested time; with one, after the first step from there on at whose end the condition held, or at `last_time`.
    final_time : float
        The time of the final state.
    steps, evaluations : int
        Steps taken, with those that a restart took back, and evaluations of the vector field, without those from which
        Radau and BDF take differences.
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
        The state at ``times[0]``, finite.
    times : ndarray, shape (times,), ascending
        When to record.
    rtol, atol : float
        As in `Tolerances`.
    method : str
        One of `METHODS`.
    until : callable, optional
        Keep integrating beyond the last time until this holds of the state.
    last_time : float
        Stop waiting for `until` here; the final state is then the one at this time.
    max_steps : int
        Bound on the number of steps.
    land : bool
        Cut steps so that they end on the recorded times, where states are then the integrator's own, and not
        interpolated between steps. Not with LSODA, which ignores the cut, and not with `restarts`, which drop it.
    jacobian : callable, optional
        (time, state) to the field's derivative by the state, shape (size, size), for the stiff methods; without it
        they take differences, which rounding spoils where the field is an exponential of large numbers.
    restarts : int
        How often a solver that gives up, or whose state leaves the finite numbers, may start afresh, with a small step,
        from the last state before that.

    Raises
    ------
    DivergenceError
        If the state leaves the finite numbers, the step size underflows, or the steps run out.
    ValueError
        If it is to land with LSODA or with restarts.
    """
    if land and (method == "LSODA" or restarts):
        raise ValueError("land: LSODA and restarts would record the state of a later time")

    from scipy import integrate as solvers  # takes half a second to import, which most stages need not wait for

    states = np.empty((len(times), len(initial)))
    # the number of times that have their state; times that repeat the first have the initial one
    recorded = int(np.searchsorted(times, times[0], side="right"))
    states[:recorded] = initial
    options = {"rtol": rtol, "atol": atol} | ({} if jacobian is None else {"jac": jacobian})
    end = float(max(last_time, times[-1]))
    solver_class = getattr(solvers, method)
    solver = solver_class(field, times[0], initial, end, **options)
    steps, evaluations = 0, 0
    if land and recorded < len(times):
        # scipy's solvers, except LSODA, cut the step that would pass t_bound, and read it at every step
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
                solver = solver_class(field, before, state, end, **options)
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
                    solver.status = "running"  # at its bound it has set itself to "finished"
    return Flow(states, solver.y.copy(), float(solver.t), steps, evaluations + solver.nfev)
