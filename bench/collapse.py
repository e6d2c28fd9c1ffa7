"""Class means and the within-class covariance of many features: batches against outer products of each example."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.harness import Row, close

EXAMPLES, FEATURES, CLASSES = 10_000, 512, 10
BATCH, PEERS_BATCH = 500, 100


def batches(examples: int, features: int, size: int) -> Iterator[tuple[Any, Any]]:
    """Yield features of ten classes around their means, float32 as a network gives them, and their labels.

    They repeat the same 500 examples, so that the time and the memory of random numbers do not count.
    """
    import torch

    rng = np.random.default_rng(0)
    labels = np.arange(BATCH) % CLASSES
    block = rng.standard_normal((CLASSES, features))[labels] + rng.standard_normal((BATCH, features))
    inputs, of_class = torch.from_numpy(block.astype(np.float32)), torch.from_numpy(labels)
    for start in range(0, examples, size):
        part = slice(start % BATCH, start % BATCH + size)
        yield inputs[part].clone(), of_class[part]


def in_batches(examples: int, features: int) -> np.ndarray:
    """Return the within-class covariance by this project."""
    import torch

    from learning_dynamics.measures.class_moments import ClassMoments

    moments = ClassMoments(torch.full((CLASSES,), examples // CLASSES), features)
    for inputs, labels in batches(examples, features, BATCH):
        moments.update(inputs, labels)
    return moments.within.numpy()


def by_outer_products(examples: int, features: int) -> np.ndarray:
    """Return it as the sum of one outer product for each example of a batch, in two passes."""
    import torch

    means = torch.zeros(CLASSES, features)
    for inputs, labels in batches(examples, features, PEERS_BATCH):
        means.index_add_(0, labels, inputs, alpha=CLASSES / examples)
    within = torch.zeros(features, features, dtype=torch.float64)
    for inputs, labels in batches(examples, features, PEERS_BATCH):
        centred = (inputs - means[labels])[:, :, None]
        within += torch.matmul(centred, centred.transpose(1, 2)).sum(dim=0)
    return (within / examples).numpy()


def all_at_once(examples: int, features: int) -> np.ndarray:
    """Return it from one array of all features."""
    inputs, labels = np.empty((examples, features), dtype=np.float32), np.empty(examples, dtype=np.int64)
    for start, (batch, of_class) in zip(range(0, examples, BATCH), batches(examples, features, BATCH), strict=True):
        inputs[start : start + BATCH], labels[start : start + BATCH] = batch, of_class
    means = np.stack([inputs[labels == label].mean(axis=0) for label in range(CLASSES)])
    inputs -= means[labels]
    return inputs.T @ inputs / examples


def rows() -> list[Row]:
    """512 features of 10,000 examples of ten classes."""
    return [
        Row(
            "within-class covariance, P = 512, N = 10,000",
            "an outer product for each example",
            goal=30,
            ours=lambda: in_batches(EXAMPLES, FEATURES),
            theirs=lambda: by_outer_products(EXAMPLES, FEATURES),
            agree=close(1e-4),
            note="the alternative works in float32",
        )
    ]
