"""Vanishing initial scale: the time that training takes, the nuclear norm as its limit, columns that align."""

from typing import Any

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.spectral_bias.scale import quantities
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Draws, Table, settings_of

# Settings of these claims, whose values stand in workflow/config/spectral_bias.yaml:
# - largest_gamma: largest initialisation scale that the fit of a slope takes
# - sine: largest sine of the angle between a column and beta that counts as aligned, at the smallest scale

# factor of the next order in the scale: about the ratio of eigenvalues of X^T X, which is nine for these data
NEXT_ORDER = 10.0


@claim(
    "Section 3.2, the convergence rate O(1/(γt))",
    quantifier="all draws",
    scope="one output, well-conditioned data, d > n, scales from 1 down to the smallest of the run",
    origin="ours",
)
def time_to_loss(flow: Table, *, largest_gamma: Positive) -> Claim:
    r"""With one output, $X^\top Y \neq 0$ and labels that can be fitted, the time that the flow from $I_\gamma$ takes
    to a given loss below the first grows as $\ln(1/\gamma) / (2|X^\top Y|)$ while $\gamma$ vanishes, where the bound of
    Lemma C.8 grows as $\gamma^{-1/2}$.

    Near zero both layers grow at the rate $|X^\top Y|$ and the predictor at twice that, from a start of order $\gamma$;
    what follows does not depend on the scale. So the price of a small scale is a logarithm: from the largest to the
    smallest scale the time grows {times:.2g}-fold (median), the time that the bound promises {bounds:.2g}-fold. The
    slope over the small scales that the fit takes agrees to {worst:.1e} on every one of {draws} draws.
    """
    draws, settings = Draws(flow), settings_of(flow)
    gamma = draws.entries("time_to_loss", column="gamma")[0]
    time, promised = draws.with_prediction("time_to_loss")  # shape (draws, scales); promised by the bound of Lemma C.8
    # of each draw: |X^T Y|, the rate at which both layers grow near zero, and |beta_*|
    growth, beta_norm = (draws.entries(name)[:, 0] for name in (quantities.FIRST_GRADIENT, "beta_norm"))
    slopes = _slopes(gamma, time, largest_gamma)
    # the time passes between two records, which lie evenly on its last tenth; their distance in units of 1 / |X^T Y|
    spacing = growth[:, None] * 0.1 * time / (settings["points"] - 1)
    time_errors = (  # in units of the slope
        NEXT_ORDER * gamma * np.log(1 / gamma) / np.minimum(beta_norm, 1.0)[:, None]
        + spacing**4  # of a cubic spline
        + draws.entries("time_to_loss", column="steps") * settings["integration"]["rtol"]
    )
    yield equal_on_every_draw(
        r"error of the slope of the time against $\ln(1/\gamma)$, relative to it",
        slopes,
        1 / (2 * growth),  # the predictor starts at order gamma and grows at twice the layers' rate
        tolerance=_slope_errors(gamma, time_errors, largest_gamma),
        because=r"terms of the order of $\gamma\ln(1/\gamma) / |\beta_*|$, the crossing found between records, "
        "and steps times the relative tolerance, through the fit",
        resolution=0.1,
        rivals={
            r"the rate $|X^\top Y|$ of the layers": 1 / growth,
            "the bound's time": _slopes(gamma, promised, largest_gamma),
            "a time that does not depend on the scale": 0 * growth,
        },
    )
    yield every_draw(
        "largest time to the loss over the time that the bound promises",
        (time / promised).max(axis=1),
        at_most=1.0,
        because="Lemma C.8",
    )
    at_smallest, at_largest = np.argmin(gamma), np.argmax(gamma)
    yield Facts(
        times=float(np.nanmedian(time[:, at_smallest] / time[:, at_largest])),
        bounds=float(np.nanmedian(promised[:, at_smallest] / promised[:, at_largest])),
        worst=float(np.nanmax(np.abs(1 - 1 / (2 * growth * slopes)))),
    )


@claim(
    "Sections 3.1 and 3.2, the rich limit",
    quantifier="all draws",
    scope="well-conditioned data, d > n, three outputs, scales from 1 down to the smallest of the run",
    correction=r"For fixed $\beta \neq 0$, $\Psi_\gamma \sim \frac{1}{2} \ln(1/\gamma) \|\beta\|_*$: half of what is "
    "printed, for the printed potential and the corrected one alike.",
    reason=r"the hyperbolic entropy has the factor one half",
)
def nuclear_norm_limit(flow: Table, *, largest_gamma: Positive) -> Claim:
    r"""As $\gamma \to 0$: the potential $\Psi_\gamma$ of Theorem 3.2 (a) grows as $\ln(1/\gamma) \|\beta\|_*$; and the
    limits of flows from $I_\gamma$ tend to networks of least $\frac{1}{2}|W_1|^2 + \frac{1}{2}|W_2|^2$ among
    interpolators. The predictor of these networks has the least nuclear norm, and it is also $\beta_*$, that of least
    $\ell_2$ norm.

    For a fixed $\beta$ the potential's slope against $\ln(1/\gamma)$ is half the nuclear norm. The rest stands: half
    the squared norm of the parameters tends to $\|\beta_*\|_*$, at the first order in $\gamma$, and no random
    interpolator has a smaller nuclear norm.
    """
    draws = Draws(flow)
    gamma = draws.entries("potential", column="gamma")[0]
    # shape (draws, scales)
    nuclear_norm, half_square = draws.entries("nuclear_norm"), draws.entries(quantities.HALF_SQUARE)
    inputs = draws.entries("sigma_w1", "gamma").shape[2]
    slopes = [
        _slopes(gamma, draws.entries(potential), largest_gamma) / nuclear_norm[:, 0]
        for potential in ("potential", "printed_potential")
    ]
    yield equal_on_every_draw(
        r"error of the slope of $\Psi_\gamma$ against $\ln(1/\gamma)$ over $\|\beta\|_*$",
        np.stack(slopes, axis=1),
        1.0,
        tolerance=10 * largest_gamma / draws.smallest(quantities.LEAST_SINGULAR_VALUE),
        relative_to=1.0,
        because="terms of the order of the largest scale over the smallest singular value",
        resolution=0.1,
        corrected=0.5,  # s asinh(s / gamma) / 2 ~ s ln(2 s / gamma) / 2
        rivals={"a quarter": 0.25},
    )

    # by Corollary 3.1 and Lemma C.10 half of |W1|^2 + |W2|^2 is the sum of sqrt(s_i^2 + gamma^2) over d singular values
    # of beta, each of which exceeds s_i by gamma at most; the residual at the end leaves the rest open
    allowed = inputs * gamma / nuclear_norm + 10 * draws.entries("distance_bound")

    def half_square_is(norm: np.ndarray, label: str) -> dict[str, Any]:
        """Return the arguments that compare half the parameters' squared norm with a norm of beta_*."""
        return {
            "name": f"distance of half the parameters' squared norm from the {label} norm over $d\\gamma$",
            "values": (np.abs(half_square / norm - 1) / allowed).max(axis=1),
        }

    frobenius_norm = draws.entries("frobenius_norm")
    yield every_draw(
        **half_square_is(nuclear_norm, "nuclear"),
        at_most=1.0,
        because=r"each of $d$ singular values adds less than $\gamma$",
        rivals={"the Frobenius norm in place of the nuclear norm": half_square_is(frobenius_norm, "frobenius")},
    )
    yield every_draw(
        "least increase of the nuclear norm over random interpolators",
        draws.smallest(quantities.INCREASE_ELSEWHERE),
        at_least=-1e-6,
        because="rounding over the distance",
    )


@claim(
    "Section 3.1, scalar regression",
    quantifier="all draws",
    scope="one output, well-conditioned data, d > n, scales from 1 down to the smallest of the run; hidden units at "
    "random, and one turned until it is orthogonal to the first gradient",
    correction=r"A column aligns if its share of the first gradient, its entry of $P^\top X^\top Y$, is not zero. A "
    r"column without a share stays at an angle to $\beta$ at every scale.",
    reason="the first gradient does not move a column that is orthogonal to it, while the others grow",
)
def column_alignment(flow: Table, unfed: Table, *, largest_gamma: Positive, sine: Fraction) -> Claim:
    r"""From $I_\gamma$ with one output, and labels that can be fitted, all columns of $W_1$ align with $\beta$ as
    $\gamma \to 0$; the layer ends close to rank one for $\gamma = o(|\beta_*|)$, and for $\gamma$ of the order of
    $|\beta_*|$ the structure disappears.

    The first check takes the largest sine between a column and $\beta$ at the smallest scale: {aligned:.1e} with hidden
    units at random, {printed:.2g} for one orthogonal to $X^\top Y$ (errata 3). The part of $W_1$ off the direction of
    $\beta$, relative to $|W_1|$, falls as $\gamma^{1/2}$: the slope of its logarithm, over the small scales that the
    fit takes, is compared with one half. Each column keeps a component along $\beta$ that tends, in units of
    $\sigma_1(W_1)$, to the column's share of the first gradient, the entry of $P^\top X^\top Y / |X^\top Y|$: a
    column's angle falls as $\gamma^{1/2}$ too once $\gamma$ is below $|\beta_*|$ times its squared share. (The smallest
    share in {draws} draws is {share:.1g}.) The crossover is a function of $\gamma / |\beta_*|$ alone: $\sigma_2(W_1)^2
    / \sigma_1(W_1)^2 = 2\gamma / (\gamma + \sqrt{\gamma^2 + |\beta_*|^2})$, which passes one half where $\gamma$ is
    $|\beta_*| / \sqrt{8}$.
    """
    draws = Draws(flow)
    gamma = draws.entries(quantities.PART_ACROSS, column="gamma")[0]
    smallest = np.argmin(gamma)
    # shape (draws, scales)
    beta_norm, steps = draws.entries("beta_norm"), draws.entries(quantities.PART_ACROSS, column="steps")
    sigma_1, sigma_2 = (draws.where(index=index).entries("sigma_w1") for index in (1, 2))
    # relative errors: what the residual and the integrator leave open; and each step rounds the layer by eps of sigma_1
    left_open = draws.entries("distance_bound") + settings_of(flow)["integration"]["rtol"] * steps
    rounding = np.finfo(float).eps * steps
    rounding_of_sigma_2 = rounding * sigma_1 / sigma_2
    # length of the columns at the start, beside that of the layer at the end
    column_length = np.sqrt(2 * gamma / beta_norm)
    # of each column, shape (draws, scales, columns): its component along beta, and its share of the first gradient
    components, shares = draws.with_prediction(quantities.COMPONENTS_ALONG, "gamma")
    least_share = np.abs(shares).min(axis=2)

    # 1. all columns align at the smallest scale
    sine_at_random = Draws(flow).entries(quantities.LARGEST_SINE)[:, smallest]
    sine_of_unfed = Draws(unfed).entries(quantities.LARGEST_SINE)[:, smallest]
    # the sine that a column keeps if its first length is across beta, and its share of the layer along beta
    share_is_too_small = (column_length / least_share)[:, smallest] > sine
    yield every_draw(
        r"largest sine of the angle between a column of $W_1$ and $\beta$, at the smallest scale",
        np.concatenate([sine_of_unfed, sine_at_random]),
        at_most=sine,
        because="aligned means near zero, as the smallest scale is 1e-16 of the solution; a draw whose share is too "
        "small for that is undecided",
        undecided=np.concatenate([np.zeros(len(sine_of_unfed), dtype=bool), share_is_too_small]),
        corrected={"values": sine_at_random, "undecided": share_is_too_small},
        rivals={"no column aligns": {"values": sine_of_unfed, "undecided": None}},
    )

    # 2. the part of W1 across beta falls as gamma^(1/2): its norm, sqrt(2 gamma (d - 1)), over |W1|, which is that of
    # the direction of beta but for the square of the part across
    across = draws.entries(quantities.PART_ACROSS)
    yield equal_on_every_draw(
        r"error of the power of $\gamma$ with which the part of $W_1$ across $\beta$ falls",
        -_slopes(gamma, np.log(across), largest_gamma),
        0.5,
        tolerance=_slope_errors(gamma, across**2 + left_open + rounding_of_sigma_2, largest_gamma),
        relative_to=1.0,
        because="the square of that part, the remaining residual, steps times the relative tolerance, and each "
        "step's rounding, through the fit",
        resolution=0.1,
        rivals={"a part of the order of the scale": 1.0, r"a part that falls as $\gamma^{1/3}$": 1 / 3},
    )

    # 3. each column's component along beta, over sigma_1, tends to its share of the first gradient: while beta turns
    # from the first gradient's direction to its own, columns of their first length still feed it
    allowed = NEXT_ORDER * column_length + left_open + rounding

    def components_are(parts: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns' largest distance from given components, at all scales, over what is allowed."""
        return {"values": (np.abs(components - parts).max(axis=2) / allowed).max(axis=1)}

    equal_shares = np.sign(shares) * np.sqrt(np.mean(shares**2, axis=2, keepdims=True))
    shares_of_beta_star = draws.entries(quantities.SHARES_OF_BETA_STAR, "gamma")
    yield every_draw(
        r"error of the columns' components along $\beta$ over $\sigma_1(W_1)$, at all scales, over what is allowed",
        **components_are(shares),
        at_most=1.0,
        because=r"terms of the order of $\sqrt{2\gamma / |\beta_*|}$, the remaining residual, and steps times "
        "the relative tolerance; a draw with a smaller share than that at the smallest scale is undecided",
        undecided=(least_share <= allowed)[:, smallest],
        predicted=0.0,
        rivals={
            "columns that align alike, whatever their share of the first gradient": components_are(equal_shares),
            r"columns that keep the share of $\beta_*$ that they start with": components_are(shares_of_beta_star),
        },
    )

    # 4. the crossover, by Corollary 3.1: sigma_2^2 = 2 gamma, and sigma_1^2 = gamma + sqrt(gamma^2 + |beta_*|^2)
    def ratio_is(law: np.ndarray) -> dict[str, np.ndarray]:
        """Return the largest relative distance of sigma_2^2 / sigma_1^2 from a law, over what is allowed of squares."""
        distance = np.abs(np.log((sigma_2 / sigma_1) ** 2 / law))
        return {"values": (distance / (2 * (left_open + rounding_of_sigma_2))).max(axis=1)}

    crossover = 2 * gamma / (gamma + np.hypot(gamma, beta_norm))
    yield every_draw(
        r"error of $\sigma_2(W_1)^2 / \sigma_1(W_1)^2$ at all scales, relative to it, over what is allowed",
        **ratio_is(crossover),
        at_most=1.0,
        because="the remaining residual, steps times the relative tolerance, and each step's rounding beside the "
        "smallest value",
        predicted=0.0,
        rivals={
            r"$\gamma$ for $2\gamma$ in the crossover": ratio_is(crossover / 2),
            "a crossover that does not depend on the teacher": ratio_is(2 * gamma / (gamma + np.hypot(gamma, 1))),
        },
    )
    yield Facts(share=float(least_share.min()), aligned=float(sine_at_random.max()))


def _slopes(gamma: np.ndarray, values: np.ndarray, largest_gamma: float) -> np.ndarray:
    """Return the slope of each draw's values against ln(1/gamma) over scales up to the largest.

    Parameters
    ----------
    gamma : ndarray, shape (scales,)
    values : ndarray, shape (draws, scales)
    largest_gamma : float

    Returns
    -------
    ndarray, shape (draws,)
    """
    small, x = _centred_logarithms(gamma, largest_gamma)
    return values[:, small] @ x / np.sum(x**2)


def _slope_errors(gamma: np.ndarray, errors: np.ndarray, largest_gamma: float) -> np.ndarray:
    """Return the largest error that errors of these sizes can add up to in `_slopes`, shape (draws,)."""
    small, x = _centred_logarithms(gamma, largest_gamma)
    return errors[:, small] @ np.abs(x) / np.sum(x**2)


def _centred_logarithms(gamma: np.ndarray, largest_gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Return which scales are up to the largest, and their ln(1/gamma) less its mean."""
    small = gamma <= largest_gamma
    if small.sum() < 2:
        raise ValueError(f"only {small.sum()} scales are at most {largest_gamma:g}; a slope needs two")
    x = -np.log(gamma[small])
    return small, x - x.mean()
