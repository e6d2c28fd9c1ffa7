"""Table 1: test accuracy at zero train error and at the end of training, the paper's numbers beside ours."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from learning_dynamics.papers.neural_collapse.training.quantities import ERROR
from learning_dynamics.papers.neural_collapse.trainings import (
    EFFECTIVELY_ZERO,
    at_errors_end,
    at_the_end,
    data_and_network,
)
from learning_dynamics.tidy import Table, settings_of

# The paper's Table 1, under MSE: test accuracy in percent at the first epoch without a train error, and at the end. Our
# first accuracy is at the first measured epoch with a train accuracy of 99.9 % or more.
PAPER_TABLE_1 = {
    ("mnist", "vgg"): (99.23, 99.59),
    ("mnist", "resnet"): (99.16, 99.70),
    ("mnist", "densenet"): (99.62, 99.70),
    ("fashion_mnist", "vgg"): (92.76, 92.95),
    ("fashion_mnist", "resnet"): (93.55, 93.76),
    ("fashion_mnist", "densenet"): (90.56, 92.95),
    ("svhn", "vgg"): (89.35, 93.91),
    ("svhn", "resnet"): (85.18, 92.65),
    ("svhn", "densenet"): (95.61, 95.23),
    ("cifar10", "vgg"): (83.13, 84.54),
    ("cifar10", "resnet"): (75.43, 76.39),
    ("cifar10", "densenet"): (91.77, 91.78),
    ("stl10", "vgg"): (60.43, 67.24),
    ("stl10", "resnet"): (59.35, 60.56),
    ("stl10", "densenet"): (58.74, 60.41),
}


def accuracies(tables: Sequence[Table]) -> pd.DataFrame:
    """Return one row for each table, which has the trainings of one data set, network and loss.

    Returns
    -------
    DataFrame
        Test accuracies in percent, means over seeds; nan where there are none. Columns:

        data, network, loss
            The data set; the network family; mse or ce.
        seeds
            Number of trainings that reached 99.9 % train accuracy. The columns below are of these trainings, except the
            paper's, and except ``end`` and ``end_se`` where no training reached it.
        zero_error
            Accuracy at the first measured epoch with a train accuracy of 99.9 % or more.
        end
            Accuracy at the last epoch; of all trainings where none reached 99.9 % train accuracy.
        change
            ``end`` less ``zero_error``, in percentage points.
        zero_error_se, end_se, change_se
            Standard errors over seeds.
        change_median
            Median of the change over seeds.
        paper_zero_error, paper_end
            The paper's test accuracies under MSE, on its data sets.
    """
    rows = []
    not_published = (np.nan, np.nan)
    for table in tables:
        (data, network), loss = data_and_network(table), settings_of(table)["loss"]
        # shape (trainings,); nan where a training does not reach 99.9 % train accuracy
        at_zero_error = 100 * (1 - at_errors_end([table], ERROR, "test", train_error=EFFECTIVELY_ZERO))
        end = 100 * (1 - at_the_end([table], ERROR, "test"))
        reached = np.isfinite(at_zero_error)
        row = {"data": data, "network": network, "loss": loss, "seeds": int(reached.sum())}
        change = (end - at_zero_error)[reached]
        if reached.any():
            end = end[reached]
        averaged = {"zero_error": at_zero_error[reached], "end": end, "change": change}
        for name, values in averaged.items():
            row[name] = values.mean() if len(values) else np.nan
            row[f"{name}_se"] = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        row["change_median"] = float(np.median(change)) if len(change) else np.nan
        published = PAPER_TABLE_1.get((data, network), not_published) if loss == "mse" else not_published
        row["paper_zero_error"], row["paper_end"] = published
        rows.append(row)
    return pd.DataFrame(rows)
