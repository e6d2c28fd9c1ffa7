"""The lemmas on trajectories that scipy's integrator made, of networks that meet their hypotheses and of others."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.flow import metrics
from learning_dynamics.papers.spectral_bias.proof import claims
from learning_dynamics.trajectories import Trajectory
from tests.papers.spectral_bias.plain import flow

INPUTS, OUTPUTS, WIDTH = 4, 2, 5
GAMMA, TIMES, LATE = 0.3, np.linspace(0.0, 3.0, 7), 150.0  # by `LATE` flows have come to rest
DATA = regression.gaussian(samples=2, inputs=INPUTS, outputs=OUTPUTS, seeds=2, seed=9)

# the layers from which the lemmas are: W1 = sqrt(2 gamma) P with orthonormal rows of P, and W2 = 0
P = np.eye(INPUTS, WIDTH)
ORTHOGONAL_ROWS, ZERO = np.sqrt(2 * GAMMA) * P, np.zeros((WIDTH, OUTPUTS))


def table_of_flow_from(W1, W2):
    """Return the table of the flows on both data sets from these layers."""
    flows = [flow(X, Y, W1, W2, np.append(TIMES, LATE)) for X, Y in zip(DATA["X"], DATA["Y"], strict=True)]
    hidden, output = (np.stack(layers) for layers in zip(*flows, strict=True))
    constants = {
        **DATA,
        "P": np.stack([P, P]),
        "limit_W1": hidden[:, -1],
        "limit_W2": output[:, -1],
        "limit_time": np.full(2, LATE),
        # scipy's tolerance is 1e-11; claims allow steps times rtol, 1e-8
        "steps": np.full(2, 10_000),
    }
    trajectory = Trajectory(TIMES, {"W1": hidden[:, :-1], "W2": output[:, :-1]}, constants)
    trajectory.settings = {"gamma": GAMMA, "integration": {"rtol": 1e-12}}
    table = metrics.linear_flow(trajectory, settled=1e-6, perturbations=3)
    table.attrs["settings"] = trajectory.settings
    return table


LEMMAS = {"3.2": claims.lemma_3_2, "C.3": claims.lemma_c_3, "C.10": claims.lemma_c_10}


def verdicts(table):
    """Return the verdict on each lemma."""
    return {name: evaluate(lemma, {"flows": [table]}, {}).verdict for name, lemma in LEMMAS.items()}


def test_the_lemmas_hold_from_orthogonal_rows_and_a_second_layer_of_zero():
    table = table_of_flow_from(ORTHOGONAL_ROWS, ZERO)
    assert verdicts(table) == dict.fromkeys(LEMMAS, "reproduced")
    # Lemma C.6 is false as printed
    assert evaluate(claims.lemma_c_6, {"flows": [table]}, {}).corrected.state == "holds"


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
