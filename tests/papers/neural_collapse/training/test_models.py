"""The three families of networks: published parameter counts, biases, and options that a family does not have."""

import pytest
import torch

from learning_dynamics.papers.neural_collapse.training import models

# VGG11's published count is torchvision's, with batch norm. Its head, the fully connected layers, has 512 * 7 * 7
# inputs, two hidden layers of 4096 and 1000 outputs, with biases. The body has biases of convolutions too, one for each
# of 64, 128, 2 * 256 and 4 * 512 channels, which batch norm makes idle: our networks have none
TORCHVISION_HEAD = 25_089 * 4096 + 4097 * 4096 + 4097 * 1000
VGG11_BODY = 132_868_840 - TORCHVISION_HEAD - (64 + 128 + 2 * 256 + 4 * 512)
# the head of the small-image form: 512 inputs, 4096 and 4096 hidden with batch norm instead of biases, 10 outputs
VGG_HEAD = 512 * 4096 + 4096 * 4096 + 4 * 4096 + 4097 * 10
# DenseNet201 (torchvision, 1000 classes): a 7 x 7 stem with batch norm, 3 x 3 without in the small-image form
DENSENET201 = 20_013_928 - (7 * 7 - 3 * 3) * 3 * 64 - 2 * 64
# family, classes, configuration and number of parameters
PUBLISHED = {
    "VGG11": ("vgg", 10, {"stages": [1, 1, 2, 2, 2], "width": 64, "hidden": [4096, 4096]}, VGG11_BODY + VGG_HEAD),
    "ResNet18": ("resnet", 10, {"stages": [2, 2, 2, 2], "width": 64}, 11_173_962),
    "ResNet50": ("resnet", 10, {"stages": [3, 4, 6, 3], "width": 64, "bottleneck": True}, 23_520_842),
    "DenseNet40": ("densenet", 10, {"stages": [12] * 3, "width": 12}, 1_019_722),
    "DenseNet100": ("densenet", 10, {"stages": [16] * 3, "width": 12, "bottleneck": True}, 769_162),
    "DenseNet201": ("densenet", 1000, {"stages": [6, 12, 48, 32], "width": 32, "bottleneck": True}, DENSENET201),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameter_count_is_the_published_one(name):
    family, classes, configuration, published = PUBLISHED[name]
    with torch.device("meta"):
        network = models.build(family, 3, classes, **configuration)
    assert sum(parameter.numel() for parameter in network.parameters()) == published


def test_without_batch_norm_each_layer_has_a_bias():
    network = models.build("vgg", 1, 10, stages=[1, 1], width=4, hidden=[8], normalised=False)
    layers = [module for module in network.modules() if isinstance(module, torch.nn.Conv2d | torch.nn.Linear)]
    assert len(layers) == 4  # a convolution in each stage, a hidden layer and the classifier
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
        models.build(family, 1, 10, stages=[1], width=4, **configuration)
