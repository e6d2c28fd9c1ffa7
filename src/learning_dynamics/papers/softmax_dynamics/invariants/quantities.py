"""Names of the quantities of single flows and of smooth curves; `metrics`, which measures them, says more."""

from typing import NamedTuple


class FactorNames(NamedTuple):
    """Quantities of one of the two factors along a flow."""

    symbol: str
    rate: str  # derivatives of its singular values, beside those of Theorem B.3 (eqs. 17 and 18)
    lemma: str  # the same derivatives, beside those of Lemma B.1
    speed: str  # norm of the factor's own derivative


FEATURES = FactorNames("f", "rate_f", "lemma_f", "speed_f")
CLASSIFIER = FactorNames("W", "rate_w", "lemma_w", "speed_w")
SIGMA = "sigma"  # singular values of the features
GAP = "gap"  # smallest distance within a spectrum, relative along flows
CURVE_LEMMA = "lemma"  # along curves: derivatives of singular values, beside those of Lemma B.1
CURVE_SPEED = "speed"  # along curves: norm of the matrix's derivative
DRIFT = "drift"  # how far f^T f - W W^T is from its start, relative
IMBALANCE = "imbalance"  # f^T f - W W^T itself, relative
SPECTRUM_DIFFERENCE = "spectra"  # largest difference of the two factors' squared singular values, relative
DIRECTION_DIFFERENCE = "directions"  # largest sine between v_1i and u_2i, times the gap
DEPARTURE = "departure"  # distance of linear features from free ones, relative
LOOSER = "looser"  # distance of free features integrated at looser tolerances, relative
