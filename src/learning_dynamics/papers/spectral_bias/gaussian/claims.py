"""Gaussian layers in place of orthogonal ones: what the paper's figures 1a and 4 say of the hidden layer's spectrum."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Claim, Facts, Untested, claim, every_draw
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Draws, Table, settings_of


@claim(
    "Figure 1a",
    quantifier="all draws",
    scope="Gaussian W1 of width 200 and variance 0.01, W2 = 0, five samples in ten dimensions",
    empirical=True,
    reason="entries of variance 0.01 at width 200 amount to the large scale of the same figure",
)
def gaussian_init_low_rank(printed: Table, deviation: Table, *, share: Fraction) -> Claim:
    r"""From a Gaussian hidden layer whose entries have variance $0.01$, only $k$ singular values grow, and the layer
    ends approximately at rank $k$.

    A layer of width $l$ with entries of variance $v$ resembles orthogonal rows with $2\gamma = lv$, and width 200
    with variance $0.01$ means $\gamma = 1$: the very scale that the same figure shows to leave the layer at full
    rank. The $k$ largest singular values end with {value:.0%} of $|W_1|^2$ on the worst of {draws} draws; the others
    take up to {moved:.0%} of what the spectrum moves. Read as a standard deviation, $0.01$ means $\gamma = 0.01$, and
    the $k$ largest end with {deviation:.1%} at least.
    """
    _require_spare_values(printed)
    as_deviation = "0.01 as the standard deviation"
    share_from_deviation = _leading_share(deviation)
    yield every_draw(
        "share of $|W_1|^2$ in the $k$ largest singular values at the end",
        _leading_share(printed),
        at_least=share,
        because="approximately rank $k$",
        rivals={as_deviation: {"values": share_from_deviation}},
    )
    yield every_draw(
        "share of the spectrum's displacement beyond the $k$ largest",
        _displacement_share(printed, beyond=_outputs(printed)),
        at_most=1 - share,
        because="only $k$ grow",
        rivals={as_deviation: {"values": _displacement_share(deviation, beyond=_outputs(deviation))}},
        fact="moved",
    )
    yield Facts(deviation=float(np.nanmin(share_from_deviation)))


@claim(
    "Figure 4 and appendix C.1",
    quantifier="all draws",
    scope="Gaussian W1 of variance 0.001 and W2 of variance 0.01 and 0.001, five samples in ten dimensions",
    empirical=True,
    reason="a second layer that starts large leaves little for the k-th value to grow, and moves the next ones",
)
def nonzero_second_layer(
    flows: Sequence[Table], deviations: Sequence[Table], large: Table, *, share: Fraction
) -> Claim:
    r"""With both layers Gaussian the hidden layer's spectrum still follows the trend: $k$ values grow, the others stay.

    The theory needs $W_2(0) = 0$. As for Figure 1a, the share of the spectrum's squared displacement beyond the $k$
    largest is asked for, of the printed variances and of the numbers read as standard deviations, which Figure 1a
    suggests. Value by value the trend is fainter: at the first printed variance of $W_2$ the values that should stay
    take up to {first:.0%} of the squared displacement from the $k$-th value on, and more than {left:.0%} on
    {first_against} of {members} draws; at the second up to {second:.0%}, on {second_against}. The $k$-th value grows by
    {least:.0%} at least, and the next one by up to {next:.0%}; of the numbers read as standard deviations the share is
    {deviation:.1%} at most. At the first variance the $k$ largest end {below:.0%} (median) away from Corollary 3.1: a
    second layer that starts large leaves less for the first to grow.
    """
    _require_spare_values(flows[0])
    at_most = 1 - share
    outputs = _outputs(flows[0])

    def only_grow(table: Table, fewer: int = 0) -> dict[str, Any]:
        """Return the arguments that check that k - fewer singular values grow."""
        growing = f"k - {fewer}" if fewer else "k"
        settings = settings_of(table)
        return {
            "name": f"share of the spectrum's displacement beyond the ${growing}$ largest, variance of $W_1$ "
            f"{settings['variance']:g}, of $W_2$ {settings['output_variance']:g}",
            "values": _displacement_share(table, beyond=_outputs(table) - fewer),
            "because": f"only ${growing}$ grow",
        }

    for table in (*flows, *deviations):
        yield every_draw(
            **only_grow(table),
            at_most=at_most,
            rivals={
                "only $k - 1$ values grow": only_grow(table, fewer=1),
                "a hidden layer that starts at the large scale of Figure 1a": only_grow(large),
            },
        )
    ends, predicted = Draws(flows[0], phase="limit").compared("sigma_w1")
    growth = np.concatenate([end / start - 1 for start, end in map(_start_and_end, flows)])
    # of the squared displacement from the k-th value on, what is beyond it
    shares_beyond_kth = [_displacement_share(table, beyond=outputs, since=outputs) for table in flows]
    shares_of_deviations = [_displacement_share(table, beyond=outputs, since=outputs) for table in deviations]
    yield Facts(
        below=float(np.nanmedian(np.abs(ends / predicted - 1)[:, :outputs])),
        least=float(np.nanmin(growth[:, outputs - 1])),
        next=float(np.nanmax(growth[:, outputs])),
        first=float(np.nanmax(shares_beyond_kth[0])),
        second=float(np.nanmax(shares_beyond_kth[-1])),
        left=at_most,
        first_against=int((shares_beyond_kth[0] > at_most).sum()),
        second_against=int((shares_beyond_kth[-1] > at_most).sum()),
        members=len(shares_beyond_kth[0]),
        deviation=float(np.nanmax(np.concatenate(shares_of_deviations))),
    )


def _require_spare_values(table: Table) -> None:
    if _outputs(table) >= Draws(table, phase="limit").entries("sigma_w1").shape[1]:
        raise Untested("as many outputs as inputs: all singular values may grow; give fewer outputs")


def _leading_share(table: Table) -> np.ndarray:
    """Share of |W1|^2 in its k largest singular values at the end, shape (draws,)."""
    _, end = _start_and_end(table)
    squares = end**2
    return squares[:, : _outputs(table)].sum(axis=1) / squares.sum(axis=1)


def _displacement_share(table: Table, *, beyond: int, since: int = 1) -> np.ndarray:
    """Share of the singular values of W1 beyond one of them in the squared displacement from start to end.

    Parameters
    ----------
    beyond : int
        The number, from 1, of the last singular value that is left out of the share.
    since : int
        The number of the first one that counts at all.

    Returns
    -------
    ndarray, shape (draws,)
    """
    start, end = _start_and_end(table)
    squares = (end - start) ** 2
    return squares[:, beyond:].sum(axis=1) / squares[:, since - 1 :].sum(axis=1)


def _start_and_end(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the singular values of W1 at the start and at the end, each of shape (draws, inputs)."""
    draws = Draws(table)
    start = draws.where(phase="flow", time=0.0).entries("sigma_w1")
    return start, draws.where(phase="limit").entries("sigma_w1")


def _outputs(table: Table) -> int:
    """Return the number k of outputs: beta has as many singular values."""
    return Draws(table, phase="limit").entries("sigma_beta").shape[1]
