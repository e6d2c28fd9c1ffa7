"""Features in the plane of three class means: their collapse, and the fibres that they lie on."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from learning_dynamics.papers.neural_collapse import theory
from learning_dynamics.papers.neural_collapse.panels import shared_legend
from learning_dynamics.plotting import COLOURS, WIDTH
from learning_dynamics.tables import Tables

CLASS_COLOURS = (COLOURS["blue"], COLOURS["orange"], COLOURS["green"])


def fig1(tables: Tables) -> Figure:
    """Portrait of neural collapse: features, class means and classifiers in the plane of three class means.

    From one training under MSE, seed 0, at its first, a middle and its last recorded epoch. Above: small dots are
    last-layer features of 40 train images of each of the classes 0, 1 and 2, large dots their class means,
    arrows the classifiers, the triangle the simplex that means and classifiers approach; everything is
    centred and projected onto the plane that the three means span, means and features in units of the mean
    norm of the means, classifiers in units of their own. Below: how the same features deviate from their
    class means, on the same scale.
    """
    (table,) = tables.values()
    rows = table[table["quantity"].str.startswith("portrait")]
    epochs = sorted(rows["epoch"].unique())
    figure, axes = plt.subplots(2, len(epochs), figsize=(WIDTH, 4.9), sharex="row", sharey="row", squeeze=False)
    for column, epoch in enumerate(epochs):
        means, classifiers, features = _portrait(rows[rows["epoch"] == epoch])
        _portrait_panel(axes[0, column], means, classifiers, features)
        _deviation_panel(axes[1, column], means, features)
        axes[0, column].set_title(f"epoch {epoch}")
    axes[0, 0].set_ylabel("features, means, classifiers")
    axes[1, 0].set_ylabel("deviations from means")
    for axis in axes.ravel():
        axis.set_aspect("equal")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
    shared_legend(figure, columns=5, markerscale=2)
    return figure


def fig13(tables: Tables) -> Figure:
    """Features on one fibre, A X for symmetric positive-definite A, have the same predictions and the same loss.

    From real features: those of figure 1 in the plane of three class means, at an early, a middle and the last recorded
    epoch; each column is a fibre. Top: its representative X, whose within-class covariance is the identity.
    Middle: the features H = Σ_W^½ X that the network has, and below them A X for another A. Shaded: the classes that
    the least-squares classifier of each picture decides for; the number is its square loss, equal down each
    column to rounding. Training moves from fibre to fibre: the loss differs between columns.
    """
    (table,) = tables.values()
    rows = table[table["quantity"].str.startswith("portrait")]
    epochs = sorted(rows["epoch"].unique())
    figure, axes = plt.subplots(3, len(epochs), figsize=(WIDTH, 6.4), squeeze=False)
    names = ("$X$, renormalised", r"$H = \Sigma_W^{1/2} X$", "$A X$, another $A$")
    shear = np.array([[1.6, 0.9], [0.9, 0.8]])
    for column, epoch in enumerate(epochs):
        features = _portrait(rows[rows["epoch"] == epoch])[2]
        features = features - features.mean(axis=(0, 1))
        root = theory.within_class_root(features)
        representative = features @ np.linalg.inv(root)
        for row, transform in enumerate((np.eye(2), root, shear)):
            _fibre_panel(axes[row, column], representative @ transform)
        axes[0, column].set_title(f"epoch {epoch}")
    for row, name in enumerate(names):
        axes[row, 0].set_ylabel(name)
    shared_legend(figure, markerscale=2)
    return figure


def _coordinates(rows: pd.DataFrame, quantity: str) -> np.ndarray:
    """Return coordinates, shape (classes, examples, 2)."""
    chosen = rows[(rows["quantity"] == quantity) & (rows["seed"] == 0)]
    wide = chosen.pivot_table(index=["label", "example"], columns="index", values="value")
    return wide.to_numpy().reshape(chosen["label"].nunique(), -1, 2)


def _portrait(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means, classifiers, shape (3, 2), and features, shape (3, examples, 2), in units of their norms."""
    means = _coordinates(rows, "portrait_mean")[:, 0]
    classifiers = _coordinates(rows, "portrait_classifier")[:, 0]
    unit = np.linalg.norm(means, axis=1).mean()
    return (
        means / unit,
        classifiers / np.linalg.norm(classifiers, axis=1).mean(),
        _coordinates(rows, "portrait_feature") / unit,
    )


def _portrait_panel(axis: Axes, means: np.ndarray, classifiers: np.ndarray, features: np.ndarray) -> None:
    simplex = theory.simplex_in_the_plane(means)
    axis.add_patch(Polygon(simplex, closed=True, fill=False, ec=COLOURS["grey"], lw=1.0, label="simplex"))
    _scatter_classes(axis, features, alpha=0.5)
    for label, colour in enumerate(CLASS_COLOURS):
        axis.scatter(means[label, 0], means[label, 1], s=45, color=colour, edgecolors="white", linewidths=0.8, zorder=4)
        arrow = {"arrowstyle": "-|>", "color": COLOURS["black"], "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", classifiers[label], (0, 0), arrowprops=arrow, zorder=3)
    axis.plot([], [], color=COLOURS["black"], marker=">", markevery=[-1], ms=4, lw=1.2, label="classifiers")


def _deviation_panel(axis: Axes, means: np.ndarray, features: np.ndarray) -> None:
    for label, colour in enumerate(CLASS_COLOURS):
        x, y = (features[label] - means[label]).T
        axis.scatter(x, y, s=5, color=colour, alpha=0.5, linewidths=0)
    axis.plot(0, 0, "+", color=COLOURS["black"], ms=7, zorder=4)


def _fibre_panel(axis: Axes, features: np.ndarray) -> None:
    weights, bias, loss = theory.least_squares_classifier(features)
    half = 1.15 * np.abs(features).max()
    x, y = np.meshgrid(np.linspace(-half, half, 201), np.linspace(-half, half, 201))
    decided = np.argmax(np.stack([x, y], axis=-1) @ weights.T + bias, axis=-1)
    axis.contourf(x, y, decided, levels=[-0.5, 0.5, 1.5, 2.5], colors=CLASS_COLOURS, alpha=0.15)
    _scatter_classes(axis, features, alpha=0.7)
    axis.text(0.03, 0.03, f"loss {loss:.6f}", transform=axis.transAxes, fontsize=8)
    axis.set_aspect("equal")
    axis.set_xticks([])
    axis.set_yticks([])


def _scatter_classes(axis: Axes, features: np.ndarray, *, alpha: float) -> None:
    for label, colour in enumerate(CLASS_COLOURS):
        x, y = features[label].T
        axis.scatter(x, y, s=5, color=colour, alpha=alpha, linewidths=0, label=f"class {label}")
