"""What holds a classifier off the least-squares one: a last layer on a frozen body, and the network trained on.

With the body in evaluation mode features are fixed, and what is left is the sampling of batches as the last layer alone
sees it. With the body in training mode batch norm gives each image other features in every batch. What a training has
beyond that comes from features that move; batches move them too, so that what is left with whole batches is the motion
that sampling has no part in.
"""

import copy
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from learning_dynamics.dynamics.training import Recipe, State, arithmetic, batches, train
from learning_dynamics.papers.neural_collapse.training.models import Classifier
from learning_dynamics.papers.neural_collapse.training.quantities import (
    SPLIT_BATCHES,
    SPLIT_LAW,
    SPLIT_REPLACED,
    SPLIT_SAMPLING,
)
from learning_dynamics.seeds import seed_sequence

# largest number of states over which a network that is trained on is averaged; chosen
CONTINUED_STATES = 20


@torch.no_grad()
def frozen_body(
    network: Classifier,
    images: Tensor,
    labels: Tensor,
    settings: dict[str, Any],
    *,
    epochs: int,
    seed: int,
    member: int,
) -> dict[str, float]:
    """Train the last layer alone, from the least-squares classifier on, and return its mean deviations.

    Quantities
    ----------
    split_sampling
        Mean of L_LS^perp, on the features of evaluation mode, of a last layer that is trained on the frozen body, on
        batches of features of evaluation mode.
    split_batches
        ``split_sampling`` with batches of features of training mode.
    split_replaced
        ``split_sampling`` with batches drawn with replacement.
    split_law
        First order of ``split_replaced`` in the learning rate: ``rate / (4 (1 - momentum)) E[1 / batch]
        (E[|e|^2 |h|^2] - decay^2 |W|^2)`` with the least-squares classifier W, its errors e and extended features h; an
        epoch's last batch may be smaller. The bracket is the trace of the covariance of an image's gradient, which is
        ``e h^T + decay W`` and zero in the mean. Epochs that show each image once have less noise than that.

    Parameters
    ----------
    network : Classifier
        In evaluation mode, its batch-norm statistics those that features are measured with; left as it is.
    images : Tensor, shape (examples, channels, height, width)
    labels : Tensor of int64, shape (examples,)
    settings : dict
        ``learning_rate``, ``momentum``, ``weight_decay``, ``batch`` and ``drop_last`` of the training.
    epochs : int
        Of the last layer; deviations are averaged over the steps of the second half.

    Returns
    -------
    dict
        From quantity to number.
    """
    rate, momentum, decay, batch = (settings[key] for key in ("learning_rate", "momentum", "weight_decay", "batch"))
    drop_last = settings.get("drop_last", False)
    body = copy.deepcopy(network.body).train()
    for module in body.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.track_running_stats = False  # batches are normalised by their own statistics, and none is kept
            module.running_mean = module.running_var = None
    with arithmetic():
        # on features of evaluation mode: extended features (images, P + 1), the regularised second moment
        # (P + 1, P + 1) and the least-squares classifier (C, P + 1)
        fixed = _extended(network.eval().body(images))
        targets = nn.functional.one_hot(labels, int(labels.max()) + 1).double()
        moment = fixed.T @ fixed / len(fixed) + decay * torch.eye(fixed.shape[1]).to(fixed)
        optimum = torch.linalg.solve(moment, fixed.T @ targets / len(fixed)).T
        errors = fixed @ optimum.T - targets
        # E[|e|^2 |h|^2] - decay^2 |W|^2, the bracket of ``split_law``
        gradient_variance = (errors.square().sum(dim=1) * fixed.square().sum(dim=1)).mean() - (
            decay * optimum
        ).square().sum()
        parts = batches(torch.arange(len(images)), batch, drop_last=drop_last)
        inverse_batch = np.mean([1 / len(part) for part in parts])
        measured = {SPLIT_LAW: float(rate / (4 * (1 - momentum)) * inverse_batch * gradient_variance)}
        # momentum descent by hand, as torch's: `dynamics.training` moves a whole network in float32, and here L_LS^perp
        # may be a ten-thousandth of L_LS
        for quantity in (SPLIT_SAMPLING, SPLIT_REPLACED, SPLIT_BATCHES):
            W, velocity, deviations = optimum.clone(), torch.zeros_like(optimum), []
            for epoch in range(epochs):
                rng = np.random.default_rng(seed_sequence(seed, f"frozen body, epoch {epoch}", member))
                if quantity == SPLIT_REPLACED:
                    order = rng.integers(len(images), size=len(images))
                else:
                    order = rng.permutation(len(images))
                for indices in batches(torch.from_numpy(order).to(images.device), batch, drop_last=drop_last):
                    h = _extended(body(images[indices])) if quantity == SPLIT_BATCHES else fixed[indices]
                    gradient = (h @ W.T - targets[indices]).T @ h / len(indices) + decay * W
                    velocity = momentum * velocity + gradient
                    W = W - rate * velocity
                    if epoch >= epochs // 2:
                        excess = W - optimum
                        deviations.append(0.5 * ((excess @ moment) * excess).sum())
            measured[quantity] = float(torch.stack(deviations).mean())
    return measured


def continued_states(
    network: Classifier,
    images: Tensor,
    labels: Tensor,
    settings: dict[str, Any],
    *,
    steps: int,
    seed: int,
    member: int,
) -> dict[str, list[State]]:
    """Train copies of the network on at the same rate and return what they pass through.

    Parameters
    ----------
    network, images, labels, settings
        As in `frozen_body`.
    steps : int
        For how many steps, rounded up to whole epochs.

    Returns
    -------
    dict
        ``continued_batches``, with batches as before, and ``continued_whole``, with all images in each: up to twenty
        states, evenly spaced over the second half of the epochs.
    """
    keys = ("loss", "learning_rate", "momentum", "weight_decay")
    drop_last = settings.get("drop_last", False)
    states = {}
    for name, batch in (("continued_batches", settings["batch"]), ("continued_whole", len(images))):
        epochs = math.ceil(steps / len(batches(labels, batch, drop_last=drop_last)))
        recipe = Recipe(
            **{key: settings[key] for key in keys}, batch=batch, epochs=epochs, drops=(), drop_last=drop_last
        )
        recorded_epochs = np.unique(np.linspace(epochs // 2 + 1, epochs, CONTINUED_STATES).round().astype(int))
        clone = copy.deepcopy(network).requires_grad_(True)
        states[name] = list(train(clone, images, labels, recipe, recorded_epochs, seed=seed, member=member).values())
    return states


def _extended(features: Tensor) -> Tensor:
    """Return features with a last column of ones, in float64."""
    return nn.functional.pad(features.double(), (0, 1), value=1.0)
