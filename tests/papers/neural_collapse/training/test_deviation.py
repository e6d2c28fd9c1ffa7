"""A last layer trained on a frozen body, and a network trained on: against torch's own optimiser and theory."""

import copy

import numpy as np
import pytest
import torch

from learning_dynamics.dynamics import training
from learning_dynamics.papers.neural_collapse.training import deviation, models
from tests.papers.neural_collapse import oracles
from tests.papers.neural_collapse.training.test_oracles import CLASSES, images

RATE, MOMENTUM = 0.02, 0.5
DECAY = 0.02
BATCH = 12
SETTINGS = {"learning_rate": RATE, "momentum": MOMENTUM, "weight_decay": DECAY, "batch": BATCH}
N_IMAGES = 48  # of `images()`: four whole batches


def assert_unchanged(network, before):
    """Compare the parameters and batch-norm statistics of a network with `before`, an earlier copy of them."""
    after = network.state_dict()
    assert after.keys() == before.keys()
    for key, value in before.items():
        assert torch.equal(after[key], value), f"{key} has changed"


def small_network():
    """Return a small VGG of random parameters, the same at each call, in evaluation mode."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return models.build("vgg", 1, CLASSES, stages=[1, 1], width=3).eval()


def recorded_orders(monkeypatch, module, name):
    """Return a list, empty as yet, to which each call of `module.name` adds the order of the images that it is given.

    The function is replaced by one that records. An order is its argument that is a tensor of one axis.
    """
    function, orders = getattr(module, name), []

    def recording(*arguments, **options):
        orders.extend(each for each in arguments if isinstance(each, torch.Tensor) and each.dim() == 1)
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, recording)
    return orders


def assert_whole_epochs(orders):
    """Check that orders are permutations of all images, and that no two are the same."""
    for order in orders:
        assert torch.equal(order.sort().values, torch.arange(N_IMAGES))
    assert len({tuple(order.tolist()) for order in orders}) == len(orders)


@pytest.fixture
def network():
    return small_network()


class LastLayer:
    """The last layer of a network, from the least-squares classifier on, trained by torch's own optimiser."""

    def __init__(self, network, pixels, labels):
        self.labels = labels
        self.H = network.features(pixels).detach().double().numpy().T  # of evaluation mode
        W, b = oracles.least_squares(self.H, CLASSES, DECAY)
        self.layer = torch.nn.Linear(W.shape[1], W.shape[0]).double()
        with torch.no_grad():
            self.layer.weight.copy_(torch.tensor(W))
            self.layer.bias.copy_(torch.tensor(b))
        self.sgd = torch.optim.SGD(self.layer.parameters(), RATE, MOMENTUM, weight_decay=DECAY)
        self.least_loss = self.regularised_loss()

    def regularised_loss(self):
        W, b = self.layer.weight.detach().numpy(), self.layer.bias.detach().numpy()
        return oracles.square_error(W, b, self.H, CLASSES) + 0.5 * DECAY * (np.sum(W**2) + np.sum(b**2))

    def deviation(self):
        """Return L_LS^perp of the layer as it is."""
        return self.regularised_loss() - self.least_loss

    def step(self, features, indices):
        """Take one step on the features of the images with these indices."""
        targets = torch.nn.functional.one_hot(self.labels[indices], CLASSES).double()
        self.sgd.zero_grad()
        (0.5 * ((self.layer(features) - targets) ** 2).sum() / len(indices)).backward()
        self.sgd.step()


# of 48 images: four whole batches; 20, 20 and 8; 20 and 20
@pytest.mark.parametrize(("batch", "drop_last"), [(BATCH, False), (20, False), (20, True)])
@pytest.mark.parametrize(("quantity", "training_mode"), [("split_sampling", False), ("split_batches", True)])
def test_the_mean_deviation_of_the_last_layer_is_that_of_a_layer_trained_by_torch(
    quantity, training_mode, batch, drop_last, network, monkeypatch
):
    pixels, labels = (torch.tensor(each) for each in images())
    epochs = 5  # an odd number: the mean is over the last three, half of them rounded up
    orders = recorded_orders(monkeypatch, deviation, "batches")
    settings = SETTINGS | {"batch": batch, "drop_last": drop_last}
    measured = deviation.frozen_body(network, pixels, labels, settings, epochs=epochs, seed=5, member=1)

    # The first order gives the sizes of batches. Then three layers are trained, `epochs` orders each: in batches of
    # fixed features (sampling), in batches drawn with replacement, and with the statistics of batches
    _, *orders_of_training = orders
    place = {"split_sampling": 0, "split_batches": 2}[quantity]
    orders_of_epochs = orders_of_training[place * epochs : (place + 1) * epochs]
    assert len(orders_of_epochs) == epochs
    assert_whole_epochs(orders_of_epochs)

    last_layer = LastLayer(network, pixels, labels)
    network.body.train(training_mode)
    deviations = []
    for epoch, order in enumerate(orders_of_epochs):
        for indices in order.split(batch):
            if drop_last and len(indices) < batch:
                continue
            last_layer.step(network.body(pixels[indices]).detach().double(), indices)
            if epoch >= epochs // 2:
                deviations.append(last_layer.deviation())
    # L_LS^perp is a difference of losses, about a ten-thousandth of them: of their 16 digits it keeps 12
    assert measured[quantity] == pytest.approx(np.mean(deviations), rel=1e-6)


def test_training_on_a_frozen_body_leaves_the_network_as_it_is(network):
    pixels, labels = (torch.tensor(each) for each in images())
    before = {key: value.clone() for key, value in network.state_dict().items()}
    deviation.frozen_body(network, pixels, labels, SETTINGS, epochs=1, seed=5, member=1)
    assert_unchanged(network, before)


SMALL_BATCH = 4
LARGE_DECAY = 0.5


@pytest.fixture(scope="module")
def noise():
    """Mean deviations of a last layer in batches of four of 240 images, by quantity.

    The decay is so large that the start is soon forgotten.
    """
    pixels, labels = (torch.tensor(each) for each in images(per_class=60))
    settings = SETTINGS | {"batch": SMALL_BATCH, "weight_decay": LARGE_DECAY}
    return deviation.frozen_body(small_network(), pixels, labels, settings, epochs=60, seed=1, member=0)


def test_batches_drawn_with_replacement_follow_the_law_at_a_small_rate(noise):
    # over eight seeds the ratio was 0.99 in the mean, with a standard deviation of 0.07: five of these are allowed
    assert noise["split_replaced"] == pytest.approx(noise["split_law"], rel=0.35)


def test_the_law_is_the_trace_of_the_covariance_of_an_images_gradient(noise, network):
    """The law is rate / (4 (1 - momentum)) / batch times that trace, at the least-squares classifier."""
    pixels = torch.tensor(images(per_class=60)[0])
    H = network.features(pixels).detach().double().numpy().T
    W, b = oracles.least_squares(H, CLASSES, LARGE_DECAY)
    errors = W @ H + b[:, None] - oracles.targets(H, CLASSES)
    gradients = [
        np.outer(error, [*h, 1]) + LARGE_DECAY * np.column_stack([W, b]) for error, h in zip(errors.T, H.T, strict=True)
    ]
    trace = np.var(gradients, axis=0).sum()  # of variances over images, one for each entry
    assert noise["split_law"] == pytest.approx(RATE / (4 * (1 - MOMENTUM)) / SMALL_BATCH * trace, rel=1e-6)


def test_epochs_that_show_each_image_once_have_less_noise_than_with_replacement(noise):
    assert noise["split_sampling"] < noise["split_replaced"]


def test_features_that_differ_from_batch_to_batch_add_to_the_noise(noise):
    assert noise["split_batches"] > noise["split_sampling"]


# the law is in proportion to the mean of 1 / batch over the batches of an epoch, here of 48 images
@pytest.mark.parametrize(
    ("batch", "drop_last", "mean_inverse"),
    [
        pytest.param(20, False, (1 / 20 + 1 / 20 + 1 / 8) / 3, id="20, 20 and 8"),
        pytest.param(20, True, 1 / 20, id="20 and 20"),
    ],
)
def test_the_law_counts_the_short_batch_that_ends_an_epoch(batch, drop_last, mean_inverse, network):
    pixels, labels = (torch.tensor(each) for each in images())
    assert len(pixels) == N_IMAGES

    def law(batch, drop_last):
        settings = SETTINGS | {"batch": batch, "drop_last": drop_last}
        noise = deviation.frozen_body(network, pixels, labels, settings, epochs=1, seed=1, member=0)
        return noise["split_law"]

    law_of_whole_batches = law(batch=24, drop_last=False)
    assert law(batch, drop_last) == pytest.approx(law_of_whole_batches * mean_inverse / (1 / 24))


STEPS = 7  # are asked for, and whole epochs are trained: two of four batches, or seven of one
every_continuation = pytest.mark.parametrize(
    ("quantity", "batch", "epochs"),
    [("continued_batches", BATCH, 2), ("continued_whole", N_IMAGES, 7)],
    ids=["in batches", "in one batch of all images"],
)


@every_continuation
def test_the_states_of_the_second_half_are_those_of_a_network_trained_on_by_torch(
    quantity, batch, epochs, network, monkeypatch
):
    orders = recorded_orders(monkeypatch, training, "one_epoch")
    pixels, labels = (torch.tensor(each) for each in images())
    settings = SETTINGS | {"loss": "mse"}
    network.requires_grad_(False)  # as measured networks are
    states = deviation.continued_states(network, pixels, labels, settings, steps=STEPS, seed=5, member=1)[quantity]

    # two epochs in batches come first, then those of whole batches
    orders_of_epochs = {"continued_batches": orders[:2], "continued_whole": orders[2:]}[quantity]
    assert len(orders_of_epochs) == epochs
    assert_whole_epochs(orders_of_epochs)

    other = copy.deepcopy(network).requires_grad_(True).train()
    sgd = torch.optim.SGD(other.parameters(), RATE, MOMENTUM, weight_decay=DECAY)
    targets = torch.nn.functional.one_hot(labels, CLASSES).float()
    expected_states = []
    for order in orders_of_epochs:
        for indices in order.split(batch):
            sgd.zero_grad()
            (0.5 * ((other(pixels[indices]) - targets[indices]) ** 2).sum(dim=1).mean()).backward()
            sgd.step()
        expected_states.append(copy.deepcopy(other.state_dict()))
    second_half = expected_states[epochs // 2 :]
    assert len(states) == len(second_half)
    for epoch, (state, expected) in enumerate(zip(states, second_half, strict=True), start=epochs // 2 + 1):
        for key, value in expected.items():
            label = f"{key} after epoch {epoch}"
            np.testing.assert_allclose(state[key], value.numpy(), rtol=1e-4, atol=1e-6, err_msg=label)


def test_training_a_network_on_leaves_the_network_itself_as_it_is(network):
    pixels, labels = (torch.tensor(each) for each in images())
    network.requires_grad_(False)  # as measured networks are
    before = {key: value.clone() for key, value in network.state_dict().items()}
    deviation.continued_states(network, pixels, labels, SETTINGS | {"loss": "mse"}, steps=STEPS, seed=5, member=1)
    assert_unchanged(network, before)
