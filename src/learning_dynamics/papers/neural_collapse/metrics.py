"""What is measured: the central path's spectra, and collapse along training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.datasets.images import standardised
from learning_dynamics.dynamics import renormalised
from learning_dynamics.measures import central_path as measures
from learning_dynamics.measures import collapse
from learning_dynamics.models import central_path, least_squares_classifier
from learning_dynamics.papers.neural_collapse import theory
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

# -- the central path (section 3, appendix D) --------------------------------------------------


CENTRAL_PATH = (
    Column("classes", "int", "number of classes C"),
    Column("examples", "int", "examples per class N"),
    Column("features", "int", "number of features P"),
    Column("seed", "int", "ensemble member"),
    Column(
        "flow", "str", "orthogonal or printed: the tangent map of the flow; descent: the discrete algorithm; or empty"
    ),
    Column("step", "float", "step size of the discrete algorithm; 0 for flows"),
    Column("time", "float", "flow time; step size times number of steps for the discrete algorithm"),
    Column("quantity", "str", "what the value is; see the metrics function"),
    Column("index", "int", "1, 2, ... along a spectrum, in descending order, or through variants; 0 for scalars"),
    Column("value", "float", "measured"),
    Column("predicted", "float", "what the paper gives for it, where it does", nullable=True),
    Column("corrected", "float", "what the equation derived for the algorithm gives, where it differs", nullable=True),
)


@columns(*CENTRAL_PATH)
def free_features(trajectory: Trajectory) -> pd.DataFrame:
    """Measure what holds of any features: the loss's identities, the tangent maps, and the flows' speeds.

    Quantities of features that are neither centred nor normalised: ``classifier_gap``, ``theorem_1_gap``,
    ``theorem_2_gap``, once for each weight decay in `DECAYS` (index 1, 2, ...); ``loss``, ``loss_nc1``, ``loss_nc23``
    without weight decay, predicted from the SNR singular values (Lemma 1); ``prediction_gap``, ``loss_gap`` under
    H -> A H with A positive definite, symmetric, general (index 1, 2, 3). Quantities of the renormalised features:
    ``curve_equation``, ``curve_velocity``, ``codimension`` (Proposition 3); ``image``, ``idempotence``,
    ``tangent_moved``, ``asymmetry`` of each tangent map (Proposition 4); ``adjoint_gradient``, ``printed_gradient``,
    ``gradient_normal`` (Lemma 4); ``omega``, and ``speed``, d omega_j / dt by central differences, with the
    paper's prediction (eq. 27) and that of the algorithm. All gaps are relative.
    """
    rows = []
    for size in trajectory.settings["sizes"]:
        classes, examples, features = size
        label = central_path.size_label(*size)
        for seed in range(trajectory.members):
            H, W, Z, A = (trajectory.series[f"{name}_{label}"][seed, 0] for name in "HWZA")
            table = _CentralPathRows(size, seed)
            for index, decay in enumerate(DECAYS, start=1):
                table.add(measures.classifier_identities(H, W, decay), index=index)
            for index, change in enumerate(A, start=1):
                table.add(measures.invariance_gaps(H, change, classes), index=index)
            X = central_path.renormalised(H, classes)
            omega = central_path.snr_singular_values(X, classes)
            parts = least_squares_classifier.decompose(W, H, 0.0)
            optimum = least_squares_classifier.optimal_classifier(H, classes, 0.0)
            measured = (least_squares_classifier.loss(optimum, H, 0.0), parts.variability, parts.geometry)
            for (name, predicted), value in zip(_spectral_losses(omega, classes).items(), measured, strict=True):
                table.add({name: value}, predicted=predicted)
            gaps = measures.manifold_gaps(X, Z, classes)
            table.add({"codimension": gaps.pop("codimension")}, predicted=features * (features + 1) / 2)
            table.add(gaps)
            table.add(measures.adjoint_gaps(X, classes))
            for flow, tangent_map in renormalised.TANGENT_MAPS.items():
                table.add(measures.map_gaps(X, Z, classes, tangent_map), flow=flow)
            table.add_spectrum("omega", omega)
            for flow, speed in measures.speeds(X, classes).items():
                table.add_spectrum(
                    "speed",
                    speed,
                    theory.snr_velocity(omega, classes, examples),
                    theory.algorithm_velocity(omega, classes, examples),
                    flow=flow,
                )
            rows.append(table.frame())
    return pd.concat(rows, ignore_index=True)


@columns(*CENTRAL_PATH)
def renormalised_flows(trajectory: Trajectory) -> pd.DataFrame:
    """Measure both flows over time.

    Quantities: ``omega``, SNR singular values, with the solution of eq. 9 from the same start and that of the
    algorithm's equation; ``loss``, ``loss_nc1``, ``loss_nc23``, predicted from the measured singular values (Lemma 1);
    ``excess``, omega_max / omega_min - 1; ``drift``, largest entry of |Sigma_W - I|; ``vectors``, ``snr_limit``,
    ``features_limit`` (Lemma 6 and Corollary 2, see `measures.central_path.limit_gaps`); ``nc1``, predicted as
    C sum_j 1 / omega_j**2, ``nc2_norms``, ``nc2_angles``, ``nc3``, ``nc4``.
    """
    rows = []
    for size in trajectory.settings["sizes"]:
        for flow in renormalised.TANGENT_MAPS:
            states = trajectory.series[f"{flow}_{central_path.size_label(*size)}"]
            for seed, X in enumerate(states):
                rows.append(_along_flow(X, trajectory.time, size, seed, flow))
    return pd.concat(rows, ignore_index=True)


@columns(*CENTRAL_PATH)
def renormalised_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure gradient descent with renormalisation.

    Quantities: ``omega``, with the solution of eq. 9 and that of the algorithm's equation at the same time;
    ``omega_exact``, the same value, predicted by iterating the exact map of one step; ``vectors`` (Lemma 6).
    """
    rows = []
    for size in trajectory.settings["sizes"]:
        classes, examples, _ = size
        for number, step in enumerate(trajectory.settings["steps"]):
            states = trajectory.series[f"descent{number}_{central_path.size_label(*size)}"]
            counts = np.round(trajectory.time / step).astype(int)
            for seed, X in enumerate(states):
                table = _CentralPathRows(size, seed)
                where: dict[str, Any] = {"flow": "descent", "step": float(step), "time": trajectory.time}
                omega = _add_omega(table, X, **where)
                table.add_spectrum("omega_exact", omega, _iterated(omega[0], step, counts, classes, examples), **where)
                table.add({"vectors": measures.limit_gaps(X, X[0], classes)["vectors"]}, **where)
                rows.append(table.frame())
    return pd.concat(rows, ignore_index=True)


DECAYS = (0.0, 5e-4, 0.1)


class _CentralPathRows:
    """Rows of one size and member, gathered quantity by quantity."""

    def __init__(self, size: list[int], seed: int) -> None:
        self.head = {"classes": size[0], "examples": size[1], "features": size[2], "seed": seed}
        self.frames: list[pd.DataFrame] = []

    def add(self, numbers: Mapping, *, flow: str = "", step: float = 0.0, time: Any = 0.0, **rest: Any) -> None:
        """Add scalars, or arrays over `time`."""
        rest = {"index": 0, "predicted": np.nan, "corrected": np.nan} | rest
        for quantity, value in numbers.items():
            places = {"flow": flow, "step": step, "time": np.atleast_1d(time), "quantity": quantity}
            self.frames.append(pd.DataFrame({**self.head, **places, **rest, "value": np.atleast_1d(value)}))

    def add_spectrum(
        self, quantity: str, value: np.ndarray, predicted: Any = np.nan, corrected: Any = np.nan, **where: Any
    ) -> None:
        """Add a spectrum along the last axis of `value`, over `time` along the first if it has two."""
        predicted, corrected = np.broadcast_to(predicted, value.shape), np.broadcast_to(corrected, value.shape)
        for index in range(value.shape[-1]):
            given = {"predicted": predicted[..., index], "corrected": corrected[..., index]}
            self.add({quantity: value[..., index]}, index=index + 1, **where, **given)

    def frame(self) -> pd.DataFrame:
        """Return the rows with the declared columns in order."""
        return pd.concat(self.frames, ignore_index=True)[[column.name for column in CENTRAL_PATH]]


def _spectral_losses(omega: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    return {
        "loss": theory.spectral_loss(omega, classes),
        "loss_nc1": theory.spectral_variability_loss(omega, classes),
        "loss_nc23": theory.spectral_geometry_loss(omega, classes),
    }


def _add_omega(table: _CentralPathRows, X: np.ndarray, **where: Any) -> np.ndarray:
    """Add the SNR singular values over time beside both solutions from their start; return them."""
    classes, examples = table.head["classes"], table.head["examples"]
    time = where["time"][:, None]
    omega = central_path.snr_singular_values(X, classes)
    table.add_spectrum(
        "omega",
        omega,
        theory.snr_closed_form(omega[0], time, classes, examples),
        theory.algorithm_closed_form(omega[0], time, classes, examples),
        **where,
    )
    return omega


def _along_flow(X: np.ndarray, time: np.ndarray, size: list[int], seed: int, flow: str) -> pd.DataFrame:
    """Measure one member's flow, X of shape (times, features, samples)."""
    classes, examples, features = size
    table = _CentralPathRows(size, seed)
    where: dict[str, Any] = {"flow": flow, "time": time}
    omega = _add_omega(table, X, **where)
    W, errors = central_path.classifier(X, classes), central_path.deviations(X, classes)
    lacking = W @ central_path.class_means(X, classes) - (np.eye(classes) - 1 / classes)
    measured = {
        "loss": central_path.loss(X, classes),
        "loss_nc1": 0.5 * np.sum((W @ errors) ** 2, axis=(-2, -1)) / (classes * examples),
        "loss_nc23": 0.5 * np.sum(lacking**2, axis=(-2, -1)) / classes,
    }
    for name, predicted in _spectral_losses(omega, classes).items():
        table.add({name: measured[name]}, predicted=predicted, **where)
    covariance = central_path.within_covariance(X, classes)
    table.add({"excess": omega[:, 0] / omega[:, -1] - 1}, **where)
    table.add({"drift": np.abs(covariance - np.eye(features)).max(axis=(-2, -1))}, **where)
    table.add(measures.limit_gaps(X, X[0], classes), **where)
    collapsed = measures.collapse(X, classes)
    table.add({"nc1": collapsed.pop("nc1")}, predicted=classes * np.sum(omega**-2, axis=-1), **where)
    table.add(collapsed, **where)
    return table.frame()


def _iterated(start: np.ndarray, step: float, counts: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return the exact one-step map iterated, shape (times, classes - 1)."""
    omega, taken, found = start, 0, []
    for count in counts:
        while taken < count:
            omega = theory.algorithm_step(omega, step, classes, examples)
            taken += 1
        found.append(omega)
    return np.stack(found)


# -- training (section 2, appendices A and B) ---------------------------------------------------

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
    from learning_dynamics.measures import networks
    from learning_dynamics.models.convolutional import build

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
    from learning_dynamics.measures import networks

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
    from learning_dynamics.measures import networks

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
