"""Deep fully connected networks: Theorem 6, and the steps (88) and (93) of its proof."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learning_dynamics.claims import Finding, Judgement, at_least, claim, equal, every_draw
from learning_dynamics.evidence import Estimate, mean
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, by_draw, select, settings_of

DRAW = ["depth", "seed"]


def _by_scale(table: Table, quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the scales, ascending, and a quantity, shape (draws, scales)."""
    ordered = table.sort_values("scale", kind="stable")
    scales = np.sort(select(table, quantity)["scale"].unique())
    return scales, by_draw(ordered, quantity, draw=DRAW)


def _orders(table: Table, quantity: str, floor: float) -> tuple[np.ndarray, int]:
    """Return each draw's power of alpha between the two smallest scales, and how many draws lie below `floor`."""
    scales, values = _by_scale(table, quantity)
    orders = np.log(values[:, 1] / values[:, 0]) / np.log(scales[1] / scales[0])
    resolved = ~(values[:, 0] < floor)
    return orders[resolved], int((~resolved).sum())


@claim("Theorem 6.1", scope="random data; the identity and random layers within the conditions; two to four layers")
def theorem_6_convergence(identity: Table, descending: Table, gaussian: Table) -> Finding:
    r"""Deep fully connected networks bring the loss to zero from any scale, if each layer dominates the next,
    $\bar W_l^T \bar W_l \succeq \bar W_{l+1} \bar W_{l+1}^T$, the last one by $\lambda I$.

    A flow that stays at a saddle, or that the integrator loses, counts against the claim. The conditions are
    sufficient, not necessary: of the flows from Gaussian layers, which no part of the verdict rests on, {outside} of
    {other} converge too.
    """
    tables = [identity, descending]
    bound = max(settings_of(table)["residual"] for table in tables)
    values = np.concatenate([_by_scale(table, "residual")[1].ravel() for table in tables])
    other = _by_scale(gaussian, "residual")[1]

    def judge(residuals: np.ndarray) -> Judgement:
        return Judgement(
            every_draw(
                "residual at the end, relative to the labels", np.where(np.isnan(residuals), 1.0, residuals),
                at_most=bound,
                because="the residual asked for; a flow that stays at a saddle keeps one of order one",
            )
        )  # fmt: skip

    return Finding(
        judge,
        values,
        rivals={"flows that stay at the saddle at zero": np.ones_like(values)},
        scaled=lambda residuals, factor: residuals + abs(factor - 1),
        facts={"outside": int(np.isfinite(other).sum()), "other": other.size},
    )


@claim(
    "Theorem 6.2", scope="random data; random layers within the conditions of 6.1, and the identity; two to four layers"
)
def theorem_6_bias(identity: Table, descending: Table, *, order: Positive) -> Finding:
    r"""If the loss tends to zero, then as $\alpha \to 0$ the limit of a deep fully connected network tends to the
    interpolator of least $\ell_2$ norm, whatever the depth.

    From random layers the distance falls like $\alpha^{p}$ with $p$ = {value:.3f} on average. From the identity
    initialisation every layer stays a multiple of the identity plus a matrix within the span of the data, and the
    limit is the least-norm interpolator at every $\alpha$, which is more than the theorem says.
    """
    own = _by_scale(identity, "distance")
    tolerance = 100 * settings_of(identity)["residual"]
    finding = _bias(descending, order, every=True)

    def judge(predicted: str) -> Judgement:
        found = finding(predicted)
        return Judgement(
            found.headline,
            *found.parts,
            every_draw(
                "from the identity, at any scale: relative distance", own[1].max(axis=1), at_most=tolerance,
                because="a hundred times the residual asked for",
            ),
        )  # fmt: skip

    return Finding(judge, "distance", rivals={r"the least $\ell_1$ norm": "distance_l1"})


def _bias(table: Table, order: float, *, every: bool):
    """Return the judge of a limit that the flows tend to as alpha falls: by the power, and by the last distance.

    Where every flow must bring the loss to zero, one that does not is undecided; else it is left out.
    """

    def judge(predicted: str) -> Judgement:
        scales, values = _by_scale(table, predicted)
        done = np.isfinite(values).all(axis=1)
        orders = np.log(values[done, 1] / values[done, 0]) / np.log(scales[1] / scales[0])
        lost = int((~done).sum())
        reasons = {} if every else {"the loss does not vanish, of which the theorem does not speak": lost}
        counts = {"draws_for": int(done.sum()), "draws_undecided": lost} if every and lost else {}
        last = np.where(done, values[:, 0], np.nan)[done | every]
        return Judgement(
            at_least(
                "power of $\\alpha$ in the distance, between the two smallest scales, mean of draws",
                mean(orders),
                order,
                because="chosen; any power above zero tends to the limit, one is what the first layer's start leaves",
                left_out=reasons,
                **counts,
            ),
            every_draw(
                "relative distance at the smallest scale, in units of $\\alpha$",
                last / scales[0],
                at_most=50.0,
                because="chosen, with room: the first layer's part outside the span of the data stays and leaves about "
                r"$\|\bar W_1\| / \|\beta_*\|^{1/L}$, of order one",
                left_out=reasons,
            ),
        )

    return judge


@claim("Theorem 6.2", scope="random data; Gaussian layers, not made to fulfil 6.1's conditions; two to four layers")
def theorem_6_any_directions(gaussian: Table, *, order: Positive) -> Finding:
    r"""The bias towards the least $\ell_2$ norm as $\alpha \to 0$ holds for any initial directions from which the loss
    tends to zero, not only for those of the convergence part.

    The distance falls like $\alpha^{p}$ with $p$ = {value:.3f} on average over {draws} draws.
    """
    return Finding(_bias(gaussian, order, every=False), "distance", rivals={r"the least $\ell_1$ norm": "distance_l1"})


def _slopes(tables: Sequence[Table], quantity: str, floor: float) -> tuple[Estimate, int]:
    found = [_orders(table, quantity, floor) for table in tables]
    return mean(np.concatenate([orders for orders, _ in found])), sum(count for _, count in found)


@claim(
    "equation (88)",
    scope="random data; random and Gaussian layers; two to four layers; limits at scales down to 1e-2",
    correction=r"$W_l = s_l u_l v_l^T + O(\alpha)$: (87) bounds the squared Frobenius norm of the remainder by "
    r"$O(\alpha^2)$.",
)
def equation_88(descending: Table, gaussian: Table, *, tolerance: Positive) -> Finding:
    r"""As the initial scale falls, every matrix of a deep fully connected network is of rank one up to a remainder of
    order $\alpha^2$, $W_l = s_l u_l v_l^T + O(\alpha^2)$.

    The inequality before it bounds the sum of the squares of all singular values but the largest by a multiple of
    $\alpha^2$; its root is of order $\alpha$. Measured between the two smallest scales: a power of {value:.3f}.
    """
    estimate, _ = _slopes([descending, gaussian], "rank_one", 0.0)

    def judge(predicted: float) -> Judgement:
        return Judgement(
            equal(
                "power of $\\alpha$ in the distance from rank one, mean of draws",
                estimate,
                predicted,
                tolerance=tolerance,
                resolution=0.5,
                because="higher powers of a scale of one to three hundredths",
            )
        )

    return Finding(
        judge,
        2.0,
        rivals={"order zero: matrices that keep their rank": 0.0, "order three halves": 1.5},
        corrected=1.0,
        reason="a bound on squares was read as a bound on the matrices",
    )


@claim("equation (93)", scope="random data; random and Gaussian layers; two to four layers; limits at every scale run")
def equation_93(descending: Table, gaussian: Table) -> Finding:
    r"""Adjacent top singular vectors align: $(v_l^T u_{l+1})^2 \geq 1 - \alpha^2 G_l / s_{l+1}^2$, with $G_l$ from the
    initial directions.

    The bound holds on all {draws} limits, and is far from sharp: the squared sine falls like $\alpha^{p}$ with
    $p$ = {power:.2f}, because the layers' Gram matrices differ by a perturbation of order $\alpha^2$, which turns
    singular vectors by an angle of that order, whose square is of order $\alpha^4$.
    """
    tables = [descending, gaussian]
    slack = np.concatenate([_by_scale(table, "bound")[1].ravel() for table in tables])
    estimate, left = _slopes(tables, "misaligned", 1e-13)

    def judge(predicted: float) -> Judgement:
        return Judgement(
            every_draw(
                "excess of the bound over the misalignment, in units of the bound", slack, at_least=0.0,
                because="(93) and (94)",
            ),
            at_least(
                "power of $\\alpha$ in $1 - (v_l^T u_{l+1})^2$, mean of draws", estimate, predicted,
                because="(93) bounds it by the square of the scale",
                left_out={"below rounding at the smallest scale": left},
            ),
        )  # fmt: skip

    return Finding(
        judge,
        2.0,
        rivals={r"a misalignment of order $\alpha^5$": 5.0},
        facts={"power": estimate.value},
    )
