"""Convergence: critical points, the guaranteed rate and its assumptions, other losses, random starts.

N layers W_j have the product W, the end-to-end matrix; l is its loss, and they are balanced if W_{j+1}^T W_{j+1} =
W_j W_j^T for all j. The guarantee (slide 22) is about l_2 loss, on whitened inputs half the squared distance of W from
an optimum W*, but for a constant, the least loss. It assumes a margin c > 0: (1) every W with a singular value of c or
less has more loss than the start; (2) layers are balanced up to some imbalance, max_j ||W_{j+1}^T W_{j+1} -
W_j W_j^T||_F. Then after t steps of size eta the excess over the least loss is at most exp(-c^(2(N-1)/N) eta t) of the
first excess. Its targets are the optima W*.

Besides its own parameters every check takes `rivals`, `corrected`, `fact` and others (`judging.takes_rivals`), and so
does a function with @takes_rivals. A rival replaces the check's prediction or, as a mapping, other arguments:
{"values": x} has the check judge x. It is refused if one of the claim's checks then fails or is undecided.
"""

from typing import Any

import numpy as np

from learning_dynamics.evidence import share
from learning_dynamics.judging import (
    NOT_CLAIMED,
    Check,
    Claim,
    Facts,
    at_least,
    claim,
    equal,
    equal_on_every_draw,
    every_draw,
    premise,
    takes_rivals,
)
from learning_dynamics.papers.deep_linear.convergence import quantities, theory
from learning_dynamics.settings import NonNegative, Positive
from learning_dynamics.tidy import Draws, Quantity, Table, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - rounding, of `saddle_at_zero`: error that rounding may make in orders, in eigenvalues and in the fall of the loss,
#   each of order one; chosen
# - least_loss, of `linear_rate`: loss that labels leave at the optimum; chosen. With 0 the printed sentence is about
#   the excess over it
# - reached, of `assumptions_necessary` and `other_convex_losses`: a start has arrived if its last excess over the least
#   loss is at most this share of its first excess; chosen

# kinds of starts of the guarantee's descent, values of the column `case`
MEETING = (quantities.MEETS_BOTH, quantities.ALLOWED_IMBALANCE)  # they meet both assumptions
STOPPING = quantities.BEYOND_SINGULAR  # breaks the first assumption: the loss stops above its minimum
# `TOO_FAR` breaks the first assumption, `UNBALANCED` the second: the loss grows
GROWING = (quantities.TOO_FAR, quantities.UNBALANCED)


@claim(
    "Slide 20, Classic approach: characterization of critical points",
    quantifier="all draws",
    scope="squared loss, Gaussian 3 × 3 targets, depths 2, 3 and 4",
)
def saddle_at_zero(zero: Table, *, rounding: Positive) -> Claim:
    r"""With three and more layers, where $\nabla\ell(0) \neq 0$, zero weights are a saddle that is not strict: the
    Hessian there has no negative direction.

    $\nabla\ell(0)$ is the loss's gradient at $W = 0$, the product of $N$ layers, and $\sigma_1$ its largest singular
    value. Along the direction of fastest fall, with every layer of norm $\varepsilon$, the loss drops by $\varepsilon^N
    \sigma_1$ less a smaller term. So zero is no minimum, and the order of the fall in $\varepsilon$ is the depth $N$.
    At two layers this is the second order, and the Hessian's smallest eigenvalue is $-\sigma_1$. The measured orders
    are off by at most {largest_order_error:.1e}.
    """
    # a draw of these checks is a target at one depth
    draws = Draws(zero)

    def with_prediction(quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
        """Return what was measured and what is predicted, shape (draws,) each."""
        measured, predicted = draws.with_prediction(quantity)
        return measured[:, 0], predicted[:, 0]

    order, depth = with_prediction(quantities.ORDER)
    curvature, predicted_curvature = with_prediction(quantities.CURVATURE)
    fall, leading_term = with_prediction(quantities.FALL)
    x = draws[quantities.NEXT_TERM]  # the fall is its leading term times 1 - x, see `_order_error`
    strict_everywhere = "a strict saddle at every depth"  # order 2 and eigenvalue -sigma_1; wrong beyond depth 2
    strict_nowhere = "a saddle that is not strict at depth 2 either"  # eigenvalue 0; wrong at depth 2
    # a rival is None, left out, where the run has no depth of which it is wrong
    has_deeper, has_two_layers = (depth > 2).any(), (depth == 2).any()
    yield equal_on_every_draw(
        "error of the order of the loss's fall from zero weights",
        order,
        depth,
        tolerance=_order_error(x, depth, settings_of(zero)) + rounding,
        relative_to=1.0,  # errors of an order are absolute
        because="what the fall's next term changes, and rounding",
        rivals={strict_everywhere: 2.0 if has_deeper else None},
        scaled=False,  # the page prints the smallest error that is refused by the third check alone
    )
    yield equal_on_every_draw(
        "error of the Hessian's smallest eigenvalue over σ_1(∇ℓ(0))",
        curvature,
        predicted_curvature,
        tolerance=rounding,
        relative_to=1.0,  # the eigenvalue is over sigma_1 already
        because="rounding of differences",
        rivals={strict_everywhere: -1.0 if has_deeper else None, strict_nowhere: 0.0 if has_two_layers else None},
        scaled=False,  # as for the order
    )
    yield equal_on_every_draw(
        "fall of the loss over ε^N σ_1, less one",
        fall / leading_term,  # 1 - x
        np.ones(len(depth)),
        tolerance=x + rounding,
        relative_to=1.0,  # the fall is over its leading term already
        because="the fall's next term, and rounding",
    )
    yield Facts(largest_order_error=np.abs(order - depth).max())


def _order_error(x: np.ndarray, depth: np.ndarray, settings: dict[str, Any]) -> np.ndarray:
    """Return by draw how far the measured order of the fall is from the depth N, because the fall has a second term.

    The loss is half the squared distance from the target, so that at a distance epsilon along the steepest direction it
    falls by ``epsilon**N sigma_1 (1 - x)`` with ``x = epsilon**N / (2 sigma_1)``. The order is read between epsilon and
    q epsilon, where x is q^N times as large: it is ``N + log((1 - q**N x) / (1 - x)) / log(q)``.
    """
    q = (settings["largest"] / settings["smallest"]) ** (1 / (settings["points"] - 1))  # distances are in equal ratios
    # at distances where the loss rises again there is no order: the error is large, but finite
    remainder = np.maximum(1 - q**depth * x, np.finfo(float).tiny)
    return np.log(np.maximum(1 - x, remainder) / remainder) / np.log(q)


@claim(
    "Slide 22, From gradient flow to gradient descent, theorem",
    quantifier="all draws",
    scope="squared loss, 3 × 3 targets of drawn spectra, whitened inputs, labels that leave some loss; descent with a "
    "step of c⁴ at depth 3 and one margin c, and at the depths and margins of the table of varied settings; flows at "
    "depths 2, 3 and 4 with margins down to a two-hundredth of σ_min",
    correction="On whitened inputs the bound holds for the excess over the least loss: $\\ell(t) - \\min \\ell \\le "
    "(\\ell(0) - \\min \\ell)\\, e^{-c^{2(N-1)/N} \\eta t}$. For $c \\le 1$ its rate is at least the printed $c^2$. "
    "Imbalance and step must be below bounds that fall as the norm of the optimum grows.",
    reason="the loss tends to its least value, which need not be zero, and may start anywhere",
)
def linear_rate(flows: Table, descent: Table, *, least_loss: NonNegative) -> Claim:
    r"""For the squared loss, let layers be balanced up to $O(c^2)$ and have less loss than any $W$ with
    $\sigma_{min}(W) \le c$. Then gradient descent with a step $\eta$ of at most $O(c^4)$ reaches at iteration $t$ a
    loss of at most $e^{-\Omega(c^2 \eta t)}$.

    $O$ and $\Omega$ hide constants, and $c$ is a margin: the start has less loss than any end-to-end matrix $W$ whose
    smallest singular value is $c$ or less. As printed, the sentence is about the loss (errata 3). The labels of a
    regression leave some loss, here {least_loss:g}, and then no bound that tends to zero holds for ever, whatever its
    constant: in the second half of $\eta t$ = {largest_time:.3g} the logarithm of the loss falls at no more than
    {largest_rate_kept:.1g} times the rate of the first half. An exponential keeps its rate; half of it is asked. The
    theorem behind it (Arora, Cohen, Golowich and Hu 2019) has half the squared distance from the optimum for a loss.
    Read so, the sentence is about the excess over the least loss, relative to the first excess. With a least loss of
    zero the printed bound then holds as well, as the first loss is below one here; the table of varied thresholds has
    that reading.

    The theorem has the exponent $c^{2(N-1)/N} \eta t$ at depth $N$, with the constant one. This is more than $c^2 \eta
    t$ for $c \le 1$, and is what is tested. Imbalance is allowed up to $c^2 / (256 N^3 \|W^*\|^{2-2/N})$ at an optimum
    $W^*$. The starts have only just less loss than every $W$ with $\sigma_{min}(W) \leq c$, and are exactly balanced or
    have all the imbalance that is allowed. Descent takes a step of {step:.2g}, which is $c^4$ times {step_over_c_4:g}.
    A measured rate is $-\log$ of the relative excess over $\eta t$ or, of flows, over $t$. The smallest one, over times
    and draws, is {value:.3g} times the guaranteed rate by descent, {smallest_rate_of_flows:.3g} times by flows. No
    guarantee above $2N$ times this one could hold: from the target with its smallest singular value lowered to $c$ the
    flow starts at the rate $2N c^{2(N-1)/N}$. A guaranteed rate of one, without the power of $c$, would be
    {one_over_smallest_rate:.2g} times the smallest rate of a flow.
    """

    @takes_rivals("guaranteed", scaled=True)
    def check_of_rate(name: str, rate: np.ndarray, guaranteed: np.ndarray | float) -> Check:
        """Check that a rate, min over t of -log(loss) / t, is at least the guaranteed one on every draw.

        The loss is the relative excess, and t is eta times the steps of descent. Rivals are other guaranteed rates.
        """
        return every_draw(name, rate / guaranteed, at_least=1.0, because="the bound holds at all times")

    def other_rates(c: Any, N: Any) -> dict[str, Any]:
        """Return rates that rivals guarantee instead of c^(2(N-1)/N), at margins c and depths N.

        At the default margin of descent the first two rates are slow enough to hold; flows at small margins refuse
        them. The third is 4N times the claimed one; above 2N times the flow's first rate refutes any guarantee.
        """
        return {
            "a rate that does not depend on c": np.ones_like(c * N),
            "half the power of c": c ** ((N - 1) / N),
            "4N times the guaranteed rate": 4 * N * theory.guaranteed_rate(c, N),
        }

    settings = settings_of(descent)
    # one number each, of all descents; `margins` and `depths` of flows have shape (draws,)
    margin, depth = settings["margin"], settings["depth"]
    # lists over kinds of starts that meet both assumptions, of arrays with draws along the first axis
    rates_of_excess, excess_rates_kept, loss_rates_kept, first_losses, times = [], [], [], [], []
    for case in MEETING:
        draws = Draws(descent, case=case)
        initial_excess = draws[quantities.INITIAL_EXCESS][:, None]  # l(0) - min l
        relative_excess = draws.entries(quantities.RELATIVE_EXCESS)  # (l(t) - min l) / (l(0) - min l)
        time = draws.entries(quantities.RELATIVE_EXCESS, column="time")  # eta t
        loss = initial_excess * relative_excess + least_loss  # l(t), which the printed sentence is about
        rates_of_excess.append(draws[quantities.SMALLEST_RATE])
        excess_rates_kept.append(_rate_kept(relative_excess, time, floor=settings["floor"]))
        loss_rates_kept.append(_rate_kept(loss, time, floor=settings["floor"] * initial_excess))
        first_losses.append(loss[:, 0])
        times.append(time)
    yield check_of_rate(
        "smallest rate of the excess in ηt over the guaranteed one, gradient descent",
        np.concatenate(rates_of_excess),
        theory.guaranteed_rate(margin, depth),
        rivals=other_rates(margin, depth),
    )
    # Omega hides a constant, so that no rate refutes the printed sentence. A loss that comes to rest does: no
    # exponential stays above it
    loss_rate_kept = np.concatenate(loss_rates_kept)
    yield every_draw(
        "rate of the loss (corrected: of its excess) in the second half of the time, over that in the first",
        loss_rate_kept,
        at_least=0.5,  # chosen: halfway between a loss at rest and an exponential
        because="an exponential keeps its rate",
        corrected={"values": np.concatenate(excess_rates_kept)},
    )
    yield every_draw(
        "loss at the start",
        np.concatenate(first_losses),
        at_most=1.0,
        because="the printed bound is one there",
        corrected=NOT_CLAIMED,  # the correction's bound is the first excess
    )
    draws_of_flows = Draws(flows)
    rate_of_flows = draws_of_flows[quantities.SMALLEST_RATE]
    margins, depths = draws_of_flows.column("margin"), draws_of_flows.column("depth")
    yield check_of_rate(
        "smallest rate of the excess in t over the guaranteed one, gradient flow",
        rate_of_flows,
        theory.guaranteed_rate(margins, depths),
        rivals=other_rates(margins, depths),
        fact="smallest_rate_of_flows",
    )
    yield Facts(
        least_loss=least_loss,
        largest_time=np.max(times),
        largest_rate_kept=np.nanmax(loss_rate_kept),
        one_over_smallest_rate=1 / np.nanmin(rate_of_flows),  # without the power of c the guaranteed rate would be one
        step_over_c_4=settings["step"],
        step=settings["step"] * margin**4,
    )


def _rate_kept(losses: np.ndarray, time: np.ndarray, *, floor: np.ndarray | float) -> np.ndarray:
    """Return by draw the rate at which log l(t) falls in the second half of the time, over that in the first half.

    It is one for an exponential, and zero for a loss that has come to rest. The time ends before the loss first falls
    to the floor, from where on it is lost in rounding; its half is the recorded time that is nearest.

    Parameters
    ----------
    losses, time : ndarray, shape (draws, times)
        The first time is zero.
    floor : float or ndarray, shape (draws, 1)
    """
    is_above = np.minimum.accumulate(losses > floor, axis=1)
    draws = np.arange(len(losses))
    last = is_above.sum(axis=1) - 1
    middle = np.abs(time - time[draws, last][:, None] / 2).argmin(axis=1)
    fall = -np.log(losses / losses[:, :1])
    first_rate = fall[draws, middle] / time[draws, middle]
    second_rate = (fall[draws, last] - fall[draws, middle]) / (time[draws, last] - time[draws, middle])
    return second_rate / first_rate


@claim(
    "Slide 22, Our assumptions on init are necessary",
    quantifier="some setting",
    scope="squared loss, 3 × 3 targets of drawn spectra, depth 3, a step of c⁴; starts that break one assumption each",
)
def assumptions_necessary(descent: Table, *, reached: Positive) -> Claim:
    r"""Violating either assumption of the guarantee can lead to divergence: gradient descent does not reach the
    minimum.

    The assumptions are: less loss than every matrix with a singular value of the margin $c$ or less, and balanced
    layers. For a "can" one failing start of each kind is enough. Starts that meet both must all arrive, at {reached:g}
    of their first loss or less. Three kinds fail. Beyond a singular matrix: the start is balanced, but one of the
    target's singular values has the wrong sign in it. At steps this short balanced layers do not change the sign of a
    determinant, and the loss stops at half the square of that singular value; it does not grow. Too far: the start is
    balanced, but a large multiple of the target, for which the step that suits the target is too long. The loss grows
    up to {largest_growth_too_far:.0e} times until the run is given up. Unbalanced: the first layer of a start that
    arrives is multiplied by a large number, the second divided by it. The end-to-end matrix is the same, but the
    curvature grows with the square of that number. Again the step is too long, and the loss grows up to
    {largest_growth_unbalanced:.0e} times. (Of each of the last two kinds at least one start must grow tenfold.) With
    the step divided by the same square, the unbalanced starts end at {largest_end_with_shorter_step:.1e} of their first
    loss at the most. So balance is necessary for the step of the guarantee, not for every step.
    """
    # (l - min l) / (l(0) - min l) after the last step, shape (draws,) for each kind; here min l is 0, and a draw is a
    # target
    last_excess = {
        case: Draws(descent, case=case).entries(quantities.RELATIVE_EXCESS)[:, -1]
        for case in (STOPPING, *GROWING, *MEETING, quantities.UNBALANCED_SHORTER_STEP)
    }

    @takes_rivals("arrives")
    def check_of_last_loss(
        case: str, *, arrives: bool, above: float = reached, because: str = "has not converged"
    ) -> Check:
        """Check that all starts of a kind arrive, or else that one of them ends above a multiple of its first loss.

        The prediction is whether they arrive; a rival says the opposite of the same starts.
        """
        name = f"largest ratio of the last loss to the first: {case}"
        if arrives:
            return every_draw(name, last_excess[case], at_most=reached, because="converged")
        return at_least(name, np.max(last_excess[case]), above, because=because)  # one number, of the worst draw

    yield check_of_last_loss(STOPPING, arrives=False, rivals={f"starts {STOPPING} converge": True})
    for case in GROWING:
        yield check_of_last_loss(
            case,
            arrives=False,
            above=10.0,  # chosen: a loss that only stops above its minimum does not grow
            because="has grown tenfold",
            rivals={f"starts that are {case} converge": True},
        )
    for case in MEETING:
        yield check_of_last_loss(case, arrives=True, rivals={"starts that meet both assumptions fail as well": False})
    yield check_of_last_loss(
        quantities.UNBALANCED_SHORTER_STEP,
        arrives=True,
        rivals={"unbalanced starts fail with the shorter step as well": False},
    )
    yield Facts(
        reached=reached,
        largest_end_with_shorter_step=np.max(last_excess[quantities.UNBALANCED_SHORTER_STEP]),
        largest_growth_unbalanced=np.max(last_excess[quantities.UNBALANCED]),
        largest_growth_too_far=np.max(last_excess[quantities.TOO_FAR]),
    )


@claim(
    "Slide 21, Corollary on gradient flow",
    quantifier="all draws",
    scope="squared loss with correlated inputs, log cosh, and squares with fourth "
    "powers of the residuals' entries; 3 × 3 matrices, depth 3, starts whose loss is below that of every "
    "singular matrix",
)
def other_convex_losses(losses: Table, *, reached: Positive) -> Claim:
    r"""If a convex loss that has a minimum is smaller at a balanced start than at every singular matrix, gradient flow
    reaches that minimum.

    The largest loss at the end is {value:.1e} of the first; a flow has arrived at {reached:g} of it. For each loss a
    lower bound on its value at singular matrices is known, and starts have up to {largest_share_of_bound:.2g} of this
    bound.

    The hypothesis is needed. Other flows start beyond the singular matrices, at the optimum with one singular value's
    sign turned. For each loss at least one of them has not arrived when the first flow of the same draw has. (Later
    times are not tested. At depth 2 the singular matrices where such flows stop are strict saddles, and rounding
    decides when they leave.)
    """
    names = sorted(losses["loss"].unique())  # of the convex losses

    def relative_loss(loss: str, start: str) -> np.ndarray:
        """Return l(t) / l(0) along the flows from one kind of start, shape (draws, times)."""
        return Draws(losses, loss=loss, start=start).entries(quantities.RELATIVE_LOSS)

    def from_beyond(loss: str) -> np.ndarray:
        """Return by draw the relative loss from beyond when the same draw from below has arrived, or at the end."""
        has_arrived = relative_loss(loss, quantities.BELOW) <= reached  # shape (draws, times)
        # the place of that time along the axis of times; -1, the last, for a draw that does not arrive
        first_time = np.where(has_arrived.any(axis=1), has_arrived.argmax(axis=1), -1)
        beyond = relative_loss(loss, quantities.BEYOND)
        return beyond[np.arange(len(beyond)), first_time]

    # l(t) / l(0) at the end, by loss, shape (draws,) each
    from_below = {loss: relative_loss(loss, quantities.BELOW)[:, -1] for loss in names}
    rivals = {}
    for loss in names:
        # A rival for each loss: the check judges flows from beyond for this loss, from below for the others. One flow
        # that has not arrived refuses the rival
        with_one_from_beyond = from_below | {loss: from_beyond(loss)}
        rivals[f"starts beyond singular matrices reach it as well: {loss}"] = {
            "values": np.concatenate(list(with_one_from_beyond.values()))
        }
    yield every_draw(
        "largest loss at the end over the first",
        np.concatenate(list(from_below.values())),
        at_most=reached,
        because="critical points but the minimum are singular, and have more loss than the start",
        predicted=0.0,
        rivals=rivals,
    )
    first_over_singular = Draws(losses, start=quantities.BELOW).largest(quantities.LOSS_OVER_SINGULAR)
    yield premise(
        every_draw(
            "first loss over a lower bound on that of singular matrices",
            first_over_singular,
            at_most=1.0,
            because="what the corollary assumes",
        )
    )
    yield Facts(reached=reached, largest_share_of_bound=first_over_singular.max())


@claim(
    "Slide 22, Our assumptions on init, for output dimension one",
    quantifier="most draws",
    scope="whitened inputs, 2 to 128 of them, a target of norm one; Gaussian end-to-end vectors, balanced at depth 3",
)
def output_dimension_one(starts: Table) -> Claim:
    r"""With one output a random balanced start meets the assumptions with constant probability, whatever the dimension,
    for a margin in proportion to one over the dimension.

    The share of starts that meet the assumptions must be that of a closed form in every dimension, and at least a
    quarter, which is what constant means here. It is {predicted:.3g} in {largest_dimension} dimensions, where a share
    of {value:.3g} was measured. All starts that meet them must arrive: of {starts_followed} from which descent was run,
    {starts_arrived} do. Of the other starts a share of {share_of_others_that_arrive:.3g} arrives: the assumptions are
    sufficient, not necessary for each start.

    The starts are balanced. Singular means zero here, and the other assumption is that the start is closer to the
    target than zero is, by the margin $c$. If entries have a standard deviation proportional to one over the dimension
    $d$, the number of inputs, the closed form tends to a constant. With one over the root of the dimension, where the
    start is about as long as the target, the probability would fall with the dimension. With a $c$ that is the same in
    all dimensions no Gaussian start would do: its probability is at most about that of a standard normal number above
    $\sqrt{2cd}$.
    """
    settings = settings_of(starts)
    *smaller_dimensions, last = settings["dimensions"]
    # starts whose entries have a deviation proportional to one over the dimension; shape (draws,) each
    draws = Draws(starts, deviation=quantities.OVER_DIMENSION)
    meets_assumption = draws[quantities.MEETS_ASSUMPTION].astype(bool)
    converged = draws[quantities.CONVERGED]  # 1 or 0; nan for starts from which descent was not run
    dimension = draws.column("dimension")

    def probability(d: int, *, over_root: bool = False) -> float:
        """Return with which probability a random start in d dimensions meets the assumption, in closed form."""
        return theory.probability_of_assumption(d, settings["deviation"], settings["margin"], over_root=over_root)

    def share_arguments(d: int, predicted: float) -> dict[str, Any]:
        """Return a predicted share, and two standard errors of a share of the draws in d dimensions, as arguments.

        A share of n draws has the variance p (1 - p) / n if its probability is p.
        """
        n_draws = np.sum(dimension == d)
        return {"predicted": predicted, "tolerance": 2 * np.sqrt(predicted * (1 - predicted) / n_draws)}

    shares = {}
    for d in (last, *smaller_dimensions):  # the largest dimension first: it is the headline
        shares[d] = share(int(np.sum(meets_assumption[dimension == d])), int(np.sum(dimension == d)))
        yield equal(
            f"share of random starts that meet the assumption, {d} inputs",
            shares[d],
            **share_arguments(d, probability(d)),
            resolution=0.1,  # chosen: interval and tolerance are 0.03 with the default draws
            because="Wilson's interval and two standard errors, as several dimensions are tested",
            # a rival predicts another share, and so another standard error
            rivals={
                "the probability for entries over the root of the dimension": share_arguments(
                    d, probability(d, over_root=True)
                ),
                # 0.5: half of all directions point towards the target, so that half of very short starts meet it
                "a probability that falls as one over the root of the dimension": share_arguments(d, 0.5 / np.sqrt(d)),
                "almost every start": share_arguments(d, 1.0),
            },
            scaled=False,  # the page would print the smallest error that is refused: the interval's size
        )
    # half of all directions point towards the target: short starts meet it with probability 1/2. A quarter is chosen
    smallest_share = min(shares.values(), key=lambda estimate: estimate.value)
    yield at_least(
        "smallest share over dimensions", smallest_share, 0.25, because="any constant below one half will do"
    )
    arrived = converged[meets_assumption]  # a draw of the next check is a start that meets the assumption
    is_followed = ~np.isnan(arrived)
    yield every_draw(
        "starts that meet it arrive (1) or not (0)",
        arrived[is_followed],
        at_least=1.0,
        because="all of those that are followed",
        excluded={"the assumption is checked, descent not run": int(np.sum(~is_followed))},
    )
    yield Facts(
        largest_dimension=last,
        starts_arrived=int(np.nansum(arrived)),
        starts_followed=int(np.sum(is_followed)),
        share_of_others_that_arrive=np.nanmean(converged[~meets_assumption]),
    )
