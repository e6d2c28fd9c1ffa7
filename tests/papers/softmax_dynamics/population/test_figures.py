"""The figures of many classes, read off their artists: cells, edges, curves and medians."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.softmax_dynamics.population import figures

LAWS = ("4-4-4-4", "7-4-2-2", "64-16-7-4")  # sizes of four classes: equal, as 1/k and as 1/k^2, rounded
SHARES = (0.0, 0.25, 0.75)  # of draws that fall, by law
SEEDS = 8  # draws of a cell: a law's sizes at one scale and in one dimension


def draws_by_law(shares: tuple[float, ...] = SHARES) -> pd.DataFrame:
    """Return draws of all laws, at two scales and in two and three dimensions.

    Of each law a share of the draws has a rank over classes that ends 0.2 below its peak; over examples no rank does.
    At scale 0.1 in two dimensions all draws of a law fall, if its share is not zero.
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
def close_figures():
    yield
    plt.close("all")


OTHER_SHARES = (0.0, 0.5, 0.875)  # half of the draws are not most


@pytest.fixture
def panels():
    """Return the panels of a diagram of two tables, one for each law: those of the first table, then of the second."""
    diagram = figures.many_classes_diagram([draws_by_law(), draws_by_law(OTHER_SHARES)], threshold=0.05)
    panels = [axis for axis in diagram.figure.axes if axis.images]
    assert len(panels) == 2 * len(LAWS)
    return panels


every_panel = pytest.mark.parametrize(("place", "share"), list(enumerate(SHARES + OTHER_SHARES)))


@every_panel
def test_a_panel_has_a_cell_for_each_dimension_and_scale(panels, place, share):
    of_two_dimensions, of_three = [share, float(share > 0)], [share, share]  # by scale
    assert panels[place].images[0].get_array().tolist() == [of_two_dimensions, of_three]


@every_panel
def test_each_cell_is_labelled_by_its_share_in_per_cent(panels, place, share):
    texts = panels[place].texts
    # by scale, in two dimensions and then in three
    assert [text.get_position() for text in texts] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    first_lines = [text.get_text().split("\n")[0] for text in texts]  # the interval is on a second line
    assert first_lines == [f"{100 * value:.0f}" for value in (share, float(share > 0), share, share)]


@pytest.mark.parametrize("table", [0, 1], ids=["first table", "second table"])
def test_edges_separate_cells_of_more_than_half_from_the_others(panels, table):
    """More than half fall in none of the first law's four cells, in one of the second's, in all of the third's."""
    of_none, of_one, of_all = (
        [line.get_xydata().tolist() for line in panel.lines] for panel in panels[3 * table : 3 * table + 3]
    )
    # that cell is at d = 2 and scale 0.1, around the point (1, 0)
    on_its_left = [[0.5, -0.5], [0.5, 0.5]]
    between_dimensions = [[0.5, 0.5], [1.5, 0.5]]
    assert of_one == [on_its_left, between_dimensions]
    assert of_none == of_all == []


def test_the_largest_share_of_a_cell_that_falls_over_examples_is_a_fact():
    table = draws_by_law()
    # the end of one draw of a cell, 0.2 below its peak
    one_draw = table.eval(
        "counts == @LAWS[0] and scale == 0.1 and dimension == 2 and seed == 0"
        " and population == 'examples' and quantity == 'end'"
    )
    table.loc[one_draw, "value"] = 1.8
    drawn = figures.many_classes_diagram([table, draws_by_law()], threshold=0.05)
    assert drawn.facts["largest_share_over_examples"] == 1 / SEEDS  # one draw of a cell


NAMES = ("equal sizes", "sizes as $1/k$", "sizes as $1/k^2$")  # of the laws
# shares by law in two dimensions, which depend on the scale; those in three are `SHARES`
each_scale = pytest.mark.parametrize(("scale", "in_two"), [(0.01, SHARES), (0.1, (0.0, 1.0, 1.0))])


@each_scale
def test_curves_are_shares_at_one_scale_by_dimensions_over_classes(scale, in_two):
    drawn = figures.many_classes([draws_by_law()], scale=scale, threshold=0.05)
    panel_of_shares, _ = drawn.figure.axes[:2]
    curves = {entry.get_label(): entry.lines[0] for entry in panel_of_shares.containers}
    for name, share_in_two, share_in_three in zip(NAMES, in_two, SHARES, strict=True):
        assert curves[f"{name}, over classes"].get_ydata().tolist() == [share_in_two, share_in_three], name
        assert curves[f"{name}, over classes"].get_xdata().tolist() == [2 / 4, 3 / 4], name  # d / V
        assert curves[f"{name}, over examples"].get_ydata().tolist() == [0.0, 0.0], name


@each_scale
def test_medians_of_the_depth_are_those_of_all_draws(scale, in_two):
    drawn = figures.many_classes([draws_by_law()], scale=scale, threshold=0.05)
    _, panel_of_depths = drawn.figure.axes[:2]
    medians = [entry.lines[0].get_ydata().tolist() for entry in panel_of_depths.containers]
    expected = []
    for share_in_two, share_in_three in zip(in_two, SHARES, strict=True):
        # 0.2 where most draws fall
        over_classes = [0.2 if share > 0.5 else 0.0 for share in (share_in_two, share_in_three)]
        expected += [over_classes, [0.0, 0.0]]  # over examples nothing falls
    np.testing.assert_allclose(medians, expected)
