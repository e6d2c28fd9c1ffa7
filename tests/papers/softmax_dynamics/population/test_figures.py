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


def test_a_diagram_has_a_cell_for_each_scale_and_dimension():
    drawn = figures.many_classes_diagram([laws(), laws()], threshold=0.05)
    panels = [axis for axis in drawn.figure.axes if axis.images]
    assert len(panels) == 6
    for panel, share in zip(panels, [0.0, 0.25, 0.75] * 2, strict=True):
        # by dimension and scale
        expected = [[share, float(share > 0)]] * 2
        assert panel.images[0].get_array().tolist() == expected
        assert [text.get_text().split("\n")[0] for text in panel.texts] == [
            f"{100 * one:.0f}" for row in expected for one in row
        ]
    # a cell of more than half stands out: an edge between its neighbours
    assert len(panels[1].lines) == 2
    assert not panels[0].lines
    assert not panels[2].lines
    assert drawn.facts["examples"] == 0.0


@pytest.mark.parametrize(("scale", "expected"), [(0.01, [0.0, 0.25, 0.75]), (0.1, [0.0, 1.0, 1.0])])
def test_curves_are_of_one_scale(scale, expected):
    drawn = figures.many_classes([laws()], scale=scale, threshold=0.05)
    shares, depths = drawn.figure.axes[:2]
    curves = {entry.get_label(): entry.lines[0] for entry in shares.containers}
    names = ["equal sizes", "sizes as $1/k$", "sizes as $1/k^2$"]
    for name, share in zip(names, expected, strict=True):
        assert curves[f"{name}, over classes"].get_ydata().tolist() == [share, share]
        assert curves[f"{name}, over classes"].get_xdata().tolist() == [0.5, 0.75]
        assert curves[f"{name}, over examples"].get_ydata().tolist() == [0.0, 0.0]
    deepest = max(max(entry.lines[0].get_ydata()) for entry in depths.containers)
    assert deepest == pytest.approx(0.2)
