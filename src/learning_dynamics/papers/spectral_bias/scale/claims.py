"""Vanishing initial scale: the time that training takes, the nuclear norm as its limit, columns that align."""

import numpy as np

from learning_dynamics.judging import Claim, Facts, Instead, claim, equal_on_every_draw, every_draw
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Draws, Quantity, Table, settings_of

# next orders in the scale carry factors of the order of the ratio of eigenvalues of X^T X, nine for this condition
RATES = 10.0


@claim(
    "Section 3.2, the convergence rate O(1/(γt))",
    quantifier="all draws",
    scope="one output, well-conditioned data, d > n, scales from 1 down to the smallest of the run",
    origin="ours",
)
def time_to_loss(flow: Table, *, largest: Positive) -> Claim:
    r"""With one output, $X^\top Y \neq 0$ and labels that can be fitted, the time that the flow from $I_\gamma$ takes
    to a given loss below the first grows as $\ln(1/\gamma) / (2|X^\top Y|)$ while $\gamma$ vanishes, where the bound of
    Lemma C.8 grows as $\gamma^{-1/2}$.

    Near zero both layers grow at the rate $|X^\top Y|$ and the predictor at twice that, from a start of order $\gamma$;
    what follows does not depend on the scale. So the price of a small scale is a logarithm: from the largest to the
    smallest scale the time grows {times:.2g}-fold (median), the time that the bound promises
    {bounds:.2g}-fold. The slope over scales up to the setting `largest` agrees to {worst:.1e} on every one of {draws}
    draws.
    """
    draws = Draws(flow)
    gamma, steps = (draws.entries("time_to_loss", column=column) for column in ("gamma", "steps"))
    gamma, (time, bound) = gamma[0], draws.compared("time_to_loss")
    growth, size = (draws.entries(name)[:, 0] for name in ("growth", "beta_norm"))
    slopes = _slopes(gamma, time, largest)
    # in units of the slope: the next order in the scale; the records' spacing, in units of 1 / |X^T Y|, to the order of
    # the spline; and the integrator
    spacing = growth[:, None] * 0.1 * time / (settings_of(flow)["points"] - 1)
    integrated = steps * settings_of(flow)["integration"]["rtol"]
    errors = RATES * gamma * np.log(1 / gamma) / np.minimum(size, 1.0)[:, None] + spacing**4 + integrated
    yield equal_on_every_draw(
        r"error of the slope of the time against $\ln(1/\gamma)$, relative to it",
        slopes,
        1 / (2 * growth),
        tolerance=_slopes(gamma, errors, largest, of_errors=True),
        because=r"terms of the order of $\gamma\ln(1/\gamma) / |\beta_*|$, the crossing found between records, "
        "and steps times rtol, through the fit",
        resolution=0.1,
        rivals={
            r"the rate $|X^\top Y|$ of the layers": 1 / growth,
            "the bound's time": _slopes(gamma, bound, largest),
            "a time that does not depend on the scale": 0 * growth,
        },
    )
    yield every_draw(
        "largest time to the loss over the time that the bound promises",
        (time / bound).max(axis=1),
        at_most=1.0,
        because="Lemma C.8",
    )
    least, greatest = np.argmin(gamma), np.argmax(gamma)
    yield Facts(
        times=float(np.nanmedian(time[:, least] / time[:, greatest])),
        bounds=float(np.nanmedian(bound[:, least] / bound[:, greatest])),
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
def nuclear_norm_limit(flow: Table, *, largest: Positive) -> Claim:
    r"""As $\gamma \to 0$: the potential $\Psi_\gamma$ of Theorem 3.2 (a) grows as $\ln(1/\gamma) \|\beta\|_*$; and the
    limits of flows from $I_\gamma$ tend to networks of least $\frac{1}{2}|W_1|^2 + \frac{1}{2}|W_2|^2$ among
    interpolators, with a predictor of least nuclear norm, which is also $\beta_*$, that of least $\ell_2$ norm.

    For a fixed $\beta$ the potential's slope against $\ln(1/\gamma)$ is half the nuclear norm. The rest stands: half
    the squared norm of the parameters tends to $\|\beta_*\|_*$, at the first order in $\gamma$, and no random
    interpolator has a smaller nuclear norm.
    """
    draws = Draws(flow)
    gamma, nuclear = draws.entries("potential", column="gamma")[0], draws.entries("nuclear_norm")
    potentials = (draws.entries(name) for name in ("potential", "printed_potential"))
    # sqrt(s^2 + gamma^2) - s is at most gamma, for each of d values; the residual leaves the rest
    inputs = draws.entries("sigma_w1", "gamma").shape[2]
    tolerance = inputs * gamma / nuclear + 10 * draws.entries("distance_bound")

    def half_square(norm: Quantity) -> Instead:
        return Instead(
            name=f"distance of half the parameters' squared norm from the {norm.replace('_', ' ')} over $d\\gamma$",
            values=(np.abs(draws.entries("parameters") / draws.entries(norm) - 1) / tolerance).max(axis=1),
        )

    yield equal_on_every_draw(
        r"slope of $\Psi_\gamma$ against $\ln(1/\gamma)$ over $\|\beta\|_*$, the error",
        np.stack([_slopes(gamma, values, largest) / nuclear[:, 0] for values in potentials], axis=1),
        1.0,
        tolerance=10 * largest / draws.least("smallest"),
        relative_to=1.0,
        because="terms of the order of the largest scale over the smallest singular value",
        resolution=0.1,
        corrected=0.5,
        rivals={"a quarter": 0.25},
    )
    yield every_draw(
        **half_square("nuclear_norm"),
        at_most=1.0,
        because=r"each of $d$ singular values adds less than $\gamma$",
        rivals={"the Frobenius norm in place of the nuclear norm": half_square("frobenius_norm")},
    )
    yield every_draw(
        "least increase of the nuclear norm over random interpolators",
        draws.least("other_interpolators"),
        at_least=-1e-6,
        because="rounding over the distance",
    )


@claim(
    "Section 3.1, scalar regression",
    quantifier="all draws",
    scope="one output, well-conditioned data, d > n, scales from 1 down to the smallest of the run; hidden units at "
    "random, and one turned until it is orthogonal to the first gradient",
    correction=r"All columns align whose share of the first gradient, their entry of $P^\top X^\top Y$, is not zero. A "
    r"column with no share stays at an angle to $\beta$ at every scale.",
    reason="a column orthogonal to the first gradient is not fed while the others grow",
)
def column_alignment(flow: Table, unfed: Table, *, largest: Positive, sine: Fraction) -> Claim:
    r"""From $I_\gamma$ with one output, and labels that can be fitted, all columns of $W_1$ align with $\beta$ as
    $\gamma \to 0$; the layer ends close to rank one for $\gamma = o(|\beta_*|)$, and for $\gamma$ of the order of
    $|\beta_*|$ the structure disappears.

    The first check takes the largest sine between a column and $\beta$ at the smallest scale: {aligned:.1e} with hidden
    units at random, {printed:.2g} for one orthogonal to $X^\top Y$ (errata 3). The part of $W_1$ off the direction of
    $\beta$, relative to $|W_1|$, falls as $\gamma^{1/2}$: the slope of its logarithm, from scales up to the setting
    `largest`, is compared with one half. Each column keeps a component along $\beta$ that tends, in units of
    $\sigma_1(W_1)$, to the column's share of the first gradient, the entry of $P^\top X^\top Y / |X^\top Y|$: a
    column's angle falls as $\gamma^{1/2}$ too once $\gamma$ is below $|\beta_*|$ times its squared share. (The smallest
    share in {draws} draws is {share:.1g}.) The crossover is a function of $\gamma / |\beta_*|$ alone: $\sigma_2(W_1)^2
    / \sigma_1(W_1)^2 = 2\gamma / (\gamma + \sqrt{\gamma^2 + |\beta_*|^2})$, which passes one half where $\gamma$ is
    $|\beta_*| / \sqrt{8}$.
    """
    draws = Draws(flow)
    gamma, first = draws.entries("across", column="gamma")[0], draws.where(index=1)
    across, size, distance = (draws.entries(name) for name in ("across", "beta_norm", "distance_bound"))
    along, shares = draws.compared("along", "gamma")
    first_values, second_values = (draws.where(index=number).entries("sigma_w1") for number in (1, 2))
    curve = 2 * gamma / (gamma + np.hypot(gamma, size))
    steps = first.entries("sigma_w1", column="steps")
    # each step rounds the layer by eps of its largest singular value
    rounding = np.finfo(float).eps * steps
    beside_second = rounding * first_values / second_values
    inexact = distance + settings_of(flow)["integration"]["rtol"] * steps
    # the layer's norm is that of beta's direction but for the square of the part across it
    errors = across**2 + inexact + beside_second
    left_open = 2 * (inexact + beside_second)
    # while beta turns from the first gradient's direction to its own, columns of length sqrt(2 gamma) still feed it
    turning_bound = RATES * np.sqrt(2 * gamma / size) + inexact + rounding
    smallest_shares = np.abs(shares).min(axis=2)

    def beside(parts: np.ndarray) -> Instead:
        return Instead(values=(np.abs(along - parts).max(axis=2) / turning_bound).max(axis=1))

    def of_crossover(law: np.ndarray) -> Instead:
        ratios = (second_values / first_values) ** 2
        return Instead(values=(np.abs(np.log(ratios / law)) / left_open).max(axis=1))

    at_random, turned = (Draws(table).entries("misaligned")[:, np.argmin(gamma)] for table in (flow, unfed))
    # the sine of a column that is left of columns of length sqrt(2 gamma), beside its share
    too_small = (np.sqrt(2 * gamma / size) / smallest_shares)[:, np.argmin(gamma)] > sine
    yield every_draw(
        r"largest sine of the angle between a column of $W_1$ and $\beta$, at the smallest scale",
        np.concatenate([turned, at_random]),
        at_most=sine,
        because="aligned: near zero, where the smallest scale is the 1e-16th part of the solution; a draw with a share "
        "too small for that is undecided",
        undecided=np.concatenate([np.zeros(len(turned), dtype=bool), too_small]),
        corrected=Instead(values=at_random, undecided=too_small),
        rivals={"no column aligns": Instead(values=turned, undecided=None)},
    )
    yield equal_on_every_draw(
        r"error of the power of $\gamma$ with which the part of $W_1$ across $\beta$ falls",
        -_slopes(gamma, np.log(across), largest),
        0.5,
        tolerance=_slopes(gamma, errors, largest, of_errors=True),
        relative_to=1.0,
        because="the square of that part, the remaining residual, steps times rtol, and each step's rounding, "
        "through the fit",
        resolution=0.1,
        rivals={"a part of the order of the scale": 1.0, r"a part that falls as $\gamma^{1/3}$": 1 / 3},
    )
    equal_shares = np.sign(shares) * np.sqrt(np.mean(shares**2, axis=2, keepdims=True))
    yield every_draw(
        r"error of the columns' components along $\beta$ over $\sigma_1(W_1)$, at all scales, over what is allowed",
        **beside(shares),
        at_most=1.0,
        because=r"terms of the order of $\sqrt{2\gamma / |\beta_*|}$, the remaining residual, and steps times "
        "rtol; a draw with a smaller share than that at the smallest scale is undecided",
        undecided=(smallest_shares <= turning_bound)[:, np.argmin(gamma)],
        predicted=0.0,
        rivals={
            "columns that align alike, whatever their share of the first gradient": beside(equal_shares),
            r"columns that keep the share of $\beta_*$ that they start with": beside(draws.entries("start", "gamma")),
        },
    )
    yield every_draw(
        r"error of $\sigma_2(W_1)^2 / \sigma_1(W_1)^2$ at all scales, relative to it, over what is allowed",
        **of_crossover(curve),
        at_most=1.0,
        because="the remaining residual, steps times rtol, and each step's rounding beside the smallest value",
        predicted=0.0,
        rivals={
            r"$\gamma$ for $2\gamma$ in the crossover": of_crossover(curve / 2),
            "a crossover that does not depend on the teacher": of_crossover(2 * gamma / (gamma + np.hypot(gamma, 1))),
        },
    )
    yield Facts(share=float(smallest_shares.min()), aligned=float(at_random.max()))


def _slopes(gamma: np.ndarray, values: np.ndarray, largest: float, of_errors: bool = False) -> np.ndarray:
    """Slope of each draw's values, shape (draws, scales), against ln(1/gamma) over scales up to the largest.

    With `of_errors`, values are sizes of errors, and the slope is the largest that they can add up to.
    """
    small = gamma <= largest
    if small.sum() < 2:
        raise ValueError(f"only {small.sum()} scales are at most {largest:g}; a slope needs two")
    x = -np.log(gamma[small])
    x = x - x.mean()
    return values[:, small] @ (np.abs(x) if of_errors else x) / np.sum(x**2)
