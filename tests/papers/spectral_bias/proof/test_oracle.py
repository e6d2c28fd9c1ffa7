"""The lemmas on trajectories that scipy's integrator made, of the network that they are about and of others."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias.flow import metrics
from learning_dynamics.papers.spectral_bias.proof import claims
from learning_dynamics.trajectories import Trajectory
from tests.papers.spectral_bias.plain import flow

GAMMA, TIMES = 0.3, np.linspace(0.0, 3.0, 7)
DATA = regression.gaussian(samples=2, inputs=4, outputs=2, seeds=2, seed=9)


def table_of(first, second):
    """Measure flows of both data sets from given layers; P is the first four hidden directions."""
    flows = [flow(X, Y, first, second, np.r_[TIMES, 150.0]) for X, Y in zip(DATA["X"], DATA["Y"], strict=True)]
    W1, W2 = (np.stack(layers) for layers in zip(*flows, strict=True))
    constants = {
        **DATA,
        "P": np.repeat(np.eye(4, first.shape[1])[None], 2, axis=0),
        "limit_W1": W1[:, -1],
        "limit_W2": W2[:, -1],
        "limit_time": np.full(2, 150.0),
        "steps": np.full(2, 10_000),
    }
    trajectory = Trajectory(TIMES, {"W1": W1[:, :-1], "W2": W2[:, :-1]}, constants)
    trajectory.settings = {"gamma": GAMMA, "integration": {"rtol": 1e-12}}
    table = metrics.linear_flow(trajectory, settled=1e-6, perturbations=3)
    table.attrs["settings"] = trajectory.settings
    return table


def verdicts_on(table):
    lemmas = ("lemma_3_2", "lemma_c_3", "lemma_c_10")
    return {name: evaluate(getattr(claims, name), {"flows": [table]}, {}).verdict for name in lemmas}


ROWS = np.sqrt(2 * GAMMA) * np.eye(4, 5)


def test_they_hold_on_the_network_that_they_speak_of():
    table = table_of(ROWS, np.zeros((5, 2)))
    assert set(verdicts_on(table).values()) == {"reproduced"}
    assert evaluate(claims.lemma_c_6, {"flows": [table]}, {}).corrected.state == "holds"


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        (1.001 * ROWS, np.zeros((5, 2)), {"lemma_3_2", "lemma_c_10"}),
        (ROWS, 0.01 * np.eye(5, 2), {"lemma_3_2", "lemma_c_10", "lemma_c_3"}),
        (ROWS * np.array([[1.0], [1.1], [0.9], [1.0]]), np.zeros((5, 2)), {"lemma_3_2", "lemma_c_10"}),
    ],
    ids=["another scale", "a second layer that does not start at zero", "rows of unequal lengths"],
)
def test_they_are_refused_on_others(first, second, refused):
    verdicts = verdicts_on(table_of(first, second))
    assert {name for name, verdict in verdicts.items() if verdict == "contradicted"} == refused
