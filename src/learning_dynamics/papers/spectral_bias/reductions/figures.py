"""The network, and the smaller systems that should be equivalent to it.

In tables of `reductions` a seed is the number of a member, a pair of a scale and a draw.
"""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from learning_dynamics.papers.spectral_bias.panels import curve, line_handle, marks_handle, power, seed_at
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA, SIGMA_W1
from learning_dynamics.papers.spectral_bias.reductions import quantities
from learning_dynamics.plotting import WIDTH, Plot, legend_below, letters, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Quantity, Table, select


def mirror(vector: Table, scalar: Table, *, member: Natural) -> Plot:
    r"""The network (lines) and the smaller systems that describe it, each integrated by itself (dots).

    Colours go from the first singular value or entry (dark) to the last (light). (a) Dots show the singular values of
    the smaller layer $Z_1$ (Lemma 3.1), lines those of $W_1$. Most stay on one line near zero. (b) Dots show the
    singular values of the Riccati equation's solution (Lemma 3.3), lines those of $\alpha$. (c) Lines show mirror
    coordinates $\frac{1}{2}\sinh^{-1}(\sigma/\gamma)$ of the singular values $\sigma$ of $\beta$. Dots show the
    integral of the force $-\partial L/\partial\sigma$. Dashes show the gradient of the potential as printed in Theorem
    3.2 (a), which does not follow that integral (errata 1). (d) With one output, lines show the entries of $\beta$, and
    dots those of the mirror flow (Theorem 3.2 (b)).
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.8))
    (W1_axis, alpha_axis), (mirror_axis, beta_axis) = axes
    large, small = vector["gamma"].max(), vector["gamma"].min()
    scales = sorted(scalar["gamma"].unique())
    middle = scales[(len(scales) - 1) // 2]  # the smaller of the middle two where their number is even
    several = f"{select(vector, SIGMA_BETA)['index'].max()} outputs"
    for axis, table, quantity, label, title, gamma in (
        (W1_axis, vector, SIGMA_W1, r"$\sigma_i(W_1)$", several, small),
        (alpha_axis, vector, quantities.SIGMA_ALPHA, r"$\sigma_i(\alpha)$", several, small),
        (mirror_axis, vector, quantities.MIRROR_COORDINATE, r"mirror coordinate of $\sigma_i(\beta)$", several, large),
        (beta_axis, scalar, quantities.BETA, r"entries of $\beta$", "one output", middle),
    ):
        _draw_comparison(axis, table, quantity, seed_at(table, gamma, member))
        axis.set(xscale="log", xlabel="time $t$", ylabel=label, title=rf"{title}, $\gamma = {power(gamma)}$")
    printed = select(vector, quantities.PRINTED_MIRROR_COORDINATE, seed=seed_at(vector, large, member))
    for (_, rows), colour in zip(printed.groupby("index"), sequence(printed["index"].nunique()), strict=True):
        curve(mirror_axis, rows, colour, "--", lw=1.0)
    letters(axes.flat)
    first, last = sequence(2)
    handles = [
        line_handle("network"),
        marks_handle("smaller system"),
        line_handle("potential as printed", "black", "--", 1.0),
        line_handle("first value or entry", first, width=1.6),
        line_handle("last", last, width=1.6),
    ]
    legend_below(figure, handles)
    return Plot(figure, alt="Panels in which dots are on lines; in the third, dashed curves part from them.")


def _draw_comparison(axis: Axes, table: Table, quantity: Quantity, seed: int) -> None:
    """Draw a quantity's entries as lines, and every few of its predictions as dots."""
    rows = select(table, quantity, seed=seed)
    for (_, entry), colour in zip(rows.groupby("index"), sequence(rows["index"].nunique()), strict=True):
        curve(axis, entry, colour, lw=1.2)
        curve(axis, entry[:: max(1, len(entry) // 25)], colour, ".", "predicted", ms=4)
