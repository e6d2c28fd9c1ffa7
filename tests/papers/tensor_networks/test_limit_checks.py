"""Draws at their last time: at rest, or still on their way."""

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks.limit_checks import in_passage
from learning_dynamics.tidy import Draws


def test_a_draw_whose_residual_still_changes_late_is_in_passage():
    sigma = np.linspace(0.0, 400.0, 41)
    courses = [np.exp(-sigma / 50), np.exp((sigma - 400) / 50), np.full(41, 1e-9)]
    tables = [
        pd.DataFrame({"quantity": "residual", "sigma": sigma, "value": course, "direction": direction})
        for direction, course in enumerate(courses)
    ]
    table = pd.concat(tables)
    table.attrs["draw"] = ("direction",)
    assert in_passage(Draws(table), "residual").tolist() == [True, True, False]
