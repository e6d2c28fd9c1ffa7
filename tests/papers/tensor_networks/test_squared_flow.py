import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks import squared_flow, tensor_network
from learning_dynamics.papers.tensor_networks.squared_flow import Limit, flow_limit

POINT = {"X": np.array([[1.0, 2.0]]), "y": np.array([1.0]), "integration": Limit(1e-9, 1e-12, 1e-9)}


def test_a_flow_that_stays_at_a_saddle_is_returned_from_there():
    np.testing.assert_array_equal(flow_limit(tensor_network.diagonal(2, 2), start=np.zeros(4), **POINT), np.zeros(4))


def test_a_flow_that_the_integrator_gives_up_is_nan(monkeypatch):
    def gives_up(*_, **__):
        raise DivergenceError("out of steps")

    monkeypatch.setattr(squared_flow, "integrate", gives_up)
    assert np.isnan(flow_limit(tensor_network.diagonal(2, 2), start=np.ones(4), **POINT)).all()
