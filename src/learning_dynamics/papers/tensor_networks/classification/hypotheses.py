"""What Theorems 1 and 2, Corollary 1 and equation (14) assume of a flow."""

import numpy as np

from learning_dynamics.judging import Check, every_draw, premise
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.limit_checks import (
    largest_lag,
    last_exact_margins,
    last_exact_sigma,
    second_half,
)
from learning_dynamics.tidy import Draws


def last_exact_log_time(flows: Draws) -> float:
    """Return the log t up to which all flows are those of the exponential loss itself, log log t = log(1 + log t)."""
    return float(np.expm1(min(map(last_exact_sigma, flows.tables))))


def falls_below_one(flows: Draws) -> Check:
    """Check what Theorem 1, Corollary 1 and (14) assume: that the loss falls below one."""
    return premise(
        every_draw(
            r"the loss is below one before its exponent is capped: $\min_i y_i f(x_i) / \log t$",
            last_exact_margins(flows),
            at_least=np.log(100) / last_exact_log_time(flows),
            because="with such a margin the loss of a hundred points is below one",
        )
    )


def residuals_converge(flows: Draws, slack: float) -> Check:
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
