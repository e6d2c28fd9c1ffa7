r"""Gradient flow of the exponential loss, followed to times whose logarithm's logarithm is in the thousands.

The loss falls like 1/t, layers grow like (log t)^(1/L), and directions settle like powers of log t: what is still
to come is exponential in tau = log(1 + log(1 + t)), `log_log_time` in the code. In the layers divided by e^(tau / L),
that is, by (1 + log(1 + t))^(1/L), the flow is, without approximation,

    dU/dtau = -U / L + sum_i w_i grad g_i(U),    w_i = exp((2 - 2/L) tau - 1 + e^tau (1 - g_i)),

with g_i = y_i f(x_i; U), the margins divided by e^tau. It follows from dt / dtau = exp(tau - 1 + e^tau) and minus the
gradient by the layers themselves, the sum of exp(-e^tau g_i) e^(tau (1 - 1/L)) grad g_i(U). The right-hand side stays
of order one: nothing under- or overflows.

What remains is stiffness, e^tau, and with it rounding: an error of epsilon in g_i is one of e^tau * epsilon in the
exponent, so that no integrator passes e^tau = 1 / rtol, and one that takes finite differences of the exponential gives
up long before. Therefore 1 / (e^-tau + 1 / sharpness) replaces the factor e^tau in the exponent. Up to a log t of a
hundredth of `sharpness` the two agree to a hundredth. Beyond, margins of support vectors agree with one another to
1 / sharpness and no longer to 1 / log t, a difference that no direction shows. The limit is the same: where the factor
is large, U descends its squared norm among the points with all g_i >= 1.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Tolerances, integrate
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork, contractions, pair_contractions
from learning_dynamics.progress import progress
from learning_dynamics.settings import Positive

FloatOrArray = TypeVar("FloatOrArray", float, np.ndarray)
# The largest exponent of a weight w_i. Only a trial step of the integrator to a margin g_i far below one has a larger
# one; the step is rejected.
MAX_EXPONENT = 40.0
# Limits of the integrator. They are enough for every flow of the configurations; a flow that needs more is given up,
# and its draw is undecided.
RESTARTS = 50
MAX_STEPS = 20_000


@dataclass(frozen=True)
class Accuracy(Tolerances):
    """How accurate the flow of an exponential loss is.

    Parameters
    ----------
    sharpness : float
        log t beyond which the exponent is no longer that of the loss; small against 1 / rtol.
    """

    sharpness: Positive


def capped_stiffness(log_log_times: FloatOrArray, sharpness: float) -> FloatOrArray:
    """Return what replaces the factor e^tau in exponents at tau = log(1 + log(1 + t)): at most `sharpness`."""
    return 1 / (np.exp(-log_log_times) + 1 / sharpness)


def exponential_flow(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    initial: np.ndarray,
    *,
    log_log_times: np.ndarray,
    integration: Accuracy,
) -> np.ndarray:
    """Follow the gradient flow of ``sum_i exp(-y_i f(x_i))`` and record it at given tau = log(1 + log(1 + t)).

    Parameters
    ----------
    network : TensorNetwork
    X : ndarray, shape (samples, inputs)
    y : ndarray, shape (samples,), of 1 and -1
    initial : ndarray, shape (parameters,)
        The state at t = 0.
    log_log_times : ndarray, ascending, from 0
        The tau at which it is recorded.
    integration : Accuracy

    Returns
    -------
    ndarray, shape (times, parameters)
        The layers divided by (1 + log(1 + t))^(1/L); nan after the start where the integrator gave up.
    """
    tensors, depth = network.data_tensor(y[:, None] * X), network.depth
    growth = 2 - 2 / depth

    def stiffness(log_log_time: float) -> float:
        return capped_stiffness(log_log_time, integration.sharpness)

    def weights(log_log_time: float, margins: np.ndarray) -> np.ndarray:
        """Return the weights w_i, shape (samples,)."""
        exponents = growth * log_log_time - 1 + stiffness(log_log_time) * (1 - margins)
        return np.exp(np.minimum(exponents, MAX_EXPONENT))

    def gradients(state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return grad g_i, shape (samples, parameters), and g_i, shape (samples,)."""
        layers = network.layers(state)
        pushes = contractions(tensors, layers)
        # contracted with v_1 too, the first of them is g_i
        return np.concatenate(pushes, axis=1), pushes[0] @ layers[0]

    def field(log_log_time: float, state: np.ndarray) -> np.ndarray:
        push, margins = gradients(state)
        return weights(log_log_time, margins) @ push - state / depth

    def jacobian(log_log_time: float, state: np.ndarray) -> np.ndarray:
        push, margins = gradients(state)
        weight = weights(log_log_time, margins)
        # The derivative of sum_i w_i grad g_i has two parts: that of grad g_i at fixed weights, `curvature`, and that
        # of the weights, d w_i = -stiffness w_i d g_i.
        curvature = pair_contractions(np.tensordot(weight, tensors, axes=1), network.layers(state))
        return curvature - stiffness(log_log_time) * (push.T * weight) @ push - np.eye(len(state)) / depth

    try:
        return integrate(
            field,
            initial,
            log_log_times,
            rtol=integration.rtol,
            atol=integration.atol,
            method="LSODA",
            jacobian=jacobian,
            restarts=RESTARTS,
            max_steps=MAX_STEPS,
        ).states
    except DivergenceError:
        # this draw is undecided; the others go on
        given_up = np.full((len(log_log_times), len(initial)), np.nan)
        given_up[0] = initial
        return given_up


def exponential_flows(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    starts: np.ndarray,
    *,
    log_log_times: np.ndarray,
    integration: Accuracy,
) -> np.ndarray:
    """Return flows, shape (data sets * starts, times, parameters), from starts (data sets, starts, parameters).

    Along the first axis starts vary fastest. Times and states are those of `exponential_flow`.
    """
    label = f"{network.name}, {network.depth} layers"
    return np.stack(
        [
            exponential_flow(network, X[member], y[member], start, log_log_times=log_log_times, integration=integration)
            for member in progress(range(len(X)), label)
            for start in starts[member]
        ]
    )


def recorded_log_log_times(last: float, records: int, doublings: int) -> np.ndarray:
    """Return `records` values of tau up to `last`, dense at the start, then `last` times 2, 4, ..., 2^`doublings`."""
    return np.concatenate([np.linspace(0.0, np.sqrt(last), records) ** 2, last * 2.0 ** np.arange(1, doublings + 1)])
