"""Balance, end-to-end dynamics, the rates of singular values, and the preconditioner.

N layers W_1, ..., W_N, the first of which reads the inputs, have the product W = W_N ... W_1, the end-to-end matrix. It
has singular values sigma_r, the least of them sigma_min, and singular vectors u_r and v_r. Layers are balanced if
W_{j+1}^T W_{j+1} = W_j W_j^T for all j. The end-to-end dynamics of depth N (slide 16) are

    dW/dt = -sum_j [W W^T]^((N-j)/N) grad l(W) [W^T W]^((j-1)/N),

and the preconditioner P_W is the map from the gradient of the loss l to -dW/dt. The loss is half the squared distance
of W from a Gaussian target; in `larger_depth_larger_factors` there is one W and no flow, and the gradient is drawn.

The roles `balanced` and `gaussian` are flows from balanced layers, and from Gaussian ones, which are not balanced. A
draw of them is a flow, with a depth, a target and a start of its own.

Besides its own parameters every check takes `rivals`, `corrected`, `fact` and others (`judging.takes_rivals`), and so
does a function with @takes_rivals. A rival replaces the check's prediction or, as a mapping, other arguments:
{"values": x} has the check judge x. It is refused if one of the claim's checks then fails or is undecided. A check
whose tolerance is above its `resolution` is undecided.
"""

from itertools import pairwise
from typing import Any, Literal

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Check, Claim, Facts, claim, equal_on_every_draw, every_draw, takes_rivals
from learning_dynamics.papers.deep_linear.end_to_end import quantities
from learning_dynamics.papers.deep_linear.quantities import SIGMA
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table, select, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - amplification, of all claims that take it: error that is allowed, in units of the integrator's relative tolerance;
#   chosen: errors add up along a flow
# - least_order, of `end_to_end_dynamics`: the least order in the step that the distance between layers and equation may
#   have. If the theorem holds it is four, the order of the method's errors; of two different flows it is zero
# - rounding, of `larger_depth_larger_factors`: least change of a factor's logarithm that is more than rounding; chosen.
#   A draw with less is undecided
# - reading, of the same claim: whether the sentence is about each factor, or about ratios of neighbouring ones


@claim(
    "Slide 14, Balanced trajectories",
    quantifier="all draws",
    scope="squared loss, Gaussian targets, 4 inputs and 3 outputs, depths 2, 3 and 4; "
    "from balanced layers and from Gaussian ones",
)
def balancedness_flow(balanced: Table, gaussian: Table, *, amplification: Positive) -> Claim:
    r"""Gradient flow conserves $W_{j+1}^\top W_{j+1} - W_j W_j^\top$, so that balanced layers stay balanced.

    Layers $W_j$ are balanced if these matrices are zero for every $j$. Along any of {draws} flows they move, all
    together, by {value:.1e} at most in Frobenius norm; the matrices $W_j W_j^\top$ of balanced layers move by up to
    {largest_movement_of_gram_matrices:.2g}. The conserved matrices of balanced layers start at zero; those of Gaussian
    layers do not.
    """
    flows = Draws([balanced, gaussian])
    yield every_draw(
        "largest movement of the conserved matrices",
        flows.largest(quantities.DRIFT),  # the largest along each flow
        at_most=amplification * flows.setting("integration.rtol").max(),  # of the two runs' tolerances
        because=f"{amplification:g} relative tolerances of the integrator; the weights move by order one",
        predicted=0.0,
        rivals={  # other matrices are conserved: the check judges the movement of these
            "the sums of the two matrices are conserved": {"values": flows.largest(quantities.SUM_DRIFT)},
            "each W_j W_jᵀ is conserved": {"values": flows.largest(quantities.GRAM_DRIFT)},
        },
    )
    yield Facts(largest_movement_of_gram_matrices=np.nanmax(Draws(balanced).largest(quantities.GRAM_DRIFT)))


@claim(
    "Slide 14, Balanced trajectories, for gradient descent",
    quantifier="all draws",
    origin="ours",
    scope="squared loss, Gaussian targets, depth 3, balanced layers, one stretch of time in ever smaller steps",
)
def balancedness_gd_first_order(descent: Table) -> Claim:
    r"""From balanced layers gradient descent keeps balance but for an error of first order in its step $\eta$.

    Each step moves $W_{j+1}^\top W_{j+1} - W_j W_j^\top$, which is zero if layers $W_j$ are balanced, by a term of
    order $\eta^2$. A fixed stretch of time takes of the order of $1/\eta$ steps; the drift is the sum of their terms.
    Its order is read at the two smallest steps, draw by draw. The order's change from the next larger pair of steps
    bounds the part of higher order that is left.
    """
    order, change = _order(select(descent, quantities.DRIFT), "learning_rate")
    # `change` is the error that the next order makes (`_order`). Four times `change` is chosen, and so is a thousandth,
    # which remains where `change` happens to be near zero
    yield equal_on_every_draw(
        "error of the drift's order in the step",
        order,
        1.0,
        tolerance=4 * change + 1e-3,
        relative_to=1.0,  # errors of an order are absolute
        resolution=0.25,  # chosen: a quarter of the distance to either rival
        because="four times the change from one halving to the next, and a thousandth",
        rivals={"a drift of second order": 2.0, "a drift that does not fall with the step": 0.0},
    )


@claim(
    "Slide 16, Implicit preconditioning",
    quantifier="all draws",
    scope="squared loss, Gaussian targets, 4 inputs and 3 outputs, depths 2, 3 and 4, balanced layers",
)
def end_to_end_dynamics(balanced: Table, gaussian: Table, *, least_order: Positive) -> Claim:
    r"""From balanced layers the end-to-end matrix follows an equation of its own, in which layers do not appear.

    For the product $W$ of $N$ layers it is $\dot W = -\sum_j [WW^\top]^{(N-j)/N}\, \nabla\ell(W)\, [W^\top
    W]^{(j-1)/N}$, with the sum over $j = 1, \ldots, N$. The layers and the equation are integrated by the classical
    Runge-Kutta method, in fixed steps $h$ and $h/2$. If the theorem holds, only the method's errors, of order $h^4$,
    separate the two. The distance of two different flows would not fall with $h$: its order would be zero. On {draws}
    flows the largest distance along a flow falls with an order of at least {smallest_order:.3g}. Integrated adaptively,
    the two differ by at most {largest_relative_distance:.1e} of the largest $\|W\|_F$.
    """
    # The order is log2 of a ratio: the largest distance along a flow in steps h, over that in steps h / 2
    # (`metrics._orders`). `ORDER` is about the equation, `ORDER_FEWER` about the same equation with N - 1 for N, along
    # the same layers. Under a rival the check judges the rival's order instead
    flows, unbalanced = Draws(balanced), Draws(gaussian)
    yield every_draw(
        "order in the step with which the largest ‖W_N⋯W_1 − W‖_F along a flow falls",
        flows[quantities.ORDER],
        at_least=least_order,
        because="nearer to four, the order of the method's errors, than to zero, that of two flows",
        predicted=4.0,
        rivals={
            "the dynamics of one layer fewer": {"values": flows[quantities.ORDER_FEWER]},
            "the same dynamics for layers that are not balanced": {"values": unbalanced[quantities.ORDER]},
        },
        fact="smallest_order",
    )
    yield Facts(
        largest_relative_distance=np.nanmax(flows.largest(quantities.DIFFERENCE) / flows.largest(quantities.NORM))
    )


@claim(
    "Slide 33, Dynamics of singular values",
    quantifier="all draws",
    scope="squared loss, Gaussian targets, 4 inputs and 3 outputs, depths 2, 3 and 4, balanced layers",
)
def singular_value_dynamics(balanced: Table, gaussian: Table, *, amplification: Positive) -> Claim:
    r"""From balanced layers singular values move at $-N \sigma_r^{2-2/N} \langle \nabla\ell, u_r v_r^\top \rangle$.

    $\sigma_r$, $u_r$ and $v_r$ are the singular values and vectors of $W$, the product of $N$ layers. The rate is
    integrated along each of {draws} flows and compared with the singular values of $W$: they differ by at most
    {value:.1e} of the largest. Given $W$, depth enters through the factor $N \sigma_r^{2-2/N}$ alone, which speeds
    large singular values up and holds small ones back.
    """
    # A rival names another quantity or table to read. `WITHOUT_FACTOR` and `OTHER_EXPONENT` have the same measured
    # singular values, with another law's prediction; `gaussian` has the claimed law's prediction, of other flows
    yield _check_of_prediction(
        "largest error of σ_r(t) over the largest σ",
        balanced,
        SIGMA,
        amplification,
        because=f"{amplification:g} relative tolerances of the integrator, which integrates both",
        rivals={
            "rates without the factor N": quantities.WITHOUT_FACTOR,
            "the exponent 2 − 1/N": quantities.OTHER_EXPONENT,
            "the same law for layers that are not balanced": {"table": gaussian},
        },
    )


@claim(
    "Slide 16, Implicit preconditioning",
    quantifier="all draws",
    scope="3 × 4 matrices of full rank along flows of depths 2, 3 and 4 from balanced layers",
)
def preconditioner_psd(balanced: Table, gaussian: Table, *, amplification: Positive) -> Claim:
    r"""From balanced layers the preconditioner is positive semidefinite and reinforces the directions that $W$ has
    taken.

    The preconditioner maps the loss's gradient to minus the velocity of $W$, the product of $N$ layers. It is built
    from the layers, and all its eigenvalues are $\sum_j \sigma_r^{2(N-j)/N} \sigma_s^{2(j-1)/N}$ for the singular
    values of $W$ (zero beyond their number), to {value:.1e} of the largest; so none is negative. The largest belongs to
    $u_1 v_1^\top$, of the first singular vectors ($1 - \cos^2$ of the angle is {largest_misalignment:.1e} at most, and
    a millionth is allowed): movement goes on fastest where it has already gone. Built from layers the map is a sum of
    Kronecker products of Gram matrices, positive semidefinite for any layers; the form of the eigenvalues needs
    balance.
    """
    # phrase of a rival of both checks, which gives them the flows from Gaussian layers
    without_balance = "the same eigenvalues for layers that are not balanced"
    # the predicted eigenvalues are sums of powers of singular values: none is negative
    yield _check_of_prediction(
        "largest error of an eigenvalue over the largest eigenvalue",
        balanced,
        quantities.EIGENVALUE,
        amplification,
        because=f"{amplification:g} relative tolerances, to which the layers are balanced",
        rivals={
            # the same eigenvalues as measured, predicted with N - 1 for N
            "the eigenvalues of one layer fewer": quantities.EIGENVALUE_FEWER,
            without_balance: {"table": gaussian},
        },
    )
    yield every_draw(
        "largest 1 − cos² between the first eigenvector and u_1 v_1ᵀ",
        Draws(balanced).largest(quantities.MISALIGNMENT),
        # the square of an angle of a thousandth, chosen: the angle is an error of the order of the relative tolerance,
        # by default 1e-11, over the gap between the first two eigenvalues
        at_most=1e-6,
        because="errors of the relative tolerance in the layers, over the gap between eigenvalues",
        rivals={without_balance: {"values": Draws(gaussian).largest(quantities.MISALIGNMENT)}},
        fact="largest_misalignment",
    )


@claim(
    "Slide 21, Applying our trajectory analysis",
    quantifier="all draws",
    scope="3 × 4 matrices along flows of depths 2, 3 and 4 from balanced "
    "layers, and the singular matrix nearest to each",
)
def preconditioner_positive(balanced: Table, *, amplification: Positive) -> Claim:
    r"""From balanced layers the preconditioner is positive definite wherever $W$ has full rank.

    The preconditioner, a sum over layers, maps the loss's gradient to minus the velocity of $W$, the product of $N$
    layers. Its least eigenvalue is at least $\sigma_{min}^{2-2/N}$, with $\sigma_{min}$ the least singular value of
    $W$: the term of the layer at one end makes that much. So it is above zero as long as $\sigma_{min}$ is. At the
    nearest singular matrix it is zero at every depth from two on ({largest_share_at_singular:.1e} of the largest
    eigenvalue at most), so that there the loss may stop falling. For matrices that are not square the bound is the
    least eigenvalue itself, for square ones an $N$-th of it. Along the flows $\sigma_{min}$ comes down to
    {smallest_sigma_min:.1e}.
    """
    flows, settings = Draws(balanced), settings_of(balanced)
    rounding = amplification * _rtol(balanced)
    because = f"{amplification:g} relative tolerances, to which the layers are balanced"
    eigenvalues = flows.entries(quantities.EIGENVALUE, "time")  # shape (draws, times, eigenvalues)
    # the next five have the shape (draws, times); `depth` has (draws, 1)
    least, largest = eigenvalues.min(axis=-1), eigenvalues.max(axis=-1)
    least_at_singular = flows.entries(quantities.EIGENVALUE_AT_SINGULAR)
    sigma_min = flows.entries(SIGMA, "time").min(axis=-1)
    depth = flows.column("depth")[:, None]
    lower_bound = sigma_min ** (2 - 2 / depth)

    @takes_rivals("bound", scaled=True)
    def check_of_least_eigenvalue(bound: np.ndarray) -> Check:
        """Check that the least eigenvalue is at least a bound of shape (draws, times), up to rounding."""
        return every_draw(
            "least eigenvalue less σ_min^(2−2/N), over the largest eigenvalue, least along a flow",
            ((least - bound) / largest).min(axis=1),
            at_least=-rounding,
            because=because,
        )

    # of square matrices the least eigenvalue is N sigma_min^(2 - 2/N), which this rival would predict rightly: None
    # leaves it out
    is_square = settings["inputs"] == settings["outputs"]
    yield check_of_least_eigenvalue(
        lower_bound, rivals={"N times that bound": None if is_square else depth * lower_bound}
    )
    # an eigenvalue that is zero may be computed as slightly negative
    share_at_singular = np.abs(least_at_singular) / largest
    yield every_draw(
        "least eigenvalue at the nearest singular matrix over the largest one",
        share_at_singular.max(axis=1),
        at_most=rounding,
        because=because,
        rivals={
            # the same check from below instead of from above
            "it is positive at singular matrices as well": {
                "values": share_at_singular.min(axis=1),
                "at_most": None,
                "at_least": rounding,
            }
        },
        fact="largest_share_at_singular",
    )
    yield Facts(smallest_sigma_min=np.nanmin(sigma_min))


@claim(
    "Slide 33, Dynamics of singular values, interpretation",
    quantifier="all draws",
    scope="balanced layers of square matrices, depths from 2 to 8 at "
    "one matrix, singular values from a hundredth to three",
    correction="If the sentence is about each factor, it holds for ratios alone: the factor of a larger singular value "
    "over that of a smaller one, $(\\sigma_1 / \\sigma_2)^{2-2/N}$, grows with every layer. One layer more makes the "
    "factors themselves larger for $\\sigma > (N / (N+1))^{N(N+1)/2}$ and smaller for the others, so that from about "
    "$2 \\ln(1/\\sigma)$ layers on every further layer makes a small singular value faster again, and for large $N$ "
    "every factor exceeds one.",
    reason="factors below one may grow with further layers",
)
def larger_depth_larger_factors(
    factors: Table, *, rounding: Positive, reading: Literal["each factor", "ratios"]
) -> Claim:
    r"""With two layers and more the factors $N \sigma^{2-2/N}$ speed large singular values up relative to small ones,
    the more so the more layers there are: of any two singular values the larger one has the larger factor, and the
    ratio of the two factors grows with every layer.

    The slide says "speed up (slow down) large (small)". We read it as relative, since the slides are about depth that
    pulls singular values apart. A factor is the velocity of a singular value $\sigma$ of the product of $N$ balanced
    layers, over its velocity in a linear model; both are measured at one matrix, for each number of layers.

    Read of each factor, against the factor one of a linear model, the sentence fails. Factors above one would grow with
    every layer, and factors below one fall. But {factors_that_grow} of {factors_below_one} factors below one, over all
    matrices and numbers of layers, grow as a layer is added, and for many layers every factor exceeds one. Singular
    values between {sigma_of_factor_one_at_most:.2g} and {sigma_of_factor_one_at_fewest:.2g} are slowed down with
    {fewest_layers} layers and sped up with {most_layers}. The table of varied thresholds has this reading.

    A draw whose least change of the logarithm of a ratio, or of a factor, is smaller than {rounding:g} in size is
    undecided.
    """
    by_depth = {depth: draws for depth, draws in Draws(factors).groups("depth") if depth > 1}
    # shape (draws, depths, singular values); a draw has one matrix, and so the same singular values at every depth
    log_factor = np.log(np.stack([draws.entries(quantities.FACTOR) for draws in by_depth.values()], axis=1))
    log_sigma = np.log(np.stack([draws.entries(SIGMA) for draws in by_depth.values()], axis=1))
    depths = np.array(list(by_depth))[:, None]  # shape (depths, 1)

    def least_arguments(values: np.ndarray) -> dict[str, Any]:
        """Return the least value of each draw, undecided where it is rounding, as arguments of `every_draw`.

        `values` have the shape (draws, depths, singular values).
        """
        by_draw = np.min(values, axis=(1, 2))
        return {"values": by_draw, "undecided": np.abs(by_draw) < rounding}

    def log_ratios(logs: np.ndarray) -> np.ndarray:
        """Return log of each factor over that of the next smaller singular value, from logarithms of factors."""
        return logs[..., :-1] - logs[..., 1:]

    @takes_rivals("logs")
    def check_that_ratios_grow(logs: np.ndarray) -> Check:
        """Check that ratios grow with depth; `logs` are logarithms of factors, by depth and singular value."""
        return every_draw(
            "least growth, with one more layer, of the logarithm of the ratio of two neighbouring factors",
            **least_arguments(np.diff(log_ratios(logs), axis=1)),
            at_least=0.0,
            because="each further layer makes the ratio larger",
        )

    @takes_rivals("logs")
    def check_that_ratios_exceed_one(logs: np.ndarray) -> Check:
        """Check that ratios exceed one; `logs` are as for `check_that_ratios_grow`."""
        return every_draw(
            "least logarithm of the ratio of two neighbouring factors, over depths",
            **least_arguments(log_ratios(logs)),
            at_least=0.0,
            because="the larger singular value has the larger factor",
        )

    # from each depth to the next, shape (draws, depths - 1, singular values): the change, and both at the former depth
    change = np.diff(log_factor, axis=1)
    log_factor_before, log_sigma_before = log_factor[:, :-1], log_sigma[:, :-1]
    if reading == "ratios":
        laws = {
            "factors N σ^(1/N), whose ratios shrink with depth": np.log(depths) + log_sigma / depths,
            "factors N σ, whose ratios stay": np.log(depths) + log_sigma,
            "factors N σ^(−1/N), whose ratios grow and are below one": np.log(depths) - log_sigma / depths,
        }
        # The headline, and the other half of the sentence. A rival is another law of the factors: both checks judge its
        # logarithms instead of those measured. `check_that_ratios_grow` refuses the first two laws (where ratios stay
        # it is undecided, which refuses them too), and `check_that_ratios_exceed_one` refuses the third
        yield check_that_ratios_grow(log_factor, rivals=laws)
        yield check_that_ratios_exceed_one(log_factor, rivals=laws)
    else:
        # As printed, a factor above one grows and one below one falls. As corrected, the sign is that of log sigma less
        # its turning value, which has shape (depths - 1, 1). Rivals predict other signs
        log_turning_values = [log_of_turning_value(fewer, more) for fewer, more in pairwise(by_depth)]
        log_sigma_beyond = log_sigma_before - np.array(log_turning_values)[:, None]
        yield every_draw(
            "least change of a factor's logarithm with further layers, in the direction predicted",
            **least_arguments(np.sign(log_factor_before) * change),
            at_least=0.0,
            because="grows, or falls, as predicted",
            corrected=least_arguments(np.sign(log_sigma_beyond) * change),
            rivals={
                "every factor grows": least_arguments(change),
                "every factor falls": least_arguments(-change),
                "factors of singular values above one grow, the others fall": least_arguments(
                    np.sign(log_sigma_before) * change
                ),
            },
        )
        yield check_that_ratios_grow(log_factor)  # claimed by the sentence, the correction and each rival alike
    is_slow = log_factor_before < 0  # slower than a linear model, whose factor is one
    yield Facts(
        rounding=rounding,
        factors_that_grow=int(np.sum(change[is_slow] > 0)),
        factors_below_one=int(np.sum(is_slow)),
    )
    fewest, most = min(by_depth), max(by_depth)
    yield Facts(
        fewest_layers=fewest,
        most_layers=most,
        sigma_of_factor_one_at_fewest=singular_value_of_factor_one(fewest),
        sigma_of_factor_one_at_most=singular_value_of_factor_one(most),
    )


def singular_value_of_factor_one(layers: int) -> float:
    """Singular value whose factor N sigma^(2 - 2/N) is one, that of a linear model: N^(-N / (2N - 2)).

    Smaller ones are slowed down (docs/deep_linear_derivations.md, "How one more layer changes the factors").
    """
    return float(layers ** (-layers / (2 * layers - 2)))


def log_of_turning_value(fewer: int, more: int) -> float:
    """Logarithm of the singular value at which the factor N sigma^(2 - 2/N) is the same for two numbers of layers.

    With N layers and M > N, ``ln N + (2 - 2/N) ln sigma = ln M + (2 - 2/M) ln sigma`` at
    ``ln sigma = -ln(M/N) N M / (2 (M - N))``. Above it the factor is larger with more layers, below it smaller. As the
    numbers come together it tends to ``-N / 2``, where the derivative in N of ``ln N + (2 - 2/N) ln sigma`` vanishes.
    """
    return float(-np.log(more / fewer) * fewer * more / (2 * (more - fewer)))


@claim(
    "Slide 14, Balanced trajectories, which initialisations are balanced",
    quantifier="all draws",
    scope="squared loss, depth 3, square Gaussian layers of ever smaller entries, and identity layers",
)
def approximate_balance(starts: Table, *, amplification: Positive) -> Claim:
    r"""Layers that start near zero are approximately balanced, and identity layers exactly.

    The imbalance is the largest $\|W_{j+1}^\top W_{j+1} - W_j W_j^\top\|_F$ over layers $W_j$, their size the largest
    squared spectral norm. The imbalance is conserved, and of order $s^2$ for entries of standard deviation $s$; the
    layers end at order one. So relative to the size of the layers at the end it is of order $s^2$, which is what is
    measured. Relative to their size at the start it is of order one at every $s$ ({smallest_imbalance_at_start:.2g} at
    least). Layers near zero are no more balanced than others; they become balanced by growing. From the smallest start
    they must have grown at least twofold.
    """
    scales = settings_of(starts)["scales"]
    order, change = _order(select(starts, quantities.IMBALANCE_AT_END, scale=scales), "scale")
    yield equal_on_every_draw(
        "error of the order in s of the imbalance over the layers' size",
        order,
        2.0,
        # `change` is the error that the next order makes (`_order`). Four times `change` is chosen, and so is a
        # hundredth, which remains where `change` happens to be near zero
        tolerance=4 * change + 1e-2,
        relative_to=1.0,  # errors of an order are absolute
        resolution=0.5,  # chosen: half of the distance to the nearer rival
        because="four times the change from one scale to the next, and a hundredth",
        rivals={"an imbalance of first order": 1.0, "an imbalance that does not fall with s": 0.0},
    )
    yield every_draw(
        "imbalance of identity layers, at the end",
        Draws(starts, scale=0.0)[quantities.IMBALANCE_AT_END],  # the table has identity layers at scale 0
        at_most=amplification * _rtol(starts),
        because=f"{amplification:g} relative tolerances of the integrator",
    )
    yield every_draw(
        "growth of the layers from the smallest start",
        Draws(starts, scale=min(scales))[quantities.LAYER_GROWTH],  # of the largest spectral norm, end over start
        at_least=2.0,  # chosen
        because="the flow has left the neighbourhood of zero",
    )
    yield Facts(smallest_imbalance_at_start=select(starts, quantities.RELATIVE_IMBALANCE, scale=scales)["value"].min())


def _order(rows: Table, by: str) -> tuple[np.ndarray, np.ndarray]:
    """Return by draw the order of a quantity in a setting, and its change, shape (draws,) each.

    The order is the slope of logarithms between the two least values of the setting, the column `by`. The change is the
    size of its difference from the slope between the second and the third.

    If the quantity is c h^k (1 + a h), its order between h and 2h is about k + 1.4 a h, between 2h and 4h it is
    k + 2.9 a h: the change is as large as the error.

    Raises
    ------
    ProjectError
        If the setting has fewer than three values.
    """
    by_setting = rows.pivot_table(index=by, columns="seed", values="value", dropna=False)
    log_setting = np.log(by_setting.index.to_numpy())  # ascending
    log_quantity = np.log(by_setting.to_numpy())  # shape (settings, draws)
    orders = np.diff(log_quantity, axis=0) / np.diff(log_setting)[:, None]
    if len(orders) < 2:
        raise ProjectError(f"`{by}`: an order and its change take three values (are {len(by_setting)}); give more")
    return orders[0], np.abs(orders[0] - orders[1])


@takes_rivals("quantity")
def _check_of_prediction(name: str, table: Table, quantity: Quantity, amplification: float, *, because: str) -> Check:
    """Check that a quantity along flows is what is predicted of it, to a multiple of the integrator's tolerance."""
    return equal_on_every_draw(
        name,
        *Draws(table).with_prediction(quantity),
        tolerance=amplification * _rtol(table),  # of each draw's largest measured number, which errors are divided by
        resolution=1e-3,  # chosen: by default rivals are off by a tenth or more
        because=because,
    )


def _rtol(table: Table) -> float:
    """Return the relative tolerance of the run's integrator."""
    return settings_of(table)["integration"]["rtol"]
