"""Collapse, the terms of the loss, and robustness at every recorded epoch of a training."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd

from learning_dynamics.datasets.images import standardised
from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.portrait.theory import coordinates
from learning_dynamics.settings import Count, Natural, Positive
from learning_dynamics.tidy import QUANTITY, Column, Quantity, columns
from learning_dynamics.trajectories import Arrays, Trajectory

Row = tuple[str, str, int, int, int, float]  # split, quantity, index, label, example, value


@columns(
    Column("data", "str", "data set", draw=True),
    Column("seed", "int", "ensemble member", draw=True),
    Column("epoch", "int", "epochs of training"),
    Column("split", "str", "train or test: the images that the quantity is measured on"),
    QUANTITY,
    Column("index", "int", "1, 2, ... in descending order for singular values, coordinates 1, 2; 0 for scalars"),
    Column("label", "int", "class, for what belongs to one; -1 otherwise"),
    Column("example", "int", "image within its class, for features; -1 otherwise"),
    Column("value", "float", "measured; empty where it has none, as when class means coincide", nullable=True),
)
def training(
    trajectory: Trajectory,
    data: Arrays,
    *,
    batch_statistics: Literal["running", "recomputed"],
    robustness_epochs: Count,
    robustness_images: Count,
    notebook_decay: Positive,
    frozen_epochs: Natural,
    continued_steps: Natural = 0,
    gigabytes: Positive = 4.0,
) -> pd.DataFrame:
    """Measure collapse at every recorded epoch of a training.

    Networks are in evaluation mode, on all images of a split. Class means are centred by their unweighted average;
    classifiers are not centred. Quantities belong to train images unless they say otherwise; those of the loss and of
    its terms are measured under MSE alone. Robustness is measured on test images at some epochs, and where train errors
    end.

    Quantities
    ----------
    error
        Share of images misclassified; train and test.
    nc1
        Tr(Sigma_W pinv(Sigma_B)) / C; train and test. nan where class means span fewer than C - 1 directions.
    equinorm_means, equinorm_classifiers
        Standard deviation over mean of the norms of class means, train and test, and of classifiers.
    equiangular_means, equiangular_classifiers
        Standard deviation of the cosines between class means, train and test, and between classifiers.
    maximal_angle_means, maximal_angle_classifiers
        Mean of |cos + 1 / (C - 1)| over pairs of class means, train and test, and of classifiers.
    self_duality
        || W / ||W||_F - M / ||M||_F ||_F^2 for classifiers W and class means M; train and test, as the means are.
    nc4
        Share of images for which network and nearest train class mean differ; train and test.
    snr
        Singular values of Sigma_W^(-1/2) times the class means, without directions in which features vary no more
        than float32 rounds.
    features, classes, examples
        The numbers P of features, C of classes, and N of images of each class.
    rank
        Numerical rank of Sigma_W: directions in which features vary more than float32 rounds.
    loss
        MSE loss with its weight-decay term, summed example by example: half the squared error, summed over classes and
        averaged over images.
    loss_decay
        The weight-decay term of ``loss``.
    loss_nc1, loss_nc23, loss_ls_perp
        The terms that ``loss`` decomposes into, L_NC1, L_NC2/3 and L_LS^perp (Theorems 1 and 2).
    loss_nc1_decay, loss_ls_perp_decay
        What weight decay adds to ``loss_nc1`` and ``loss_ls_perp``.
    loss--notebook, loss_decay--notebook
        ``loss`` and ``loss_decay`` with the weight decay of the authors' notebook, another than the trained one.
    loss_nc1--notebook, loss_nc23--notebook, loss_ls_perp--notebook
        The terms that ``loss--notebook`` decomposes into, with the least-squares classifier of its weight decay.
    loss_nc1_decay--notebook, loss_ls_perp_decay--notebook
        What the notebook's weight decay adds to ``loss_nc1--notebook`` and ``loss_ls_perp--notebook``.
    `deviation.frozen_body`
        At the last recorded epoch at the full learning rate; under MSE.
    continued_batches, continued_whole
        From the last recorded epoch at the full learning rate on, L_LS^perp over L_LS of the network trained on at the
        same rate, with batches as before and with all images in each: the mean over the second half of the steps.
    dead_features
        Share of features that vanish on every image.
    robustness
        l2 norm of DeepFool's perturbation over the norm of the standardised image, mean over images; test.
    robustness_fooled
        Share of images whose decision DeepFool's perturbation did change; test.
    robustness_crossing
        Distance to where the decision changes on the straight way to the nearest train image that is decided
        differently, over the norm of the standardised image, mean over images; test. nan where an image has none.
    robustness_smallest
        The smaller of both relative distances, DeepFool's where it did change the decision, mean over images; test.
    `portrait.theory.coordinates`
        Of seed 0, at the first, the middle and the last epoch.

    Parameters
    ----------
    trajectory : Trajectory
        Networks' parameters and batch-norm statistics at the recorded epochs.
    data : dict
        The images that they were trained on, and test images, as `datasets.images` makes them.
    batch_statistics : {"running", "recomputed"}
        With which batch-norm statistics: the running averages of training, or over the train images at the weights
        measured.
    robustness_epochs, robustness_images : int
        At about how many epochs robustness is measured, and on how many test images of each class.
    notebook_decay : float
        The weight decay of the terms ``--notebook``, in units of the trained one.
    frozen_epochs : int
        For how many epochs the last layer is trained on the frozen body; 0 for not at all.
    continued_steps : int
        For how many steps the network is trained on, with batches as before and with whole ones; 0 for not at all.
    gigabytes : float
        What one pass through the network, and what the features of all images, may occupy; batches follow from it.
    """
    bench = _Bench(trajectory.settings, data, batch_statistics, robustness_images, notebook_decay, gigabytes)
    last = len(trajectory.time) - 1
    robustness_points = set(np.unique(np.round(np.linspace(0, last, robustness_epochs)).astype(int)))
    drop_epoch = round(trajectory.settings["drops"][0] * trajectory.settings["epochs"])
    # the last recorded epoch at the full rate; none where the first is recorded after the drop
    full_rate_point = int(np.sum(trajectory.time <= drop_epoch)) - 1
    table_rows: list[tuple] = []
    for member in range(trajectory.members):
        without_error = False
        for point, epoch in enumerate(trajectory.time):
            bench.load({name: states[member, point] for name, states in trajectory.series.items()})
            rows = list(bench.collapse(portrait=member == 0 and point in (0, last // 2, last)))
            error = next(row[-1] for row in rows if row[:2] == ("train", "error"))
            if point in robustness_points or (error == 0 and not without_error):
                rows += bench.robustness()
            without_error |= error == 0
            if point == full_rate_point and trajectory.settings["loss"] == "mse":
                rows += bench.frozen(frozen_epochs, member) if frozen_epochs else []
                rows += bench.continued(continued_steps, member) if continued_steps else []
            table_rows += [(bench.data, member, int(epoch), *row) for row in rows]
    declared = [column.name for column in training.columns]
    return pd.DataFrame(table_rows, columns=declared)


class _Bench:
    """A network on its device with the images it is measured on."""

    def __init__(
        self, settings: dict[str, Any], data: Arrays, statistics: str, per_class: int, share: float, gigabytes: float
    ) -> None:
        import torch

        from learning_dynamics.dynamics.training import chosen_device
        from learning_dynamics.measures.algebra import algebra_on
        from learning_dynamics.measures.memory import images_within
        from learning_dynamics.papers.neural_collapse.training.models import network_of

        self.data = str(data["name"])
        self.settings, self.statistics, self.gigabytes = settings, statistics, gigabytes
        self.decays = {"": settings["weight_decay"], "--notebook": share * settings["weight_decay"]}
        device = chosen_device(settings.get("device", "auto"))
        self.algebra = algebra_on(device)
        self.images, self.labels = {}, {}
        for split in ("train", "test"):
            pixels = standardised(data[f"{split}_images"], data["train_images"])
            images = torch.from_numpy(pixels).to(device)
            self.images[split] = images.contiguous(memory_format=torch.channels_last)
            self.labels[split] = torch.from_numpy(data[f"{split}_labels"]).to(device)
        classes = int(data["train_labels"].max()) + 1
        network = network_of(settings, self.images["train"].shape[1], classes)
        self.network = network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        shape = tuple(self.images["train"].shape[1:])
        self.batch = images_within(self.network, shape, gigabytes, gradients=False)
        self.attack_batch = images_within(self.network, shape, gigabytes, gradients=True)
        labels = data["test_labels"]
        self.attack_indices = np.concatenate([np.flatnonzero(labels == label)[:per_class] for label in range(classes)])

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take over the parameters and batch-norm statistics of a recorded epoch."""
        import torch

        from learning_dynamics.dynamics.training import arithmetic
        from learning_dynamics.papers.neural_collapse.training.passes import recompute_batch_statistics

        self.network.load_state_dict({name: torch.as_tensor(value) for name, value in state.items()})
        if self.statistics == "recomputed":
            with arithmetic():
                recompute_batch_statistics(self.network, self.images["train"], batch=self.batch)

    def collapse(self, *, portrait: bool) -> Iterator[Row]:
        """Yield what is measured on the features of all images."""
        from learning_dynamics.dynamics.training import arithmetic
        from learning_dynamics.papers.neural_collapse.training import passes

        classifier = passes.extended_classifier(self.network)
        weights = classifier[:, :-1]
        with arithmetic():
            layers = {
                split: passes.LastLayer(
                    self.network, self.images[split], self.labels[split], batch=self.batch, gigabytes=self.gigabytes
                )
                for split in ("train", "test")
            }
            summaries = {split: passes.measure(layer) for split, layer in layers.items()}
            disagreements = {
                split: passes.disagreement(layer, summaries["train"].means) for split, layer in layers.items()
            }
        for split, summary in summaries.items():
            yield _scalar(split, "error", summary.error)
            yield _scalar(split, "nc1", collapse.variability(summary.within, summary.means))
            yield _scalar(split, "nc4", disagreements[split])
            yield from _angles(split, "means", collapse.centred_means(summary.means))
            yield _scalar(split, "self_duality", collapse.self_duality(weights, summary.means))
        yield from _angles("train", "classifiers", weights)
        train = summaries["train"]
        yield _scalar("train", "dead_features", train.dead)
        yield _scalar("train", "features", weights.shape[1])
        yield _scalar("train", "classes", weights.shape[0])
        yield _scalar("train", "examples", len(self.labels["train"]) / weights.shape[0])
        rank, snr = collapse.rank_and_signal_to_noise(train.within, train.means, self.algebra)
        yield _scalar("train", "rank", rank)
        for index, value in enumerate(snr, start=1):
            yield "train", "snr", index, -1, -1, float(value)
        if self.settings["loss"] == "mse":
            for suffix, decay in self.decays.items():
                norm = 0.5 * decay * float(np.sum(classifier**2))
                yield _scalar("train", f"loss{suffix}", train.square_loss + norm)
                yield _scalar("train", f"loss_decay{suffix}", norm)
                terms = collapse.decomposition(train.within, train.means, classifier, decay, self.algebra)
                for term, value in terms.items():
                    yield _scalar("train", f"{term}{suffix}", value)
        if portrait:
            count = int(np.flatnonzero(self.labels["train"].cpu().numpy() < 3)[-1]) + 1
            features, labels = layers["train"].first(count), self.labels["train"][:count].cpu().numpy()
            yield from coordinates(features, labels, train.means, weights)

    def frozen(self, epochs: int, member: int) -> list[Row]:
        """Return what the last layer's deviation is with the body of the loaded state frozen."""
        from learning_dynamics.papers.neural_collapse.training.deviation import frozen_body

        images, labels = self.images["train"], self.labels["train"]
        seed = self.settings["seed"]
        deviations = frozen_body(self.network, images, labels, self.settings, epochs=epochs, seed=seed, member=member)
        return [_scalar("train", name, value) for name, value in deviations.items()]

    def continued(self, steps: int, member: int) -> list[Row]:
        """Return the deviation as a share of L_LS where the network is trained on; another state is loaded then."""
        from learning_dynamics.dynamics.training import arithmetic
        from learning_dynamics.papers.neural_collapse.training import passes
        from learning_dynamics.papers.neural_collapse.training.deviation import continued_states

        images, labels, seed = self.images["train"], self.labels["train"], self.settings["seed"]
        states = continued_states(self.network, images, labels, self.settings, steps=steps, seed=seed, member=member)
        rows = []
        for name, sequence in states.items():
            shares = []
            for state in sequence:
                self.load(state)
                with arithmetic():
                    layer = passes.LastLayer(self.network, images, labels, batch=self.batch, gigabytes=self.gigabytes)
                    summary = passes.measure(layer)
                classifier = passes.extended_classifier(self.network)
                terms = collapse.decomposition(summary.within, summary.means, classifier, self.decays[""], self.algebra)
                shares.append(terms["loss_ls_perp"] / (terms["loss_nc1"] + terms["loss_nc23"]))
            rows.append(_scalar("train", name, np.mean(shares)))
        return rows

    def robustness(self) -> list[Row]:
        """Return how far test images are from a change of decision, by DeepFool and by known crossings."""
        import torch

        from learning_dynamics.dynamics.training import arithmetic
        from learning_dynamics.measures.robustness import crossing_distances, decisions, deepfool

        self.network.eval().requires_grad_(False)
        train = self.images["train"]
        images = self.images["test"][torch.from_numpy(self.attack_indices).to(train.device)]
        with arithmetic():
            perturbations, fooled = deepfool(self.network, images, batch=self.attack_batch)
            train_decisions = decisions(self.network, train, batch=self.batch)
            distances = crossing_distances(self.network, images, train, train_decisions, batch=self.batch)
        sizes = images.flatten(1).norm(dim=1).double()
        relative, crossing = perturbations.flatten(1).norm(dim=1).double() / sizes, distances / sizes
        # a perturbation that leaves the decision as it was bounds nothing
        bounds = torch.where(fooled, relative, torch.inf)
        return [
            _scalar("test", "robustness", float(relative.mean())),
            _scalar("test", "robustness_fooled", float(fooled.double().mean())),
            _scalar("test", "robustness_crossing", float(crossing.mean())),
            _scalar("test", "robustness_smallest", float(torch.minimum(bounds, crossing).mean())),
        ]


def _scalar(split: str, quantity: Quantity, value: Any) -> Row:
    return split, quantity, 0, -1, -1, float(value) if np.isfinite(value) else np.nan


def _angles(split: str, name: str, vectors: np.ndarray) -> Iterator[Row]:
    with np.errstate(divide="ignore", invalid="ignore"):
        yield _scalar(split, f"equinorm_{name}", collapse.relative_spread_of_norms(vectors))
        yield _scalar(split, f"equiangular_{name}", collapse.spread_of_cosines(vectors))
        yield _scalar(split, f"maximal_angle_{name}", collapse.distance_from_maximal_angles(vectors))
