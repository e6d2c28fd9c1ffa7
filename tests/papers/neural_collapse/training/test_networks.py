"""Networks against their families written out by hand; statistics of passes in batches against those of all images."""

import numpy as np
import pytest
import scipy
import torch
from torch.nn import functional

from learning_dynamics.papers.neural_collapse.training import models, passes
from tests.papers.neural_collapse.training.test_oracles import CLASSES, images


@pytest.fixture(autouse=True)
def the_same_parameters_in_each_test():
    torch.manual_seed(0)  # parameters are drawn by torch's global generator


class UnbalancedPass:
    """A pass in batches of five over 7, 3, 7 and 2 images of four classes; features and outputs of all in one batch."""

    def __init__(self):
        torch.manual_seed(0)
        self.network = models.build("vgg", 1, CLASSES, stages=[1], width=3).eval()
        pixels, labels = images(7)
        kept = np.r_[0:7, 7:10, 14:21, 21:23]  # of seven images of each class: 7, 3, 7 and 2
        self.pixels, self.labels = torch.tensor(pixels[kept]), labels[kept]
        self.layer = self.last_layer(batch=5, gigabytes=1.0)
        self.measured = passes.measure(self.layer)
        self.H = self.network.features(self.pixels).detach().double().numpy()  # shape (images, features)
        self.outputs = self.network(self.pixels).detach().double().numpy()
        self.decisions = self.outputs.argmax(axis=1)

    def last_layer(self, *, batch, gigabytes):
        labels = torch.tensor(self.labels)
        return passes.LastLayer(self.network, self.pixels, labels, batch=batch, gigabytes=gigabytes)

    def mean_over_classes(self, values):
        """Return the mean over classes of the mean over the images of a class."""
        return np.mean([values[self.labels == label].mean(axis=0) for label in range(CLASSES)], axis=0)

    def square_errors(self):
        """Return half the squared error of each image."""
        return 0.5 * np.sum((self.outputs - np.eye(CLASSES)[self.labels]) ** 2, axis=1)


@pytest.fixture(scope="module")
def unbalanced():
    return UnbalancedPass()


def test_the_error_weighs_images_equally_and_the_class_error_classes(unbalanced):
    is_wrong = unbalanced.decisions != unbalanced.labels
    assert unbalanced.measured.error == pytest.approx(is_wrong.mean(), rel=1e-12)
    class_error = unbalanced.mean_over_classes(is_wrong)
    assert unbalanced.measured.class_error == pytest.approx(class_error, rel=1e-6)
    assert class_error != pytest.approx(is_wrong.mean(), rel=0.01)


def test_the_square_loss_weighs_classes_equally(unbalanced):
    expected = unbalanced.mean_over_classes(unbalanced.square_errors())
    assert unbalanced.measured.square_loss == pytest.approx(expected, rel=1e-5)


def test_the_within_class_covariance_weighs_classes_equally(unbalanced):
    covariances = [np.cov(unbalanced.H[unbalanced.labels == label].T, bias=True) for label in range(CLASSES)]
    expected = np.mean(covariances, axis=0)
    np.testing.assert_allclose(unbalanced.measured.within, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_disagreement_is_the_share_of_images_not_decided_for_the_nearest_class_mean(unbalanced):
    means = unbalanced.measured.means
    nearest = scipy.spatial.distance.cdist(unbalanced.H, means).argmin(axis=1)
    share = np.mean(unbalanced.decisions != nearest)
    assert 0 < share < 1
    assert passes.disagreement(unbalanced.layer, means) == pytest.approx(share, rel=1e-12)


def test_features_that_do_not_fit_into_memory_are_computed_again_with_equal_results(unbalanced):
    computed_again = unbalanced.last_layer(batch=4, gigabytes=0.0)  # nothing fits
    square_loss = passes.measure(computed_again).square_loss
    assert square_loss == pytest.approx(unbalanced.measured.square_loss, rel=1e-6)


def test_the_first_features_are_those_of_the_first_images_across_batches(unbalanced):
    np.testing.assert_allclose(unbalanced.layer.first(6), unbalanced.H[:6], rtol=1e-5)


def test_recomputed_statistics_are_those_of_all_images_in_one_batch():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=3)
    pixels = torch.tensor(images()[0])
    passes.recompute_batch_statistics(network, pixels)
    norms = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]  # two
    convolutions = [module for module in network.modules() if isinstance(module, torch.nn.Conv2d)]
    first = convolutions[0](pixels).detach()
    np.testing.assert_allclose(norms[0].running_mean, first.mean(dim=(0, 2, 3)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(norms[0].running_var, first.var(dim=(0, 2, 3)), rtol=1e-5)
    spread = (first.var((0, 2, 3), unbiased=False, keepdim=True) + 1e-5).sqrt()
    normalised = (first - first.mean((0, 2, 3), keepdim=True)) / spread
    second = convolutions[1](functional.max_pool2d(functional.relu(normalised), 2)).detach()
    np.testing.assert_allclose(norms[1].running_mean, second.mean(dim=(0, 2, 3)), rtol=0, atol=1e-4)
    # the network is as it was, in evaluation mode
    assert all(norm.momentum == 0.1 for norm in norms)
    assert not network.training


class LayersInOrder:
    """The layers of a network, which gets random parameters: each call applies the next one that was made.

    Below, the wiring of a family is written out as calls in that order.
    """

    def __init__(self, network):
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for tensor in network.state_dict().values():
                if tensor.is_floating_point():
                    tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.1)
                    # some negative, so that rectifiers matter
                    tensor.mul_(torch.where(torch.rand(tensor.shape, generator=generator) < 0.4, -1.0, 1.0))
            for module in network.modules():
                if hasattr(module, "running_var"):
                    module.running_var.abs_()
        self.layers = {
            kind: iter([module for module in network.modules() if isinstance(module, kind)])
            for kind in (torch.nn.Conv2d, torch.nn.BatchNorm2d, torch.nn.BatchNorm1d)
        }
        self.dense = [module for module in network.modules() if isinstance(module, torch.nn.Linear)]

    def conv(self, x, stride=1):
        """Apply the next convolution."""
        weight = next(self.layers[torch.nn.Conv2d]).weight
        return functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def norm(self, x):
        """Apply the next normalisation, by its formula in evaluation mode."""
        layer = next(self.layers[torch.nn.BatchNorm2d if x.dim() == 4 else torch.nn.BatchNorm1d])
        shape = (1, -1) + (1,) * (x.dim() - 2)
        scale = layer.weight / (layer.running_var + 1e-5).sqrt()
        return (x - layer.running_mean.reshape(shape)) * scale.reshape(shape) + layer.bias.reshape(shape)


# each of these returns the features of images x, shape (images, features), with a network's `LayersInOrder`


def vgg(net, x):
    for convolutions in (1, 2):
        for _ in range(convolutions):
            x = net.norm(net.conv(x)).clamp(min=0)
        x = functional.max_pool2d(x, 2)
    x = x.mean((2, 3))
    return net.norm(x @ net.dense[0].weight.T).clamp(min=0)


def resnet(net, x):
    x = net.norm(net.conv(x)).clamp(min=0)
    for stride, widens in ((1, False), (1, False), (2, True), (1, False)):
        y = net.norm(net.conv(x, stride)).clamp(min=0)
        y = net.norm(net.conv(y))
        x = (y + (net.norm(net.conv(x, stride)) if widens else x)).clamp(min=0)
    return x.mean((2, 3))


def resnet_with_bottlenecks(net, x):
    x = net.norm(net.conv(x)).clamp(min=0)
    for stride in (1, 2):
        y = net.norm(net.conv(x)).clamp(min=0)
        y = net.norm(net.conv(y, stride)).clamp(min=0)
        y = net.norm(net.conv(y))
        x = (y + net.norm(net.conv(x, stride))).clamp(min=0)
    return x.mean((2, 3))


def densenet(net, x, *, bottleneck=False):
    x = net.conv(x)
    for stage, layers in enumerate((2, 1)):
        if stage:
            x = functional.avg_pool2d(net.conv(net.norm(x).clamp(min=0)), 2)
        for _ in range(layers):
            y = net.norm(x).clamp(min=0)
            if bottleneck:
                y = net.norm(net.conv(y)).clamp(min=0)
            x = torch.cat([x, net.conv(y)], dim=1)
    return net.norm(x).clamp(min=0).mean((2, 3))


def densenet_with_bottlenecks(net, x):
    return densenet(net, x, bottleneck=True)


# by family: features written out by hand, and the settings of the network
NETWORKS = {
    "vgg": (vgg, {"stages": [1, 2], "width": 3, "hidden": [5]}),
    "resnet": (resnet, {"stages": [2, 2], "width": 3}),
    "resnet-bottleneck": (resnet_with_bottlenecks, {"stages": [1, 1], "width": 2, "bottleneck": True}),
    "densenet": (densenet, {"stages": [2, 1], "width": 3}),
    "densenet-bottleneck": (densenet_with_bottlenecks, {"stages": [2, 1], "width": 4, "bottleneck": True}),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_wired_as_its_family_says(name):
    features_by_hand, shape = NETWORKS[name]
    family = name.split("-")[0]
    network = models.build(family, 1, CLASSES, **shape).eval()
    layers = LayersInOrder(network)
    x = torch.tensor(images(2)[0])
    with torch.no_grad():
        features = features_by_hand(layers, x)
        outputs = features @ layers.dense[-1].weight.T + layers.dense[-1].bias
        # up to rounding in float32
        rounding = {"rtol": 1e-4, "atol": 1e-4 * float(features.abs().max())}
        torch.testing.assert_close(network.features(x), features, **rounding)
        rounding["atol"] = 1e-4 * float(outputs.abs().max())
        torch.testing.assert_close(network(x), outputs, **rounding)


def test_convolutions_start_with_the_variance_that_keeps_gradients():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=64)
    _, second = [module for module in network.modules() if isinstance(module, torch.nn.Conv2d)]
    outputs, area = 128, 3 * 3
    # He et al. 2015. Of the variance of 73,728 = 128 * 64 * 9 numbers 5 % are ten standard errors
    assert second.weight.var().item() == pytest.approx(2 / (outputs * area), rel=0.05)


def test_no_feature_is_negative():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=64)
    features = network.features(torch.tensor(images(2)[0]))
    assert (features >= 0).all()
    assert features.mean(dim=0).count_nonzero() > 64  # more than half of 128 are not zero on every image
