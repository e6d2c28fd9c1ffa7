"""Learning rates chosen by a sweep, for the best test error at the last epoch, as an overlay of the configuration."""

from collections.abc import Mapping, Sequence

import numpy as np
import yaml

from learning_dynamics.evidence import Optimum, optimum
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.trainings import at_the_end
from learning_dynamics.tidy import Table, settings_of


def best_rate(tables: Sequence[Table]) -> Optimum:
    """Return the learning rate in the middle of those whose test error at the end is as good as the lowest.

    `tables` are those of a sweep of rates, one for each. A rate is as good if its mean test error over seeds is above
    the lowest mean by no more than the latter's standard error: a few hundred test images do not tell such rates apart.
    The middle is the rate nearest to the geometric mean of the smallest and the largest rate that are as good; of two
    that are equally near it is the smaller. A training that diverged counts as untrained, so that the rate before it is
    not the last of the grid.
    """
    # by rate: test errors at the last epoch, shape (seeds,)
    errors = {settings_of(table)["learning_rate"]: at_the_end([table], quantities.ERROR, "test") for table in tables}
    means = {rate: float(values.mean()) for rate, values in errors.items()}
    best = optimum(list(means), list(means.values()))
    seeds = errors[best.at]
    threshold = best.value + (float(seeds.std(ddof=1)) / len(seeds) ** 0.5 if len(seeds) > 1 else 0.0)
    # Means of the same errors may differ by rounding. 1e-12 is chosen: above rounding, and far below one test image.
    # The grid is ascending, and so are the rates that are as good
    as_good = [rate for rate in best.grid if means[rate] <= threshold * (1 + 1e-12)]
    # the logarithm of the geometric mean
    middle = 0.5 * (np.log(as_good[0]) + np.log(as_good[-1]))
    # rounded to 9 digits, so that rates on both sides of the middle count as equally near where only rounding differs
    middle_rate = min(as_good, key=lambda rate: (round(abs(float(np.log(rate)) - middle), 9), rate))
    at_edge = bool(as_good[0] == best.grid[0] or as_good[-1] == best.grid[-1])
    return Optimum(best.grid, middle_rate, means[middle_rate], at_edge)


def overlay(rates: Mapping[str, float]) -> dict:
    """Return the configuration that gives each run its rate."""
    reason = {
        "learning_rate": {
            "chosen": "by the paper's recipe, test error at the last epoch; the middle of what is as good"
        }
    }
    runs = {run: {"learning_rate": rate, "provenance": reason} for run, rate in rates.items()}
    return {"changes": {"neural_collapse": {"runs": runs}}}


def learning_rates(tables: Sequence[Table]) -> str:
    """Return the configuration that gives each run the best rate of its sweep ``<run>_rates``, as YAML."""
    sweeps: dict[str, list[Table]] = {}
    for table in tables:
        sweeps.setdefault(table.attrs["run"].partition("_rates--")[0], []).append(table)
    best = {run: best_rate(tables_of_rates) for run, tables_of_rates in sweeps.items()}
    notes = "".join(f"# {run}: {choice}\n" for run, choice in best.items())
    return (
        "# learning rates chosen by test error; lay over the configuration that has the sweep\n"
        + notes
        + yaml.safe_dump(overlay({run: float(choice.at) for run, choice in best.items()}))
    )
