"""The last layer trained on a frozen body: against torch's own optimiser, and the law of its noise against theory."""

import copy

import numpy as np
import pytest
import torch

from learning_dynamics.papers.neural_collapse.training import deviation, models
from learning_dynamics.seeds import seed_sequence
from tests.papers.neural_collapse import oracles
from tests.papers.neural_collapse.training.test_oracles import CLASSES, images

RATE, MOMENTUM, DECAY, BATCH = 0.02, 0.5, 0.02, 12
SETTINGS = {"learning_rate": RATE, "momentum": MOMENTUM, "weight_decay": DECAY, "batch": BATCH}
IMAGES = 48  # of `images()`: four whole batches


@pytest.fixture
def network():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return models.build("vgg", 1, CLASSES, stages=[1, 1], width=3).eval()


@pytest.mark.parametrize(("batch", "drop_last"), [(BATCH, False), (20, False), (20, True)])  # 20, 20 and 8 images
@pytest.mark.parametrize(("name", "training"), [("split_sampling", False), ("split_batches", True)])
def test_the_last_layer_is_trained_as_torch_trains_it(name, training, batch, drop_last, network):
    pixels, labels = (torch.tensor(each) for each in images())
    epochs, settings = 5, SETTINGS | {"batch": batch, "drop_last": drop_last}  # an odd number: halves are rounded
    found = deviation.frozen_body(network, pixels, labels, settings, epochs=epochs, seed=5, member=1)
    H = network.features(pixels).detach().double().numpy().T
    W, b = oracles.least_squares(H, CLASSES, DECAY)
    layer = torch.nn.Linear(W.shape[1], W.shape[0]).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(W))
        layer.bias.copy_(torch.tensor(b))
    sgd = torch.optim.SGD(layer.parameters(), RATE, MOMENTUM, weight_decay=DECAY)

    def regularised():
        V, c = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        return oracles.square_error(V, c, H, CLASSES) + 0.5 * DECAY * (np.sum(V**2) + np.sum(c**2))

    least = regularised()
    deviations = []
    network.body.train(training)
    for epoch in range(epochs):
        order = np.random.default_rng(seed_sequence(5, f"frozen body, epoch {epoch}", 1)).permutation(len(pixels))
        for chosen in torch.tensor(order).split(batch):
            if drop_last and len(chosen) < batch:
                continue
            wanted = torch.nn.functional.one_hot(labels[chosen], CLASSES).double()
            features = network.body(pixels[chosen]).detach().double()
            sgd.zero_grad()
            (0.5 * ((layer(features) - wanted) ** 2).sum() / len(chosen)).backward()
            sgd.step()
            if epoch >= epochs // 2:
                deviations.append(regularised() - least)
    # L_LS^perp is a difference of losses: a ten-thousandth of them keeps 12 digits
    assert found[name] == pytest.approx(np.mean(deviations), rel=1e-6)


def test_a_frozen_body_leaves_the_network_as_it_is(network):
    pixels, labels = (torch.tensor(each) for each in images())
    before = {key: value.clone() for key, value in network.state_dict().items()}
    deviation.frozen_body(network, pixels, labels, SETTINGS, epochs=1, seed=5, member=1)
    for key, value in network.state_dict().items():
        assert torch.equal(before[key], value), f"{key} has moved"


def test_the_law_of_sampling_noise_holds_at_a_small_rate(network):
    pixels, labels = (torch.tensor(each) for each in images(per_class=60))
    batch, decay = 4, 0.5
    settings = SETTINGS | {"batch": batch, "weight_decay": decay}
    found = deviation.frozen_body(network, pixels, labels, settings, epochs=60, seed=1, member=0)
    # 240 images are 60 steps an epoch, averaged over the last 30 epochs; squares relax within (1 - momentum) /
    # (2 rate decay) = 25 steps: the mean of some 70 independent draws, of a number that has a fifth of spread
    assert found["split_replaced"] == pytest.approx(found["split_law"], rel=0.35)
    assert found["split_sampling"] < found["split_replaced"]
    H = network.features(pixels).detach().double().numpy().T
    W, b = oracles.least_squares(H, CLASSES, decay)
    errors = W @ H + b[:, None] - oracles.targets(H, CLASSES)
    # the covariance of the gradient of an image drawn at random, summed over its entries
    gradients = [np.outer(e, [*h, 1]) + decay * np.column_stack([W, b]) for e, h in zip(errors.T, H.T, strict=True)]
    spread = np.var(gradients, axis=0).sum()
    assert found["split_law"] == pytest.approx(RATE / (4 * (1 - MOMENTUM)) / batch * spread, rel=1e-6)
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
    assert len(pixels) == IMAGES == 48  # batches of 20, 20, 8; of 20, 20; of 24, 24
    full = found[24, False] * 24
    assert found[20, False] == pytest.approx(full * (1 / 20 + 1 / 20 + 1 / 8) / 3)
    assert found[20, True] == pytest.approx(full / 20)


@pytest.mark.parametrize(("name", "batch"), [("continued_batches", BATCH), ("continued_whole", IMAGES)])
def test_the_network_is_trained_on_as_torch_trains_it(name, batch, network):
    pixels, labels = (torch.tensor(each) for each in images())
    settings = SETTINGS | {"loss": "mse"}
    before = {key: value.clone() for key, value in network.state_dict().items()}
    network.requires_grad_(False)
    found = deviation.continued_states(network, pixels, labels, settings, steps=7, seed=5, member=1)[name]
    for key, value in network.state_dict().items():
        assert torch.equal(before[key], value), f"{key} has moved"
    steps = {"continued_batches": 8, "continued_whole": 7}[name]  # whole epochs of four steps, or of one
    other = copy.deepcopy(network).requires_grad_(True).train()
    sgd = torch.optim.SGD(other.parameters(), RATE, MOMENTUM, weight_decay=DECAY)
    wanted = torch.nn.functional.one_hot(labels, CLASSES).float()
    passed = []
    taken = 0
    for epoch in range(1, steps * batch // IMAGES + 1):
        order = np.random.default_rng(seed_sequence(5, f"batches of epoch {epoch}", 1)).permutation(len(pixels))
        for chosen in torch.tensor(order).split(batch):
            sgd.zero_grad()
            (0.5 * ((other(pixels[chosen]) - wanted[chosen]) ** 2).sum(dim=1).mean()).backward()
            sgd.step()
            taken += 1
        passed.append((epoch, copy.deepcopy(other.state_dict())))
    assert taken == steps
    second_half = passed[len(passed) // 2 :]
    assert len(found) == len(second_half)
    for state, (epoch, expected) in zip(found, second_half, strict=True):
        for key, value in expected.items():
            told = f"{key} after epoch {epoch}"
            np.testing.assert_allclose(state[key], value.numpy(), rtol=1e-4, atol=1e-6, err_msg=told)
