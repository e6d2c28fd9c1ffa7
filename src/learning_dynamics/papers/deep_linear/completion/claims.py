"""Matrix completion: what deep networks recover, and what nuclear-norm minimisation does.

A draw is a matrix to complete, of n rows and columns, whose entries have mean square one, with its observed entries. An
error is the mean square over all entries. The minimiser is the matrix of least nuclear norm that fits observed entries
to within a slack. Networks of depth N, which is 2 or 3, fit them by descent from Gaussian layers, whose entries have
standard deviation s^(1/N) n^(-1/2) at scale s. The roles named `many` have more observed entries than the others; they
include theirs. `network_values` reads the networks of the smallest learning rate. It is nan for a draw that did not
reach its training loss: a check of such a mean is undecided.

Besides its own parameters every check takes `rivals` and others (`judging.takes_rivals`). A rival that is a mapping
replaces arguments: {"values": x} and {"estimate": x} have the check judge x, often the same quantity of other data. It
is refused if at least one of the claim's checks then fails or is undecided.
"""

import numpy as np

from learning_dynamics.evidence import Estimate, difference, mean
from learning_dynamics.judging import Claim, Facts, at_least, claim, every_draw
from learning_dynamics.papers.deep_linear.quantities import EFFECTIVE_RANK, ERROR, MISFIT
from learning_dynamics.papers.deep_linear.tables import (
    excess_beyond_slack,
    excess_norm,
    network_values,
    observed_entries,
    proved_gap,
    values_by_draw,
)
from learning_dynamics.settings import NonNegative, Positive
from learning_dynamics.tidy import Table, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - scale, of all claims on networks: initialisation scale s at which they are judged, one of the run's `scales`; the
#   slides print none
# - factor, of `nuclear_norm_recovers_5k`: largest mean square error of a matrix that is recovered, in units of the
#   squared slack on observed entries; chosen
# - decades, of `depth_beats_nuclear_norm_2k` ("by orders of magnitude") and `depth_3_beats_depth_2_2k` ("far better"):
#   by how many decades depth 3's error must be below that of nuclear-norm minimisation, or of depth 2; chosen
#
# Checks go draw by draw: draws of all tables are the same matrices, in the same order.

SCOPE = (
    "matrices with the slides' size, rank and numbers of entries (at default scale), from Gaussian factors; plain "
    "descent, at full scale the authors' group RMSprop"
)


@claim("Slide 31, Many (5K) observations", quantifier="all draws", scope=SCOPE, empirical=True)
def nuclear_norm_recovers_5k(many: Table, few: Table, *, factor: Positive) -> Claim:
    r"""With many observed entries (the slides' 5000 of 10000) nuclear-norm minimisation recovers the matrix.

    A matrix is recovered if the mean square error over all entries is at most {factor:g} times the square of the slack
    that nuclear-norm minimisation leaves observed entries; entries have mean square one. From {many_entries} entries
    the largest error over {draws} draws is {value:.1e}, from {few_entries} it is {largest_error_from_few:.2g}.
    """
    slack = values_by_draw(many, MISFIT).max()  # the largest error on an observed entry, over draws
    errors, errors_of_few = values_by_draw(many, ERROR), values_by_draw(few, ERROR)
    yield every_draw(
        "mean square error over all entries",
        errors,
        at_most=factor * slack**2,
        because=f"{factor:g} times the square of the slack on observed entries",
        rivals={
            "few entries recover it as well": {"values": errors_of_few},
            # instead of the last draw's error, the smallest one from few entries
            "many entries recover all draws but one": {"values": np.append(errors[:-1], errors_of_few.min())},
        },
    )
    yield Facts(
        factor=factor,
        largest_error_from_few=errors_of_few.max(),
        many_entries=observed_entries(many),
        few_entries=observed_entries(few),
    )


@claim("Slide 32, Few (2K) observations", quantifier="an average", scope=SCOPE, empirical=True)
def depth_beats_nuclear_norm_2k(
    depth_2: Table,
    depth_3: Table,
    minimiser: Table,
    depth_2_many: Table,
    depth_3_many: Table,
    minimiser_many: Table,
    *,
    scale: Positive,
    decades: NonNegative,
) -> Claim:
    r"""With few observed entries (the slides' 2000 of 10000) nuclear-norm minimisation does not recover the matrix;
    depth 2 comes nearer to it, and depth 3 by orders of magnitude.

    Errors are mean squares over all entries; orders of magnitude are {decades:g} decades or more. At initialisation
    scale {scale:g} depth 3's error from {few_entries} entries is {value:.2g} decades below that of nuclear-norm
    minimisation on the same matrix, in the mean over draws, and depth 2's is {decades_depth_2_below:.2g} decades below.
    At the largest scale of the grid the number for depth 2 is {decades_depth_2_below_at_largest_scale:.2g}. The error
    of nuclear-norm minimisation is {decades_above_slack:.2g} decades above the square of the slack that it leaves
    observed entries: orders of magnitude more, so that the matrix is not recovered.
    """

    def decades_below_convex(deep: Table, convex: Table, at_scale: float = scale) -> np.ndarray:
        """Return how many decades the network's error is below that of nuclear-norm minimisation, shape (draws,)."""
        return np.log10(values_by_draw(convex, ERROR)) - np.log10(network_values(deep, ERROR, at_scale))

    def decades_beyond_slack(convex: Table) -> np.ndarray:
        """Return how many decades the error of the minimisation is above the squared slack on observed entries."""
        return np.log10(values_by_draw(convex, ERROR)) - 2 * np.log10(values_by_draw(convex, MISFIT))

    # phrase of a rival that gives each of the three checks what it measures from many entries
    with_many = "depth matters with many entries as well"
    yield at_least(
        "log10 of the error of nuclear-norm minimisation over depth 3's",
        mean(decades_below_convex(depth_3, minimiser)),
        decades,
        because=f"orders of magnitude: {10**decades:g} times",
        rivals={
            with_many: {"estimate": mean(decades_below_convex(depth_3_many, minimiser_many))},
            "depth 2 does what depth 3 does": {"estimate": mean(decades_below_convex(depth_2, minimiser))},
        },
    )
    yield at_least(
        "log10 of the error of nuclear-norm minimisation over depth 2's",
        mean(decades_below_convex(depth_2, minimiser)),
        0.0,
        because="depth 2 is nearer",
        rivals={with_many: {"estimate": mean(decades_below_convex(depth_2_many, minimiser_many))}},
    )
    yield at_least(
        "log10 of the error of nuclear-norm minimisation over the squared slack on observed entries",
        mean(decades_beyond_slack(minimiser)),
        decades,
        because="not recovered: the error is orders of magnitude beyond what the slack explains",
        rivals={with_many: {"estimate": mean(decades_beyond_slack(minimiser_many))}},
        fact="decades_above_slack",
    )
    largest_scale = max(settings_of(depth_2)["scales"])
    yield Facts(
        scale=scale,
        few_entries=observed_entries(minimiser),
        decades=decades,
        decades_depth_2_below=np.mean(decades_below_convex(depth_2, minimiser)),
        decades_depth_2_below_at_largest_scale=np.mean(
            decades_below_convex(depth_2, minimiser, at_scale=largest_scale)
        ),
    )


@claim("Slide 32, Few (2K) observations", quantifier="an average", scope=SCOPE, empirical=True)
def depth_3_beats_depth_2_2k(
    depth_2: Table,
    depth_3: Table,
    depth_2_many: Table,
    depth_3_many: Table,
    *,
    scale: Positive,
    decades: NonNegative,
) -> Claim:
    r"""With few observed entries (the slides' 2000 of 10000) depth 3 recovers the matrix far better than depth 2.

    The error is the mean square over all entries, and far better means lower by {decades:g} decades or more, each a
    factor of ten. Depth 3 is better by {value:.2g} decades, the mean over {draws} draws at initialisation scale
    {scale:g}, the same for both.
    """

    def mean_decades_below(shallower: Table, deeper: Table) -> Estimate:
        """Return how many decades the deeper network's error is below the shallower one's, a mean over draws."""
        of_shallower, of_deeper = network_values(shallower, ERROR, scale), network_values(deeper, ERROR, scale)
        return difference(np.log10(of_shallower), np.log10(of_deeper))  # paired: the same matrices, in one order

    yield at_least(
        "log10 of depth 2's error over depth 3's",
        mean_decades_below(depth_2, depth_3),
        decades,
        because=f"far better: {10**decades:g} times",
        rivals={
            "depth 3 gains as much with many entries": {"estimate": mean_decades_below(depth_2_many, depth_3_many)},
            "the depths are alike": {"estimate": mean_decades_below(depth_2, depth_2)},  # zero on every draw
        },
    )
    yield Facts(scale=scale, decades=decades)


@claim("Slide 32, Experiments testing the nuclear norm conjecture", quantifier="all draws", scope=SCOPE, empirical=True)
def deep_has_larger_nuclear_norm(
    depth_2: Table,
    depth_3: Table,
    minimiser: Table,
    depth_2_many: Table,
    depth_3_many: Table,
    minimiser_many: Table,
    *,
    scale: Positive,
) -> Claim:
    r"""With few observed entries (the slides' 2000 of 10000) descent does not minimise the nuclear norm. This
    contradicts what Gunasekar et al. conjecture for depth 2, small steps and starts near zero, and the same conjecture
    for greater depths.

    The nuclear norm is the sum of the singular values. No matrix that fits the entries has less than the minimiser's,
    and the slack in the minimiser's fit alone makes a small excess over it. So the relative excess with {few_entries}
    entries is compared with the excess with {many_entries}, where all methods recover the same matrix. At
    initialisation scale {scale:g} the smallest difference of any draw, at depths 2 and 3, is {smallest_difference:.2g}.
    A difference counts if it exceeds the convex solver's proved gaps, by which the minimiser's norm may be above the
    least one: {largest_proved_gap:.1e} at most.
    """
    # An excess e is the nuclear norm over the least one, less one. The least one is known up to the solver's proved gap
    # g, relatively: e is off by g (1 + e), where e is small. The margin, shape (draws,), is the gap with few entries
    # plus that with many
    beyond_slack = {}  # by depth, shape (draws,): the excess with few entries less that with many
    margin = proved_gap(minimiser, minimiser_many)
    for depth, with_few, with_many in ((2, depth_2, depth_2_many), (3, depth_3, depth_3_many)):
        excess_many = excess_norm(with_many, minimiser_many, scale)
        beyond_slack[depth] = excess_beyond_slack(with_few, minimiser, with_many, minimiser_many, scale=scale)
        yield every_draw(
            f"relative excess over the least nuclear norm, beyond that with many entries, depth {depth}",
            beyond_slack[depth],
            at_least=margin,
            because="the solver's proved gaps",
            rivals={
                # a rival is another excess with few entries: none, or the same as with many
                f"depth {depth} minimises it": {"values": -excess_many},
                f"the slack explains the excess of depth {depth}": {"values": np.zeros_like(excess_many)},
            },
        )
    yield Facts(
        scale=scale,
        few_entries=observed_entries(minimiser),
        many_entries=observed_entries(minimiser_many),
        smallest_difference=min(map(np.min, beyond_slack.values())),
        largest_proved_gap=np.max(margin),
    )


@claim("Slide 32, Few (2K) observations", quantifier="an average", scope=SCOPE, empirical=True)
def depth_lowers_effective_rank(
    depth_2: Table,
    depth_3: Table,
    minimiser: Table,
    depth_2_many: Table,
    depth_3_many: Table,
    minimiser_many: Table,
    *,
    scale: Positive,
) -> Claim:
    r"""With few observed entries (the slides' 2000 of 10000) depth lowers the effective rank: the minimiser's is above
    that of depth 2, which is above that of depth 3.

    Effective rank is the exponential of the entropy of the singular values' shares of their sum. At initialisation
    scale {scale:g} the minimiser's, that of the matrix of least nuclear norm, is {value:.2g} above that of depth 2, in
    the mean over draws. With {many_entries} entries all methods recover the same matrix. There the same two differences
    are at most {largest_difference_from_many:.2g} in size on any draw, which is what accuracy alone can make. The scale
    matters: at the largest of the grid the minimiser's effective rank less that of depth 2 is
    {difference_at_largest_scale:.2g}.
    """

    def effective_rank(deep: Table, at_scale: float = scale) -> np.ndarray:
        """Return the effective rank of the matrix that a network completes, shape (draws,)."""
        return network_values(deep, EFFECTIVE_RANK, at_scale)

    # effective ranks from few entries, and from many; shape (draws,) each
    rank_convex, rank_convex_many = (values_by_draw(table, EFFECTIVE_RANK) for table in (minimiser, minimiser_many))
    rank_2, rank_2_many = effective_rank(depth_2), effective_rank(depth_2_many)
    rank_3, rank_3_many = effective_rank(depth_3), effective_rank(depth_3_many)
    # from many entries all methods recover one matrix: their ranks differ by what accuracy makes
    accuracy = max(np.max(np.abs(rank_2_many - rank_convex_many)), np.max(np.abs(rank_3_many - rank_2_many)))
    because = "the largest difference with many entries"
    with_many = "depth lowers it with many entries as well"
    # This rival has the minimiser's rank instead of that of depth 2, in both checks. The first refuses it, the second
    # does not
    like_minimiser = "depth 2 is like the minimiser"
    yield at_least(
        "effective rank, minimiser less depth 2",
        difference(rank_convex, rank_2),
        accuracy,
        because=because,
        rivals={
            with_many: {"estimate": difference(rank_convex_many, rank_2_many)},
            like_minimiser: {"estimate": difference(rank_convex, rank_convex)},
        },
    )
    yield at_least(
        "effective rank, depth 2 less depth 3",
        difference(rank_2, rank_3),
        accuracy,
        because=because,
        rivals={
            with_many: {"estimate": difference(rank_2_many, rank_3_many)},
            like_minimiser: {"estimate": difference(rank_convex, rank_3)},
            "depth 3 is like depth 2": {"estimate": difference(rank_2, rank_2)},
        },
    )
    largest_scale = max(settings_of(depth_2)["scales"])
    yield Facts(
        scale=scale,
        difference_at_largest_scale=np.mean(rank_convex - effective_rank(depth_2, at_scale=largest_scale)),
        largest_difference_from_many=accuracy,
        many_entries=observed_entries(minimiser_many),
    )
