"""Metrics of trainings that were never run: every quantity but a count is a power of the epoch times a seed's factor,
so that results follow by hand.
"""

import numpy as np
import pandas as pd

NETWORKS = ("vgg", "resnet", "densenet")
LAST_EPOCH = 100
EPOCHS = np.array([1, 3, 10, 30, LAST_EPOCH])
ZERO_ERROR = 10  # the epoch at which train errors end
BEFORE_DROP = 30  # the last of EPOCHS at the full learning rate, which drops after 33 and 66 of 100 epochs
SLOWER_UNDER_CE = ("nc1", "robustness_smallest", "robustness")  # quantities whose power is smaller under cross-entropy
CE_SLOWER = 0.7  # the factor of that power
FEATURES = 64
# whole numbers, which no factor of a seed multiplies
COUNTS = {"features", "rank", "classes", "examples"}
# by split and quantity: the value at epoch 1, and the power of the epoch by which it falls (below zero: it grows)
CURVES = {
    ("train", "nc1"): (1.0, 1.5),
    ("test", "nc1"): (1.2, 0.5),
    ("train", "nc4"): (1e-2, 2.0),
    ("test", "nc4"): (1e-2, 0.5),
    ("train", "self_duality"): (1.5, 0.75),
    ("test", "self_duality"): (1.6, 0.3),
    ("train", "loss_nc1"): (0.1, 0.3),
    ("train", "loss_nc1_decay"): (0.05, 0.3),
    ("train", "loss_nc23"): (0.1, 2.0),
    ("train", "loss_ls_perp"): (0.05, 1.2),
    ("train", "loss_ls_perp_decay"): (0.001, 1.2),
    ("train", "split_sampling"): (0.0008, 1.2),
    ("train", "split_batches"): (0.02, 1.2),
    ("train", "split_replaced"): (0.00105, 1.2),
    ("train", "split_law"): (0.001, 1.2),
    ("train", "continued_batches"): (0.4, 0.0),
    ("train", "continued_whole"): (0.05, 0.0),
    ("test", "robustness"): (0.05, -0.5),
    ("test", "robustness_crossing"): (0.3, 0.0),
    ("test", "robustness_smallest"): (0.05, -0.3),
    ("test", "error"): (0.1, 0.5),
    ("train", "features"): (FEATURES, 0.0),
    ("train", "rank"): (FEATURES, 0.0),
    ("train", "classes"): (10.0, 0.0),
    ("train", "examples"): (140.0, 0.0),
    ("train", "dead_features"): (0.0, 0.0),
}
# terms under a tenth of the weight decay, as shares of the terms above, with powers of their own
CURVES |= {
    ("train", f"loss_{term}--notebook"): (share * CURVES["train", f"loss_{term}"][0], power)
    for term, share, power in (
        ("nc1", 0.6, 0.5),
        ("nc1_decay", 0.2, 0.5),
        ("nc23", 0.5, 2.5),
        ("ls_perp", 2.0, 1.0),
        ("ls_perp_decay", 0.2, 1.0),
    )
}
CURVES |= {
    (split, f"{name}_{vectors}"): (0.5, power)
    for name in ("equinorm", "equiangular", "maximal_angle")
    for split, vectors, power in (("train", "means", 0.8), ("train", "classifiers", 0.8), ("test", "means", 0.3))
}


def seed_factor(seed: int) -> float:
    """Return what every quantity of a seed but a count is multiplied by: 1, 1.02, 1.04 and so on."""
    return 1 + 0.02 * seed


def expected_value(
    quantity: str, epoch: float | np.ndarray, *, split: str = "train", seed: int = 0, loss: str = "mse"
) -> np.ndarray:
    """Return a quantity of a made-up training at one epoch, or at several."""
    start, power = CURVES[split, quantity]
    if loss == "ce" and quantity in SLOWER_UNDER_CE:
        power *= CE_SLOWER
    factor = 1.0 if quantity in COUNTS else seed_factor(seed)
    return factor * start * np.asarray(epoch, dtype=float) ** -power


def made_up(network: str = "vgg", loss: str = "mse", *, data: str = "digits", seeds: int = 3) -> pd.DataFrame:
    """Return the table of a training that collapses, a little differently for each seed; less so under cross-entropy.

    A tenth of the train images is misclassified before epoch `ZERO_ERROR`, none from there on.
    """
    rows = []
    for seed in range(seeds):
        for split, quantity in CURVES:
            values = expected_value(quantity, EPOCHS, split=split, seed=seed, loss=loss)
            rows += [(data, seed, epoch, split, quantity, value) for epoch, value in zip(EPOCHS, values, strict=True)]
        total = sum(expected_value(f"loss_{term}", EPOCHS, seed=seed) for term in ("nc1", "nc23", "ls_perp"))
        rows += [(data, seed, epoch, "train", "loss", value) for epoch, value in zip(EPOCHS, total, strict=True)]
        rows += [(data, seed, epoch, "train", "error", 0.1 * (epoch < ZERO_ERROR)) for epoch in EPOCHS]
    table = pd.DataFrame(rows, columns=["data", "seed", "epoch", "split", "quantity", "value"])
    table = table.assign(index=0, label=-1, example=-1)
    table.attrs["settings"] = {
        "network": network,
        "loss": loss,
        "learning_rate": 0.05,
        "weight_decay": 5e-3,
        "momentum": 0.9,
        "batch": 64,
        "epochs": LAST_EPOCH,
        "drops": [0.3333, 0.6667],  # shares of the epochs after which the learning rate drops
        "seeds": seeds,
    }
    return table


def trainings(loss: str = "mse") -> list[pd.DataFrame]:
    """Return a table for each of NETWORKS, with three seeds each: nine trainings."""
    return [made_up(network, loss) for network in NETWORKS]


def both_losses() -> dict[str, list[pd.DataFrame]]:
    """Return trainings by the role of their loss."""
    return {loss: trainings(loss) for loss in ("mse", "ce")}
