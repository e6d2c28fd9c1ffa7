"""The paper's regression problems: Gaussian data, with labels of a linear teacher whose size it leaves open."""

from learning_dynamics.datasets import regression
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Arrays


def gaussian(*, samples: Count, inputs: Count, outputs: Count, teacher: Positive, seeds: Count, seed: Seed) -> Arrays:
    """Gaussian inputs with labels of a teacher whose entries have the standard deviation `teacher`.

    Otherwise as `datasets.regression.gaussian`: the same inputs, and the same teacher but for its size.
    """
    data = regression.gaussian(samples=samples, inputs=inputs, outputs=outputs, seeds=seeds, seed=seed)
    return data | {"Y": teacher * data["Y"]}
