"""Figures look the same whatever the user's machine has cached."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import font_manager

from learning_dynamics.plotting import style

# fonts that matplotlib brings along: Computer Modern, in which the style sets formulae, and STIX, which fills its gaps
MATHEMATICS = ("cmmi10", "cmr10", "cmsy10", "cmex10", "STIXGeneral")


def pixels():
    with style():
        figure = plt.figure(figsize=(2, 1))
        figure.text(0.1, 0.3, r"$\sigma_1(W) = 10^{-3} \times \gamma$")
        figure.canvas.draw()
        drawn = np.asarray(figure.canvas.buffer_rgba()).copy()
        plt.close(figure)
    return drawn


def test_an_incomplete_cache_changes_no_pixel(monkeypatch):
    before, manager = pixels(), font_manager.fontManager
    kept = [font for font in manager.ttflist if font.name not in MATHEMATICS]
    monkeypatch.setattr(manager, "ttflist", kept)
    manager._findfont_cached.cache_clear()  # it remembers where fonts were found
    with pytest.raises(ValueError, match="cmmi10"):
        font_manager.findfont("cmmi10", fallback_to_default=False)
    # the package's name `style` is the function, so that the module is had by its path
    module = sys.modules["learning_dynamics.plotting.style"]
    with monkeypatch.context() as patched:
        patched.setattr(module, "_know_bundled_fonts", lambda: None)
        assert (pixels() != before).any()
    manager._findfont_cached.cache_clear()
    after = pixels()
    manager._findfont_cached.cache_clear()  # for the tests that follow
    np.testing.assert_array_equal(after, before)
