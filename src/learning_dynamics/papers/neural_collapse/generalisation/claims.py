"""Claims on test images: how variability collapses on them, and how accuracy goes on."""

from __future__ import annotations

from learning_dynamics.claims import Outcome, all_of, at_least, claim
from learning_dynamics.papers.neural_collapse.epochs import at_zero_error_and_end, by_seed
from learning_dynamics.papers.neural_collapse.trainings import (
    above_zero,
    falls_after_zero_error,
    least_median,
    members,
    never_without_error,
    trained_with,
)
from learning_dynamics.tables import Tables


@claim(
    "Figure 12",
    "NC1's fall on train over its fall on test images, zero error to end, for the network and loss where it is least",
)
def test_collapse_slower(tables: Tables) -> Outcome:
    """On test images variability collapses too, but more slowly and less deeply than on train images.

    Three things are asked of every network, of the median over its seeds, under both losses: NC1 on test images falls
    after zero train error; it falls by less than on train images; and it ends above its train value. Test classes
    are not quite equally frequent on digits; classes weigh equally.
    """
    checks = []
    for table in tables.values():
        train, test = falls_after_zero_error(table, "nc1"), falls_after_zero_error(table, "nc1", "test")
        ends = (by_seed(table, "nc1", "test").iloc[-1] / by_seed(table, "nc1").iloc[-1]).where(train.notna())
        for series in (train / test, test, ends):
            checks.append(at_least(least_median([series]), 1.0, because="median over seeds, in every network"))
    return Outcome(all_of(*checks), members(tables), reason=never_without_error(tables))


test_collapse_slower.__test__ = False  # a claim, not a test


@claim("Table 1", "test accuracy at the end less that at zero train error, percentage points, mean over trainings")
def accuracy_after_zero_error(tables: Tables) -> Outcome:
    """Under MSE, test accuracy improves when training goes on beyond zero train error.

    The paper's median improvement is 0.96 and its mean 1.83 percentage points, with one of fifteen networks
    getting worse. The mean over all trainings must lie above zero by more than its 95 % interval. On digits
    one test image is a quarter of a point.
    """
    mse = trained_with(tables, "mse")
    changes = []
    for table in mse.values():
        start, end = at_zero_error_and_end(by_seed(table, "error", "test"), table)
        changes.append(100 * (start - end))
    reason = never_without_error(mse) or "Accuracy does not improve beyond its spread over trainings"
    return Outcome(above_zero(changes, together=True), members(mse), reason=reason)
