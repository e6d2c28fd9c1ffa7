"""Classification of one data point, also by filters of several lengths: Theorem 3, Corollary 4."""

from __future__ import annotations

from learning_dynamics.claims import Outcome, all_of, at_most, claim, equal
from learning_dynamics.papers.tensor_networks.limit_directions import RUN, check_directions, loss_vanishes
from learning_dynamics.papers.tensor_networks.measured import values_of
from learning_dynamics.tables import Tables


@claim("Theorem 3", "largest angle to the top singular vectors' coefficients, at infinite log t, in degrees")
def theorem_3(tables: Tables) -> Outcome:
    """Two layers trained on one data point tend to the top singular vectors of M(x), both layers alike up to
    the label's sign.

    Checked on fully connected, diagonal and full-length convolutional networks and on filters of every length,
    with labels of both signs. In singular coordinates η₁ − y η₂ must vanish relative to η₁. The angle falls
    like a power of log t that the gap between the first two singular values sets; runs with a power below 1/4
    are beyond extrapolation even at log t = 10⁶ and left out.
    """
    single, filters = tables["single_point"], tables["filters"]
    check, count = check_directions([(single, {})], RUN)
    short, more = check_directions([(filters, {})], ["seed", "length"])
    difference = max(
        values_of(table[table["tau"] == table["tau"].max()], "layer_difference")["value"].max()
        for table in (single, filters)
    )
    alike = at_most(float(difference), 0.02, because="differences stay while layers grow like (log t)^(1/2)")
    return Outcome(all_of(check, short, alike, loss_vanishes([single, filters])), count + more)


@claim("Corollary 4", "largest angle to the filtered data point, at infinite log t, in degrees")
def corollary_4(tables: Tables) -> Outcome:
    """A two-layer convolutional network with filters of length one tends to the data point, of length two to a
    filtered version of it.

    The filter passes low frequencies where the data point's autocorrelation at lag one is positive, high ones
    where it is negative; both signs are among the data. The corollary's formula is also held against the top
    singular vectors of the data tensor. With an autocorrelation of zero the two singular values agree, and the
    initialisation decides; the corollary leaves that case out.
    """
    table = tables["filters"]
    check, count = check_directions([(table, {"length": [1, 2]})], ["seed", "length"])
    keys = ["seed", "length", "index"]
    limits = values_of(table, "coefficient", length=[1, 2]).set_index(keys)["predicted"]
    formula = values_of(table, "corollary").set_index(keys)["predicted"]
    return Outcome(
        all_of(
            check,
            equal(float((limits - formula).abs().max()), 0.0, 1e-10, because="rounding: formula and singular vectors"),
            loss_vanishes([table[table["length"] <= 2]]),
        ),
        count,
    )
