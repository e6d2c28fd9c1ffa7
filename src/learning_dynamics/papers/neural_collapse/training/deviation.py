"""What keeps a classifier away from the least-squares one, measured in trainings that lack some of the causes.

L_LS^perp is what a classifier loses against the least-squares classifier of its features (Theorem 1); L_LS is the
latter's loss. The body is all layers below the last one.

`frozen_body` trains the last layer alone, while the body stays as it is. With the body in evaluation mode an image
always has the same features, so that only the sampling of batches is left. With the body in training mode batch norm
gives an image other features in every batch.

`continued_states` trains the whole network on. What it has beyond a frozen body comes from features that move. The
sampling of batches moves features, too. With all images in each batch nothing is sampled, and what is left is the
motion that sampling has no part in.
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

# largest number of states that `continued_states` returns for one size of batch; chosen
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
    """Train the last layer alone, starting from the least-squares classifier, and return its mean L_LS^perp.

    L_LS^perp is always measured on the features of evaluation mode.

    Quantities
    ----------
    split_sampling
        Mean L_LS^perp of a last layer that is trained alone, on features of evaluation mode.
    split_batches
        Mean L_LS^perp of a last layer that is trained alone, on features of training mode, for which batch norm has the
        statistics of each batch.
    split_replaced
        As ``split_sampling``, but the images of a batch are drawn with replacement.
    split_law
        Prediction of ``split_replaced`` to first order in the learning rate: ``rate / (4 (1 - momentum)) E[1 / batch]
        (E[|e|^2 |h|^2] - decay^2 |W|^2)``. W is the least-squares classifier with its biases, e an image's error under
        it, h the image's features with a last entry of one. The mean of 1 / batch is over an epoch's batches, of which
        the last may be smaller. The last bracket is the trace of the covariance of an image's gradient ``e h^T + decay
        W``, whose mean is zero. In ``split_sampling`` an epoch shows each image once, which has less noise.

    Parameters
    ----------
    network : Classifier
        In evaluation mode, with the batch-norm statistics that features are measured with; it is not changed.
    images : Tensor, shape (images, channels, height, width)
    labels : Tensor of int64, shape (images,)
    settings : dict
        ``learning_rate``, ``momentum``, ``weight_decay``, ``batch`` and ``drop_last`` of the training.
    epochs : int
        For how many epochs the last layer is trained. L_LS^perp is averaged over the steps of the second half.
    seed, member : int
        Which images are in which batch follows from them.

    Returns
    -------
    dict
        The numbers by quantity.
    """
    rate, momentum, decay, batch = (settings[key] for key in ("learning_rate", "momentum", "weight_decay", "batch"))
    drop_last = settings.get("drop_last", False)
    body = copy.deepcopy(network.body).train()
    for module in body.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            # batches are normalised by their own statistics, of which no average is kept
            module.track_running_stats = False
            module.running_mean = module.running_var = None
    with arithmetic():
        # All of evaluation mode: `fixed` are the features with a last column of ones, (images, P + 1); `moment` is
        # their second moment plus decay I, (P + 1, P + 1); `optimum` is the least-squares classifier, (C, P + 1)
        fixed = _extended(network.eval().body(images))
        targets = nn.functional.one_hot(labels, int(labels.max()) + 1).double()
        moment = fixed.T @ fixed / len(fixed) + decay * torch.eye(fixed.shape[1]).to(fixed)
        optimum = torch.linalg.solve(moment, fixed.T @ targets / len(fixed)).T
        errors = fixed @ optimum.T - targets
        # E[|e|^2 |h|^2] - decay^2 |W|^2, the last bracket of ``split_law``
        gradient_variance = (errors.square().sum(dim=1) * fixed.square().sum(dim=1)).mean() - (
            decay * optimum
        ).square().sum()
        parts = batches(torch.arange(len(images)), batch, drop_last=drop_last)
        inverse_batch = np.mean([1 / len(part) for part in parts])
        measured = {SPLIT_LAW: float(rate / (4 * (1 - momentum)) * inverse_batch * gradient_variance)}
        # Descent with momentum, as torch's SGD has it, written out to be in float64. `dynamics.training` moves a whole
        # network in float32, which is too coarse: here L_LS^perp may be a ten-thousandth of L_LS
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
                    if epoch >= epochs // 2:  # L_LS^perp of W (Theorem 1)
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
    """Train two copies of the network on, at the full learning rate, and return states that they pass through.

    Parameters
    ----------
    network, images, labels, seed, member
        As in `frozen_body`.
    settings : dict
        The same, and ``loss``.
    steps : int
        For how many steps each copy is trained, rounded up to whole epochs.

    Returns
    -------
    dict
        ``continued_batches`` are states of the copy that is trained with batches of the training's size,
        ``continued_whole`` those of the copy that has all images in each batch. Each list has up to `CONTINUED_STATES`
        states, evenly spaced over the second half of the epochs.
    """
    keys = ("loss", "learning_rate", "momentum", "weight_decay")
    drop_last = settings.get("drop_last", False)
    states = {}
    for name, batch in (("continued_batches", settings["batch"]), ("continued_whole", len(images))):
        # an epoch has as many steps as there are batches
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
