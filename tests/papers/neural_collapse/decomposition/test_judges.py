"""Claims on the decomposed loss: tables that are right, tables that are wrong by twice what is allowed."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.trainings import by_seed, latest_early_epoch
from learning_dynamics.tidy import select
from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training import made_up

FIRST = {"classes": 3, "seed": 0}
ROUNDING = 2.2e-13
EPOCHS = made_up.EPOCHS.astype(float)
GAPS = [
    ("proposition_1", "classifier_gap", 2),
    ("theorem_1", "loss_decomposition_gap", 1),
    ("theorem_2", "ls_decomposition_gap", 3),
    ("equation_6", "unextended_classifier_gap", 0),
]


@pytest.mark.parametrize(("claim", "quantity", "index"), GAPS)
def test_a_gap_beyond_rounding_is_refused(claim, quantity, index):
    tables = support.claim_tables("neural_collapse", claim)
    for gap, expected in ((0.9 * ROUNDING, "reproduced"), (2 * ROUNDING, "refused"), (np.nan, "refused")):
        altered.put(tables, "features", quantity, gap, index=index, **FIRST)
        assert altered.verdict(claim, tables) == expected, gap


def test_a_deviation_below_the_least_for_its_distance_is_refused():
    for over_least, expected in ((1 - 0.9 * ROUNDING, "reproduced"), (1 - 2 * ROUNDING, "refused"), (0.0, "refused")):
        tables = altered.put(features(), "features", "deviation_over_least", over_least, **FIRST, index=2)
        assert altered.verdict("theorem_1", tables) == expected, over_least


@pytest.mark.parametrize(
    ("change", "expected"),
    [(1 + 1e-12, "corrected"), (1 + 1e-7, "refused"), (1 - 1e-7, "refused"), (np.nan, "refused")],
)
def test_l_nc1_beside_noise_that_stays_is_that_of_the_noise_along_the_class_means(change, expected):
    tables = altered.put(features(), "features", "loss_nc1_beside_noise", lambda nc1: change * nc1, **FIRST)
    assert altered.verdict("nc1_term_and_variability", tables) == expected


def test_l_nc1_is_compared_with_its_formula_at_every_scatter():
    assert support.verdict("neural_collapse", "nc1_term_and_variability", features()) == "corrected"
    for index, change, expected in ((20, 1 + 1e-11, "corrected"), (20, 1.001, "refused"), (1, np.nan, "refused")):
        tables = altered.put(
            features(), "features", "scattered_loss_nc1", lambda nc1, by=change: by * nc1, **FIRST, index=index
        )
        assert altered.verdict("nc1_term_and_variability", tables) == expected, f"times {change} at {index}"


def test_an_l_nc1_that_did_not_fall_at_the_largest_scatter_would_vanish_with_the_scatter_alone():
    tables = altered.put(features(), "features", "scattered_loss_nc1", 0.1)
    assert altered.verdict("nc1_term_and_variability", tables) == "reproduced"
    altered.put(tables, "features", "scattered_loss_nc1", 0.09, **FIRST, index=25)
    assert altered.verdict("nc1_term_and_variability", tables) == "refused"


def test_what_is_left_of_the_loss_beside_large_deviations_is_in_l_nc23():
    for factor, expected in ((1 + 1e-14, "corrected"), (1 + 1e-12, "refused"), (1 - 1e-12, "refused")):
        tables = altered.put(
            features(), "features", "scattered_loss_nc23", lambda nc23, by=factor: by * nc23, **FIRST, index=25
        )
        assert altered.verdict("nc1_term_and_variability", tables) == expected, factor


def test_a_scatter_from_which_no_push_reduces_l_nc1_is_refused():
    tables = altered.put(features(), "features", "pushed_loss_nc1_ratio", 1.01, **FIRST, index=7)
    assert altered.verdict("nc1_term_and_variability", tables) == "refused"
    found = support.evaluation("neural_collapse", "nc1_term_and_variability", features())
    assert found.facts["pushed"] == select(features()["features"], "pushed_loss_nc1_ratio")["value"].max() < 0.51
    assert found.judgement.headline.value == pytest.approx(-2, abs=1e-3)


@pytest.mark.parametrize(
    ("gap", "expected"), [(1e-13, "corrected"), (4e-13, "refused"), (0.01, "refused"), (np.nan, "refused")]
)
def test_scores_of_a_simplex_are_short_by_their_noise(gap, expected):
    claim = "nc2_and_nc3_demand_simplex_scores"
    tables = altered.put(features(), "features", "simplex_score_error", lambda short: short + gap, **FIRST, index=3)
    assert altered.verdict(claim, tables) == expected


def test_scores_of_a_simplex_that_were_one_would_be_as_the_paper_has_it():
    tables = altered.put(features(), "features", "simplex_score_error", 1e-15)
    assert altered.verdict("nc2_and_nc3_demand_simplex_scores", tables) == "reproduced"


@pytest.mark.parametrize("premise", ["simplex_frame_distance", "simplex_self_duality"])
def test_without_nc2_or_nc3_nothing_is_said_of_scores(premise):
    claim = "nc2_and_nc3_demand_simplex_scores"
    found = support.evaluation("neural_collapse", claim, features())
    assert found.verdict == "corrected"
    scores = select(features()["features"], "simplex_score_error")
    assert found.facts["noisy"] == scores.loc[scores["index"] == 1, "value"].max()
    assert found.facts["quiet"] == scores.loc[scores["index"] == 4, "value"].max()
    tables = altered.put(features(), "features", premise, 1e-6, **FIRST, index=2)
    assert support.verdict("neural_collapse", claim, tables) == "undecided"


def features():
    return support.claim_tables("neural_collapse", "theorem_1")


@pytest.mark.parametrize("quantity", ["classifiers_frame_distance", "classifiers_self_duality"])
def test_distances_from_the_simplex_are_held_one_by_one(quantity):
    assert support.verdict("neural_collapse", "nc23_term_and_simplex", features()) == "corrected"
    # the square root of what is left of the term: 1e-3 here
    for moved, expected in ((5e-4, "corrected"), (2e-3, "refused")):
        tables = altered.put(features(), "features", "concentrated_score_error", 1e-6)
        altered.put(tables, "features", quantity, lambda v, moved=moved: v + moved, **FIRST)
        assert altered.verdict("nc23_term_and_simplex", tables) == expected, f"moved by {moved}"


@pytest.mark.parametrize("quantity", ["classifiers_frame_distance", "classifiers_self_duality"])
def test_small_distances_from_the_simplex_would_be_as_the_paper_has_it(quantity):
    tables = features()
    for name in ("means_frame_distance", "classifiers_frame_distance", "classifiers_self_duality"):
        altered.put(tables, "features", name, 1e-6)
    assert altered.verdict("nc23_term_and_simplex", tables) == "reproduced"
    altered.put(tables, "features", quantity, 0.1, **FIRST)
    assert altered.verdict("nc23_term_and_simplex", tables) == "refused"


def test_of_a_term_that_is_not_small_nothing_is_said():
    tables = altered.put(features(), "features", "concentrated_score_error", 0.25)
    assert support.verdict("neural_collapse", "nc23_term_and_simplex", tables) == "undecided"


def trainings():
    return {"trainings": made_up.trainings()}


def of_network(tables, network):
    (place,) = altered.places_of_network(tables["trainings"], network)
    return tables["trainings"][place]


def least_squares_loss(table, suffix="", **where):
    rows = [altered.rows_of(table, f"loss_{term}{suffix}", **where) for term in ("nc1", "nc23")]
    return sum(table.loc[one, "value"].item() for one in rows)


def evaluation(claim, **settings):
    return support.evaluation("neural_collapse", claim, trainings(), **settings)


@pytest.mark.parametrize("term", ["loss", "loss_nc1", "loss_nc23", "loss_ls_perp"])
def test_terms_that_do_not_add_up_at_one_epoch_are_refused(term):
    tables = trainings()
    assert altered.verdict("identity_on_networks", tables) == "reproduced"
    resnet = of_network(tables, "resnet")
    total = resnet.loc[altered.rows_of(resnet, "loss", epoch=30, seed=1), "value"].item()
    for share, expected in ((4e-11, "reproduced"), (2e-10, "refused")):
        tables = trainings()
        off = {"network": "resnet", "epoch": 30, "seed": 1}
        altered.put(tables, "trainings", term, lambda v, share=share: v + share * total, **off)
        assert altered.verdict("identity_on_networks", tables) == expected, f"off by {share} of the loss"


@pytest.mark.parametrize(
    ("settings", "epoch", "bad"),
    [
        # the rate drops after epoch 33: of the recorded epochs 30 is the last before
        ({}, 10, False),
        ({}, 30, True),
        ({}, 100, True),
        ({"since": "zero_error"}, 3, False),
        ({"since": "zero_error"}, 10, True),
        ({"since": "drop"}, 30, False),
        ({"since": "drop"}, 100, True),
        ({"since": "end"}, 30, False),
        ({"since": "end"}, 100, True),
    ],
)
def test_a_share_of_two_tenths_is_refused_from_the_chosen_epoch_on(settings, epoch, bad):
    tables = trainings()
    assert altered.verdict("least_squares_deviation_negligible", tables, **settings) == "reproduced"
    least = least_squares_loss(of_network(tables, "vgg"), epoch=epoch, seed=2)
    for share, expected in ((0.09, "reproduced"), (0.11, "refused" if bad else "reproduced")):
        altered.put(tables, "trainings", "loss_ls_perp", share * least, network="vgg", epoch=epoch, seed=2)
        assert altered.verdict("least_squares_deviation_negligible", tables, **settings) == expected, share


@pytest.mark.parametrize(
    ("drops", "epoch"), [([], 10), ([1.0], 10), ([0.3333, 0.6667], 30), ([0.3], 30), ([0.29], 10), ([0.005], 1)]
)
def test_the_latest_early_epoch_is_the_last_before_the_first_drop_or_of_the_first_tenth(drops, epoch):
    table = made_up.made_up()
    table.attrs["settings"]["drops"] = drops
    assert latest_early_epoch(by_seed(table, "loss"), table) == epoch


@pytest.mark.parametrize(("epoch", "expected"), [(3, "reproduced"), (10, "refused")])
def test_without_drops_the_deviation_is_judged_from_the_first_tenth_of_the_training_on(epoch, expected):
    tables = trainings()
    for table in tables["trainings"]:
        table.attrs["settings"]["drops"] = []
    least = least_squares_loss(of_network(tables, "vgg"), epoch=epoch, seed=2)
    altered.put(tables, "trainings", "loss_ls_perp", 0.11 * least, network="vgg", epoch=epoch, seed=2)
    assert altered.verdict("least_squares_deviation_negligible", tables) == expected


@pytest.mark.parametrize("other", ["loss_ls_perp", "loss_nc23"])
@pytest.mark.parametrize(
    ("since", "epoch", "judged"),
    [
        ("early", 10, False),
        ("early", 30, True),
        ("zero_error", 3, False),
        ("zero_error", 10, True),
        ("drop", 30, False),
        ("drop", 100, True),
        ("end", 30, False),
    ],
)
def test_l_nc1_is_the_largest_term_from_the_chosen_epoch_on(since, epoch, judged, other):
    one = {"network": "densenet", "epoch": epoch, "seed": 1}
    nc1 = 0.1 * float(epoch) ** -0.3 * made_up.luck(1)
    for factor, expected in ((0.99, "reproduced"), (1.01, "refused" if judged else "reproduced")):
        tables = altered.put(trainings(), "trainings", other, factor * nc1, **one)
        assert altered.verdict("nc1_term_dominates", tables, since=since) == expected, factor


@pytest.mark.parametrize(
    ("since", "epochs", "expected"),
    [
        ("early", (), "reproduced"),
        ("early", (30,), "undecided"),
        ("early", (30, 100), "not reproduced"),
        ("early", (10, 30), "not reproduced"),  # of which 30 is judged
        ("early", (3, 10), "reproduced"),
        ("zero_error", (10, 100), "undecided"),
        ("zero_error", (3, 10), "not reproduced"),
        ("end", (100,), "undecided"),
        ("end", (30, 100), "not reproduced"),
    ],
)
def test_a_term_that_is_larger_than_l_nc1_at_a_single_recorded_epoch_leaves_it_undecided(since, epochs, expected):
    tables = trainings()
    for epoch in epochs:
        nc1 = 0.1 * float(epoch) ** -0.3 * made_up.luck(0)
        altered.put(tables, "trainings", "loss_ls_perp", 1.01 * nc1, network="vgg", epoch=epoch, seed=0)
    found = support.evaluation("neural_collapse", "nc1_term_dominates", tables, since=since)
    assert found.verdict == expected
    assert found.judgement.headline.draws_undecided == (expected == "undecided")


def test_the_lead_of_l_nc1_is_over_the_larger_of_the_other_terms_with_or_without_decay():
    nc1, perp = 0.1 * EPOCHS**-0.3, 0.05 * EPOCHS**-1.2
    found = evaluation("nc1_term_dominates")
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(nc1[3] / perp[3])  # at epoch 30
    of_data = 0.5 * nc1 / (0.98 * perp)
    names = ("least", "most", "last", "decay_share", "data_least", "data_most", "data_last")
    expected = [*[nc1[3] / perp[3]] * 2, nc1[-1] / perp[-1], 0.5, *[of_data[3]] * 2, of_data[-1]]
    assert [found.facts[name] for name in names] == pytest.approx(expected)
    data = evaluation("nc1_term_dominates", parts="data").judgement.headline.value
    assert data == pytest.approx(0.5 * nc1[3] / (0.98 * perp[3]))
    notebook = evaluation("nc1_term_dominates", decay="notebook").judgement.headline.value
    assert notebook == pytest.approx(0.06 * 30**-0.5 / (0.1 * 30**-1.0))


def test_the_ratios_in_the_text_are_those_of_the_first_and_the_last_of_trainings():
    tables = trainings()
    # in one training the deviation is half of L_NC1 at epoch 30, in another L_NC2/3 a quarter of it at the last
    for network, seed, epoch, term, share in (
        ("vgg", 0, 30, "loss_ls_perp", 0.5),
        ("resnet", 1, 100, "loss_nc23", 0.25),
    ):
        nc1 = 0.1 * float(epoch) ** -0.3 * made_up.luck(seed)
        altered.put(tables, "trainings", term, share * nc1, network=network, seed=seed, epoch=epoch)
    facts = support.evaluation("neural_collapse", "nc1_term_dominates", tables).facts
    perp = 0.05 * EPOCHS**-1.2 / (0.1 * EPOCHS**-0.3)
    assert (facts["least"], facts["most"], facts["last"]) == pytest.approx((2.0, 1 / perp[3], 4.0))


def test_the_share_without_decay_has_its_own_numbers():
    nc1, nc23, perp = 0.1 * EPOCHS**-0.3, 0.1 * EPOCHS**-2.0, 0.05 * EPOCHS**-1.2
    whole, data = perp / (nc1 + nc23), 0.98 * perp / (0.5 * nc1 + nc23)
    found = {
        parts: evaluation("least_squares_deviation_negligible", parts=parts, largest_share=0.5)
        for parts in ("all", "data")
    }
    assert found["all"].judgement.headline.value == pytest.approx(whole[3])
    assert found["data"].judgement.headline.value == pytest.approx(data[3])
    facts = found["all"].facts
    assert facts["last"] == pytest.approx(whole[-1])
    assert (facts["best"], facts["worst"], facts["after_drop"]) == pytest.approx((whole[3], whole[3], whole[-1]))
    assert facts["before_drop"] == pytest.approx(whole[0])
    assert (facts["first_end"], facts["last_end"]) == (10, 10)
    assert (facts["data_share"], facts["data_worst"]) == pytest.approx((data[-1], data[-1]))
    assert facts["decay_share"] == pytest.approx(0.5 * nc1[-1] / (nc1[-1] + nc23[-1]))


@pytest.mark.parametrize(("until", "last"), [("end", 100), ("drop", 30)])
@pytest.mark.parametrize("parts", ["all", "data"])
def test_the_advantage_of_a_term_is_in_decades_of_fall(until, last, parts):
    # without its decay L_NC1 falls as the epoch to the power 1.5, and further than the deviation
    decay = 0.1 * EPOCHS**-0.3 - 0.05 * EPOCHS**-1.5
    tables = trainings()
    for seed in range(3):
        altered.put(tables, "trainings", "loss_nc1_decay", decay * made_up.luck(seed), seed=seed)
    # all of 1e-3 is the deviation's decay at every epoch, and falls with it
    expected = (2.0 - (1.2 if parts == "all" else 1.5)) * np.log10(last)
    found = support.evaluation("neural_collapse", "nc23_vanishes_first", tables, until=until, parts=parts)
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx((2.0 - 1.2) * np.log10(last))  # over the deviation
    assert min(check.value for check in found.judgement.checks) == pytest.approx(expected)
    for factor, verdict in ((10 ** (0.9 * expected), "reproduced"), (10 ** (1.1 * expected), "refused")):
        said = altered.verdict("nc23_vanishes_first", tables, until=until, parts=parts, factor=factor)
        assert said == verdict, f"factor {factor}"


@pytest.mark.parametrize(
    ("decay", "advantage", "share"),
    [
        ("trained", 2 * (2.0 - 1.2), 0.05 * 30**-1.2 / (0.1 * 30**-0.3 + 0.1 * 30**-2.0)),
        ("notebook", 2 * (2.5 - 1.0), 0.1 * 30**-1.0 / (0.06 * 30**-0.5 + 0.05 * 30**-2.5)),
    ],
)
def test_both_weight_decays_have_their_own_terms(decay, advantage, share):
    found = evaluation("nc23_vanishes_first", decay=decay)
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(advantage)
    assert (found.facts["trained"], found.facts["notebook"]) == pytest.approx((10**1.6, 10**3.0))
    found = evaluation("least_squares_deviation_negligible", decay=decay)
    assert found.judgement.headline.value == pytest.approx(share)


def test_falls_may_be_counted_from_the_end_of_train_errors_on():
    found = evaluation("nc23_vanishes_first", since="zero_error")
    assert found.judgement.headline.value == pytest.approx(2.0 - 1.2)  # a decade of epochs, 10 to 100
    assert found.verdict == "reproduced"
    # what is lost before says nothing then
    tables = altered.put(trainings(), "trainings", "loss_nc23", 1e-9, epoch=1)
    assert altered.verdict("nc23_vanishes_first", tables, since="zero_error") == "reproduced"
    assert altered.verdict("nc23_vanishes_first", tables) == "refused"


def test_the_largest_deviation_is_that_since_train_errors_ended_under_both_decays():
    tables = trainings()
    for suffix, epoch, share in (("", 3, 30.0), ("", 30, 3.0), ("--notebook", 3, 40.0), ("--notebook", 30, 4.0)):
        least = least_squares_loss(of_network(tables, "resnet"), suffix, epoch=epoch, seed=0)
        largest = {"network": "resnet", "epoch": epoch, "seed": 0}
        altered.put(tables, "trainings", f"loss_ls_perp{suffix}", share * least, **largest)
    facts = support.evaluation("neural_collapse", "nc23_vanishes_first", tables).facts
    assert (facts["trained_share"], facts["notebook_share"]) == pytest.approx((3.0, 4.0))
    assert support.evaluation("neural_collapse", "deviation_split", tables).facts["most"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("quantity", "passes", "refused"),
    [
        ("split_batches", 1.2, 0.03),
        ("split_batches", 0.8, 3.0),
        ("split_replaced", 1.15, 1.6),
        ("split_replaced", 0.85, 0.6),
        ("loss_ls_perp", 0.6, 0.3),
    ],
)
def test_the_split_is_held_part_by_part_before_the_drop(quantity, passes, refused):
    found = evaluation("deviation_split")
    assert found.verdict == "reproduced"
    assert "reproduced" not in found.rivals.values()
    least = 0.1 * 30**-0.3 + 0.1 * 30**-2.0
    expected = {
        name: value * 30**-1.2 / least for name, value in (("sampling", 0.0008), ("batches", 0.02), ("network", 0.05))
    }
    assert {name: found.facts[name] for name in expected} == pytest.approx(expected)
    for factor, verdict in ((passes, "reproduced"), (refused, "refused")):
        for epoch, said in ((30, verdict), (100, "reproduced")):
            tables = altered.put(trainings(), "trainings", quantity, lambda v, by=factor: v * by, epoch=epoch)
            assert altered.verdict("deviation_split", tables) == said, f"times {factor} at epoch {epoch}"
