"""What is predicted of the SNR singular values omega_j(t): by the paper, and for the algorithm that it describes.

There are C classes of N examples, and eq. 5 is the flow dX/dt = -Pi(grad L) of the renormalised features X, with a map
Pi onto their tangent space. A check takes one of these predictions as its argument: its rivals and corrections are
others of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.quantities import ORTHOGONAL, PRINTED

# the two readings of eq. 5, named by their map: the orthogonal projection, for which alone Proposition 2 is right, and
# the map that Proposition 4 prints
FLOWS = (ORTHOGONAL, PRINTED)


@dataclass(frozen=True)
class Dynamics:
    """A prediction of the SNR singular values omega, for C classes of N examples.

    Attributes
    ----------
    speed : callable
        ``speed(omega, C, N)`` is d omega / dt, for omega of shape (..., C - 1).
    course : callable
        ``course(omega(0), t, C, N)`` is omega(t), shape (times, C - 1), for omega(0) of shape (C - 1,).
    asymptote : callable
        ``asymptote(t, C, N)`` is what omega(t) tends to, of the shape of t.
    exponent : float
        The power of t in the asymptote.
    """

    speed: Callable[[np.ndarray, int, int], np.ndarray]
    course: Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]
    asymptote: Callable[[np.ndarray, int, int], np.ndarray]
    exponent: float


# Proposition 2, which the flow ORTHOGONAL follows
PAPER = Dynamics(
    speed=theory.snr_velocity,  # omega / (N (C + omega^2)^2), eq. 27
    course=theory.snr_closed_form,  # C^2 N log omega + C N omega^2 + N omega^4 / 4 = t + constant, eq. 9
    asymptote=lambda time, _classes, examples: theory.snr_asymptote(time, examples),  # (4 t / N)^(1/4), Corollary 1
    exponent=0.25,
)
# what the flow PRINTED follows, and the described algorithm in the limit of small steps (derived in `theory`)
ALGORITHM = Dynamics(
    speed=theory.algorithm_velocity,  # omega / (C N (C + omega^2))
    course=theory.algorithm_closed_form,  # omega^2 / 2 + C log omega = t / (C N) + constant
    asymptote=theory.algorithm_asymptote,  # (2 t / (C N))^(1/2)
    exponent=0.5,
)


def at_speed(dynamics: Dynamics, factor: float) -> Dynamics:
    """Return dynamics `factor` times as fast: omega at t is what it was at factor t."""
    return Dynamics(
        speed=lambda omega, classes, examples: factor * dynamics.speed(omega, classes, examples),
        course=lambda start, time, classes, examples: dynamics.course(start, factor * time, classes, examples),
        asymptote=lambda time, classes, examples: dynamics.asymptote(factor * time, classes, examples),
        exponent=dynamics.exponent,
    )


# a rival: half the speed doubles the constants of eq. 9 (`theory.snr_constants`), so that omega^4 has the factor N / 2
# instead of N / 4
PAPER_AT_HALF_SPEED = at_speed(PAPER, 0.5)


def twice_next_order(flow: str, omega: np.ndarray, classes: int) -> np.ndarray:
    """Return twice the next order of omega(t) at late times along one of `FLOWS`, relative to omega (derived here).

    Checks take it as a tolerance or a slack: twice, to cover the orders after it.

    Orthogonal projection: without its logarithm and constant eq. 9 is omega^4 + 4 C omega^2 = 4 t / N, so that omega^2
    is about sqrt(4 t / N) - 2 C, and omega its asymptote times 1 - C / omega^2. Printed map: omega^2 / 2 = t / (C N) -
    C log omega, so that omega is about its asymptote times 1 - C log omega / omega^2.
    """
    if flow == ORTHOGONAL:
        return 2 * classes / omega**2
    return 2 * classes * np.log(omega) / omega**2
