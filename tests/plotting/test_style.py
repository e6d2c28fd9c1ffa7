"""Figures look the same whichever fonts matplotlib's cache on the user's machine has lost."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import font_manager

from learning_dynamics.plotting import style

# fonts that matplotlib brings along: Computer Modern, in which the style sets formulae, and STIX, which fills its gaps
MATHEMATICS = ("cmmi10", "cmr10", "cmsy10", "cmex10", "STIXGeneral")


def pixels_of_a_formula():
    with style():
        figure = plt.figure(figsize=(2, 1))
        figure.text(0.1, 0.3, r"$\sigma_1(W) = 10^{-3} \times \gamma$")
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba()).copy()
        plt.close(figure)
    return pixels


@pytest.fixture
def expected():
    """The pixels of the formula with all fonts."""
    return pixels_of_a_formula()


@pytest.fixture
def cache_without_mathematics(expected, monkeypatch):
    """Let matplotlib not know the fonts of formulae; `expected` is drawn before."""
    manager = font_manager.fontManager
    known = [font for font in manager.ttflist if font.name not in MATHEMATICS]
    monkeypatch.setattr(manager, "ttflist", known)
    manager._findfont_cached.cache_clear()  # it remembers where fonts were found
    with pytest.raises(ValueError, match="cmmi10"):
        font_manager.findfont("cmmi10", fallback_to_default=False)
    yield
    manager._findfont_cached.cache_clear()  # for the tests that follow


def test_a_formula_has_the_same_pixels_where_the_cache_has_lost_its_fonts(expected, cache_without_mathematics):
    np.testing.assert_array_equal(pixels_of_a_formula(), expected)


def test_without_the_style_adding_the_fonts_the_pixels_would_differ(expected, cache_without_mathematics, monkeypatch):
    # the package's name `style` is the function, so that the module is found by its path
    module = sys.modules["learning_dynamics.plotting.style"]
    monkeypatch.setattr(module, "_know_bundled_fonts", lambda: None)
    assert (pixels_of_a_formula() != expected).any()
