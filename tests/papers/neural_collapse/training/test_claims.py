"""Claims on made-up trainings: what they leave undecided, which trainings they leave out, how losses are compared."""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.neural_collapse.collapse import claims as collapse
from learning_dynamics.papers.neural_collapse.decomposition import claims as decomposition
from learning_dynamics.papers.neural_collapse.generalisation import claims as generalisation
from learning_dynamics.papers.neural_collapse.perturbations import claims as perturbations
from learning_dynamics.papers.neural_collapse.trainings import (
    at_zero_error,
    by_seed,
    when_errors_end,
    without_exceptions,
    zero_error_epochs,
)
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import NETWORKS, made_up, trainings

CASES = {
    "nc1": (collapse.nc1, {"level": 0.01}),
    "nc4": (collapse.nc4, {"share": 0.001}),
    "deviation": (
        decomposition.least_squares_deviation_negligible,
        {"share": 0.1, "reference": "all", "since": "zero_error", "decay": "trained"},
    ),
    "grows": (perturbations.robustness_grows_after_zero_error, {"measure": "robustness"}),
    "accuracy": (generalisation.accuracy_after_zero_error, {"average": "mean"}),
    "test_images": (generalisation.test_collapse_slower, {"average": "mean"}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_training_that_keeps_its_errors_leaves_what_is_said_of_the_time_after_them_undecided(case):
    claim, settings = CASES[case]
    tables = altered.put({"trainings": trainings()}, "trainings", "error", 0.01, 0, split="train", seed=0)
    found = evaluate(claim, tables, settings)
    assert found.verdict == "undecided"
    unmet = found.judgement.deciding
    assert unmet.is_premise
    assert (unmet.value, unmet.draws, unmet.draws_against) == (0.01, 9, 1)
    assert "the premise is not met (0.01" in found.reason


def test_a_value_that_is_missing_is_undecided():
    tables = altered.put({"trainings": trainings()}, "trainings", "nc1", np.nan, 1, split="train", epoch=100)
    assert evaluate(collapse.nc1, tables, CASES["nc1"][1]).verdict == "undecided"


@pytest.mark.parametrize(
    ("claim", "settings"),
    [
        (collapse.mse_collapses_faster, {"until": "end"}),
        (perturbations.mse_more_robust, {"measure": "robustness"}),
    ],
)
def test_losses_are_compared_pairwise_and_can_lose(claim, settings):
    mse, ce = trainings(), trainings("ce")
    assert evaluate(claim, {"mse": mse, "ce": ce[::-1]}, settings).verdict == "reproduced"
    with pytest.raises(ProjectError, match="role `mse` holds a training whose loss is ce"):
        evaluate(claim, {"mse": ce, "ce": mse}, settings)
    for tables, loss in ((mse, "ce"), (ce, "mse")):
        for table in tables:
            table.attrs["settings"]["loss"] = loss
    assert evaluate(claim, {"mse": ce, "ce": mse}, settings).verdict == "not reproduced"


def test_a_network_without_a_partner_leaves_the_comparison_untested():
    found = evaluate(collapse.mse_collapses_faster, {"mse": trainings(), "ce": trainings("ce")[:2]}, {"until": "end"})
    assert found.verdict == "untested"


def test_five_data_sets_leave_out_what_the_paper_names():
    tables = [made_up(network, data=data, seeds=1) for data in collapse.FIVE_DATA_SETS for network in NETWORKS]
    settings = {"level": 0.01, "share": 0.001}
    found = evaluate(collapse.five_data_sets, {"trainings": tables}, settings)
    assert found.verdict == "reproduced"
    assert found.judgement.headline.draws == 13
    assert "2 left out" in found.judgement.headline.excluded
    assert evaluate(collapse.five_data_sets, {"trainings": tables[:3]}, settings).verdict == "untested"
    (kept, *_), excluded = without_exceptions([made_up("vgg", data="stl10"), made_up("resnet", data="stl10")])
    assert kept.attrs["settings"]["network"] == "vgg"
    assert list(excluded.values()) == [3]


def test_errors_end_at_the_first_epoch_without_one_and_what_is_measured_less_often_starts_at_its_next():
    table = made_up()
    assert zero_error_epochs(table).tolist() == [10, 10, 10]
    assert when_errors_end([table], "nc1")[0] == pytest.approx(10**-1.5)
    sparse = by_seed(table, "robustness", "test").loc[[1, 30, 100]]
    assert at_zero_error(sparse, table)[0] == pytest.approx(0.05 * 30**0.5)
