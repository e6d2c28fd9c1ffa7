"""What the diagrams of more classes draw, read off their artists."""

import itertools

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from learning_dynamics.papers.softmax_dynamics.population import figures

LAWS = {"4-4-4-4": 0.0, "7-4-2-2": 0.25, "64-16-7-4": 0.75}  # rounded


def laws(seeds: int = 8) -> pd.DataFrame:
    """Falls of 0.2 over classes in so many of the draws as the law says, at scale 0.1 in all; none over examples."""
    rows = []
    for (counts, share), scale, d, seed in itertools.product(LAWS.items(), (0.01, 0.1), (2, 3), range(seeds)):
        fallen = 0.2 * (seed < seeds * share or (share > 0 and scale == 0.1))
        cell = {"counts": counts, "scale": scale, "dimension": d, "seed": seed, "threshold": 0.0}
        for population, fall in (("classes", fallen), ("examples", 0.0)):
            rows += [
                {**cell, "population": population, "quantity": "peak", "value": 2.0},
                {**cell, "population": population, "quantity": "end", "value": 2.0 - fall},
            ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"seeds": seeds, "scales": [0.01, 0.1]}
    return table


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def diagram():
    return figures.many_classes_diagram([laws(), laws()], threshold=0.05)


@pytest.mark.parametrize(("place", "share"), list(enumerate([0.0, 0.25, 0.75] * 2)))
def test_a_diagram_has_a_cell_for_each_scale_and_dimension(diagram, place, share):
    panels = [axis for axis in diagram.figure.axes if axis.images]
    assert len(panels) == 6
    by_dimension_and_scale = [[share, float(share > 0)]] * 2
    assert panels[place].images[0].get_array().tolist() == by_dimension_and_scale
    assert [text.get_text().split("\n")[0] for text in panels[place].texts] == [
        f"{100 * value:.0f}" for row in by_dimension_and_scale for value in row
    ]


def test_cells_of_more_than_half_have_an_edge(diagram):
    """Of the three laws the second has such cells beside others."""
    panels = [axis for axis in diagram.figure.axes if axis.images]
    assert [len(panel.lines) for panel in panels[:3]] == [0, 2, 0]


def test_a_diagram_says_how_many_fall_over_examples(diagram):
    assert diagram.facts["examples"] == 0.0


@pytest.mark.parametrize(("scale", "expected"), [(0.01, [0.0, 0.25, 0.75]), (0.1, [0.0, 1.0, 1.0])])
def test_curves_are_of_one_scale(scale, expected):
    drawn = figures.many_classes([laws()], scale=scale, threshold=0.05)
    shares, depths = drawn.figure.axes[:2]
    curves = {entry.get_label(): entry.lines[0] for entry in shares.containers}
    names = ["equal sizes", "sizes as $1/k$", "sizes as $1/k^2$"]
    for name, share in zip(names, expected, strict=True):
        assert curves[f"{name}, over classes"].get_ydata().tolist() == [share, share], name
        assert curves[f"{name}, over classes"].get_xdata().tolist() == [0.5, 0.75], name
        assert curves[f"{name}, over examples"].get_ydata().tolist() == [0.0, 0.0], name
    deepest = max(max(entry.lines[0].get_ydata()) for entry in depths.containers)
    assert deepest == pytest.approx(0.2)
