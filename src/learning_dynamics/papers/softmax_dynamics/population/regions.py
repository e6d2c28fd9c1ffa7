"""Regions: how far the effective rank falls from small starts.

A region is the table of a run of `population.class_flows`: flows with few rows of features for a large class, from each
combination of class sizes, dimensions and scale. A grid, of `phases.flow_grid`, has a row of features an example.
"""

import pandas as pd

from learning_dynamics.papers.softmax_dynamics.draws import fall_rows
from learning_dynamics.papers.softmax_dynamics.spectra import Population
from learning_dynamics.tidy import Quantity, Table

REGION = (
    "four classes, sizes in powers of a ratio up to 512 : 64 : 8 : 1, cross-entropy, gradient flow, Gaussian starts"
)


def small_starts(
    region: Table, population: Population, within: Quantity, *, threshold: float, small_scale: float
) -> pd.DataFrame:
    """Return the rows of `draws.fall_rows` of starts up to `small_scale`, a row for each draw.

    It is for tables of regions, as `draws.SmallStarts` is for those of grids. `within` is the quantity of the fall in a
    window of learning, such as `falls.FALL_RARE`, or whether there are three phases, such as `falls.PHASES`.
    """
    rows = fall_rows(region, within, population, threshold)
    return rows[rows["scale"] <= small_scale]
