"""Collapse, the terms of the loss, and robustness at every recorded epoch of a training.

Shapes: `trajectory.series` has an array for each parameter and batch-norm statistic, under its name in the network's
state, (members, recorded epochs, ...) with its own axes last; `trajectory.time` (recorded epochs,) counts epochs of
training, not steps. `data` has images (images, channels, height, width) and labels (images,) of two splits, train and
test. A member is one training; its number, from 0, is in the column ``seed``.

C is the number of classes and P that of last-layer features. Sigma_W and Sigma_B are the covariances of features within
and between classes (section 1.1), W the weights of the last layer, whose rows are called classifiers. The loss has the
terms L = L_NC1 + L_NC2/3 + L_LS^perp; the first two are the loss L_LS of the least-squares classifier (Theorems 1, 2).
"""

from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.papers.neural_collapse.training.quantities import ERROR, epochs_at_full_rate
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

    Networks are in evaluation mode, on all images of a split. Class means are taken less their unweighted average;
    classifiers are not centred. Quantities are of train images unless their entry says otherwise. The loss and its
    terms are measured only of networks that were trained under MSE. Robustness is measured on test images, at the
    epochs that `robustness_epochs` chooses and at the first recorded epoch without any train error.

    Quantities
    ----------
    error
        Share of images misclassified, as in Table 1; train and test.
    class_error
        Share of a class's images misclassified, averaged over classes; train and test. It differs from ``error`` only
        where classes are not equally frequent.
    nc1
        Within-class variability, Tr(Sigma_W pinv(Sigma_B)) / C; train and test. nan where class means span fewer than
        C - 1 directions.
    equinorm_means, equinorm_classifiers
        Standard deviation of norms over their mean, for class means (train and test) and for classifiers.
    equiangular_means, equiangular_classifiers
        Standard deviation of the cosines between class means (train and test), and between classifiers.
    maximal_angle_means, maximal_angle_classifiers
        Mean of |cos + 1 / (C - 1)| over pairs of class means (train and test), and over pairs of classifiers.
    self_duality
        || W / ||W||_F - M / ||M||_F ||_F^2 for the matrices W of classifiers and M of class means, a row for each
        class; train and test, with the class means of the split.
    nc4
        Share of images that the network and the nearest class mean, of train images, decide differently; train and
        test.
    snr
        Non-zero singular values of Sigma_W^(-1/2) times the class means, descending. Directions are left out in which
        features vary no more than float32 rounds.
    features, classes, examples
        The numbers P of features, C of classes, and N of train images of each class; under cross-entropy, where classes
        may differ in theirs, N is the mean over classes.
    rank
        Numerical rank of Sigma_W, the number of directions in which features vary more than float32 rounds.
    loss
        MSE loss L, from the error of every image: half the squared error, summed over classes and averaged over images,
        plus the weight-decay term.
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
        Mean L_LS^perp of a last layer that is trained alone, on the layers below it as they are at the last recorded
        epoch at the full learning rate, and a prediction of it; under MSE.
    continued_batches, continued_whole
        Ratio of L_LS^perp to L_LS while the network is trained on, with batches as before, and with all images in each
        batch. It is trained on from the last recorded epoch at the full learning rate, at that rate, under MSE. The
        ratio is a mean over states of the second half of the epochs.
    dead_features
        Share of features that vanish on every train image.
    robustness
        l2 norm of DeepFool's perturbation over the norm of the standardised image, mean over images; test.
    robustness_fooled
        Share of images whose decision DeepFool's perturbation did change; test.
    robustness_crossing
        Distance to a crossing over the norm of the standardised image, mean over images; test. The crossing is where
        the decision changes on the straight way to the nearest train image that is decided differently. nan where all
        train images are decided as a test image is.
    robustness_smallest
        The smaller of the relative distances of ``robustness`` and ``robustness_crossing``, mean over images; test.
        Where DeepFool's perturbation did not change the decision, the distance to the crossing counts.
    `portrait.theory.coordinates`
        Features, class means and classifiers of three classes in the plane of their means, of member 0 at its first, a
        middle and its last recorded epoch; not measured where there are two classes.

    Parameters
    ----------
    trajectory : Trajectory
        Networks' parameters and batch-norm statistics at the recorded epochs.
    data : dict
        ``train_images`` and ``train_labels``, on which the networks were trained, ``test_images`` and ``test_labels``,
        and the ``name`` of the data set, as `runs.training` takes them.
    batch_statistics : {"running", "recomputed"}
        Which batch-norm statistics a measured network has: the running averages of training, or statistics of the train
        images at the recorded weights.
    robustness_epochs, robustness_images : int
        At about how many recorded epochs robustness is measured, and on how many test images of each class.
    notebook_decay : float
        The weight decay of the quantities ``--notebook``, as a multiple of the trained one.
    frozen_epochs : int
        For how many epochs the last layer is trained alone (`deviation.frozen_body`); 0 for not at all.
    continued_steps : int
        For how many steps, rounded up to whole epochs, the network is trained on for ``continued_batches`` and
        ``continued_whole``; 0 for not at all.
    gigabytes : float
        What one pass through the network and what the features of all images of a split may each occupy; batch sizes
        follow from it.
    """
    # slow to import, as it needs torch, and not needed where only this function's signature is read
    from learning_dynamics.papers.neural_collapse.training.bench import Bench

    bench = Bench(
        trajectory.settings,
        data,
        batch_statistics=batch_statistics,
        robustness_images=robustness_images,
        notebook_decay=notebook_decay,
        gigabytes=gigabytes,
    )
    # a point is the index of a recorded epoch in `trajectory.time`, from 0
    last = len(trajectory.time) - 1
    robustness_points = set(np.unique(np.round(np.linspace(0, last, robustness_epochs)).astype(int)))
    # the last point at the full rate; -1, which is no point, where even the first is after the drop
    full_rate_point = int(np.sum(trajectory.time <= epochs_at_full_rate(trajectory.settings))) - 1
    table_rows: list[tuple] = []
    for member in range(trajectory.members):
        reached_zero_error = False  # whether the train error was zero at an earlier point of this member
        for point, epoch in enumerate(trajectory.time):
            bench.load({name: states[member, point] for name, states in trajectory.series.items()})
            rows = bench.collapse_rows(portrait=member == 0 and point in (0, last // 2, last))
            # the share of train images that is misclassified
            train_error = next(row.value for row in rows if row.split == "train" and row.quantity == ERROR)
            if point in robustness_points or (train_error == 0 and not reached_zero_error):
                rows += bench.robustness_rows()
            reached_zero_error |= train_error == 0
            trains_on = point == full_rate_point and trajectory.settings["loss"] == "mse"
            if trains_on and frozen_epochs:
                rows += bench.frozen_rows(frozen_epochs, member)
            if trains_on and continued_steps:
                # comes last, because it leaves another network loaded
                rows += bench.continued_rows(continued_steps, member)
            table_rows += [(bench.data_name, member, int(epoch), *row) for row in rows]
    return pd.DataFrame(table_rows, columns=[column.name for column in training.columns])
