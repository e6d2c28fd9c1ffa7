"""Networks against their families written out by hand; statistics of passes against those of all images at once."""

import numpy as np
import pytest
import scipy
import torch
from torch.nn import functional

from learning_dynamics.papers.neural_collapse.training import models, passes
from tests.papers.neural_collapse.training.test_oracles import CLASSES, images


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)  # parameters are drawn by torch's global generator


def test_statistics_of_unbalanced_labels_weigh_classes_equally():
    network = models.build("vgg", 1, CLASSES, stages=[1], width=3).eval()
    pixels, labels = images(7)
    kept = np.r_[0:7, 7:10, 14:21, 21:23]  # 7, 3, 7 and 2 images
    pixels, labels = torch.tensor(pixels[kept]), torch.tensor(labels[kept])
    layer = passes.LastLayer(network, pixels, labels, batch=5, gigabytes=1.0)
    found = passes.measure(layer)
    H = network.features(pixels).detach().double()
    outputs = network(pixels).detach().double()
    classes = range(CLASSES)
    wrong = [(outputs[labels == c].argmax(1) != c).double().mean() for c in classes]
    square = [
        0.5 * ((outputs[labels == c] - functional.one_hot(torch.tensor(c), CLASSES)) ** 2).sum(1).mean()
        for c in classes
    ]
    assert found.class_error == pytest.approx(float(np.mean(wrong)), rel=1e-6)
    assert found.error == pytest.approx(float((outputs.argmax(1) != labels).double().mean()), rel=1e-12)
    assert found.square_loss == pytest.approx(float(np.mean(square)), rel=1e-5)
    within = np.mean([np.cov(H[labels == c].numpy().T, bias=True) for c in classes], axis=0)
    np.testing.assert_allclose(found.within, within, rtol=0, atol=1e-6 * np.abs(within).max())
    nearest = scipy.spatial.distance.cdist(H, found.means).argmin(axis=1)
    differ = np.mean(outputs.argmax(1).numpy() != nearest)
    assert passes.disagreement(layer, found.means) == pytest.approx(differ, rel=1e-12)
    assert 0 < differ < 1
    computed_again = passes.LastLayer(network, pixels, labels, batch=4, gigabytes=0.0)
    assert passes.measure(computed_again).square_loss == pytest.approx(found.square_loss, rel=1e-6)
    np.testing.assert_allclose(layer.first(6), H[:6], rtol=1e-5)


def test_recomputed_statistics_are_those_of_all_images_in_one_batch():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=3)
    pixels = torch.tensor(images()[0])
    passes.recompute_batch_statistics(network, pixels)
    layers = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    convolutions = [module for module in network.modules() if isinstance(module, torch.nn.Conv2d)]
    first = convolutions[0](pixels).detach()
    np.testing.assert_allclose(layers[0].running_mean, first.mean(dim=(0, 2, 3)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(layers[0].running_var, first.var(dim=(0, 2, 3)), rtol=1e-5)
    spread = (first.var((0, 2, 3), unbiased=False, keepdim=True) + 1e-5).sqrt()
    normalised = (first - first.mean((0, 2, 3), keepdim=True)) / spread
    second = convolutions[1](functional.max_pool2d(functional.relu(normalised), 2)).detach()
    np.testing.assert_allclose(layers[1].running_mean, second.mean(dim=(0, 2, 3)), rtol=0, atol=1e-4)
    assert all(layer.momentum == 0.1 for layer in layers)
    assert not network.training


class Wiring:
    """A network's convolutions and normalisations in the order in which they were made; it gets random parameters."""

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
        weight = next(self.layers[torch.nn.Conv2d]).weight
        return functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def norm(self, x):
        layer = next(self.layers[torch.nn.BatchNorm2d if x.dim() == 4 else torch.nn.BatchNorm1d])
        shape = (1, -1) + (1,) * (x.dim() - 2)
        scale = layer.weight / (layer.running_var + 1e-5).sqrt()
        return (x - layer.running_mean.reshape(shape)) * scale.reshape(shape) + layer.bias.reshape(shape)


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


def densenet(net, x, bottleneck=False):
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


NETWORKS = {
    "vgg": (vgg, {"stages": [1, 2], "width": 3, "hidden": [5]}),
    "resnet": (resnet, {"stages": [2, 2], "width": 3}),
    "resnet-bottleneck": (resnet_with_bottlenecks, {"stages": [1, 1], "width": 2, "bottleneck": True}),
    "densenet": (densenet, {"stages": [2, 1], "width": 3}),
    "densenet-bottleneck": (
        lambda net, x: densenet(net, x, bottleneck=True),
        {"stages": [2, 1], "width": 4, "bottleneck": True},
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_wired_as_its_family_says(name):
    by_hand, shape = NETWORKS[name]
    network = models.build(name.split("-")[0], 1, CLASSES, **shape).eval()
    net = Wiring(network)
    x = torch.tensor(images(2)[0])
    with torch.no_grad():
        features = by_hand(net, x)
        outputs = features @ net.dense[-1].weight.T + net.dense[-1].bias
        for found, expected in ((network.features(x), features), (network(x), outputs)):
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max()))


def test_convolutions_start_with_the_variance_that_keeps_gradients():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=64)
    weight = [module.weight for module in network.modules() if isinstance(module, torch.nn.Conv2d)][1]
    # He et al. 2015: 2 over the number of outputs times the area; 73,728 numbers
    assert weight.var().item() == pytest.approx(2 / (128 * 9), rel=0.05)


def test_features_are_rectified():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=64)
    assert (network.features(torch.tensor(images(2)[0])) >= 0).all()
