"""Max-margin problems that limits solve: Theorem 2, Corollaries 1 to 3, Remarks 2 and 3."""

from typing import Literal

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.classification.hypotheses import (
    at_rest,
    falls_below_one,
    left_out,
    residuals_converge,
    still_turns,
)
from learning_dynamics.papers.tensor_networks.limit_checks import largest_lag, loss_vanishes, vanishes
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table

# Settings of these claims, whose values stand in workflow/config/tensor_networks.yaml:
# - slack: factor on each bound at the last time, for the numbers of order one that laws in log t leave open
# - sparse: which vector is to have few entries: T z, as printed, or the rho of z = T^T rho, if the remark is about
#   what z reads of T x

ORTHOGONAL = ["diagonal", "convolutional", "decomposable"]
REAL = ["diagonal", "decomposable"]
NORM_NAMES = {"l1": r"\ell_1", "dft_l1": r"\mathrm{DFT}\ \ell_1"}  # in formulas
STAYS = "a loss that does not fall"


@claim(
    "Theorem 2",
    scope="random separable points; diagonal, full-length convolutional and random orthogonally decomposable "
    "networks, two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def theorem_2(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""An orthogonally decomposable network whose last layer starts smaller than the others, entry by entry in singular
    coordinates, brings the loss to zero. If $X^T r$ converges in direction, its coefficients tend in direction to $S^T
    \rho$, where $\rho$ is stationary for the $\ell_{2/L}$ max-margin problem. At $L = 2$ the layers tend to top
    singular vectors of $M(-u)$.

    Stationary means that $-(S u)_j \rho_j$ is real, not negative and proportional to $|\rho_j|^{2/L}$. With three
    layers the problem is not convex: {above_minimum} of {deep} draws of real networks end at a stationary point where
    $\sum_j |\rho_j|^{2/L}$ lies more than one per cent above its global minimum; the theorem allows it (errata 19).
    With two layers the problem is convex, and the largest gap to its optimum is {gap:.1e}. Times, and the premise on
    $X^T r$, are those of Theorem 1; here $X^T r$ turns by at most {turned:.2g} degrees. Draws in which it still turns
    are undecided, or judged by their loss alone ({turning} of them).
    """
    flows = Draws([two, three], network=ORTHOGONAL)
    residual = quantities.STATIONARITY_RESIDUAL  # (28)
    residuals_of_two = [residual, quantities.GAP_OWN, quantities.TOP_GAP]
    judged = at_rest([two, three], slack, residuals=[residuals_of_two, [residual]], network=ORTHOGONAL)
    all_of_two, _ = flows  # table by table
    two_layers, three_layers = judged
    excluded = left_out(flows, judged)
    excluded_of_two = left_out(all_of_two, two_layers)
    l2_problem = r"the $\ell_2$ max-margin problem"
    l1_problem = r"the $\ell_1$ norm, whatever the depth and $S$"
    yield vanishes(
        r"largest residual of the stationarity conditions, $\ell_{2/L}$",
        judged,
        residual,
        slack,
        undecided=still_turns(judged, slack),
        excluded=excluded,
        rivals={
            l2_problem: quantities.STATIONARITY_RESIDUAL_L2,
            l1_problem: quantities.STATIONARITY_RESIDUAL_L1,
        },
    )
    yield vanishes(
        r"two layers: gap to the largest $\ell_{2/L}$ margin",
        two_layers,
        quantities.GAP_OWN,  # (38)
        slack,
        undecided=still_turns(two_layers, slack),
        excluded=excluded_of_two,
        rivals={l2_problem: quantities.GAP["l2"], l1_problem: quantities.GAP["l1"]},
        fact="gap",
    )
    yield vanishes(
        "two layers: distance from the top singular value",
        two_layers,
        quantities.TOP_GAP,
        slack,
        undecided=still_turns(two_layers, slack),
        excluded=excluded_of_two,
    )
    yield loss_vanishes(flows, slack, power=1.0, rivals={STAYS: 0.0})
    yield residuals_converge(judged, slack)
    yield _above_global_minimum(three_layers.where(network=REAL))
    yield Facts(turning=sum(excluded.values()))


def _above_global_minimum(three_layers: Draws) -> Facts:
    """Return how many draws with three layers end above the global minimum, and of how many."""
    excess = three_layers.at_end("log_log_time")[quantities.QUASI_NORM_EXCESS]
    return Facts(above_minimum=int((excess > 0.01).sum()), deep=len(excess))


@claim(
    "Corollary 1",
    scope="random separable points; widths equal to the inputs; two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def corollary_1(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Fully connected networks of any depth whose loss falls below one at some time tend in direction to the
    $\ell_2$ max-margin classifier, without assuming that $X^T r$ converges.

    Unless the support vectors span all inputs, the first layer keeps its part outside their span, and the other layers
    multiply it, so that the angle to the max-margin direction falls only like $(\log t)^{-1/L}$.
    """
    flows = Draws([two, three], network="fully_connected")
    yield vanishes(
        r"gap to the largest $\ell_2$ margin",
        flows,
        quantities.GAP["l2"],
        slack,
        rivals={
            r"the $\ell_1$ max margin": quantities.GAP["l1"],
            r"the max margin of the Fourier transform's $\ell_1$ norm": quantities.GAP["dft_l1"],
        },
    )
    yield loss_vanishes(flows, slack, power=1.0, rivals={STAYS: 0.0})
    yield falls_below_one(flows)


@claim(
    "Corollary 2",
    scope="random separable points; two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def corollary_2(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Diagonal networks whose last layer starts smaller than the others in every entry bring the loss to zero. If $X^T
    r$ converges in direction, they tend in direction to a stationary point of the $\ell_{2/L}$ max-margin problem.

    With two layers the stationary point is the $\ell_1$ max margin: every draw is judged by the gap to this margin, and
    the slowest has come to {value:.1e}. With three layers {above_minimum} of {deep} draws end more than one per cent
    above the problem's global minimum. Over the second half of $\log\log t$, $X^T r$ turns by at most {turned:.2g}
    degrees. Draws in which it still turns are undecided, or judged by their loss alone ({turning} of them).
    """
    flows = Draws([two, three], network="diagonal")
    judged = at_rest([two, three], slack, residuals=_judged_residuals("l1"), network="diagonal")
    _, three_layers = judged  # table by table
    yield from _limit_is_stationary(flows, judged, norm="l1", slack=slack)
    yield _above_global_minimum(three_layers)


@claim(
    "Corollary 3",
    scope="random separable points; two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def corollary_3(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Convolutional networks with full-length filters whose last layer starts smaller than the others at every
    frequency bring the loss to zero. If $X^T r$ converges in direction, they tend in direction to a stationary point of
    the max-margin problem of the Fourier transform's $\ell_{2/L}$ norm.

    With two layers every draw is judged by the gap to the margin in that transform's $\ell_1$ norm, with three by the
    residual of the stationarity conditions. Over the second half of $\log\log t$, $X^T r$ turns by at most {turned:.2g}
    degrees. Draws in which it still turns are undecided, or judged by their loss alone ({turning} of them).
    """
    flows = Draws([two, three], network="convolutional")
    judged = at_rest([two, three], slack, residuals=_judged_residuals("dft_l1"), network="convolutional")
    return _limit_is_stationary(flows, judged, norm="dft_l1", slack=slack)


def _judged_residuals(norm: str) -> list[list[Quantity]]:
    """Return what `_limit_is_stationary` checks with two layers, and with three."""
    return [[quantities.GAP[norm]], [quantities.STATIONARITY_RESIDUAL]]


def _limit_is_stationary(flows: Draws, judged: Draws, *, norm: str, slack: float) -> Claim:
    """Check the gap of one architecture's margin in its norm at depth 2, and stationarity (28) at depth 3.

    Limits are those of the draws that are `judged`; the loss vanishes on all.
    """
    all_of_two, all_of_three = flows  # table by table
    two_layers, three_layers = judged
    other_norm = "dft_l1" if norm == "l1" else "l1"
    yield vanishes(
        f"two layers: gap to the largest ${NORM_NAMES[norm]}$ margin",
        two_layers,
        quantities.GAP[norm],
        slack,
        undecided=still_turns(two_layers, slack),
        excluded=left_out(all_of_two, two_layers),
        rivals={
            r"the $\ell_2$ max margin": quantities.GAP["l2"],
            f"the ${NORM_NAMES[other_norm]}$ max margin": quantities.GAP[other_norm],
        },
    )
    yield vanishes(
        "three layers: residual of the stationarity conditions",
        three_layers,
        quantities.STATIONARITY_RESIDUAL,
        slack,
        undecided=still_turns(three_layers, slack),
        excluded=left_out(all_of_three, three_layers),
        rivals={
            # these problems are convex: being stationary is having the largest margin
            f"with three layers, the ${NORM_NAMES[norm]}$ max margin again": quantities.GAP[norm],
            r"with three layers, the $\ell_2$ max margin": quantities.GAP["l2"],
        },
    )
    yield loss_vanishes(flows, slack, power=1.0, rivals={STAYS: 0.0})
    yield residuals_converge(judged, slack)
    yield Facts(turning=sum(left_out(flows, judged).values()))


@claim(
    "Remark 2",
    scope="random separable points, three decomposable architectures of two layers; two diagonal layers on one point, "
    "started opposed",
    quantifier="all draws",
)
def remark_2(first_zero: Table, opposed: Table, *, slack: Positive) -> Claim:
    r"""Some condition on the initialisation is needed for the loss to vanish. Any one layer may be the one that starts
    small: orthogonally decomposable networks bring the loss to zero also if it is the first, not the last.

    If two diagonal layers start with entries of equal size whose product has the wrong sign in every entry, both shrink
    towards the saddle at zero. The loss then stays above 1, the loss of the zero network: all {stuck} of these flows
    end within {value:.1e} of it. The second half is Theorem 2 with layers renamed, as Assumption 1 treats all layers
    alike.
    """
    time = float(opposed["time"].max())
    initial_loss = Draws(opposed, time=0.0)[quantities.LOSS]  # exp(-y f(x)), shape (draws,)
    final_loss = Draws(opposed, time=time)[quantities.LOSS]
    # Opposed layers stay so, w_2j = -sign(y x_j) w_1j: the loss is exp(sum_j |x_j| w_1j^2), never below 1, and
    # d w_1j / dt = -(loss) |x_j| w_1j. So each w_1j^2 is at most exp(-2 |x_j| t) times its initial value, a number of
    # order one, and the loss exceeds 1 by about sum_j |x_j| exp(-2 |x_j| t) times these.
    yield equal_on_every_draw(
        r"from opposed layers: loss at the last time, where the network that is zero has the loss 1",
        final_loss,
        np.ones_like(final_loss),
        tolerance=slack / (2 * np.e * time),
        relative_to=1.0,
        because=rf"{slack:g} times $|x_j| e^{{-2 |x_j| t}} \leq 1 / (2 e t)$",
        rivals={
            "from opposed layers, a loss that keeps its initial value": initial_loss,
            "from opposed layers, a loss that vanishes like $1/t$": 1 / time,
        },
    )
    flows = Draws(first_zero, network=ORTHOGONAL)
    yield loss_vanishes(flows, slack, power=1.0, rivals={f"with the first layer zero, {STAYS}": 0.0})
    yield vanishes(
        "residual of the stationarity conditions",
        flows,
        quantities.STATIONARITY_RESIDUAL,
        slack,
        rivals={r"with the first layer zero, the $\ell_2$ norm": quantities.STATIONARITY_RESIDUAL_L2},
    )
    yield Facts(stuck=len(final_loss))


@claim(
    "Remark 3",
    scope="random separable points; a decomposable network with a random matrix S, the last layer zero at the start; "
    "two and three layers",
    correction=r"With $S = T$ the $\rho$ in $z = T^T \rho$ is sparse: the classifier reads few entries of $T x$. A "
    r"sparse $T z$ takes $S = T^{-T}$.",
    reason=r"Theorem 2 makes $\rho = T^{-T} z$ sparse, and that is another vector than $T z$",
    quantifier="all draws",
)
def remark_3(two: Table, three: Table, *, sparse: Literal["T z", "rho"], slack: Positive) -> Claim:
    r"""Under the conditions of Theorem 2 a network with $S = T$ finds a solution $z$ that is sparse under the linear
    transformation $T$: $T z$ has few entries.

    A vector counts as sparse if its largest entries, as many as there are data points, leave out at most {allowed:.1e}
    of its $\ell_1$ norm. Those of $T z$ leave out up to {printed:.2g}, and {mapped:.2g} on the median draw; those of
    $z$ itself {inputs:.2g} (median); those of the $\rho$ in $z = T^T \rho$ at most {transformed:.1e} (errata 3). The
    sentence can also be read as one on inputs: that $z$ reads few entries of $T x$. This reading is the correction, and
    is right.
    """
    flows = Draws([two, three], network="decomposable")
    end = flows.at_end("log_log_time")
    # shares of the l1 norm beyond as many of the largest entries as there are points, shape (draws,); beta is z, S is T
    beyond_in_z = end[quantities.DENSE_SHARE_BETA]
    beyond_in_tz = end[quantities.DENSE_SHARE_S_BETA]
    beyond_in_rho = end[quantities.DENSE_SHARE_RHO]
    allowed = largest_lag(flows, slack)
    rivals = {"a classifier that is sparse in the inputs": {"values": beyond_in_z}}
    if sparse == "rho":
        rivals[r"a classifier $z$ with a sparse $T z$"] = {"values": beyond_in_tz}
    yield every_draw(
        r"share of the $\ell_1$ norm outside as many entries as there are points",
        beyond_in_tz if sparse == "T z" else beyond_in_rho,
        at_most=allowed,
        because="chosen: the bound of Theorem 2; with two layers the share falls like $(\\log t)^{-(1 - s)}$, with "
        "$s$ a ratio of singular values, so that a near tie would fail here",
        corrected={"values": beyond_in_rho},
        rivals=rivals,
    )
    yield Facts(
        allowed=allowed,
        inputs=float(np.median(beyond_in_z)),
        mapped=float(np.median(beyond_in_tz)),
        transformed=float(np.max(beyond_in_rho)),
    )
