"""Gaussian layers in place of orthogonal ones: what the paper's figures 1a and 4 say of the hidden layer's spectrum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learning_dynamics.claims import Finding, Judgement, claim, every_draw
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Table, by_draw, settings_of


@claim(
    "Figure 1a",
    scope="Gaussian W1 of width 200 and variance 0.01, W2 = 0, five samples in ten dimensions",
    empirical=True,
)
def gaussian_init_low_rank(printed: Table, deviation: Table, *, share: Fraction) -> Finding:
    r"""From a Gaussian hidden layer whose entries have variance $0.01$, only $k$ singular values grow, and the layer
    ends approximately at rank $k$.

    A layer of width $l$ with entries of variance $v$ resembles orthogonal rows with $2\gamma = lv$, and width 200
    with variance $0.01$ means $\gamma = 1$: the very scale that the same figure shows to leave the layer at full
    rank. The $k$ largest singular values end with {value:.0%} of $|W_1|^2$ on the worst of {draws} draws; the others
    take up to {moved:.0%} of what the spectrum moves. Read as a standard deviation, $0.01$ means $\gamma = 0.01$, and
    the $k$ largest end with {deviation:.1%} at least.
    """

    def judge(table: Table) -> Judgement:
        return Judgement(
            every_draw(
                "share of $|W_1|^2$ in the $k$ largest singular values at the end",
                _carried(table),
                at_least=share,
                because="approximately rank $k$",
            ),
            every_draw(
                "share of the spectrum's displacement beyond the $k$ largest",
                _displaced(table),
                at_most=1 - share,
                because="only $k$ grow",
            ),
        )

    return Finding(
        judge,
        printed,
        rivals={"0.01 as the standard deviation": deviation},
        reason="entries of variance 0.01 at width 200 amount to the large scale of the same figure",
        facts={
            "deviation": float(np.nanmin(_carried(deviation))),
            "moved": float(np.nanmax(_displaced(printed))),
        },
    )


@claim(
    "Figure 4 and appendix C.1",
    scope="Gaussian W1 of variance 0.001 and W2 of variance 0.01 and 0.001, five samples in ten dimensions",
    empirical=True,
)
def nonzero_second_layer(flows: Sequence[Table], *, share: Fraction) -> Finding:
    r"""With both layers Gaussian the hidden layer's spectrum still follows the trend: $k$ values grow, the others stay.

    The theory needs $W_2(0) = 0$. Value by value: the $k$-th, which grows least of those that should, is held against
    all $d - k$ lower ones, by squared displacement from start to end, so that $\sigma_1$ does not decide. At the first
    of these variances of $W_2$ the lower ones take up to {first:.0%} of it, and too much on {first_against} of
    {members} draws; at the second, up to {second:.0%}, and too much on {second_against}. The $k$-th value grows by
    {least:.0%} at least, and the next one, which should stay, by up to {next:.0%}. At the first variance the $k$
    largest end {below:.0%} (median) away from Corollary 3.1: a second layer that starts large leaves less for the first
    to grow. Of the displacement of the whole spectrum the $k$ largest take {whole:.1%} at least.
    """

    def judge(fewer: int) -> Judgement:
        checks = [
            every_draw(
                f"share of the lower values in the squared displacement from the {_ordinal(fewer)} value on, "
                f"variance of $W_2$ {settings_of(table)['output_variance']:g}",
                _against_the_last(table, fewer),
                at_most=1 - share,
                because=f"the {_ordinal(fewer)} grows, the lower ones stay",
            )
            for table in flows
        ]
        return Judgement(*checks)

    first = flows[0]
    ends = by_draw(first, "sigma_w1", phase="limit")
    like = by_draw(first, "sigma_w1", phase="limit", column="predicted")
    count = _outputs(first)
    growth = np.concatenate([_growth(table) for table in flows])
    beyond = [_against_the_last(table) for table in flows]
    return Finding(
        judge,
        0,
        rivals={"only $k - 1$ values grow": 1, "$k + 1$ values grow": -1},
        reason="a second layer that starts large leaves little for the k-th value to grow, and moves the next ones",
        facts={
            "below": float(np.nanmedian(np.abs(ends / like - 1)[:, :count])),
            "least": float(np.nanmin(growth[:, count - 1])),
            "next": float(np.nanmax(growth[:, count])),
            "first": float(np.nanmax(beyond[0])),
            "second": float(np.nanmax(beyond[-1])),
            "first_against": int((beyond[0] > 1 - share).sum()),
            "second_against": int((beyond[-1] > 1 - share).sum()),
            "members": len(beyond[0]),
            "whole": float(1 - max(np.nanmax(_displaced(table)) for table in flows)),
        },
    )


def _ordinal(fewer: int) -> str:
    """Return the name of the last of the values that are said to grow."""
    return "$k$-th" if not fewer else f"$(k {'-' if fewer > 0 else '+'} {abs(fewer)})$-th"


def _carried(table: Table) -> np.ndarray:
    """Share of |W|^2 in the k largest singular values at the end, shape (draws,)."""
    squares = by_draw(table, "sigma_w1", phase="limit") ** 2
    return squares[:, : _outputs(table)].sum(axis=1) / squares.sum(axis=1)


def _displaced(table: Table) -> np.ndarray:
    """Share of the squared displacement of singular values beyond the k largest, shape (draws,)."""
    start, end = _ends(table)
    moved = (end - start) ** 2
    return moved[:, _outputs(table) :].sum(axis=1) / moved.sum(axis=1)


def _against_the_last(table: Table, fewer: int = 0) -> np.ndarray:
    """Share of the lower singular values in the squared displacement from the (k - fewer)-th on, shape (draws,)."""
    start, end = _ends(table)
    last = _outputs(table) - fewer
    moved = ((end - start) ** 2)[:, last - 1 :]
    return moved[:, 1:].sum(axis=1) / moved.sum(axis=1)


def _growth(table: Table) -> np.ndarray:
    """Growth of each singular value from start to end, relative to its start, shape (draws, d)."""
    start, end = _ends(table)
    return end / start - 1


def _ends(table: Table) -> tuple[np.ndarray, np.ndarray]:
    return by_draw(table, "sigma_w1", phase="flow", time=0.0), by_draw(table, "sigma_w1", phase="limit")


def _outputs(table: Table) -> int:
    """Number k of outputs, as many as beta has singular values."""
    return by_draw(table, "sigma_beta", phase="limit").shape[1]
