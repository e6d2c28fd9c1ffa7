"""Claims on training: what they leave undecided, which trainings they leave out, and how losses are compared.

The measurements are made up, so that what a claim asks for is seen without training a network.
"""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import evaluate
from learning_dynamics.measures.collapse import variability
from learning_dynamics.papers.neural_collapse.collapse import claims as collapse
from learning_dynamics.papers.neural_collapse.decomposition import claims as decomposition
from learning_dynamics.papers.neural_collapse.generalisation import claims as generalisation
from learning_dynamics.papers.neural_collapse.robustness import claims as robustness
from learning_dynamics.papers.neural_collapse.trainings import chance_level, ordinary
from tests.papers.neural_collapse.training.made_up import made_up

NETWORKS = ("vgg", "resnet", "densenet")
CASES = {
    "nc1": (collapse.nc1, {"level": 0.01}),
    "nc4": (collapse.nc4, {"share": 0.001}),
    "deviation": (
        decomposition.least_squares_deviation_negligible,
        {"share": 0.1, "reference": "all", "since": "zero_error", "decay": "trained"},
    ),
    "grows": (robustness.robustness_grows_after_zero_error, {"measure": "robustness"}),
    "accuracy": (generalisation.accuracy_after_zero_error, {"average": "mean"}),
    "test_images": (generalisation.test_collapse_slower, {"average": "mean"}),
}


def trainings(loss="mse"):
    return [made_up(network, loss) for network in NETWORKS]


@pytest.mark.parametrize("case", CASES)
def test_a_training_that_keeps_its_errors_leaves_what_is_said_of_the_time_after_them_undecided(case):
    claim, settings = CASES[case]
    tables = trainings()
    rows = (tables[0]["quantity"] == "error") & (tables[0]["split"] == "train") & (tables[0]["seed"] == 0)
    tables[0].loc[rows, "value"] = 0.01
    found = evaluate(claim, {"trainings": tables}, settings)
    assert found.verdict == "undecided"
    unmet = found.judgement.deciding
    assert unmet.is_premise
    assert (unmet.value, unmet.draws, unmet.draws_against) == (0.01, 9, 1)
    assert "the premise is not met (0.01" in found.reason


def test_a_value_that_is_missing_is_undecided():
    tables = trainings()
    rows = (tables[1]["quantity"] == "nc1") & (tables[1]["split"] == "train") & (tables[1]["epoch"] == 100)
    tables[1].loc[rows, "value"] = np.nan
    assert evaluate(collapse.nc1, {"trainings": tables}, CASES["nc1"][1]).verdict == "undecided"


@pytest.mark.parametrize(
    ("claim", "settings"),
    [
        (collapse.mse_collapses_faster, {"until": "end"}),
        (robustness.mse_more_robust, {"measure": "robustness"}),
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
    tables = [made_up(network, data=data, seeds=1) for data in collapse.FIVE for network in NETWORKS]
    settings = {"level": 0.01, "share": 0.001}
    found = evaluate(collapse.five_data_sets, {"trainings": tables}, settings)
    assert found.verdict == "reproduced"
    assert found.judgement.headline.draws == 13
    assert "2 left out" in found.judgement.headline.excluded
    assert evaluate(collapse.five_data_sets, {"trainings": tables[:3]}, settings).verdict == "untested"
    (kept, *_), excluded = ordinary([made_up("vgg", data="stl10"), made_up("resnet", data="stl10")])
    assert kept.attrs["settings"]["network"] == "vgg"
    assert list(excluded.values()) == [3]


def test_unrelated_features_have_the_level_of_chance():
    means = np.random.default_rng(0).standard_normal((200, 10, 2000)) / np.sqrt(140)
    level = chance_level([made_up()], "nc1")[0] * 64 / 2000
    assert variability(np.eye(2000), means).mean() == pytest.approx(level, rel=0.02)
