"""Class moments and errors of a trained network on a set of images, in passes over batches.

Features stay on the network's device, where they are summed in float64. For C classes and P features, what is copied
from the device has the shape (C, P) or (P, P), or is a few features to draw.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from learning_dynamics.measures.class_moments import ClassMoments
from learning_dynamics.papers.neural_collapse.training.models import Classifier

# largest number of images of which `recompute_batch_statistics` takes batch-norm statistics together; chosen
STATISTICS_BATCH = 2000


@dataclass(frozen=True)
class Measured:
    """One pass over labelled images.

    Attributes
    ----------
    means : ndarray, shape (C, P)
        Class means of the last-layer features.
    within : ndarray, shape (P, P)
        Within-class covariance Sigma_W of the last-layer features.
    error : float
        Share of images whose largest output is not their label's.
    class_error : float
        Share of a class's images that are misclassified, averaged over classes: the same as `error` where classes are
        equally frequent.
    square_loss : float
        1/2 ||outputs - one-hot label||^2, averaged over the images of a class, then over classes.
    dead : float
        Share of features that are zero for every image.
    """

    means: np.ndarray
    within: np.ndarray
    error: float
    class_error: float
    square_loss: float
    dead: float


class LastLayer:
    """The last-layer features of images, batch by batch, for a network in evaluation mode.

    They are computed once and kept on the device if they fit into `gigabytes`, else computed again by each pass.

    Parameters
    ----------
    network : Classifier
        On the device of the images; it is put into evaluation mode.
    images : Tensor, shape (images, channels, height, width)
    labels : Tensor of int64, shape (images,)
    batch : int
        Images that go through the network at once.
    gigabytes : float
        What the features of all images may occupy, in float32.

    Attributes
    ----------
    weights, biases : Tensor of float64, shapes (C, P) and (C,)
        Of the last layer.
    counts : Tensor of int, shape (C,)
        How many images each class has.
    shares : Tensor of float64, shape (images,)
        A weight for each image: weights sum to one, in equal parts over classes and then over the images of a class.
    """

    def __init__(self, network: Classifier, images: Tensor, labels: Tensor, *, batch: int, gigabytes: float) -> None:
        self.network, self.images, self.labels = network.eval(), images, labels
        self._batch = batch
        layer = network.classifier
        size = 4 * len(images) * layer.in_features  # in bytes
        self._cache: list[tuple[slice, Tensor]] | None = list(self._compute()) if size <= gigabytes * 1e9 else None
        self.weights, self.biases = layer.weight.detach().double(), layer.bias.detach().double()
        counts = torch.bincount(labels, minlength=layer.out_features)
        self.counts, self.shares = counts, 1.0 / (len(counts) * counts[labels].double())

    def __iter__(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield the slice of the images that is a batch, and its features, float64, shape (images of the batch, P)."""
        for part, features in self._compute() if self._cache is None else self._cache:
            yield part, features.double()

    @torch.no_grad()
    def _compute(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield the slice of the images that is a batch, and its features in float32."""
        for start in range(0, len(self.images), self._batch):
            part = slice(start, start + self._batch)
            yield part, self.network.features(self.images[part]).float()

    def outputs(self, features: Tensor) -> Tensor:
        """Return the network's outputs for a batch of features, in float64, shape (images, C)."""
        return features @ self.weights.T + self.biases

    def first(self, count: int) -> np.ndarray:
        """Return the features of the first `count` images, in float64, shape (count, P)."""
        pieces = []
        for part, features in self:
            if part.start >= count:
                break
            pieces.append(features[: count - part.start].cpu().numpy())
        return np.concatenate(pieces)


def extended_classifier(network: Classifier) -> np.ndarray:
    """Return the last layer's weights with a last column of biases, shape (C, P + 1), in float64."""
    layer = network.classifier
    assert isinstance(layer, nn.Linear)
    return torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach().cpu().double().numpy()


def measure(layer: LastLayer) -> Measured:
    """Measure class moments, errors and square loss in one pass."""
    moments = ClassMoments(layer.counts, layer.weights.shape[1])
    # three sums that start from the same tensor, which is why none of them is added to in place
    wrong = class_error = square = torch.zeros((), dtype=torch.float64, device=layer.labels.device)
    largest = torch.zeros(layer.weights.shape[1], dtype=torch.float64, device=layer.labels.device)
    for part, features in layer:
        labels, shares = layer.labels[part], layer.shares[part]
        outputs = layer.outputs(features)
        moments.update(features, labels)
        misclassified = outputs.argmax(dim=1) != labels
        wrong = wrong + misclassified.sum()
        class_error = class_error + (shares * misclassified).sum()
        targets = nn.functional.one_hot(labels, outputs.shape[1])
        square = square + 0.5 * (shares[:, None] * (outputs - targets) ** 2).sum()
        largest = torch.maximum(largest, features.abs().amax(dim=0))
    return Measured(  # in the order of its fields: means, within, error, class_error, square_loss, dead
        moments.means.cpu().numpy(),
        moments.within.cpu().numpy(),
        float(wrong) / len(layer.labels),
        float(class_error),
        float(square),
        float((largest == 0).double().mean()),
    )


def disagreement(layer: LastLayer, means: np.ndarray) -> float:
    """Return the share of images that the network and the nearest class mean decide differently (NC4).

    `means` are the class means, shape (C, P); they may be of other images than those of `layer`.
    """
    centres = torch.from_numpy(means).to(layer.labels.device)
    differing = torch.zeros((), dtype=torch.float64, device=layer.labels.device)
    for _, features in layer:
        # |h - mu_c|^2 less |h|^2, which is the same for every class, shape (images of the batch, C)
        nearest = (centres.square().sum(dim=1) - 2 * features @ centres.T).argmin(dim=1)
        differing += (layer.outputs(features).argmax(dim=1) != nearest).sum()
    return float(differing) / len(layer.labels)


@torch.no_grad()
def recompute_batch_statistics(network: nn.Module, images: Tensor, *, batch: int = STATISTICS_BATCH) -> None:
    """Replace batch-norm's running averages, which lag behind the weights, by statistics of the images.

    They are averages over batches. A batch has `batch` images, at most `STATISTICS_BATCH`.
    """
    batch = min(batch, STATISTICS_BATCH)
    layers = [module for module in network.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a plain average over batches
    network.train()
    # Images are sorted by class, and each batch needs all classes. So the images are ordered by the fractional part of
    # their number times the golden ratio: images whose fractional parts are close to each other, as in a batch, are
    # spread evenly over all images
    order = np.argsort(np.arange(len(images)) * 0.6180339887498949 % 1.0)
    for start in range(0, len(order), batch):
        network(images[torch.from_numpy(order[start : start + batch]).to(images.device)])
    network.eval()
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
