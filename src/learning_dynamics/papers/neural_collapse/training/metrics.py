"""Collapse, the terms of the loss, and robustness at every recorded epoch of a training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.datasets.images import standardised
from learning_dynamics.measures import collapse
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

PORTRAIT_CLASSES = 3
PORTRAIT_IMAGES = 40  # of each class
CROSSED_IMAGES = 60_000  # train images to which a decision may change on the way: all, for the data sets here


@columns(
    Column("seed", "int", "ensemble member"),
    Column("epoch", "int", "epochs of training"),
    Column("split", "str", "train or test: the images that the quantity is measured on"),
    Column("quantity", "str", "what the value is; see the metrics function"),
    Column("index", "int", "1, 2, ... in descending order for singular values, coordinates 1, 2; 0 for scalars"),
    Column("label", "int", "class, for what belongs to one; -1 otherwise"),
    Column("example", "int", "image within its class, for features; -1 otherwise"),
    Column("value", "float", "measured; empty where it has none, as when class means coincide", nullable=True),
)
def training(trajectory: Trajectory) -> pd.DataFrame:
    """Measure collapse at every recorded epoch of a training.

    Networks are in evaluation mode, on all images of a split. Their batch-norm statistics are the running
    averages of training, or recomputed over the train images at the weights measured, as the setting
    `batch_statistics` says. Class means are centred by their unweighted average; classifiers are not
    centred. Quantities,
    on train images unless said otherwise:
    ``error``, share of images misclassified (train and test);
    ``nc1``, Tr(Sigma_W pinv(Sigma_B)) / C (train and test);
    ``equinorm``, ``equiangular``, ``maximal_angle`` with ``_means`` or ``_classifiers``; ``self_duality``;
    ``nc4``, share of images for which network and nearest train class mean differ (train and test);
    ``snr``, singular values of Sigma_W^(-1/2) times the centred class means;
    for MSE ``loss`` with its weight-decay term, summed example by example, and ``loss_nc1``, ``loss_nc23``,
    ``loss_ls_perp``, the terms that it decomposes into;
    ``dead_features``, share of features that vanish on every image;
    ``robustness``, mean l2 norm of DeepFool's perturbation over the norm of the standardised image, and
    ``robustness_fooled``, share of images that it did fool (test, at some epochs, and where train errors end);
    ``robustness_crossing``, the same for where the decision changes on the straight way to the nearest train
    image that is decided differently, and ``robustness_smallest``, for the smaller of both;
    ``error``, ``nc1`` and ``deviation`` (loss_ls_perp over the other two terms) with ``_running`` or
    ``_recomputed``: the same with the other batch-norm statistics;
    ``portrait_feature``, ``portrait_mean``, ``portrait_classifier``: coordinates in the plane of three class
    means, centred (seed 0, three epochs).
    """
    rows = [
        {"seed": member, "epoch": int(epoch), "split": row[0], "quantity": row[1], "index": row[2], "label": row[3]}
        | {"example": row[4], "value": row[5]}
        for member in range(trajectory.members)
        for epoch, found in _member(trajectory, member)
        for row in found
    ]
    return pd.DataFrame(rows)


def _member(trajectory: Trajectory, member: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield each recorded epoch of one ensemble member and what is measured there."""
    import torch

    from learning_dynamics.dynamics.training import chosen_device
    from learning_dynamics.papers.neural_collapse.training import measures as networks
    from learning_dynamics.papers.neural_collapse.training.models import build

    settings, data = trajectory.settings, trajectory.constants
    device = chosen_device(settings.get("device", "auto"))
    pixels = {
        split: torch.from_numpy(standardised(data[f"{split}_images"], data["train_images"])).to(device)
        for split in ("train", "test")
    }
    pixels = {split: images.contiguous(memory_format=torch.channels_last) for split, images in pixels.items()}
    network = build(
        settings["network"],
        pixels["train"].shape[1],
        int(data["train_labels"].max()) + 1,
        stages=settings["stages"],
        width=settings["width"],
        bottleneck=settings.get("bottleneck", False),
        hidden=settings.get("hidden", []),
    ).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    last = len(trajectory.time) - 1
    robustness = set(np.unique(np.round(np.linspace(0, last, settings["robustness_epochs"])).astype(int)))
    without_error = False
    portrayed = {0, last // 2, last} if member == 0 else set()
    for point, epoch in enumerate(trajectory.time):
        state = {name: torch.as_tensor(states[member, point]) for name, states in trajectory.series.items()}
        network.load_state_dict(state)
        statistics = ["running", "recomputed"]
        if settings["batch_statistics"] == "recomputed":
            statistics.reverse()
            networks.recompute_batch_statistics(network, pixels["train"])
        rows = list(_collapse(network, pixels, data, settings, portrait=point in portrayed))
        error = next(row[2] for row in rows if row[:2] == ("train", "error"))
        if point in robustness or (error == 0 and not without_error):
            rows += _robustness(network, pixels, data["test_labels"], settings["robustness_images"])
        without_error |= error == 0
        if statistics[1] == "recomputed":
            networks.recompute_batch_statistics(network, pixels["train"])
        else:
            network.load_state_dict(state)
        rows += _otherwise(statistics[1], network, pixels["train"], data["train_labels"], settings)
        yield int(epoch), [row if len(row) == 6 else (*row[:2], 0, -1, -1, row[2]) for row in rows]


def _finite(value: float) -> float:
    return value if np.isfinite(value) else np.nan


def _collapse(network: Any, pixels: dict, data: dict, settings: dict, *, portrait: bool) -> Iterator[tuple]:
    from learning_dynamics.papers.neural_collapse.training import measures as networks

    weights, biases = networks.classifier(network)
    labels = data["train_labels"]
    keep = int(np.flatnonzero(labels < PORTRAIT_CLASSES)[-1]) + 1 if portrait else 0
    for split in ("train", "test"):
        split_labels = data[f"{split}_labels"]
        found = networks.measure(network, pixels[split], split_labels, keep=keep if split == "train" else 0)
        within, means = found.moments.within, found.moments.means
        yield split, "error", found.error
        yield split, "nc1", _finite(collapse.variability(within, means))
        if split == "train":
            train_means, train = means, found
        yield split, "nc4", networks.disagreement(network, pixels[split], split_labels, train_means)
    within, means = train.moments.within, train.moments.means
    for name, vectors in (("means", collapse.centred_means(means)), ("classifiers", weights)):
        yield "train", f"equinorm_{name}", _finite(collapse.relative_spread_of_norms(vectors))
        yield "train", f"equiangular_{name}", _finite(collapse.spread_of_cosines(vectors))
        yield "train", f"maximal_angle_{name}", _finite(collapse.distance_from_maximal_angles(vectors))
    yield "train", "self_duality", _finite(collapse.self_duality(weights, means))
    yield "train", "dead_features", train.dead
    for index, value in enumerate(collapse.signal_to_noise(within, means), start=1):
        yield "train", "snr", index, -1, -1, float(value)
    if settings["loss"] == "mse":
        decay = settings["weight_decay"]
        yield "train", "loss", train.square_loss + 0.5 * decay * float(np.sum(weights**2) + np.sum(biases**2))
        for term, value in collapse.decomposition(within, means, weights, biases, decay).items():
            yield "train", term, value
    if portrait:
        yield from _portrait(train.features, labels[: len(train.features)], means, weights)


def _otherwise(statistics: str, network: Any, images: Any, labels: np.ndarray, settings: dict) -> Iterator[tuple]:
    """What hangs most on batch-norm statistics, with those that the other quantities are not measured with."""
    from learning_dynamics.papers.neural_collapse.training import measures as networks

    found = networks.measure(network, images, labels)
    within, means = found.moments.within, found.moments.means
    yield "train", f"error_{statistics}", found.error
    yield "train", f"nc1_{statistics}", _finite(collapse.variability(within, means))
    if settings["loss"] == "mse":
        terms = collapse.decomposition(within, means, *networks.classifier(network), settings["weight_decay"])
        ratio = terms["loss_ls_perp"] / (terms["loss_nc1"] + terms["loss_nc23"])
        yield "train", f"deviation_{statistics}", ratio


def _robustness(network: Any, pixels: dict, labels: np.ndarray, per_class: int) -> Iterator[tuple]:
    import torch

    from learning_dynamics.measures.robustness import crossing_distances, deepfool

    chosen = np.concatenate([np.flatnonzero(labels == label)[:per_class] for label in np.unique(labels)])
    network.eval().requires_grad_(False)
    picked = pixels["test"][torch.from_numpy(chosen).to(pixels["test"].device)]
    perturbations, fooled = deepfool(network, picked)
    sizes = picked.flatten(1).norm(dim=1).double()
    relative = perturbations.flatten(1).norm(dim=1).double() / sizes
    crossing = crossing_distances(network, picked, pixels["train"][:CROSSED_IMAGES]) / sizes
    yield "test", "robustness", float(relative.mean())
    yield "test", "robustness_fooled", float(fooled.double().mean())
    yield "test", "robustness_crossing", _finite(float(crossing.mean()))
    yield "test", "robustness_smallest", float(torch.minimum(relative, crossing).mean())


def _portrait(features: np.ndarray, labels: np.ndarray, means: np.ndarray, weights: np.ndarray) -> Iterator[tuple]:
    """Coordinates in the plane of the first three class means; the first axis points at class 0."""
    chosen = means[:PORTRAIT_CLASSES]
    centre = chosen.mean(axis=0)
    first = chosen[0] - centre
    second = chosen[1] - centre - (chosen[1] - centre) @ first / (first @ first) * first
    plane = np.stack([first / np.linalg.norm(first), second / np.linalg.norm(second)])
    classifiers = weights[:PORTRAIT_CLASSES] - weights[:PORTRAIT_CLASSES].mean(axis=0)
    for label in range(PORTRAIT_CLASSES):
        for name, vector in (("mean", chosen[label] - centre), ("classifier", classifiers[label])):
            for axis, value in enumerate(plane @ vector, start=1):
                yield "train", f"portrait_{name}", axis, label, -1, float(value)
        own = features[labels == label][:PORTRAIT_IMAGES]
        for example, row in enumerate((own - centre) @ plane.T):
            for axis, value in enumerate(row, start=1):
                yield "train", "portrait_feature", axis, label, example, float(value)
