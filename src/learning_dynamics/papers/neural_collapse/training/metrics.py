"""Collapse, the terms of the loss, and robustness at every recorded epoch of a training.

Shapes: `trajectory.series` has each parameter and batch-norm statistic by its name in the network's state, (members,
epochs, *shape of the parameter); `trajectory.time` (epochs,) are epochs of training, not steps. `data` has images
(images, channels, height, width) and labels (images,) of two splits. A row of the table is (data, seed, epoch, split,
quantity, index, label, example, value), and members are seeds.
"""

from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.papers.neural_collapse.training.quantities import ERROR
from learning_dynamics.settings import Count, Natural, Positive
from learning_dynamics.tidy import QUANTITY, Column, columns
from learning_dynamics.trajectories import Arrays, Trajectory


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
    its terms are measured under MSE alone. Robustness is measured on test images at some epochs, and at the first
    without any train error.

    Quantities
    ----------
    error
        Share of images misclassified, as in Table 1; train and test.
    class_error
        Share of a class's images misclassified, averaged over classes; train and test. Apart from ``error`` where
        classes are not equally frequent.
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
        The numbers P of features, C of classes, and N of images of each class (under cross-entropy, in the mean).
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
        Of seed 0, at the first, the middle and the last epoch, where there are three classes or more.

    Parameters
    ----------
    trajectory : Trajectory
        Networks' parameters and batch-norm statistics at the recorded epochs.
    data : dict
        The images that they were trained on, and test images: see `images.checked_images`.
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
    from learning_dynamics.papers.neural_collapse.training.bench import Bench  # torch is heavy

    bench = Bench(
        trajectory.settings,
        data,
        batch_statistics=batch_statistics,
        robustness_images=robustness_images,
        notebook_decay=notebook_decay,
        gigabytes=gigabytes,
    )
    last = len(trajectory.time) - 1
    robustness_points = set(np.unique(np.round(np.linspace(0, last, robustness_epochs)).astype(int)))
    first_drop = [*trajectory.settings["drops"], 1.0][0]  # without drops the rate is full to the end
    drop_epoch = round(first_drop * trajectory.settings["epochs"])
    # the last recorded epoch at the full rate; none where the first is recorded after the drop
    full_rate_point = int(np.sum(trajectory.time <= drop_epoch)) - 1
    table_rows: list[tuple] = []
    for member in range(trajectory.members):
        without_error = False
        for point, epoch in enumerate(trajectory.time):
            bench.load({name: states[member, point] for name, states in trajectory.series.items()})
            rows = bench.collapse_rows(portrait=member == 0 and point in (0, last // 2, last))
            # rows of a bench begin with split and quantity, and end with the value
            error = next(row[-1] for row in rows if row[:2] == ("train", ERROR))
            if point in robustness_points or (error == 0 and not without_error):
                rows += bench.robustness_rows()
            without_error |= error == 0
            if point == full_rate_point and trajectory.settings["loss"] == "mse":
                rows += bench.frozen_rows(frozen_epochs, member) if frozen_epochs else []
                rows += bench.continued_rows(continued_steps, member) if continued_steps else []
            table_rows += [(bench.data_name, member, int(epoch), *row) for row in rows]
    return pd.DataFrame(table_rows, columns=[column.name for column in training.columns])
