"""Names of the quantities of single flows and of smooth curves: `metrics` writes them, figures and claims read them.

f has a row of features for each example, W is the classifier. A is the derivative of the loss by the logits f W:
softmax of f W minus one-hot labels, under the squared loss f W minus these. By gradient flow df/dt = -A W^T and dW/dt =
-f^T A (eq. 12 with learning rate one). sigma_1i, u_1i and v_1i are the i-th singular value of f, the largest first, and
its left and right singular vectors; sigma_2i, u_2i and v_2i are those of W. |.| is Frobenius' norm. The gap of a
spectrum is the smallest distance between neighbours among its singular values and zero.
"""

from typing import NamedTuple


class FactorNames(NamedTuple):
    """Quantities of one of the two factors along a flow."""

    symbol: str  # the factor in formulas, f or W
    # derivatives in time of the factor's singular values; predicted with g_i = u_1i^T A v_2i: of f -g_i sigma_2i, of W
    # -g_i sigma_1i (proof of Theorem B.3, eqs. 17 and 18)
    rate: str
    lemma: str  # the same derivatives; predicted by u_i^T (dM/dt) v_i, where M is the factor (Lemma B.1)
    speed: str  # |dM/dt|, where M is the factor


FEATURES = FactorNames("f", "rate_f", "lemma_f", "speed_f")
CLASSIFIER = FactorNames("W", "rate_w", "lemma_w", "speed_w")
SIGMA = "sigma"  # sigma_1i, along flows
# along flows the gap of f over sigma_11 or that of W over sigma_21, whichever is smaller; along curves M(t) that of M
GAP = "gap"

# along smooth curves of matrices M(t), with singular values sigma_k and singular vectors u_k and v_k
CURVE_LEMMA = "lemma"  # derivatives in time of sigma_k; predicted by u_k^T (dM/dt) v_k (Lemma B.1)
CURVE_SPEED = "speed"  # |dM/dt|

# along flows, and the first two along gradient descent; C = f^T f - W W^T is constant along the flow (eqs. 15 and 16)
DRIFT = "drift"  # |C(t) - C(0)| / |f^T f + W W^T|, with f and W at the time t
IMBALANCE = "imbalance"  # |C| / |f^T f + W W^T|
SPECTRUM_DIFFERENCE = "spectra"  # largest |sigma_1i^2 - sigma_2i^2| / sigma_11^2; zero by Theorem B.2
# largest sine of the angle between v_1i and u_2i, times the gap of the values sigma_1i^2, over sigma_11^2; zero by
# Theorem B.2
DIRECTION_DIFFERENCE = "directions"

# Two flows from the same features: X Theta is linear in inputs X, with parameters Theta, and f is free, every entry a
# parameter.
DEPARTURE = "departure"  # |X Theta - f| / |f|
LOOSER = "looser"  # |f' - f| / |f|, where f' is f integrated at looser tolerances
