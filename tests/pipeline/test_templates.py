"""Prose with fields: filled from what was measured, mathematics left alone."""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.report.templates import fields, fill


def test_fields_are_filled():
    for text, facts, filled in (
        ("{value:.2g} of {draws}", {"value": 0.1234, "draws": 20}, "0.12 of 20"),
        (r"$\frac{a}{b}$ is {x:.1f}", {"x": 1.0}, r"$\frac{a}{b}$ is 1.0"),
        ("{claim.value:.3g}", {"claim.value": 2.0}, "2"),
        ("{x:.1e}", {"x": 3.2e-9}, r"$3.2 \cdot 10^{-9}$"),
        ("{x:.2g}", {"x": float("nan")}, "–"),
        ("{x:.2g}", {"x": np.float64(0.5)}, "0.5"),
        ("{x:.2g}", {"x": None}, "–"),
        (r"{{literal}}: $x_{value}$, ${other}$", {"value": 1.0}, r"{literal}: $x_{value}$, ${other}$"),
    ):
        assert fill(text, facts) == filled


def test_a_field_that_cannot_be_filled_is_one_line():
    for text, message in (
        ("{valeu}", "`{valeu}` that nothing fills; did you mean `value`"),
        ("{value.real}", "`{value.real}` that nothing fills"),
        ("{value:q}", "cannot be filled"),
        ("{value!r}", "cannot be filled"),
        ("$d = {value}$", "`{value}` within mathematics, where nothing is filled"),
        (r"$\lambda_{2} = {value:.2f}$", "`{value}` within mathematics"),
    ):
        with pytest.raises(ProjectError) as refused:
            fill(text, {"value": 1.0})
        assert message in str(refused.value)
        assert "\n" not in str(refused.value)
        with pytest.raises(ProjectError, match=r"^figures\.py: `spectra`: the text "):
            fill(text, {"value": 1.0}, "figures.py: `spectra`")
    # nothing is called or reached into
    with pytest.raises(ProjectError):
        fill("{value.__class__}", {"value": 1.0})
    with pytest.raises(ProjectError):
        fill("{value[0]}", {"value": [1.0]})

    assert fields(r"{a:.2g} and $x_{b}$ and {c.d}") == {"a", "c.d"}
