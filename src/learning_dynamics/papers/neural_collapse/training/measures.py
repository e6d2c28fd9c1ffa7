"""What a trained network makes of a set of images, streamed in batches through its features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.training.models import Classifier


@dataclass(frozen=True)
class Measured:
    """One pass over labelled images.

    Attributes
    ----------
    moments : ClassMoments
        Of the last-layer features.
    error : float
        Share of images whose largest output is not their label's, averaged within classes, then over them.
    square_loss : float
        1/2 Ave ||outputs - one-hot||^2, likewise averaged.
    features : ndarray, shape (images, P)
        Of the images asked for.
    dead : float
        Share of features that are zero for every image.
    """

    moments: collapse.ClassMoments
    error: float
    square_loss: float
    features: np.ndarray
    dead: float


def classifier(network: Classifier) -> tuple[np.ndarray, np.ndarray]:
    """Return the last layer's weights, shape (C, P), and biases, shape (C,), in float64."""
    layer = network.classifier
    assert isinstance(layer, nn.Linear)
    return tuple(value.detach().cpu().numpy().astype(np.float64) for value in (layer.weight, layer.bias))  # type: ignore[return-value]


@torch.no_grad()
def batches(network: Classifier, images: Tensor, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the features of one batch of images after the other, float64, and where the batch lies."""
    for start in range(0, len(images), size):
        where = slice(start, start + size)
        yield where, network.features(images[where]).float().cpu().numpy().astype(np.float64)


def measure(network: Classifier, images: Tensor, labels: np.ndarray, *, batch: int = 2000, keep: int = 0) -> Measured:
    """Measure a network in evaluation mode; also return the features of the first `keep` images."""
    network.eval()
    weights, biases = classifier(network)
    counts = np.bincount(labels, minlength=len(biases))
    moments = collapse.ClassMoments(counts, weights.shape[1])
    share = 1.0 / (len(counts) * counts[labels])
    error = square = 0.0
    largest = np.zeros(weights.shape[1])
    kept = []
    for where, features in batches(network, images, batch):
        wanted = labels[where]
        outputs = features @ weights.T + biases
        moments.update(features, wanted)
        error += float(np.sum(share[where] * (outputs.argmax(axis=1) != wanted)))
        square += 0.5 * float(np.sum(share[where, None] * (outputs - np.eye(len(biases))[wanted]) ** 2))
        largest = np.maximum(largest, np.abs(features).max(axis=0))
        if where.start < keep:
            kept.append(features[: keep - where.start])
    features = np.concatenate(kept) if kept else np.empty((0, weights.shape[1]))
    return Measured(moments, error, square, features, float(np.mean(largest == 0)))


def disagreement(
    network: Classifier, images: Tensor, labels: np.ndarray, means: np.ndarray, *, batch: int = 2000
) -> float:
    """Return the share of images, averaged as in `Measured`, where network and nearest class mean differ (NC4)."""
    network.eval()
    weights, biases = classifier(network)
    counts = np.bincount(labels, minlength=len(biases))
    total = 0.0
    for where, features in batches(network, images, batch):
        differ = (features @ weights.T + biases).argmax(axis=1) != collapse.nearest_mean(features, means)
        total += float(np.sum(differ / (len(counts) * counts[labels[where]])))
    return total


@torch.no_grad()
def recompute_batch_statistics(network: nn.Module, images: Tensor, *, batch: int = 2000) -> None:
    """Replace batch-norm's running averages, which lag behind the weights, by statistics over the images."""
    layers = [module for module in network.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    before = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a plain average over batches
    network.train()
    # batches that cut across the classes, which lie sorted
    order = np.argsort(np.arange(len(images)) * 0.6180339887498949 % 1.0)
    for start in range(0, len(order), batch):
        network(images[torch.from_numpy(order[start : start + batch]).to(images.device)])
    network.eval()
    for layer, momentum in zip(layers, before, strict=True):
        layer.momentum = momentum
