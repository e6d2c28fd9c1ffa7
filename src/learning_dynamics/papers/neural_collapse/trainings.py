"""What claims and figures read from trainings' tables: quantities along epochs, where train errors end, chance levels.

A draw is one training: one network, one data set, one loss, one seed. A table has the trainings of one network, data
set and loss, a seed each; `trainings` are such tables. Arrays of shape (trainings,) have one number for each seed of
each table, one table after the other. Train errors end at the first recorded epoch at which no more than a share
`train_error` of the train images is misclassified.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gamma

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Check, Untested, every_draw, premise
from learning_dynamics.papers.neural_collapse.training.quantities import (
    CLASSES,
    DECAY_PART,
    EQUIANGULAR_CLASSIFIERS,
    EQUIANGULAR_MEANS,
    EQUINORM_CLASSIFIERS,
    EQUINORM_MEANS,
    ERROR,
    EXAMPLES,
    FEATURES,
    LOSS_LS_PERP,
    LOSS_NC1,
    LOSS_NC23,
    MAXIMAL_ANGLE_CLASSIFIERS,
    MAXIMAL_ANGLE_MEANS,
    NC1,
    SELF_DUALITY,
    Decay,
    epochs_at_full_rate,
    with_decay,
)
from learning_dynamics.tidy import Quantity, Table, cached_per_table, select, settings_of

FIVE_DATA_SETS = ("mnist", "fashion_mnist", "svhn", "cifar10", "stl10")
NEEDS_FIVE_DATA_SETS = (
    "needs MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, and a GPU: `snakemake --configfile workflow/config/full.yaml`"
)
NETWORKS = {"vgg": "VGG", "resnet": "ResNet", "densenet": "DenseNet"}  # families, as readers know them
SCOPE = "networks of three families; at the default scale small ones, on 8 x 8 digits"
# pieces of scopes, for claims whose verdict may be another in more steps or at another weight decay: what departs from
# the paper's recipe, and whose weight decay it is
FEW_STEPS = ", by the paper's recipe but for 1,400 images in batches of 64, which make a twentieth of its steps"
IN_SCOPE_TURNED_BY_STEPS = FEW_STEPS + " (in as many steps as the paper's the verdict may be another: full_scale.md)"
IN_SCOPE_FEW_STEPS = (
    FEW_STEPS + " (at more weight decay and two to four times the rates under MSE the verdict may be another: "
    "full_scale.md)"
)
IN_SCOPE_AUTHORS_DECAYS = "; the authors' weight decay under both losses"
# data set and network of the trainings that appendix A.7 names as outliers
EXCEPTIONS = (("stl10", "resnet"), ("stl10", "densenet"))
# The share of train images misclassified at which train errors count as ended, and the terminal phase as begun. Papyan,
# Han and Donoho 2020, whose protocol the paper takes over, mark its effective beginning at a train accuracy of 99.9 %
# (of 99.6 % on ImageNet), because data sets contain wrong labels.
EFFECTIVELY_ZERO = 1e-3


def by_seed(table: Table, quantity: Quantity, split: str = "train") -> pd.DataFrame:
    """Return a scalar quantity with the epochs at which it was measured as rows and seeds as columns."""
    return _by_seed(table, quantity, split).copy()


@cached_per_table
def _by_seed(table: Table, quantity: Quantity, split: str) -> pd.DataFrame:
    rows = select(table, quantity, split=split, index=0)
    return rows.set_index(["epoch", "seed"])["value"].unstack("seed")  # noqa: PD010 - a value each, nan ones kept


class DataAndNetwork(NamedTuple):
    """What trainings are of."""

    data: str
    network: str


def data_and_network(table: Table) -> DataAndNetwork:
    """Return the data set and the network family of a table's trainings."""
    return DataAndNetwork(str(table["data"].iloc[0]), settings_of(table)["network"])


def on_five_data_sets(trainings: Sequence[Table]) -> list[Table]:
    """Return the trainings on the paper's five data sets."""
    return [table for table in trainings if data_and_network(table).data in FIVE_DATA_SETS]


def epochs_errors_end(table: Table, train_error: float) -> pd.Series:
    """Return for each seed the first measured epoch at which train errors have ended; nan if there is none.

    They have ended where no more than a share `train_error` of the train images is misclassified.
    """
    # Shares are sums of 1 / n over images: the last digits are rounding's. 1e-9 is chosen: far above rounding, 2e-16,
    # and far below what one image changes
    have_ended = by_seed(table, ERROR) <= train_error * (1 + 1e-9)
    first_epochs = have_ended.idxmax()  # the first row that is true, and the first of all where none is
    return first_epochs.where(have_ended.any()).astype(float)


def last_epoch_at_full_rate(table: Table) -> int:
    """Return the last epoch at the full learning rate; without drops that is the last of all."""
    return epochs_at_full_rate(settings_of(table))


def latest_early_epochs(values: pd.DataFrame, table: Table, train_error: float) -> pd.Series:
    """Return for each seed the latest epoch of `values` that counts as early.

    It is the last one that is neither after the end of train errors nor after the learning rate first drops; in a
    training without drops the last of the first tenth takes the drop's place. It is the first epoch where none is as
    early. What persists into training beyond zero train error, from an early epoch on, has begun before.
    """
    latest, epochs = last_epoch_at_full_rate(table), settings_of(table)["epochs"]
    if latest == epochs:
        latest = round(0.1 * epochs)  # chosen: the first tenth
    limits = epochs_errors_end(table, train_error).fillna(np.inf).clip(upper=latest)
    recorded = values.index
    return limits.map(lambda limit: recorded[recorded <= limit].max() if recorded[0] <= limit else recorded[0])


def values_at_errors_end(values: pd.DataFrame, table: Table, train_error: float) -> pd.Series:
    """Return values, epochs by seeds, where train errors have ended: a number for each seed, nan if they never do.

    A seed's number is in the first row of `values` at or after the end of its train errors. Where this row is nan for
    the seed, so is the number: no later row is read.
    """
    first_values = pd.Series(np.nan, index=values.columns)
    for seed, epoch in epochs_errors_end(table, train_error).items():
        later_epochs = values.index[values.index >= epoch]
        if len(later_epochs):
            first_values[seed] = values.loc[later_epochs[0], seed]
    return first_values


def after_errors_end(values: pd.DataFrame, table: Table, train_error: float, *, until: float = np.inf) -> pd.DataFrame:
    """Return a quantity, epochs by seeds, from the end of train errors on, up to an epoch; nan elsewhere."""
    epochs = values.index.to_numpy()[:, None]  # shape (epochs, 1)
    starts = epochs_errors_end(table, train_error).to_numpy()  # shape (seeds,)
    return values.where((epochs >= starts) & (epochs <= until))


def loss_term(table: Table, term: Quantity, decay: Decay, *, without_decay: bool = False) -> pd.DataFrame:
    """Return a term of the loss under a weight decay, epochs by seeds, with or without what decay adds to it."""
    values = by_seed(table, with_decay(term, decay))
    if without_decay and term in DECAY_PART:
        return values - by_seed(table, with_decay(DECAY_PART[term], decay))
    return values


def deviation_share(table: Table, decay: Decay = "trained", *, without_decay: bool = False) -> pd.DataFrame:
    """Return L_LS^perp over L_LS = L_NC1 + L_NC2/3 (Theorem 2), epochs by seeds, with or without what decay adds."""
    deviation, nc1, nc23 = (
        loss_term(table, term, decay, without_decay=without_decay) for term in (LOSS_LS_PERP, LOSS_NC1, LOSS_NC23)
    )
    return deviation / (nc1 + nc23)


def over_trainings(trainings: Sequence[Table], read: Callable[[Table], pd.Series | np.ndarray]) -> np.ndarray:
    """Return what `read` makes of each table, a number for each seed, one table after the other: (trainings,)."""
    return np.concatenate([np.asarray(read(table), dtype=float) for table in trainings])


def at_first_epoch(trainings: Sequence[Table], quantity: Quantity, split: str = "train") -> np.ndarray:
    """Return a quantity at the first epoch at which it was measured, shape (trainings,)."""
    return over_trainings(trainings, lambda table: by_seed(table, quantity, split).iloc[0])


def at_errors_end(
    trainings: Sequence[Table], quantity: Quantity, split: str = "train", *, train_error: float
) -> np.ndarray:
    """Return a quantity where train errors have ended, shape (trainings,); nan for trainings in which they never do.

    A quantity that is not recorded at every epoch is read at the first one, from the end of a seed's train errors on,
    at which it was recorded for this seed.
    """

    def read(table: Table) -> pd.Series:
        starts = epochs_errors_end(table, train_error)
        rows = select(table, quantity, split=split, index=0).sort_values("epoch")
        later_rows = rows[rows["epoch"] >= rows["seed"].map(starts)]
        return later_rows.drop_duplicates("seed").set_index("seed")["value"].reindex(starts.index)

    return over_trainings(trainings, read)


def growth_since_errors_end(
    trainings: Sequence[Table], quantity: Quantity, split: str = "train", *, train_error: float
) -> np.ndarray:
    """Return a quantity at its last epoch minus its value where train errors have ended, shape (trainings,).

    It is nan for trainings in which the quantity was measured at fewer than two epochs since then.
    """

    def read(table: Table) -> pd.Series:
        starts = epochs_errors_end(table, train_error)
        rows = select(table, quantity, split=split, index=0).sort_values("epoch")
        later_rows = rows[rows["epoch"] >= rows["seed"].map(starts)]
        values_by_seed = later_rows.groupby("seed")["value"]
        growth = {seed: values.iloc[-1] - values.iloc[0] for seed, values in values_by_seed if len(values) > 1}
        return pd.Series(growth, dtype=float).reindex(starts.index)

    return over_trainings(trainings, read)


def at_the_end(trainings: Sequence[Table], quantity: Quantity, split: str = "train") -> np.ndarray:
    """Return a quantity at the last epoch, shape (trainings,)."""
    return over_trainings(trainings, lambda table: by_seed(table, quantity, split).iloc[-1])


def at_the_drop(trainings: Sequence[Table], quantity: Quantity, split: str = "train") -> np.ndarray:
    """Return a quantity at the last recorded epoch at the full learning rate, shape (trainings,)."""

    def read(table: Table) -> pd.Series:
        values = by_seed(table, quantity, split)
        return values[values.index <= last_epoch_at_full_rate(table)].iloc[-1]

    return over_trainings(trainings, read)


def paired(mse: Sequence[Table], ce: Sequence[Table]) -> tuple[list[Table], list[Table]]:
    """Return tables of the same network on the same data under both losses, in the same order.

    Seeds pair by their position in the tables, and must be the same under both losses.

    Raises
    ------
    Untested
        If a training of one kind has none of the other.
    ProjectError
        If a role holds trainings under the other loss.
    """
    for role, tables in {"mse": mse, "ce": ce}.items():
        for table in tables:
            if settings_of(table)["loss"] != role:
                raise ProjectError(f"role `{role}` holds a training whose loss is {settings_of(table)['loss']}")
    partners = {data_and_network(table): table for table in ce}
    if not partners or set(partners) != {data_and_network(table) for table in mse}:
        raise Untested("needs the same networks trained under both losses; name such runs in the configuration")
    return list(mse), [partners[data_and_network(table)] for table in mse]


def premise_errors_end(
    trainings: Sequence[Table], excluded: Mapping[str, int] | None = None, *, train_error: float
) -> Check:
    """Check the premise of what is said of training beyond zero train error: every training comes to it.

    `excluded` has the number of trainings that were left out, by the reason.
    """
    return premise(
        every_draw(
            "least share of train images misclassified at a recorded epoch",
            over_trainings(trainings, lambda table: by_seed(table, ERROR).min()),
            at_most=train_error * (1 + 1e-9),  # a slack for the rounding of shares, as in `epochs_errors_end`
            because="the statement is about training beyond zero train error, or what effectively is it",
            excluded=excluded,
        )
    )


def without_stl10_exceptions(trainings: Sequence[Table]) -> tuple[list[Table], dict[str, int]]:
    """Return all trainings but those of ResNet and DenseNet on STL10, which appendix A.7 names as exceptions.

    The second return value is for the parameter `excluded` of checks: how many trainings are left out, by the reason.

    Raises
    ------
    Untested
        If there are trainings, and all are exceptions.
    """
    exceptions = [table for table in trainings if data_and_network(table) in EXCEPTIONS]
    excluded = sum(table["seed"].nunique() for table in exceptions)
    included = [table for table in trainings if data_and_network(table) not in EXCEPTIONS]
    if exceptions and not included:
        raise Untested("all trainings are exceptions by appendix A.7: ResNet and DenseNet on STL10; give others")
    # the reason names the unit, as draws of a few checks are not trainings
    return included, {"trainings of ResNet and DenseNet on STL10, exceptions by appendix A.7": excluded}


def chance_level(trainings: Sequence[Table], quantity: Quantity) -> np.ndarray:
    """Return the value of a quantity of NC1 to NC3 for independent random vectors, shape (trainings,).

    These vectors are the class means and the classifiers or, for NC1, the features. There are C classes of N train
    images each. The vectors are Gaussian in P dimensions, the width of the last layer, and centred; classifiers are
    taken as centred, too. Values are to leading order in 1/P and, but for the spread of norms, in 1/C. They are derived
    here.
    """
    P, C, N = (at_the_end(trainings, quantity) for quantity in (FEATURES, CLASSES, EXAMPLES))
    # |h|^2 is chi-squared with P degrees of freedom, of the relative standard deviation sqrt(2 / P), so that |h| has
    # half of that, 1 / sqrt(2 P). The norms of C vectors less their mean have the correlation 1 / (C - 1)^2, and their
    # variance over classes is in the mean (1 - 1 / C)(1 - 1 / (C - 1)^2) = (C - 2) / (C - 1) of the variance of one.
    # It is in proportion to chi-squared with C - 1 degrees of freedom, whose root has a mean below its root mean square
    mean_over_root_mean_square = np.sqrt(2 / (C - 1)) * gamma(C / 2) / gamma((C - 1) / 2)
    spread_of_norms = mean_over_root_mean_square * np.sqrt((C - 2) / (C - 1)) / np.sqrt(2 * P)
    # the cosine between two directions is Gaussian of variance 1/P, and the mean of its absolute value is sqrt(2/pi) of
    # its standard deviation
    spread_of_cosines = 1 / np.sqrt(P)
    distance_of_cosines = np.sqrt(2 / np.pi) * spread_of_cosines
    levels = {
        # tr(pinv(Sigma_B) Sigma_W) / C with Sigma_W = I: means of N features vary in C - 1 directions, and along each
        # Sigma_B is about P / (C N)
        NC1: N * (C - 1) / P,
        EQUINORM_MEANS: spread_of_norms,
        EQUINORM_CLASSIFIERS: spread_of_norms,
        EQUIANGULAR_MEANS: spread_of_cosines,
        EQUIANGULAR_CLASSIFIERS: spread_of_cosines,
        MAXIMAL_ANGLE_MEANS: distance_of_cosines,
        MAXIMAL_ANGLE_CLASSIFIERS: distance_of_cosines,
        # exact in the mean, in every P: |a|^2 + |b|^2 of unit vectors whose inner product has the mean zero
        SELF_DUALITY: np.full(P.shape, 2.0),
    }
    return levels[quantity]
