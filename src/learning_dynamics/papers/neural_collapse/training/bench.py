"""A trained network with the images that it is measured on: collapse, deviations and robustness at a recorded epoch.

Shapes: images (images, channels, height, width), labels (images,); class means (C, P) as rows, Sigma_W (P, P), weights
(C, P) and, with a last column of biases, classifiers (C, P + 1). Distances and norms of images are (images,).
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from learning_dynamics.datasets.images import checked_images, standardised
from learning_dynamics.dynamics.training import arithmetic, chosen_device
from learning_dynamics.measures import collapse
from learning_dynamics.measures.adversarial import crossing_distances, decisions, deepfool
from learning_dynamics.measures.memory import images_within
from learning_dynamics.papers.neural_collapse.portrait.theory import CLASSES as PORTRAIT_CLASSES
from learning_dynamics.papers.neural_collapse.portrait.theory import coordinates
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.training.deviation import continued_states, frozen_body
from learning_dynamics.papers.neural_collapse.training.models import network_of
from learning_dynamics.papers.neural_collapse.training.passes import (
    LastLayer,
    disagreement,
    extended_classifier,
    measure,
    recompute_batch_statistics,
)
from learning_dynamics.tidy import Quantity
from learning_dynamics.trajectories import Arrays


class Row(NamedTuple):
    """A row of a table. Where a quantity has no position this is 0; where it has no label or example these are -1."""

    split: str
    quantity: Quantity
    position: int  # the column ``index``, which as a name would hide a method of tuples
    label: int
    example: int
    value: float


class Bench:
    """A network on its device with the images that it is measured on.

    Parameters
    ----------
    settings : dict
        Settings of the training (`runs.training`): loss, weight_decay, seed, device, and what `models.network_of` and
        `deviation` read.
    data : dict
        The images that the network was trained on, and test images, as `datasets.images.checked_images` takes them.
    batch_statistics : {"running", "recomputed"}
        Whether batch norm has the running averages of training, or statistics of all train images at the loaded
        weights.
    robustness_images : int
        Number of test images of each class on which robustness is measured.
    notebook_decay : float
        Ratio of the weight decay in the authors' notebook to that of the training, for `quantities.NOTEBOOK`.
    gigabytes : float
        What a pass through the network and what the features of a split may each occupy; batch sizes follow from it.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        data: Arrays,
        *,
        batch_statistics: Literal["running", "recomputed"],
        robustness_images: int,
        notebook_decay: float,
        gigabytes: float,
    ) -> None:
        data = checked_images(data, balanced=settings["loss"] == "mse")  # theorems on this loss need balance
        self.data_name = str(data["name"])
        self.settings, self.batch_statistics, self.gigabytes = settings, batch_statistics, gigabytes
        # the weight decays for which the loss is decomposed: the training's, and that of the authors' notebook
        self.decays: dict[quantities.Decay, float] = {
            "trained": settings["weight_decay"],
            "notebook": notebook_decay * settings["weight_decay"],
        }
        self.device = chosen_device(settings.get("device", "auto"))
        self.images, self.labels = {}, {}
        for split in ("train", "test"):
            # test images, too, by the mean and standard deviation of each channel of the train images
            pixels = standardised(data[f"{split}_images"], data["train_images"])
            images = torch.from_numpy(pixels).to(self.device)
            self.images[split] = images.contiguous(memory_format=torch.channels_last)
            self.labels[split] = torch.from_numpy(data[f"{split}_labels"]).to(self.device)
        classes = int(data["train_labels"].max()) + 1
        network = network_of(settings, self.images["train"].shape[1], classes)
        self.network = network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        shape = tuple(self.images["train"].shape[1:])
        self.batch = images_within(self.network, shape, gigabytes, gradients=False)
        self.attack_batch = images_within(self.network, shape, gigabytes, gradients=True)
        labels = data["test_labels"]
        # indices of the test images on which robustness is measured: the first ones of each class, class by class
        self.attack_indices = np.concatenate(
            [np.flatnonzero(labels == label)[:robustness_images] for label in range(classes)]
        )

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Load the parameters and batch-norm statistics of a recorded epoch."""
        self.network.load_state_dict({name: torch.as_tensor(value) for name, value in state.items()})
        if self.batch_statistics == "recomputed":
            with arithmetic():  # deterministic algorithms, products in full float32
                recompute_batch_statistics(self.network, self.images["train"], batch=self.batch)

    def _last_layer(self, split: str) -> LastLayer:
        """Return the last layer's features of the images of a split, for the loaded network."""
        images, labels = self.images[split], self.labels[split]
        return LastLayer(self.network, images, labels, batch=self.batch, gigabytes=self.gigabytes)

    def collapse_rows(self, *, portrait: bool) -> list[Row]:
        """Return errors and collapse on both splits, for the loaded network.

        Of the train images it also returns C, N and P, the share of dead features, the rank of Sigma_W and the SNR
        singular values, and under MSE the loss and its terms. With `portrait`, and three classes or more, it also
        returns the rows of `portrait.theory.coordinates`: class means, classifiers and first images of the first three
        classes.
        """
        classifier = extended_classifier(self.network)
        weights = classifier[:, :-1]
        with arithmetic():
            layers = {split: self._last_layer(split) for split in ("train", "test")}
            summaries = {split: measure(layer) for split, layer in layers.items()}
            # NC4 compares images of both splits with the class means of train images
            disagreements = {split: disagreement(layer, summaries["train"].means) for split, layer in layers.items()}

        rows: list[Row] = []
        for split, summary in summaries.items():
            rows += [
                _scalar(split, quantities.ERROR, summary.error),
                _scalar(split, quantities.CLASS_ERROR, summary.class_error),
                _scalar(split, quantities.NC1, collapse.variability(summary.within, summary.means)),
                _scalar(split, quantities.NC4, disagreements[split]),
            ]
            centred = collapse.centred_means(summary.means)
            # Zero over zero gives nan: for cosines where one class mean coincides with the average of all, for the
            # spread of norms where all do. Below it does so where classifiers are zero
            with np.errstate(divide="ignore", invalid="ignore"):
                rows += [
                    _scalar(split, quantities.EQUINORM_MEANS, collapse.relative_spread_of_norms(centred)),
                    _scalar(split, quantities.EQUIANGULAR_MEANS, collapse.spread_of_cosines(centred)),
                    _scalar(split, quantities.MAXIMAL_ANGLE_MEANS, collapse.distance_from_maximal_angles(centred)),
                ]
            rows.append(_scalar(split, quantities.SELF_DUALITY, collapse.self_duality(weights, summary.means)))

        with np.errstate(divide="ignore", invalid="ignore"):
            rows += [
                _scalar("train", quantities.EQUINORM_CLASSIFIERS, collapse.relative_spread_of_norms(weights)),
                _scalar("train", quantities.EQUIANGULAR_CLASSIFIERS, collapse.spread_of_cosines(weights)),
                _scalar("train", quantities.MAXIMAL_ANGLE_CLASSIFIERS, collapse.distance_from_maximal_angles(weights)),
            ]

        train = summaries["train"]
        classes, features = weights.shape
        rank, snr = collapse.rank_and_signal_to_noise(train.within, train.means, self.device)
        rows += [
            _scalar("train", quantities.DEAD_FEATURES, train.dead),
            _scalar("train", quantities.FEATURES, features),
            _scalar("train", quantities.CLASSES, classes),
            _scalar("train", quantities.EXAMPLES, len(self.labels["train"]) / classes),
            _scalar("train", quantities.RANK, rank),
            *(Row("train", quantities.SNR, index, -1, -1, float(value)) for index, value in enumerate(snr, start=1)),
        ]

        if self.settings["loss"] == "mse":
            for name, decay in self.decays.items():
                decay_term = 0.5 * decay * float(np.sum(classifier**2))
                values = {
                    quantities.LOSS: train.square_loss + decay_term,
                    quantities.LOSS_DECAY: decay_term,
                    # the keys of `decomposition` are names of `quantities`: LOSS_NC1, LOSS_NC23, ...
                    **collapse.decomposition(train.within, train.means, classifier, decay, self.device),
                }
                rows += [_scalar("train", quantities.with_decay(term, name), value) for term, value in values.items()]

        if portrait and classes >= PORTRAIT_CLASSES:
            labels = self.labels["train"].cpu().numpy()
            # a portrait shows the first three classes: features are needed up to the last image of these classes
            count = int(np.flatnonzero(labels < PORTRAIT_CLASSES)[-1]) + 1
            portrait_rows = coordinates(layers["train"].first(count), labels[:count], train.means, weights)
            rows += [Row(*row) for row in portrait_rows]
        return rows

    def frozen_rows(self, epochs: int, member: int) -> list[Row]:
        """Return the mean L_LS^perp of a last layer that is trained alone, for three kinds of batches.

        L_LS^perp is what the layer loses against the least-squares classifier. Batches have fixed features, features
        that batch norm normalises by the batch, or fixed features drawn with replacement. For the last kind a
        prediction to first order in the learning rate is returned, too (`deviation.frozen_body`). The layers below are
        those of the loaded network. `member`, the number of the training, chooses the random stream.
        """
        images, labels = self.images["train"], self.labels["train"]
        seed = self.settings["seed"]
        deviations = frozen_body(self.network, images, labels, self.settings, epochs=epochs, seed=seed, member=member)
        return [_scalar("train", name, value) for name, value in deviations.items()]

    def continued_rows(self, steps: int, member: int) -> list[Row]:
        """Return the mean of L_LS^perp / L_LS while the loaded network is trained on, for two sizes of batches.

        L_LS^perp is what its classifier loses against the least-squares one, L_LS the loss of the latter. Batches have
        the training's size, or all images (`deviation.continued_states`). `member`, the number of the training, chooses
        the random stream. Afterwards another network is loaded: the last state with all images in a batch.
        """
        images, labels, seed = self.images["train"], self.labels["train"], self.settings["seed"]
        states = continued_states(self.network, images, labels, self.settings, steps=steps, seed=seed, member=member)
        rows = []
        decay = self.decays["trained"]
        for name, sequence in states.items():
            shares = []
            for state in sequence:
                self.load(state)
                with arithmetic():
                    summary = measure(self._last_layer("train"))
                classifier = extended_classifier(self.network)
                # the keys of `decomposition` are names of `quantities`
                terms = collapse.decomposition(summary.within, summary.means, classifier, decay, self.device)
                least_squares_loss = terms[quantities.LOSS_NC1] + terms[quantities.LOSS_NC23]
                shares.append(terms[quantities.LOSS_LS_PERP] / least_squares_loss)
            rows.append(_scalar("train", name, np.mean(shares)))
        return rows

    def robustness_rows(self) -> list[Row]:
        """Return four means over the test images of `attack_indices`; distances are relative to an image's norm.

        They are the norm of DeepFool's perturbation, the share of images whose decision it changes, the distance to a
        crossing, and the smaller of both distances. A crossing is where the decision changes on the straight line to
        the nearest train image that is decided differently. Afterwards the network's parameters require no gradients.
        """
        self.network.eval().requires_grad_(False)
        train = self.images["train"]
        images = self.images["test"][torch.from_numpy(self.attack_indices).to(train.device)]
        with arithmetic():
            perturbations, fooled = deepfool(self.network, images, batch=self.attack_batch)
            train_decisions = decisions(self.network, train, batch=self.batch)
            distances = crossing_distances(self.network, images, train, train_decisions, batch=self.batch)
        sizes = images.flatten(1).norm(dim=1).double()
        relative = perturbations.flatten(1).norm(dim=1).double() / sizes
        crossing = distances / sizes
        # Where DeepFool did not change the decision, its distance is no upper bound of the smallest one. `ROBUSTNESS`
        # counts it all the same, as the paper does
        bounds = torch.where(fooled, relative, torch.inf)
        return [
            _scalar("test", quantities.ROBUSTNESS, float(relative.mean())),
            _scalar("test", quantities.ROBUSTNESS_FOOLED, float(fooled.double().mean())),
            _scalar("test", quantities.ROBUSTNESS_CROSSING, float(crossing.mean())),
            _scalar("test", quantities.ROBUSTNESS_SMALLEST, float(torch.minimum(bounds, crossing).mean())),
        ]


def _scalar(split: str, quantity: Quantity, value: Any) -> Row:
    """Return the row of a number without index, label or example; nan where it is not finite."""
    return Row(split, quantity, 0, -1, -1, float(value) if np.isfinite(value) else np.nan)
