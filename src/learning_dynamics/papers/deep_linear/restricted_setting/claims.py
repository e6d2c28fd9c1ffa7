"""The restricted setting: commuting measurements, where any depth ends at the least nuclear norm."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Finding, Judgement, claim, equal_on_every_draw, every_draw
from learning_dynamics.settings import NonNegative, Positive
from learning_dynamics.tidy import Table, by_draw, settings_of

SCOPE = ("commuting symmetric measurements with positive eigenvalues of a positive semidefinite matrix, squared loss, "
         "layers that start at multiples of the identity; depths 2, 3 and 4; instances drawn until the least nuclear "
         "norm is attained at one matrix, with a dual slack")  # fmt: skip
CELL = ["depth", "seed"]


@claim("Current theory is oblivious to depth, theorem", scope=SCOPE)
def restricted_setting_nuclear_norm(ends: Table, *, tolerance: Positive) -> Finding:
    r"""Where symmetric measurements commute and layers start at one multiple of the identity, any depth of at least two
    ends at the least nuclear norm of positive semidefinite matrices that fit them, as the start tends to zero.

    The least nuclear norm is found by linear programming in the common eigenvectors. From the smallest start the
    flow's end is within {value:.1e} of it, relatively, on all of {draws} flows, and every smaller start is nearer than
    the one before; the matrix of least Frobenius norm that fits the measurements has up to {other:.2g} times as much.
    """
    scales = sorted(ends["scale"].unique())
    excess = np.array([_norms(ends, scale)[0] / _norms(ends, scale)[1] - 1 for scale in scales[::-1]])
    smallest = scales[0]

    def judge(prediction: tuple[str, float, np.ndarray]) -> Judgement:
        quantity, scale, approach = prediction
        measured, predicted = _norms(ends, scale, quantity)
        return Judgement(
            equal_on_every_draw("error of the nuclear norm at the end, relative", measured, predicted,
                                tolerance=tolerance, relative_to=predicted, resolution=0.1,
                                because="what the smallest start leaves of the limit, at depth 2 about its power "
                                "of the dual slack"),
            every_draw("excess over the least norm from a smaller start, over that from the one before",
                       np.max(np.abs(approach[1:]) / np.maximum(np.abs(approach[:-1]), 1e-9), axis=0), at_most=1.0,
                       because="the limit is approached; differences of 1e-9 are the integrator's"),
            every_draw("largest relative error of a measurement",
                       by_draw(ends, "misfit", draw=CELL, scale=scale)[:, 0],
                       at_most=1e-6, because="the flow has fitted them"),
        )  # fmt: skip

    measured, other = _norms(ends, smallest, "least_squares_norm")
    rivals = {
        "the least Frobenius norm": ("least_squares_norm", smallest, excess),
        "the end is the same from any start": ("nuclear_norm", scales[-1], excess),
        "smaller starts end further away": ("nuclear_norm", smallest, excess[::-1]),
    }
    return Finding(judge, ("nuclear_norm", smallest, excess), rivals, facts={"other": float(np.max(other / measured))})


def _norms(table: Table, scale: float, quantity: str = "nuclear_norm") -> tuple[np.ndarray, np.ndarray]:
    measured, predicted = (by_draw(table, quantity, draw=CELL, column=each, scale=scale)[:, 0]
                           for each in ("value", "predicted"))  # fmt: skip
    return measured, predicted


@claim("Current theory is oblivious to depth, proposition", scope=SCOPE)
def restricted_setting_not_schatten(ends: Table, *, resolution: NonNegative) -> Finding:
    r"""In instances of this setting the least nuclear norm contradicts the least Schatten quasi-norm, even locally,
    for all $p \in (0, 1)$.

    The end of the flow is moved along the symmetric product of two of its eigenvectors. Measurements do not see that
    ({seen:.1e} at most), and while the matrix stays positive semidefinite its nuclear norm, the trace, stays as well;
    but two eigenvalues move apart, and every $\sum_r \sigma_r^p$ with $p < 1$ falls, by {falls:.1e} relatively at
    the least: what the networks end at is no local minimum of it, at any depth.
    """
    smallest = ends["scale"].min()
    powers = np.array(settings_of(ends)["powers"])
    change = by_draw(ends, "schatten_change", draw=CELL, scale=smallest)
    seen = by_draw(ends, "seen", draw=CELL, scale=smallest)[:, 0]
    norms = change[:, powers == 1.0][:, 0]

    def judge(chosen: np.ndarray) -> Judgement:
        return Judgement(
            every_draw("largest relative change of Σσ^p over p", change[:, chosen].max(axis=1), at_most=-resolution,
                       because="beyond rounding"),
            every_draw("relative change of the nuclear norm", np.abs(norms), at_most=1e-9, because="rounding"),
            every_draw("largest relative change of a measurement", seen, at_most=1e-9,
                       because="to which the end's eigenvectors are the measurements'"),
        )  # fmt: skip

    falls = -float(np.nanmax(change[:, powers < 1.0]))
    rivals = {"the nuclear norm falls as well": powers == 1.0, "and convex powers": powers > 1.0}
    return Finding(judge, powers < 1.0, rivals, facts={"seen": float(np.nanmax(seen)), "falls": falls},
                   scaled=lambda chosen, _factor: chosen)  # fmt: skip
