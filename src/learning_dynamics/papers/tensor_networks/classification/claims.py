"""Classification of separable data: Theorems 1 and 2, Corollaries 1 to 3, Remarks 2 and 3, and how slowly they show."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from learning_dynamics.judging import (
    NOT_CLAIMED,
    Check,
    Claim,
    Facts,
    Untested,
    claim,
    equal_on_every_draw,
    every_draw,
    premise,
)
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.distances import angle_between_units
from learning_dynamics.papers.tensor_networks.limit_checks import (
    largest_lag,
    last_exact_margins,
    last_exact_sigma,
    last_sigma,
    loss_vanishes,
    second_half,
    settles,
    vanishes,
)
from learning_dynamics.papers.tensor_networks.tables import MARGIN
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table, draw_columns, select, settings_of

ORTHOGONAL = ["diagonal", "convolutional", "decomposable"]
REAL = ["diagonal", "decomposable"]
NORM_NAMES = {"l1": r"\ell_1", "dft_l1": r"\mathrm{DFT}\ \ell_1"}  # in formulas
STAYS = "a loss that does not fall"


@claim(
    "Theorem 1",
    scope="random separable points; six architectures, two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def theorem_1(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Under the exponential loss, if the loss falls below one at some time and $X^T r$ converges in direction, to
    $u$, then the layers of a linear tensor network tend in direction to singular vectors of $M(-u)$.

    Followed to a $\log\log t$ of {reached:.0f}, where the layers' directions solve the singular-vector equations to
    {value:.1e} on the worst of {draws} draws, in units of the singular value. Random tensors and short filters are held
    to the same bound as networks with structure. A draw whose residual still changes late is on its way from one
    singular vector to another that is hardly larger, and decides nothing yet. Premises are that the loss falls below
    one, and that $X^T r$ comes to rest: over the second half of $\log\log t$ its direction turns by at most
    {turned:.2g} degrees. From a $\log t$ of about {cut:.0e} on, rounding forbids the exponential itself: its exponent
    is capped, and from there on the limit of the flow is followed, which shrinks the layers at given margins. Losses
    are therefore judged before, at a $\log t$ of {exact:.0f}; directions, which are slower, at the end, and of two
    layers again with a cap ten times as late.
    """
    flows = Draws([two, three])
    yield settles(
        "largest residual of the singular-vector equations",
        flows,
        quantities.SINGULAR_RESIDUAL,
        slack,
        rivals={
            r"singular vectors of $M(\sum_i y_i x_i)$": quantities.SINGULAR_RESIDUAL_DATA,
            r"singular vectors of $M(\beta)$": quantities.SINGULAR_RESIDUAL_COEFFICIENTS,
        },
    )
    yield _below_one(flows)
    yield _converges(flows, slack)
    yield Facts(
        reached=float(two["sigma"].max()),
        cut=float(settings_of(two)["integration"]["sharpness"]),
        exact=_last_exact_log_time(flows),
    )


@claim(
    "equation (14)",
    scope="random separable points; six architectures, two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def equation_14(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Under the exponential loss, if the loss falls below one at some time, all parameters $\Theta$ of a linear tensor
    network together grow without bound and align with the negative gradient of the loss.

    Theorem 1 and Corollary 1 are proved from it; the paper takes it from Ji and Telgarsky (2020). All layers then grow
    alike, $\|\Theta\| / \|v_l\| \to \sqrt L$ (C.1), and the coefficients of a fully connected network tend in direction
    to that of $-X^T r$, (15) and (19). One minus the cosine between $\Theta$ and the negative gradient has come to
    {value:.1e} on the worst of {draws} draws; no layer's share of the squared norm differs from $1 / L$ by more than
    {share:.1e}. The convergence of directions is judged by this alignment alone, which gives the speed at which they
    still turn: where two singular values nearly agree they turn for longer than is followed, here by up to {moved:.1g}
    over the second half of $\log\log t$. Flows are those of Theorem 1; from a $\log t$ of about {cut:.0e} on, where its
    exponent is capped, growth is that of margins kept in proportion to $\log t$, as the loss before the cap has them.
    """
    flows = Draws([two, three])
    growth = flows.at_end("sigma")[quantities.GROWTH_POWER]
    yield settles(
        r"one minus the cosine between $\Theta$ and the negative gradient",
        flows,
        quantities.MISALIGNMENT,
        slack,
        rivals={"alignment with the gradient of the sum of all margins": quantities.MISALIGNMENT_DATA},
    )
    yield _below_one(flows)
    yield vanishes(
        "distance of a layer's share of the squared norm from that predicted",
        flows,
        quantities.LAYER_SHARE_ERROR,
        slack,
        rivals={"layers that grow in proportion to their lengths": quantities.LAYER_SHARE_ERROR_LENGTHS},
        fact="share",
    )
    yield equal_on_every_draw(
        r"power of $\log t$ in $\|\Theta\|^L$, less its prediction",
        growth,
        np.ones_like(growth),
        tolerance=slack / last_sigma(flows),
        relative_to=1.0,
        because=rf"{slack:g} over $\log\log t$: $\|\Theta\|^L / \log t$ is a number of order one",
        rivals={"parameters that stay bounded": 0.0},
        scaled=False,
    )
    yield vanishes(
        "fully connected: distance between the directions of $\\beta$ and of what is predicted",
        flows.where(network="fully_connected"),
        quantities.DISTANCE_FROM_PUSH,
        slack,
        rivals={r"fully connected: coefficients along $\sum_i y_i x_i$": quantities.DISTANCE_FROM_DATA_SUM},
    )
    yield Facts(
        moved=float(np.nanmax(second_half(flows).largest(quantities.PARAMETERS_MOVED))),
        cut=float(settings_of(two)["integration"]["sharpness"]),
    )


def _last_exact_log_time(flows: Draws) -> float:
    """Return the log t up to which all flows are those of the exponential loss itself, log log t = log(1 + log t)."""
    return float(np.expm1(min(map(last_exact_sigma, flows.tables))))


def _below_one(flows: Draws) -> Check:
    """Check what Theorem 1, Corollary 1 and (14) assume: that the loss falls below one."""
    return premise(
        every_draw(
            r"the loss is below one before its exponent is capped: $\min_i y_i f(x_i) / \log t$",
            last_exact_margins(flows),
            at_least=np.log(100) / _last_exact_log_time(flows),
            because="with such a margin the loss of a hundred points is below one",
        )
    )


def _converges(flows: Draws, slack: float) -> Check:
    """Check what Theorems 1 and 2 assume: that X^T r converges in direction."""
    return premise(
        every_draw(
            r"$X^T r$ converges in direction: degrees by which it turns over the second half of $\log\log t$",
            second_half(flows).largest(quantities.TURN_OF_RESIDUALS),
            at_most=np.degrees(largest_lag(flows, slack)),
            because="as an angle, the bound on what vanishes",
            fact="turned",
        )
    )


@claim(
    "Theorem 2",
    scope="random separable points; diagonal, full-length convolutional and random orthogonally decomposable "
    "networks, two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def theorem_2(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""An orthogonally decomposable network whose last layer starts smaller than the others, entry by entry in
    singular coordinates, brings the loss to zero; if $X^T r$ converges in direction, its coefficients tend in
    direction to $S^T \rho$, where $\rho$ is stationary for the $\ell_{2/L}$ max-margin problem. At $L = 2$ the layers
    tend to top singular vectors of $M(-u)$.

    Stationary means that $|\rho_j|^{2/L}$ is proportional to $-(S u)_j \rho_j$, real and not negative. The problem
    with three layers is not convex: {other} of {deep} real draws end at a stationary point where
    $\sum_j |\rho_j|^{2/L}$ lies more than one per cent above its global minimum, as the theorem allows. With two layers
    the problem is convex, and the largest gap to its optimum is {gap:.1e}. Times, and the premise on $X^T r$, are those
    of Theorem 1; here $X^T r$ turns by at most {turned:.2g} degrees.
    """
    flows, two_layers = Draws([two, three], network=ORTHOGONAL), Draws(two, network=ORTHOGONAL)
    l2_problem = r"the $\ell_2$ max-margin problem"
    l1_problem = r"the $\ell_1$ norm, whatever the depth and $S$"
    yield vanishes(
        r"largest residual of the stationarity conditions, $\ell_{2/L}$",
        flows,
        quantities.STATIONARITY_RESIDUAL,  # (28)
        slack,
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
        rivals={l2_problem: quantities.GAP["l2"], l1_problem: quantities.GAP["l1"]},
        fact="gap",
    )
    yield vanishes("two layers: distance from the top singular value", two_layers, quantities.TOP_GAP, slack)
    yield loss_vanishes(flows, slack, power=1.0, rivals={STAYS: 0.0})
    yield _converges(flows, slack)
    yield _above_global_minimum(three, REAL)


def _above_global_minimum(three: Table, network: str | list[str]) -> Facts:
    """Return how many draws with three layers end above the global minimum, and of how many."""
    excess = Draws(three, network=network).at_end("sigma")[quantities.QUASI_NORM_EXCESS]
    return Facts(other=int((excess > 0.01).sum()), deep=len(excess))


@claim(
    "Corollary 1",
    scope="random separable points; widths equal to the inputs; two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def corollary_1(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Fully connected networks of any depth whose loss falls below one at some time tend in direction to the
    $\ell_2$ max-margin classifier, without assuming that $X^T r$ converges.

    Unless the support vectors span all inputs, the first layer keeps its part outside of them, and the other layers
    carry it along, so that the angle falls only like $(\log t)^{-1/L}$.
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
    yield _below_one(flows)


@claim(
    "Corollary 2",
    scope="random separable points; two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def corollary_2(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Diagonal networks whose last layer starts smaller than the others in every entry bring the loss to zero; if
    $X^T r$ converges in direction, they tend in direction to a stationary point of the $\ell_{2/L}$ max-margin
    problem.

    With two layers it is the $\ell_1$ max margin; every draw is judged by the gap of its margin, and the slowest has
    come to {value:.1e}. With three layers {other} of {deep} draws end at a stationary point other than the minimum.
    Over the second half of $\log\log t$, $X^T r$ turns by at most {turned:.2g} degrees.
    """
    yield from _limit_is_stationary(two, three, network="diagonal", norm="l1", slack=slack)
    yield _above_global_minimum(three, "diagonal")


@claim(
    "Corollary 3",
    scope="random separable points; two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def corollary_3(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Convolutional networks with full-length filters whose last layer starts smaller than the others at every
    frequency bring the loss to zero; if $X^T r$ converges in direction, they tend in direction to a stationary point
    of the max-margin problem of the Fourier transform's $\ell_{2/L}$ norm.

    With two layers every draw is judged by the gap of that $\ell_1$ margin, with three by the residual of the
    stationarity conditions. Over the second half of $\log\log t$, $X^T r$ turns by at most {turned:.2g} degrees.
    """
    return _limit_is_stationary(two, three, network="convolutional", norm="dft_l1", slack=slack)


def _limit_is_stationary(two: Table, three: Table, *, network: str, norm: str, slack: float) -> Claim:
    """Check the gap of one architecture's margin in its norm at depth 2, and stationarity (28) at depth 3."""
    flows = Draws([two, three], network=network)
    two_layers, three_layers = Draws(two, network=network), Draws(three, network=network)
    other_norm = "dft_l1" if norm == "l1" else "l1"
    yield vanishes(
        f"two layers: gap to the largest ${NORM_NAMES[norm]}$ margin",
        two_layers,
        quantities.GAP[norm],
        slack,
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
        rivals={
            # these problems are convex: being stationary is having the largest margin
            f"with three layers, the ${NORM_NAMES[norm]}$ max margin again": quantities.GAP[norm],
            r"with three layers, the $\ell_2$ max margin": quantities.GAP["l2"],
        },
    )
    yield loss_vanishes(flows, slack, power=1.0, rivals={STAYS: 0.0})
    yield _converges(flows, slack)


@claim(
    "Remark 2",
    scope="random separable points, three decomposable architectures of two layers; two diagonal layers on one point, "
    "started opposed",
    quantifier="all draws",
)
def remark_2(first_zero: Table, opposed: Table, *, slack: Positive) -> Claim:
    r"""Some condition on the initialisation is needed for the loss to vanish, and any one layer may be the one that
    starts small: orthogonally decomposable networks bring the loss to zero also where the first layer takes the
    last one's part.

    Two diagonal layers whose products have the wrong sign in every entry shrink towards the saddle at zero, and the
    loss falls no lower than that of the network that is zero, which is 1: all {stuck} of these flows end within
    {value:.1e} of it. Assumption 1 treats all layers alike, so that the other half is Theorem 2 with layers renamed.
    """
    time = float(opposed["time"].max())
    initial, final = (Draws(opposed, time=at)[quantities.LOSS] for at in (0.0, time))
    yield equal_on_every_draw(
        r"from opposed layers: loss at the last time, where the network that is zero has the loss 1",
        final,
        np.ones_like(final),
        tolerance=slack / (2 * np.e * time),
        relative_to=1.0,
        because=rf"{slack:g} times $|x_j| e^{{-2 |x_j| t}} \leq 1 / (2 e t)$",
        rivals={
            "from opposed layers, a loss that keeps its initial value": initial,
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
    yield Facts(stuck=len(final))


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

    As many entries of $T z$ as there are data points leave out up to {printed:.2g} of its $\ell_1$ norm, {mapped:.2g}
    on the median draw; of $z$ itself they leave out {inputs:.2g} (median), and of $\rho$ in $z = T^T \rho$ at most
    {transformed:.1e} (errata 3). The sentence can also be read as one on inputs: that $z$ reads few entries of $T x$.
    That is the correction; read so the remark is right.
    """
    flows = Draws([two, three], network="decomposable")
    end = flows.at_end("sigma")
    inputs, mapped, transformed = (
        end[quantity] for quantity in (quantities.DENSE_INPUTS, quantities.DENSE_MAPPED, quantities.DENSE_TRANSFORMED)
    )
    yield every_draw(
        r"share of the $\ell_1$ norm outside as many entries as there are points",
        mapped if sparse == "T z" else transformed,
        at_most=largest_lag(flows, slack),
        because="chosen: the bound of Theorem 2; with two layers what lags falls like "
        "$(\\log t)^{-(1 - s)}$, so that a near tie would fail here",
        corrected={"values": transformed},
        rivals={
            "a classifier that is sparse in the inputs": {"values": inputs},
            **({r"a classifier $z$ with a sparse $T z$": {"values": mapped}} if sparse == "rho" else {}),
        },
    )
    yield Facts(
        inputs=float(np.median(inputs)),
        mapped=float(np.median(mapped)),
        transformed=float(np.max(transformed)),
    )


@claim(
    "sections 5 and 6",
    scope="random separable points, each from many random starts, the last layer zero; diagonal, convolutional and "
    "decomposable networks of two to four layers, fully connected ones of two and three",
    correction="From starts within the conditions of Theorem 2, limit directions of two orthogonally decomposable "
    "layers do not depend on the initialisation where the max-margin problem has one solution; nor do those of fully "
    "connected networks of any depth whose loss falls below one at some time. Those of three or more orthogonally "
    "decomposable layers can depend on it: several stationary points can attract.",
    quantifier="all draws",
    reason="from three decomposable layers on the max-margin problem that decides is not convex",
)
def limits_and_starts(starts: Sequence[Table], *, degrees: Positive) -> Claim:
    r"""The limit directions of linear coefficients in separable classification do not depend on the initialisation.

    With two decomposable layers, and in fully connected networks, Theorem 2 and Corollary 1 leave one limit, because
    the margin problem is convex and on data in general position has one solution. (Where two coordinates tie, as those
    of the single point $(1, 1)$ do, starts choose with two diagonal layers as well; and outside of the conditions of
    Theorem 2 a coordinate in which two layers are opposed stays without a part.) From three decomposable layers on
    they leave every stationary point of the $\ell_{2/L}$ max-margin problem, and starts choose: on the same data
    {several} of {deep} such problems have more than one limit, up to {most} from {count} starts, and two limits are up
    to {apart:.0f} degrees apart. Of the starts of real networks with three or more layers {other:.0%} end above the
    global minimum.
    """
    problems = pd.concat([_limits_of_problems(table) for table in starts], ignore_index=True)
    depth = problems["depth"].to_numpy()
    is_decomposable = np.isin(problems["network"], ORTHOGONAL)
    largest_angle, largest_turn = problems["largest_angle"].to_numpy(), problems["largest_turn"].to_numpy()
    is_turning = (largest_angle > degrees) & (largest_turn > degrees / 2)

    def one_limit(where: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments of a check that problems have one limit from all starts."""
        return {"values": largest_angle[where], "undecided": is_turning[where]}

    def several_limits(where: np.ndarray) -> dict[str, Any]:
        """Return the arguments of a check that each architecture and depth has a problem with several limits.

        Starts may have one limit on a data set by chance, but not on all data sets.
        """
        if not where.any():
            return {"values": NOT_CLAIMED}
        angle_of_kind = problems[where].groupby(["network", "depth"])["largest_angle"].max().to_numpy()
        return {"values": angle_of_kind, "undecided": angle_of_kind < degrees}

    # of each problem, whether the correction and rivals predict one limit
    has_one_limit = ~is_decomposable | (depth == 2)
    rivals = {
        "one limit at any depth but four": ~is_decomposable | (depth != 4),
        "one limit for two layers alone": depth == 2,
        "one limit for fully connected networks alone": ~is_decomposable,
    }
    yield every_draw(
        "largest angle in degrees between the limits from two starts, where one limit is predicted",
        **one_limit(np.full(len(problems), True)),
        at_most=degrees,
        because="chosen; undecided while a direction turns by half as much",
        corrected=one_limit(has_one_limit),
        rivals={rival: one_limit(predicted) for rival, predicted in rivals.items()},
    )
    yield premise(
        every_draw(
            r"the loss falls: $\min_i y_i f(x_i) / \log t$ at the end",
            Draws(starts)[MARGIN],
            at_least=0.5,
            because="it tends to one; zero where a flow stays at a saddle",
        )
    )
    yield every_draw(
        "where several limits are predicted: the largest such angle of each architecture and depth",
        NOT_CLAIMED,
        at_least=degrees,
        because="as above; undecided where no data set shows a second limit, which others may have",
        corrected=several_limits(~has_one_limit),
        rivals={rival: several_limits(~predicted) for rival, predicted in rivals.items()},
    )
    deep = problems[is_decomposable & (depth > 2)]
    deep_excess = select(pd.concat(starts), quantities.QUASI_NORM_EXCESS, depth=lambda depth: depth > 2)["value"]
    yield Facts(
        several=int((deep["limits"] > 1).sum()),
        deep=len(deep),
        most=int(problems["limits"].max()),
        count=int(settings_of(starts[0])["starts"]),
        apart=float(np.nanmax(largest_angle)),
        other=float(np.mean(deep_excess > 0.01)),
    )


def _limits_of_problems(table: Table) -> pd.DataFrame:
    """Return a row for each problem, a data set and a network: how far apart the limits from its starts are.

    Columns: network, depth; largest_angle between the limits from two starts; largest_turn of a direction over the
    second half of log log t; limits, the number of those that are a degree apart. Angles in degrees.
    """
    problems = []
    last_sigma = table["sigma"].max()
    for network, depth, _, from_starts in Draws(table).groups("network", "depth", "seed"):
        halfway, end = (
            from_starts.where(sigma=sigma).entries(quantities.DIRECTION) for sigma in (last_sigma / 2, last_sigma)
        )
        angles = angle_between_units(end[:, None], end)
        distinct: list[int] = []  # starts whose limits are new
        for start in range(len(end)):
            if (angles[start, distinct] > 1.0).all():
                distinct.append(start)
        problems.append(
            {
                "network": network,
                "depth": depth,
                "largest_angle": angles.max(),
                "largest_turn": angle_between_units(end, halfway).max(),
                "limits": len(distinct),
            }
        )
    return pd.DataFrame(problems)


# an error of a hundredth of the law shows in large powers alone, and in several of them
LARGE = 0.3
FEWEST = 5


@claim(
    "section 4",
    scope="the points of figure 3, several starts and scales, and random separable points; two layers in singular "
    "coordinates, fully connected networks of two and three layers",
    origin="ours",
    quantifier="all draws",
)
def log_time_exponents(
    settling: Table, two: Table, three: Table, *, tolerance: Positive, settled: Positive, open_at_most: Positive
) -> Claim:
    r"""The part that a max-margin direction leaves out vanishes like a power of $1 / \log t$. In two orthogonally
    decomposable layers whose last starts smaller in every singular coordinate, each inactive coordinate falls like
    $(\log t)^{-(1 - s_j)}$, where $s_j$ is its singular value of $M(-u)$ relative to the active ones, if the
    multipliers of the max-margin problem, which give $u$, are unique. In fully connected networks of $L$ layers whose
    first layer starts with a part outside the span of the support vectors, the part of the coefficients outside it
    falls like $(\log t)^{-1/L}$, unless the limit direction of the other layers' product is one that this part takes to
    zero.

    The exception is the zero-asymmetric start, $W_l = I$ and $w_L = 0$, on one point, where nothing is ever outside.
    The multipliers come from the convex problem, not from the path; where they are many, as in the convolutional case
    of figure 3, nothing is predicted. Powers are local: the slope of each share against $\log\log t$ within a window.
    An entry is the difference of a part that grows and one that falls, $\rho_j = (u_j^2 - w_j^2) / 4$; the law is exact
    for the part that grows, $u_j^2 / 2 = (|\eta_{1j}|^2 + |\eta_{2j}|^2) / 2 + |\rho_j|$, and that is what is measured.
    It begins when a flow has passed its last vertex, that is, when what is to vanish holds at most a share {settled:g}
    of the $\ell_1$ norm (outside the span: the direction is as near to its limit) and has the sign of what pushes it.
    Multipliers may be off by as much as the entries that stay still turn and grow unequally. Outside the span the first
    layer stays as it is, and the product $p$ of the later ones reads it: while $p$ still turns against that part, most
    of all where the two nearly cancel, the power of $|W_1 p| / (|W_1| |p|)$ outside adds to the law's. Where all this
    leaves more than {open_at_most:g} of a power open, none is judged. Late windows follow the flow of a loss whose
    exponent is capped. Its limit is the same as long as the vanishing part is above rounding; data whose margins this
    cap cannot tell apart are left out. An angle is a sum of such powers, and shows the slowest of them only late.
    Predicted powers lie between {slowest:.3f} and {fastest:.3f}; of fully connected networks the medians are
    {shallow:.3f} with two layers and {deep:.3f} with three.
    """
    tables = [table for table in (settling, two, three) if (table["quantity"] == quantities.POWER).any()]
    if not tables:
        raise Untested("no network leaves anything out whose power is predicted")

    # a draw is one entry that vanishes, of one flow
    draws = Draws(tables, draw=[*draw_columns(tables[0]), "index"])
    measured, predicted, network, depth = (
        draws.entries(quantities.POWER, column=column)[:, 0] for column in ("value", "predicted", "network", "depth")
    )
    is_connected = network == "fully_connected"
    uncertainty = draws[quantities.POWER_UNCERTAINTY]
    is_left_out = {  # an entry has the first reason that applies
        "multipliers that are not unique, or more active entries than tight margins": ~np.isfinite(predicted),
        "still between vertices, or not yet of the sign of what pushes them": (
            (draws[quantities.REMAINING_SHARE] > settled) | (draws[quantities.PHASE_COSINE] < 0.99)
        ),
        "what stays does not yet grow alike, or still turns": uncertainty > open_at_most,
        "below what the integrator resolves": ~np.isfinite(measured),
    }
    reason = np.select(list(is_left_out.values()), list(is_left_out), default="")
    judged = reason == ""
    n_large = int(np.sum(judged & (predicted > LARGE)))
    if n_large < FEWEST:
        raise Untested(
            f"{n_large} powers above {LARGE:g} can be judged; laws a little off need {FEWEST} to be told apart"
        )

    yield equal_on_every_draw(
        "largest error of a local power",
        measured[judged],
        predicted[judged],
        tolerance=tolerance + uncertainty[judged],
        relative_to=1.0,
        because=f"{tolerance:g} for the fit within a window, and what still moves leaves open",
        excluded={words: int((reason == words).sum()) for words in is_left_out},
        rivals={
            r"$1/L$ for all": 1 / depth[judged],
            "one for all, as the margins' offsets": 1.0,
            r"$1/2$ for all, whatever the depth": 0.5,
            r"$s_j$ in place of $1 - s_j$": np.where(is_connected, predicted, 1 - predicted)[judged],
        },
    )
    yield Facts(
        settled=settled,
        open_at_most=open_at_most,
        slowest=float(np.min(predicted[judged])),
        fastest=float(np.max(predicted[judged])),
        shallow=float(np.median(measured[is_connected & (depth == 2)])),
        deep=float(np.median(measured[is_connected & (depth == 3)])),
    )
