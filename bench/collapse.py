"""Class means and the within-class covariance of many features: batches against outer products of each example."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.harness import Row, close

EXAMPLES, FEATURES, CLASSES = 10_000, 512, 10
BATCH, PEERS_BATCH = 500, 100


def batches(examples: int, features: int, size: int) -> Iterator[tuple[Any, Any]]:
    """Yield features of ten classes around their means, float32 as a network gives them, and their labels.

    They are copies of one batch, so that what is timed or weighed is not the making of random numbers.
    """
    import torch

    rng = np.random.default_rng(0)
    labels = np.arange(size) % CLASSES
    made = rng.standard_normal((CLASSES, features))[labels] + rng.standard_normal((size, features))
    one, of_class = torch.from_numpy(made.astype(np.float32)), torch.from_numpy(labels)
    for _ in range(0, examples, size):
        yield one.clone(), of_class


def in_batches(examples: int, features: int) -> np.ndarray:
    """Return the within-class covariance by this project."""
    import torch

    from learning_dynamics.measures.class_moments import ClassMoments

    moments = ClassMoments(torch.full((CLASSES,), examples // CLASSES), features)
    for given, labels in batches(examples, features, BATCH):
        moments.update(given, labels)
    return moments.within.numpy()


def by_outer_products(examples: int, features: int) -> np.ndarray:
    """Return it as the sum of one outer product for each example of a batch, in two passes."""
    import torch

    means = torch.zeros(CLASSES, features)
    for given, labels in batches(examples, features, PEERS_BATCH):
        means.index_add_(0, labels, given, alpha=CLASSES / examples)
    within = torch.zeros(features, features, dtype=torch.float64)
    for given, labels in batches(examples, features, PEERS_BATCH):
        centred = (given - means[labels])[:, :, None]
        within += torch.matmul(centred, centred.transpose(1, 2)).sum(dim=0)
    return (within / examples).numpy()


def all_at_once(examples: int, features: int) -> np.ndarray:
    """Return it from one array of all features."""
    given, labels = np.empty((examples, features), dtype=np.float32), np.empty(examples, dtype=np.int64)
    for start, (batch, of_class) in zip(range(0, examples, BATCH), batches(examples, features, BATCH), strict=True):
        given[start : start + BATCH], labels[start : start + BATCH] = batch, of_class
    means = np.stack([given[labels == label].mean(axis=0) for label in range(CLASSES)])
    given -= means[labels]
    return given.T @ given / examples


def rows() -> list[Row]:
    """512 features of 10,000 examples of ten classes."""
    import torch

    from learning_dynamics.measures.class_moments import ClassMoments

    rng = np.random.default_rng(0)
    labels = np.arange(EXAMPLES) % CLASSES
    features = (rng.standard_normal((CLASSES, FEATURES))[labels] + rng.standard_normal((EXAMPLES, FEATURES))).astype(
        np.float32
    )
    given, of_class = torch.from_numpy(features), torch.from_numpy(labels)

    def ours() -> np.ndarray:
        moments = ClassMoments(torch.bincount(of_class), FEATURES)
        for start in range(0, EXAMPLES, BATCH):
            moments.update(given[start : start + BATCH], of_class[start : start + BATCH])
        return moments.within.numpy()

    def outer_products() -> np.ndarray:
        # one product for each example of a batch, then their sum
        means = torch.stack([given[of_class == label].mean(dim=0) for label in range(CLASSES)])
        within = torch.zeros(FEATURES, FEATURES, dtype=torch.float64)
        for start in range(0, EXAMPLES, PEERS_BATCH):
            centred = (given[start : start + PEERS_BATCH] - means[of_class[start : start + PEERS_BATCH]])[:, :, None]
            within += torch.matmul(centred, centred.transpose(1, 2)).sum(dim=0)
        return (within / EXAMPLES).numpy()

    return [
        Row(
            "within-class covariance, P = 512, N = 10,000",
            "an outer product for each example",
            30,
            ours,
            outer_products,
            close(1e-4),
            note="the peer works in float32",
        )
    ]
