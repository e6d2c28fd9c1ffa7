"""Underdetermined regression: Theorem 4, Corollaries 5 and 6, Remark 4, Lemma 5.1."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Claim, Facts, Untested, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.tensor_networks.limit_checks import limits_minimise, relative_distances
from learning_dynamics.papers.tensor_networks.regression import quantities
from learning_dynamics.papers.tensor_networks.regression.theory import SMALL, SMALL_DEEP
from learning_dynamics.papers.tensor_networks.squared_flow import FLOW_ERROR
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table, by_draw, select, settings_of

# Settings of these claims, whose values stand in workflow/config/tensor_networks.yaml:
# - ratio: largest distance of the minimiser of Q at a small scale from the solution of least weighted l1 norm,
#   relative to the solution's norm, with three layers and more; chosen


def _check_limits(flows: Table | Sequence[Table], *, printed: Quantity, corrected: Quantity | None = None) -> Claim:
    """Check that the flows' limits are the minimisers of Q, (67), by `limit_checks.check_limits`.

    `printed` and `corrected` are quantities whose predictions are these minimisers: COEFFICIENT has Theorem 4's,
    PRINTED_MINIMISER Corollary 6's as printed (errata 7).
    """
    return limits_minimise(
        "error of the flow's limit, relative to the largest coefficient",
        Draws(flows),
        quantities.COEFFICIENT,
        printed=printed,
        corrected=corrected,
        least_norms={r"the least $\ell_1$ norm": quantities.PLAIN_L1, r"the least $\ell_2$ norm": quantities.PLAIN_L2},
    )


@claim(
    "Theorem 4",
    scope="a random decomposable network with more singular values than inputs, random weights of both signs, two to "
    "four layers, scales over more than two decades",
    quantifier="all draws",
)
def theorem_4(flow: Table) -> Claim:
    r"""In underdetermined regression a real orthogonally decomposable network that starts at $v_l = \alpha U_l
    \bar\eta$ for $l < L$ and $v_L = 0$, no entry of $\bar\eta$ zero, tends to $S^T \rho$, where $\rho$ minimises
    $Q_{L, \alpha, \bar\eta}$ among the global minima.

    The minimiser comes from its own convex program by Newton's method; nothing of the dynamics enters it. $H_L(h_L(t))
    = t\, h_L(t) - q_L(t)^2 / 2$ and $p_L^2 - q_L^2 = 1$ reduce it to $q_L$. The largest error of {draws} limits is
    {value:.1e}.
    """
    return _check_limits(flow, printed=quantities.COEFFICIENT)


@claim(
    "Corollary 5",
    scope="the point of figure 1 with equal weights, random data with random weights of both signs; two to four layers",
    quantifier="all draws",
)
def corollary_5(flows: Sequence[Table]) -> Claim:
    r"""In underdetermined regression diagonal networks that start at $w_l = \alpha \bar w$ for $l < L$ and $w_L = 0$,
    no entry of $\bar w$ zero, tend to the global minimum that minimises $Q_{L, \alpha, \bar w}$.

    The largest error of {draws} limits is {value:.1e}.
    """
    return _check_limits(flows, printed=quantities.COEFFICIENT)


@claim(
    "Corollary 6",
    scope="even random data, even starts whose transform has both signs, two and three layers",
    correction=r"The argument of $Q$ is $d^{-(L-1)/2} F z$, not $F z$; or, the same, $\alpha$ is replaced by "
    r"$\alpha\, d^{(L-1)/(2L)}$ in $Q_{L, \alpha, F \bar w}(F z)$.",
    reason="the printed formula drops the factor $d^{(L-1)/2}$ of the data tensor's singular values",
    quantifier="all draws",
)
def corollary_6(flow: Table) -> Claim:
    r"""On even data, full-length convolutional networks that start at $w_l = \alpha \bar w$ for $l < L$ and $w_L = 0$,
    with an even $\bar w$ whose transform has no zero entry, tend to the even global minimum that minimises $Q_{L,
    \alpha, F \bar w}(F z)$.

    Theorem 4 has the argument $S^{-T} z$, and a full-length convolutional network has $S = d^{(L-1)/2} F$. $H_L$ is not
    homogeneous, so that the factor moves the minimiser, except in the limits $\alpha \to 0$ and $\alpha \to \infty$
    (errata 7). Without the factor the limits are missed by up to {printed:.2g}, with it by at most {value:.1e}.
    """
    return _check_limits(flow, printed=quantities.PRINTED_MINIMISER, corrected=quantities.COEFFICIENT)


@claim(
    "Remark 4",
    scope="diagonal networks on random data with random weights of both signs; two to four layers",
    quantifier="all draws",
)
def remark_4(ends: Table, *, ratio: Positive) -> Claim:
    r"""$Q_{L, \alpha, \bar\eta}$ interpolates between a weighted $\ell_1$ norm ($\alpha \to 0$, weights
    $|\bar\eta|^{2 - L}$) and a weighted $\ell_2$ norm ($\alpha \to \infty$, weights $\bar\eta^{2 - 2L}$), which are the
    plain norms only where all $|\bar\eta_j|$ agree, or at $L = 2$ as $\alpha \to 0$.

    At the largest scale the flow's limit is compared with the solution of least weighted $\ell_2$ norm. From three
    layers on the minimiser of $Q$, which needs no flow, is taken at a scale small enough to separate columns that
    nearly tie. It may differ from the solution of least weighted $\ell_1$ norm by {ratio:g} of the solution's length.
    From the second smallest scale of the flows to the smallest the distance of limits with three layers or more from
    that solution falls by a factor of {fall:.2g} on the median draw.

    At depth two an entry outside the support vanishes like $\alpha^{2 (1 - s)}$, with $s$ the product of its column
    with the multipliers, relative to that of the active columns. Where two columns nearly tie this is slow: at the
    smallest scale of the flows the distance is still up to {two:.2g}. The power is therefore fitted to the minimiser of
    $Q$ at scales from {coarse:.0e} to {fine:.0e}: it is between {slowest:.3f} and {fastest:.3f}.
    """
    # the scales of flows; further scales in the table are those of minimisers without a flow
    smallest, second_smallest, *_, largest = sorted(select(ends, quantities.COEFFICIENT)["scale"].unique())
    deep = Draws(ends, depth=lambda depth: depth > 2)

    def distance_of_limit(norm: Quantity) -> np.ndarray:
        """Return the relative distances of flows' limits, from the largest scale, to a solution of least norm."""
        return relative_distances(Draws(ends, scale=largest), norm)

    def distance_of_minimiser(norm: Quantity) -> np.ndarray:
        """Return those of the minimisers of Q at a small scale, with three layers and more."""
        return relative_distances(deep.where(scale=SMALL_DEEP), quantities.AT_SMALL_SCALE[norm])

    yield every_draw(
        "largest scale: relative distance from the least weighted $\\ell_2$ norm",
        distance_of_limit(quantities.WEIGHTED_L2),
        # alpha^(-2L), by which Q's next term is smaller, for two layers, where it is largest; the factor is chosen
        at_most=1e3 / largest**4,
        because=r"the next term of $Q$ is smaller by $(\rho_j / (\alpha |\bar\eta_j|)^L)^2$",
        rivals={
            r"plain $\ell_2$ in place of the weighted": {"values": distance_of_limit(quantities.PLAIN_L2)},
            "the two ends exchanged": {"values": distance_of_limit(quantities.WEIGHTED_L1)},
        },
    )
    yield every_draw(
        f"three layers and more, minimiser at {SMALL_DEEP:g}: distance from the least weighted $\\ell_1$ norm",
        distance_of_minimiser(quantities.WEIGHTED_L1),
        at_most=ratio,
        because=r"chosen: it falls like $\alpha^{L-2}$ or faster, from constants that ties make large",
        rivals={
            r"plain $\ell_1$ in place of the weighted": {"values": distance_of_minimiser(quantities.PLAIN_L1)},
            "the two ends exchanged": {"values": distance_of_minimiser(quantities.WEIGHTED_L2)},
        },
    )
    power = Draws(ends)[quantities.VANISHING_POWER]  # of two layers, shape (draws,)
    predicted_power = Draws(ends).entries(quantities.VANISHING_POWER, column="predicted")[:, 0]
    yield equal_on_every_draw(
        r"two layers: power of $\alpha$ of entries outside the support of the least $\ell_1$ norm, less its prediction",
        power,
        predicted_power,
        tolerance=10 / (np.e * np.log(1 / SMALL[0])),  # alpha is SMALL[0]; delta alpha^delta <= 1 / (e log(1 / alpha))
        relative_to=1.0,
        because=r"ten times $\max_\delta \delta \alpha^\delta$: what a power larger by $\delta$ changes",
        rivals={
            "with two layers, entries that do not vanish": 0.0,
            r"with two layers, entries that vanish like $\alpha^2$": 2.0,
        },
        scaled=False,  # no smallest error that would be refused is sought: the headline is no equality
    )
    at_second_smallest = relative_distances(deep.where(scale=second_smallest), quantities.WEIGHTED_L1)
    at_smallest = relative_distances(deep.where(scale=smallest), quantities.WEIGHTED_L1)
    yield Facts(
        ratio=ratio,
        fall=float(np.median(at_second_smallest / np.maximum(at_smallest, 1e-300))),  # 1e-300 avoids 0 / 0
        two=float(relative_distances(Draws(ends, scale=smallest, depth=2), quantities.WEIGHTED_L1).max()),
        coarse=SMALL[0],
        fine=SMALL[-1],
        slowest=float(np.min(power)),
        fastest=float(np.max(power)),
    )


@claim(
    "Remark 4, first sentence",
    scope="two to five layers, until |q| passes a thousand",
    correction=r"With three layers and more $H_L(t)$ grows like $c |t|$, with the $c$ of Lemma 5.1. With two it grows "
    r"faster, $H_2(t) / |t| = \frac{1}{2} \log 4 |t| - \frac{1}{2} + o(1)$, and $Q_{2, \alpha, \bar\eta} / \log (1 / "
    r"\alpha)$ is what tends to the $\ell_1$ norm.",
    reason="the inverse of $h_2$ is not bounded",
    quantifier="all draws",
)
def remark_4_growth(functions: Table) -> Claim:
    r"""$H_L(t)$ grows like $|t|$ where $t$ is large, and like $t^2$ where it is small.

    $H_L$ is the integral of the inverse of $h_L$. From three layers on this inverse is bounded by $c$, the time at
    which $p_L$ and $q_L$ blow up; with two layers it is $\mathrm{arcsinh}(2 t) / 2$, which is not bounded. Whether
    $H_L(t) / |t|$ tends to a number is judged by its slope against $\log |t|$ between the last two recorded times: the
    slope is {shallow:.4f} with two layers, and at most {deep:.1e} with more.
    """
    draws = Draws(functions)  # a draw is a depth, forward or backward in time
    penalty = draws.entries(quantities.PENALTY_OVER_H)  # H_L(h) / |h| at the values h, shape (draws, times after zero)
    h = np.abs(draws.entries(quantities.H))  # shape (draws, times), zero first
    q = np.abs(draws.entries(quantities.Q))
    depth = draws.column("depth")
    is_shallow = depth == 2
    if not is_shallow.any() or is_shallow.all():
        raise Untested("needs two layers, and more")
    last_span = np.log(h[:, -1] / h[:, -2])  # of log |t|: the claim's t is h here
    slope = (penalty[:, -1] - penalty[:, -2]) / last_span
    # By parts H_L(h) = t h - q^2 / 2 at the time t of h. With two layers H_2(h) / |h| is log(4 |h|) / 2 - 1/2 and
    # 1 / (4 |h|) more. With more, c - |t| is |q|^(2 - L) / (L - 2) and q^2 / (2 |h|) is |q|^(2 - L) / 2: together
    # H_L(h) / |h| is that much, L / (2 (L - 2)) |q|^(2 - L), below c.
    remainder = 1 / (4 * h[:, -2])
    L = depth[~is_shallow].astype(float)
    remainder[~is_shallow] = L / (2 * (L - 2)) * q[~is_shallow, -2] ** (2 - L)
    error = FLOW_ERROR * settings_of(functions)["integration"]["rtol"]
    yield equal_on_every_draw(
        r"large $t$: slope of $H_L(t) / |t|$ against $\log |t|$, less its prediction",
        slope,
        np.zeros_like(slope),
        tolerance=(remainder + error * penalty[:, -1]) / last_span,
        relative_to=1.0,
        because=r"the distance left to the limit, at most $L / (2 (L - 2)) |q_L|^{2 - L}$, or $1 / (4 |t|)$ where "
        "$L$ is 2, and the integrator's error",
        corrected=np.where(is_shallow, 0.5, 0.0),
        rivals={
            r"$|t| \log |t|$ with two layers, with no factor 1/2": np.where(is_shallow, 1.0, 0.0),
            r"$\frac{1}{2} |t| \log |t|$ at every depth": 0.5,
            r"$|t| \log |t| / L$ at every depth": 1 / depth,
        },
    )
    # at the first time after zero, where H_L(h) / h^2 is `penalty` over h
    yield equal_on_every_draw(
        r"small $t$: $H_L(t) / t^2$ less its prediction",
        penalty[:, 0] / h[:, 1],
        np.full_like(slope, 0.5),
        tolerance=(depth - 1) / 6 * h[:, 1] ** 2 + error,
        relative_to=1.0,
        because=r"the next term is $-(L - 1) t^2 / 6$, and the integrator's error",
        scaled=False,  # the smallest error that would be refused is sought of the headline alone
    )
    yield Facts(shallow=float(slope[is_shallow].mean()), deep=float(np.abs(slope[~is_shallow]).max()))


@claim("Lemma 5.1", scope="two to five layers, until |q| passes a thousand", quantifier="all draws")
def lemma_5_1(functions: Table) -> Claim:
    r"""The solutions $p_L$ and $q_L$ of $\dot p = p^{L-2} q$, $\dot q = p^{L-1}$, $p(0) = 1$, $q(0) = 0$ exist on a
    symmetric interval $(-c, c)$. On it $h_L = p_L^{L-1} q_L$ is odd and strictly increasing from $-\infty$ to $\infty$.

    The lemma leaves $c$ open: it is infinite at depth two and finite from depth three on, $c = B(1/2, (L-2)/2) / 2$,
    that is $\pi / 2$ at depth three and 1 at depth four, because $p_L^2 - q_L^2 = 1$. Both solutions are followed until
    $|q_L|$ passes a thousand; the time of that agrees with its closed form to {passes:.1e}.
    """
    draws = Draws(functions)  # a draw is a depth, forward or backward in time
    settings = settings_of(functions)
    tolerance = FLOW_ERROR * settings["integration"]["rtol"]
    # q_2 is sinh: at depth two |q| passes the bound `last` at arcsinh(last); shape (draws, 1)
    arcsinh_time = draws.column("sign")[:, None] * np.arcsinh(settings["last"])
    # shape (draws, times); sorted, as a flow backward is recorded from 0 down
    h_by_ascending_time = by_draw(functions.sort_values("time"), quantities.H)
    # the closed forms follow from p^2 - q^2 = 1 (`norm_like`); that of h is odd, so that flows both ways test oddness
    yield equal_on_every_draw(
        "time at which $h_L$, forward and backward, takes a value, against its odd closed form",
        *draws.with_prediction(quantities.TIME_OF_H),
        tolerance=tolerance,
        because="the integrator's tolerance, amplified at most a hundredfold",
    )
    yield every_draw(
        "recorded times at which $h_L$ is not above its previous value",
        (np.diff(h_by_ascending_time) <= 0).sum(axis=1),
        at_most=0.0,
        because="strictly increasing",
    )
    yield equal_on_every_draw(
        "time at which $|q_L|$ passes the bound, relative error",
        *draws.with_prediction(quantities.TIME_OF_LAST_Q),
        tolerance=tolerance,
        because="the integrator's tolerance, amplified at most a hundredfold",
        # draws of three layers and more refuse it
        rivals={r"$\operatorname{arcsinh}$ at every depth, as at depth two": arcsinh_time},
        fact="passes",
    )
