"""Vanishing scales: the time to a loss and the limits, against what is known of them."""

import numpy as np
import pytest

from learning_dynamics.datasets.regression import gaussian
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.scale import claims, metrics, runs
from learning_dynamics.pipeline.commands.functions import arguments_for


def flow(**further):
    data = gaussian(samples=3, inputs=5, outputs=1, seeds=2, seed=4)
    integration = {"residual": 1e-8, "patience": 1e4, "rtol": 1e-10, "atol": 1e-22}
    settings = {"gammas": [1.0, 1e-6, 1e-9], "width": 5, "loss_share": 0.01, "points": 21, "integration": integration}
    settings |= further
    trajectory = runs.scaled_flow(data, **arguments_for(runs.scaled_flow, settings), seed=0)
    trajectory.settings = settings
    found = metrics.scaled_flow(trajectory, others=10)
    found.attrs["settings"] = settings
    return found


@pytest.fixture(scope="module")
def table():
    return flow()


@pytest.fixture(scope="module")
def unfed():
    return flow(unfed=True)


def alignment(table, unfed):
    return evaluate(claims.column_alignment, {"flow": table, "unfed": unfed}, {"largest": 1e-6, "sine": 1e-2})


def test_one_scale_has_no_slope(table):
    with pytest.raises(ValueError, match="a slope needs two"):
        evaluate(claims.time_to_loss, {"flow": table}, {"largest": 1e-9})


def test_columns_align_by_their_share_of_the_first_gradient_and_one_without_does_not(table, unfed):
    found = alignment(table, unfed)
    assert found.verdict == "corrected"
    assert found.judgement.headline.value > 0.1
    assert found.min_detectable_error < 1e-3
    assert alignment(table, table).judgement.state == "holds"


def test_the_unfed_unit_starts_orthogonal_to_the_first_gradient_and_lengths_stay():
    rng = np.random.default_rng(1)
    P, gradient = np.linalg.qr(rng.standard_normal((5, 5)))[0], rng.standard_normal(5)
    turned = runs._with_unfed_unit(P, gradient)
    assert abs(turned[:, -1] @ gradient) < 1e-15
    np.testing.assert_allclose(turned @ turned.T, np.eye(5), atol=1e-15)


def test_a_column_with_no_share_that_can_be_seen_leaves_its_draw_undecided(table, unfed):
    changed = table.copy()
    rows = (changed["quantity"] == "along") & (changed["index"] == 2) & (changed["seed"] == 0)
    changed.loc[rows, ["value", "predicted"]] = 1e-9
    assert alignment(changed, unfed).corrected.parts[1].draws_undecided == 1


def test_a_columns_sine_follows_from_its_part_along_beta(table):
    """Imbalance is conserved: what a column has across beta is 2 gamma (1 - v^2), v its part along it."""
    for (gamma, _), rows in table.groupby(["gamma", "seed"]):
        along = rows.loc[rows["quantity"] == "along", "value"].to_numpy()
        first = rows.loc[(rows["quantity"] == "sigma_w1") & (rows["index"] == 1), "value"].iloc[0]
        sine = rows.loc[rows["quantity"] == "misaligned", "value"].iloc[0]
        across, length = 2 * gamma * (1 - along**2), (along * first) ** 2
        # the layer's rounding beside the smallest of its columns' parts
        assert sine == pytest.approx(np.sqrt(across / (across + length)).max(), rel=1e-6)
