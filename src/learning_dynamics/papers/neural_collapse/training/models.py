"""Convolutional classifiers of three families, VGG, ResNet and DenseNet, in their small-image forms.

There is one function for each family. Its arguments choose the network: VGG11 and a six-layer VGG of width 16 are the
same code. Every network is ``classifier(features(images))`` with a linear classifier, so that last-layer features are
what `features` returns. Layers have no biases where batch normalisation follows them.

In the code `inputs` and `outputs` of a layer are its numbers of channels or, after pooling over pixels, of features.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDEST_STAGE = 8  # VGG's channels stop doubling at eight times the first stage's: 64, 128, 256, 512, 512


class Classifier(nn.Module):
    """A network whose last layer is linear on the features of the layers below it.

    Attributes
    ----------
    body : Module
        Maps images, shape (images, channels, height, width), to features, shape (images, P) for P last-layer features.
    classifier : Linear
        Maps features to outputs, shape (images, classes).
    """

    def __init__(self, body: nn.Module, features: int, classes: int) -> None:
        super().__init__()
        self.body = body
        self.classifier = nn.Linear(features, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def features(self, images: Tensor) -> Tensor:
        """Return last-layer features, shape (images, P)."""
        return self.body(images)

    def forward(self, images: Tensor) -> Tensor:
        """Return outputs, shape (images, classes)."""
        return self.classifier(self.body(images))


def vgg(
    channels: int,
    classes: int,
    *,
    stages: Sequence[int],
    width: int,
    hidden: Sequence[int] = (),
    normalised: bool = True,
) -> Classifier:
    """VGG (Simonyan and Zisserman 2014), with batch normalisation or, as it was at first, with biases instead.

    Parameters
    ----------
    channels, classes : int
        Channels of the images, and outputs of the classifier.
    stages : sequence of int
        3 x 3 convolutions in each stage; 2 x 2 max-pooling ends a stage.
    width : int
        Channels of the first stage; they double from stage to stage, up to eightfold.
    hidden : sequence of int
        Widths of fully connected layers below the classifier, each with batch normalisation instead of
        the original's dropout (Papyan, Han, Donoho 2020).
    normalised : bool
        Whether batch normalisation follows each layer.
    """
    layers: list[nn.Module] = []
    inputs = channels
    for stage, convolutions in enumerate(stages):
        outputs = width * min(2**stage, WIDEST_STAGE)
        for _ in range(convolutions):
            layers.append(_convolution(inputs, outputs, bias=not normalised))
            if normalised:
                layers.append(nn.BatchNorm2d(outputs))
            layers.append(nn.ReLU(inplace=True))
            inputs = outputs
        layers.append(nn.MaxPool2d(2))
    layers.append(_MeanOverPixels())
    widths = [inputs, *hidden]
    for below, above in pairwise(widths):
        layers.append(nn.Linear(below, above, bias=not normalised))
        if normalised:
            layers.append(nn.BatchNorm1d(above))
        layers.append(nn.ReLU(inplace=True))
    return Classifier(nn.Sequential(*layers), widths[-1], classes)


def resnet(channels: int, classes: int, *, stages: Sequence[int], width: int, bottleneck: bool = False) -> Classifier:
    """ResNet with a 3 x 3 stride-one stem and no max-pooling (He et al. 2016).

    Parameters
    ----------
    channels, classes : int
        Channels of the images, and outputs of the classifier.
    stages : sequence of int
        Residual blocks in each stage; from the second on, a stage halves height and width.
    width : int
        Channels of the stem and of the first stage; they double from stage to stage.
    bottleneck : bool
        Whether a block has a 1 x 1, a 3 x 3 and a 1 x 1 convolution, with four times the channels after the last, as in
        ResNet50. Otherwise it has two 3 x 3 convolutions.
    """
    layers: list[nn.Module] = _with_norm_and_relu(_convolution(channels, width))
    inputs = width
    for stage, blocks in enumerate(stages):
        for index in range(blocks):
            halves_pixels = stage > 0 and index == 0
            block = _Residual(inputs, width * 2**stage, stride=2 if halves_pixels else 1, bottleneck=bottleneck)
            layers.append(block)
            inputs = block.outputs
    layers.append(_MeanOverPixels())
    return Classifier(nn.Sequential(*layers), inputs, classes)


def densenet(channels: int, classes: int, *, stages: Sequence[int], width: int, bottleneck: bool = False) -> Classifier:
    """DenseNet with a 3 x 3 stride-one stem and no max-pooling (Huang et al. 2017).

    Parameters
    ----------
    channels, classes : int
        Channels of the images, and outputs of the classifier.
    stages : sequence of int
        Layers in each dense block.
    width : int
        The growth rate: channels that each layer adds.
    bottleneck : bool
        Whether it is a DenseNet-BC: with a 1 x 1 convolution to 4 `width` channels before each 3 x 3 one, with
        transitions that halve the number of channels, and with a stem of 2 `width` channels. Otherwise the stem has 16
        channels, transitions keep their number, and there is no 1 x 1 convolution before a 3 x 3 one.
    """
    inputs = 2 * width if bottleneck else 16
    layers: list[nn.Module] = [_convolution(channels, inputs)]
    for stage, count in enumerate(stages):
        if stage > 0:  # a transition between two dense blocks
            outputs = inputs // 2 if bottleneck else inputs
            layers += [nn.BatchNorm2d(inputs), nn.ReLU(inplace=True), _convolution(inputs, outputs, size=1)]
            layers.append(nn.AvgPool2d(2))
            inputs = outputs
        for _ in range(count):
            layers.append(_Dense(inputs, width, bottleneck=bottleneck))
            inputs += width
    layers += [nn.BatchNorm2d(inputs), nn.ReLU(inplace=True), _MeanOverPixels()]
    return Classifier(nn.Sequential(*layers), inputs, classes)


class _MeanOverPixels(nn.Module):
    """The mean of each channel; adaptive pooling has no deterministic derivative on a GPU."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))


class _Residual(nn.Module):
    """A residual block; its shortcut is a 1 x 1 convolution where the shape changes.

    This convolution has no stride: a pooling of single pixels before it has the stride instead. In oneDNN 3.12, as
    compiled for AVX2, the derivative of a 1 x 1 convolution with a stride and fewer than eight channels writes beyond
    the weights.
    """

    def __init__(self, inputs: int, width: int, *, stride: int, bottleneck: bool) -> None:
        super().__init__()
        self.outputs = 4 * width if bottleneck else width
        if bottleneck:
            convolutions = [
                _convolution(inputs, width, size=1),
                _convolution(width, width, stride=stride),
                _convolution(width, self.outputs, size=1),
            ]
        else:
            convolutions = [_convolution(inputs, width, stride=stride), _convolution(width, width)]
        layers = [layer for convolution in convolutions for layer in _with_norm_and_relu(convolution)]
        self.residual = nn.Sequential(*layers[:-1])  # the last rectification follows the sum
        self.shortcut: nn.Module = nn.Identity()
        if inputs != self.outputs or stride != 1:
            self.shortcut = nn.Sequential(
                nn.AvgPool2d(1, stride), _convolution(inputs, self.outputs, size=1), nn.BatchNorm2d(self.outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.residual(x) + self.shortcut(x))


class _Dense(nn.Module):
    """A layer of a dense block: it returns the channels of its input, followed by the channels that it adds."""

    def __init__(self, inputs: int, growth: int, *, bottleneck: bool) -> None:
        super().__init__()
        # the rectifier works in place: its input is the copy that batch normalisation makes, which nothing else reads
        layers: list[nn.Module] = [nn.BatchNorm2d(inputs), nn.ReLU(inplace=True)]
        if bottleneck:
            layers += _with_norm_and_relu(_convolution(inputs, 4 * growth, size=1))
            inputs = 4 * growth
        layers.append(_convolution(inputs, growth))
        self.added = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.added(x)], dim=1)


def _convolution(inputs: int, outputs: int, *, size: int = 3, stride: int = 1, bias: bool = False) -> nn.Conv2d:
    """Return a convolution of size x size pixels, padded so that only its stride changes height and width."""
    return nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=bias)


def _with_norm_and_relu(convolution: nn.Conv2d) -> list[nn.Module]:
    return [convolution, nn.BatchNorm2d(convolution.out_channels), nn.ReLU(inplace=True)]


FAMILIES = ("vgg", "resnet", "densenet")


def build(
    family: str,
    channels: int,
    classes: int,
    *,
    stages: Sequence[int],
    width: int,
    bottleneck: bool = False,
    hidden: Sequence[int] = (),
    normalised: bool = True,
) -> Classifier:
    """Return a network of a family; see `vgg`, `resnet` and `densenet` for what the configuration means.

    Raises
    ------
    ValueError
        If the family is unknown, or does not have what is asked for.
    """
    if family not in FAMILIES:
        raise ValueError(f"no network family {family!r}; known are {', '.join(FAMILIES)}")
    if family == "vgg":
        if bottleneck:
            raise ValueError("VGG has no bottleneck blocks")
        return vgg(channels, classes, stages=stages, width=width, hidden=hidden, normalised=normalised)
    if hidden:
        raise ValueError(f"{family} has no hidden fully connected layers")
    if not normalised:
        raise ValueError(f"{family} has batch normalisation; without it there is vgg alone")
    network = resnet if family == "resnet" else densenet
    return network(channels, classes, stages=stages, width=width, bottleneck=bottleneck)


def network_of(settings: Mapping[str, Any], channels: int, classes: int) -> Classifier:
    """Return the network that a run's settings name; see `build`."""
    # a setting that the run leaves out has the default of `build`
    names = ("stages", "width", "bottleneck", "hidden", "normalised")
    options = {name: settings[name] for name in names if name in settings}
    return build(settings["network"], channels, classes, **options)
