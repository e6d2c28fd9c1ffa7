"""Trajectories that no regulariser emulates."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Outcome, all_of, at_least, claim, equal
from learning_dynamics.papers.deep_linear.measured import values_of
from learning_dynamics.tables import Tables


@claim(
    "Trajectories cannot be emulated via regularization",
    "smallest |∮ P_W vec(∇ℓ)| over ∮ |P_W vec(∇ℓ)|, at depths of two and more",
    correction="It holds from depth 3 on. At depth 2 with one output and whitened inputs P_W ∇ℓ is a gradient field.",
)
def no_regulariser(tables: Tables) -> Outcome:
    """The preconditioned gradient is no function's gradient: along some closed curve its integral is not zero.

    The slide excludes no depth. For one output, P_W ∇ℓ = |W|^(2−2/N) (∇ℓ + (N−1) ŵŵᵀ∇ℓ). With whitened inputs
    the part of ∇ℓ along W is a gradient field at every depth, and for the rest, a constant vector g, the
    antisymmetric part of the Jacobian is a multiple of 2 − 2/N − (N−1), which is zero at N = 1 and N = 2. At
    depth 2 the flow is therefore plain gradient descent on the function |W| ⟨W, g⟩ + ⅔|W|³, up to constants:
    a regulariser of the kind that the slide rules out. From depth 3 on the integral is not zero and equals its
    closed form. At depth 2 it is not zero either once inputs are correlated or there is a second output,
    as the figure shows; the original theorem (Arora, Cohen and Hazan 2018) is about more than two layers.
    """
    (table,) = tables.values()
    wide = table.pivot_table(index=["case", "depth"], columns="quantity", values="value")
    share = wide["integral"].abs() / wide["scale"]
    depth = share.index.get_level_values("depth")
    linear = float(share[depth == 1].max())
    floor = 1e3 * max(linear, np.finfo(float).eps)
    exact = values_of(table, "integral").dropna(subset=["predicted"])
    error = float((exact["value"] - exact["predicted"]).abs().max())
    known = equal(error, 0.0, 1e-10, because="Gauss-Legendre quadrature of smooth sides")
    note = "a thousand times the quadrature's rounding, seen at depth 1"
    return Outcome(
        all_of(at_least(float(share[depth >= 2].min()), floor, because=note), known),
        len(share),
        corrected=all_of(at_least(float(share[depth >= 3].min()), floor, because=note), known),
        reason="At depth 2, with one output and whitened inputs, the integral vanishes along every closed curve",
    )
