"""Gradient flow: one network, and ensembles of small ones, against other integrators."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from scipy.integrate import solve_ivp

from bench.harness import LIMIT, Row, close, installed
from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.compiled_flow import FIELD, INTEGERS, Flows, flows
from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow

RTOL, ATOL = 1e-10, 1e-13
EQUAL = 1e-9  # the error, relative to the largest parameter, at which other libraries are compared
INPUTS, WIDTH, OUTPUTS, GAMMA, HORIZON = 10, 200, 3, 1e-4, 15.0
TIMES = np.linspace(0.0, HORIZON, 151)
WORK = "flow of one network, gamma = 1e-4"
Solve = Callable[[float], np.ndarray]


def rows() -> list[Row]:
    """One two-layer network at gamma = 1e-4, and 500 diagonal networks."""
    return [*network(), *ensemble()]


def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data and start of the two-layer linear network of fig1a at small scale: X, Y, packed layers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, INPUTS))
    Y = X @ rng.standard_normal((INPUTS, OUTPUTS))
    first = np.sqrt(2 * GAMMA) * two_layer.orthonormal_rows(rng, INPUTS, WIDTH)
    return X, Y, two_layer.pack(first, np.zeros((WIDTH, OUTPUTS)))


def network_flow(rtol: float = RTOL, times: np.ndarray = TIMES) -> two_layer_flow.NetworkFlow:
    """Return the flow of `problem`, in the basis of the hidden directions that it cannot leave."""
    X, Y, initial = problem()
    W1, W2 = two_layer.unpack(initial, INPUTS, WIDTH, OUTPUTS)
    Q = two_layer.hidden_basis(W1, W2)
    return two_layer_flow.follow(X, Y, W1 @ Q, Q.T @ W2, times, Tolerances(rtol=rtol, atol=1e-3 * rtol))


def wide_field(X: np.ndarray, Y: np.ndarray) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the vector field of all layers, in numpy, as other integrators take it."""
    split = INPUTS * WIDTH

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        W1, W2 = state[:split].reshape(INPUTS, WIDTH), state[split:].reshape(WIDTH, OUTPUTS)
        R = X.T.dot(Y - X.dot(W1.dot(W2)))
        slope = np.empty_like(state)
        np.dot(R, W2.T, out=slope[:split].reshape(INPUTS, WIDTH))
        np.dot(W1.T, R, out=slope[split:].reshape(WIDTH, OUTPUTS))
        return slope

    return field


def network() -> list[Row]:
    """The network of fig1a, recorded at 151 times to t = 15."""
    X, Y, initial = problem()
    field = wide_field(X, Y)
    Q = two_layer.hidden_basis(*two_layer.unpack(initial, INPUTS, WIDTH, OUTPUTS))

    def ours(rtol: float = RTOL) -> np.ndarray:
        found = network_flow(rtol)
        return np.concatenate([found.W1.reshape(len(TIMES), -1), found.W2.reshape(len(TIMES), -1)], axis=1)

    def inside(states: np.ndarray) -> np.ndarray:
        """Return packed layers of full width in the basis that ours are in."""
        W1, W2 = two_layer.unpack(states, INPUTS, WIDTH, OUTPUTS)
        return np.concatenate([(W1 @ Q).reshape(len(states), -1), (Q.T @ W2).reshape(len(states), -1)], axis=1)

    def alike(tolerance: float) -> Callable[[np.ndarray, np.ndarray], None]:
        return lambda mine, theirs: close(tolerance)(mine, inside(theirs))

    def by_scipy() -> np.ndarray:
        return solve_ivp(field, (0, HORIZON), initial, "DOP853", TIMES, rtol=RTOL, atol=ATOL).y.T

    # tolerances a thousandth of the bench's: the error of the truth does not show in that of others
    truth = ours(1e-3 * RTOL)

    def error(states: np.ndarray) -> float:
        mine = states if states.shape == truth.shape else inside(states)
        return float(np.abs(mine - truth).max() / np.abs(truth).max())

    scipys = Row(WORK, "scipy solve_ivp, DOP853", goal=8, ours=ours, theirs=by_scipy, agree=alike(1e-7))
    work, peer = f"{WORK}, error {EQUAL:.0e}", "diffrax Dopri8, compiled"
    ours_at, ours_error = loosest(ours, error)
    if not installed("diffrax"):
        return [scipys, Row(work, peer, goal=5, ours=ours_at, theirs=None, agree=close(0.0))]
    peer_at, peer_error = loosest(in_diffrax(X, Y, initial), error)
    # each is as far from the truth as its error says, and rounding is far below both
    agree = alike(2 * (ours_error + peer_error))
    note = f"errors {ours_error:.1g}, ours, and {peer_error:.1g}"
    return [scipys, Row(work, peer, goal=5, ours=ours_at, theirs=peer_at, agree=agree, note=note)]


def loosest(solve: Solve, error: Callable[[np.ndarray], float]) -> tuple[Callable[[], np.ndarray], float]:
    """Return an integration at the loosest rtol, in half decades, whose error is at most `EQUAL`, and that error."""
    rtol = 1e-6
    while (reached := error(solve(rtol))) > EQUAL:
        rtol /= np.sqrt(10)
        assert rtol > 1e-15, f"an error of {EQUAL} is out of reach: {reached}"
    return lambda: solve(rtol), reached


def in_diffrax(X: np.ndarray, Y: np.ndarray, initial: np.ndarray) -> Solve:
    """Return diffrax's Dopri8, compiled by XLA, as a function of its tolerance."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import diffrax
    import jax.numpy as jnp

    def field(_time: Any, state: Any, _arguments: Any) -> Any:
        W1, W2 = state[: INPUTS * WIDTH].reshape(INPUTS, WIDTH), state[INPUTS * WIDTH :].reshape(WIDTH, OUTPUTS)
        R = X.T @ (Y - X @ (W1 @ W2))
        return jnp.concatenate([(R @ W2.T).ravel(), (W1.T @ R).ravel()])

    @jax.jit
    def integrate(start: Any, rtol: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Dopri8(),
            0.0,
            HORIZON,
            None,
            start,
            saveat=diffrax.SaveAt(ts=jnp.asarray(TIMES)),
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-3 * rtol),
            max_steps=100_000,
        ).ys

    return lambda rtol: np.asarray(integrate(initial, rtol))


def diagonal_networks(members: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return diagonal networks on regression, one draw of data for each: X, y, starts, times."""
    rng = np.random.default_rng(2)
    size, samples = 10, 5
    X, y = rng.standard_normal((members, samples, size)), rng.standard_normal((members, samples))
    return X, y, np.full((members, 2 * size), 0.1), np.linspace(0.0, 10.0, 11)


@compiled(FIELD)
def diagonal_field(state: np.ndarray, data: np.ndarray, shape: np.ndarray, slope: np.ndarray) -> None:
    """Minus the loss's gradient by u and v of the predictor u^2 - v^2; data are X and y."""
    samples, size = shape[0], shape[1]
    u, v = state[:size], state[size:]
    slope[:size] = 0.0
    for row in range(samples):
        x, residual = data[row * size : (row + 1) * size], data[samples * size + row]
        for i in range(size):
            residual -= x[i] * (u[i] - v[i]) * (u[i] + v[i])
        for i in range(size):
            slope[i] += residual * x[i]
    for i in range(size):
        twice = 2 * slope[i]
        slope[i], slope[size + i] = twice * u[i], -twice * v[i]


def diagonal_flows(members: int, rtol: float, atol: float) -> Flows:
    """Return the flows of so many diagonal networks, none of which depends on the others."""
    X, y, initial, times = diagonal_networks(members)
    data = np.concatenate([X.reshape(members, -1), y], axis=1)
    return flows(diagonal_field, data, X.shape[1:], initial, times, rtol=rtol, atol=atol)


MATRIX = types.float64[:, ::1]


@compiled(types.void(types.FunctionType(FIELD), MATRIX, INTEGERS, MATRIX, INTEGERS, MATRIX))
def evaluate(
    field: Any, data: np.ndarray, shape: np.ndarray, states: np.ndarray, counts: np.ndarray, slopes: np.ndarray
) -> None:
    """Evaluate a field as often as each member's count says, always at the member's state; write its slopes."""
    for member in range(len(states)):
        for _ in range(counts[member]):
            field(states[member], data[member], shape, slopes[member])


def ensemble() -> list[Row]:
    """500 diagonal networks: against scipy, which follows the first hundred, and against their vector field alone."""
    members, some = 500, 100
    X, y, initial, times = diagonal_networks(members)
    data, shape = np.concatenate([X.reshape(members, -1), y], axis=1), np.array(X.shape[1:], dtype=np.int64)
    size = X.shape[-1]
    found = diagonal_flows(members, RTOL, ATOL)

    def slope(state: np.ndarray, data: np.ndarray, labels: np.ndarray) -> np.ndarray:
        u, v = state[:size], state[size:]
        by_predictor = data.T @ (labels - data @ (u**2 - v**2))
        return np.concatenate([2 * u * by_predictor, -2 * v * by_predictor])

    def ours() -> np.ndarray:
        return diagonal_flows(members, RTOL, ATOL).states

    def by_scipy() -> np.ndarray:
        paths = []
        for inputs, labels, start in zip(X[:some], y, initial, strict=False):

            def field(_time: float, state: np.ndarray, inputs: Any = inputs, labels: Any = labels) -> np.ndarray:
                return slope(state, inputs, labels)

            paths.append(solve_ivp(field, (0, 10.0), start, "DOP853", times, rtol=RTOL, atol=ATOL).y.T)
        return np.array(paths)

    def same_paths(all_of_them: np.ndarray, first: np.ndarray) -> None:
        close(1e-6)(all_of_them[:some], first)

    def field_alone() -> np.ndarray:
        slopes = np.empty_like(initial)
        evaluate(diagonal_field, data, shape, found.final_states, found.evaluations, slopes)
        return slopes

    def same_slopes(states: np.ndarray, slopes: np.ndarray) -> None:
        ends = states[:, -1]  # the last time recorded is where a flow ends
        # a slope is a difference of numbers of order one, and near a minimum it is small
        expected = [slope(*member) for member in zip(ends, X, y, strict=True)]
        np.testing.assert_allclose(slopes, expected, rtol=0, atol=1e-9)

    work, note = "flows of 500 small networks", f"the alternative's first {some}, times {members // some}"
    return [
        Row(work, "a loop of solve_ivp", None, ours, by_scipy, same_paths, share=some / members, note=note),
        # half of the time: no integrator of this order does without these evaluations
        Row(work, "their vector field alone, as often", 0.5, ours, field_alone, same_slopes, note=LIMIT),
    ]
