"""Errors of the appendix's identities: rates of singular values, the conserved f^T f - W W^T, shared spectra.

f are the features and W is the classifier. `simple_gap` is the smallest gap of a spectrum, relative to its largest
singular value, at which singular values count as simple. The gap is the smallest distance between neighbours among the
singular values and zero.
"""

from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.softmax_dynamics.flow_errors import (
    at_each_time,
    difference_error,
    flow_error,
    truncation_error,
)
from learning_dynamics.papers.softmax_dynamics.invariants import quantities
from learning_dynamics.papers.softmax_dynamics.panels import DASHED, EXPECTED
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, sequence
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table, select, settings_of


def invariants(
    curves: Table, inputs: Table, balanced: Table, unbalanced: Table, descent: Table, *, simple_gap: Positive
) -> Plot:
    r"""What holds along every flow: rates of singular values, the conserved difference, shared spectra.

    The appendix's identities are tested along gradient flow, gradient descent and random curves of matrices. Each point
    is one seed at one time, with the largest error of its singular values. Lines are the largest error of all seeds.

    (a) shows the error of $u_k^T \dot M v_k$ as the rate of a singular value $\sigma_k$ (Lemma B.1), relative to the
    speed of the matrix $M$. The horizontal axis is the gap of the spectrum, along the flow relative to the largest
    singular value. Dashed lines bound the error of finite differences: truncation along the curves (orange), rounding
    along the flow (black). Left of the dotted line singular values of the flow are too close to each other, or to zero,
    to count as simple. (b) shows the distance of linear features $X \Theta$ from free features with the same start; eq.
    12 needs orthonormal inputs. The dashed line is the integration error of the free ones at a tolerance {looser:g}
    times as large. (c) shows the relative change of $f^T f - W W^T$ along gradient descent with {rates} learning rates
    $\eta$, (d) along the flow from balanced and Gaussian starts. (e) shows, from balanced starts, the two factors'
    difference of squared singular values, and the angle of their singular vectors, weighted by the gap (Theorem B.2).
    In (d) and (e) black dashed lines are ten times the integrator's tolerance. (f) shows the same as (e) from Gaussian
    starts, whose conserved difference is not zero: the theorem leaves them out.
    """
    figure, ((lemma_axis, reduction_axis, descent_axis), (flow_axis, balanced_axis, gaussian_axis)) = plt.subplots(
        2, 3, figsize=(WIDTH, 5.0)
    )
    _lemma(lemma_axis, curves, balanced, simple_gap)
    _reduction(reduction_axis, inputs)
    rates = sorted(descent["learning_rate"].unique(), reverse=True)
    for rate, colour in zip(rates, sequence(len(rates)), strict=True):
        _worst(descent_axis, select(descent, quantities.DRIFT, learning_rate=rate), colour, rf"$\eta = {rate:g}$")
    descent_axis.set(title="conservation, descent", ylabel=r"change of $f^T f - W W^T$")
    descent_axis.margins(y=0.3)
    descent_axis.legend(loc="upper center", ncols=2, handlelength=1.0, columnspacing=0.8, fontsize=7.5)
    for table, name, label in ((balanced, "vermilion", "balanced"), (unbalanced, "purple", "Gaussian")):
        _worst(flow_axis, select(table, quantities.DRIFT), COLOURS[name], label)
    flow_axis.set(title="conservation, flow", ylabel=r"change of $f^T f - W W^T$")
    for axis, table, title in (
        (balanced_axis, balanced, "Theorem B.2"),
        (gaussian_axis, unbalanced, "Gaussian starts"),
    ):
        _worst(axis, select(table, quantities.SPECTRUM_DIFFERENCE), COLOURS["blue"], r"$\sigma^2$")
        _worst(axis, select(table, quantities.DIRECTION_DIFFERENCE), COLOURS["orange"], "angle", ls=DASHED)
        axis.set(title=title, ylabel=r"difference of $f$ and $W$")
        axis.legend(loc="upper right", bbox_to_anchor=(1.0, 0.95), handlelength=1.4, fontsize=8)
    for axis in (flow_axis, balanced_axis):
        axis.axhline(flow_error([balanced]), **EXPECTED)
    flow_axis.legend(loc="upper right", bbox_to_anchor=(1.0, 0.95), handlelength=1.4, fontsize=8)
    lemma_axis.set(xscale="log", yscale="log")
    for axis in (reduction_axis, descent_axis, flow_axis, balanced_axis, gaussian_axis):
        axis.set(xscale="log", yscale="log", xlabel="time $t$")
    letters((lemma_axis, reduction_axis, descent_axis, flow_axis, balanced_axis, gaussian_axis))
    alt = "Errors of the identities against gaps of the spectrum and over time, beside the error of the method."
    return Plot(figure, {"looser": settings_of(inputs)["looser"], "rates": len(rates)}, alt)


def _lemma(axis: Axes, curves: Table, flow: Table, simple_gap: float) -> None:
    """Draw errors of the rates that Lemma B.1 predicts against the gap of the spectrum, and the errors of differences.

    The gap of `flow` is relative to the largest singular value, that of `curves` is not.
    """

    def draw(quantity: Quantity, speed: Quantity, table: Table, colour: str, label: str) -> None:
        """Draw a point for each seed and time: the largest error of a rate, over the matrix's speed."""
        rows = select(table, quantity)
        error = (rows["value"] - rows["predicted"]).abs().groupby([rows["seed"], rows["time"]]).max()
        relative = (error / at_each_time(table, speed)).clip(lower=1e-17)  # the axis is logarithmic
        axis.plot(
            at_each_time(table, quantities.GAP),
            relative,
            ".",
            ms=1.5,
            color=COLOURS[colour],
            label=label,
            rasterized=True,
        )

    draw(quantities.CURVE_LEMMA, quantities.CURVE_SPEED, curves, "orange", "curves")
    draw(quantities.CLASSIFIER.lemma, quantities.CLASSIFIER.speed, flow, "sky", "flow, $W$")
    draw(quantities.FEATURES.lemma, quantities.FEATURES.speed, flow, "blue", "flow, $f$")
    gaps = np.geomspace(0.2 * simple_gap, 1.0, 50)
    axis.plot(gaps, difference_error(gaps), **EXPECTED)
    axis.axhline(truncation_error(simple_gap), color=COLOURS["orange"], lw=0.9, ls=DASHED)
    axis.axvline(simple_gap, color=COLOURS["grey"], lw=0.9, ls=":")
    axis.set(
        xlabel="gap of singular values",
        ylabel=r"error of $\dot\sigma_k$ / $|\dot M|$",
        title="Lemma B.1",
        xlim=(0.2 * simple_gap, 2.0),
    )
    # below the dashed line of truncation errors
    axis.legend(loc="upper right", bbox_to_anchor=(1.0, 0.93), markerscale=4, handletextpad=0.0, fontsize=7.5)


def _reduction(axis: Axes, inputs: Table) -> None:
    """Draw the distance of linear features X Theta from free ones f with the same start, relative to |f|.

    There is a line for each correlation of inputs, and one for the free flow integrated at looser tolerances.
    """
    for correlation, colour in zip(sorted(inputs["correlation"].unique()), cycle(("blue", "orange"))):
        label = "orthonormal" if correlation == 0 else f"correlated, {correlation:g}"
        _worst(axis, select(inputs, quantities.DEPARTURE, correlation=correlation), COLOURS[colour], label)
    looser = select(inputs, quantities.LOOSER, correlation=inputs["correlation"].min())
    _worst(axis, looser, COLOURS["black"], "error, looser", ls=DASHED)
    axis.set(ylabel=r"$|X \Theta - f|$ / $|f|$", title="eq. 12")
    axis.legend(loc="center right", bbox_to_anchor=(1.0, 0.68), fontsize=8, handlelength=1.4)


def _worst(axis: Axes, rows: Table, colour: object, label: str | None, **line: Any) -> None:
    """Draw the largest value over seeds at each time after zero; both axes are logarithmic."""
    worst = rows[rows["time"] > 0].groupby("time")["value"].max().clip(lower=1e-17)
    axis.plot(worst.index, worst, color=colour, label=label, lw=1.3, **line)
