"""Claims on robustness, on made-up trainings; and perturbations of a linear network against their closed form."""

import numpy as np
import pytest
import scipy
import torch

from learning_dynamics.measures.robustness import crossing_distances, deepfool
from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import made_up

PAPER = "neural_collapse"
NAMES = ("vgg", "resnet", "densenet")
MEASURES = ("robustness_smallest", "robustness")


def both():
    return {loss: [made_up(network, loss) for network in NAMES] for loss in ("mse", "ce")}


def mse():
    return {"trainings": both()["mse"]}


def values_at(tables, quantity, epoch):
    return np.concatenate([table.loc[altered.rows_of(table, quantity, epoch=epoch), "value"] for table in tables])


@pytest.mark.parametrize("measure", MEASURES)
def test_the_lead_at_the_last_epoch_decides_by_the_chosen_measure(measure):
    found = support.evaluation(PAPER, "mse_more_robust", both(), measure=measure)
    assert found.verdict == "reproduced"
    differences = values_at(both()["mse"], measure, 100) - values_at(both()["ce"], measure, 100)
    interval = scipy.stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    assert found.judgement.headline.value == pytest.approx(differences.mean())
    assert found.judgement.headline.lower == pytest.approx(interval.low)
    facts = {"mse": ("mse", MEASURES[0]), "ce": ("ce", MEASURES[0]), "mse_deepfool": ("mse", MEASURES[1]),
             "ce_deepfool": ("ce", MEASURES[1])}  # fmt: skip
    for name, (loss, quantity) in facts.items():
        assert found.facts[name] == pytest.approx(values_at(both()[loss], quantity, 100).mean())
    for quantity in MEASURES:
        tables = both()
        for place in range(3):
            altered.put(tables, "mse", quantity, lambda v: v / 1e3, place, epoch=100)
        expected = "refused" if quantity == measure else "reproduced"
        assert altered.verdict("mse_more_robust", tables, measure=measure) == expected


@pytest.mark.parametrize(("decades", "expected"), [(2.3, "reproduced"), (1.7, "refused")])
def test_magnitudes_are_decades_of_the_network_with_the_largest_ratio(decades, expected):
    tables = both()
    for seed, more in enumerate((-0.1, 0.0, 0.1)):
        least = values_at(tables["ce"][1:2], "robustness", 100)[seed]
        altered.put(tables, "mse", "robustness", 10 ** (decades + more) * least, 1, seed=seed, epoch=100)
    found = support.evaluation(PAPER, "robustness_by_magnitudes", tables)
    assert (found.verdict == "reproduced") == (expected == "reproduced")
    assert found.judgement.headline.value == pytest.approx(decades)
    assert found.judgement.headline.upper == pytest.approx(decades + 0.1 * scipy.stats.t.ppf(0.975, 2) / 3**0.5)
    assert (found.facts["least"], found.facts["most"]) == pytest.approx((10 ** (decades - 0.1), 10 ** (decades + 0.1)))
    assert found.facts["smallest"] == pytest.approx(100 ** (0.3 * 0.3))
    assert altered.verdict("robustness_by_magnitudes", tables, measure="robustness_smallest") == "refused"
    assert altered.verdict("robustness_by_magnitudes", tables, magnitudes=decades - 0.3) == "reproduced"


@pytest.mark.parametrize("measure", MEASURES)
def test_growth_is_from_the_end_of_errors(measure):
    found = support.evaluation(PAPER, "robustness_grows_after_zero_error", mse(), measure=measure)
    assert found.verdict == "reproduced"
    power = {"robustness": 0.5, "robustness_smallest": 0.3}[measure]
    assert found.judgement.headline.value == pytest.approx(0.05 * 1.02 * (100**power - 10**power))
    growth = values_at(mse()["trainings"], "robustness", 100) - values_at(mse()["trainings"], "robustness", 10)
    assert found.facts == found.facts | {"median": np.median(growth), "mean": np.mean(growth)}
    for epoch, expected in ((3, "reproduced"), (10, "refused")):
        tables = mse()
        for place in range(3):
            altered.put(tables, "trainings", measure, 9.0, place, epoch=epoch)
        assert altered.verdict("robustness_grows_after_zero_error", tables, measure=measure) == expected


def test_deepfool_must_overshoot_late_and_not_early():
    found = support.evaluation(PAPER, "deepfool_finds_the_boundary", mse())
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(np.log10(0.5 / 0.3))
    tables = altered.put(mse(), "trainings", "robustness", lambda v: v * 0.31 / 0.05, 0, seed=1, epoch=1)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == "refused"
    tables = mse()
    for place in range(3):
        altered.put(tables, "trainings", "robustness_crossing", 0.6, place, epoch=100)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == "refused"
    # a single training that does not overshoot moves the mean, and not the median
    tables = altered.put(mse(), "trainings", "robustness_crossing", 1e4, 0, seed=0, epoch=100)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == "refused"
    assert altered.verdict("deepfool_finds_the_boundary", tables, average="median") == "reproduced"


def test_the_smallest_perturbation_of_a_linear_network_by_quadratic_programming():
    rng = np.random.default_rng(0)
    W, b = rng.standard_normal((4, 5)), rng.standard_normal(4)
    images = rng.standard_normal((6, 5))

    def network(x):
        return x @ torch.tensor(W).T + torch.tensor(b)

    moved, fooled = deepfool(network, torch.tensor(images), overshoot=0.0)
    assert fooled.all()
    others = torch.tensor(10 * rng.standard_normal((50, 5)))
    crossings = crossing_distances(network, torch.tensor(images), others, network(others).argmax(1))
    for image, perturbation, crossing in zip(images, moved.numpy(), crossings.numpy(), strict=True):
        own = (W @ image + b).argmax()
        shortest = min(
            scipy.optimize.minimize(
                lambda r: r @ r, np.full(5, 0.1), method="SLSQP", options={"ftol": 1e-14},
                constraints={"type": "ineq", "fun": lambda r, c=c, x=image, own=own:
                             (W[c] - W[own]) @ (x + r) + b[c] - b[own]},
            ).fun ** 0.5
            for c in range(4) if c != own
        )  # fmt: skip
        # a hair beyond the boundary, so that the decision does change
        assert np.linalg.norm(perturbation) == pytest.approx(shortest, rel=1e-3)
        assert crossing >= shortest * (1 - 1e-5)
