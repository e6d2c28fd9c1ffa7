"""Convergence of descent: the guaranteed rate, its assumptions, and balanced initialisation."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Outcome, at_least, claim
from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.papers.deep_linear.measured import values_of
from learning_dynamics.tables import Tables


@claim("From gradient flow to gradient descent", "smallest rate −log(ℓ(t)/ℓ(0)) / ηt")
def linear_rate(tables: Tables) -> Outcome:
    """From balanced layers closer to the optimum than any matrix with σ_min ≤ c, the loss falls exponentially.

    The slide gives exp(−Ω(c²ηt)); the theorem behind it (Arora, Cohen, Golowich and Hu 2019) has the constant
    one and the exponent c^(2(N−1)/N), which is the stronger statement and the one checked, at every recorded
    time until rounding ends the fall. The bound is far from tight: along the flow the rate is at least
    2N c^(2(N−1)/N), and in fact 2N σ_min^(2(N−1)/N) of the target in the end.
    """
    (table,) = tables.values()
    settings = table.attrs["settings"]
    rows = values_of(table, "loss")
    kept = rows[(rows["case"] == "assumptions hold") & (rows["time"] > 0) & (rows["value"] > 1e-20)]
    rate = float((-np.log(kept["value"]) / kept["time"]).min())
    bound = theory.guaranteed_rate(settings["margin"], settings["depth"])
    return Outcome(at_least(rate, bound, because="c^(2(N−1)/N), above the slide's c²"), kept["seed"].nunique())


@claim(
    "Claim: our assumptions on init are necessary",
    "smallest share of starts that miss a loss of 1e-5 ℓ(0), beyond the share with both assumptions",
)
def assumptions_necessary(tables: Tables) -> Outcome:
    """Giving up either assumption can make descent fail.

    Existence is claimed, so one start of each kind is enough. Beyond a singular matrix: balanced, but with
    one singular value of the target's negative. Balanced layers cannot change the sign of a determinant, and
    the loss stops at half the square of that singular value. Unbalanced: the successful start with its
    first layer multiplied and its second divided by a large number. The end-to-end matrix is the same, but the
    curvature grows with the square of that number, and the step that the theorem allows for balanced layers
    is too long. Not every imbalance fails: with a factor of 20 most starts leave the steep region and converge.
    """
    (table,) = tables.values()
    rows = values_of(table, "loss")
    last = rows[rows["time"] == rows["time"].max()]
    failed = (last["value"] > 1e-5).groupby(last["case"]).mean()
    excess = failed.drop("assumptions hold") - failed["assumptions hold"]
    seeds = int(last["seed"].nunique())
    return Outcome(at_least(float(excess.min()), 1 / seeds, because="one more failing start of each kind"), seeds)


@claim(
    "Random balanced initialisation", "half decades of deviation over which balanced start converges and layer-wise not"
)
def balanced_init_converges_more_widely(tables: Tables) -> Outcome:
    """Balanced initialisation converges over a wider range of standard deviations than independent Gaussian layers.

    A deviation counts where a majority of draws reach the optimum within the cap at some learning rate; the
    smaller of the two advantages, at depth 3 and at depth 8, is reported. Layer-wise deviations enter the
    end-to-end matrix to the power of the depth, so that at depth 8 all but one of them start on a plateau or
    far outside; at depth 3 nearly all of them work, and the advantage is small. The deviation of the balanced
    start is that of the end-to-end matrix, as in its definition, so the two axes are not the same quantity.
    """
    (table,) = tables.values()
    steps = values_of(table, "steps")
    converged = steps.assign(converged=steps["value"].notna())
    share = converged.groupby(["depth", "init", "deviation"])["converged"].mean()
    counts = (share > 0.5).groupby(["depth", "init"]).sum()
    advantage = (counts.xs("balanced", level="init") - counts.xs("layer_wise", level="init")).min()
    return Outcome(at_least(float(advantage), 1.0, because="one deviation of the grid"), len(steps))
