"""Tables of the central path against definitions: of free features, of flows and of descent."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.metrics import free_features as measure_features
from learning_dynamics.papers.neural_collapse.central_path.metrics import renormalised_descent as measure_descent
from learning_dynamics.papers.neural_collapse.central_path.metrics import renormalised_flows as measure_flows
from learning_dynamics.papers.neural_collapse.central_path.runs import (
    free_features,
    renormalised_descent,
    renormalised_flows,
)
from learning_dynamics.tidy import by_draw, select
from tests.papers.neural_collapse import oracles
from tests.support import trajectory_of

CLASSES, EXAMPLES = 3, 6
SIZES = [[CLASSES, EXAMPLES, 4]]  # with four features
SIZE_LABEL = "C3_N6_P4"
DRAWS = {"sizes": SIZES, "signal": 0.5, "seeds": 2, "seed": 3}


class FreeFeatures:
    """A run of free features, and its table at two weight decays."""

    decays = (0.0, 0.1)

    def __init__(self):
        self.run = free_features(**DRAWS, condition=10.0)
        self.run.settings = {"sizes": SIZES}
        self.table = measure_features(self.run, decays=list(self.decays))

    def array(self, name, member):
        return self.run.series[f"{name}_{SIZE_LABEL}"][member, 0]

    def rows(self, quantity, member, **where):
        return select(self.table, quantity, seed=member, **where)["value"]

    def value(self, quantity, member, index=0):
        return self.rows(quantity, member, index=index).item()


@pytest.fixture(scope="module")
def free():
    return FreeFeatures()


EACH_MEMBER = pytest.mark.parametrize("member", [0, 1])


@EACH_MEMBER
def test_the_table_has_the_losses_of_a_solved_classifier(free, member):
    H = free.array("H", member)
    W, b = oracles.least_squares(H, CLASSES)
    within, _, _ = oracles.covariances(H, CLASSES)
    loss, scatter = oracles.square_error(W, b, H, CLASSES), 0.5 * np.trace(W @ within @ W.T)
    assert free.value("loss", member) == pytest.approx(loss, rel=1e-9)
    assert free.value("loss_nc1", member) == pytest.approx(scatter, rel=1e-9)
    assert free.value("loss_nc23", member) == pytest.approx(loss - scatter, rel=1e-9)


@EACH_MEMBER
def test_the_table_has_spectra_and_traces_by_definition(free, member):
    H = free.array("H", member)
    within, between, _ = oracles.covariances(H, CLASSES)
    omega = oracles.singular_values(H, CLASSES)
    np.testing.assert_allclose(free.rows("omega", member), omega, rtol=1e-9)
    trace = np.trace(np.linalg.pinv(between, rcond=1e-10) @ within)
    assert free.value("trace", member) == pytest.approx(trace, rel=1e-9)
    assert free.value("trace_renormalised", member) == pytest.approx(CLASSES * np.sum(omega**-2.0), rel=1e-9)
    assert theory.trace_bound(omega, CLASSES) == pytest.approx(free.value("trace_renormalised", member), rel=1e-9)


@EACH_MEMBER
@pytest.mark.parametrize(
    ("flow", "speed"),
    [
        ("orthogonal", theory.snr_velocity),
        ("printed", theory.algorithm_velocity),
        ("descent", theory.algorithm_velocity),
    ],
)
def test_the_table_has_the_speeds_of_flows_and_descent(free, member, flow, speed):
    omega = oracles.singular_values(free.array("H", member), CLASSES)
    np.testing.assert_allclose(free.rows("speed", member, flow=flow), speed(omega, CLASSES, EXAMPLES), rtol=1e-7)


@EACH_MEMBER
@pytest.mark.parametrize(("index", "decay"), list(enumerate(FreeFeatures.decays, start=1)))
def test_the_table_has_identities_at_the_decay_of_their_index(free, member, index, decay):
    H = free.array("H", member)
    solved, of_half_decay = (np.column_stack(oracles.least_squares(H, CLASSES, one)) for one in (decay, decay / 2))
    gap = np.linalg.norm(of_half_decay - solved) / np.linalg.norm(solved)
    assert free.value("classifier_gap--half_decay", member, index) == pytest.approx(gap, rel=1e-8, abs=1e-13)


@EACH_MEMBER
@pytest.mark.parametrize("index", [1, 2, 3])
def test_the_table_has_predictions_under_each_change_of_basis(free, member, index):
    H, change = free.array("H", member), free.array("A", member)[index - 1]
    W, b = oracles.least_squares(H, CLASSES)
    scores, kept = W @ H + b[:, None], W @ change @ H + b[:, None]
    gap = np.linalg.norm(kept - scores) / np.linalg.norm(scores)
    assert free.value("predictions_change--classifier_kept", member, index) == pytest.approx(gap, rel=1e-8)


def test_the_table_of_flows_has_spectra_and_losses_of_its_states():
    # `trajectory_of` groups the integration's settings
    flow = trajectory_of(renormalised_flows, **DRAWS, first_time=0.1, horizon=100.0, points=3, rtol=1e-9, atol=1e-12)
    flow.settings = {"sizes": SIZES}
    table = measure_flows(flow)
    last = table[(table["flow"] == "orthogonal") & (table["time"] == 100.0) & (table["seed"] == 1)]
    X = flow.series[f"orthogonal_{SIZE_LABEL}"][1, -1]
    omega = oracles.singular_values(X, CLASSES)
    np.testing.assert_allclose(select(last, "omega")["value"], omega, rtol=1e-8)
    drift = np.abs(oracles.covariances(X, CLASSES)[0] - np.eye(4)).max()
    assert select(last, "singular_value_spread")["value"].item() == pytest.approx(omega[0] / omega[-1] - 1, rel=1e-8)
    assert select(last, "covariance_drift")["value"].item() == pytest.approx(drift, abs=1e-12)
    W, b = oracles.least_squares(X, CLASSES)
    within, _, _ = oracles.covariances(X, CLASSES)
    loss, scatter = oracles.square_error(W, b, X, CLASSES), 0.5 * np.trace(W @ within @ W.T)
    for quantity, value in {"loss": loss, "loss_nc1": scatter, "loss_nc23": loss - scatter}.items():
        assert select(last, quantity)["value"].item() == pytest.approx(value, rel=1e-8), quantity


@pytest.mark.parametrize("step", [4.0, 2.0])
def test_the_table_of_descent_has_spectra_of_plain_steps(step):
    descent = renormalised_descent(**DRAWS, horizon=16.0, points=3, steps=[4.0, 2.0])
    descent.settings = {"sizes": SIZES, "steps": [4.0, 2.0]}
    table = measure_descent(descent)
    rows = table[(table["step"] == step) & (table["time"] == 16.0) & (table["seed"] == 1)]
    X = descent.series[f"descent0_{SIZE_LABEL}"][1, 0]
    for _ in range(int(16 / step)):
        X = oracles.renormalised(X - step * oracles.gradient(X, CLASSES), CLASSES)
    omega = oracles.singular_values(X, CLASSES)
    np.testing.assert_allclose(select(rows, "omega")["value"], omega, rtol=1e-9)
    np.testing.assert_allclose(select(rows, "omega--one_step")["value"], omega, rtol=1e-9)
    assert (by_draw(rows, "snr_outside_first_vectors") < 1e-12).all()
