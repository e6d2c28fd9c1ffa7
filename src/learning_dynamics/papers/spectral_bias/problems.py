"""The paper's regression problems: Gaussian data, with labels of a linear teacher; the paper leaves its size open."""

from learning_dynamics.datasets import regression
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays


def gaussian(*, samples: Count, inputs: Count, outputs: Count, teacher: Positive, seeds: Count, seed: Seed) -> Arrays:
    """Return Gaussian inputs with labels of a linear teacher whose entries have the standard deviation `teacher`.

    These are the data of `datasets.regression.gaussian`, with labels multiplied by `teacher`.

    Returns
    -------
    dict
        X, shape (seeds, samples, inputs); Y, shape (seeds, samples, outputs). A seed is a draw of the data.
    """
    data = regression.gaussian(samples=samples, inputs=inputs, outputs=outputs, seeds=seeds, seed=seed)
    return data | {"Y": teacher * data["Y"]}
