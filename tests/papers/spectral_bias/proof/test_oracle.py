"""The lemmas on trajectories that scipy's integrator made, of networks that meet their hypotheses and of others."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.flow import metrics
from learning_dynamics.papers.spectral_bias.proof import claims
from learning_dynamics.trajectories import Trajectory
from tests.papers.spectral_bias.plain import at_rest, flow

INPUTS, OUTPUTS, WIDTH = 4, 2, 5
GAMMA = 0.3
TIMES = np.linspace(0.0, 3.0, 7)
LATE = 150.0  # `at_rest` asserts that flows have come to rest by then
# claims allow an error of steps times rtol, 1e-8; scipy's tolerance is 1e-11
STEPS, RTOL = 10_000, 1e-12
DATA = regression.gaussian(samples=2, inputs=INPUTS, outputs=OUTPUTS, seeds=2, seed=9)

# the start that the lemmas are about: W1 = sqrt(2 gamma) P with orthonormal rows of P, and W2 = 0
P = np.eye(INPUTS, WIDTH)
ORTHOGONAL_ROWS, ZERO = np.sqrt(2 * GAMMA) * P, np.zeros((WIDTH, OUTPUTS))


def table_of_flow_from(W1, W2):
    """Return the table of the flows on both data sets from these layers, in the form of the run `linear_flow`."""
    problems = list(zip(DATA["X"], DATA["Y"], strict=True))
    flows = [flow(X, Y, W1, W2, TIMES) for X, Y in problems]
    limits = [at_rest(X, Y, W1, W2, LATE) for X, Y in problems]
    hidden, output = (np.stack(layers) for layers in zip(*flows, strict=True))
    limit_W1, limit_W2 = (np.stack(layers) for layers in zip(*limits, strict=True))
    constants = {
        **DATA,
        "P": np.stack([P, P]),
        "limit_W1": limit_W1,
        "limit_W2": limit_W2,
        "limit_time": np.full(2, LATE),
        "steps": np.full(2, STEPS),
    }
    trajectory = Trajectory(TIMES, {"W1": hidden, "W2": output}, constants)
    trajectory.settings = {"gamma": GAMMA, "integration": {"rtol": RTOL}}
    table = metrics.linear_flow(trajectory, settled=1e-6, perturbations=3)
    table.attrs["settings"] = trajectory.settings
    return table


LEMMAS = {
    "3.2": claims.lemma_3_2,  # the imbalance Z1^T Z1 - Z2 Z2^T stays 2 gamma I
    "C.3": claims.lemma_c_3,  # alpha = Z1^{-T} Z2 stays in the span of the data
    "C.10": claims.lemma_c_10,  # the spectra of both layers follow from that of W1 W2
}


def verdicts(table):
    """Return the verdict on each lemma."""
    return {name: evaluate(lemma, tables={"flows": [table]}, settings={}).verdict for name, lemma in LEMMAS.items()}


@pytest.fixture(scope="module")
def table_from_orthogonal_rows():
    return table_of_flow_from(ORTHOGONAL_ROWS, ZERO)


def test_the_lemmas_hold_from_orthogonal_rows_and_a_second_layer_of_zero(table_from_orthogonal_rows):
    assert verdicts(table_from_orthogonal_rows) == dict.fromkeys(LEMMAS, "reproduced")


def test_the_corrected_lemma_c_6_holds_from_orthogonal_rows_and_a_second_layer_of_zero(table_from_orthogonal_rows):
    """|Y - X beta|^2 decays at the rate 4 gamma lambda_min(X X^T) or faster; as printed the lemma is false."""
    tables = {"flows": [table_from_orthogonal_rows]}
    assert evaluate(claims.lemma_c_6, tables, settings={}).corrected.state == "holds"


@pytest.mark.parametrize(
    ("W1", "W2", "refused"),
    [
        pytest.param(1.001 * ORTHOGONAL_ROWS, ZERO, {"3.2", "C.10"}, id="another scale"),
        pytest.param(
            ORTHOGONAL_ROWS, 0.01 * np.eye(WIDTH, OUTPUTS), {"3.2", "C.10", "C.3"}, id="a second layer that is not zero"
        ),
        pytest.param(
            ORTHOGONAL_ROWS * np.array([[1.0], [1.1], [0.9], [1.0]]),
            ZERO,
            {"3.2", "C.10"},
            id="rows of unequal lengths",
        ),
    ],
)
def test_from_other_layers_the_lemmas_that_need_this_start_are_refused(W1, W2, refused):
    contradicted = {name for name, verdict in verdicts(table_of_flow_from(W1, W2)).items() if verdict == "contradicted"}
    assert contradicted == refused
