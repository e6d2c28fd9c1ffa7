"""Max-margin problems that limits solve: Theorem 2, Corollaries 1 to 3, Remarks 2 and 3.

- f is the network, of L layers v_l, and beta are its coefficients, f(x) = x^T beta. M(x) is the data tensor. The points
  x_i are the rows of X, y_i = +-1 their labels, y_i f(x_i) their margins. X^T r is the gradient of the loss
  sum_i exp(-y_i f(x_i)) by beta, and u the direction of X^T r.
- An orthogonally decomposable network has matrices S and U_l (Assumption 1). rho is the entrywise product of the
  layers' singular coordinates U_l^T v_l, and beta = S^T rho. Diagonal networks have S = U_l = I. In full-length
  convolutional ones rho has the sizes of the Fourier transform of beta, but for a factor: "DFT l1" is the l1 norm of
  this transform.
- The l_(2/L) max-margin problem is the least sum_j |rho_j|^(2/L) with all margins at least one. rho is stationary for
  it if |rho_j|^(2/L) = c (-S u)_j rho_j for all j, with one c > 0, (26) to (28). The residual of these conditions is
  the sum over j of |left side - right side|, over the sum over j of |left side|.
- The margin in a norm is the least margin over the norm of beta, or of rho. Its gap is what it lacks of the largest
  possible one, relative to the largest.
- M(-u) o (v_1, v_2) is M(-u) contracted with both layers, v_1^T M(-u) v_2; s_1 is its largest singular value.

`two` are tables with two layers, of one or several runs, `three` is one with three layers. A draw is a data set with a
start of its own, for one network of one depth. Draws in which X^T r still turns are left out, or kept as undecided
(`hypotheses.draws_to_judge`). A draw whose flow could not be followed is nan, and the judge counts it as undecided.
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.classification.hypotheses import (
    JudgedDraws,
    draws_to_judge,
    falls_below_one,
    last_exact_log_time,
)
from learning_dynamics.papers.tensor_networks.log_time_checks import (
    LAG,
    NO_FALL,
    largest_lag,
    last_log_log_time,
    loss_vanishes,
    vanishes,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table

# The setting of these claims, whose value is in workflow/config/tensor_networks.yaml:
# - slack: factor on each bound at the last time, for the numbers of order one that laws in log t leave open. It is also
#   the least margin at which a loss counts as vanished: a loss that stays away from zero has one of order one. Chosen.

ORTHOGONAL = ["diagonal", "convolutional", "decomposable"]  # networks that are orthogonally decomposable
REAL = ["diagonal", "decomposable"]  # those of them with a real S, and so with real singular coordinates
AT_MINIMUM = 0.01  # excess up to which a draw counts as at the minimum; chosen; no check uses it
NORM_NAMES = {"l1": r"\ell_1", "dft_l1": r"\mathrm{DFT}\ \ell_1"}  # in formulas


@claim(
    "Theorem 2",
    scope="random separable points; diagonal, full-length convolutional and random orthogonally decomposable "
    "networks, two and three layers; the last layer zero at the start, with two layers also not zero, but smaller than "
    "the first in every singular coordinate",
    quantifier="all draws",
)
def theorem_2(two: Sequence[Table], three: Table, *, slack: Positive) -> Claim:
    r"""An orthogonally decomposable network whose last layer starts smaller than the others, entry by entry in singular
    coordinates, brings the loss to zero. If $X^T r$ converges in direction, to $u$, the network's coefficients tend in
    direction to $S^T \rho$, where $\rho$ is stationary for the $\ell_{2/L}$ max-margin problem. At $L = 2$ the layers
    tend to top singular vectors of $M(-u)$.

    The problem is the least $\sum_j |\rho_j|^{2/L}$ with all margins at least one; $\rho$ is the entrywise product of
    the layers' singular coordinates, $S$ the matrix of Assumption 1. Stationary means that $-(S u)_j \rho_j$ is real,
    not negative and proportional to $|\rho_j|^{2/L}$. Flows are followed to a $\log\log t$ of {last_log_log_time:.0f}.
    There a residual or a gap may be {allowed:.1e}, which is {slack:g} times $1 / (e \log\log t)$: the most that a mode
    $\delta e^{-\delta\tau}$, $\tau = \log\log t$, can leave, whatever $\delta$ the data have.

    With two layers stationarity also asks for a $|(S u)_j|$ that is no larger where $\rho_j = 0$ than elsewhere. The
    residual is zero wherever $\rho_j = 0$, so that it cannot test this. The problem is convex, so that the gap to its
    optimum can: it is at most {largest_gap:.1e}. With three layers the problem is not convex. The theorem allows any
    stationary point, and {above_minimum} of {three_layer_draws} draws of networks with real $S$ end at one where
    $\sum_j |\rho_j|^{2/L}$ is more than one per cent above its global minimum (`max_margin_solution`).

    $X^T r$ counts as at rest if it turns over the second half of $\log\log t$ by no more than that bound, as an angle;
    it turns by at most {largest_turn:.2g} degrees. Draws in which it still turns are undecided or, {left_out} of them,
    left out of all checks but that of the loss. Losses are judged at a $\log t$ of {last_exact_log_time:.0f}, the last
    recorded before their exponent is capped. There the least margin is at least {least_power:.2f} $\log t$; the theorem
    names no power of $t$.
    """
    flows = Draws([*two, three], network=ORTHOGONAL)
    # What vanishes by the theorem, by number of layers. GAP_OWN is the gap to the largest margin in the l1 norm of rho,
    # (38), and TOP_GAP, of layers of unit length, 1 - M(-u) o (v_1, v_2) / s_1.
    vanishing = {
        2: [quantities.STATIONARITY_RESIDUAL, quantities.GAP_OWN, quantities.TOP_GAP],
        3: [quantities.STATIONARITY_RESIDUAL],
    }
    # draws whose X^T r still turns are left out, or undecided, in all checks but that of the loss
    judged = draws_to_judge([*two, three], slack, vanishing=vanishing, network=ORTHOGONAL)
    two_layers = judged.of_depth(2)
    # Rivals are residuals of other problems. That of the l1 norm passes with two layers, where 2 / L is one; three
    # layers refuse it. At rho_j = 0 the residual is zero whatever (S u)_j is: with two layers the next check is needed.
    yield judged.vanishes(
        r"largest residual of the stationarity conditions, $\ell_{2/L}$",
        quantities.STATIONARITY_RESIDUAL,
        rivals={
            r"a $\rho$ stationary for its $\ell_2$ norm": quantities.STATIONARITY_RESIDUAL_L2,
            r"a $\rho$ stationary for its $\ell_1$ norm, whatever the depth": quantities.STATIONARITY_RESIDUAL_L1,
        },
    )
    # Rivals are gaps in norms of beta. That of the l1 norm passes with diagonal networks, where S is the identity;
    # other networks refuse it.
    yield two_layers.vanishes(
        r"two layers: gap to the largest $\ell_{2/L}$ margin",
        quantities.GAP_OWN,
        rivals={
            r"two layers: the largest margin in the $\ell_2$ norm of $\beta$": quantities.GAP["l2"],
            r"two layers: the largest margin in the $\ell_1$ norm of $\beta$, whatever $S$": quantities.GAP["l1"],
        },
        fact="largest_gap",
    )
    # By the rival layers tend to top singular vectors of another tensor. They then fulfil its singular-vector
    # equations, whose residual is judged instead of a gap
    yield two_layers.vanishes(
        "two layers: distance of the layers' singular value from the top one, relative",
        quantities.TOP_GAP,
        rivals={r"two layers: top singular vectors of $M(\sum_i y_i x_i)$": quantities.SINGULAR_RESIDUAL_DATA},
    )
    yield loss_vanishes(flows, slack, fact="least_power")  # on all draws, whatever X^T r does
    yield _above_global_minimum(judged.of_depth(3, network=REAL))  # fills {above_minimum} and {three_layer_draws}
    yield Facts(
        largest_turn=judged.largest_turn,
        left_out=sum(judged.excluded.values()),
        last_log_log_time=last_log_log_time(flows),
        allowed=largest_lag(flows, slack),
        slack=slack,
        last_exact_log_time=last_exact_log_time(flows),
    )


@claim(
    "sections 1.1 and 4.2",
    scope="random separable points; diagonal and random orthogonally decomposable networks of two and three layers, "
    "full-length convolutional ones of two; the last layer zero at the start, with two layers also not zero, "
    "but smaller than the first in every singular coordinate",
    correction=r"With two layers $\rho$ is the solution of largest $\ell_1$ margin. From three layers on it is a "
    r"stationary point of the $\ell_{2/L}$ max-margin problem and need not be its solution.",
    quantifier="all draws",
    reason="from three layers on the problem is not convex, and stationary points above its minimum attract too",
)
def max_margin_solution(two: Sequence[Table], three: Table, *, slack: Positive) -> Claim:
    r"""On separable data gradient flow of an orthogonally decomposable network of depth $L$ finds the $\ell_{2/L}$
    max-margin solution in the singular value space: the $\rho$ that minimises the $\ell_{2/L}$ norm.

    So section 1.1 and the text after Theorem 2 say; the theorem itself has a stationary point (errata 3). $\rho$ is the
    entrywise product of the layers' singular coordinates, and all margins are at least one. With three layers
    {above_minimum} of {three_layer_draws} draws of networks with real $S$ end more than one per cent above the minimum
    of $\sum_j |\rho_j|^{2/3}$, and their margins at unit norm are up to {largest_margin_lost:.0%} below the largest.
    With two layers the largest gap to the largest margin is {value:.1e}. $X^T r$ turns by at most {largest_turn:.2g}
    degrees over the second half of $\log\log t$; draws in which it still turns are undecided, or left out, as for
    Theorem 2.
    """
    vanishing = {2: [quantities.GAP_OWN], 3: [quantities.STATIONARITY_RESIDUAL]}  # by number of layers
    judged = draws_to_judge([*two, three], slack, vanishing=vanishing, network=ORTHOGONAL)
    two_layers = judged.of_depth(2)
    three_layers = judged.of_depth(3, network=REAL)  # where S is real the global minimum is known
    end_of_two = two_layers.flows.at_end("log_log_time")
    gaps_of_two = np.abs(end_of_two[quantities.GAP_OWN])
    # With p = 2/3 and N = sum_j |rho_j|^p at margin one, the margin at unit norm is N^(-1/p). The excess is N over its
    # least value, less one, so that the margin reached is (1 + excess)^(-3/2) of the largest.
    excess = three_layers.flows.at_end("log_log_time")[quantities.QUASI_NORM_EXCESS]
    gaps_of_three = 1 - (1 + excess) ** (-3 / 2)
    yield every_draw(
        r"gap to the largest $\ell_{2/L}$ margin",
        np.concatenate([gaps_of_two, gaps_of_three]),
        at_most=largest_lag(judged.flows, slack),
        because=f"{slack:g} times {LAG}",
        undecided=np.concatenate([two_layers.undecided, three_layers.undecided]),
        excluded={why: count + three_layers.excluded[why] for why, count in two_layers.excluded.items()},
        # Of three layers the correction claims no gap, but the stationarity that the next check is about. The rival
        # claims no gap of them either: it is another problem for two layers.
        corrected={"values": gaps_of_two, **two_layers.options},
        rivals={
            r"with two layers, the $\ell_2$ max margin": {
                "values": np.abs(end_of_two[quantities.GAP["l2"]]),
                **two_layers.options,
            },
        },
    )
    # the printed sentence claims this too: a solution is a stationary point. Rivals are residuals of other problems.
    yield three_layers.vanishes(
        "three layers: residual of the stationarity conditions",
        quantities.STATIONARITY_RESIDUAL,
        rivals={
            r"with three layers, a stationary point for the $\ell_1$ norm": quantities.STATIONARITY_RESIDUAL_L1,
            r"with three layers, a stationary point for the $\ell_2$ norm": quantities.STATIONARITY_RESIDUAL_L2,
        },
    )
    yield _above_global_minimum(three_layers)  # fills {above_minimum} and {three_layer_draws}
    yield Facts(
        largest_turn=judged.largest_turn,
        largest_margin_lost=float(np.max(gaps_of_three)),
        at_minimum=int((excess <= AT_MINIMUM).sum()),  # the paper's findings in the configuration print it
    )


def _above_global_minimum(three_layers: JudgedDraws) -> Facts:
    """Return how many draws with three layers end above the global minimum, and of how many.

    QUASI_NORM_EXCESS is sum_j |rho_j|^(2/3), at a least margin of one, over the least that it can be there; less one.
    """
    excess = three_layers.flows.at_end("log_log_time")[quantities.QUASI_NORM_EXCESS]
    return Facts(above_minimum=int((excess > AT_MINIMUM).sum()), three_layer_draws=len(excess))


@claim(
    "Corollary 1",
    scope="random separable points; widths equal to the inputs; two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def corollary_1(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Fully connected networks of any depth whose loss falls below one at some time tend in direction to the
    $\ell_2$ max-margin classifier, without assuming that $X^T r$ converges.

    $X^T r$ is the gradient of the loss by the coefficients. The gap is what the least margin, at unit $\ell_2$ norm of
    the coefficients, lacks of the largest possible; it is at most {value:.1e} on {draws} draws. A gap of this size
    remains because the exponent of the loss is capped and two support vectors have unequal weights. The angle to the
    max-margin direction falls only like $(\log t)^{-1/L}$, unless the support vectors span all inputs: the first layer
    keeps its part outside their span, and the other layers multiply it.
    """
    flows = Draws([two, three], network="fully_connected")
    yield vanishes(
        r"gap to the largest $\ell_2$ margin",
        flows,
        quantities.GAP["l2"],
        slack,
        rivals={  # gaps to the largest margins in other norms of beta
            r"the $\ell_1$ max margin": quantities.GAP["l1"],
            r"the max margin of the Fourier transform's $\ell_1$ norm": quantities.GAP["dft_l1"],
        },
    )
    yield falls_below_one(flows)  # a premise


@claim(
    "Corollary 2",
    scope="random separable points; two and three layers; the last layer zero at the start, with two layers also "
    "not zero, but smaller than the first in every singular coordinate",
    quantifier="all draws",
)
def corollary_2(two: Sequence[Table], three: Table, *, slack: Positive) -> Claim:
    r"""Diagonal networks whose last layer starts smaller than the others in every entry bring the loss to zero. If $X^T
    r$ converges in direction, they tend in direction to a stationary point of the $\ell_{2/L}$ max-margin problem.

    The problem is the least $\sum_j |\beta_j|^{2/L}$ with all margins at least one; $X^T r$ is the gradient of the loss
    by the coefficients $\beta$. With two layers the stationary point has the largest margin at unit $\ell_1$ norm:
    every draw is judged by what its margin lacks of this one, relative to it: {value:.1e} at most. Two support vectors
    of unequal weights keep a gap of this order however late it is, because the exponent of the loss is capped. With
    three layers {above_minimum} of {three_layer_draws} draws end more than one per cent above the problem's global
    minimum. Over the second half of $\log\log t$, $X^T r$ turns by at most {largest_turn:.2g} degrees. Draws in which
    it still turns are undecided, or judged by their loss alone ({left_out} of them).
    """
    # the helper fills {above_minimum}, {three_layer_draws}, {largest_turn} and {left_out}
    yield from _limit_is_stationary(two, three, network="diagonal", norm="l1", slack=slack)


@claim(
    "Corollary 3",
    scope="random separable points; two and three layers; the last layer zero at the start, with two layers also "
    "not zero, but smaller than the first in every singular coordinate",
    quantifier="all draws",
)
def corollary_3(two: Sequence[Table], three: Table, *, slack: Positive) -> Claim:
    r"""Convolutional networks with full-length filters whose last layer starts smaller than the others at every
    frequency bring the loss to zero. If $X^T r$ converges in direction, they tend in direction to a stationary point of
    the max-margin problem of the Fourier transform's $\ell_{2/L}$ norm.

    The problem is the least $\sum_j |[F \beta]_j|^{2/L}$ with all margins at least one, where $F$ is the discrete
    Fourier transform and $\beta$ the coefficients; $X^T r$ is the gradient of the loss by $\beta$. With two layers
    every draw is judged by what its margin at unit $\ell_1$ norm of $F \beta$ lacks of the largest, with three by the
    residual of the stationarity conditions. Over the second half of $\log\log t$, $X^T r$ turns by at most
    {largest_turn:.2g} degrees. Draws in which it still turns are undecided, or judged by their loss alone ({left_out}
    of them).
    """
    # the helper fills {largest_turn} and {left_out}
    yield from _limit_is_stationary(two, three, network="convolutional", norm="dft_l1", slack=slack)


def _limit_is_stationary(two: Sequence[Table], three: Table, *, network: str, norm: str, slack: float) -> Claim:
    """Check the gap to the largest margin of one architecture at depth 2, and stationarity (28) at depth 3.

    Limits are checked on the draws at rest, the loss on all.

    Parameters
    ----------
    two, three
        Tables with two layers and with three.
    network : str
        The architecture.
    norm : str
        The norm of beta in which two layers of it come to the largest margin: a key of GAP and NORM_NAMES.
    slack : float
        The claims' setting.
    """
    flows = Draws([*two, three], network=network)
    vanishing = {2: [quantities.GAP[norm]], 3: [quantities.STATIONARITY_RESIDUAL]}  # by number of layers
    judged = draws_to_judge(flows.tables, slack, vanishing=vanishing, network=network)
    two_layers, three_layers = judged.of_depth(2), judged.of_depth(3)
    other_norm = "dft_l1" if norm == "l1" else "l1"
    yield two_layers.vanishes(
        f"two layers: gap to the largest ${NORM_NAMES[norm]}$ margin",
        quantities.GAP[norm],
        rivals={  # gaps to the largest margins in other norms
            r"the $\ell_2$ max margin": quantities.GAP["l2"],
            f"the ${NORM_NAMES[other_norm]}$ max margin": quantities.GAP[other_norm],
        },
    )
    yield three_layers.vanishes(
        "three layers: residual of the stationarity conditions",
        quantities.STATIONARITY_RESIDUAL,
        rivals={
            # Gaps to the largest margins in two norms, which have to vanish instead of the residual. Problems of norms
            # are convex, so that a stationary point of theirs has the largest margin.
            f"with three layers, the ${NORM_NAMES[norm]}$ max margin again": quantities.GAP[norm],
            r"with three layers, the $\ell_2$ max margin": quantities.GAP["l2"],
        },
    )
    yield loss_vanishes(flows, slack)
    yield Facts(largest_turn=judged.largest_turn, left_out=sum(judged.excluded.values()))
    if network in REAL:
        yield _above_global_minimum(three_layers)


@claim(
    "Remark 2",
    scope="random separable points, three decomposable architectures, the first of two layers or the second of three "
    "zero; two diagonal layers on one point, started opposed",
    quantifier="all draws",
)
def remark_2(another_zero: Sequence[Table], opposed: Table, *, slack: Positive) -> Claim:
    r"""Some condition on the initialisation is needed for the loss to vanish. Any one layer may be the one that starts
    small: orthogonally decomposable networks bring the loss to zero also if it is the first or a middle one.

    If two diagonal layers start with entries of equal size whose product has the wrong sign in every entry, both shrink
    towards the saddle at zero. The loss then stays above 1, the loss of the zero network: all {opposed_flows} of these
    flows end within {value:.1e} of it. The second sentence is Theorem 2 with layers renamed, as Assumption 1 treats all
    layers alike. It is checked by the loss and by the stationarity conditions of that theorem.
    """
    # of opposed layers a draw is a point and a scale, and time is t itself
    time = float(opposed["time"].max())
    initial_loss = Draws(opposed, time=0.0)[quantities.LOSS]  # exp(-y f(x)), shape (draws,)
    final_loss = Draws(opposed, time=time)[quantities.LOSS]
    # Opposed layers stay so, w_2j = -sign(y x_j) w_1j: the loss is exp(sum_j |x_j| w_1j^2), never below 1, and
    # d w_1j / dt = -(loss) |x_j| w_1j. So each w_1j^2 is at most exp(-2 |x_j| t) times its initial value, a number of
    # order one, and the loss exceeds 1 by about sum_j |x_j| exp(-2 |x_j| t) times these. Whatever |x_j|, it is
    # |x_j| exp(-2 |x_j| t) <= 1 / (2 e t); `slack` bounds the sum of the initial values.
    yield equal_on_every_draw(
        "from opposed layers: loss at the last time, less 1, the loss of the network that is zero",
        final_loss,
        np.ones_like(final_loss),
        tolerance=slack / (2 * np.e * time),
        relative_to=1.0,  # the error itself
        because=rf"{slack:g} times $|x_j| e^{{-2 |x_j| t}} \leq 1 / (2 e t)$",
        rivals={  # other losses at the last time
            "from opposed layers, a loss that keeps its initial value": initial_loss,
            "from opposed layers, a loss that vanishes like $1/t$": 1 / time,
        },
    )
    flows = Draws(another_zero, network=ORTHOGONAL)
    yield loss_vanishes(flows, slack, rival=f"with another layer zero, {NO_FALL}")
    yield vanishes(
        "residual of the stationarity conditions",
        flows,
        quantities.STATIONARITY_RESIDUAL,
        slack,
        rivals={r"with another layer zero, the $\ell_2$ norm": quantities.STATIONARITY_RESIDUAL_L2},
    )
    yield Facts(opposed_flows=len(final_loss))


@claim(
    "Remark 3",
    scope="random separable points; a decomposable network with a random matrix S, the last layer zero at the start; "
    "two and three layers",
    quantifier="all draws",
)
def remark_3(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Under the conditions of Theorem 2 a network with $S = T$ finds a solution $z$ that is sparse in the input space
    that $T$ transforms: $z = T^T \rho$ reads few entries of $T x$.

    $S$ is the matrix of Assumption 1, and $\rho$ the entrywise product of the layers' singular coordinates. A vector
    counts as sparse if its largest entries, as many as there are data points, leave out at most {allowed:.1e} of its
    $\ell_1$ norm. Those of $\rho$ leave out at most {value:.1e}. On the median draw those of $z$ itself leave out
    {median_share_of_z:.2g}, and those of $T z$ {median_share_of_tz:.2g}: $T z = T T^T \rho$ is another vector, sparse
    together with every $\rho$ only if the rows of $T$ are orthogonal. If "sparsity under $T$" is read as a sparse $T
    z$, the remark holds for such $T$ alone; for an invertible $T$ a sparse $T z$ takes $S = T^{-T}$
    (docs/tensor_networks.md).
    """
    flows = Draws([two, three], network="decomposable")
    end = flows.at_end("log_log_time")
    # shares of the l1 norm beyond as many of the largest entries as there are points, shape (draws,); beta is z, S is T
    beyond_in_z = end[quantities.DENSE_SHARE_BETA]
    beyond_in_tz = end[quantities.DENSE_SHARE_S_BETA]
    allowed = largest_lag(flows, slack)
    yield every_draw(
        r"share of the $\ell_1$ norm of $\rho$ outside as many entries as there are points",
        end[quantities.DENSE_SHARE_RHO],
        at_most=allowed,
        because="chosen: the bound of Theorem 2; with two layers the share falls like $(\\log t)^{-(1 - s)}$, with "
        "$s$ a ratio of singular values, so that a near tie would fail here",
        rivals={  # the shares of other vectors, which have to meet the same bound
            "a classifier that is sparse in the inputs": {"values": beyond_in_z},
            r"a classifier $z$ with a sparse $T z$": {"values": beyond_in_tz},
        },
    )
    yield Facts(
        allowed=allowed,
        median_share_of_z=float(np.median(beyond_in_z)),
        median_share_of_tz=float(np.median(beyond_in_tz)),
    )
