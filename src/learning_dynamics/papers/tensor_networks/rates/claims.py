"""How fast the loss falls: the bounds of D.1.1, E.1.1, (62), (73) and H.1, printed and derived (errata 8, 10, 12).

- L(t) is the loss at time t; in exponents L is the number of layers. alpha is the initial scale. lambda says how much
  larger the other layers start than the last: in every singular coordinate the square of each other layer exceeds that
  of the last by alpha^2 lambda at least, here exactly.
- An orthogonally decomposable network has coefficients S^T rho, with the matrix S of Assumption 1. s_min is the least
  singular value of a matrix, X the matrix of the points in its rows, gamma their l2 max margin: the largest least
  margin y_i x_i^T z of a unit vector z. Where there is one point x, s are the singular values of M(x).
- c are constants of bounds on the exponential loss, L(0) / (1 + c t). A speed is log(L(0) / L(t)) / t of the squared
  loss over a rate, so that a bound L(0) exp(-rate t) says that the speed is one at least.

A draw is a data set and a start, for one network and depth. A draw whose flow could not be followed is nan, and the
judge counts it as undecided.
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, every_draw
from learning_dynamics.papers.tensor_networks.rates import quantities
from learning_dynamics.papers.tensor_networks.rates.theory import log_bound
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table

# Setting of the claims on the squared loss, whose value is in workflow/config/tensor_networks.yaml:
# - tolerance: share by which a loss may fall more slowly than its bound, for the integrator's error; chosen

# Rivals: another number in lambda's place. Under Theorems 4 and 5 lambda is the least square of a singular coordinate
# of the start, under Theorem 6.1 the least eigenvalue of W_(L-1)^T W_(L-1), as w_L starts at zero.
LARGEST_WEIGHT = r"the largest $\bar\eta_j^2$ as $\lambda$"
LARGEST_EIGENVALUE = r"the largest eigenvalue of $W_{L-1}^T W_{L-1}$ as $\lambda$"

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

    $s_{\min}(S)$ is the least singular value of the network's matrix $S$ (Assumption 1), and $\lambda$ that of Theorem
    2's conditions on the start. The paper concludes the bound from $\dot{\mathcal L} \leq -c\, \mathcal L^2$, which
    implies it only if $\mathcal L(0) \geq 1$. From starts that already classify well the loss exceeds the printed bound
    by a factor of up to {printed_factor:.3g}; it never exceeds the bound that has $\mathcal L(0)$ in the denominator.
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

    $\lambda$ is that of Theorem 3's conditions on the start. As for appendix D.1.1, $\dot{\mathcal L} \leq -c\,
    \mathcal L^2$ implies the bound only if $\mathcal L(0) \geq 1$: from starts with a smaller loss, the loss exceeds it
    by a factor of up to {printed_factor:.3g}.
    """
    return _bound(Draws(losses, depth=2), quantities.ONE_POINT_BOUND_CONSTANT)  # fills {printed_factor}


def _bound(flows: Draws, constant: Quantity) -> Claim:
    """Check the printed bound on the loss, L(0) / (1 + c t), and the corrected one, L(0) / (1 + c L(0) t).

    The paper concludes the printed one from dL/dt <= -c L^2. By this inequality 1 / L grows at least at the rate c, and
    that is the corrected one. `constant` is the quantity that is c, one number for each draw; flows start at the scale
    alpha = 1.
    """
    # shape (draws, times) each; time is t itself, LOG_LOSS is log L(t)
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
        # The log of the loss errs as the margin does, by its relative error times its size. Both factors are chosen.
        at_most=1e3 * flows.setting("integration.rtol").max(),
        because="the integrator's tolerance, amplified a hundredfold, times margins of order ten",
        # excesses over other bounds, which must be zero at most as well
        corrected={"values": excess(corrected_bound)},
        rivals={
            "a loss that falls exponentially": {"values": excess(exponential)},
            "twice the constant": {"values": excess(log_bound(log_initial, 2 * c, time, factor=initial))},
        },
    )
    yield Facts(printed_factor=float(np.exp(np.nanmax(excess(printed_bound)))))  # of the draws that were followed


def _falls_at_least(flows: Draws, speed: Quantity, *, largest: str, at_rate: float, tolerance: float) -> Claim:
    """Check that losses fall at least at a rate.

    Parameters
    ----------
    flows : Draws
    speed : str
        The quantity that is log(L(0) / L(t)) / t over the rate that the proof's inequalities give. This unit is the
        printed rate in (62) and (73), and twice the printed one in H.1.
    largest : str
        What the largest number in lambda's place is called, a rival.
    at_rate : float
        The printed rate, in this unit.
    tolerance : float
        The claims' setting.
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
        rivals={
            # another rate; 1.5 is chosen: the bound is sharp at large scales, where the slowest losses fall at 1.0000
            # times the rate of the inequalities
            "a rate 1.5 times what the inequalities give": 1.5 * (1 - tolerance),
            # from equal weights the largest is the least; among random ones it is not
            largest: {"values": slowest_speed / flows.entries(quantities.RATE_OF_LARGEST)[:, 0]},
        },
        scaled=True,
    )
    yield Facts(slowest_speed=float(np.nanmin(slowest_speed)))


@claim(
    "equation (62)",
    scope="diagonal and convolutional networks; one or two random points; two and three layers, which start with equal "
    "or random singular coordinates, the last one at zero",
    quantifier="all draws",
)
def equation_62(losses: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""Under the conditions of Theorem 4 the squared loss falls at least as fast as
    $\exp(-2 \alpha^{2L-2} \lambda^{L-1} s_{\min}(S)^2 s_{\min}(X)^2 t)$.

    $s_{\min}$ is the least singular value; $S$ is the matrix of Assumption 1, $X$ that of the points, and $\lambda$ the
    least $\bar\eta_j^2$ of Theorem 4. From equal $\bar\eta_j$, with one data point, the bound is sharp at large scales,
    where the layers hardly move: the slowest of {draws} losses falls {slowest_speed:.4f} times as fast as the bound.
    From random $\bar\eta_j$ the largest in the least's place is no bound. Convolutional networks have a complex $S$,
    which Theorem 4 excludes; the steps that lead to (62) are those of appendix D.1.1, which allow it.
    """
    flows = Draws(losses, network=["diagonal", "convolutional"])
    # fills {slowest_speed}
    return _falls_at_least(flows, quantities.SPEED, largest=LARGEST_WEIGHT, at_rate=1.0, tolerance=tolerance)


@claim(
    "equation (73)",
    scope="two layers, which start with equal or random singular coordinates, the last one at zero; diagonal and "
    "convolutional networks; single random points",
    quantifier="all draws",
)
def equation_73(losses: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""Under the conditions of Theorem 5 the squared loss falls at least as fast as $\exp(-2 \alpha^2 \lambda \|s\|^2
    t)$, where $s$ are the singular values of $M(x)$.

    $\lambda$ is that of Theorem 5's condition on the start. At large scales the bound is sharp for networks that start
    with equal singular coordinates: the slowest loss falls {slowest_speed:.4f} times as fast as the bound.
    """
    flows = Draws(losses, depth=2, network=["diagonal", "convolutional"])
    return _falls_at_least(flows, quantities.ONE_POINT_SPEED, largest=LARGEST_WEIGHT, at_rate=1.0, tolerance=tolerance)


@claim(
    "appendix H.1",
    scope="fully connected networks of two and three layers, which start at the identity or at random matrices, the "
    "last layer at zero; one or two random points",
    quantifier="all draws",
)
def section_h_1(losses: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""Under the conditions of Theorem 6.1 the squared loss falls at least as fast as
    $\exp(-\alpha^{2L-2} \lambda^{L-1} \sigma_{\min}(X)^2 t)$.

    $r$ are the residuals and $\lambda$ is that of the conditions. The bound holds. The equality before it takes
    $\|r\|^2$ for $\mathcal L$, which is $\|r\|^2 / 2$ (errata 12), so that the inequalities give twice the printed
    rate. The slowest of {draws} losses falls {slowest_speed:.4f} times as fast as this doubled rate.
    """
    flows = Draws(losses, network="fully_connected")
    # the unit is twice the printed rate: L = |r|^2 / 2 and dL/dt <= -c |r|^2 give exp(-2 c t), the paper prints
    # exp(-c t) (errata 12); {slowest_speed} is in this unit too
    return _falls_at_least(flows, quantities.SPEED, largest=LARGEST_EIGENVALUE, at_rate=0.5, tolerance=tolerance)
