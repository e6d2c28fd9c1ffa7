"""One linear measurement of a 2 x 2 matrix: how the smaller singular value depends on the larger, by depth."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Finding, Judgement, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.deep_linear.one_entry import theory
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, by_draw, settings_of

ONE_ENTRY = "2 × 2 matrices, one entry observed, squared loss, random balanced layers"
CORRECTION = ("It holds for one linear measurement $\\langle A, W \\rangle$ whose singular vectors are those of $W$; "
              "a single entry turns the singular vectors.")  # fmt: skip


@claim("Theoretical example: one observed entry", scope=ONE_ENTRY, correction=CORRECTION)
def one_entry_depth_1(entry: Table, aligned: Table, *, amplification: Positive) -> Finding:
    r"""With one observed entry the smaller singular value is, at depth 1, a linear function of the larger.

    The relation follows from the law for singular values when $\langle A, u_r v_r^\top \rangle$ stays constant, that
    is for a measurement aligned with $W$: $d\sigma_2/d\sigma_1$ is then the ratio of $A$'s singular values. A single
    entry has $A$ of rank one. Not aligned, it turns the singular vectors: $\sigma_2$ departs from the best line by up
    to {printed:.2g} of its range, and ends near the absolute value of the opposite entry, which never moves.
    With $A = \mathrm{diag}(1, \rho)$ the line is exact.
    """
    return _relation(entry, aligned, 1, amplification, {"a power": 2, "a curve with an asymptote": 3})


@claim("Theoretical example: one observed entry", scope=ONE_ENTRY, correction=CORRECTION)
def one_entry_depth_2(entry: Table, aligned: Table, *, amplification: Positive) -> Finding:
    r"""With one observed entry the smaller singular value is, at depth 2, a power of the larger.

    For an aligned measurement the exponent is the ratio of $A$'s singular values; for a single entry no power fits:
    $\log \sigma_2$ departs from the best line in $\log \sigma_1$ by up to {printed:.2g} of its range. See depth 1.
    """
    return _relation(entry, aligned, 2, amplification, {"a line": 1, "a curve with an asymptote": 3})


def _relation(entry: Table, aligned: Table, depth: int, amplification: float, families: dict[str, int]) -> Finding:
    """Hold the relation at a depth: for one entry any member of the family, for an aligned measurement the one
    predicted.
    """
    tolerance = amplification * settings_of(aligned)["rtol"]
    because = f"{amplification:g} rtol of the integrator"
    settings = settings_of(aligned)
    larger, smaller = (by_draw(aligned, "sigma", depth=depth, index=index) for index in (1, 2))
    misfits = _misfits(entry, depth)

    def judge(family: int | None) -> Judgement:
        if family is None:
            return Judgement(
                every_draw("departure of σ_2(σ_1) from the best curve of its family, over its range", misfits,
                           at_most=tolerance, because=because, predicted=0.0)
            )  # fmt: skip
        curve = theory.smaller_singular_value(larger, settings["start"], settings["ratio"], family)
        return Judgement(
            equal_on_every_draw("error of σ_2 against its closed form in σ_1, aligned measurement, relative to σ_2's "
                                "largest", smaller, curve, tolerance=tolerance, because=because)
        )  # fmt: skip

    return Finding(judge, None, dict(families), corrected=depth,
                   reason="one entry is a measurement of rank one, which turns the singular vectors")  # fmt: skip


def _misfits(table: Table, depth: int) -> np.ndarray:
    """Return for each draw how far sigma_2 is from the best line (depth 1) or power (depth 2), over its range."""
    larger, smaller = (by_draw(table, "sigma", depth=depth, index=index) for index in (1, 2))
    if depth == 2:
        larger, smaller = np.log(larger), np.log(smaller)
    worst = []
    for x, y in zip(larger, smaller, strict=True):
        if not np.isfinite(x + y).all():
            worst.append(np.nan)
            continue
        fitted = np.polynomial.Polynomial.fit(x, y, 1)(x)
        worst.append(float(np.max(np.abs(y - fitted)) / np.ptp(y)))
    return np.array(worst)


@claim("Theoretical example: one observed entry", scope=f"{ONE_ENTRY}, and one aligned measurement; depths 3 and 4")
def one_entry_depth_3(
    entry: Table, aligned: Table, *, last: Fraction, flat: Positive, amplification: Positive
) -> Finding:
    r"""With one observed entry the smaller singular value has, from depth 3 on, an asymptote, however large the larger
    grows.

    What tells depths apart is a measurement aligned with $W$: there $\sigma_2$ follows, to {value:.1e}, the closed
    curve of its depth below $\sigma(0)\,(1-\rho)^{-N/(N-2)}$, where depths 1 and 2 have a line and a power without
    bound. For a single entry an asymptote is no mark of depth. While $\sigma_1$ grows from {last:g} of its end to its
    end, $\sigma_2$ moves by a power of it whose exponent is at most {exponent:.1e}; but it levels off at depths 1 and 2
    as well (ending at {one:.2g} and {two:.2g} in the median, against {three:.2g} and {four:.2g}).
    """
    settings = settings_of(aligned)
    depths = (3, 4)
    slopes = np.concatenate([_last_exponent(entry, depth, last) for depth in depths])
    larger, smaller = (np.concatenate([by_draw(aligned, "sigma", depth=depth, index=index) for depth in depths])
                       for index in (1, 2))  # fmt: skip

    def judge(prediction: tuple[tuple[int, int], float]) -> Judgement:
        families, exponent = prediction
        curves = [theory.smaller_singular_value(each, settings["start"], settings["ratio"], family)
                  for each, family in zip(larger, families, strict=True)]  # fmt: skip
        return Judgement(
            equal_on_every_draw("error of σ_2 against its closed form with an asymptote, aligned measurement, depths 3 "
                                "and 4, relative to σ_2's largest", smaller, curves,
                                tolerance=amplification * settings["rtol"],
                                because=f"{amplification:g} rtol of the integrator"),
            equal_on_every_draw("d log σ_2 / d log σ_1 at the end, one entry, depths 3 and 4", slopes, exponent,
                                tolerance=flat, relative_to=1.0, resolution=0.25,
                                because="a tenth of the exponent at depth 2"),
        )  # fmt: skip

    rivals = {
        "aligned, a power, as at depth 2": ((2, 2), 0.0),
        "aligned, a line, as at depth 1": ((1, 1), 0.0),
        "aligned, the asymptote of one layer more": ((4, 5), 0.0),
        "one entry, a power, as for an aligned measurement at depth 2": (depths, settings["ratio"]),
        "one entry, a line": (depths, 1.0),
    }
    ends = {depth: float(np.median(by_draw(entry, "sigma", depth=depth, index=2)[:, -1])) for depth in (1, 2, 3, 4)}
    told = dict(zip(("one", "two", "three", "four"), ends.values(), strict=True))
    told |= {"last": last, "exponent": float(np.max(np.abs(slopes)))}
    return Finding(judge, (depths, 0.0), rivals, facts=told, scaled=lambda prediction, _factor: prediction)


def _last_exponent(table: Table, depth: int, last: float) -> np.ndarray:
    """Return the mean exponent of sigma_2 in sigma_1 while sigma_1 grows from `last` of its end to its end."""
    found = []
    for larger, smaller in zip(*(by_draw(table, "sigma", depth=depth, index=index) for index in (1, 2)), strict=True):
        if not np.isfinite(larger + smaller).all():
            found.append(np.nan)
            continue
        begin = int(np.argmax(larger >= last * larger[-1]))
        found.append(float(np.log(smaller[-1] / smaller[begin]) / np.log(larger[-1] / larger[begin])))
    return np.array(found)


@claim("Theoretical example: one observed entry", origin="ours", scope=f"{ONE_ENTRY} with a positive determinant")
def one_entry_determinant_sign(entry: Table) -> Finding:
    r"""Balanced layers of depth two and more keep the sign of the determinant; at depth 1 one observed entry can turn
    it.

    The singular values of a balanced network move at rates that vanish with them, so that none reaches zero. At depth 1
    the observed entry alone moves, and the determinant with it, linearly: its last sign is that of
    $w_{11} w_{22} - y\, w_{21}$, which turns in {turned} of {starts} draws. This is what tells
    deeper networks from depth 1 under one observed entry.
    """
    depths = sorted(entry["depth"].unique())
    signs = {depth: np.sign(by_draw(entry, "determinant", depth=depth)) for depth in depths}
    alone = by_draw(entry, "predicted_sign", depth=1).ravel()
    lost = {depth: ~np.isfinite(each).all(axis=1) for depth, each in signs.items()}

    def judge(predicted: tuple[np.ndarray, np.ndarray]) -> Judgement:
        shallow, deep = predicted
        wrong = np.concatenate([np.abs(signs[depth][:, -1] - deep) for depth in depths if depth > 1])
        undecided = np.concatenate([lost[depth] for depth in depths if depth > 1])
        return Judgement(
            every_draw("error of the determinant's last sign, depths of two and more", wrong, at_most=0.0,
                       undecided=undecided, because="signs are exact", predicted=0.0),
            every_draw("error of the determinant's last sign, depth 1", np.abs(signs[1][:, -1] - shallow), at_most=0.0,
                       undecided=lost[1], because="signs are exact"),
        )  # fmt: skip

    kept = np.ones(len(alone))
    rivals = {"deeper layers turn it where depth 1 does": (alone, alone), "depth 1 keeps it as well": (kept, kept)}
    return Finding(judge, (alone, kept), rivals, facts={"turned": int((alone < 0).sum()), "starts": len(alone)})
