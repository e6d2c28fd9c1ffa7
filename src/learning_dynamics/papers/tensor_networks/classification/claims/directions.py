"""Directions that layers and all parameters tend to: Theorem 1, equation (14).

- f is the network, of L layers v_l, and Theta all of them in one vector. beta are the coefficients, f(x) = x^T beta,
  and M(x) is the data tensor. The points x_i are the rows of X, and y_i = +-1 their labels.
- The loss is sum_i exp(-y_i f(x_i)), with the residuals r_i = -y_i exp(-y_i f(x_i)). X^T r is its gradient by beta, and
  u the direction of X^T r.
- The singular-vector equations (8) of a tensor A say that layers of unit length, contracted with A in all places but
  one, give a number s times the layer of that place. The residual is the largest distance of the two sides, over s.
- Time is the column `log_log_time`: log log t. From late times on the exponent of the loss is capped
  (`log_time_checks`).

A draw is a data set with a start of its own, for one network of one depth. A draw whose flow could not be followed is
nan, and the judge counts it as undecided.
"""

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, equal_on_every_draw
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.classification.hypotheses import (
    draws_to_judge,
    falls_below_one,
    last_exact_log_time,
)
from learning_dynamics.papers.tensor_networks.log_time_checks import (
    last_log_log_time,
    second_half,
    settles,
    vanishes,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table, settings_of

# The setting of both claims, whose value is in workflow/config/tensor_networks.yaml:
# - slack: factor on each bound at the last time, for the numbers of order one that laws in log t leave open; chosen


@claim(
    "Theorem 1",
    scope="random separable points; six architectures, two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def theorem_1(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Under the exponential loss, if the loss falls below one at some time and $X^T r$ converges in direction, to $u$,
    then the layers of a linear tensor network tend in direction to singular vectors of $M(-u)$.

    $X^T r$ is the gradient of the loss by the coefficients, and $M(-u)$ the data tensor at the input $-u$. At a
    $\log\log t$ of {last_log_log_time:.0f} the layers' directions solve the singular-vector equations (8) to
    {value:.1e} on the worst of {draws} draws, in units of the singular value. Allowed is {slack:g} times $1 / (e
    \log\log t)$, for networks with structure and for random tensors and short filters alike. A draw whose residual is
    beyond the bound and still changes late decides nothing: it may be on its way from one singular vector to another
    whose value is hardly larger. A premise is that the loss falls below one.

    $X^T r$ counts as at rest if over the second half of $\log\log t$ its direction turns by no more than that bound, as
    an angle. Where it is at rest it turns by at most {largest_turn:.2g} degrees. Draws in which it still turns are
    undecided, or left out ({left_out} of them).

    From a $\log t$ of about {sharpness:.0e} on, double precision cannot hold the exponential, and its exponent is
    capped. The layers over $(\log t)^{1/L}$ then follow the limit of the exact flow: they descend their norm among
    those with all margins at least one. Losses are therefore judged before, at a $\log t$ of {last_exact_log_time:.0f}.
    Directions are slower, and are judged at the end (and in a robustness run of two layers with a cap ten times as
    late).
    """
    flows = Draws([two, three])
    # what vanishes by the theorem, by number of layers
    vanishing = {2: [quantities.SINGULAR_RESIDUAL], 3: [quantities.SINGULAR_RESIDUAL]}
    judged = draws_to_judge([two, three], slack, vanishing=vanishing)
    yield judged.settles(
        "largest residual of the singular-vector equations",
        quantities.SINGULAR_RESIDUAL,
        # residuals of the equations of another tensor
        rivals={
            r"singular vectors of $M(\sum_i y_i x_i)$": quantities.SINGULAR_RESIDUAL_DATA,
            r"singular vectors of $M(\beta)$": quantities.SINGULAR_RESIDUAL_COEFFICIENTS,
        },
    )
    yield falls_below_one(flows)  # a premise, on all draws
    yield Facts(
        slack=slack,
        largest_turn=judged.largest_turn,
        left_out=sum(judged.excluded.values()),
        last_log_log_time=last_log_log_time(flows),
        sharpness=float(settings_of(two)["integration"]["sharpness"]),
        last_exact_log_time=last_exact_log_time(flows),
    )


@claim(
    "equation (14)",
    scope="random separable points; six architectures, two and three layers, the last one zero at the start",
    quantifier="all draws",
)
def equation_14(two: Table, three: Table, *, slack: Positive) -> Claim:
    r"""Under the exponential loss, if the loss falls below one at some time, all parameters $\Theta$ of a linear tensor
    network together grow without bound and align with the negative gradient of the loss.

    Theorem 1 and Corollary 1 are proved from it; the paper takes it from Ji and Telgarsky (2020). All $L$ layers $v_l$
    then grow alike, $\|\Theta\| / \|v_l\| \to \sqrt L$ (C.1), and the coefficients of a fully connected network tend in
    direction to $-X^T r$, minus the gradient of the loss by the coefficients, (15) and (19). One minus the cosine
    between $\Theta$ and the negative gradient has come to {value:.1e} on the worst of {draws} draws; no layer's share
    of the squared norm differs from $1 / L$ by more than {largest_share_error:.1e}. Whether directions converge is
    judged by this alignment alone, which gives the speed at which they still turn. Where two singular values nearly
    agree, they turn for longer than flows are followed. Over the second half of $\log\log t$ the unit vector along
    $\Theta$ is up to {largest_distance_moved:.1g} from where it ends. Flows are those of Theorem 1. From a $\log t$ of
    about {sharpness:.0e} on the exponent of the loss is capped; margins are then kept in proportion to $\log t$, as
    they are before the cap.
    """
    flows = Draws([two, three])
    yield settles(
        r"one minus the cosine between $\Theta$ and the negative gradient",
        flows,
        quantities.MISALIGNMENT,
        slack,
        # one minus the cosine to another direction
        rivals={"alignment with the gradient of the sum of all margins": quantities.MISALIGNMENT_DATA},
    )
    yield falls_below_one(flows)  # a premise
    yield vanishes(
        "distance of a layer's share of the squared norm from that predicted",
        flows,
        quantities.LAYER_SHARE_ERROR,  # max_l | |v_l|^2 / |Theta|^2 - 1 / L | (C.1)
        slack,
        # the distance from the layer's share of the number of parameters
        rivals={"layers that grow in proportion to their lengths": quantities.LAYER_SHARE_ERROR_LENGTHS},
        fact="largest_share_error",
    )
    growth = flows.at_end("log_log_time")[quantities.GROWTH_POWER]  # L log |Theta| / log log t, shape (draws,)
    yield equal_on_every_draw(
        r"power of $\log t$ in $\|\Theta\|^L$, less its prediction",
        growth,
        np.ones_like(growth),
        # the log of a factor of order one, which `slack` bounds, over log log t
        tolerance=slack / last_log_log_time(flows),
        relative_to=1.0,  # errors of powers are not divided by anything
        because=rf"{slack:g} over $\log\log t$: $\|\Theta\|^L / \log t$ is a number of order one",
        rivals={"parameters that stay bounded": 0.0},
        scaled=False,  # no smallest error that would be refused is sought: the headline is no equality
    )
    yield vanishes(
        "fully connected: distance between the directions of $\\beta$ and of what is predicted",
        flows.where(network="fully_connected"),
        quantities.DISTANCE_FROM_PUSH,  # of the unit vectors along beta and -X^T r (15, 19)
        slack,
        # the distance from another direction
        rivals={r"fully connected: coefficients along $\sum_i y_i x_i$": quantities.DISTANCE_FROM_DATA_SUM},
    )
    yield Facts(
        largest_distance_moved=float(np.nanmax(second_half(flows).largest(quantities.PARAMETERS_MOVED))),
        sharpness=float(settings_of(two)["integration"]["sharpness"]),
    )
