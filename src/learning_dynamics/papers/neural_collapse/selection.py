"""Learning rates chosen by a sweep, for the best test error at the last epoch, as an overlay of the configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import optimum
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.trainings import at_the_end
from learning_dynamics.tidy import Table, settings_of


@dataclass(frozen=True)
class ChosenRate:
    """The learning rate that a sweep chooses.

    Attributes
    ----------
    rate : float
        The rate in the middle of `as_good`.
    as_good : tuple of float
        The rates whose test error is as good as the lowest, ascending.
    grid : tuple of float
        All rates of the sweep, ascending.
    """

    rate: float
    as_good: tuple[float, ...]
    grid: tuple[float, ...]

    @property
    def reaches_edge(self) -> bool:
        """Whether the smallest or the largest rate of the sweep is as good: a rate beyond it may be better."""
        return self.as_good[0] == self.grid[0] or self.as_good[-1] == self.grid[-1]

    def __str__(self) -> str:
        edge = ", up to an edge of the sweep" if self.reaches_edge else ""
        return (
            f"{self.rate:.3g}, the middle of {len(self.as_good)} rates that are as good as the best of "
            f"{len(self.grid)} from {self.grid[0]:.3g} to {self.grid[-1]:.3g}{edge}"
        )


def best_rate(tables: Sequence[Table]) -> ChosenRate:
    """Return the learning rate in the middle of those whose test error at the end is as good as the lowest.

    `tables` are those of a sweep of rates, one for each. A rate is as good if its mean test error over seeds is above
    the lowest mean by no more than the latter's standard error: a few hundred test images do not tell such rates apart.
    With one seed the standard error is taken as zero. The middle is the rate nearest to the geometric mean of the
    smallest and the largest rate that are as good; of two that are equally near it is the smaller. A training that
    diverged may end with the test error of its initial network (`diverged: reset` of `training.runs.training`). Such a
    rate is part of the grid, so that the rate before it is not the last.
    """
    # by rate: test errors at the last epoch, shape (seeds,)
    errors = {settings_of(table)["learning_rate"]: at_the_end([table], quantities.ERROR, "test") for table in tables}
    means = {rate: float(values.mean()) for rate, values in errors.items()}
    best = optimum(list(means), list(means.values()))
    best_errors = errors[best.at]
    standard_error = 0.0
    if len(best_errors) > 1:
        standard_error = float(best_errors.std(ddof=1)) / len(best_errors) ** 0.5
    # Means of the same errors may differ by rounding. 1e-12 is chosen: above rounding, and far below one test image
    threshold = (best.value + standard_error) * (1 + 1e-12)
    as_good = tuple(rate for rate in best.grid if means[rate] <= threshold)  # ascending, as the grid is
    log_middle = 0.5 * (np.log(as_good[0]) + np.log(as_good[-1]))  # the logarithm of the geometric mean

    def distance_from_middle(rate: float) -> float:
        """Return |log rate - log middle|.

        It is rounded to 9 digits, so that rates on both sides of the middle are equally near where only rounding
        differs.
        """
        return round(abs(float(np.log(rate)) - log_middle), 9)

    middle_rate = min(as_good, key=lambda rate: (distance_from_middle(rate), rate))
    return ChosenRate(middle_rate, as_good, best.grid)


def overlay(rates: Mapping[str, float]) -> dict[str, Any]:
    """Return the configuration that gives each run its rate."""
    reason = {
        "learning_rate": {
            "chosen": "by the paper's recipe, test error at the last epoch; the middle of what is as good"
        }
    }
    runs = {run: {"learning_rate": rate, "provenance": reason} for run, rate in rates.items()}
    return {"changes": {"neural_collapse": {"runs": runs}}}


def learning_rates(tables: Sequence[Table]) -> str:
    """Return the configuration that gives each run the best rate of its sweep ``<run>_rates``, as YAML.

    A table of the sweep is named ``<run>_rates--<setting>-<value>``.

    Raises
    ------
    ProjectError
        If a table's name is not of this form.
    """
    sweeps: dict[str, list[Table]] = {}
    for table in tables:
        run, is_of_sweep, _ = table.attrs["run"].partition("_rates--")
        if not is_of_sweep:
            raise ProjectError(f"run {run} is of no sweep of rates; name tables of a run `<run>_rates`")
        sweeps.setdefault(run, []).append(table)
    chosen = {run: best_rate(tables_of_rates) for run, tables_of_rates in sweeps.items()}
    notes = "".join(f"# {run}: {choice}\n" for run, choice in chosen.items())
    return (
        "# learning rates chosen by test error; lay over the configuration that has the sweep\n"
        + notes
        + yaml.safe_dump(overlay({run: float(choice.rate) for run, choice in chosen.items()}))
    )
