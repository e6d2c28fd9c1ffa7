"""How the end-to-end update's steps grow with the length of the longer of two samples: by theory, and in tables.

That length is kappa; p is the exponent of the loss, N the depth. A power of kappa is the slope of the logarithm of the
number of steps against log kappa.
"""

import numpy as np

from learning_dynamics.papers.deep_linear.acceleration.quantities import STEPS
from learning_dynamics.papers.deep_linear.tables import log_slopes
from learning_dynamics.tidy import Table, select


def power_of_stiffness(exponent: float, depth: int) -> float:
    """The power of kappa with which steps grow, up to logarithms: 1 - 2/N + 2 / min(N, p - 1), and 2 at depth 1.

    For p >= 2; derived in docs/deep_linear_derivations.md. Steps are a time over the largest stable step. The time in
    which weights of order 1/kappa grow is of order kappa^(1 - 2/N). The step is bounded twice: by the order
    kappa^(-2/N) while the long sample is being fitted, and by kappa^(-2/(p - 1)) while fitting the short sample pushes
    the long one off its fit.
    """
    return 2.0 if depth == 1 else 1 - 2 / depth + 2 / min(depth, exponent - 1)


def logarithm_at_depth_two(depth: int, first: float, last: float) -> float:
    """What a logarithm adds to the mean power from kappa `first` to `last`: at depth 2 the time grows as log kappa.

    The mean power of f between them is ``log(f(last) / f(first)) / log(last / first)``; here f is the logarithm.
    """
    if depth != 2:
        return 0.0
    return float(np.log(np.log(last) / np.log(first)) / np.log(last / first))


def powers_of_stiffness(samples: Table, depth: int) -> dict[float, np.ndarray]:
    """Return the measured power of kappa with which steps grow, by exponent, shape (starts,) each.

    It is nan for a start that has no stable rate at some kappa.
    """
    by_exponent = select(samples, STEPS, depth=depth).groupby("exponent")
    return {float(exponent): log_slopes(rows, "stiffness", "seed") for exponent, rows in by_exponent}
