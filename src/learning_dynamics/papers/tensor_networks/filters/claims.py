"""Classification of one data point by two layers, also with short filters: Theorem 3, Corollary 4.

- The point is x with the label y. M(x) is the data tensor, here a matrix: f(x) = v_1^T M(x) v_2 with layers v_1 and
  v_2. beta are the coefficients, f(x) = x^T beta. s are the singular values of M(x), the largest first, and eta_1 and
  eta_2 the layers in its singular coordinates: their components along the singular vectors. rho is the entrywise
  product of eta_1 and eta_2, so that f(x) = s . rho.
- Time is the column `log_log_time`: log log t, exactly log(1 + log(1 + t)).
- From a start eta_1 and eta_2 a coordinate of a smaller singular value vanishes like a power of log t. Its transient is
  the most that it may still contribute at the last time, by this law alone (`one_point.remainder_bounds`).

A draw is a point, a network and a start. A draw whose flow could not be followed is nan, and the judge counts it as
undecided.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    Untested,
    claim,
    equal_on_every_draw,
    every_draw,
    takes_rivals,
)
from learning_dynamics.papers.tensor_networks.filters import quantities
from learning_dynamics.papers.tensor_networks.filters.theory import ZERO
from learning_dynamics.papers.tensor_networks.limit_checks import limit_error
from learning_dynamics.papers.tensor_networks.log_time_checks import last_log_log_time, loss_vanishes
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table

# Settings of these claims, whose values are in workflow/config/tensor_networks.yaml:
# - slack, of `theorem_3`: least margin at which a loss counts as vanished, as one that stays away from zero leaves a
#   number of order one; chosen
# - resolution, of `theorem_3`: largest gap to the largest margin that the start may leave at the last time; a draw that
#   may have more is undecided; chosen, as no figure shows less
# - degrees, of `corollary_4`: largest angle to the predicted direction that the start may leave at the last time; a
#   draw that may have more is undecided; chosen, as no figure shows less

# How far rounding may take two forms of one lambda apart, relative to it. Each is a difference of squares and products
# of numbers of order one; chosen: far above roundoff.
ROUNDING = 1e-10


@takes_rivals("values")
def _within_transient(
    name: str,
    values: np.ndarray,
    *,
    transient: np.ndarray,
    error: float,
    resolution: float,
    excluded: Mapping[str, int] | None = None,
) -> Check:
    """Check that no more is left at the last time than a draw's own start and the time allow.

    Parameters
    ----------
    values : ndarray, shape (draws,)
        Gap or angle to the limit at the last time. A rival has other values, the gap or angle to another limit, which
        have to meet the same bounds; `@takes_rivals` lets the function take `rivals`.
    transient : ndarray, shape (draws,)
        The most that the start can leave of it, by the law for coordinates that vanish (`one_point.remainder_bounds`).
    error : float
        The integrator's error, in the unit of `values`.
    resolution : float
        A draw whose transient is larger is undecided.
    excluded : mapping from reason to count, optional
        How many draws were left out of `values`, and why.
    """
    return every_draw(
        name,
        values,
        at_most=transient + error,
        because="what the draw's start can leave at the last time, plus the integrator's error; undecided where the "
        f"start can leave more than {resolution:g}",
        undecided=transient > resolution,
        excluded=excluded,
    )


@claim(
    "Theorem 3",
    scope="single points, given and drawn, with labels of both signs, one with a conjugate pair of singular values on "
    "top; fully connected, diagonal, filters of several lengths, random matrices M; the second layer zero at the "
    "start, or within the condition",
    quantifier="all draws",
)
def theorem_3(flows: Sequence[Table], *, slack: Positive, resolution: Positive) -> Claim:
    r"""Two layers trained on one point bring the loss to zero, for any matrix $M(x)$, if the first starts larger than
    the second in every singular coordinate of $M(x)$. In these coordinates they tend in direction to the $\ell_1$
    max-margin solution: to top singular vectors, with coordinates that are equal in both layers up to the label's sign.

    A singular coordinate is a layer's component along a singular vector of $M(x)$. The margin $y f(x)$ is divided by
    the $\ell_1$ norm of the products of both layers' coordinates. Where the largest singular value is not simple, as
    for a conjugate pair of frequencies, solutions are many and the start chooses among them. All have the same margin,
    and all {draws} draws are judged by it. What is left of the other coordinates is bounded draw by draw, from the
    start and the time alone: their share falls like $(\log t)^{-(1 - s)}$, with $s$ their singular value relative to
    the largest. A draw is undecided if its bound exceeds {resolution:g}. Flows are followed to a $\log\log t$ of
    {last_log_log_time:.0f}, as for Theorem 1. The exponent of the loss is capped at late times; the loss is judged
    before.
    """
    draws = Draws(flows)
    end = draws.at_end("log_log_time")
    # of the layers, relative to their lengths. A gap is quadratic in the small components along other singular vectors,
    # so that this error changes it by less.
    error = limit_error(draws)
    yield _within_transient(
        r"gap to the largest $\ell_1$ margin in singular coordinates",
        np.abs(end[quantities.GAP_L1]),  # 1 - y (s . rho) / (s_1 |rho|_1)
        transient=draws[quantities.LARGEST_GAP],
        error=error,
        resolution=resolution,
        # 1 - y (s . rho) / (|s| |rho|): l2 norms instead
        rivals={r"the $\ell_2$ max margin in singular coordinates": np.abs(end[quantities.GAP_L2])},
    )
    yield every_draw(
        "distance between both layers' singular coordinates, the last layer's times the label, relative to the first's",
        end[quantities.LAYER_DIFFERENCE],  # |eta_1 - y eta_2| / |eta_1|
        at_most=error,
        because="the integrator's error: the difference falls while the layers grow like $(\\log t)^{1/2}$",
        # the same with + y, and without y: draws of the label 1 pass the second, those of the label -1 refuse it
        rivals={
            "layers alike up to the opposite of the label's sign": {
                "values": end[quantities.LAYER_DIFFERENCE_OPPOSITE]
            },
            "layers alike, whatever the label": {"values": end[quantities.LAYER_DIFFERENCE_UNSIGNED]},
        },
    )
    yield loss_vanishes(draws, slack)
    yield Facts(last_log_log_time=last_log_log_time(draws), resolution=resolution)


@claim(
    "Corollary 4",
    scope="signals of six entries, four given and others drawn, autocorrelations of both signs, labels of both signs; "
    "the second layer zero at the start, or within the condition",
    quantifier="all draws",
)
def corollary_4(flows: Sequence[Table], *, degrees: Positive) -> Claim:
    r"""Under the printed conditions on the start, a two-layer convolutional network trained on one point tends in
    direction to $y x$ with filters of length one. With filters of length two it tends to $2 y x \pm y
    (\overleftarrow{x} + \overrightarrow{x})$, with the sign of the autocorrelation $x^T \overleftarrow{x}$, if this is
    not zero.

    $\overleftarrow{x}$ and $\overrightarrow{x}$ are $x$ shifted by one entry, circularly. The filter passes low
    frequencies where the autocorrelation is positive, high ones where it is negative. The printed conditions on the
    start are Theorem 3's in the singular coordinates of $M(x)$; for filters of length two their $\lambda$ is twice
    Theorem 3's. The largest $\lambda$ of each is compared at layers that are both random: where the last layer is zero
    the fractions in the printed conditions are zero, and their denominators would not be tested.

    At an autocorrelation of zero, which the corollary leaves out, the two singular values of $M(x)$ agree, and the
    start decides: such draws are left out. Near zero the filter of the other sign vanishes only like $(\log t)^{-(1 -
    s) / 2}$, with a ratio $s$ of singular values close to one. The bound of a draw is what its own start and the time
    allow, plus the integrator's error: at most {largest_allowed:.1e} degrees. A draw whose start allows an angle above
    {degrees:g}° is undecided.
    """
    # convolutional networks with filters of these lengths; a draw is one of them on one point
    draws = Draws(flows, length=[1, 2])
    # arrays below have shape (draws,); AUTOCORRELATION is relative to |x|^2
    has_no_direction = (draws.column("length") == 2) & (np.abs(draws[quantities.AUTOCORRELATION]) <= ZERO)
    judged = ~has_no_direction
    if not judged.any():
        raise Untested("every signal has an autocorrelation of zero, of which Corollary 4 does not speak")
    end = draws.at_end("log_log_time")
    transient = draws[quantities.LARGEST_ANGLE]
    # to first order a relative error of the coefficients turns them by no more than as many radians
    error = np.degrees(limit_error(draws))

    def predicted_condition(quantity: Quantity) -> np.ndarray:
        """Return the largest lambda that altered conditions allow, shape (draws, 1)."""
        return draws.entries(quantity, column="predicted")

    yield _within_transient(
        "angle to the predicted direction (degrees)",
        end[quantities.ANGLE_COROLLARY][judged],  # between beta and the direction of the corollary
        transient=transient[judged],
        error=error,
        resolution=degrees,
        excluded={"filters of length two, autocorrelation zero": int(has_no_direction.sum())},
        # angles to other directions, which have to meet the same bounds
        rivals={
            # for length one it is the corollary's: draws of length two refuse it
            "the data point, for either length": end[quantities.ANGLE_POINT][judged],
            # also for length one the angle to a filtered point: draws of both lengths refuse it
            "for length two, the filter of the other sign": end[quantities.ANGLE_OTHER_SIGN][judged],
            "the max margin of the Fourier transform's $\\ell_1$ norm": end[quantities.ANGLE_FOURIER][judged],
        },
    )
    # Of all draws, as the direction does not enter: Theorem 3's largest lambda times the filter's length, and the
    # largest lambda of the printed conditions, which rivals replace by that of altered ones.
    yield equal_on_every_draw(
        r"$\lambda$ of Theorem 3 at random layers, less that of the printed conditions",
        *draws.with_prediction(quantities.CONDITION),
        tolerance=ROUNDING,
        because="rounding, relative; two forms of one number, no measurement",
        rivals={
            "conditions without denominators": predicted_condition(quantities.CONDITION_WITHOUT_DENOMINATORS),
            "conditions whose denominators are exchanged": predicted_condition(
                quantities.CONDITION_WITH_DENOMINATORS_EXCHANGED
            ),
        },
    )
    is_decided = judged & (transient <= degrees)
    yield Facts(largest_allowed=float(np.max((transient + error)[is_decided], initial=0.0)), degrees=degrees)
