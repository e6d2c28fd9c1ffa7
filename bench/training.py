"""An epoch of the networks that the default configuration trains under MSE, against a loop over a DataLoader."""

from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from bench.harness import Row, close
from learning_dynamics.dynamics.training import Recipe, seeded, train
from learning_dynamics.papers.neural_collapse.training.models import Classifier, network_of
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.seeds import seed_sequence

PAPER, NETWORKS, BATCHES, PIXELS, CLASSES, SEED = "neural_collapse", ("vgg", "resnet", "densenet"), 22, 8, 10, 0


def rows() -> list[Row]:
    """22 steps of each network, on as many images of 8 x 8 pixels as the digits have."""
    plan = Plan(load([], {"papers": [PAPER]}))
    return [epoch(network, plan.run(PAPER, f"digits_{network}_mse")["settings"]) for network in NETWORKS]


def epoch(name: str, settings: dict[str, Any]) -> Row:
    """Both sides start at the same network, take the same batches, and return how far each parameter moved."""
    keys = ("loss", "momentum", "weight_decay", "batch")
    # at the rate of the configuration 22 steps magnify rounding, of the DenseNet to a hundredth of the parameters
    rate = settings["learning_rate"] / 100
    recipe = Recipe(**{key: settings[key] for key in keys}, learning_rate=rate, epochs=1, drops=())
    with seeded(SEED, "training bench", 0):
        images = torch.randn(BATCHES * recipe.batch, 1, PIXELS, PIXELS)
        start = network_of(settings, 1, CLASSES).state_dict()
    labels = torch.arange(len(images)) % CLASSES
    channels_last = images.contiguous(memory_format=torch.channels_last)
    order = np.random.default_rng(seed_sequence(SEED, "batches of epoch 1", 0)).permutation(len(images)).tolist()
    pairs = TensorDataset(images, functional.one_hot(labels, CLASSES).float())

    def network() -> Classifier:
        made = network_of(settings, 1, CLASSES)
        made.load_state_dict(start)
        return made

    def ours() -> np.ndarray:
        trained = network().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        train(trained, channels_last, labels, recipe, np.array([1]), seed=SEED)
        return moved(trained)

    def theirs() -> np.ndarray:
        trained = network().train()
        optimiser = torch.optim.SGD(
            trained.parameters(), lr=recipe.learning_rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
        )
        for batch, targets in DataLoader(pairs, batch_size=recipe.batch, sampler=order):
            loss = 0.5 * functional.mse_loss(trained(batch), targets, reduction="sum") / len(batch)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        return moved(trained)

    def moved(trained: Classifier) -> np.ndarray:
        changes = [value.detach() - start[key] for key, value in trained.named_parameters()]
        return np.concatenate([change.numpy().ravel() for change in changes])

    # both round to single precision, in sums of another order, and each step magnifies what the one before rounded
    return Row(
        f"an epoch of {name}, {BATCHES} steps of {recipe.batch} images",
        "PyTorch, a loop over a DataLoader",
        goal=1.0,
        ours=ours,
        theirs=theirs,
        agree=close(1e-2),
    )
