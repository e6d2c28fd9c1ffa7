"""Numbers in the tables of the central path against definitions: of free features, of flows and of descent.

Two solvers agree to 1e-8 or better, their rounding; speeds, by central differences, to 1e-7.
"""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import LogSpan
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

CLASSES, EXAMPLES = 3, 6
SIZES = [[CLASSES, EXAMPLES, 4]]  # with four features
SIZE_LABEL = "C3_N6_P4"  # of arrays in a run
DRAWS = {"sizes": SIZES, "signal": 0.5, "seeds": 2, "seed": 3}  # settings that all runs here have


class FreeFeatures:
    """A run of free features, that is of features drawn at random, and its table at two weight decays.

    A member is one of two seeds; `index` counts singular values, weight decays or changes of basis from 1.
    """

    decays = (0.0, 0.1)

    def __init__(self):
        self.run = free_features(**DRAWS, condition=10.0)
        self.run.settings = {"sizes": SIZES}
        self.table = measure_features(self.run, decays=list(self.decays))

    def array(self, name, member):
        """Return an array of the run: features H, (P, C N), or three changes of basis A, (3, P, P)."""
        return self.run.series[f"{name}_{SIZE_LABEL}"][member, 0]

    def rows(self, quantity, member, **where):
        return select(self.table, quantity, seed=member, **where)["value"]

    def value(self, quantity, member, index=0):
        return self.rows(quantity, member, index=index).item()


@pytest.fixture(scope="module")
def free():
    return FreeFeatures()


every_member = pytest.mark.parametrize("member", [0, 1])


@every_member
def test_the_table_has_the_losses_of_a_solved_classifier(free, member):
    H = free.array("H", member)
    W, b = oracles.least_squares(H, CLASSES)
    within, _, _ = oracles.covariances(H, CLASSES)
    loss, scatter = oracles.square_error(W, b, H, CLASSES), 0.5 * np.trace(W @ within @ W.T)
    assert free.value("loss", member) == pytest.approx(loss, rel=1e-9)
    assert free.value("loss_nc1", member) == pytest.approx(scatter, rel=1e-9)
    assert free.value("loss_nc23", member) == pytest.approx(loss - scatter, rel=1e-9)


@every_member
def test_the_table_has_spectra_and_traces_by_definition(free, member):
    H = free.array("H", member)
    within, between, _ = oracles.covariances(H, CLASSES)
    omega = oracles.singular_values(H, CLASSES)
    np.testing.assert_allclose(free.rows("omega", member), omega, rtol=1e-9)
    trace = np.trace(np.linalg.pinv(between, rcond=1e-10) @ within)
    assert free.value("trace", member) == pytest.approx(trace, rel=1e-9)
    # of renormalised features, whose Sigma_W is the identity
    assert free.value("trace_renormalised", member) == pytest.approx(CLASSES * np.sum(omega**-2.0), rel=1e-9)


@every_member
def test_the_bound_of_the_trace_is_attained_by_renormalised_features(free, member):
    omega = oracles.singular_values(free.array("H", member), CLASSES)
    assert theory.trace_bound(omega, CLASSES) == pytest.approx(free.value("trace_renormalised", member), rel=1e-9)


@every_member
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


@every_member
@pytest.mark.parametrize(("index", "decay"), list(enumerate(FreeFeatures.decays, start=1)))
def test_the_table_has_identities_at_the_decay_of_their_index(free, member, index, decay):
    H = free.array("H", member)
    best, best_at_half_decay = (np.column_stack(oracles.least_squares(H, CLASSES, each)) for each in (decay, decay / 2))
    gap = oracles.relative_distance(best_at_half_decay, best)
    assert free.value("classifier_gap--half_decay", member, index) == pytest.approx(gap, rel=1e-8, abs=1e-13)


@every_member
@pytest.mark.parametrize("index", [1, 2, 3])
def test_the_table_has_predictions_under_each_change_of_basis(free, member, index):
    H, change = free.array("H", member), free.array("A", member)[index - 1]
    W, b = oracles.least_squares(H, CLASSES)
    scores, scores_of_changed = W @ H + b[:, None], W @ change @ H + b[:, None]
    gap = oracles.relative_distance(scores_of_changed, scores)
    assert free.value("predictions_change--classifier_kept", member, index) == pytest.approx(gap, rel=1e-8)


class LastOfFlow:
    """The second draw of the orthogonal flow at its last time: its features X, and its rows in the table."""

    def __init__(self):
        integration = LogSpan(first_time=0.1, horizon=100.0, points=3, rtol=1e-9, atol=1e-12)
        flow = renormalised_flows(**DRAWS, integration=integration)
        flow.settings = {"sizes": SIZES}
        table = measure_flows(flow)
        self.X = flow.series[f"orthogonal_{SIZE_LABEL}"][1, -1]
        self.rows = select(table, flow="orthogonal", time=100.0, seed=1)

    def value(self, quantity):
        return select(self.rows, quantity)["value"].item()


@pytest.fixture(scope="module")
def last_of_flow():
    return LastOfFlow()


def test_the_table_of_flows_has_spectra_of_its_states(last_of_flow):
    omega = oracles.singular_values(last_of_flow.X, CLASSES)
    np.testing.assert_allclose(select(last_of_flow.rows, "omega")["value"], omega, rtol=1e-8)
    assert last_of_flow.value("singular_value_spread") == pytest.approx(omega[0] / omega[-1] - 1, rel=1e-8)


def test_the_table_of_flows_has_the_drift_of_the_covariance_from_the_identity(last_of_flow):
    within, _, _ = oracles.covariances(last_of_flow.X, CLASSES)
    drift = np.abs(within - np.eye(len(within))).max()
    assert last_of_flow.value("covariance_drift") == pytest.approx(drift, abs=1e-12)


def test_the_table_of_flows_has_losses_of_its_states(last_of_flow):
    X = last_of_flow.X
    W, b = oracles.least_squares(X, CLASSES)
    within, _, _ = oracles.covariances(X, CLASSES)
    loss, scatter = oracles.square_error(W, b, X, CLASSES), 0.5 * np.trace(W @ within @ W.T)
    for quantity, value in {"loss": loss, "loss_nc1": scatter, "loss_nc23": loss - scatter}.items():
        assert last_of_flow.value(quantity) == pytest.approx(value, rel=1e-8), quantity


@pytest.mark.parametrize("step", [4.0, 2.0])
def test_the_table_of_descent_has_spectra_of_plain_steps(step):
    descent = renormalised_descent(**DRAWS, horizon=16.0, points=3, steps=[4.0, 2.0])
    descent.settings = {"sizes": SIZES, "steps": [4.0, 2.0]}
    rows = select(measure_descent(descent), step=step, time=16.0, seed=1)
    X = descent.series[f"descent0_{SIZE_LABEL}"][1, 0]  # of the first step size, at the start, which all sizes share
    for _ in range(int(16 / step)):
        X = oracles.renormalised(X - step * oracles.gradient(X, CLASSES), CLASSES)
    omega = oracles.singular_values(X, CLASSES)
    np.testing.assert_allclose(select(rows, "omega")["value"], omega, rtol=1e-9)
    np.testing.assert_allclose(select(rows, "omega--one_step")["value"], omega, rtol=1e-9)
    assert (by_draw(rows, "snr_outside_first_vectors") < 1e-12).all()
