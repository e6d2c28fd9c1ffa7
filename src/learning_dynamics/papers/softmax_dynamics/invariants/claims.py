"""Lemma B.1, the conserved difference of the factors, and Theorem B.2: what holds along every flow.

Symbols are the appendix's: features f, a row for each example, and a classifier W, in d dimensions with V classes, and
the learning rate eta; f = U_1 S_1 V_1^T and W = U_2 S_2 V_2^T are singular value decompositions; balanced starts have
f^T f = W W^T; A is the predictions minus the one-hot labels (eq. 12); M(t), of Lemma B.1, is any smooth matrix, with
singular values sigma_k and vectors u_k, v_k. The gap of a spectrum is the smallest distance between two of its singular
values, or of one from zero. |.| of a matrix is its Frobenius norm.

Every check takes `rivals` besides its own parameters (`judging.takes_rivals`). nan, of a flow that failed, leaves a
draw undecided.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from learning_dynamics.evidence import mean, slope
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    claim,
    equal,
    equal_on_every_draw,
    every_draw,
    takes_rivals,
)
from learning_dynamics.papers.softmax_dynamics.flow_errors import (
    at_each_time,
    difference_error,
    flow_error,
    rate_errors,
    truncation_error,
)
from learning_dynamics.papers.softmax_dynamics.invariants.quantities import (
    CLASSIFIER,
    CURVE_LEMMA,
    CURVE_SPEED,
    DEPARTURE,
    DIRECTION_DIFFERENCE,
    DRIFT,
    FEATURES,
    GAP,
    IMBALANCE,
    LOOSER,
    SPECTRUM_DIFFERENCE,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table, select, settings_of

# Setting of `lemma_b_1`; its value is in workflow/config/softmax_dynamics.yaml:
# - simple_gap: along the flow, least gap, relative to the largest singular value, at which a spectrum counts as simple;
#   along the curves, the share of the gap by which a matrix moves in one step that is too large

# What vanishes here is not small where the statement does not apply: with unbalanced factors, or correlated inputs, it
# is tens of per cent. What the method's errors may hide is a thousandth (chosen) of a tenth.
RESOLUTION = 1e-4


@takes_rivals("errors")
def _check_of_zero(name: str, errors: np.ndarray, *, tolerance: ArrayLike, because: str) -> Check:
    """Check that relative errors, shape (draws,), are zero on every draw but for those of the method.

    `takes_rivals` adds `rivals`: other errors, of what vanishes by the rival.
    """
    # `relative_to` is one, as the errors are relative already
    return equal_on_every_draw(
        name, errors, 0.0, tolerance=tolerance, relative_to=1.0, resolution=RESOLUTION, because=because
    )


@takes_rivals("factor", scaled=True)
def _check_of_rates(
    name: str,
    factor: float,
    *,
    table: Table,
    rate: Quantity,
    speed: Quantity,
    smooth: pd.Series,
    error: float,
    because: str,
) -> Check:
    """Check that singular values change at a factor times the rates of Lemma B.1, where the spectrum is smooth.

    `takes_rivals` adds `rivals`, other factors. A draw is a flow or a curve, by its largest error at such times.

    Parameters
    ----------
    factor : float
        One by the lemma.
    rate, speed : str
        Quantities of the table: derivatives of singular values, predicted by the lemma; the norm of the matrix's own.
    smooth : Series of bool, by seed and time
    error : float
        What differences leave in measured rates, relative to the speed.
    """
    return every_draw(
        name,
        rate_errors(table, rate, speed, smooth, factor=factor),
        at_most=error,
        because=because,
        # parts of draws: each flow or curve is judged at its other times
        excluded={"times, not whole draws, at which the spectrum is not simple": int((~smooth).sum())},
    )


@claim(
    "Lemma B.1",
    scope="random smooth curves of 6 x 4 matrices; both factors along gradient flow",
    quantifier="all draws",
)
def lemma_b_1(curves: Table, flow: Table, *, simple_gap: Positive) -> Claim:
    r"""A simple, positive singular value of a smooth matrix $M(t)$ changes at the rate $u_k^T \dot M v_k$.

    $u_k$ and $v_k$ are the singular vectors of $\sigma_k$. Rates are measured by differences: in time on the curves, in
    the direction of motion along the flow. The lemma assumes a smooth decomposition with singular values that are not
    negative (errata 4). A singular value of zero need not have a derivative, and where two meet the singular vectors
    need not have one. The gap of a spectrum is the smallest distance between two singular values, or of one from zero.
    Along the flow times are left out at which the gap of either factor, features $f$ or classifier $W$, is below
    {simple_gap:g} of the largest singular value. Along the curves times are left out at which the matrix moves in one
    step of the differences by {simple_gap:g} of the gap or more.
    """
    # differences need a spectrum that is smooth on the scale of their step: along the curves a step may not move the
    # matrix by more than a share `simple_gap` of the gap; along the flow the step is in proportion to the gap anyway
    step = settings_of(curves)["step"]
    curve_smooth = step * at_each_time(curves, CURVE_SPEED) < simple_gap * at_each_time(curves, GAP)
    flow_smooth = at_each_time(flow, GAP) > simple_gap
    # Chosen: a thousandth is far above the errors allowed. At a simple_gap of 0.01 these are 1e-7 on curves, by
    # `truncation_error`, and 2e-10 along flows, by `difference_error`.
    other_factors = {"rates a thousandth larger": 1.001, "rates of the opposite sign": -1.0}
    yield _check_of_rates(
        r"largest error of $\dot\sigma_k$ along the curves, relative to $|\dot M|$",
        1.0,
        table=curves,
        rate=CURVE_LEMMA,
        speed=CURVE_SPEED,
        smooth=curve_smooth,
        error=truncation_error(simple_gap),
        because="truncation of fourth-order differences",
        rivals=other_factors,
    )
    for matrix in (FEATURES, CLASSIFIER):
        yield _check_of_rates(
            rf"largest error of $\dot\sigma_k({matrix.symbol})$ along the flow, relative to $|\dot {matrix.symbol}|$",
            1.0,
            table=flow,
            rate=matrix.lemma,
            speed=matrix.speed,
            smooth=flow_smooth,
            error=difference_error(simple_gap),
            because="rounding of the differences",
            rivals=other_factors,
        )
    yield Facts(simple_gap=simple_gap)


@claim("Eq. 15 and 16", scope="cross-entropy, V = 4, d = 2; balanced and Gaussian starts", quantifier="all draws")
def conservation(balanced: Table, gaussian: Table) -> Claim:
    r"""Gradient flow keeps $f^T f - W W^T$ as it was at the start, from any start.

    $f$ are the features, a row for each example, and $W$ is the classifier. From a Gaussian start the conserved
    difference is not small: it is up to {largest_imbalance:.2g} of $|f^T f + W W^T|$, in Frobenius norms.
    """
    flows = (balanced, gaussian)
    imbalance = Draws(flows).largest(IMBALANCE)
    yield _check_of_zero(
        r"largest change of $f^T f - W W^T$ relative to $|f^T f + W W^T|$",
        Draws(flows).largest(DRIFT),
        tolerance=flow_error(flows),
        because="ten times the integrator's relative tolerance",
        # by the rival the difference itself is zero, and not its change
        rivals={"the factors become equal: the difference itself vanishes": imbalance},
    )
    yield Facts(largest_imbalance=imbalance.max())


@claim(
    "Eq. 12, as steps",
    scope="cross-entropy, balanced starts, learning rates from 0.0125 to 0.1",
    origin="ours",
    quantifier="an average",
)
def conservation_gradient_descent(descent: Table) -> Claim:
    r"""Under gradient descent with small steps $f^T f - W W^T$ drifts over a given time in proportion to $\eta$, on
    average over draws.

    $\eta$ is the learning rate, $f$ are the features, $W$ the classifier and $A$ the predictions minus the one-hot
    labels. A step changes the difference by $\eta^2 (W A^T A W^T - f^T A A^T f)$. The appendix names gradient descent
    but differentiates in time: its results are exact for the flow.
    """
    largest = select(descent, DRIFT).groupby(["seed", "learning_rate"])["value"].max()
    by_rate = largest.unstack("learning_rate")  # noqa: PD010 - a series
    log_rates, log_drifts = np.log(by_rate.columns.to_numpy(dtype=float)), np.log(by_rate.to_numpy())
    # of each draw, the slope of the log of its largest drift on log eta
    orders = [slope(log_rates, log_drifts_of_seed).value for log_drifts_of_seed in log_drifts]
    yield equal(
        r"order of the drift in $\eta$",
        mean(np.array(orders)),
        1.0,
        # Terms of second order are about a tenth of the leading one at the largest learning rate, 0.1. A drift in
        # proportion to eta (1 + b eta) has the local order 1 + b eta / (1 + b eta) in eta, which is then about 1.1.
        tolerance=0.1,
        resolution=0.5,  # half the distance to the rivals
        because="terms of higher order raise it by up to a tenth",
        rivals={"no drift but rounding (order 0)": 0.0, "a drift of second order": 2.0},
    )


@claim(
    "Eq. 12",
    scope="linear features on inputs of 12 entries, 8 examples, cross-entropy, Gaussian starts",
    quantifier="all draws",
)
def equation_12(inputs: Table) -> Claim:
    r"""If features are linear in orthonormal inputs, $f = X \Theta$ with $X X^T = 1$, the rows of $f$ move as if they
    were free: $\dot f = -\eta A W^T$.

    $X$ has an input in each row, $f$ are the features, $W$ is the classifier and $A$ the predictions minus the one-hot
    labels. The flows of linear and of free features start from the same features. Their distance must be less than the
    free flow's error at a tolerance {tolerance_factor:g} times as large. With inputs whose correlation is
    {correlation:g} the features depart from free ones by up to {median_departure:.0%} of their size in the median draw:
    orthonormal inputs are needed.
    """
    # the largest along each flow, by correlation of inputs and seed; orthonormal inputs have the correlation 0
    distances = select(inputs, DEPARTURE).groupby(["correlation", "seed"])["value"].max()
    errors = select(inputs, LOOSER).groupby(["correlation", "seed"])["value"].max()
    correlation, looser = float(inputs["correlation"].max()), settings_of(inputs)["looser"]
    # df/dt = X dTheta/dt = -eta X X^T A W^T, which is eq. 12 where X X^T = 1. Both flows have errors of integration.
    # These grow like the tolerance, so that the error at one `looser` times as large is about `looser` times that of
    # the free flow, and leaves room for that of the linear one.
    yield _check_of_zero(
        "largest distance of linear from free features, relative to these",
        distances.loc[0.0].to_numpy(),
        tolerance=errors.loc[0.0].to_numpy(),
        because=f"the draw's own error of integration at a tolerance {looser:g} times as large",
        # the rival is other data, flows on correlated inputs, whose departures are compared with these flows' own
        # errors
        rivals={
            "inputs that are correlated": {
                "errors": distances.loc[correlation].to_numpy(),
                "tolerance": errors.loc[correlation].to_numpy(),
            }
        },
    )
    yield Facts(tolerance_factor=looser, correlation=correlation, median_departure=distances.loc[correlation].median())


@claim("Theorem B.2", scope="balanced starts, cross-entropy, d = 2 and d = 3, V = 4", quantifier="all draws")
def theorem_b_2(flows: Sequence[Table], unbalanced: Table) -> Claim:
    r"""From a balanced start, $f^T f = W W^T$, factors of full rank keep equal singular values, $S_1^2 = S_2^2$, and,
    where these are simple, shared directions up to sign: $V_1 = U_2$.

    $f = U_1 S_1 V_1^T$ and $W = U_2 S_2 V_2^T$ are the features and the classifier, with singular values $\sigma_{1i}$,
    $\sigma_{2i}$ and singular vectors $v_{1i}$, $u_{2i}$. Where singular values repeat, only some choice of directions
    is shared (errata 3). Elsewhere directions are fixed up to sign, but only as well as the gap of the spectrum allows,
    because an error of size $\epsilon$ in a symmetric matrix turns its eigenvectors by up to $\epsilon$ over the gap.
    Angles are therefore weighted by the gap. Singular values are not negative, so that $\sigma_{1i} = \sigma_{2i}$: the
    second sign of the proof does not occur.
    """
    # the rival alters both checks: it is other data, flows from Gaussian starts
    yield _check_of_zero(
        r"largest $|\sigma_{1i}^2 - \sigma_{2i}^2| / \sigma_1^2$",
        Draws(flows).largest(SPECTRUM_DIFFERENCE),
        tolerance=flow_error(flows),
        because="ten times the integrator's relative tolerance",
        rivals={"starts that are not balanced": Draws(unbalanced).largest(SPECTRUM_DIFFERENCE)},
    )
    yield _check_of_zero(
        r"largest sine of the angle of $v_{1i}$ and $u_{2i}$, times the gap of squares over $\sigma_1^2$",
        Draws(flows).largest(DIRECTION_DIFFERENCE),
        tolerance=flow_error(flows),
        because="ten times the integrator's relative tolerance",
        rivals={"starts that are not balanced": Draws(unbalanced).largest(DIRECTION_DIFFERENCE)},
    )
