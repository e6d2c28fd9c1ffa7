"""Underdetermined regression: Theorem 4, Corollaries 5 and 6, Remark 4, Lemma 5.1.

- The network has L layers v_l and coefficients beta, f(x) = x^T beta, and is trained on the points in the rows of X
  with labels y. Its data tensor has matrices S and U_l (Assumption 1): beta is S^T rho, where rho is the entrywise
  product of the layers' singular coordinates U_l^T v_l. Diagonal networks have S = U_l = I. Full-length convolutional
  networks have S = d^((L-1)/2) F and U_l = F^*, with the unitary discrete Fourier transform F of d inputs.
- Layers start at v_l = alpha U_l eta for l < L and v_L = 0, with the initial scale alpha and the weights eta, the
  paper's bar-eta: every singular coordinate but the last layer's starts at alpha eta_j.
- p_L, q_L and h_L are the functions of Lemma 5.1, and H_L is the integral of the inverse of h_L from zero.
- Q(rho) = sum_j (alpha eta_j)^2 H_L(rho_j / (alpha |eta_j|)^L) is the function of Theorem 4. "The minimiser of Q" is
  beta = S^T rho at the rho of least Q(rho) among those that fit all labels, X S^T rho = y.
- Of a limit, tables have one measured number, an entry beta_j of where the flow ends, under several names. These
  quantities differ in the column `predicted` alone: a claim reads what is predicted, and what rivals predict, from
  them.

Where claims are on limits, a draw is a data set with weights of its own, a depth and a scale. A draw whose flow did not
converge is nan, and the judge counts it as undecided.
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Check, Claim, Facts, Untested, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.tensor_networks.limit_checks import RIVAL_MINIMISERS, limits_equal, relative_distances
from learning_dynamics.papers.tensor_networks.regression import quantities
from learning_dynamics.papers.tensor_networks.regression.theory import SMALL, SMALL_DEEP
from learning_dynamics.papers.tensor_networks.squared_flow import FLOW_ERROR
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table, by_draw, select, settings_of

# The setting of `remark_4`, whose value is in workflow/config/tensor_networks.yaml:
# - ratio: largest distance of the minimiser of Q at a small scale from the solution of least weighted l1 norm,
#   relative to the solution's norm, with three layers and more; chosen

# rivals of the minimiser of Q by their phrases, with the quantities whose predictions they are
RIVAL_LIMITS = {
    **RIVAL_MINIMISERS,
    r"the least $\ell_1$ norm": quantities.PLAIN_L1,  # of rho
    r"the least $\ell_2$ norm": quantities.PLAIN_L2,  # of rho
}


def _ends_at_minimiser(
    flows: Table | Sequence[Table], *, printed: Quantity, corrected: Quantity | None = None
) -> Check:
    """Check that every flow's limit is the minimiser of Q, (67), entry by entry.

    `printed` and `corrected` are quantities whose predictions are this minimiser: COEFFICIENT has Theorem 4's,
    PRINTED_MINIMISER Corollary 6's as printed (errata 7).
    """
    draws = Draws(flows)

    def predicted(quantity: Quantity) -> np.ndarray:
        """Return the limit that is the prediction of a quantity, shape (draws, inputs)."""
        return draws.entries(quantity, column="predicted")

    return limits_equal(
        "error of the flow's limit, relative to the largest coefficient",
        draws,
        draws.entries(quantities.COEFFICIENT),
        predicted(printed),
        # other predictions, which `limits_equal` takes by @takes_rivals
        corrected=None if corrected is None else predicted(corrected),
        rivals={phrase: predicted(quantity) for phrase, quantity in RIVAL_LIMITS.items()},
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

    $S$ and $U_l$ are the matrices of the data tensor (Assumption 1), and $Q_{L, \alpha, \bar\eta}(\rho) = \alpha^2
    \sum_j \bar\eta_j^2\, H_L(\rho_j / (\alpha |\bar\eta_j|)^L)$, with the integral $H_L$ of the inverse of the $h_L$ of
    Lemma 5.1. The minimiser comes from its own convex program by Newton's method; nothing of the dynamics
    enters it. Of {draws} limits the largest error is {value:.1e} of the largest coefficient.
    """
    yield _ends_at_minimiser(flow, printed=quantities.COEFFICIENT)


@claim(
    "Corollary 5",
    scope="the point of figure 1, $x = (1, 2)$ with label 1, from equal weights; random data, from random weights of "
    "both signs; two to four layers",
    quantifier="all draws",
)
def corollary_5(flows: Sequence[Table]) -> Claim:
    r"""In underdetermined regression diagonal networks that start at $w_l = \alpha \bar w$ for $l < L$ and $w_L = 0$,
    no entry of $\bar w$ zero, tend to the global minimum that minimises $Q_{L, \alpha, \bar w}$.

    This is Theorem 4 with $S = U_l = I$, $\rho = \beta$ and $\bar\eta = \bar w$: $Q_{L, \alpha, \bar w}(\beta) =
    \alpha^2 \sum_j \bar w_j^2\, H_L(\beta_j / (\alpha |\bar w_j|)^L)$, where $H_L$ is the integral of the inverse of
    Lemma 5.1's $h_L$. Of {draws} limits the largest error is {value:.1e} of the largest coefficient.
    """
    yield _ends_at_minimiser(flows, printed=quantities.COEFFICIENT)


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

    A vector is even if it is symmetric about its first entry. $F$ is the unitary discrete Fourier transform of $d$
    inputs, and $Q$ the function of Theorem 4. There its argument is $S^{-T} z$, and a full-length convolutional network
    has $S = d^{(L-1)/2} F$. $Q$ is not homogeneous, so that the factor moves the minimiser, except in the limits
    $\alpha \to 0$ and $\alpha \to \infty$ (errata 7). Without the factor the formula misses limits by up to
    {printed:.2g} of their largest coefficient, with it by at most {value:.1e}.
    """
    yield _ends_at_minimiser(flow, printed=quantities.PRINTED_MINIMISER, corrected=quantities.COEFFICIENT)


@claim(
    "Remark 4",
    scope="diagonal networks on random data with random weights of both signs; two to four layers",
    quantifier="all draws",
)
def remark_4(ends: Table, *, ratio: Positive) -> Claim:
    r"""$Q_{L, \alpha, \bar\eta}$ interpolates between a weighted $\ell_1$ norm ($\alpha \to 0$, weights
    $|\bar\eta|^{2 - L}$) and a weighted $\ell_2$ norm ($\alpha \to \infty$, weights $\bar\eta^{2 - 2L}$), which are the
    plain norms only where all $|\bar\eta_j|$ agree, or at $L = 2$ as $\alpha \to 0$.

    $Q$ is the function of Theorem 4, $\bar\eta$ the initial direction of all layers but the last in singular
    coordinates. At the largest scale the flow's limit is compared with the interpolator of least weighted $\ell_2$
    norm. At smaller scales than the flows have, the minimiser of $Q$ itself is compared, for which no flow is needed.
    With three layers or more it may differ from the interpolator of least weighted $\ell_1$ norm by {ratio:g} of the
    latter's length. From the second smallest scale of the flows to the smallest, the distance of limits from that
    interpolator falls by a factor of {median_fall:.2g} on the median draw.

    With two layers an entry that is zero in the least $\ell_1$ norm vanishes like $\alpha^{2 (1 - s)}$. Here $s$ is the
    size of the product of its column of $X$ with the multipliers of that norm, relative to the products of columns
    whose entries stay. Where $s$ is nearly one this is slow: at the smallest scale of the flows the distance is still
    up to {largest_distance_of_two_layers:.2g} of the interpolator's length. The power is therefore fitted to the
    minimiser of $Q$ at scales from {larger_fitted_scale:.0e} to {smaller_fitted_scale:.0e}: it is between
    {least_power:.3f} and {largest_power:.3f}.
    """
    # the scales of flows; the table also has minimisers of Q at smaller scales, which no flow reached
    smallest, second_smallest, *_, largest = sorted(select(ends, quantities.COEFFICIENT)["scale"].unique())
    deep = Draws(ends, depth=lambda depth: depth > 2)

    # `norm` names a quantity whose prediction is the interpolator of least norm, WEIGHTED_L1 for example
    def distance_of_limit(norm: Quantity) -> np.ndarray:
        """Return the relative distances of limits of flows from the largest scale to it, shape (draws,)."""
        return relative_distances(Draws(ends, scale=largest), norm)

    def distance_of_minimiser(norm: Quantity) -> np.ndarray:
        """Return those of the minimisers of Q at SMALL_DEEP, with three layers and more, shape (draws,)."""
        return relative_distances(deep.where(scale=SMALL_DEEP), quantities.AT_SMALL_SCALE[norm])

    # A rival of the first two checks is another solution: the distance from it has to meet the same bound. "The two
    # ends exchanged" is one rival, which alters both checks.
    yield every_draw(
        "largest scale: relative distance from the least weighted $\\ell_2$ norm",
        distance_of_limit(quantities.WEIGHTED_L2),
        # alpha^(-2L) is largest with two layers; the factor, for (rho_j / |eta_j|^L)^2, is chosen
        at_most=1e3 / largest**4,
        because=r"a thousand times $\alpha^{-4}$, chosen: the next term of $Q$ is smaller by "
        r"$(\rho_j / (\alpha |\bar\eta_j|)^L)^2$",
        rivals={
            r"plain $\ell_2$ in place of the weighted": {"values": distance_of_limit(quantities.PLAIN_L2)},
            "the two ends exchanged": {"values": distance_of_limit(quantities.WEIGHTED_L1)},
        },
    )
    yield every_draw(
        f"three layers and more, minimiser of $Q$ at a scale of {SMALL_DEEP:g}: relative distance from the least "
        r"weighted $\ell_1$ norm",
        distance_of_minimiser(quantities.WEIGHTED_L1),
        at_most=ratio,
        because=r"chosen: the distance falls like $\alpha^{L-2}$ or faster, times constants that are large where "
        "columns of the data nearly tie",
        rivals={
            r"plain $\ell_1$ in place of the weighted": {"values": distance_of_minimiser(quantities.PLAIN_L1)},
            "the two ends exchanged": {"values": distance_of_minimiser(quantities.WEIGHTED_L2)},
        },
    )
    # Of two layers: the power of alpha with which the largest entry outside the support of the least l1 norm vanishes,
    # fitted between the two scales SMALL, and 2 (1 - s). Both are nan, and the draw is undecided, where the multipliers
    # are not unique. A draw of this check is a data set.
    power = Draws(ends)[quantities.VANISHING_POWER]
    predicted_power = Draws(ends).entries(quantities.VANISHING_POWER, column="predicted")[:, 0]
    yield equal_on_every_draw(
        r"two layers: power of $\alpha$ of entries outside the support of the least $\ell_1$ norm, less its prediction",
        power,
        predicted_power,
        # An entry whose power is larger by delta adds the share alpha^delta, and delta alpha^delta to the power. This
        # is largest at delta = 1 / log(1 / alpha), where it is 1 / (e log(1 / alpha)); of the two scales alpha is the
        # larger one, SMALL[0]. The factor ten is chosen.
        tolerance=10 / (np.e * np.log(1 / SMALL[0])),
        relative_to=1.0,  # errors of powers are not divided by anything
        because=r"ten times $\max_\delta \delta \alpha^\delta$, chosen: an entry whose power is larger by $\delta$ "
        r"changes the power by $\delta \alpha^\delta$",
        rivals={
            "with two layers, entries that do not vanish": 0.0,
            r"with two layers, entries that vanish like $\alpha^2$": 2.0,
        },
        scaled=False,  # no smallest error that would be refused is sought: the headline is no equality
    )
    # the rest is for the text
    at_second_smallest = relative_distances(deep.where(scale=second_smallest), quantities.WEIGHTED_L1)
    at_smallest = relative_distances(deep.where(scale=smallest), quantities.WEIGHTED_L1)
    yield Facts(
        ratio=ratio,
        median_fall=float(np.median(at_second_smallest / np.maximum(at_smallest, 1e-300))),  # 1e-300 avoids 0 / 0
        largest_distance_of_two_layers=float(
            relative_distances(Draws(ends, scale=smallest, depth=2), quantities.WEIGHTED_L1).max()
        ),
        larger_fitted_scale=SMALL[0],
        smaller_fitted_scale=SMALL[-1],
        least_power=float(np.min(power)),
        largest_power=float(np.max(power)),
    )


@claim(
    "Remark 4, first sentence",
    scope="two to five layers, until $|q_L|$ passes a thousand",
    correction=r"With three layers and more $H_L(t)$ grows like $c |t|$, with the $c$ of Lemma 5.1. With two it grows "
    r"faster, $H_2(t) / |t| = \frac{1}{2} \log 4 |t| - \frac{1}{2} + o(1)$, and $Q_{2, \alpha, \bar\eta} / \log (1 / "
    r"\alpha)$ is what tends to the $\ell_1$ norm.",
    reason="the inverse of $h_2$ is not bounded",
    quantifier="all draws",
)
def remark_4_growth(functions: Table) -> Claim:
    r"""$H_L(t)$ grows like $|t|$ where $t$ is large, and like $t^2$ where it is small.

    $H_L$ is the integral of the inverse of $h_L = p_L^{L-1} q_L$, where $\dot p = p^{L-2} q$, $\dot q = p^{L-1}$, $p(0)
    = 1$ and $q(0) = 0$. From three layers on this inverse is bounded by $c$, the time at which $p_L$ and $q_L$ blow up;
    with two layers it is $\mathrm{arcsinh}(2 t) / 2$, which is not bounded. Whether $H_L(t) / |t|$ tends to a number is
    judged by its slope against $\log |t|$ between the last two recorded values: the slope is {slope_of_two_layers:.4f}
    with two layers, and at most {largest_slope_of_more:.1e} with more.
    """
    # A draw is a depth L, forward or backward in time. The functions p, q and h are recorded over time, and H_L(h) is
    # measured at the values of h: what the claim calls t is h here.
    draws = Draws(functions)
    penalty = draws.entries(quantities.PENALTY_OVER_H)  # H_L(h) / |h|, shape (draws, times after zero)
    h = np.abs(draws.entries(quantities.H))  # h_L, shape (draws, times), zero first
    q = np.abs(draws.entries(quantities.Q))  # q_L, shape (draws, times)
    depth = draws.column("depth")
    is_shallow = depth == 2
    if not is_shallow.any() or is_shallow.all():
        raise Untested("needs two layers, and more")
    last_span = np.log(h[:, -1] / h[:, -2])
    slope = (penalty[:, -1] - penalty[:, -2]) / last_span
    # By how much H_L(h) / |h| may still rise from the last time but one, beyond what is predicted. By parts it is
    # |time| - q^2 / (2 |h|). With two layers this is log(4 |h|) / 2 - 1/2, and 1 / (4 |h|) more. With more layers
    # c - |time| is |q|^(2 - L) / (L - 2), and q^2 / (2 |h|) is |q|^(2 - L) / 2: the value is below c by the sum of
    # both, L / (2 (L - 2)) |q|^(2 - L).
    remainder = 1 / (4 * h[:, -2])
    L = depth[~is_shallow].astype(float)
    remainder[~is_shallow] = L / (2 * (L - 2)) * q[~is_shallow, -2] ** (2 - L)
    # of one value, relative; FLOW_ERROR is more than twice what was seen, and leaves room for both values of a slope
    error = FLOW_ERROR * settings_of(functions)["integration"]["rtol"]
    yield equal_on_every_draw(
        r"large $t$: slope of $H_L(t) / |t|$ against $\log |t|$, less its prediction",
        slope,
        np.zeros_like(slope),
        tolerance=(remainder + error * penalty[:, -1]) / last_span,
        relative_to=1.0,  # errors of slopes are not divided by anything
        because=r"the distance left to the limit, at most $L / (2 (L - 2)) |q_L|^{2 - L}$, or $1 / (4 |t|)$ where "
        r"$L$ is 2, and the integrator's error, both over the step in $\log |t|$",
        # the correction and rivals are other slopes, each with one for every draw
        corrected=np.where(is_shallow, 0.5, 0.0),
        rivals={
            r"$|t| \log |t|$ with two layers, with no factor 1/2": np.where(is_shallow, 1.0, 0.0),
            r"$\frac{1}{2} |t| \log |t|$ at every depth": 0.5,
            r"$|t| \log |t| / L$ at every depth": 1 / depth,
        },
    )
    # H_L(h) / h^2 at the first time after zero; a series of it begins with 1/2 - (L - 1) h^2 / 6. The correction says
    # the same of it as the paper, and rivals are about large t alone.
    yield equal_on_every_draw(
        r"small $t$: $H_L(t) / t^2$ less its prediction",
        penalty[:, 0] / h[:, 1],
        np.full_like(slope, 0.5),
        tolerance=(depth - 1) / 6 * h[:, 1] ** 2 + error,
        relative_to=1.0,  # the error itself
        because=r"the next term is $-(L - 1) t^2 / 6$, and the integrator's error",
        scaled=False,  # the smallest error that would be refused is sought of the headline alone
    )
    yield Facts(
        slope_of_two_layers=float(slope[is_shallow].mean()),
        largest_slope_of_more=float(np.abs(slope[~is_shallow]).max()),
    )


@claim("Lemma 5.1", scope="two to five layers, until $|q_L|$ passes a thousand", quantifier="all draws")
def lemma_5_1(functions: Table) -> Claim:
    r"""The solutions $p_L$ and $q_L$ of $\dot p = p^{L-2} q$, $\dot q = p^{L-1}$, $p(0) = 1$, $q(0) = 0$ exist on a
    symmetric interval $(-c, c)$. On it $h_L = p_L^{L-1} q_L$ is odd and strictly increasing from $-\infty$ to $\infty$.

    The lemma leaves $c$ open. Because $p_L^2 - q_L^2 = 1$, it is infinite at depth two. From depth three on it is
    finite, $c = B(1/2, (L-2)/2) / 2$ with the beta function $B$: $\pi / 2$ at depth three and 1 at depth four. Both
    solutions are followed until $|q_L|$ passes a thousand; the time of that agrees with its closed form to
    {largest_time_error:.1e}.
    """
    draws = Draws(functions)  # a draw is a depth L, forward or backward in time
    settings = settings_of(functions)
    tolerance = FLOW_ERROR * settings["integration"]["rtol"]
    # The times at which |q_L| would pass the setting `last` if q_L were q_2 = sinh at every depth; shape (draws, 1).
    # They are negative backward in time, where the column `sign` is -1.
    arcsinh_time = draws.column("sign")[:, None] * np.arcsinh(settings["last"])
    # shape (draws, times); sorted, as a flow backward is recorded from 0 down
    h_by_ascending_time = by_draw(functions.sort_values("time"), quantities.H)
    # The closed forms follow from p^2 - q^2 = 1 (`norm_like`); that of h is odd, so that flows both ways test oddness.
    # By default errors are relative to the draw's largest measured time.
    yield equal_on_every_draw(
        "time at which $h_L$, forward and backward, takes a value, against its odd closed form",
        *draws.with_prediction(quantities.TIME_OF_H),
        tolerance=tolerance,
        because="the integrator's tolerance, amplified at most a hundredfold",
    )
    yield every_draw(
        "number of recorded times at which $h_L$ is not above its previous value",
        (np.diff(h_by_ascending_time) <= 0).sum(axis=1),
        at_most=0.0,
        because="strictly increasing",
    )
    yield equal_on_every_draw(
        f"time at which $|q_L|$ passes {settings['last']:g}, relative error",
        *draws.with_prediction(quantities.TIME_OF_LAST_Q),
        tolerance=tolerance,
        because="the integrator's tolerance, amplified at most a hundredfold",
        # other times, which two layers do have: draws of three layers and more refuse the rival
        rivals={r"$\operatorname{arcsinh}$ at every depth, as at depth two": arcsinh_time},
        fact="largest_time_error",
    )
