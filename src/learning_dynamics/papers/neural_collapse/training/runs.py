"""Networks trained on images (Han, Papyan, Donoho 2022, appendix A)."""

from pathlib import Path
from typing import Literal

import numpy as np

from learning_dynamics.datasets.images import checked_images, standardised
from learning_dynamics.settings import Count, Fraction, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def training(
    data: Arrays,
    resume: Path | None = None,
    *,
    network: Literal["vgg", "resnet", "densenet"],
    stages: list[Count],
    width: Count,
    bottleneck: bool = False,
    hidden: list[Count] = [],  # noqa: B006 - read as configuration's default, never changed
    normalised: bool = True,
    loss: Literal["mse", "ce"],
    learning_rate: Positive,
    momentum: Fraction,
    weight_decay: Positive,
    batch: Count,
    epochs: Count,
    drops: list[Fraction],
    measurements: Count,
    seeds: Count,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    precision: Literal["float32", "tf32", "bfloat16"] = "float32",
    execution: Literal["eager", "compiled", "graphs"] = "eager",
    drop_last: bool = False,
    diverged: Literal["stop", "reset"] = "stop",
    seed: Seed,
) -> Trajectory:
    """Train a network on images by stochastic gradient descent, once for each seed.

    Parameters
    ----------
    data : dict
        train_images, train_labels, test_images, test_labels, name: see `images.checked_images`. Under MSE all classes
        must have equally many train images, as Theorems 1 and 2 require.
    resume : path, optional
        Folder of the resume points, one for each seed, from which an interrupted training continues.
    network, stages, width, bottleneck, hidden, normalised
        See `models.build`.
    loss, learning_rate, momentum, weight_decay, batch, epochs, drops, precision, execution, drop_last, diverged
        See `dynamics.training.Recipe`.
    measurements : int
        How many epochs are recorded, evenly spaced on a logarithmic axis; fewer where some coincide once rounded. See
        `dynamics.training.measured_epochs`.
    seeds : int
        How many members are trained.
    device : {"auto", "cpu", "cuda"}
        See `dynamics.training.chosen_device`.
    seed : int
        Initial parameters and the order of batches follow from it, and from the number of the member.

    Returns
    -------
    Trajectory
        Times are the recorded epochs. Series: every parameter and batch-norm statistic by name, its own shape after
        (seeds, recorded epochs). Constants: the arrays of `data`.

    Raises
    ------
    ProjectError
        If the images do not fit.
    DivergenceError
        See `dynamics.training.train`.
    """
    import torch  # slow to import; on a CPU no other kind of run needs it

    from learning_dynamics.dynamics.training import Recipe, chosen_device, measured_epochs, seeded, train
    from learning_dynamics.papers.neural_collapse.training.models import build

    data = checked_images(data, balanced=loss == "mse")
    torch_device = chosen_device(device)
    pixels = standardised(data["train_images"], reference=data["train_images"])
    images = torch.from_numpy(pixels).to(torch_device)
    images = images.contiguous(memory_format=torch.channels_last)
    labels = torch.from_numpy(data["train_labels"]).to(torch_device)
    recipe = Recipe(
        loss=loss,
        learning_rate=learning_rate,
        momentum=momentum,
        weight_decay=weight_decay,
        batch=batch,
        epochs=epochs,
        drops=tuple(drops),
        precision=precision,
        execution=execution,
        drop_last=drop_last,
        diverged=diverged,
    )
    channels, classes = images.shape[1], int(data["train_labels"].max()) + 1
    recorded_epochs = measured_epochs(epochs, measurements)
    members = []  # for each its states: by recorded epoch, then by the name of the parameter or statistic
    for member in range(seeds):
        with seeded(seed, "initialisation", member):
            classifier = build(
                network,
                channels,
                classes,
                stages=stages,
                width=width,
                bottleneck=bottleneck,
                hidden=hidden,
                normalised=normalised,
            )
        classifier = classifier.to(torch_device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        checkpoint = None if resume is None else resume / f"seed-{member}"
        members.append(
            train(classifier, images, labels, recipe, recorded_epochs, seed=seed, member=member, resume=checkpoint)
        )
    names = members[0][int(recorded_epochs[0])]
    series = {
        name: np.array([[states[int(epoch)][name] for epoch in recorded_epochs] for states in members])
        for name in names
    }
    return Trajectory(recorded_epochs, series, dict(data))
