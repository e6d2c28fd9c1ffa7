"""One linear measurement of a matrix: how the second singular value depends on the first, by depth.

W is the product of N balanced layers, with singular values sigma_1 >= sigma_2 >= ... A linear measurement is the number
<A, W> for a matrix A with singular values s_1 >= s_2 >= ...; one observed entry is the case s_2 = 0. The loss is half
the squared error of the measurement. As its gradient is a multiple of A, larger targets are further along one path.
Roles: `generic` are paths under a measurement with s_2 > 0, from Gaussian W; `entry` the same under one entry;
`aligned` are flows on a measurement with A = diag(1, ratio) from a multiple of the identity, one for each depth.

Besides its own parameters every check takes `rivals`, `printed`, `corrected` and others (`judging.takes_rivals`). A
rival replaces the check's prediction or, as a mapping, other arguments: {"values": x} has the check judge x. It is
refused if one of the claim's checks then fails or is undecided; a check that does not name it stays as it is.
"""

from collections.abc import Mapping

import numpy as np

from learning_dynamics.evidence import median
from learning_dynamics.judging import NOT_CLAIMED, Check, Claim, Facts, claim, equal, equal_on_every_draw, every_draw
from learning_dynamics.papers.deep_linear.one_entry import theory
from learning_dynamics.papers.deep_linear.one_entry.quantities import DETERMINANT, PREDICTED_SIGN
from learning_dynamics.papers.deep_linear.tables import sigmas
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Draws, Table, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - share, of `one_measurement`: tolerance of exponents and slopes, as a share of s_2 / s_1, the power at depth 2;
#   chosen
# - amplification, of `one_measurement`: the error of sigma_2 that is allowed along aligned flows, in units of the
#   integrator's relative tolerance; chosen: errors add up along a flow

SIGN_AT_START = 1.0  # `runs.one_entry` draws matrices of positive determinant


@claim(
    "Slide 35, Theoretical example: one observed entry",
    quantifier="an average",
    scope="squared loss, balanced layers from Gaussian starts, W grown a millionfold, depths 1 to 4; one observed "
    "entry; one linear measurement of a 3 × 3 matrix, by default with singular values 1, 1/2 and 1/4",
    correction=r"Under one linear measurement $\langle A, W \rangle$ with singular values $s_1 > s_2 > 0$ the "
    r"relation, as $\sigma_1$ grows, is linear at depth 1, a power at depth 2 and has an asymptote from depth 3 on; "
    r"slope and power are $s_2 / s_1$. This holds from almost every balanced start (not, for example, from a positive "
    r"multiple of the identity where $A$ is symmetric with the eigenvalues $s_1$ and $-s_2$). For 2 × 2 matrices at "
    r"depth 2 it also needs a start whose determinant has the sign of $A$'s; from the other balanced starts $\sigma_2$ "
    r"falls. One observed entry has $s_2 = 0$: from almost every balanced start $\sigma_2$ levels off at every depth "
    r"(at depth 1 unless $W$ starts as zero outside of that entry's row and column; of a 2 × 2 matrix this is one "
    r"number, the entry's cofactor).",
    reason="one entry is a measurement of rank one, which drives the first singular value alone",
)
def one_measurement(generic: Table, entry: Table, aligned: Table, *, share: Fraction, amplification: Positive) -> Claim:
    r"""Under one observed entry and the $\ell_2$ loss, as the first singular value grows, the second depends on it
    linearly at depth 1, as a power at depth 2, and with an asymptote from depth 3 on.

    $\sigma_1$ and $\sigma_2$ are the largest singular values of the product $W$ of balanced layers. Every depth is
    judged by the exponent $d \log \sigma_2 / d \log \sigma_1$ over the last doubling of $\sigma_1$: the median over
    draws may be off by {tolerance:g}. The first check is the slide's own case: under one entry the median of the
    exponent's absolute value is at most {largest_median_under_entry:.1e}, at every depth. The theorem behind the slide
    (Arora, Cohen, Hu and Luo 2019; from memory) has one linear measurement, $\langle A, W \rangle$, where $A$ has the
    singular values $s_1 > s_2 > 0$. Then the exponent is one at depth 1, $s_2 / s_1$ at depth 2 and zero from depth 3
    on. The paths that test this start from Gaussian $W$, whose singular vectors have nothing to do with $A$'s. The
    median error of their exponents is at most {largest_median_error:.1e} at every depth. {paths_beyond_tolerance} of
    {paths} paths are off by more than the tolerance. On these the part of $W$ that grows is nearly of rank one at the
    start, along $A$'s first two directions, and the path would have to be longer.

    If $W$ starts with $A$'s singular vectors, $\sigma_2$ along the whole path is known in closed form as a function of
    $\sigma_1$. At depth 2 layers obey linear equations in a rescaled time $\tau$, so that $\sigma_1 \sim e^{2 s_1
    \tau}$ and $\sigma_2 \sim e^{2 s_2 \tau}$. In three dimensions and more this is so from almost every balanced start,
    in two from almost every one whose determinant has the sign of $A$'s. Exceptions and their exponents are in the
    letter (errata 2).
    """
    s_1, s_2 = settings_of(generic)["measurement"][:2]
    ratio = s_2 / s_1
    tolerance = share * ratio  # of exponents and of the slope at depth 1, which is the ratio itself
    depths = sorted(generic["depth"].unique())
    # d log sigma_2 / d log sigma_1 at the end of each path, by depth, shape (draws,) each; nan for a path that could
    # not be integrated, which leaves the check of its median undecided
    exponents_entry = {depth: _last_exponents(entry, depth) for depth in depths}
    exponents_generic = {depth: _last_exponents(generic, depth) for depth in depths}

    def check_of_median(
        name: str,
        values: np.ndarray,
        predicted: float,
        *,
        printed: object = None,
        corrected: float | None = None,
        rivals: Mapping[str, float] | None = None,
    ) -> Check:
        """Check that the median over draws of an exponent, or of a slope, is as predicted.

        `printed`, `corrected` and `rivals` are other predictions, or NOT_CLAIMED.
        """
        return equal(
            name,
            median(values),
            predicted,
            tolerance=tolerance,
            # half of the way from the asymptote's exponent, zero, to the power's
            resolution=ratio / 2,
            because=f"{share:g} of the power at depth 2",
            scaled=False,  # the page would print the smallest error that is refused: the chosen `share`, no result
            printed=printed,
            corrected=corrected,
            rivals=rivals,
        )

    # One entry. By the correction the exponent is zero at every depth. By the slide it is one at depth 1, which fails;
    # this check is the headline. At depth 2 the slide has a power without a number: it claims nothing that the check
    # could compare (NOT_CLAIMED), and the check is the correction's alone. From depth 3 on the slide has zero too
    for depth in depths:
        yield check_of_median(
            f"d log σ_2 / d log σ_1 at the end, one entry, depth {depth}",
            exponents_entry[depth],
            1.0 if depth == 1 else 0.0,
            printed=NOT_CLAIMED if depth == 2 else None,
            corrected=0.0 if depth == 1 else None,
        )

    # One linear measurement from Gaussian starts: a line, a power, and asymptotes from depth 3 on. The slide's sentence
    # and the correction predict the same of it
    predicted_exponents = dict.fromkeys(depths, 0.0) | {1: 1.0, 2: ratio}
    line_at_2, power_at_3 = "a line at depth 2 as well", "a power at depth 3 as well"
    squared = "slope and power are the square of the ratio"
    wrong_exponents = {
        2: {line_at_2: 1.0, "an asymptote at depth 2 already": 0.0, squared: ratio**2},
        3: {power_at_3: ratio},
    }
    for depth in depths:
        yield check_of_median(
            f"d log σ_2 / d log σ_1 at the end, depth {depth}",
            exponents_generic[depth],
            predicted_exponents[depth],
            rivals=wrong_exponents.get(depth),
        )
    yield check_of_median(
        "dσ_2 / dσ_1 at the end, depth 1", _last_slopes(generic, depth=1), ratio, rivals={squared: ratio**2}
    )

    # One linear measurement whose singular vectors W has from the start: the whole path, in closed form
    aligned_settings = settings_of(aligned)
    sigma_1, sigma_2 = sigmas(aligned, 1, 2)  # shape (depths, times) each: the run has one start

    def closed_form(*, depth_for: Mapping[int, int]) -> np.ndarray:
        """Return sigma_2 along each path by a closed form in sigma_1, shape (depths, times).

        The form is that of the path's depth, unless `depth_for` names another: {2: 1} gives the path of depth 2 the
        line of depth 1.
        """
        start, aligned_ratio = aligned_settings["start"], aligned_settings["ratio"]
        return np.array(
            [
                theory.smaller_singular_value(path, start, aligned_ratio, depth_for.get(depth, depth))
                for depth, path in zip(sorted(aligned["depth"].unique()), sigma_1, strict=True)
            ]
        )

    yield equal_on_every_draw(
        "error of σ_2 against its closed form in σ_1, aligned measurement, relative to σ_2's largest",
        sigma_2,
        closed_form(depth_for={}),
        tolerance=amplification * aligned_settings["integration"]["rtol"],
        because=f"{amplification:g} relative tolerances of the integrator",
        rivals={
            line_at_2: closed_form(depth_for={2: 1}),
            power_at_3: closed_form(depth_for={3: 2}),
            "aligned, the asymptote of one layer more": closed_form(depth_for={3: 4}),
        },
        scaled=False,  # as for the medians: the page would print the chosen `amplification`
    )

    # errors of the exponents under one linear measurement from Gaussian starts, shape (depths, draws): a path each
    errors = np.array([np.abs(exponents_generic[depth] - predicted_exponents[depth]) for depth in depths])
    yield Facts(
        largest_median_error=np.median(errors, axis=1).max(),
        tolerance=tolerance,
        paths_beyond_tolerance=int(np.sum(errors > tolerance)),
        paths=errors.size,
        largest_median_under_entry=max(np.median(np.abs(exponent)) for exponent in exponents_entry.values()),
    )


def _last_doubling(table: Table, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sigma_1 and sigma_2 where the last doubling of sigma_1 begins and ends, each of shape (draws, 2).

    It begins at the first recorded time at which sigma_1 is at least half of its last value.
    """
    sigma_1, sigma_2 = sigmas(table, 1, 2, depth=depth)  # shape (draws, times) each
    # the first time of the doubling, by draw; flows that could not be integrated are nan throughout
    begin = np.argmax(sigma_1 >= sigma_1[:, -1:] / 2, axis=1)
    draws = np.arange(len(begin))
    return (
        np.stack([sigma_1[draws, begin], sigma_1[:, -1]], axis=1),
        np.stack([sigma_2[draws, begin], sigma_2[:, -1]], axis=1),
    )


def _last_exponents(table: Table, depth: int) -> np.ndarray:
    """Return by draw the mean of d log sigma_2 / d log sigma_1 over the last doubling of sigma_1."""
    sigma_1, sigma_2 = _last_doubling(table, depth)
    return np.log(sigma_2[:, 1] / sigma_2[:, 0]) / np.log(sigma_1[:, 1] / sigma_1[:, 0])


def _last_slopes(table: Table, depth: int) -> np.ndarray:
    """Return by draw the mean of d sigma_2 / d sigma_1 over the last doubling of sigma_1."""
    sigma_1, sigma_2 = _last_doubling(table, depth)
    return (sigma_2[:, 1] - sigma_2[:, 0]) / (sigma_1[:, 1] - sigma_1[:, 0])


@claim(
    "Slide 35, Theoretical example: one observed entry",
    quantifier="all draws",
    origin="ours",
    scope="2 × 2 matrices, one entry observed, squared loss, random balanced layers with a positive determinant",
)
def one_entry_determinant_sign(flows: Table) -> Claim:
    r"""Balanced layers of depth two and more keep the sign of the determinant; at depth 1 one observed entry can turn
    it.

    From depth two on the singular values of $W$, the product of balanced layers, move at rates that vanish with them,
    so that none reaches zero. At depth 1 its observed entry $w_{12}$ alone moves, to its target $y$, and the
    determinant changes linearly with $w_{12}$. So the determinant's last sign is that of $w_{11} w_{22} - y\, w_{21}$,
    with the other entries as at the start; by this it turns in {signs_turned_at_depth_1} of {starts} draws. Both last
    signs must be as predicted on every draw.
    """
    depth_1, deeper = Draws(flows, depth=1), Draws(flows, depth=lambda depth: depth > 1)
    # 1 or -1, and 0 for a singular W; nan, which leaves the check undecided, for flows that could not be integrated
    last_sign_1, last_signs_deeper = (np.sign(draws.at_end()[DETERMINANT]) for draws in (depth_1, deeper))
    predicted_1 = depth_1[PREDICTED_SIGN]  # the sign of w_11 w_22 - y w_21 at the start
    # every depth starts from the same matrices, and draws are sorted by depth first
    predicted_as_1 = np.tile(predicted_1, len(last_signs_deeper) // len(predicted_1))
    yield every_draw(
        "error of the determinant's last sign, depths of two and more",
        np.abs(last_signs_deeper - SIGN_AT_START),
        at_most=0.0,
        because="signs are exact",
        predicted=0.0,
        # the rival predicts other signs: the check judges the errors against these
        rivals={"deeper layers turn it where depth 1 does": {"values": np.abs(last_signs_deeper - predicted_as_1)}},
    )
    yield every_draw(
        "error of the determinant's last sign, depth 1",
        np.abs(last_sign_1 - predicted_1),
        at_most=0.0,
        because="signs are exact",
        rivals={"depth 1 keeps the sign as well": {"values": np.abs(last_sign_1 - SIGN_AT_START)}},
    )
    yield Facts(signs_turned_at_depth_1=int((predicted_1 < 0).sum()), starts=len(predicted_1))
