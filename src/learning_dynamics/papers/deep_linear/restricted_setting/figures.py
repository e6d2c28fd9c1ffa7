"""Commuting measurements: the approach to the least nuclear norm, and Schatten quasi-norms around it."""

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.deep_linear import quantities as shared_quantities
from learning_dynamics.papers.deep_linear.drawing import DEPTH_COLOURS, depth_handles, median_with_draws
from learning_dynamics.papers.deep_linear.restricted_setting import quantities
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters
from learning_dynamics.tidy import Table, select, settings_of


def restricted_setting(ends: Table) -> Plot:
    r"""Commuting measurements: networks of any depth approach the least nuclear norm, not a least Schatten quasi-norm.

    (a) Lines are medians over {draws} draws (dots) of the excess of the nuclear norm at the end of gradient flow,
    relative to the least one. The product of the layers starts at a multiple of the identity, the horizontal axis. (b)
    The matrix at the end from the smallest start is moved along a direction that no measurement sees. Lines are the
    relative change of $\sum_r \sigma_r^p$ over its singular values, against $p$ (medians). At $p = 1$ (dotted) the sum
    is the nuclear norm. Lines of deeper networks are thinner, as lines of depths that end near one matrix coincide.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.9))
    norms = select(ends, shared_quantities.NUCLEAR_NORM)
    relative_excess = (norms["value"] / norms["predicted"] - 1).abs()
    excess = norms.assign(value=relative_excess.clip(lower=1e-12))  # the axis is logarithmic
    changes = select(ends, quantities.SCHATTEN_CHANGE, scale=ends["scale"].min())
    powers = settings_of(ends)["powers"]
    depths = sorted(ends["depth"].unique())
    widths = [1.5 + 2.5 * deeper for deeper in reversed(range(len(depths)))]  # of lines that coincide
    for depth, width in zip(depths, widths, strict=True):
        colour = DEPTH_COLOURS[depth]
        median_with_draws(left, select(excess, depth=depth), "scale", colour)
        by_index = select(changes, depth=depth).groupby("index")["value"].median()  # the index counts powers from one
        right.plot(powers, by_index.reindex(np.arange(1, len(powers) + 1)), ".-", color=colour, lw=width, ms=6)
    left.set(
        xscale="log",
        yscale="log",
        xlabel="start: multiple of the identity",
        ylabel="excess over the least nuclear norm",
    )
    right.axhline(0, color=COLOURS["grey"], lw=0.8)
    right.axvline(1, color=COLOURS["grey"], lw=0.8, ls=":")
    right.set(xlabel="power $p$", ylabel=r"relative change of $\Sigma_r\,\sigma_r^p$")
    left.set_title("nuclear norm")
    right.set_title("Schatten quasi-norms")
    letters((left, right))
    left.legend(handles=depth_handles(depths))
    alt = "Left: nuclear norm approaches its least value with the scale. Right: changes negative below p = 1."
    return Plot(figure, facts={"draws": ends["seed"].nunique()}, alt=alt)
