"""Deep matrix sensing with commuting sensors: Corollary 7, and what rounding makes of it in a generic basis.

- The product of the layers W_1, ..., W_L fits labels y_i = <A_i, W_1 ... W_L>. The sensors A_i are symmetric and
  commute; their common eigenvectors are the eigenbasis. Layers start at W_l = alpha I for l < L and W_L = 0, with the
  initial scale alpha.
- h_L is the function of Lemma 5.1 (`norm_like`), H_L the integral of its inverse. Q, which depends on L and
  alpha, is the function of Theorem 4 with equal weights: Q = alpha^2 sum_j H_L(e_j / alpha^L), for a matrix of
  eigenvalues e_j. "The minimiser" is the diagonal matrix, in the eigenbasis, of least Q among those that fit the
  labels.
- Of a limit, tables have one measured number, an entry of W_1 ... W_L in the eigenbasis, under several names. These
  quantities differ in the column `predicted` alone.

A draw is a set of sensors and labels, at one depth and scale. A draw whose flow did not converge is nan, and the judge
counts it as undecided.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from learning_dynamics.evidence import mean
from learning_dynamics.judging import Check, Claim, Facts, claim, equal, equal_on_every_draw, takes_rivals
from learning_dynamics.papers.tensor_networks.limit_checks import (
    RIVAL_MINIMISERS,
    limit_error,
    limits_equal,
    relative_distances,
)
from learning_dynamics.papers.tensor_networks.matrix_sensing import quantities
from learning_dynamics.papers.tensor_networks.tables import OTHER_SCALE
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table

# Settings of `corollary_7_generic_basis`, whose values are in workflow/config/tensor_networks.yaml. A departure is the
# largest entry off the diagonal of any layer, in the eigenbasis.
# - start: size below which a departure counts as growing linearly, so that formats can be compared; chosen, a hundredth
#   of the layers' entries at the start from the smallest scale, 0.01
# - tolerance: bits by which what a finer format gains may differ from the bits that it has more; chosen, below 5.5, by
#   which the rival with the root is off from double to extended
# - least: smallest initialisation scale, of order one, from which on the limits of the most layers are judged; chosen

# rivals of the minimiser by their phrases, with the quantities whose predictions they are
RIVALS = {
    **RIVAL_MINIMISERS,
    "the least nuclear norm": quantities.LEAST_NUCLEAR_NORM,
    "the least Frobenius norm": quantities.LEAST_FROBENIUS_NORM,
}
# bits of the significand of each floating-point format, the coarsest format first; extended is the 80-bit one of x86
BITS = {"single": 24, "double": 53, "extended": 64}


@claim(
    "Corollary 7",
    scope="random commuting indefinite sensors, followed in their eigenbasis; two and three layers",
    quantifier="all draws",
)
def corollary_7(eigen: Table) -> Claim:
    r"""Deep matrix sensing with commuting symmetric sensors, from $W_l = \alpha I$ for $l < L$ and $W_L = 0$, tends to
    the symmetric matrix whose eigenvalues minimise $Q_{L, \alpha}$ among those that fit the measurements.

    $Q_{L, \alpha}$ is that of Theorem 4, with ones for $\bar\eta$: $\alpha^2 \sum_j H_L(e_j / \alpha^L)$ of a matrix
    with eigenvalues $e_j$, where $H_L$ is the integral of the inverse of the $h_L$ of Lemma 5.1. The limit interpolates
    between the solutions of least Frobenius norm ($\alpha \to \infty$) and least nuclear norm ($\alpha \to 0$); the
    same of $Q$ in general is judged in `remark_4`. At the largest scale the relative distance of the limit from the
    solution of least Frobenius norm is at most {distance_from_frobenius:.1e}. At the smallest scale that from the
    solution of least nuclear norm is at most {distance_from_nuclear_shallow:.2g} with two layers, and at most
    {distance_from_nuclear_deep:.1e} with the most layers. The sensors need not be positive semidefinite. From $\alpha
    I$ in all layers the limit can be another (errata 19). The minimum here is over matrices that commute with the
    sensors. Over all symmetric matrices it is the same: $H_L$ is convex, and the diagonal of a matrix in the sensors'
    eigenbasis fits the same measurements.

    From a small scale with three layers or more, the minimiser can be near a tie between solutions of least nuclear
    norm. A relative change of the start then moves it by many times as much, and so does the integrator's error.
    """
    flows = Draws(eigen)  # followed in the sensors' eigenbasis, in which layers stay diagonal

    def predicted(quantity: Quantity) -> np.ndarray:
        """Return what the quantity predicts of the entries of W_1 ... W_L, shape (draws, entries)."""
        return flows.entries(quantity, column="predicted")

    yield _check_sensitive_limits(
        "error of $W_1 \\cdots W_L$, relative to its spectral norm",
        flows,
        predicted(quantities.ENTRY),  # the minimiser's entries
        rivals={phrase: predicted(quantity) for phrase, quantity in RIVALS.items()},
    )

    def largest_distance(quantity: Quantity, **where: Any) -> float:
        """Return the largest relative distance of the limits of some flows from a solution of least norm."""
        return float(np.max(relative_distances(Draws(eigen, **where), quantity)))

    # for the text; no check uses it
    smallest, largest = min(eigen["scale"]), max(eigen["scale"])
    shallow, deep = min(eigen["depth"]), max(eigen["depth"])
    yield Facts(
        distance_from_frobenius=largest_distance(quantities.LEAST_FROBENIUS_NORM, scale=largest),
        distance_from_nuclear_shallow=largest_distance(quantities.LEAST_NUCLEAR_NORM, scale=smallest, depth=shallow),
        distance_from_nuclear_deep=largest_distance(quantities.LEAST_NUCLEAR_NORM, scale=smallest, depth=deep),
    )


@claim(
    "Corollary 7",
    scope="random commuting indefinite sensors in the basis that they are given in; two and three layers, scales of "
    "0.01, 1 and 30; rounding of three layers in three floating-point formats",
    origin="ours",
    quantifier="an average",
)
def corollary_7_generic_basis(
    generic: Table, rounding: Table, *, start: Positive, tolerance: Positive, least: Positive
) -> Claim:
    r"""Followed in a generic basis, the limit of Corollary 7 is reached with two layers at every scale tried, and with
    three at scales that are not small. With three layers and a small scale rounding makes the flow leave the matrices
    that commute with the sensors, and it can end elsewhere. Its departure from these matrices is, on average,
    proportional to the unit roundoff of the format.

    Layers stay functions of the sensors only as long as they commute with them exactly. Near the saddle at zero the
    part that does not commute grows too. With two layers it grows more slowly: scales below {smallest_scale:g}, from
    which flows of two layers may leave as well, are not tried. From a scale of {smallest_scale:g} with three layers
    {flows_that_miss} of {flows_tried} flows in double precision miss the limit by more than one per cent of its largest
    entry.

    The departure is the largest entry of a layer off the diagonal, in the sensors' eigenbasis. It is compared between
    formats while it grows linearly. A finer format has $b$ bits more; its departure is then smaller by a factor of
    $2^b$, that is, by $b$ bits. These bits may differ from $b$ by {tolerance:g} in addition to their interval. The
    sensors are formed in each format itself, since sensors in double precision commute only up to its roundoff. Scales
    of {least:g} and more count as not small.
    """
    formats = [name for name in BITS if name in set(rounding["precision"])]  # the coarsest first
    # a draw of the table `rounding` is a set of sensors and labels, in one format from one scale
    from_smallest = Draws(rounding, scale=rounding["scale"].min())
    # largest entry off the diagonal, by format, shape (draws, times)
    departures = {name: from_smallest.where(precision=name).entries(quantities.OFF_DIAGONAL) for name in formats}
    *other_pairs, finest_pair = pairwise(formats)
    for coarse, fine in (finest_pair, *other_pairs):  # the headline is on the finest pair
        gained = float(BITS[fine] - BITS[coarse])
        yield equal(
            f"bits of the departure gained from {coarse} to {fine} precision, mean of draws",
            mean(_bits_between(departures[coarse], departures[fine], linear_below=start)),
            gained,
            tolerance=tolerance,
            # The interval and the tolerance together must be narrower than this, or the check is undecided; chosen:
            # below the least gain, the 11 bits from double to extended
            resolution=8.0,
            because="how rounding starts a departure differs from format to format by a few bits",
            # other gains; each rival alters all checks of this loop, and one that refuses it is enough
            rivals={
                "a departure that no precision changes: an instability of the flow itself": 0.0,
                "a departure in proportion to the roundoff's root": gained / 2,
            },
            scaled=False,  # as in all checks here: no smallest error that would be refused is sought
        )
    limits = Draws(generic)
    most_layers = limits.where(depth=max(generic["depth"]))
    large_scales = [scale for scale in generic["scale"].unique() if scale >= least]
    cases = {
        "two layers, every scale: error of the limit": limits.where(depth=2),
        "the most layers, scales of order one: error of the limit": most_layers.where(scale=large_scales),
    }
    for name, flows in cases.items():
        yield limits_equal(
            name,
            flows,
            *flows.with_prediction(quantities.ENTRY),
            # the prediction of OTHER_SCALE is the minimiser for twice the initial scale
            rivals={r"the minimiser for $2 \alpha$ as the limit": flows.entries(OTHER_SCALE, column="predicted")},
            scaled=False,
        )
    # for the text
    smallest_scale = min(generic["scale"])
    measured, predicted = most_layers.where(scale=smallest_scale).with_prediction(quantities.ENTRY)
    errors = np.abs(measured - predicted).max(axis=1) / np.abs(predicted).max(axis=1)
    # the one per cent of the docstring; no check uses it; nan, where a flow did not converge, counts
    n_missing = int((~(errors <= 0.01)).sum())
    yield Facts(
        tolerance=tolerance,
        least=least,
        flows_that_miss=n_missing,
        flows_tried=len(errors),
        smallest_scale=smallest_scale,
    )


@takes_rivals("predicted", scaled=True)
def _check_sensitive_limits(name: str, flows: Draws, predicted: np.ndarray) -> Check:
    """Check that limits of flows are those predicted, as `limits_equal` does, but allow more where they are sensitive.

    The integrator's error changes what the flow conserves, and so acts like other initial layers. A relative change of
    one entry of these moves the minimiser by up to `SENSITIVITY` times as much, relative to its norm. Where that is
    above one, the error that is allowed is as many times larger.
    """
    sensitivity = np.maximum(1.0, flows[quantities.SENSITIVITY])  # shape (draws,)
    return equal_on_every_draw(
        name,
        flows.entries(quantities.ENTRY),
        predicted,
        # relative to the largest entry, which is the spectral norm of a diagonal matrix
        tolerance=limit_error(flows) * sensitivity,
        because="the integrator's tolerance, step by step, times the minimiser's sensitivity to the start if above one",
    )


def _bits_between(coarse: np.ndarray, fine: np.ndarray, *, linear_below: float) -> np.ndarray:
    """Return by how many bits a departure is smaller in the finer format, the median over time, shape (draws,).

    Times count while the departure is below `linear_below`: it then grows linearly, so that formats differ by what
    rounding started it with. A draw without such a time is nan, which leaves a check on the mean undecided.

    Parameters
    ----------
    coarse, fine : ndarray, shape (draws, times)
        Largest entry off the diagonal in either format.
    """
    is_linear = (coarse < linear_below) & (coarse > 0) & (fine > 0)
    bits = np.where(is_linear, np.log2(coarse) - np.log2(fine), np.nan)
    return np.array([np.nanmedian(row) if np.isfinite(row).any() else np.nan for row in bits])
