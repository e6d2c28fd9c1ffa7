"""Errors of the identities: rates of singular values, the conserved difference, shared spectra."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.softmax_dynamics.flow_errors import FLOW_ERROR, at_each_time, difference_error
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, select, settings_of


def invariants(
    curves: Table, inputs: Table, balanced: Table, unbalanced: Table, descent: Table, *, simple: Positive
) -> Drawn:
    r"""What holds along every flow: rates of singular values, the conserved difference, shared spectra.

    Top left: error of $u_k^T \dot M v_k$ as the rate of a singular value, relative to the matrix's speed, against the
    relative gap of the spectrum (Lemma B.1); the line is the rounding of the differences along the flow, and left of
    the dotted line singular values do not count as simple. Top right: distance of linear features $X \Theta$ from
    free ones that start with them (eq. 12), for orthonormal inputs and for correlated ones; dashed, the free ones'
    error of integration at a tolerance {looser:g} times as large. Bottom left: change of $f^T f - W W^T$ along gradient
    descent with four learning rates (dark for the largest) and along the flow, from balanced and Gaussian starts.
    Bottom right: difference of squared singular values, and angle of singular vectors weighted by the gap, between the
    two factors (Theorem B.2); grey, from Gaussian starts. Dashed lines below: ten times the integrator's tolerance.
    Worst of all seeds.
    """
    figure, ((lemma, reduction), (drift, shared)) = plt.subplots(2, 2, figsize=(WIDTH, 5.0))
    for quantity, speed, table, colour, label in (
        ("lemma", "speed", curves, "orange", "curves"),
        ("lemma_w", "speed_w", balanced, "sky", "flow, $W$"),
        ("lemma_f", "speed_f", balanced, "blue", "flow, $f$"),
    ):
        rows = select(table, quantity)
        error = (rows["value"] - rows["predicted"]).abs().groupby([rows["seed"], rows["time"]]).max()
        gap = at_each_time(table, "gap")
        relative = (error / at_each_time(table, speed)).clip(lower=1e-17)
        lemma.plot(gap, relative, ".", ms=1.5, color=COLOURS[colour], label=label, rasterized=True)
    ends = np.geomspace(1e-5, 1.0, 50)
    lemma.plot(ends, difference_error(ends), color=COLOURS["black"], lw=0.9, ls=(0, (4, 2)))
    lemma.axvline(simple, color=COLOURS["grey"], lw=0.9, ls=":")
    lemma.set(xlabel="relative gap", ylabel=r"error of $\dot\sigma_k$", title="Lemma B.1", xlim=(1e-5, 1.5))
    lemma.set_ylim(1e-17, 1e-5)
    lemma.legend(loc="upper right", markerscale=4, handletextpad=0.0, fontsize=7.5)
    rates = sorted(descent["learning_rate"].unique(), reverse=True)
    for rate, dark in zip(rates, sequence(len(rates)), strict=True):
        _worst(drift, select(descent, "drift", learning_rate=rate), dark, rf"$\eta = {rate:g}$")
    _worst(drift, select(balanced, "drift"), COLOURS["vermilion"], "flow")
    _worst(drift, select(unbalanced, "drift"), COLOURS["purple"], "flow, Gaussian")
    tolerance = FLOW_ERROR * settings_of(balanced)["rtol"]
    for correlation, colour in zip(sorted(inputs["correlation"].unique()), ("blue", "orange"), strict=False):
        rows = select(inputs, "departure", correlation=correlation)
        label = "orthonormal" if correlation == 0 else f"correlated, {correlation:g}"
        _worst(reduction, rows, COLOURS[colour], label)
    looser = select(inputs, "looser", correlation=inputs["correlation"].min())
    _worst(reduction, looser, COLOURS["black"], "error, looser", ls=(0, (4, 2)))
    reduction.set(ylabel=r"$|X \Theta - f|$ / $|f|$", title="eq. 12", xlabel="time $t$", ylim=(1e-13, 1e1))
    reduction.legend(loc="center right", bbox_to_anchor=(1.0, 0.68))
    for axis in (drift, shared):
        axis.axhline(tolerance, color=COLOURS["black"], lw=0.9, ls=(0, (4, 2)))
        axis.set_xlabel("time $t$")
        axis.set_ylim(1e-17, 3e2)
    drift.set(ylabel=r"change of $f^T f - W W^T$", title="conservation")
    drift.legend(loc="upper left", fontsize=7.5, ncols=2, labelspacing=0.1, handlelength=1.2, columnspacing=0.8)
    for table, colours in ((balanced, ("blue", "orange")), (unbalanced, ("grey", "grey"))):
        for quantity, colour, label in zip(("spectra", "directions"), colours, (r"$\sigma^2$", "angle"), strict=True):
            name = label if table is balanced else None
            style = "-" if quantity == "spectra" else (0, (4, 2))
            _worst(shared, select(table, quantity), COLOURS[colour], name, ls=style)
    shared.set(ylabel=r"difference of $f$ and $W$", title="Theorem B.2")
    shared.legend(loc="upper right", handlelength=1.4)
    for axis in (lemma, reduction, drift, shared):
        axis.set_xscale("log")
        axis.set_yscale("log")
    alt = "Errors of the identities against gaps of the spectrum and over time, beside the error of the method."
    return Drawn(figure, {"looser": settings_of(inputs)["looser"]}, alt)


def _worst(axis: Axes, rows: Table, colour: object, label: str | None, **line: Any) -> None:
    worst = rows[rows["time"] > 0].groupby("time")["value"].max().clip(lower=1e-17)
    axis.plot(worst.index, worst, color=colour, label=label, lw=1.3, **line)
