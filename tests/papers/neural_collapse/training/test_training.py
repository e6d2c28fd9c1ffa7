"""Training on digits from configuration to table: at smoke scale, what is measured fits together."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.trainings import (
    at_zero_error,
    by_seed,
    when_errors_end,
    zero_error_epochs,
)
from tests import support
from tests.papers.neural_collapse.training.made_up import made_up

PAPER = "neural_collapse"


@pytest.fixture(scope="module")
def measured():
    return support.measured(PAPER, "digits_vgg_mse")


def test_the_three_terms_add_up_to_the_loss(measured):
    terms = sum(by_seed(measured, term) for term in ("loss_nc1", "loss_nc23", "loss_ls_perp"))
    np.testing.assert_allclose(terms, by_seed(measured, "loss"), rtol=1e-10)


def test_training_goes_towards_collapse(measured):
    for quantity in ("error", "nc1", "self_duality", "loss"):
        values = by_seed(measured, quantity)
        assert (values.iloc[-1] < 0.9 * values.iloc[0]).all(), quantity


def test_signal_to_noise_has_an_index_for_each_class_but_one(measured):
    snr = measured[measured["quantity"] == "snr"]
    assert sorted(snr["index"].unique()) == list(range(1, 10))
    for _, values in snr.groupby(["seed", "epoch"])["value"]:
        assert (np.diff(values) <= 0).all()


def test_every_measured_epoch_and_seed_has_its_row(measured):
    epochs = set(measured["epoch"])
    assert {1, 8} <= epochs
    for quantity in ("nc1", "nc4", "features", "rank", "dead_features"):
        assert by_seed(measured, quantity).shape == (len(epochs), 2)
        assert by_seed(measured, quantity).notna().all().all()


def test_zero_error_is_the_first_epoch_without_an_error():
    table = made_up()
    assert zero_error_epochs(table).tolist() == [10, 10, 10]
    assert when_errors_end([table], "nc1")[0] == pytest.approx(10**-1.5)


def test_a_quantity_measured_at_fewer_epochs_starts_at_the_first_after_zero_error():
    table = made_up()
    sparse = by_seed(table, "robustness", "test").loc[[1, 30, 100]]
    assert at_zero_error(sparse, table)[0] == pytest.approx(0.05 * 30**0.5)
