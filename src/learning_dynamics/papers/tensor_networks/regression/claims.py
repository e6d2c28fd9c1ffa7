"""Underdetermined regression: Theorems 4 and 6, Corollaries 5 and 6, Remark 4, Lemma 5.1."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, all_of, at_least, at_most, claim, equal
from learning_dynamics.papers.tensor_networks.flow_error import FLOW_ERROR, flow_error
from learning_dynamics.papers.tensor_networks.measured import values_of
from learning_dynamics.tables import Tables


@claim("Theorem 4", "largest relative distance between the flow's limit and the minimiser of Q")
def theorem_4(tables: Tables) -> Outcome:
    """In underdetermined regression a real orthogonally decomposable network tends to the global minimum that
    minimises Q_{L,α,η̄}.

    Tried on a network with random singular vectors, more singular values than inputs (so that S is not
    invertible), random positive weights η̄, depths 2, 3 and 4, and scales α over more than two decades. The
    minimiser of Q comes from its own convex program by Newton's method; nothing of the dynamics enters it. H_L
    has the closed form H_L(h_L(t)) = t h_L(t) − q_L(t)²/2, and p_L² − q_L² = 1, so that everything reduces to
    q_L.
    """
    return _formula(tables, "error")


@claim("Corollary 5", "largest relative distance between the flow's limit and the minimiser of Q")
def corollary_5(tables: Tables) -> Outcome:
    """In underdetermined regression diagonal networks tend to the global minimum that minimises Q_{L,α,w̄}.

    Checked on the paper's data point with equal weights, where it interpolates between [0, ½] and [0.2, 0.4],
    and on random data with random weights; depths 2, 3 and 4.
    """
    return _formula(tables, "error")


def _formula(tables: Tables, quantity: str) -> Outcome:
    errors = np.concatenate(
        [values_of(table, quantity, method="flow")["value"].to_numpy() for table in tables.values()]
    )
    return Outcome(equal(float(errors.max()), 0.0, flow_error(tables), because="100 rtol"), len(errors))


@claim(
    "Corollary 6",
    "largest relative distance between the flow's limit and the minimiser of Q(Fz)",
    correction=(
        "The argument of Q is d^(−(L−1)/2) Fz, not Fz: the singular values of the data tensor are d^((L−1)/2) Fx."
    ),
)
def corollary_6(tables: Tables) -> Outcome:
    """With even data, full-length convolutional networks tend to the even global minimum that minimises
    Q_{L,α,Fw̄}(Fz).

    The theorem behind it asks for Q(S^(−T) z), and a full-length convolutional network has S = d^((L−1)/2) F.
    Without that factor the minimiser is another, because H_L is not homogeneous: it looks like the absolute
    value for large arguments and like the square for small ones, and the factor moves every argument. The ends
    of the interpolation, α → 0 and α → ∞, are the same with and without it.
    """
    table = tables["convolutional"]
    printed = values_of(table, "printed_error", method="flow")["value"].to_numpy()
    corrected = values_of(table, "error", method="flow")["value"].to_numpy()
    tolerance = flow_error(tables)
    return Outcome(
        equal(float(printed.max()), 0.0, tolerance, because="100 rtol"),
        len(printed),
        corrected=equal(float(corrected.max()), 0.0, tolerance, because="100 rtol"),
        reason="the printed formula drops the factor d^((L-1)/2) of the data tensor's singular values",
    )


@claim("Remark 4", "largest relative distance from the weighted ℓ2 solution at the largest α")
def remark_4(tables: Tables) -> Outcome:
    """Q interpolates between a weighted ℓ1 norm (α → 0) and a weighted ℓ2 norm (α → ∞), with weights |η̄|^(2−L)
    and η̄^(2−2L).

    At depth 2 the approach to ℓ1 is only like a power of α that can be small, at depth 3 and more it is fast.
    The distances from both ends are measured along α.
    """
    ends = []
    for table in tables.values():
        scales = sorted(table["scale"].unique())
        for quantity, near, far in (("l2_distance", scales[-1], scales[0]), ("l1_distance", scales[0], scales[-1])):
            found = values_of(table, quantity, method="flow")
            rows = found.pivot_table(index="depth", columns="scale", values="value", aggfunc="max")
            ends.append(rows[near] / rows[far])
            if quantity == "l2_distance":
                wide = float(rows[near].max())
    ratios = pd.concat(ends)
    return Outcome(
        all_of(
            at_most(wide, 1e-3, because="relative corrections are of order α^(−2)... α^(−2L)"),
            at_most(float(ratios.max()), 0.5, because="distance at the near end relative to that at the far end"),
        ),
        len(ratios),
    )


@claim("Lemma 5.1", "largest relative error of the time at which |q| reaches its bound, against the closed form")
def lemma_5_1(tables: Tables) -> Outcome:
    """p_L and q_L exist on a symmetric interval (−c, c), and h_L = p^(L−1) q is odd and strictly increasing
    from −∞ to ∞ on it.

    The lemma leaves c open: it is infinite at depth 2 and finite above, c = B(½, (L−2)/2)/2, that is π/2 at
    depth 3 and 1 at depth 4, because p² − q² = 1.
    """
    table = tables["depth_functions"]
    reached = values_of(table, "reached")
    errors = np.abs(reached["value"] / reached["predicted"] - 1)
    h = values_of(table, "h")
    forward, backward = (h[h["sign"] == sign].reset_index(drop=True) for sign in (1, -1))
    oddness = np.abs(forward["value"] + backward["value"]) / np.maximum(np.abs(forward["value"]), 1e-300)
    falls = sum(
        (rows.sort_values("time")["value"].diff().dropna() <= 0).sum() for _, rows in h.groupby(["depth", "sign"])
    )
    rtol = table.attrs["settings"]["rtol"]
    return Outcome(
        all_of(
            equal(float(errors.max()), 0.0, FLOW_ERROR * rtol, because="100 rtol"),
            at_most(float(oddness.max()), 1e-12, because="the same integration with the sign of time reversed"),
            at_most(float(falls), 0.5, because="recorded times at which h is not above the one before"),
            at_least(
                float(forward.groupby("depth")["value"].max().min()),
                table.attrs["settings"]["last"],
                because="h passes the bound on q",
            ),
        ),
        len(reached),
    )


@claim("Theorem 6.1", "largest residual at the end of the flow, relative to the labels")
def theorem_6_convergence(tables: Tables) -> Outcome:
    """Deep fully connected networks reach zero loss from layers that dominate one another in the theorem's sense.

    Tried with the identity initialisation and with random layers within the conditions, depths 2 to 4 and scales from
    0.01 to 1. A flow that stays at a saddle misses the bound.
    """
    residual = np.concatenate([values_of(table, "residual")["value"].to_numpy() for table in tables.values()])
    bound = max(table.attrs["settings"]["residual"] for table in tables.values())
    return Outcome(at_most(float(residual.max()), bound, because="the residual asked for"), len(residual))


@claim("Theorem 6.2", "slowest fall of |β − β*| / |β*| with α, as a power of α")
def theorem_6_bias(tables: Tables) -> Outcome:
    """As α → 0, deep fully connected networks tend to the interpolator of least ℓ2 norm, whatever their depth.

    From random layers the distance falls in proportion to α. From the identity initialisation there is nothing
    to fall: every layer stays α times the identity plus a matrix within the span of the data, so that β is the
    least-norm interpolator at every α, a stronger statement than the theorem's.
    """
    distances = values_of(tables["deep_random"], "distance")
    worst = distances.pivot_table(index="depth", columns="scale", values="value", aggfunc="max")
    low, high = worst.columns[0], worst.columns[1]
    order = np.log(worst[high] / worst[low]) / np.log(high / low)
    identity = values_of(tables["deep_identity"], "distance")["value"].max()
    least = values_of(tables["deep_identity"], "residual")["value"].count()
    return Outcome(
        all_of(
            at_least(float(order.min()), 0.9, because="power of α between the two smallest scales; 1 is expected"),
            at_most(float(worst[low].max()), 10 * low, because="ten times the smallest α"),
            at_most(float(identity), 1e-8, because="100 times the residual asked for, identity initialisation"),
        ),
        len(distances) + int(least),
    )
