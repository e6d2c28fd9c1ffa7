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
    """Train a network on images by stochastic gradient descent, once for each member.

    A member is one such training: members have the same data and settings, but other initial parameters and other
    orders of batches. They are numbered from 0; tables have this number in their column ``seed``.

    Parameters
    ----------
    data : dict
        train_images and test_images, shape (images, channels, height, width); train_labels and test_labels, shape
        (images,), classes 0, 1, ...; name, what the data set is called (`images.checked_images` checks them). Under MSE
        all classes must have equally many train images, as Theorems 1 and 2 require.
    resume : path, optional
        Folder of the resume points, one for each member, from which an interrupted training continues.
    network : {"vgg", "resnet", "densenet"}
        The family; `models` has a function for each.
    stages : list of int
        For each stage its number of convolutions (vgg), of residual blocks (resnet) or of layers (densenet).
    width : int
        Channels of the first stage, which double from stage to stage; of a densenet the channels that each layer adds.
    bottleneck : bool
        Whether it has blocks with 1 x 1 convolutions, as ResNet50 and DenseNet-BC have; a vgg has none.
    hidden : list of int
        Widths of fully connected layers between the convolutions and the classifier; only a vgg has any.
    normalised : bool
        Whether it has batch normalisation; only a vgg can be without.
    loss : {"mse", "ce"}
        Half the squared error, summed over classes and averaged over images (eq. 2), or cross-entropy.
    learning_rate, momentum, weight_decay : float
        Of stochastic gradient descent.
    batch : int
        Images in a batch.
    epochs : int
        How many are trained.
    drops : list of float
        Fractions of the epochs after which the learning rate is divided by ten.
    measurements : int
        How many epochs are recorded, from the first to the last, evenly spaced on a logarithmic axis and rounded; fewer
        where some coincide once rounded.
    seeds : int
        How many members are trained.
    device : {"auto", "cpu", "cuda"}
        What to train on; ``auto`` is a GPU where there is one.
    precision : {"float32", "tf32", "bfloat16"}
        Of the forward pass; parameters stay float32.
    execution : {"eager", "compiled", "graphs"}
        Operation by operation, compiled, or compiled and replayed as one CUDA graph for each step.
    drop_last : bool
        Whether an epoch leaves out the images that do not fill a last batch.
    diverged : {"stop", "reset"}
        What follows when the loss or a recorded state is no longer finite. Under ``stop`` it is a `DivergenceError`.
        Under ``reset`` the member's initial network is recorded at this and all later recorded epochs.
    seed : int
        Root of the random streams: a member's initial parameters and orders of batches follow from it and from the
        member's number.

    Returns
    -------
    Trajectory
        Times are the recorded epochs, shape (epochs,), of which epoch 1 is the first. There is a series for each
        parameter and batch-norm statistic, under its name in the network's state, of shape (members, epochs, ...) with
        its own axes last. Constants are the arrays of `data`.

    Raises
    ------
    ProjectError
        If the images do not fit.
    DivergenceError
        If a training diverges, and `diverged` is ``stop``.
    UnfinishedError
        If the time left may be too short for another epoch and there is a folder `resume`, in which all is saved.
    """
    # slow to import, and not needed where only this function's signature is read, as for the reference of settings
    import torch

    from learning_dynamics.dynamics.training import Recipe, chosen_device, measured_epochs, seeded, train
    from learning_dynamics.papers.neural_collapse.training.models import build

    data = checked_images(data, balanced=loss == "mse")
    torch_device = chosen_device(device)
    # each channel has mean zero and standard deviation one over the reference, here over the train images themselves;
    # metrics take the same reference for test images
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
    # for each member, at each recorded epoch, the arrays of its state by name: members[member][epoch][name]
    members = []
    for member in range(seeds):
        with seeded(seed, "initialisation", member):  # torch draws initial parameters from this stream of the seed
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
    # names of parameters and statistics, the keys of a state; every member has the same at every recorded epoch
    names = members[0][int(recorded_epochs[0])]
    series = {
        name: np.array([[states[int(epoch)][name] for epoch in recorded_epochs] for states in members])
        for name in names
    }
    return Trajectory(recorded_epochs, series, dict(data))
