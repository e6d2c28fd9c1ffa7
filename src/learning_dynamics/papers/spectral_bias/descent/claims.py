"""Discrete gradient descent on whitened data (appendix C.1): its recursion, and the directions that it keeps."""

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, every_draw
from learning_dynamics.papers.spectral_bias.descent import quantities
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_W1
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Draws, Table

# Settings of these claims, whose values stand in workflow/config/spectral_bias.yaml:
# - share: least share of |W|^2 in its largest singular value that is close to rank one


@claim(
    "Appendix C.1, discrete step size",
    quantifier="all draws",
    scope="width d, one output, whitened data (directions) and ill-conditioned data with n = d (recursion)",
    correction=r"$a' = a + \eta W^\top R$, and $a^\top W^\top R$ in the term of second order; on whitened data, and "
    "for steps that are small enough, $a$ grows and $R$ shrinks, and both keep their directions.",
    reason="two misprints in the recursion, and a residual that shrinks",
)
def discrete_descent(whitened: Table, others: Table, *, share: Fraction) -> Claim:
    r"""Gradient descent of width $d$ with one output, from $W = \sqrt{2\gamma} I$, $a = 0$, takes the steps $W' = W +
    \eta R a^\top$, $a' = a + \eta W^\top a$, $R' = R - \eta X^\top X (WW^\top + |a|^2) R - \eta^2 (a^\top W R)
    X^\top X R$; and where $X^\top X = I$, $R$ and $a$ only grow in norm and keep their directions, so that $W$
    ends close to rank one from small $\gamma$.

    As printed (errata 16), $a$ would never leave zero. With $W^\top R$ in its place, and $W^\top$ in the term of second
    order, the recursion is that of the gradient, to rounding. On whitened data the directions stay and the updates of
    $W$ are multiples of $R(0) R(0)^\top$; $a$ grows, but $R$, the residual, shrinks. On other data the directions turn,
    by up to {turning:.0%} (sine).
    """
    on_whitened, on_others, on_all = Draws(whitened), Draws(others), Draws([whitened, others])
    # a step rounds a few hundred operations; a direction collects the rounding of every step
    rounding = 100 * np.finfo(float).eps
    rounding_of_all_steps = rounding * whitened["time"].max()
    transposed = "$W$ for $W^\\top$ in the term of second order"

    yield every_draw(
        "largest distance of $a'$ from its formula, relative to the largest $|a|$",
        on_all.largest(quantities.OUTPUT_STEP_PRINTED),
        at_most=rounding,
        because="rounding",
        predicted=0.0,
        corrected={"values": on_all.largest(quantities.OUTPUT_STEP)},
    )
    yield every_draw(
        "largest distance of $R'$ from its formula, relative to $|R(0)|$",
        on_all.largest(quantities.GRADIENT_STEP_PRINTED),
        at_most=rounding,
        because="rounding",
        predicted=0.0,
        corrected={"values": on_all.largest(quantities.GRADIENT_STEP)},
        rivals={
            "no term of second order, as for the flow": {"values": on_all.largest(quantities.GRADIENT_STEP_FIRST)},
            transposed: {"values": on_all.largest(quantities.GRADIENT_STEP_PRINTED)},
        },
    )
    for quantity, label, bound, because in (
        (quantities.OUTPUT_TURNING, "$a$", rounding_of_all_steps, "rounding of every step"),
        (quantities.LAYER_TURNING, "$W - W(0)$", rounding_of_all_steps, "rounding of every step"),
        (quantities.GRADIENT_TURNING, "$R$", np.sqrt(rounding), "rounding over a residual of $10^{-8}$"),
    ):
        yield every_draw(
            f"largest turning of {label} from the direction of $R(0)$",
            on_whitened.largest(quantity),
            at_most=bound,
            because=because,
            rivals={"directions that stay whatever the data": {"values": on_others.largest(quantity)}},
        )

    against_the_trend = "largest step against the trend that {}, relative to the largest norm"
    change_of_a = np.diff(on_whitened.entries(quantities.OUTPUT_NORM), axis=1)
    change_of_R = np.diff(on_whitened.entries(quantities.GRADIENT_NORM), axis=1)
    yield every_draw(
        against_the_trend.format("$a$ grows"), (-change_of_a).max(axis=1), at_most=rounding, because="rounding"
    )
    shrinks = {"name": against_the_trend.format("$R$ shrinks"), "values": change_of_R.max(axis=1)}
    yield every_draw(
        against_the_trend.format("$R$ grows"),
        (-change_of_R).max(axis=1),
        at_most=rounding,
        because="rounding",
        corrected=shrinks,
        # $R$ shrinks under this rival too: it is the corrected recursion with one misprint left in
        rivals={transposed: shrinks},
    )
    squares = on_whitened.at_end().entries(SIGMA_W1) ** 2
    yield every_draw(
        "share of $|W|^2$ in its largest singular value at the end",
        squares[:, 0] / squares.sum(axis=1),
        at_least=share,
        because="close to rank one",
    )
    yield Facts(turning=float(np.nanmax(on_others.largest(quantities.OUTPUT_TURNING))))
