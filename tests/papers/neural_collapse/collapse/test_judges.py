"""Claims on neural collapse in training, judged on made-up trainings: levels, falls and orders of arrival."""

import numpy as np
import pytest

from learning_dynamics.measures.collapse import variability
from learning_dynamics.papers.neural_collapse.trainings import FIVE_DATA_SETS, chance_level
from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import (
    CE_SLOWER,
    CURVES,
    EPOCHS,
    LAST,
    NETWORKS,
    both_losses,
    expected_value,
    made_up,
    trainings,
)

PAPER = "neural_collapse"
ANGLES_OF_MEANS = ("equinorm_means", "equiangular_means", "maximal_angle_means")
ANGLES_OF_CLASSIFIERS = ("equinorm_classifiers", "equiangular_classifiers", "maximal_angle_classifiers")

# -- levels and falls ------------------------------------------------------------------------------

P = 64  # features of the made-up networks, which have ten classes
# The values for independent Gaussian vectors. Norms: sqrt(2 (C - 2)) / (C - 1) Gamma(C / 2) / Gamma((C - 1) / 2) over
# sqrt(2 P), where C = 10, Gamma(5) = 24 and Gamma(9/2) = 105/16 sqrt(pi)
SPREAD_OF_NORMS = 4 / 9 * 24 / (105 / 16 * np.sqrt(np.pi)) / np.sqrt(2 * P)
SPREAD_OF_COSINES = 1 / np.sqrt(P)
DISTANCE_OF_COSINES = np.sqrt(2 / (np.pi * P))
SELF_DUALITY = 2.0
# By claim and quantity: the largest value at the last epoch, as configured. For NC1 it is a number of its own, for the
# others a share of the values above
LEVELS = {
    ("nc1", "nc1"): 0.01,
    ("nc2_equinorm", "equinorm_means"): 0.5 * SPREAD_OF_NORMS,
    ("nc2_equinorm", "equinorm_classifiers"): 0.5 * SPREAD_OF_NORMS,
    ("nc2_equiangular", "equiangular_means"): 0.5 * SPREAD_OF_COSINES,
    ("nc2_equiangular", "equiangular_classifiers"): 0.5 * SPREAD_OF_COSINES,
    ("nc2_maximal_angle", "maximal_angle_means"): 0.5 * DISTANCE_OF_COSINES,
    ("nc2_maximal_angle", "maximal_angle_classifiers"): 0.5 * DISTANCE_OF_COSINES,
    ("nc3", "self_duality"): 0.1 * SELF_DUALITY,
}


@pytest.mark.parametrize(("claim", "quantity"), LEVELS)
def test_one_training_that_ends_above_the_level_is_refused(claim, quantity):
    level, one = LEVELS[claim, quantity], {"network": "resnet", "seed": 0, "split": "train"}
    for factor, expected in ((0.99, "reproduced"), (1.01, "refused"), (2.0, "refused")):
        tables = altered.put({"trainings": trainings()}, "trainings", quantity, factor * level, **one, epoch=-1)
        # it is so high where train errors end that it falls in any case
        altered.put(tables, "trainings", quantity, 9 * level, **one, epoch=10)
        assert altered.verdict(claim, tables) == expected, f"{factor} times its level"


@pytest.mark.parametrize(("claim", "quantity"), LEVELS)
def test_a_quantity_that_doubles_after_train_errors_end_is_refused(claim, quantity):
    tables = {"trainings": trainings()}
    for seed in range(3):
        half_of_last = expected_value(quantity, LAST, seed=seed) / 2
        altered.put(tables, "trainings", quantity, half_of_last, split="train", seed=seed, epoch=10)
    assert altered.verdict(claim, tables) == "refused"


@pytest.mark.parametrize("claim", ["nc1", "nc2_equinorm", "nc2_equiangular", "nc2_maximal_angle", "nc3", "nc4"])
def test_collapse_as_stated_is_reproduced_and_its_rivals_are_not(claim):
    found = support.evaluation(PAPER, claim, {"trainings": trainings()})
    assert found.verdict == "reproduced"
    assert "reproduced" not in found.rivals.values()


def test_checks_have_the_worst_end_and_the_mean_fall_after_train_errors():
    found = support.evaluation(PAPER, "nc1", {"trainings": trainings()})
    level = altered.check_of(found.judgement, "at the last epoch")
    fall = altered.check_of(found.judgement, "fall of")
    errors = altered.check_of(found.judgement, "train images misclassified")
    assert found.judgement.headline is level
    assert level.value == pytest.approx(expected_value("nc1", LAST, seed=2))  # the largest of three seeds
    _, power = CURVES["train", "nc1"]
    assert fall.value == pytest.approx(power)  # in decades, over the decade of epochs from 10 to 100
    assert errors.value == 0.0


def test_the_text_has_the_fall_from_the_first_epoch_to_the_last_and_the_median_end():
    facts = support.evaluation(PAPER, "nc1", {"trainings": trainings()}).facts
    _, power = CURVES["train", "nc1"]
    assert facts["fall"] == pytest.approx(LAST**power)
    assert facts["end"] == pytest.approx(expected_value("nc1", LAST, seed=1))  # the median of three seeds


# -- decisions of the nearest class mean (NC4) -----------------------------------------------------


ALLOWED_NC4 = support.smoke(PAPER).claim(PAPER, "nc4")["settings"]["largest_share"]


@pytest.mark.parametrize(("share", "expected"), [(0.9 * ALLOWED_NC4, "reproduced"), (1.1 * ALLOWED_NC4, "refused")])
def test_one_training_whose_decisions_differ_too_often_at_the_end_is_refused(share, expected):
    one = {"network": "densenet", "seed": 1, "split": "train", "epoch": -1}
    tables = altered.put({"trainings": trainings()}, "trainings", "nc4", share, **one)
    assert altered.verdict("nc4", tables) == expected


@pytest.mark.parametrize("share_on_test", [0.0, 0.5])
def test_nc4_does_not_predict_decisions_on_test_images(share_on_test):
    tables = altered.put({"trainings": trainings()}, "trainings", "nc4", share_on_test, split="test")
    found = support.evaluation(PAPER, "nc4", tables)
    assert found.verdict == "reproduced"
    assert set(found.rivals.values()) == {"not reproduced"}


def test_the_text_has_the_share_of_test_images_of_the_worst_training():
    one = {"network": "densenet", "seed": 1, "split": "test", "epoch": -1}
    tables = altered.put({"trainings": trainings()}, "trainings", "nc4", 0.0123, **one)
    assert support.evaluation(PAPER, "nc4", tables).facts["test"] == 0.0123


def test_decisions_that_never_differ_on_train_images_do_not_tell_nc4_from_its_rival():
    """The rival is that decisions stay as they were at the first epoch."""
    tables = altered.put({"trainings": trainings()}, "trainings", "nc4", 0.0, split="train", epoch=1)
    assert support.verdict(PAPER, "nc4", tables) == "undecided"


# -- MSE against cross-entropy ---------------------------------------------------------------------

FASTER = CURVES["train", "nc1"][1] * (1 - CE_SLOWER)  # the power of the epoch by which NC1 falls faster under MSE


def test_the_lead_of_mse_is_in_decades_at_the_last_epoch():
    found = support.evaluation(PAPER, "mse_collapses_faster", both_losses())
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(FASTER * np.log10(LAST))


def test_the_text_compares_weight_decays_with_the_authors_in_the_units_of_each_loss():
    facts = support.evaluation(PAPER, "mse_collapses_faster", both_losses()).facts
    # Both decays are made up, 5e-3. The authors' is 5e-4; their MSELoss averages over ten classes, where the paper's
    # loss is half the sum: theirs counts five times under MSE
    expected = {"mse_decay": 5e-3, "ce_decay": 5e-3, "mse_times": 5e-3 / (5 * 5e-4), "ce_times": 5e-3 / 5e-4}
    assert {name: facts[name] for name in expected} == pytest.approx(expected)


def test_a_lead_that_was_there_from_the_start_is_no_speed():
    tables = altered.put(both_losses(), "ce", "nc1", lambda nc1: 100 * nc1, split="train", epoch=1)
    assert altered.verdict("mse_collapses_faster", tables) == "refused"


def test_the_lead_of_mse_may_be_that_before_the_learning_rate_drops():
    found = support.evaluation(PAPER, "mse_collapses_faster", both_losses(), until="drop")
    assert found.judgement.headline.value == pytest.approx(FASTER * np.log10(30))  # the last epoch before the drop


@pytest.mark.parametrize(("until", "expected"), [("drop", "reproduced"), ("end", "refused")])
def test_a_lead_that_is_lost_after_the_drop_counts_before_it(until, expected):
    tables = altered.put(both_losses(), "mse", "nc1", 1.0, split="train", epoch=100)
    assert altered.verdict("mse_collapses_faster", tables, until=until) == expected


# -- the order in which quantities arrive ----------------------------------------------------------

ARRIVED = 1e-3  # of the first value


def step_at(epoch):
    """Return the values of a quantity that falls a thousandfold at an epoch: there it arrives."""
    return np.where(epoch <= EPOCHS, ARRIVED, 1.0)


def trainings_with_arrivals(arrivals):
    """Return trainings in which each quantity arrives at a given epoch, in all seeds."""
    tables = {"trainings": trainings()}
    for quantity, epoch in arrivals.items():
        altered.put(tables, "trainings", quantity, np.tile(step_at(epoch), 3), split="train")
    return tables


ALL_AT_10 = dict.fromkeys(("nc1", "self_duality", *ANGLES_OF_MEANS), 10)


@pytest.mark.parametrize(
    ("arrivals", "lead", "from_arrival"),
    [
        # the later of NC1 and NC3, over the epoch that was recorded before the last of NC2, and over that last one
        pytest.param({}, 10 / 3, 10 / 10, id="all at 10"),
        pytest.param({"nc1": 30}, 30 / 3, 30 / 10, id="NC1 at 30"),
        pytest.param({"self_duality": 100}, 100 / 3, 100 / 10, id="NC3 at 100"),
        pytest.param({"equinorm_means": 30}, 10 / 10, 10 / 30, id="norms of NC2 at 30"),
        pytest.param(
            {"maximal_angle_means": 100, "nc1": 30}, 30 / 30, 30 / 100, id="angles of NC2 at 100 and NC1 at 30"
        ),
        pytest.param({"equiangular_means": 100}, 10 / 30, 10 / 100, id="spread of angles of NC2 at 100"),
    ],
)
def test_the_lead_of_nc2_is_counted_from_the_epoch_before_it_or_from_its_arrival(arrivals, lead, from_arrival):
    tables = trainings_with_arrivals(ALL_AT_10 | arrivals)
    found = support.evaluation(PAPER, "nc2_not_slower", tables, reading="not_slower")
    assert found.facts["lead"] == pytest.approx(np.log10(lead), abs=1e-12)
    # the same in all trainings, so that the interval has no width
    for name in ("from_arrival", "from_arrival_low", "from_arrival_high"):
        assert found.facts[name] == pytest.approx(np.log10(from_arrival), abs=1e-12), name
    assert found.judgement.headline.value == pytest.approx(np.log10(from_arrival), abs=1e-12)
    assert (found.judgement.state == "holds") == (from_arrival > 1)


@pytest.mark.parametrize(
    ("nc2", "others", "no_evidence", "not_slower"),
    [
        pytest.param(10, (30, 30, 10), "holds", "holds", id="NC2 at 10, others at 30 in two of three seeds"),
        pytest.param(10, (30, 10, 3), "holds", "undecided", id="NC2 at 10, others at 30, 10 and 3"),
        # the epoch recorded before 10 is 3: NC2 may be just after it, and has the benefit of that doubt
        pytest.param(10, (3, 3, 3), "holds", "fails", id="NC2 at 10, others at 3 in every seed"),
        pytest.param(30, (3, 30, 3), "holds", "fails", id="NC2 at 30, others at 3 in two of three seeds"),
        pytest.param(30, (3, 3, 3), "fails", "fails", id="NC2 at 30, others at 3 in every seed"),
    ],
)
def test_the_reading_no_evidence_asks_for_less_than_the_reading_not_slower(nc2, others, no_evidence, not_slower):
    tables = trainings_with_arrivals(dict.fromkeys(ALL_AT_10, nc2))
    for seed, epoch in enumerate(others):
        for quantity in ("nc1", "self_duality"):
            altered.put(tables, "trainings", quantity, step_at(epoch), split="train", seed=seed)
    for reading, state in {"no_evidence": no_evidence, "not_slower": not_slower}.items():
        found = support.evaluation(PAPER, "nc2_not_slower", tables, reading=reading)
        assert found.judgement.state == state, reading


def test_epochs_too_far_apart_to_show_an_nc2_at_twice_the_epoch_leave_it_undecided():
    """Recorded epochs are more than a factor of two apart: the rival, NC2 at twice the epoch, passes too."""
    assert support.verdict(PAPER, "nc2_not_slower", trainings_with_arrivals(ALL_AT_10)) == "undecided"


def trainings_whose_nc1_arrives_in_two_steps():
    """Return trainings in which NC1 makes nine tenths of its way, in logarithms, at epoch 10 and the rest at 30."""
    nine_tenths = ARRIVED**0.9
    nc1 = [1, 1, nine_tenths, ARRIVED, ARRIVED]
    return altered.put(trainings_with_arrivals(ALL_AT_10), "trainings", "nc1", np.tile(nc1, 3), split="train")


# NC1 at 10 or at 30, over the epoch before NC2
@pytest.mark.parametrize(("share_of_way", "lead"), [(0.85, 10 / 3), (0.95, 30 / 3)])
def test_the_share_of_the_way_decides_when_nc1_arrives_in_comparison_with_nc2(share_of_way, lead):
    tables = trainings_whose_nc1_arrives_in_two_steps()
    facts = support.evaluation(PAPER, "nc2_not_slower", tables, share_of_way=share_of_way).facts
    assert facts["lead"] == pytest.approx(np.log10(lead))


CLASSIFIERS_AT_10 = dict.fromkeys(ANGLES_OF_CLASSIFIERS, 10)


# NC1 and NC3 at 10, over the epoch before NC2: 3 of the class means, 10 of a spread of classifiers that arrives at 30
@pytest.mark.parametrize(("nc2_of", "lead"), [("class_means", 10 / 3), ("classifiers_as_well", 10 / 10)])
@pytest.mark.parametrize("late", ANGLES_OF_CLASSIFIERS)
def test_nc2_waits_for_the_classifiers_in_a_variant_alone(late, nc2_of, lead):
    tables = trainings_with_arrivals(ALL_AT_10 | CLASSIFIERS_AT_10 | {late: 30})
    facts = support.evaluation(PAPER, "nc2_not_slower", tables, nc2_of=nc2_of).facts
    assert facts["lead"] == pytest.approx(np.log10(lead), abs=1e-12)


@pytest.mark.parametrize("nc2_of", ["class_means", "classifiers_as_well"])
@pytest.mark.parametrize("late", ANGLES_OF_MEANS)
def test_nc2_waits_for_the_class_means_in_any_case(late, nc2_of):
    tables = trainings_with_arrivals(ALL_AT_10 | CLASSIFIERS_AT_10 | {late: 30})
    facts = support.evaluation(PAPER, "nc2_not_slower", tables, nc2_of=nc2_of).facts
    assert facts["lead"] == pytest.approx(np.log10(10 / 10), abs=1e-12)


def trainings_with_nc1_by_seed(nc1, nc2):
    """Return trainings in which NC1 arrives at an epoch of each seed, and NC2 at one epoch in all.

    NC3 is first, and the classifiers are last to be a frame: neither is asked.
    """
    tables = trainings_with_arrivals(dict.fromkeys(ALL_AT_10, nc2) | {"self_duality": 3, "equinorm_classifiers": 100})
    for seed, epoch in enumerate(nc1):
        altered.put(tables, "trainings", "nc1", step_at(epoch), split="train", seed=seed)
    return tables


@pytest.mark.parametrize(
    ("nc1", "nc2", "expected"),
    [
        pytest.param((30, 30, 10), 10, "reproduced", id="NC1 after NC2 in two of three seeds"),
        pytest.param((30, 10, 3), 10, "undecided", id="NC1 after NC2 and before it"),
        pytest.param((3, 3, 10), 10, "not reproduced", id="NC1 before NC2 in two of three seeds"),
    ],
)
def test_the_simplex_comes_before_compression_if_nc1_arrives_after_nc2(nc1, nc2, expected):
    found = support.evaluation(PAPER, "simplex_before_compression", trainings_with_nc1_by_seed(nc1, nc2))
    assert found.verdict == expected
    mean_lead = np.mean(np.log10(np.array(nc1) / nc2))
    assert found.judgement.headline.value == pytest.approx(mean_lead, abs=1e-12)
    assert found.rivals.keys() == {"activations compressed first", "order exchanged in every second training"}


def test_the_text_has_the_factor_between_arrivals_and_counts_both_orders():
    facts = support.evaluation(PAPER, "simplex_before_compression", trainings_with_nc1_by_seed((30, 10, 3), 10)).facts
    assert facts["factor"] == pytest.approx((30 / 10 * 10 / 10 * 3 / 10) ** (1 / 3))  # the geometric mean
    assert facts["low"] < facts["factor"] < facts["high"]
    # each seed of three networks
    assert (facts["trainings"], facts["after"], facts["before"]) == (9, 3, 3)
    assert facts["spacing"] == pytest.approx(100 ** (1 / 4))  # five epochs from 1 to 100


@pytest.mark.parametrize("quantity", ["nc1", *ANGLES_OF_MEANS])
@pytest.mark.parametrize(("last", "expected"), [(0.49, "reproduced"), (0.51, "undecided"), (2.0, "undecided")])
def test_a_quantity_that_does_not_halve_in_one_training_leaves_the_order_undecided(quantity, last, expected):
    arrivals = ALL_AT_10 | {"nc1": 30}
    tables = trainings_with_arrivals(arrivals)
    values = np.where(arrivals[quantity] <= EPOCHS, last, 1.0)
    altered.put(tables, "trainings", quantity, values, network="vgg", seed=0, split="train")
    assert support.verdict(PAPER, "simplex_before_compression", tables) == expected


def test_an_epoch_without_a_number_leaves_the_order_undecided():
    tables = trainings_with_arrivals(ALL_AT_10 | {"nc1": 30})
    assert support.verdict(PAPER, "simplex_before_compression", tables) == "reproduced"
    altered.put(tables, "trainings", "nc1", np.nan, network="vgg", seed=0, split="train", epoch=10)
    assert support.verdict(PAPER, "simplex_before_compression", tables) == "undecided"


# NC1 at 10 or at 30, over NC2 at 10
@pytest.mark.parametrize(("share_of_way", "lead"), [(0.85, 10 / 10), (0.95, 30 / 10)])
def test_the_share_of_the_way_decides_when_activations_are_compressed(share_of_way, lead):
    tables = trainings_whose_nc1_arrives_in_two_steps()
    found = support.evaluation(PAPER, "simplex_before_compression", tables, share_of_way=share_of_way)
    assert found.judgement.headline.value == pytest.approx(np.log10(lead), abs=1e-12)


@pytest.mark.parametrize("late", ANGLES_OF_MEANS)
def test_the_simplex_is_there_when_the_last_of_its_spreads_has_arrived(late):
    found = support.evaluation(PAPER, "simplex_before_compression", trainings_with_arrivals(ALL_AT_10 | {late: 30}))
    assert found.judgement.headline.value == pytest.approx(np.log10(10 / 30))


# -- five data sets --------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", ["nc1", *ANGLES_OF_MEANS, "self_duality", "nc4"])
@pytest.mark.parametrize(
    ("network", "data", "expected"), [("densenet", "stl10", "reproduced"), ("vgg", "mnist", "refused")]
)
def test_five_data_sets_ask_every_network_but_the_exceptions_for_every_phenomenon(quantity, network, data, expected):
    tables = {"trainings": [made_up(name, data=each, seeds=1) for each in FIVE_DATA_SETS for name in NETWORKS]}
    # 2 is above all levels, and above every quantity where train errors end
    altered.put(tables, "trainings", quantity, 2.0, network=network, data=data, split="train", epoch=-1)
    assert altered.verdict("five_data_sets", tables) == expected


# -- levels of chance, against draws ---------------------------------------------------------------


def level_of_chance(quantity, **sizes):
    """Return the level of a made-up training with other sizes: features, classes."""
    tables = {"trainings": [made_up()]}
    for size, number in sizes.items():
        altered.put(tables, "trainings", size, float(number))
    return chance_level(tables["trainings"], quantity)[0]


@pytest.mark.parametrize("classes", [3, 5, 10])
def test_norms_of_random_class_means_spread_by_the_level_of_chance(classes):
    features, rng = 1000, np.random.default_rng(2)
    means = rng.standard_normal((4000, classes, features), dtype=np.float32)
    norms = np.linalg.norm(means - means.mean(axis=1, keepdims=True), axis=2)
    spread = np.mean(norms.std(axis=1) / norms.mean(axis=1))
    # three standard errors at three classes, where spreads vary most
    level = level_of_chance("equinorm_means", features=features, classes=classes)
    assert level == pytest.approx(spread, rel=0.025)


def test_unrelated_features_have_the_level_of_chance():
    features, classes, draws, rng = 3000, 10, 40, np.random.default_rng(1)
    W, M = rng.standard_normal((2, draws, classes, features))
    norms = np.linalg.norm(W, axis=2)
    all_cosines = np.einsum("dip,djp->dij", W, W) / (norms[:, :, None] * norms[:, None])
    cosines = all_cosines[:, *np.triu_indices(classes, 1)]  # one for each pair of classes
    M = M - M.mean(axis=1, keepdims=True)
    difference = W / np.linalg.norm(W, axis=(1, 2), keepdims=True) - M / np.linalg.norm(M, axis=(1, 2), keepdims=True)
    mean_over_draws = {
        # class means of 140 features each, of variance one
        "nc1": variability(np.eye(features), M / np.sqrt(140)).mean(),
        "equinorm_classifiers": np.mean(norms.std(axis=1)) / norms.mean(),
        "equiangular_classifiers": np.sqrt(np.mean(cosines**2)),
        "maximal_angle_means": np.mean(np.abs(cosines)),
        "self_duality": np.mean(np.sum(difference**2, axis=(1, 2))),
    }
    levels = {quantity: level_of_chance(quantity, features=features) for quantity in mean_over_draws}
    # levels are of leading order in 1 / C, and the mean is over 40 draws
    assert levels == pytest.approx(mean_over_draws, rel=0.06)
