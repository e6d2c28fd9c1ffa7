"""The three families: published parameter counts, output shapes, and features that feed a linear classifier."""

import pytest
import torch

from learning_dynamics.papers.neural_collapse.training import models as convolutional

# VGG's published counts (torchvision) less the convolutions' biases, which batch normalisation makes idle,
# with the fully connected layers of the small-image form: 512 inputs, 4096 and 4096 hidden with batch norm
TORCHVISION_HEAD = 25_089 * 4096 + 4097 * 4096 + 4097 * 1000
VGG11_BODY = 132_868_840 - TORCHVISION_HEAD - (64 + 128 + 2 * 256 + 4 * 512)
VGG13_BODY = 133_053_736 - TORCHVISION_HEAD - (2 * 64 + 2 * 128 + 2 * 256 + 4 * 512)
VGG_HEAD = 512 * 4096 + 4096 * 4096 + 4 * 4096 + 4097 * 10
# DenseNet201 (torchvision, 1000 classes): a 7 x 7 stem with batch norm, 3 x 3 without in the small-image form
DENSENET201 = 20_013_928 - (7 * 7 - 3 * 3) * 3 * 64 - 2 * 64
PUBLISHED = {
    "VGG11": ("vgg", 10, {"stages": [1, 1, 2, 2, 2], "width": 64, "hidden": [4096, 4096]}, VGG11_BODY + VGG_HEAD),
    "VGG13": ("vgg", 10, {"stages": [2, 2, 2, 2, 2], "width": 64, "hidden": [4096, 4096]}, VGG13_BODY + VGG_HEAD),
    "ResNet18": ("resnet", 10, {"stages": [2, 2, 2, 2], "width": 64}, 11_173_962),
    "ResNet34": ("resnet", 10, {"stages": [3, 4, 6, 3], "width": 64}, 21_282_122),
    "ResNet50": ("resnet", 10, {"stages": [3, 4, 6, 3], "width": 64, "bottleneck": True}, 23_520_842),
    "DenseNet40": ("densenet", 10, {"stages": [12] * 3, "width": 12}, 1_019_722),
    "DenseNet100": ("densenet", 10, {"stages": [16] * 3, "width": 12, "bottleneck": True}, 769_162),
    "DenseNet201": ("densenet", 1000, {"stages": [6, 12, 48, 32], "width": 32, "bottleneck": True}, DENSENET201),
}


def parameters(network: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameter_count_is_the_published_one(name):
    family, classes, configuration, published = PUBLISHED[name]
    with torch.device("meta"):
        assert parameters(convolutional.build(family, 3, classes, **configuration)) == published


def test_densenet250_has_fifteen_million_parameters():
    with torch.device("meta"):
        network = convolutional.build("densenet", 3, 10, stages=[41] * 3, width=24, bottleneck=True)
    # Huang et al. 2017, table 2, gives 15.3 M
    assert round(parameters(network) / 1e6, 1) == 15.3


@pytest.mark.parametrize(
    ("family", "configuration", "features", "size"),
    [
        ("vgg", {"stages": [2, 2, 2], "width": 4}, 16, 8),
        ("vgg", {"stages": [1, 1, 1, 1, 1], "width": 2, "hidden": [6]}, 6, 32),
        ("resnet", {"stages": [1, 1, 1], "width": 4}, 16, 8),
        ("resnet", {"stages": [1, 2], "width": 4, "bottleneck": True}, 32, 8),
        ("densenet", {"stages": [2, 2], "width": 4}, 32, 8),
        ("densenet", {"stages": [2, 2], "width": 4, "bottleneck": True}, 16, 8),
        ("densenet", {"stages": [1, 1], "width": 4}, 24, 96),
    ],
)
def test_outputs_are_linear_in_nonnegative_features(family, configuration, features, size):
    network = convolutional.build(family, 3, 10, **configuration).eval()
    images = torch.randn(5, 3, size, size, generator=torch.Generator().manual_seed(0))
    found = network.features(images)
    assert found.shape == (5, features)
    assert (found >= 0).all()
    torch.testing.assert_close(network(images), found @ network.classifier.weight.T + network.classifier.bias)


def test_vgg_stops_widening_at_eight_times():
    network = convolutional.vgg(1, 10, stages=[1] * 5, width=4)
    widths = [module.out_channels for module in network.modules() if isinstance(module, torch.nn.Conv2d)]
    assert widths == [4, 8, 16, 32, 32]


def test_without_batch_norm_each_layer_has_a_bias():
    network = convolutional.build("vgg", 1, 10, stages=[1, 1], width=4, hidden=[8], normalised=False)
    layers = [module for module in network.modules() if isinstance(module, torch.nn.Conv2d | torch.nn.Linear)]
    assert len(layers) == 4
    assert all(layer.bias is not None for layer in layers)
    assert not any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) for module in network.modules())


@pytest.mark.parametrize(
    ("family", "configuration", "message"),
    [
        ("alexnet", {}, "no network family 'alexnet'"),
        ("vgg", {"bottleneck": True}, "no bottleneck"),
        ("resnet", {"hidden": [8]}, "no hidden"),
        ("densenet", {"normalised": False}, "has batch normalisation"),
    ],
)
def test_impossible_networks_are_refused(family, configuration, message):
    with pytest.raises(ValueError, match=message):
        convolutional.build(family, 1, 10, stages=[1], width=4, **configuration)
