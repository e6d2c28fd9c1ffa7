"""What the figures of many classes draw, read off their artists."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.softmax_dynamics.population import figures

LAWS = ("4-4-4-4", "7-4-2-2", "64-16-7-4")  # sizes of four classes: equal, as 1/k and as 1/k^2, rounded
SHARES = (0.0, 0.25, 0.75)  # of draws that fall, by law
SEEDS = 8  # draws of a cell


def draws_by_law(shares: tuple[float, ...] = SHARES) -> pd.DataFrame:
    """Return draws of all laws, at two scales and in two and three dimensions.

    A share of each law's has a rank over classes that ends 0.2 below its peak; over examples no rank does. At scale 0.1
    in two dimensions all draws of a law fall, if its share is not zero.
    """
    rows = []
    for (counts, share), scale, d, seed in itertools.product(
        zip(LAWS, shares, strict=True), (0.01, 0.1), (2, 3), range(SEEDS)
    ):
        fallen = 0.2 * (seed < SEEDS * share or (share > 0 and (scale, d) == (0.1, 2)))
        # peak and end take no threshold: their rows have 0
        cell = {"counts": counts, "scale": scale, "dimension": d, "seed": seed, "threshold": 0.0}
        for population, fall in (("classes", fallen), ("examples", 0.0)):
            rows += [
                {**cell, "population": population, "quantity": "peak", "value": 2.0},
                {**cell, "population": population, "quantity": "end", "value": 2.0 - fall},
            ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"seeds": SEEDS, "scales": [0.01, 0.1]}
    return table


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


OTHER_SHARES = (0.0, 0.5, 0.875)  # half of the draws are not most


@pytest.fixture
def diagram():
    return figures.many_classes_diagram([draws_by_law(), draws_by_law(OTHER_SHARES)], threshold=0.05)


@pytest.mark.parametrize(("place", "share"), list(enumerate(SHARES + OTHER_SHARES)))
def test_a_diagram_has_a_cell_for_each_scale_and_dimension(diagram, place, share):
    panels = [axis for axis in diagram.figure.axes if axis.images]
    assert len(panels) == 6
    by_dimension_and_scale = [[share, float(share > 0)], [share, share]]
    assert panels[place].images[0].get_array().tolist() == by_dimension_and_scale
    assert [text.get_position() for text in panels[place].texts] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    # the interval is on a second line
    assert [text.get_text().split("\n")[0] for text in panels[place].texts] == [
        f"{100 * value:.0f}" for row in by_dimension_and_scale for value in row
    ]


def test_edges_separate_cells_of_more_than_half_from_the_others(diagram):
    """More than half fall in none of the first law's four cells, in one of the second's, in all of the third's."""
    panels = [axis for axis in diagram.figure.axes if axis.images]
    edges = [[line.get_xydata().tolist() for line in panel.lines] for panel in panels]
    # that cell is at d = 2 and scale 0.1, below on the right: one edge is on its left, one above it
    assert edges == 2 * [[], [[[0.5, -0.5], [0.5, 0.5]], [[0.5, 0.5], [1.5, 0.5]]], []]


def test_a_diagram_says_how_many_fall_over_examples():
    table = draws_by_law()
    # one draw of a cell
    one = (table["counts"] == LAWS[0]) & (table["scale"] == 0.1) & (table["dimension"] == 2) & (table["seed"] == 0)
    table.loc[one & (table["population"] == "examples") & (table["quantity"] == "end"), "value"] = 1.8
    drawn = figures.many_classes_diagram([table, draws_by_law()], threshold=0.05)
    assert drawn.facts["examples"] == 1 / SEEDS


@pytest.mark.parametrize(("scale", "in_two"), [(0.01, SHARES), (0.1, (0.0, 1.0, 1.0))])
def test_curves_are_of_one_scale(scale, in_two):
    drawn = figures.many_classes([draws_by_law()], scale=scale, threshold=0.05)
    shares, depths = drawn.figure.axes[:2]
    curves = {entry.get_label(): entry.lines[0] for entry in shares.containers}
    names = ["equal sizes", "sizes as $1/k$", "sizes as $1/k^2$"]
    for name, *by_dimension in zip(names, in_two, SHARES, strict=True):
        assert curves[f"{name}, over classes"].get_ydata().tolist() == by_dimension, name
        assert curves[f"{name}, over classes"].get_xdata().tolist() == [2 / 4, 3 / 4], name  # d / V
        assert curves[f"{name}, over examples"].get_ydata().tolist() == [0.0, 0.0], name
    # medians, law by law, over classes and then over examples: 0.2 where most draws fall
    medians = [entry.lines[0].get_ydata().tolist() for entry in depths.containers]
    wanted = [0.2 * (np.array(by_dimension) > 0.5) for by_dimension in zip(in_two, SHARES, strict=True)]
    np.testing.assert_allclose(medians, [row for law in wanted for row in (law, [0.0, 0.0])])
