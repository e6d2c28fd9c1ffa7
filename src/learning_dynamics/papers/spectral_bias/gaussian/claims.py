"""Gaussian layers in place of orthogonal ones: what the paper's figures 1a and 4 say of the hidden layer's spectrum.

Layers W1, of d inputs and width l, and W2, of k outputs, start with independent Gaussian entries, or W2 at zero.
beta = W1 W2 is the predictor, |.| the Frobenius norm. The displacement of a singular value of W1 is its end less its
start. A draw is one random data set and start. A draw whose flow did not arrive has nan where its end counts, and is
undecided.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from learning_dynamics.judging import Check, Claim, Facts, Untested, claim, share_of_draws
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA, SIGMA_W1
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Draws, Table, settings_of

# Settings of these claims, whose values are in workflow/config/spectral_bias.yaml:
# - share, of both: a layer is approximately of rank k if its k largest singular values have at least this share of
#   |W1|^2; only k values grow if the others have at most 1 - share of the squared displacement
# - since, of both: the squared displacement is that of the whole spectrum (first), or of the singular values from the
#   k-th on (k-th)
# - reading, of `gaussian_init_low_rank`: whether the printed 0.01 is the variance of an entry or its standard deviation

Since = Literal["first", "k-th"]


@claim(
    "Figure 1a",
    quantifier="most draws",
    scope="Gaussian W1 of width 200 and variance 0.01, W2 = 0, five samples in ten dimensions",
    empirical=True,
    reason="entries of variance 0.01 at width 200 amount to the large scale of the same figure; read as a standard "
    "deviation, 0.01 gives what the paper says",
)
def gaussian_init_low_rank(
    printed: Table,
    deviation: Table,
    *,
    share: Fraction,
    since: Since,
    reading: Literal["variance", "standard deviation"],
) -> Claim:
    r"""From a Gaussian hidden layer whose entries have variance $0.01$, only $k$ singular values grow, and the layer
    ends approximately at rank $k$.

    $k$ is the number of outputs. On most draws the $k$ largest singular values of $W_1$ must hold {share:.0%} or more
    of $|W_1|^2$ at the end, and the $k$-th as much of the squared displacement from the $k$-th value on. A layer of
    width $l$ with entries of variance $v$ resembles orthogonal rows of squared length $2\gamma = lv$. Width 200 and
    variance $0.01$ mean $\gamma = 1$, and the same figure shows that this scale leaves the layer at full rank. At the
    end the $k$ largest hold {smallest_leading_share:.0%} to {largest_leading_share:.0%} of $|W_1|^2$; {value:.0%} of
    {draws} draws reach {share:.0%}. Read as a standard deviation, $0.01$ means $\gamma = 0.01$. Then the $k$ largest
    hold {smallest_leading_share_as_deviation:.1%} of $|W_1|^2$ at least, and {share_of_draws_as_deviation:.0%} of the
    draws show that only $k$ grow.
    """
    _require_fewer_outputs_than_inputs(printed)
    table = printed if reading == "variance" else deviation
    share_of_k, share_of_k_less_one = _leading_share(table), _leading_share(table, fewer=1)
    # phrase of a rival of both checks, which counts k - 1 values instead of k
    one_fewer_grows = "only $k - 1$ values grow"
    yield share_of_draws(
        "share of draws that end with approximately rank $k$",
        **_holds_if_finite(share_of_k >= share, share_of_k),
        at_least=0.5,
        because=f"most draws; the $k$ largest hold {share:.0%} of $|W_1|^2$ or more",
        rivals={one_fewer_grows: _holds_if_finite(share_of_k_less_one >= share, share_of_k_less_one)},
    )
    yield share_of_draws(
        "share of draws on which only $k$ singular values grow",
        **_only_k_grow(table, since, allowed=1 - share),
        at_least=0.5,
        because=f"most draws; beyond the $k$ largest {1 - share:.0%} of the squared displacement at most",
        rivals={one_fewer_grows: _only_k_grow(table, since, allowed=1 - share, fewer=1)},
    )
    # facts are of both readings, whatever `reading` is; a draw that did not arrive is nan and left out
    share_of_k_printed, share_of_k_deviation = _leading_share(printed), _leading_share(deviation)
    yield Facts(
        share=share,
        smallest_leading_share=float(np.nanmin(share_of_k_printed)),
        largest_leading_share=float(np.nanmax(share_of_k_printed)),
        smallest_leading_share_as_deviation=float(np.nanmin(share_of_k_deviation)),
        share_of_draws_as_deviation=float(np.mean(_only_k_grow(deviation, since, allowed=1 - share)["holds"])),
    )


@claim(
    "Figure 4 and appendix C.1",
    quantifier="most draws",
    scope="Gaussian W1 of variance 0.001 and W2 of variance 0.01 and 0.001, five samples in ten dimensions",
    empirical=True,
    reason="a second layer that starts large leaves little for the k-th value to grow, and how little depends on the "
    "size of the teacher, which the paper does not state",
)
def nonzero_second_layer(
    flows: Sequence[Table],
    deviations: Sequence[Table],
    large: Table,
    larger_teacher: Table,
    *,
    share: Fraction,
    since: Since,
) -> Claim:
    r"""With both layers Gaussian the hidden layer's spectrum still follows the trend that theory predicts from
    $W_2(0) = 0$: $k$ values grow, the others stay.

    $k$ is the number of outputs. A singular value's displacement is its end less its start. The sentence is about each
    of the $k$ values. So the values that should stay are compared with the $k$-th: of the squared displacement, summed
    from the $k$-th value on, they may take up {allowed_share:.0%} at most. They do so on {value:.0%} of {draws} draws
    at the larger printed variance of $W_2$, and on {share_at_smaller_variance:.0%} at the smaller. The values that
    should stay move because the rows of a Gaussian layer are not orthogonal; they move from $W_2(0) = 0$ too.

    The verdict depends on the size of the teacher, which the paper does not state: with a teacher {teacher_ratio:.0f}
    times as large, {share_with_larger_teacher:.0%} of the draws show the trend at the larger variance. It depends on
    the reading too. Of the squared displacement summed over the whole spectrum the values that should stay take up
    {largest_displacement_share:.1%} at most: read so, {share_by_whole_spectrum:.0%} of the draws show the trend. If the
    printed variances are read as standard deviations, which Figure 1a suggests, {share_as_deviations:.0%} of the draws
    show it, counted from the $k$-th value on.
    """
    _require_fewer_outputs_than_inputs(flows[0])
    first_variance, *other_variances = flows  # of W2: the larger first, as the configuration lists them
    allowed = 1 - share  # of the squared displacement, for the values that should stay

    def trend_arguments(table: Table, fewer: int = 0) -> dict[str, Any]:
        """Return name, holds and undecided of the check that only k - fewer singular values grow."""
        growing = f"k - {fewer}" if fewer else "k"
        settings = settings_of(table)
        return {
            "name": f"share of draws on which only ${growing}$ singular values grow, variance of $W_1$ "
            f"{settings['variance']:g}, of $W_2$ {settings['output_variance']:g}",
            **_only_k_grow(table, since, allowed=allowed, fewer=fewer),
        }

    def trend_check(table: Table) -> Check:
        """Return the check that on most draws only k singular values grow."""
        return share_of_draws(
            **trend_arguments(table),
            at_least=0.5,
            because=f"most draws; beyond the $k$ largest {allowed:.0%} of the squared displacement at most",
            # for each rival the arguments of `share_of_draws` that it changes: another count, or other draws
            rivals={
                "only $k - 1$ values grow": trend_arguments(table, fewer=1),
                "a hidden layer that starts at the large scale of Figure 1a": trend_arguments(large),
            },
        )

    # The paper does not state the size of the teacher. Where a larger teacher changes the headline's state, the
    # headline is undecided
    headline = trend_check(first_variance)
    if trend_check(larger_teacher).state != headline.state:
        headline = headline.as_undecided("with a larger teacher the answer is another")
    yield headline
    for table in (*other_variances, *deviations):
        yield trend_check(table)

    def holds_value_by_value(table: Table) -> np.ndarray:
        """Return for each draw whether only k singular values grow, by displacements from the k-th on."""
        return _only_k_grow(table, "k-th", allowed=allowed)["holds"]

    # Whatever `since` is, displacements count from the k-th value on for three facts, `share_with_larger_teacher`,
    # `share_at_smaller_variance` and `share_as_deviations`, and over the whole spectrum for two,
    # `largest_displacement_share` and `share_by_whole_spectrum`
    share_of_spectrum = np.concatenate([_displacement_share(table, beyond=_outputs(table)) for table in flows])
    yield Facts(
        teacher_ratio=_predictor_norm(larger_teacher) / _predictor_norm(first_variance),
        share_with_larger_teacher=float(np.mean(holds_value_by_value(larger_teacher))),
        share_at_smaller_variance=float(np.mean(holds_value_by_value(flows[-1]))),
        allowed_share=allowed,
        largest_displacement_share=float(np.nanmax(share_of_spectrum)),
        share_by_whole_spectrum=float(np.mean(share_of_spectrum <= allowed)),
        share_as_deviations=float(np.mean(np.concatenate([holds_value_by_value(table) for table in deviations]))),
    )


def _holds_if_finite(holds: np.ndarray, measured: np.ndarray) -> dict[str, np.ndarray]:
    """Return holds and undecided, arguments of `share_of_draws`, shape (draws,).

    A draw is undecided where what was measured of it is not finite; the judge then counts it against the claim.
    """
    return {"holds": holds, "undecided": ~np.isfinite(measured)}


def _only_k_grow(table: Table, since: Since, *, allowed: float, fewer: int = 0) -> dict[str, np.ndarray]:
    """Return holds and undecided, arguments of `share_of_draws`, on whether only the k - fewer largest values grow.

    That is the case if the other values have at most the share `allowed` of the squared displacement: of the whole
    spectrum's, or of that of the values from number k - fewer on.
    """
    growing = _outputs(table) - fewer
    # with k = 1 and one fewer none should grow, and all values count
    first_counted = 1 if since == "first" else max(growing, 1)
    displaced = _displacement_share(table, beyond=growing, first_counted=first_counted)
    return _holds_if_finite(displaced <= allowed, displaced)


def _predictor_norm(table: Table) -> float:
    """Return the median over draws of |beta| (Frobenius) at the end, which is in proportion to the teacher."""
    norms = np.linalg.norm(Draws(table, phase="limit").entries(SIGMA_BETA), axis=1)
    return float(np.median(norms))


def _require_fewer_outputs_than_inputs(table: Table) -> None:
    """Raise `Untested` where all singular values of W1 may grow."""
    if _outputs(table) >= Draws(table, phase="limit").entries(SIGMA_W1).shape[1]:
        raise Untested("as many outputs as inputs: all singular values may grow; give fewer outputs")


def _leading_share(table: Table, *, fewer: int = 0) -> np.ndarray:
    """Return the share of |W1|^2 in its k - fewer largest singular values at the end, shape (draws,)."""
    _, end = _start_and_end(table)
    squares = end**2
    return squares[:, : _outputs(table) - fewer].sum(axis=1) / squares.sum(axis=1)


def _displacement_share(table: Table, *, beyond: int, first_counted: int = 1) -> np.ndarray:
    """Return the share of singular values of W1 after number `beyond` in the squared displacement.

    That is the sum of (end - start)^2 over singular values from number `first_counted` on, the largest being number 1.

    Returns
    -------
    ndarray, shape (draws,)
    """
    start, end = _start_and_end(table)
    squares = (end - start) ** 2
    return squares[:, beyond:].sum(axis=1) / squares[:, first_counted - 1 :].sum(axis=1)


def _start_and_end(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the singular values of W1 at the start and at the end, each of shape (draws, inputs)."""
    draws = Draws(table)
    start = draws.where(phase="flow", time=0.0).entries(SIGMA_W1)
    return start, draws.where(phase="limit").entries(SIGMA_W1)


def _outputs(table: Table) -> int:
    """Return the number k of outputs: beta has as many singular values."""
    return Draws(table, phase="limit").entries(SIGMA_BETA).shape[1]
