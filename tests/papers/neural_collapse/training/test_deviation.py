"""The last layer trained on a frozen body: against torch's own optimiser, and the law of its noise against theory."""

import copy

import numpy as np
import pytest
import torch

from learning_dynamics.papers.neural_collapse.training import deviation, models
from learning_dynamics.seeds import seed_sequence
from tests.papers.neural_collapse import oracles
from tests.papers.neural_collapse.training.test_oracles import CLASSES, images

SETTINGS = {"learning_rate": 0.02, "momentum": 0.5, "weight_decay": 0.02, "batch": 12}


@pytest.fixture
def network():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return models.build("vgg", 1, CLASSES, stages=[1, 1], width=3).eval()


@pytest.mark.parametrize(("name", "training"), [("split_sampling", False), ("split_batches", True)])
def test_the_last_layer_is_trained_as_torch_trains_it(name, training, network):
    pixels, labels = (torch.tensor(each) for each in images())
    before = {key: value.clone() for key, value in network.state_dict().items()}
    found = deviation.frozen_body(network, pixels, labels, SETTINGS, epochs=4, seed=5, member=1)
    assert all(torch.equal(before[key], value) for key, value in network.state_dict().items())
    H = network.features(pixels).detach().double().numpy().T
    W, b = oracles.least_squares(H, CLASSES, SETTINGS["weight_decay"])
    layer = torch.nn.Linear(*W.shape[::-1]).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(W))
        layer.bias.copy_(torch.tensor(b))
    sgd = torch.optim.SGD(layer.parameters(), 0.02, 0.5, weight_decay=0.02)

    def regularised():
        V, c = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        return oracles.square_error(V, c, H, CLASSES) + 0.01 * (np.sum(V**2) + np.sum(c**2))

    least, deviations = regularised(), []
    network.body.train(training)
    for epoch in range(4):
        order = np.random.default_rng(seed_sequence(5, f"frozen body, epoch {epoch}", 1)).permutation(len(pixels))
        for chosen in torch.tensor(order).split(12):
            wanted = torch.nn.functional.one_hot(labels[chosen], CLASSES).double()
            features = network.body(pixels[chosen]).detach().double()
            sgd.zero_grad()
            (0.5 * ((layer(features) - wanted) ** 2).sum() / len(chosen)).backward()
            sgd.step()
            if epoch >= 2:
                deviations.append(regularised() - least)
    assert found[name] == pytest.approx(np.mean(deviations), rel=1e-4)


def test_the_law_of_sampling_noise_holds_at_a_small_rate(network):
    pixels, labels = (torch.tensor(each) for each in images(60))
    settings = SETTINGS | {"learning_rate": 0.02, "batch": 4, "weight_decay": 0.5}
    found = deviation.frozen_body(network, pixels, labels, settings, epochs=60, seed=1, member=0)
    # 60 times 60 steps, relaxing within 25: the mean of 70 independent draws of a number that has a fifth of spread
    assert found["split_replaced"] == pytest.approx(found["split_law"], rel=0.35)
    assert found["split_sampling"] < found["split_replaced"]
    H = network.features(pixels).detach().double().numpy().T
    W, b = oracles.least_squares(H, CLASSES, 0.5)
    errors = W @ H + b[:, None] - oracles.targets(H, CLASSES)
    # the covariance of the gradient of an image drawn at random, summed over its entries
    gradients = [np.outer(e, [*h, 1]) + 0.5 * np.column_stack([W, b]) for e, h in zip(errors.T, H.T, strict=True)]
    spread = np.var(gradients, axis=0).sum()
    assert found["split_law"] == pytest.approx(0.02 / (4 * 4 * 0.5) * spread, rel=1e-6)
    # features that differ from batch to batch add to the noise
    assert found["split_batches"] > found["split_sampling"]


def test_the_law_counts_the_short_batch_that_ends_an_epoch(network):
    pixels, labels = (torch.tensor(each) for each in images())
    found = {
        (batch, drop_last): deviation.frozen_body(
            network, pixels, labels, SETTINGS | {"batch": batch, "drop_last": drop_last}, epochs=1, seed=1, member=0
        )["split_law"]
        for batch, drop_last in ((20, False), (20, True), (24, False))
    }
    # 48 images: batches of 20, 20, 8; of 20, 20; of 24, 24
    full = found[24, False] * 24
    assert found[20, False] == pytest.approx(full * (1 / 20 + 1 / 20 + 1 / 8) / 3)
    assert found[20, True] == pytest.approx(full / 20)


@pytest.mark.parametrize(("name", "batch"), [("continued_batches", 12), ("continued_whole", 48)])
def test_the_network_is_trained_on_as_torch_trains_it(name, batch, network):
    pixels, labels = (torch.tensor(each) for each in images())
    settings = SETTINGS | {"loss": "mse"}
    before = {key: value.clone() for key, value in network.state_dict().items()}
    network.requires_grad_(False)
    found = deviation.continued_states(network, pixels, labels, settings, steps=7, seed=5, member=1)[name]
    assert all(torch.equal(before[key], value) for key, value in network.state_dict().items())
    steps = {"continued_batches": 8, "continued_whole": 7}[name]  # whole epochs of four steps, or of one
    other = copy.deepcopy(network).requires_grad_(True).train()
    sgd = torch.optim.SGD(other.parameters(), 0.02, 0.5, weight_decay=0.02)
    wanted, passed, taken = torch.nn.functional.one_hot(labels, CLASSES).float(), [], 0
    for epoch in range(1, steps * batch // 48 + 1):
        order = np.random.default_rng(seed_sequence(5, f"batches of epoch {epoch}", 1)).permutation(len(pixels))
        for chosen in torch.tensor(order).split(batch):
            sgd.zero_grad()
            (0.5 * ((other(pixels[chosen]) - wanted[chosen]) ** 2).sum(dim=1).mean()).backward()
            sgd.step()
            taken += 1
        passed.append(copy.deepcopy(other.state_dict()))
    assert taken == steps
    passed = passed[len(passed) // 2 :]
    assert len(found) == len(passed)
    for state, expected in zip(found, passed, strict=True):
        for key, value in expected.items():
            np.testing.assert_allclose(state[key], value.numpy(), rtol=1e-4, atol=1e-6)
