"""The loss of the least-squares classifier from singular values of the SNR matrix (section 3.2)."""

import numpy as np

from learning_dynamics.judging import Claim, claim
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.checks import (
    Formula,
    check_loss_along_flows,
    check_loss_of_features,
)
from learning_dynamics.papers.neural_collapse.central_path.quantities import LOSS, LOSS_NC1, LOSS_NC23
from learning_dynamics.papers.neural_collapse.draws import FREE
from learning_dynamics.tidy import Table


def _slips_in(formula: Formula) -> dict[str, Formula]:
    """Return a formula of Lemma 1 with one thing wrong, by what it is."""

    def with_all_singular_values(omega: np.ndarray, C: int) -> np.ndarray:
        return formula(np.concatenate([omega, np.zeros_like(omega[..., :1])], axis=-1), C)

    return {
        "one instead of $C$": lambda omega, _C: formula(omega, 1),
        "$C-1$ instead of $C$": lambda omega, C: formula(omega, C - 1),
        "sums over all $C$, with the singular value that is zero": with_all_singular_values,
    }


@claim("Lemma 1", scope=FREE + ", any global mean; and along both flows; no weight decay", quantifier="all draws")
def lemma_1(features: Table, flows: Table) -> Claim:
    r"""Without weight decay, on the central path and with $\Sigma_W$ of full rank, the loss and both its parts depend
    on the $C-1$ non-zero SNR singular values alone: $L = \frac12\sum_j 1/(\omega_j^2+C)$, $L_{NC1} = \frac12\sum_j
    \omega_j^2/(C+\omega_j^2)^2$, $L_{NC2/3} = \frac{1}{2C}\sum_j(\omega_j^2/(\omega_j^2+C)-1)^2$.

    The singular value that is zero does not enter. Its direction, in which all classes' scores are equal, would add
    $1/(2C)$ to the loss and to $L_{NC2/3}$, but the bias takes care of it. Far along the flows the class means' scores
    are one-hot labels to within $C/\omega^2$, so that rounding limits how well $L_{NC2/3}$ can be measured. That limit
    grows by the factor $1+\omega^2/C$, in units of which errors along the flows are counted.
    """
    formulas = {
        LOSS: theory.spectral_loss,
        LOSS_NC1: theory.spectral_variability_loss,
        LOSS_NC23: theory.spectral_geometry_loss,
    }
    for quantity, formula in formulas.items():
        rivals = _slips_in(formula)
        yield check_loss_of_features(features, quantity, formula, rivals=rivals)
        yield check_loss_along_flows(flows, quantity, formula, rivals=rivals)
