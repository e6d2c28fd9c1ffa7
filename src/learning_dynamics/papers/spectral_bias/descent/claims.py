"""Discrete gradient descent on whitened data (appendix C.1): its recursion, and the directions that it keeps.

W, of size d, and a are the layers of a network of width d with one output, from W = sqrt(2 gamma) I and a = 0.
R = X^T (Y - X W a), eta is the step size, and W', a' and R' are those after the next step; |.| is the Frobenius norm.
Data are whitened where X^T X = I. A draw is one random data set.
"""

from collections.abc import Iterator

import numpy as np

from learning_dynamics.judging import Check, Claim, Facts, claim, every_draw
from learning_dynamics.papers.spectral_bias.descent import quantities
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_W1
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Draws, Quantity, Table

# Settings of the claim, whose values are in workflow/config/spectral_bias.yaml:
# - share: least share of |W|^2 that its largest singular value must carry for W to be close to rank one

# what the few hundred operations of a step may round, relative to the norms that they work on; chosen: 100 eps
ROUNDING = 100 * np.finfo(float).eps
W_FOR_ITS_TRANSPOSE = "$W$ for $W^\\top$ in the term of second order"  # phrase of a rival that alters two checks


@claim(
    "Appendix C.1, discrete step size",
    quantifier="all draws",
    scope="width d, one output, whitened data (directions) and ill-conditioned data with n = d (recursion)",
    correction=r"$a' = a + \eta W^\top R$, and $a^\top W^\top R$ in the term of second order; on whitened data, and "
    "for steps that are small enough, $a$ grows and $R$ shrinks, and both keep their directions.",
    reason="two misprints in the recursion, and a residual that shrinks",
)
def discrete_descent(whitened: Table, others: Table, *, share: Fraction) -> Claim:
    r"""Gradient descent of width $d$ with one output, from $W = \sqrt{2\gamma} I$, $a = 0$, takes the steps
    $W' = W + \eta R a^\top$, $a' = a + \eta W^\top a$, $R' = R - \eta X^\top X (WW^\top + |a|^2) R - \eta^2 (a^\top W
    R) X^\top X R$. Where $X^\top X = I$, $R$ and $a$ only grow in norm and keep their directions, so that $W$ ends
    close to rank one from small $\gamma$.

    $W$ and $a$ are the layers, $R = X^\top(Y - XWa)$, $\eta$ is the step size, and primes are after the next step. As
    printed (errata 16), $a$ would never leave zero. With $W^\top R$ for $W^\top a$, and $W^\top$ for $W$ in the term of
    second order, the recursion is that of the gradient, to rounding. On whitened data the directions stay and the
    updates of $W$ are multiples of $R(0) R(0)^\top$; $a$ grows, but $R$ shrinks with the residual $Y - XWa$. On other
    data the directions turn; the sine of the angle by which $a$ turns is {largest_turning:.0%} at most. On whitened
    data the largest singular value of $W$ ends with {smallest_leading_share:.2%} of $|W|^2$ or more; {share:.0%} counts
    as close to rank one.
    """
    on_whitened, on_others = Draws(whitened), Draws(others)
    yield from _steps_follow_the_recursion(Draws([whitened, others]))
    yield from _directions_stay(on_whitened, on_others, steps=int(whitened["time"].max()))
    yield from _a_and_R_grow(on_whitened)
    squares = on_whitened.at_end().entries(SIGMA_W1) ** 2  # sigma_i(W)^2, shape (draws, d)
    leading_share = squares[:, 0] / squares.sum(axis=1)
    yield every_draw(
        "share of $|W|^2$ in its largest singular value at the end",
        leading_share,
        at_least=share,
        because="close to rank one",
    )
    yield Facts(
        largest_turning=float(np.nanmax(on_others.largest(quantities.OUTPUT_TURNING))),
        smallest_leading_share=float(np.nanmin(leading_share)),
        share=share,
    )


def _steps_follow_the_recursion(draws: Draws) -> Iterator[Check]:
    """Check each a' and R' against the printed recursion; corrected, against that of the gradient (errata 16).

    A correction and a rival are each another formula. Their `values` are the distances of the same steps from it.
    """
    # distance of a' from a + eta W^T a, and corrected from a + eta W^T R
    yield every_draw(
        "largest distance of $a'$ from its formula, relative to the largest $|a|$",
        draws.largest(quantities.OUTPUT_STEP_PRINTED),
        at_most=ROUNDING,
        because="rounding",
        predicted=0.0,
        corrected={"values": draws.largest(quantities.OUTPUT_STEP)},
    )
    # distance of R' from R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W R) X^T X R, and corrected with a^T W^T R
    yield every_draw(
        "largest distance of $R'$ from its formula, relative to $|R(0)|$",
        draws.largest(quantities.GRADIENT_STEP_PRINTED),
        at_most=ROUNDING,
        because="rounding",
        predicted=0.0,
        corrected={"values": draws.largest(quantities.GRADIENT_STEP)},
        rivals={
            "no term of second order, as for the flow": {"values": draws.largest(quantities.GRADIENT_STEP_FIRST)},
            # the corrected recursion with one of the two misprints left in, that of R': the values are the printed ones
            W_FOR_ITS_TRANSPOSE: {"values": draws.largest(quantities.GRADIENT_STEP_PRINTED)},
        },
    )


def _directions_stay(on_whitened: Draws, on_others: Draws, *, steps: int) -> Iterator[Check]:
    """Check that a, W - W(0) and R keep the direction of R(0) on whitened data.

    The turning of a and of R is the sine of their angle with R(0). That of W - W(0) is the norm of its part off
    R(0) R(0)^T, relative to |W - W(0)|.
    """

    def check_of_turning(label: str, turning: Quantity, *, at_most: float, because: str) -> Check:
        """Check one of a, W - W(0) and R, named by `label`.

        The rival says that it keeps the direction on other data too, and is judged by its turning on these data.
        """
        return every_draw(
            f"largest turning of {label} from the direction of $R(0)$",
            on_whitened.largest(turning),
            at_most=at_most,
            because=because,
            rivals={"directions that stay whatever the data": {"values": on_others.largest(turning)}},
        )

    rounding_of_all_steps = ROUNDING * steps  # a direction adds up the rounding of each step
    of_all_steps = "rounding of every step"  # the reason for this bound, as the page prints it
    yield check_of_turning("$a$", quantities.OUTPUT_TURNING, at_most=rounding_of_all_steps, because=of_all_steps)
    yield check_of_turning("$W - W(0)$", quantities.LAYER_TURNING, at_most=rounding_of_all_steps, because=of_all_steps)
    # |R| rounds by eps |R(0)|, and is followed down to 1e-8 |R(0)|: its direction is known to eps / 1e-8 = 2e-8.
    # sqrt(ROUNDING) = 1.5e-7 leaves a factor of seven
    residual_rounds = "rounding over a residual of $10^{-8}$"
    yield check_of_turning("$R$", quantities.GRADIENT_TURNING, at_most=np.sqrt(ROUNDING), because=residual_rounds)


def _a_and_R_grow(on_whitened: Draws) -> Iterator[Check]:
    """Check that the norms of a and R grow at each step on whitened data; corrected, that R shrinks.

    The largest step against the trend is judged, which may be rounding.
    """
    # |a'| - |a| and |R'| - |R|, over the largest norm, shape (draws, steps)
    change_of_a = np.diff(on_whitened.entries(quantities.OUTPUT_NORM), axis=1)
    change_of_R = np.diff(on_whitened.entries(quantities.GRADIENT_NORM), axis=1)
    yield every_draw(
        "largest step against the trend that $a$ grows, relative to the largest norm",
        (-change_of_a).max(axis=1),
        at_most=ROUNDING,
        because="rounding",
    )
    R_shrinks = {
        "name": "largest step against the trend that $R$ shrinks, relative to the largest norm",
        "values": change_of_R.max(axis=1),
    }
    yield every_draw(
        "largest step against the trend that $R$ grows, relative to the largest norm",
        (-change_of_R).max(axis=1),
        at_most=ROUNDING,
        because="rounding",
        corrected=R_shrinks,
        # By this rival, the corrected recursion with one misprint left in (errata 16), R shrinks too. It passes this
        # check, and the check of R' refuses it
        rivals={W_FOR_ITS_TRANSPOSE: R_shrinks},
    )
