"""Claims on neural collapse in training, judged on made-up trainings: levels, falls and orders of arrival.

A training is one seed of one network; made-up quantities are powers of the epoch, recorded at epochs 1, 3, 10, 30 and
100, and train errors end at 10. Quantities are `nc1` (variability), the spreads and distances of NC2, of class means
and of classifiers, `self_duality` (NC3) and `nc4`. What the claims say, by their names here:

- `nc1`, `nc2_...`, `nc3`: a quantity falls after train errors end, in the mean over trainings, and ends at or below a
  level in each of them
- `nc4`: at the last epoch network and nearest class mean differ on few of the train images
- `mse_collapses_faster`: NC1 under cross-entropy over NC1 under MSE, of the same network and seed, is above one at the
  last epoch, and larger than at the first
- `nc2_not_slower`: NC2 does not arrive later than NC1 and NC3
- `simplex_before_compression`: NC2 arrives before NC1
- `five_data_sets`: all of these quantities fall, and NC1 and NC4 end low, on the paper's five data sets
"""

import numpy as np
import pytest

from learning_dynamics.measures.collapse import variability
from learning_dynamics.papers.neural_collapse.trainings import FIVE_DATA_SETS, chance_level
from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import (
    BEFORE_DROP,
    CE_SLOWER,
    CURVES,
    EPOCHS,
    FEATURES,
    LAST_EPOCH,
    NETWORKS,
    ZERO_ERROR,
    both_losses,
    expected_value,
    made_up,
    trainings,
)

PAPER = "neural_collapse"
ANGLES_OF_MEANS = ("equinorm_means", "equiangular_means", "maximal_angle_means")
ANGLES_OF_CLASSIFIERS = ("equinorm_classifiers", "equiangular_classifiers", "maximal_angle_classifiers")

# -- levels and falls ------------------------------------------------------------------------------

P = FEATURES  # of the made-up networks, which have ten classes
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
    level = LEVELS[claim, quantity]
    one_training = {"network": "resnet", "seed": 0, "split": "train"}
    for factor, expected in ((0.99, "reproduced"), (1.01, "refused"), (2.0, "refused")):
        tables = {"trainings": trainings()}
        altered.put(tables, "trainings", quantity, factor * level, **one_training, epoch=LAST_EPOCH)
        # above any of the ends where train errors end, so that it falls in any case
        altered.put(tables, "trainings", quantity, 9 * level, **one_training, epoch=ZERO_ERROR)
        assert altered.verdict(claim, tables) == expected, f"{factor} times its level"


@pytest.mark.parametrize(("claim", "quantity"), LEVELS)
def test_a_quantity_that_doubles_after_train_errors_end_is_refused(claim, quantity):
    tables = {"trainings": trainings()}
    for seed in range(3):
        half_of_last = expected_value(quantity, LAST_EPOCH, seed=seed) / 2
        altered.put(tables, "trainings", quantity, half_of_last, split="train", seed=seed, epoch=ZERO_ERROR)
    assert altered.verdict(claim, tables) == "refused"


@pytest.mark.parametrize("claim", ["nc1", "nc2_equinorm", "nc2_equiangular", "nc2_maximal_angle", "nc3", "nc4"])
def test_collapse_as_stated_is_reproduced_and_its_rivals_are_not(claim):
    evaluation = support.evaluation(PAPER, claim, {"trainings": trainings()})
    assert evaluation.verdict == "reproduced"
    assert "reproduced" not in evaluation.rivals.values()


def test_checks_have_the_worst_end_and_the_mean_fall_after_train_errors():
    evaluation = support.evaluation(PAPER, "nc1", {"trainings": trainings()})
    level = altered.check_of(evaluation.judgement, "at the last epoch")
    fall = altered.check_of(evaluation.judgement, "fall of")
    errors = altered.check_of(evaluation.judgement, "train images misclassified")
    assert evaluation.judgement.headline is level
    assert level.value == pytest.approx(expected_value("nc1", LAST_EPOCH, seed=2))  # the largest of three seeds
    _, power = CURVES["train", "nc1"]
    assert fall.value == pytest.approx(power)  # in decades, over the decade of epochs from 10 to 100
    assert errors.value == 0.0


def test_the_text_has_the_fall_from_the_first_epoch_to_the_last_and_the_median_end():
    tables = {"trainings": trainings()}
    # one of nine trainings ends higher, so that means are no medians
    times_higher = 5.0
    altered.put(
        tables,
        "trainings",
        "nc1",
        lambda nc1: times_higher * nc1,
        network="vgg",
        seed=2,
        split="train",
        epoch=LAST_EPOCH,
    )
    facts = support.evaluation(PAPER, "nc1", tables).facts
    _, power = CURVES["train", "nc1"]
    assert facts["mean_fall"] == pytest.approx(LAST_EPOCH**power / times_higher ** (1 / 9))  # the geometric mean
    assert facts["median_end"] == pytest.approx(expected_value("nc1", LAST_EPOCH, seed=1))  # the median: of seed 1


def test_the_cosine_that_nc3_demands_has_the_squared_distance_that_is_its_level():
    facts = support.evaluation(PAPER, "nc3", {"trainings": trainings()}).facts
    assert 2 - 2 * facts["cosine"] == pytest.approx(LEVELS["nc3", "self_duality"])


# -- decisions of the nearest class mean (NC4) -----------------------------------------------------


ALLOWED_NC4 = support.smoke(PAPER).claim(PAPER, "nc4")["settings"]["largest_share"]


@pytest.mark.parametrize(("share", "expected"), [(0.9 * ALLOWED_NC4, "reproduced"), (1.1 * ALLOWED_NC4, "refused")])
def test_one_training_whose_decisions_differ_too_often_at_the_end_is_refused(share, expected):
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "nc4", share, network="densenet", seed=1, split="train", epoch=LAST_EPOCH)
    assert altered.verdict("nc4", tables) == expected


@pytest.mark.parametrize("share_on_test", [0.0, 0.5])
def test_decisions_on_test_images_decide_nothing_of_nc4(share_on_test):
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "nc4", share_on_test, split="test")
    evaluation = support.evaluation(PAPER, "nc4", tables)
    assert evaluation.verdict == "reproduced"
    assert set(evaluation.rivals.values()) == {"not reproduced"}


def test_the_text_has_the_share_of_test_images_of_the_worst_training():
    tables = {"trainings": trainings()}
    largest_share = 0.0123
    altered.put(tables, "trainings", "nc4", largest_share, network="densenet", seed=1, split="test", epoch=LAST_EPOCH)
    assert support.evaluation(PAPER, "nc4", tables).facts["largest_test_share"] == largest_share


def test_decisions_that_agree_on_train_images_from_the_first_epoch_on_leave_nc4_undecided():
    """The rival, that decisions stay as they were at the first epoch, passes then too."""
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "nc4", 0.0, split="train", epoch=1)
    assert support.verdict(PAPER, "nc4", tables) == "undecided"


# -- MSE against cross-entropy ---------------------------------------------------------------------

# the power of the epoch with which NC1 under cross-entropy over NC1 under MSE grows: both start alike
LEAD_POWER = CURVES["train", "nc1"][1] * (1 - CE_SLOWER)


def test_the_lead_of_mse_is_in_decades_at_the_last_epoch():
    evaluation = support.evaluation(PAPER, "mse_collapses_faster", both_losses())
    assert evaluation.verdict == "reproduced"
    assert evaluation.judgement.headline.value == pytest.approx(LEAD_POWER * np.log10(LAST_EPOCH))


def test_the_text_compares_weight_decays_with_the_authors_in_the_units_of_each_loss():
    facts = support.evaluation(PAPER, "mse_collapses_faster", both_losses()).facts
    made_up_decay, authors_decay = 5e-3, 5e-4
    # the authors' MSELoss averages over ten classes, where the paper's loss is half the sum: their decay is five times
    # as large in its units
    expected = {
        "mse_decay": made_up_decay,
        "ce_decay": made_up_decay,
        "mse_decay_over_authors": made_up_decay / (5 * authors_decay),
        "ce_decay_over_authors": made_up_decay / authors_decay,
    }
    assert {name: facts[name] for name in expected} == pytest.approx(expected)


def test_a_lead_that_was_there_from_the_start_is_no_speed():
    tables = both_losses()
    lead = 100
    assert lead > LAST_EPOCH**LEAD_POWER  # the lead at the end
    altered.put(tables, "ce", "nc1", lambda nc1: lead * nc1, split="train", epoch=1)
    assert altered.verdict("mse_collapses_faster", tables) == "refused"


def test_the_lead_of_mse_may_be_that_before_the_learning_rate_drops():
    evaluation = support.evaluation(PAPER, "mse_collapses_faster", both_losses(), until="drop")
    assert evaluation.judgement.headline.value == pytest.approx(LEAD_POWER * np.log10(BEFORE_DROP))


@pytest.mark.parametrize(("until", "expected"), [("drop", "reproduced"), ("end", "refused")])
def test_a_lead_that_is_lost_after_the_drop_counts_before_it(until, expected):
    tables = both_losses()
    altered.put(tables, "mse", "nc1", 1.0, split="train", epoch=LAST_EPOCH)
    assert altered.verdict("mse_collapses_faster", tables, until=until) == expected


# -- the order in which quantities arrive ----------------------------------------------------------

# A quantity arrives at the first recorded epoch at which it has made nine tenths of its way from the first value to
# the last, in logarithms
ARRIVED = 1e-3  # the last value of a quantity, whose first value is one


def step_at(epoch):
    """Return the values at EPOCHS of a quantity that falls a thousandfold at an epoch: there it arrives."""
    return np.where(epoch <= EPOCHS, ARRIVED, 1.0)


def trainings_with_arrivals(arrivals):
    """Return trainings in which each quantity of `arrivals` arrives at its epoch, in all seeds."""
    tables = {"trainings": trainings()}
    for quantity, epoch in arrivals.items():
        altered.put(tables, "trainings", quantity, np.tile(step_at(epoch), 3), split="train")  # of three seeds
    return tables


ALL_AT_10 = dict.fromkeys(("nc1", "self_duality", *ANGLES_OF_MEANS), 10)


@pytest.mark.parametrize(
    ("arrivals", "lead", "from_arrival"),
    [
        # `lead`: where the later of NC1 and NC3 arrives, over the epoch recorded before NC2 does; `from_arrival`: over
        # that of NC2, which arrives with the last of its three quantities
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
    """A lead is the number of decades of epochs by which NC2 arrives before NC1 and NC3.

    The reading "not_slower" asks that the lead from arrival to arrival is above zero.
    """
    tables = trainings_with_arrivals(ALL_AT_10 | arrivals)
    evaluation = support.evaluation(PAPER, "nc2_not_slower", tables, reading="not_slower")
    assert evaluation.facts["mean_lead"] == pytest.approx(np.log10(lead), abs=1e-12)
    # in decades; the same in all trainings, so that the interval has no width
    for name in ("mean_lead_from_arrival", "lead_from_arrival_lower", "lead_from_arrival_upper"):
        assert evaluation.facts[name] == pytest.approx(np.log10(from_arrival), abs=1e-12), name
    assert evaluation.judgement.headline.value == pytest.approx(np.log10(from_arrival), abs=1e-12)
    assert (evaluation.judgement.state == "holds") == (from_arrival > 1)


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
    """NC1 and NC3 arrive at the epochs of `others`, one for each seed."""
    tables = trainings_with_arrivals(dict.fromkeys(ALL_AT_10, nc2))
    for seed, epoch in enumerate(others):
        for quantity in ("nc1", "self_duality"):
            altered.put(tables, "trainings", quantity, step_at(epoch), split="train", seed=seed)
    for reading, state in {"no_evidence": no_evidence, "not_slower": not_slower}.items():
        evaluation = support.evaluation(PAPER, "nc2_not_slower", tables, reading=reading)
        assert evaluation.judgement.state == state, reading


def test_epochs_too_far_apart_to_show_that_nc2_arrives_at_twice_the_epoch_leave_it_undecided():
    """Recorded epochs are more than a factor of two apart: the rival, NC2 at twice the epoch, passes too."""
    assert support.verdict(PAPER, "nc2_not_slower", trainings_with_arrivals(ALL_AT_10)) == "undecided"


def trainings_whose_nc1_arrives_in_two_steps():
    """Return trainings in which NC1 makes nine tenths of its way, in logarithms, at epoch 10 and the rest at 30."""
    nine_tenths = ARRIVED**0.9
    nc1 = [1, 1, nine_tenths, ARRIVED, ARRIVED]  # at EPOCHS
    tables = trainings_with_arrivals(ALL_AT_10)
    altered.put(tables, "trainings", "nc1", np.tile(nc1, 3), split="train")  # the same for three seeds
    return tables


# NC1 arrives at 10 or at 30; the epoch before NC2 arrives is 3
@pytest.mark.parametrize(("share_of_way", "lead"), [(0.85, 10 / 3), (0.95, 30 / 3)])
def test_the_share_of_the_way_decides_when_nc1_arrives_in_comparison_with_nc2(share_of_way, lead):
    tables = trainings_whose_nc1_arrives_in_two_steps()
    facts = support.evaluation(PAPER, "nc2_not_slower", tables, share_of_way=share_of_way).facts
    assert facts["mean_lead"] == pytest.approx(np.log10(lead))


CLASSIFIERS_AT_10 = dict.fromkeys(ANGLES_OF_CLASSIFIERS, 10)


# NC1 and NC3 arrive at 10. The epoch before NC2 arrives is 3 if it is of the class means, and 10 if it waits for the
# quantity of classifiers that arrives at 30
@pytest.mark.parametrize(("nc2_of", "lead"), [("class_means", 10 / 3), ("classifiers_as_well", 10 / 10)])
@pytest.mark.parametrize("late", ANGLES_OF_CLASSIFIERS)
def test_nc2_waits_for_the_classifiers_in_a_variant_alone(late, nc2_of, lead):
    tables = trainings_with_arrivals(ALL_AT_10 | CLASSIFIERS_AT_10 | {late: 30})
    facts = support.evaluation(PAPER, "nc2_not_slower", tables, nc2_of=nc2_of).facts
    assert facts["mean_lead"] == pytest.approx(np.log10(lead), abs=1e-12)


@pytest.mark.parametrize("nc2_of", ["class_means", "classifiers_as_well"])
@pytest.mark.parametrize("late", ANGLES_OF_MEANS)
def test_nc2_waits_for_the_class_means_in_any_case(late, nc2_of):
    tables = trainings_with_arrivals(ALL_AT_10 | CLASSIFIERS_AT_10 | {late: 30})
    facts = support.evaluation(PAPER, "nc2_not_slower", tables, nc2_of=nc2_of).facts
    # NC2 arrives at 30: the epoch before is 10, at which NC1 and NC3 arrive
    assert facts["mean_lead"] == pytest.approx(np.log10(10 / 10), abs=1e-12)


def trainings_with_nc1_by_seed(nc1, nc2):
    """Return trainings in which NC1 arrives at an epoch of each seed, and NC2 at one epoch in all.

    NC3 arrives first, the norms of classifiers last: the claim asks for neither.
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
    evaluation = support.evaluation(PAPER, "simplex_before_compression", trainings_with_nc1_by_seed(nc1, nc2))
    assert evaluation.verdict == expected
    mean_lead = np.mean(np.log10(np.array(nc1) / nc2))  # in decades of epochs
    assert evaluation.judgement.headline.value == pytest.approx(mean_lead, abs=1e-12)
    assert evaluation.rivals.keys() == {"activations compressed first", "order exchanged in every second training"}


def test_the_text_has_the_factor_between_arrivals_and_counts_both_orders():
    facts = support.evaluation(PAPER, "simplex_before_compression", trainings_with_nc1_by_seed((30, 10, 3), 10)).facts
    assert facts["mean_factor"] == pytest.approx((30 / 10 * 10 / 10 * 3 / 10) ** (1 / 3))  # the geometric mean
    assert facts["factor_lower"] < facts["mean_factor"] < facts["factor_upper"]
    networks = len(NETWORKS)  # each has one seed with NC1 after NC2, one with both at once, one with NC1 before
    assert (facts["n_trainings"], facts["n_after"], facts["n_before"]) == (3 * networks, networks, networks)
    assert facts["spacing"] == pytest.approx(LAST_EPOCH ** (1 / (len(EPOCHS) - 1)))  # of epochs, from 1 on


@pytest.mark.parametrize("quantity", ["nc1", *ANGLES_OF_MEANS])
@pytest.mark.parametrize(("last", "expected"), [(0.49, "reproduced"), (0.51, "undecided"), (2.0, "undecided")])
def test_a_quantity_that_does_not_halve_in_one_training_leaves_the_order_undecided(quantity, last, expected):
    """Its first value is one."""
    arrivals = ALL_AT_10 | {"nc1": 30}
    tables = trainings_with_arrivals(arrivals)
    values = np.where(arrivals[quantity] <= EPOCHS, last, 1.0)
    altered.put(tables, "trainings", quantity, values, network="vgg", seed=0, split="train")
    assert support.verdict(PAPER, "simplex_before_compression", tables) == expected


def test_an_epoch_without_a_number_leaves_the_order_undecided():
    tables = trainings_with_arrivals(ALL_AT_10 | {"nc1": 30})
    assert support.verdict(PAPER, "simplex_before_compression", tables) == "reproduced"
    altered.put(tables, "trainings", "nc1", np.nan, network="vgg", seed=0, split="train", epoch=ZERO_ERROR)
    assert support.verdict(PAPER, "simplex_before_compression", tables) == "undecided"


# NC1 arrives at 10 or at 30, NC2 at 10
@pytest.mark.parametrize(("share_of_way", "lead"), [(0.85, 10 / 10), (0.95, 30 / 10)])
def test_the_share_of_the_way_decides_when_activations_are_compressed(share_of_way, lead):
    tables = trainings_whose_nc1_arrives_in_two_steps()
    evaluation = support.evaluation(PAPER, "simplex_before_compression", tables, share_of_way=share_of_way)
    assert evaluation.judgement.headline.value == pytest.approx(np.log10(lead), abs=1e-12)


@pytest.mark.parametrize("late", ANGLES_OF_MEANS)
def test_the_simplex_is_there_when_the_last_of_its_three_quantities_has_arrived(late):
    evaluation = support.evaluation(
        PAPER, "simplex_before_compression", trainings_with_arrivals(ALL_AT_10 | {late: 30})
    )
    assert evaluation.judgement.headline.value == pytest.approx(np.log10(10 / 30))  # NC1 arrives at 10


# -- five data sets --------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", ["nc1", *ANGLES_OF_MEANS, "self_duality", "nc4"])
@pytest.mark.parametrize(
    ("network", "data", "expected"),
    [
        pytest.param("densenet", "stl10", "reproduced", id="an exception"),
        pytest.param("vgg", "mnist", "refused", id="no exception"),
    ],
)
def test_five_data_sets_ask_every_network_but_the_exceptions_for_every_phenomenon(quantity, network, data, expected):
    tables = {"trainings": [made_up(name, data=each, seeds=1) for each in FIVE_DATA_SETS for name in NETWORKS]}
    # 2 is above all levels, and above every quantity where train errors end
    altered.put(tables, "trainings", quantity, 2.0, network=network, data=data, split="train", epoch=LAST_EPOCH)
    assert altered.verdict("five_data_sets", tables) == expected


# -- levels of chance, against draws ---------------------------------------------------------------


def level_of_chance(quantity, **sizes):
    """Return the level of chance of a quantity, in a made-up training with other numbers of `features` or `classes`."""
    tables = {"trainings": [made_up()]}
    for size, number in sizes.items():
        altered.put(tables, "trainings", size, float(number))
    return chance_level(tables["trainings"], quantity)[0]


@pytest.mark.parametrize("classes", [3, 5, 10])
def test_norms_of_random_class_means_spread_by_the_level_of_chance(classes):
    draws, features = 4000, 1000
    means = np.random.default_rng(2).standard_normal((draws, classes, features), dtype=np.float32)
    norms = np.linalg.norm(means - means.mean(axis=1, keepdims=True), axis=2)
    spread = np.mean(norms.std(axis=1) / norms.mean(axis=1))
    # three standard errors at three classes, where spreads vary most
    level = level_of_chance("equinorm_means", features=features, classes=classes)
    assert level == pytest.approx(spread, rel=0.025)


def test_unrelated_features_have_the_level_of_chance():
    features, classes, draws = 3000, 10, 40
    W, M = np.random.default_rng(1).standard_normal((2, draws, classes, features))
    norms = np.linalg.norm(W, axis=2)
    all_cosines = np.einsum("dip,djp->dij", W, W) / (norms[:, :, None] * norms[:, None])
    cosines = all_cosines[:, *np.triu_indices(classes, 1)]  # one for each pair of classes
    M = M - M.mean(axis=1, keepdims=True)
    difference = W / np.linalg.norm(W, axis=(1, 2), keepdims=True) - M / np.linalg.norm(M, axis=(1, 2), keepdims=True)
    mean_over_draws = {
        # means of the 140 images that made-up trainings have of each class, with features of variance one
        "nc1": variability(np.eye(features), M / np.sqrt(140)).mean(),
        "equinorm_classifiers": np.mean(norms.std(axis=1)) / norms.mean(),
        "equiangular_classifiers": np.sqrt(np.mean(cosines**2)),
        "maximal_angle_means": np.mean(np.abs(cosines)),
        "self_duality": np.mean(np.sum(difference**2, axis=(1, 2))),
    }
    levels = {quantity: level_of_chance(quantity, features=features) for quantity in mean_over_draws}
    # levels are of leading order in 1 / C, and the mean is over 40 draws
    assert levels == pytest.approx(mean_over_draws, rel=0.06)
