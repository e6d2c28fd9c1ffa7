"""Deep fully connected networks: Theorem 6, and the steps (84), (88) and (93) of its proof.

- The layers are square matrices W_1, ..., W_(L-1) and a vector w_L, the same as W_L in formulas; they start at alpha
  times their initial directions, the paper's bar-W_l. alpha is the initial scale, lambda the number of Theorem 6.1.
- beta are the coefficients, f(x) = x^T beta; X has the points in its rows, y are the labels, r the residuals
  f(x_i) - y_i, X^+ the pseudo-inverse of X. beta_* is the interpolator of least l2 norm, X^+ y.
- s_l, u_l and v_l are the top singular value of W_l and its left and right singular vectors.
- The runs start at the identity, W_l = alpha I and w_L = 0; at descending layers, random ones within the conditions of
  Theorem 6.1; at Gaussian layers, which need not fulfil them; or at silent ones: descending, but with the last two
  layers zero, so that lambda is zero.

A draw is a data set, or random layers, at one depth. A flow is a draw from one scale. A flow that the integrator gave
up is nan, and the judge counts it, or its draw, as undecided.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from learning_dynamics.evidence import Estimate, mean
from learning_dynamics.judging import (
    NOT_CLAIMED,
    Claim,
    Facts,
    at_least,
    claim,
    equal,
    equal_on_every_draw,
    every_draw,
)
from learning_dynamics.papers.tensor_networks.deep_networks import quantities
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table, settings_of

# Settings of these claims, whose values are in workflow/config/tensor_networks.yaml:
# - order, of `theorem_6_bias` and `theorem_6_any_directions`: least mean power of alpha in the distance from the
#   least-norm interpolator; chosen, as any above zero will do
# - tolerance, of `equation_88`: error of the power of alpha in the distance from rank one, in the mean over draws;
#   chosen, a fifth of the distance from the corrected power to the nearest rival

# A rival of the least l2 norm. With two layers it is the least l_(2/L) norm too; with more, tables do not have the
# distance from the interpolator of least l_(2/L) norm.
LEAST_L1 = r"the least $\ell_1$ norm"


def _by_scale(*tables: Table) -> Draws:
    """Return draws whose quantities have one entry for each scale alpha, in ascending order."""
    return Draws([table.sort_values("scale", kind="stable") for table in tables])


def _of_flows(draws: Draws, quantity: Quantity, *, column: str = "value") -> np.ndarray:
    """Return a quantity of each flow, that is of each draw at each scale, shape (flows,).

    Tables may differ in their numbers of scales: flows of one table come after those of another.
    """
    return draws.per_table(lambda of_table: of_table.entries(quantity, column=column).ravel())


def _powers(draws: Draws, quantity: Quantity) -> np.ndarray:
    """Return the power of alpha in a quantity between the two smallest scales, shape (draws,); draws are by scale."""

    def powers_of_table(of_table: Draws) -> np.ndarray:
        smallest, next_smallest, *_ = np.unique(of_table.tables[0]["scale"])
        values = of_table.entries(quantity)  # shape (draws, scales)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values[:, 1] / values[:, 0]) / np.log(next_smallest / smallest)

    return draws.per_table(powers_of_table)


@claim(
    "Theorem 6.1",
    scope="random data; the identity and random layers within the conditions; three and six inputs, two to five "
    "layers; scales from 0.01 to 1",
    quantifier="all draws",
)
def theorem_6_convergence(
    identity: Sequence[Table], descending: Sequence[Table], gaussian: Sequence[Table], silent: Sequence[Table]
) -> Claim:
    r"""Deep fully connected networks bring the loss to zero from any scale, if each layer dominates the next, $\bar
    W_l^T \bar W_l \succeq \bar W_{l+1} \bar W_{l+1}^T$, and $\bar W_{L-1}^T \bar W_{L-1} \succeq \bar w_L \bar w_L^T +
    \lambda I$ with $\lambda > 0$.

    Layers start at $W_l = \alpha \bar W_l$ and $w_L = \alpha \bar w_L$, and $A \succeq B$ says that $A - B$ is positive
    semidefinite. A flow that stays at a saddle counts against the claim. With the last two layers zero every condition
    holds but $\lambda > 0$, and the start is a saddle: all {silent_flows} flows from there keep the labels as their
    residual. The conditions are sufficient, not necessary: of the flows from Gaussian layers, which do not enter the
    verdict, {gaussian_converged} of {gaussian_flows} converge too.
    """
    within = [*identity, *descending]  # tables of flows within the conditions
    gaussian_residuals = _residuals(gaussian)
    # the residual, relative to the largest label, at which flows stop
    precision = max(settings_of(table)["integration"]["residual"] for table in (*within, *silent))
    # a rival that alters both checks; each refuses it
    stays = r"networks stay at the saddle within the conditions as with $\lambda = 0$"
    yield every_draw(
        "residual at the end, relative to the labels",
        _residuals(within),
        at_most=precision,
        because="the residual at which flows stop; a flow that stays at a saddle keeps one of order one",
        # other flows, whose residuals have to meet the same bound
        rivals={
            r"$\lambda = 0$ is enough": {"values": _residuals([*within, *silent])},
            stays: {"values": _residuals(silent)},
        },
    )
    yield equal_on_every_draw(
        r"residual at the end with $\lambda = 0$, less one",
        _residuals(silent),
        1.0,
        tolerance=precision,  # relative to the residual that is measured, one
        because="a network that stays zero; the precision asked for",
        # by the rival flows within the conditions have a residual of one as well
        rivals={stays: {"measured": _residuals([*identity, *silent])}},
        scaled=False,  # no smallest error that would be refused is sought: the headline is no equality
    )
    yield Facts(
        gaussian_converged=int((gaussian_residuals <= precision).sum()),
        gaussian_flows=gaussian_residuals.size,
        silent_flows=_residuals(silent).size,
    )


def _residuals(tables: Sequence[Table]) -> np.ndarray:
    """Return max_i |f(x_i) - y_i| / max_i |y_i| where the flows end, shape (flows,)."""
    return _of_flows(Draws(tables), quantities.RESIDUAL)


@claim(
    "Theorem 6.2",
    scope="random data; random layers within the conditions of 6.1, and the identity; three and six inputs, two to "
    "five layers; scales down to 0.01",
    quantifier="all draws",
)
def theorem_6_bias(identity: Sequence[Table], descending: Sequence[Table], *, order: Positive) -> Claim:
    r"""If the loss tends to zero, then as $\alpha \to 0$ the limit of a deep fully connected network tends to the
    interpolator of least $\ell_2$ norm, whatever the depth.

    Layers start at $\alpha$ times their initial directions $\bar W_l$. From random layers every limit, at every scale,
    has a distance from that interpolator $\beta_*$, relative to $\|\beta_*\|$, of at most $a / p$ plus what the
    residual at which flows stop leaves. Here $a = \alpha \|P \bar W_1\|$ with the projection $P$ off the span of the
    data. And $p$ is a lower bound on $\|\beta_*\| / \|W_2 \cdots w_L\|$, which follows from what the layers conserve
    and tends to $\|\beta_*\|^{1/L}$ as $\alpha \to 0$ (docs/tensor_networks.md). The largest distance
    in units of its bound is {largest_over_bound:.2g}. On average the distance falls like $\alpha^q$ with $q$ =
    {power:.3f}, where at least {order:g} is asked for. On single draws the power can be another: where the span leaves
    out one dimension, the component there may change its sign between two scales.

    From the identity the limit is the least-norm interpolator at every $\alpha$, which is more than the theorem says.
    The gradient of each layer is the outer product of two vectors in the span of the data, so that every layer stays a
    multiple of the identity plus a matrix within the span.
    """
    yield from _tends_to_least_norm(descending, order)
    flows = Draws(identity)
    # shape (flows,): |X^+| |r| / |beta_*| at the residual r at which flows stop
    allowed = _of_flows(flows, quantities.DISTANCE_BOUND_OF_RESIDUAL)
    yield every_draw(
        "from the identity: distance, in units of what the residual allows",
        _of_flows(flows, quantities.DISTANCE_FROM_LEAST_L2) / allowed,
        at_most=1.0,
        because="a residual leaves at most its norm over the least singular value of the data",
        # the distance from another interpolator, in the same units
        rivals={LEAST_L1: {"values": _of_flows(flows, quantities.DISTANCE_FROM_LEAST_L1) / allowed}},
    )


def _tends_to_least_norm(tables: Sequence[Table], order: float) -> Claim:
    """Check how far limits are from the least norm: within a bound at every alpha, and falling as alpha does.

    The bound on every draw decides: it is of order alpha, so that distances within it tend to zero. The power is a mean
    of draws, as that of a single one can differ (docs/tensor_networks.md). A draw is left out if one of its flows ends
    at a saddle, and undecided if the integrator gave one up.
    """
    draws = _by_scale(*tables)
    # A flow counts as ended at a saddle if its residual exceeds the square root of the residual at which flows stop:
    # the geometric mean of this one and of one, the order of a saddle's; shape (draws, 1)
    least_at_saddle = np.sqrt(draws.setting("integration.residual"))[:, None]
    # the residual of a flow given up is nan, which compares as false
    ends_at_saddle = (draws.entries(quantities.RESIDUAL) > least_at_saddle).any(axis=1)
    converged = ~ends_at_saddle
    followed = converged & np.isfinite(draws.largest(quantities.DISTANCE_FROM_LEAST_L2))
    excluded = {"the loss does not vanish, of which the theorem says nothing": int(ends_at_saddle.sum())}
    n_given_up = int((converged & ~followed).sum())

    def largest_ratio(distance: Quantity) -> np.ndarray:
        """Return the largest |beta - beta_*| / |beta_*| over its bound, at any scale, one a draw that converged."""
        # shape (draws, scales)
        ratios = draws.per_table(lambda table: table.entries(distance) / table.entries(quantities.DISTANCE_BOUND))
        return ratios.max(axis=1)[converged]

    def mean_power(distance: Quantity) -> Estimate:
        """Return the mean power of alpha in a distance, over the draws that were followed; others are missing."""
        return replace(mean(_powers(draws, distance)[followed]), draws=int(converged.sum()), missing=n_given_up)

    yield every_draw(
        "largest relative distance in units of its bound, of order $\\alpha$",
        largest_ratio(quantities.DISTANCE_FROM_LEAST_L2),
        at_most=1.0,
        because=r"$a / p$, $a = \alpha \|P \bar W_1\|$, with $P$ the projection off the span of the data, derived in "
        "docs/tensor_networks.md, and the residual's part",
        excluded=excluded,
        # the distance from another interpolator, in units of the same bound
        rivals={LEAST_L1: {"values": largest_ratio(quantities.DISTANCE_FROM_LEAST_L1)}},
        fact="largest_over_bound",
    )
    yield at_least(
        "power of $\\alpha$ in the distance, between the two smallest scales, mean of draws",
        mean_power(quantities.DISTANCE_FROM_LEAST_L2),
        order,
        because="chosen: a distance with any power above zero vanishes, and one is what the first layer's start leaves",
        excluded=excluded,
        rivals={LEAST_L1: {"estimate": mean_power(quantities.DISTANCE_FROM_LEAST_L1)}},
        fact="power",
    )
    yield Facts(order=order)


@claim(
    "Theorem 6.2",
    scope="random data; Gaussian layers, not made to fulfil 6.1's conditions; three and six inputs, two to five "
    "layers; scales down to 0.01",
    quantifier="all draws",
)
def theorem_6_any_directions(gaussian: Sequence[Table], *, order: Positive) -> Claim:
    r"""The bias towards the least $\ell_2$ norm as $\alpha \to 0$ holds for any initial directions from which the loss
    tends to zero, not only for those of Theorem 6.1.

    Layers start at $\alpha$ times their initial directions. At every scale the distance of the limit from the
    interpolator of least $\ell_2$ norm, relative to this norm, is at most {largest_over_bound:.2g} of its bound. This
    is the one for `theorem_6_bias`, of order $\alpha$. The distance falls like $\alpha^{p}$ with $p$ = {power:.3f} on
    average over {draws} draws, where at least {order:g} is asked for.
    """
    return _tends_to_least_norm(gaussian, order)


@claim(
    "proof of equation (84), appendix H.1",
    scope="random square layers that fulfil the conditions of Theorem 6.1 and no more; three to five layers",
    correction=r"The first inequality holds up to three layers, the second up to two; (84) itself follows "
    r"from $\sigma_{\min}(W_l) \geq \sigma_{\min}(W_{l+1})$, because the least singular value of a product of square "
    "matrices is at least the product of theirs.",
    quantifier="all draws",
    reason="squaring an inequality of matrices does not keep it",
)
def equation_84(layers: Table) -> Claim:
    r"""Square layers of which each dominates the next fulfil $P^T P \succeq A^{L-1}$, $A^{L-1} \succeq (A - w_L
    w_L^T)^{L-1}$ and $(A - w_L w_L^T)^{L-1} \succeq \lambda^{L-1} I$, with $P = W_1 \cdots W_{L-1}$ and $A = W_{L-1}^T
    W_{L-1}$.

    Each layer dominates the next if $W_l^T W_l \succeq W_{l+1} W_{l+1}^T$ for all $l < L$, with $w_L$ as $W_L$;
    $\lambda$ is the least eigenvalue of $A - w_L w_L^T$. The proof of the first two inequalities squares others, and
    squaring does not keep the order of matrices. Of {draws} draws with four layers or more {breaking_first_step} break
    the first, and of {draws_of_three_or_more} draws with three or more {breaking_second_step} break the second. The
    theorem needs $P^T P \succeq \lambda^{L-1} I$ alone. This holds on every draw: the least eigenvalue of $P^T P$ is at
    least {value:.3g} times $\lambda^{L-1}$.
    """
    draws = Draws(layers)  # arrays below have shape (draws,)
    # of products of 2 (L - 1) matrices, relative to what each check divides by; chosen: thousands of units of roundoff
    rounding = 1e-12
    depth = draws.column("depth")
    # least eigenvalues: of P^T P - A^(L-1), over the largest of P^T P; and of A^(L-1) - (A - w_L w_L^T)^(L-1), over
    # the largest of A^(L-1)
    first_step = draws[quantities.FIRST_DIFFERENCE]
    second_step = draws[quantities.SECOND_DIFFERENCE]

    def up_to(most_layers: int, step: np.ndarray) -> Any:
        """Return the argument of a step's check that claims the step for at most `most_layers` layers.

        It is `NOT_CLAIMED`, so that the check takes no part, if no draw has so few.
        """
        is_claimed = depth <= most_layers
        return {"values": step[is_claimed]} if is_claimed.any() else NOT_CLAIMED

    yield every_draw(
        r"least eigenvalue of the product, in units of $\lambda^{L-1}$",
        # of P^T P, with lambda the least eigenvalue of A - w_L w_L^T, so that the third step holds
        draws[quantities.PRODUCT_OVER_LEAST],
        at_least=1 - rounding,
        because="rounding",
        # the same in units of a larger number
        rivals={
            r"with the largest eigenvalue in place of $\lambda$": {"values": draws[quantities.PRODUCT_OVER_LARGEST]},
        },
    )
    # The correction claims the steps up to some depths alone, and a rival up to one depth more. Each rival alters one
    # of the next two checks; the other is then as corrected.
    yield every_draw(
        "first step: least eigenvalue of the difference, relative",
        first_step,
        at_least=-rounding,
        because="rounding",
        corrected=up_to(3, first_step),
        rivals={"the chain with four layers too": up_to(4, first_step)},
    )
    yield every_draw(
        "second step: least eigenvalue of the difference, relative",
        second_step,
        at_least=-rounding,
        because="rounding",
        corrected=up_to(2, second_step),
        rivals={"the second step with three layers too": up_to(3, second_step)},
    )
    is_deep = depth > 3
    yield Facts(
        draws=int(is_deep.sum()),
        breaking_first_step=int((first_step[is_deep] < -rounding).sum()),
        draws_of_three_or_more=len(depth),
        breaking_second_step=int((second_step < -rounding).sum()),
    )


@claim(
    "equation (88)",
    scope="random data; random and Gaussian layers; three and six inputs, two to five layers; limits at scales down to "
    "1e-2",
    correction=r"$W_l = s_l u_l v_l^T + O(\alpha)$: (87) bounds the squared Frobenius norm of the remainder by "
    r"$O(\alpha^2)$.",
    reason="a bound on squares was read as a bound on the matrices",
    quantifier="all draws",
)
def equation_88(descending: Sequence[Table], gaussian: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""As the initial scale falls, every matrix of a deep fully connected network is of rank one up to a remainder of
    order $\alpha^2$, $W_l = s_l u_l v_l^T + O(\alpha^2)$.

    $s_l$, $u_l$ and $v_l$ are the top singular value of $W_l$ and its vectors. By (87) the squares of all other
    singular values sum to at most a multiple of $\alpha^2$; the root of this, the norm of the remainder, is of order
    $\alpha$. Between the two smallest scales the power of $\alpha$ in the largest remainder is {power:.3f} on average.
    On every draw it differs from the corrected power, one, by at most {value:.2g}, where a quarter is allowed. The
    average may be off by {tolerance:g} in addition to its interval.
    """
    # of the largest |W_l - s_l u_l v_l^T|_F of all l < L, at the limit, between the two smallest scales; shape (draws,)
    # The correction's O(alpha) is a bound: a power of one on every draw shows more, that it is attained, and so refutes
    # O(alpha^2).
    powers = _powers(_by_scale(*descending, *gaussian), quantities.DISTANCE_FROM_RANK_ONE)
    rivals = {"order zero: matrices that keep their rank": 0.0, "order three halves": 1.5}
    yield equal_on_every_draw(
        "power of $\\alpha$ in the distance from rank one, less its prediction",
        powers,
        2.0,
        tolerance=0.25,
        relative_to=1.0,  # errors of powers are not divided by anything
        because="halfway to order three halves; at scales of 0.01 to 0.03 the next powers of the scale still show",
        rivals=rivals,  # other powers, in both checks
        corrected=1.0,
    )
    # on average the next powers of single draws cancel in part: the tolerance is narrower
    yield equal(
        "mean power of $\\alpha$ in the distance from rank one",
        mean(powers),
        2.0,
        tolerance=tolerance,
        # the distance of order three halves from the corrected order, one: wider intervals leave the check undecided
        resolution=0.5,
        because="the next powers of the scale, at scales of 0.01 to 0.03",
        rivals=rivals,
        corrected=1.0,
        fact="power",
    )
    yield Facts(tolerance=tolerance)


@claim(
    "equation (93)",
    scope="random data; random and Gaussian layers; three and six inputs, two to five layers; on the way and at the "
    "limit, at every scale run",
    quantifier="all draws",
)
def equation_93(descending: Sequence[Table], gaussian: Sequence[Table]) -> Claim:
    r"""At all times adjacent top singular vectors align, $(v_l^T u_{l+1})^2 \geq 1 - \alpha^2 G_l / s_{l+1}^2$, where
    the initial directions give $G_l$.

    $v_l$ is the top right singular vector of layer $l$, $u_{l+1}$ the top left one of the next, and $s_{l+1}$ its
    singular value. On all {draws} flows the misalignment, $1 - (v_l^T u_{l+1})^2$, is at most {value:.2g} of its bound,
    on the way and at the limit. At limits from the smallest scale it is at most {ratio_at_smallest_scale:.1e} of the
    bound: it falls like $\alpha^{p}$ with $p$ = {power:.2f}. The Gram matrices $W_l^T W_l$ and $W_{l+1} W_{l+1}^T$
    differ by order $\alpha^2$, which turns singular vectors by an angle of that order; its squared sine is of order
    $\alpha^4$.
    """
    draws = _by_scale(*descending, *gaussian)

    def at_smallest_scale(quantity: Quantity) -> np.ndarray:
        """Return a quantity of the flows from the smallest scale, shape (draws,)."""
        return draws.per_table(lambda of_table: of_table.entries(quantity)[:, 0])

    # of each flow the largest (1 - (v_l^T u_(l+1))^2) s_(l+1)^2 / (alpha^2 G_l), and its alpha; shape (flows,)
    at_limit = _of_flows(draws, quantities.MISALIGNMENT_OVER_BOUND)
    on_the_way = _of_flows(draws, quantities.MISALIGNMENT_OVER_BOUND_ON_THE_WAY)
    alpha = _of_flows(draws, quantities.MISALIGNMENT_OVER_BOUND, column="scale")
    # Draws that are left out of the mean. 1 - cos^2 has the rounding of one, which is below a hundredth of 1e-13. A
    # power between the scales 0.01 and 0.03 of what is larger is therefore off by less than 0.01.
    is_rounding = at_smallest_scale(quantities.MISALIGNMENT) < 1e-13
    power = mean(_powers(draws, quantities.MISALIGNMENT)[~is_rounding])

    yield every_draw(
        "largest misalignment $1 - (v_l^T u_{l+1})^2$ in units of the bound",
        np.maximum(at_limit, on_the_way),
        at_most=1.0,
        because="(93) and (94)",
        # other bounds, in units of alpha^2 G_l / s_(l+1)^2; a tenth is chosen, and 5 is above the exponent 4, with
        # which the misalignment falls
        rivals={"a tenth of the bound": 0.1, r"$\alpha^5 G_l / s_{l+1}^2$ as the bound": alpha**3},
        scaled=True,
    )
    yield at_least(
        "power of $\\alpha$ in $1 - (v_l^T u_{l+1})^2$, mean of draws",
        power,
        2.0,
        because="(93) bounds the misalignment by the square of the scale",
        excluded={"below rounding at the smallest scale": int(is_rounding.sum())},
        rivals={r"a misalignment of order $\alpha^5$": 5.0},
    )
    yield Facts(
        power=power.value, ratio_at_smallest_scale=float(at_smallest_scale(quantities.MISALIGNMENT_OVER_BOUND).max())
    )
