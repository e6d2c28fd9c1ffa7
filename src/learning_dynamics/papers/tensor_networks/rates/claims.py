"""How fast the loss falls: the bounds of D.1.1, E.1.1, (62), (73) and H.1, printed and derived (errata 8, 10, 12)."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, every_draw
from learning_dynamics.papers.tensor_networks.rates import quantities
from learning_dynamics.papers.tensor_networks.rates.theory import log_bound
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table

# Symbols are those of `quantities`.
#
# Settings of these claims, whose values stand in workflow/config/tensor_networks.yaml:
# - tolerance: share by which a loss may fall more slowly than its bound: the integrator's error

CORRECTION = (
    r"The denominator is $1 + c\, \mathcal L(0)\, t$: that is what $\dot{\mathcal L} \leq -c\, \mathcal L^2$ gives."
)
REASON = r"integrating $\dot{\mathcal L} \leq -c\, \mathcal L^2$ leaves $\mathcal L(0)$ in the denominator"


@claim(
    "appendix D.1.1",
    scope="diagonal and convolutional networks, two and three layers; random separable points, one or two; starts "
    "whose loss is small, near one and large",
    quantifier="all draws",
    correction=CORRECTION,
    reason=REASON,
)
def section_d_1_1(losses: Sequence[Table]) -> Claim:
    r"""Under the conditions of Theorem 2 the exponential loss has $\mathcal L(t) \leq \mathcal L(0) / (1 + c t)$ with
    $c = \alpha^{2L-2} \lambda^{L-1} s_{\min}(S)^2 \gamma^2$, where $\gamma$ is the $\ell_2$ margin of the data.

    The paper concludes this from $\dot{\mathcal L} \leq -c\, \mathcal L^2$, which implies it only if
    $\mathcal L(0) \geq 1$. From starts that already classify well the loss exceeds the printed bound by a factor of up
    to {printed_factor:.3g}; it never exceeds the bound that has $\mathcal L(0)$ in the denominator.
    """
    return _bound(Draws(losses), quantities.BOUND_CONSTANT)  # fills {printed_factor}


@claim(
    "appendix E.1.1",
    scope="diagonal and convolutional networks of two layers; single points; starts whose loss is small, one and large",
    quantifier="all draws",
    correction=CORRECTION,
    reason=REASON,
)
def section_e_1_1(losses: Table) -> Claim:
    r"""Under the conditions of Theorem 3 the exponential loss has $\mathcal L(t) \leq \mathcal L(0) / (1 + c t)$ with
    $c = \alpha^2 \lambda \|s\|^2$, where $s$ are the singular values of $M(x)$.

    As for appendix D.1.1: from starts with $\mathcal L(0) < 1$ the loss exceeds the printed bound by a factor of up to
    {printed_factor:.3g}.
    """
    return _bound(Draws(losses, depth=2), quantities.ONE_POINT_BOUND_CONSTANT)  # fills {printed_factor}


def _bound(flows: Draws, constant: Quantity) -> Claim:
    """Check the printed bound on the loss, L(0) / (1 + c t), and the corrected one, L(0) / (1 + c L(0) t).

    The paper concludes the printed one from dL/dt <= -c L^2. By this inequality 1 / L grows at least at the rate c, and
    that is the corrected one. `constant` is the name of c in the table; flows start at the scale alpha = 1.
    """
    # shape (draws, times) each
    log_loss = flows.entries(quantities.LOG_LOSS)
    time = np.expm1(flows.entries(quantities.LOG_LOSS, column="log_time"))
    # shape (draws, 1) each
    c = flows.entries(constant)
    log_initial = log_loss[:, :1]
    initial = np.exp(log_initial)

    # logarithms of bounds, shape (draws, times)
    printed_bound = log_bound(log_initial, c, time, factor=1.0)
    corrected_bound = log_bound(log_initial, c, time, factor=initial)
    # L(0) exp(-c L(0) t), which keeps the relative rate that the corrected bound has at the start
    exponential = log_initial - c * initial * time

    def excess(log_bounds: np.ndarray) -> np.ndarray:
        """Return the largest log of the loss over a bound after the start, shape (draws,)."""
        return (log_loss - log_bounds)[:, 1:].max(axis=1)

    yield every_draw(
        r"largest $\log(\mathcal L(t) / \mathrm{bound}(t))$",
        excess(printed_bound),
        at_most=1e3 * flows.setting("integration.rtol").max(),
        because="the integrator's tolerance, amplified a hundredfold, times margins of order ten",
        corrected={"values": excess(corrected_bound)},
        rivals={
            "a loss that falls exponentially": {"values": excess(exponential)},
            "twice the constant": {"values": excess(log_bound(log_initial, 2 * c, time, factor=initial))},
        },
    )
    yield Facts(printed_factor=float(np.exp(np.nanmax(excess(printed_bound)))))


def _falls_at_least(flows: Draws, speed: Quantity, *, at_rate: float, tolerance: float) -> Claim:
    """Check that losses fall at least at a rate.

    The speed is log(L(0) / L(t)) / t. It and the rate are in units of the rate that the proof's inequalities give; this
    unit is the printed rate in (62) and (73), and twice the printed one in H.1.
    """

    def slowest_over_time(of_table: Draws) -> np.ndarray:
        """Return each draw's least speed; `fmin` skips nan, where the loss is near the integrator's error."""
        return np.fmin.reduce(of_table.entries(speed), axis=1)

    slowest_speed = flows.per_table(slowest_over_time)  # shape (draws,)
    yield every_draw(
        r"slowest $\log(\mathcal L(0) / \mathcal L(t)) / t$, in units of the rate that the proof's inequalities give",
        slowest_speed,
        at_least=at_rate * (1 - tolerance),
        because="the bound, less the integrator's error",
        # chosen: the bound is sharp at large scales, where the slowest losses fall at 1.0000 times this rate
        rivals={"a rate 1.5 times what the inequalities give": 1.5 * (1 - tolerance)},
        scaled=True,
    )
    yield Facts(closest=float(np.nanmin(slowest_speed)))


@claim(
    "equation (62)",
    scope="diagonal and convolutional networks; one or two random points; two and three layers",
    quantifier="all draws",
)
def equation_62(losses: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""Under the conditions of Theorem 4 the squared loss falls at least as fast as
    $\exp(-2 \alpha^{2L-2} \lambda^{L-1} s_{\min}(S)^2 s_{\min}(X)^2 t)$.

    With one data point the bound is sharp at large scales, where the layers hardly move: the slowest of {draws} losses
    falls {closest:.4f} times as fast as the bound. Convolutional networks have a complex $S$, which Theorem 4 excludes;
    the steps that lead to (62) are those of appendix D.1.1, which allow it.
    """
    flows = Draws(losses, network=["diagonal", "convolutional"])
    return _falls_at_least(flows, quantities.SPEED, at_rate=1.0, tolerance=tolerance)  # fills {closest}


@claim(
    "equation (73)",
    scope="two layers; diagonal and convolutional networks; single random points",
    quantifier="all draws",
)
def equation_73(losses: Table, *, tolerance: Positive) -> Claim:
    r"""Under the conditions of Theorem 5 the squared loss falls at least as fast as $\exp(-2 \alpha^2 \lambda \|s\|^2
    t)$, where $s$ are the singular values of $M(x)$.

    At large scales the bound is sharp for networks that start with equal singular coordinates: the slowest loss falls
    {closest:.4f} times as fast as the bound.
    """
    return _falls_at_least(Draws(losses), quantities.ONE_POINT_SPEED, at_rate=1.0, tolerance=tolerance)


@claim(
    "appendix H.1",
    scope="fully connected networks from the identity; one or two random points; two and three layers",
    quantifier="all draws",
)
def section_h_1(losses: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""Under the conditions of Theorem 6.1 the squared loss falls at least as fast as
    $\exp(-\alpha^{2L-2} \lambda^{L-1} \sigma_{\min}(X)^2 t)$.

    The bound holds. The equality before it takes $\|r\|^2$ for $\mathcal L = \|r\|^2 / 2$ (errata 12), so that the
    inequalities give twice the printed rate. The slowest of {draws} losses falls {closest:.4f} times as fast as this
    doubled rate.
    """
    flows = Draws(losses, network="fully_connected")
    # the unit is twice the printed rate: L = |r|^2 / 2 and dL/dt <= -c |r|^2 give exp(-2 c t), the paper prints
    # exp(-c t) (errata 12); {closest} is in this unit too
    return _falls_at_least(flows, quantities.SPEED, at_rate=0.5, tolerance=tolerance)
