"""How fast the loss falls: the bounds of D.1.1, E.1.1, (62), (73) and H.1, as printed and as derived."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Checks, Finding, claim, every_draw
from learning_dynamics.papers.tensor_networks.rates.theory import log_bound
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table, by_draw, select, settings_of

CORRECTION = (
    r"The denominator is $1 + c\, \mathcal L(0)\, t$: that is what $\dot{\mathcal L} \leq -c\, \mathcal L^2$ gives."
)


@claim(
    "appendix D.1.1",
    scope="diagonal and convolutional networks, two and three layers; random separable points, one or two; starts with "
    "small, equal and large loss",
    correction=CORRECTION,
)
def section_d_1_1(losses: Sequence[Table]) -> Finding:
    r"""Under the conditions of Theorem 2, $\mathcal L(t) \leq \mathcal L(0) / (1 + c t)$ with $c = \alpha^{2L-2}
    \lambda^{L-1} s_{\min}(S)^2 \gamma^2$, where $\gamma$ is the $\ell_2$ margin of the data.

    The printed bound follows from the inequality before it only where $\mathcal L(0) \geq 1$. From starts that already
    classify well the loss exceeds it by a factor of up to {printed_factor:.3g}; with $\mathcal L(0)$ in the denominator
    it never does.
    """
    return _bound_finding(losses, "constant")


@claim(
    "appendix E.1.1",
    scope="diagonal and convolutional networks of two layers; single points; starts with small, equal and large loss",
    correction=CORRECTION,
)
def section_e_1_1(losses: Table) -> Finding:
    r"""Under the conditions of Theorem 3, $\mathcal L(t) \leq \mathcal L(0) / (1 + c t)$ with $c = \alpha^2 \lambda
    \|s\|^2$.

    As for appendix D.1.1: from starts with $\mathcal L(0) < 1$ the loss exceeds the printed bound by a factor of up to
    {printed_factor:.3g}.
    """
    return _bound_finding([losses], "constant_one")


def _bound_finding(tables: Sequence[Table], constant: Quantity) -> Finding:
    tolerance = 1e3 * max(settings_of(table)["integration"]["rtol"] for table in tables)
    depths = [list(select(table, constant)["depth"].unique()) for table in tables]
    losses, log_times = (
        np.concatenate(
            [by_draw(table, "log_loss", column=column, depth=deep) for table, deep in zip(tables, depths, strict=True)]
        )
        for column in ("value", "log_time")
    )
    times, c = np.expm1(log_times), np.concatenate([by_draw(table, constant) for table in tables])

    def excess(kind: str) -> np.ndarray:
        """Return the largest log of loss over bound, one a draw."""
        if kind == "exponential":
            bound = losses[:, :1] - c * np.exp(losses[:, :1]) * times
        else:
            initial = np.exp(losses[:, :1])
            factor = {"printed": np.ones_like(initial), "derived": initial, "doubled": 2 * initial}[kind]
            bound = log_bound(losses[:, :1], c, times, factor=factor)
        return (losses - bound)[:, 1:].max(axis=1)

    def judge(kind: str) -> Checks:
        yield every_draw(
            r"largest $\log(\mathcal L(t) / \mathrm{bound}(t))$",
            excess(kind),
            at_most=tolerance,
            because="the integrator's tolerance, amplified a hundredfold, times margins of order ten",
        )

    return Finding(
        judge,
        "printed",
        rivals={r"a loss that falls exponentially": "exponential", r"twice the constant": "doubled"},
        corrected="derived",
        reason=r"integrating $\dot{\mathcal L} \leq -c\, \mathcal L^2$ leaves $\mathcal L(0)$ in the denominator",
        facts={"printed_factor": float(np.exp(np.nanmax(excess("printed"))))},
    )


def _rate_finding(
    tables: Sequence[Table], quantity: Quantity, printed: float, tolerance: float, **where: Any
) -> Finding:
    """Return the finding on the smallest speed over time; nan on draws whose loss is within rounding at all times."""
    speeds = np.concatenate([np.fmin.reduce(by_draw(table, quantity, **where), axis=1) for table in tables])

    def judge(factor: float) -> Checks:
        yield every_draw(
            r"slowest $\log(\mathcal L(0) / \mathcal L(t)) / t$, in units of the bound's rate",
            speeds,
            at_least=factor * (1 - tolerance),
            because="the bound, less the integrator's error",
        )

    return Finding(
        judge,
        printed,
        rivals={"a rate 1.5 times what the inequalities give": 1.5},
        facts={"closest": float(np.nanmin(speeds))},
        scaled=lambda factor, by: factor * max(by, 2 - by),
    )


@claim("equation (62)", scope="diagonal and convolutional networks; one or two random points; two and three layers")
def equation_62(losses: Sequence[Table], *, tolerance: Positive) -> Finding:
    r"""Under the conditions of Theorem 4 the squared loss falls at least as fast as
    $\exp(-2 \alpha^{2L-2} \lambda^{L-1} s_{\min}(S)^2 s_{\min}(X)^2 t)$.

    At large scales, where the layers hardly move, and one data point the bound is sharp: the slowest of {draws} losses
    falls {closest:.4f} times as fast as it says. Convolutional networks have a complex $S$, which Theorem 4 excludes;
    the steps that lead to (62) are those of appendix D.1.1 and do not need a real one.
    """
    return _rate_finding(losses, "speed", 1.0, tolerance, network=["diagonal", "convolutional"])


@claim("equation (73)", scope="two layers; diagonal and convolutional networks; single random points")
def equation_73(losses: Table, *, tolerance: Positive) -> Finding:
    r"""Under the conditions of Theorem 5 the squared loss falls at least as fast as
    $\exp(-2 \alpha^2 \lambda \|s\|^2 t)$.

    At large scales the bound is sharp for networks that start with equal singular coordinates: the slowest loss falls
    {closest:.4f} times as fast.
    """
    return _rate_finding([losses], "speed_one", 1.0, tolerance)


@claim(
    "appendix H.1", scope="fully connected networks from the identity; one or two random points; two and three layers"
)
def section_h_1(losses: Sequence[Table], *, tolerance: Positive) -> Finding:
    r"""Under the conditions of Theorem 6.1 the squared loss falls at least as fast as
    $\exp(-\alpha^{2L-2} \lambda^{L-1} \sigma_{\min}(X)^2 t)$.

    The bound holds, and its own inequalities give twice its rate, because $\mathcal L$ is half of $\|r\|^2$: the
    slowest of {draws} losses falls {closest:.4f} times as fast as with that factor.
    """
    return _rate_finding(losses, "speed", 0.5, tolerance, network="fully_connected")
