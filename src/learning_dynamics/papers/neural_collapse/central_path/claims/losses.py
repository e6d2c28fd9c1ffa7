"""The loss of the least-squares classifier from singular values of the SNR matrix (section 3.2).

The SNR matrix Sigma_W^{-1/2} M, (P, C), with the covariance Sigma_W within C classes and their centred means M, has the
C - 1 non-zero singular values omega_j. Without weight decay the least-squares classifier has the loss L = L_NC1 +
L_NC2/3, the parts from deviations within classes and from class means. Raw features are neither centred nor
renormalised. A draw is one feature matrix, or one start of a flow along one of both flows (`FLOWS`).
"""

from collections.abc import Callable

import numpy as np

from learning_dynamics.judging import Check, Claim, claim, takes_rivals
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.predictions import FLOWS
from learning_dynamics.papers.neural_collapse.central_path.quantities import IN_WORDS, LOSS, LOSS_NC1, LOSS_NC23, OMEGA
from learning_dynamics.papers.neural_collapse.draws import (
    GAUSSIAN_FEATURES,
    ROUNDING,
    Size,
    by_size,
    over_sizes,
    relative_error,
    zero_on_every_draw,
)
from learning_dynamics.tidy import Quantity, Table

Formula = Callable[[np.ndarray, int], np.ndarray]  # a loss from the SNR singular values, over their last axis, and C


def multiplied(formula: Formula, factor: float) -> Formula:
    """Return a formula times a factor, by which checks find the smallest error that they would have refused."""
    return lambda omega, classes: factor * formula(omega, classes)


@takes_rivals("formula", scaled=multiplied)
def check_loss_of_features(features: Table, quantity: Quantity, formula: Formula) -> Check:
    """Check a loss of raw features, |loss / formula - 1|; rivals are other formulas."""

    # loss (draws, 1 time, 1), omega (draws, 1 time, C - 1)
    def error(size: Size, loss: np.ndarray, omega: np.ndarray) -> np.ndarray:
        return relative_error(loss[..., 0], formula(omega, size.classes))

    errors = over_sizes(error, loss=by_size(features, quantity), omega=by_size(features, OMEGA))
    return zero_on_every_draw(f"{IN_WORDS[quantity]} of raw features, relative error", errors, ROUNDING, "rounding")


@takes_rivals("formula", scaled=multiplied)
def check_loss_along_flows(flows: Table, quantity: Quantity, formula: Formula) -> Check:
    """Check a loss along both flows, |loss / formula - 1| in units of 1 + omega_max^2 / C, the largest over time.

    Rivals are other formulas. That unit is what rounding grows by: the class means' scores are one-hot labels to within
    C / omega^2.
    """

    # loss (draws, times, 1), omega (draws, times, C - 1), descending
    def error(size: Size, loss: np.ndarray, omega: np.ndarray) -> np.ndarray:
        relative = np.abs(loss[..., 0] / formula(omega, size.classes) - 1)
        omega_max = omega[..., 0]
        return (relative / (1 + omega_max**2 / size.classes)).max(axis=1)

    def errors(flow: str) -> np.ndarray:
        return over_sizes(error, loss=by_size(flows, quantity, flow=flow), omega=by_size(flows, OMEGA, flow=flow))

    return zero_on_every_draw(
        f"{IN_WORDS[quantity]} along both flows, relative error",
        np.concatenate([errors(flow) for flow in FLOWS]),  # each draw twice, once along each flow
        ROUNDING,
        "rounding, in units of $1+\\omega^2/C$",
    )


def _slips_in(formula: Formula) -> dict[str, Formula]:
    """Return a formula of Lemma 1 with one thing wrong, by what is wrong."""

    def with_all_singular_values(omega: np.ndarray, classes: int) -> np.ndarray:
        zero = np.zeros_like(omega[..., :1])
        return formula(np.concatenate([omega, zero], axis=-1), classes)

    return {
        "one instead of $C$": lambda omega, _classes: formula(omega, 1),
        "$C-1$ instead of $C$": lambda omega, classes: formula(omega, classes - 1),
        "sums over all $C$, with the singular value that is zero": with_all_singular_values,
    }


@claim(
    "Lemma 1",
    scope=GAUSSIAN_FEATURES + ", any global mean; and along both flows; no weight decay",
    quantifier="all draws",
)
def lemma_1(features: Table, flows: Table) -> Claim:
    r"""Without weight decay, on the central path and with $\Sigma_W$ of full rank, the loss and both its parts depend
    on the $C-1$ non-zero SNR singular values alone: $L = \frac12\sum_j 1/(\omega_j^2+C)$, $L_{NC1} = \frac12\sum_j
    \omega_j^2/(C+\omega_j^2)^2$, $L_{NC2/3} = \frac{1}{2C}\sum_j(\omega_j^2/(\omega_j^2+C)-1)^2$.

    $L_{NC1}$ and $L_{NC2/3}$ are the loss from deviations within classes and from class means. In the direction of the
    zero singular value all classes' scores are equal; without a bias it would add $1/(2C)$ to the loss and to
    $L_{NC2/3}$. Far along the flows scores of class means are one-hot labels to within $C/\omega^2$, and rounding
    limits how well $L_{NC2/3}$ can be measured: errors along the flows are in units of $1+\omega_{\max}^2/C$.
    """
    formulas = {
        LOSS: theory.spectral_loss,  # sum_j 1 / (omega_j^2 + C) / 2
        LOSS_NC1: theory.spectral_variability_loss,  # sum_j omega_j^2 / (omega_j^2 + C)^2 / 2
        LOSS_NC23: theory.spectral_geometry_loss,  # sum_j (omega_j^2 / (omega_j^2 + C) - 1)^2 / (2 C)
    }
    # the third rival leaves L_NC1 as it is, to which the zero adds nothing; the checks of the other losses refuse it
    for quantity, formula in formulas.items():
        rivals = _slips_in(formula)
        yield check_loss_of_features(features, quantity, formula, rivals=rivals)
        yield check_loss_along_flows(flows, quantity, formula, rivals=rivals)
