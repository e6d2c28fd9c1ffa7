"""Features in the plane of three class means: their collapse, and the fibres that they lie on."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Polygon

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.neural_collapse.collapse.figures import recipe
from learning_dynamics.papers.neural_collapse.portrait import theory
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, plain_number, shared_legend
from learning_dynamics.tidy import Quantity, Table

CLASS_COLOURS = (COLOURS["blue"], COLOURS["orange"], COLOURS["green"])
INSET = 0.42  # side of the inset, of its panel's
MARGIN = 1.15  # half a side of a picture, in units of the furthest point in it
SPREADS = (np.array([[1.6, 0.9], [0.9, 0.8]]), np.array([[0.7, -0.45], [-0.45, 1.3]]))


def fig1(training: Table) -> Plot:
    """Portrait of neural collapse: features, class means and classifiers in the plane of three class means.

    One training under MSE, seed 0. Columns: its first, a middle and its last recorded epoch. (a) to (c) Small dots are
    last-layer features of {examples} train images of each of the classes 0, 1 and 2. Large dots are their class means,
    arrows the classifiers. The triangle is the simplex that means and classifiers approach. Everything is centred and
    projected onto the plane that the three means span. Means and features are in units of the mean norm of the means,
    classifiers in units of their own mean norm. (d) to (f) How the same features deviate from their class means, on one
    scale for all epochs. The cross marks no deviation. The inset enlarges (f) {zoom:.0f} times. The paper's Figure 1,
    taken over from Papyan, Han and Donoho (2020), shows the same two views. {recipe}
    """
    portraits = _read_portraits(training)
    figure, axes = plt.subplots(2, len(portraits), figsize=(WIDTH, 5.0), sharex="row", sharey="row", squeeze=False)
    for (above, below), (epoch, (means, classifiers, features)) in zip(axes.T, portraits.items(), strict=True):
        deviations = features - means[:, None]
        _portrait_panel(above, means, classifiers, features)
        _deviation_panel(below, deviations)
        above.set_title(f"epoch {epoch}")
    # from here on, deviations and features are those of the last epoch
    reach = np.abs(axes[1, 0].get_xlim()).max()
    half_width = 1.1 * np.abs(deviations).max()
    inset = axes[1, -1].inset_axes((0.56, 0.56, INSET, INSET))
    _deviation_panel(inset, deviations)
    inset.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), xticks=[], yticks=[], aspect="equal")
    axes[0, 0].set_ylabel("features, means, classifiers")
    axes[1, 0].set_ylabel("deviations from means")
    for axis in axes.ravel():
        axis.set(aspect="equal", xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
    letters(axes.flat)
    shared_legend(figure, ncols=6, markerscale=1.6)
    spread = np.sqrt(np.mean(deviations**2))
    alt = (
        "Three clouds of features shrink onto the corners of a triangle; at the end they spread by {spread:.1g} of it."
    )
    facts = {"zoom": INSET * reach / half_width, "spread": spread, "examples": features.shape[1]}
    return Plot(figure, {**facts, "recipe": recipe([training])}, alt)


def fig13(training: Table) -> Plot:
    r"""The fibre bundle: features $AX$ on one fibre have the same predictions and the same loss as their representative
    $X$.

    Columns: an early, a middle and the last recorded epoch of one training. (d) The base space: representatives $X$,
    whose within-class covariance is the identity. Arrows: training moves along it. Above each is its fibre: (c) the
    features $H = \Sigma_W^{1/2}X$ that the network has, and (a), (b) $AX$ for two other symmetric positive-definite
    $A$. Dots: the features of `fig1`, in the plane of three class means. Shaded: the classes that the least-squares
    classifier of each picture decides for. Below each picture is its square loss. On one fibre it is the same to
    rounding (relative difference {difference:.0e}). Each fibre has its own. The base space is drawn on one scale, in
    units of the standard deviation within classes; the black bar is ten of them. Every other picture has a scale of its
    own. The paper's Figure 13 describes the same bundle. {recipe}
    """
    portraits = _read_portraits(training)
    figure, axes = plt.subplots(4, len(portraits), figsize=(WIDTH, 8.0), squeeze=False)
    names = ("(a) $A_2X$", "(b) $A_1X$", r"(c) $H = \Sigma_W^{1/2} X$", "(d) base space: $X$")
    roots, representatives = [], []
    for _, _, features in portraits.values():
        features = features - features.mean(axis=(0, 1))
        roots.append(theory.within_class_root(features))
        representatives.append(features @ np.linalg.inv(roots[-1]))
    base = MARGIN * np.abs(representatives).max()
    differences = []
    for (*fibre, below), epoch, root, representative in zip(axes.T, portraits, roots, representatives, strict=True):
        losses = [
            _fibre_panel(axis, representative @ transform)
            for axis, transform in zip(fibre, (SPREADS[1], SPREADS[0], root), strict=True)
        ]
        losses.append(_fibre_panel(below, representative, half=base))
        differences.append(np.ptp(losses) / losses[0])
        fibre[0].set_title(f"fibre at epoch {epoch}")
        below.set_facecolor("#f4f4f4")
        below.plot([-0.9 * base, -0.9 * base + 10], [-0.9 * base] * 2, color=COLOURS["black"], lw=2.0)
    for axis, name in zip(axes[:, 0], names, strict=True):
        axis.set_ylabel(name)
    shared_legend(figure, ncols=4, markerscale=2)
    figure.canvas.draw()
    _draw_links(figure, axes)
    alt = (
        "Three columns of pictures of the same clouds, stretched differently; classes decided for are the same in each."
    )
    return Plot(figure, {"difference": max(differences), "recipe": recipe([training])}, alt)


def _draw_links(figure: plt.Figure, axes: np.ndarray) -> None:
    """Draw each fibre as a line upwards from its place in the base space, and training as arrows along that space."""
    inverse = figure.transFigure.inverted()
    boxes = np.array([[axis.get_window_extent().transformed(inverse).bounds for axis in row] for row in axes])
    for column in np.swapaxes(boxes, 0, 1):
        for (x, bottom, width, _), (_, y, _, height) in pairwise(column):
            middle = x + width / 2
            figure.add_artist(plt.Line2D([middle, middle], [y + height, bottom], color=COLOURS["grey"], lw=1.4))
    for left, right in pairwise(boxes[-1]):
        y = left[1] + left[3] / 2
        figure.add_artist(
            FancyArrowPatch(
                (left[0] + left[2] + 0.005, y),
                (right[0] - 0.005, y),
                arrowstyle="-|>",
                mutation_scale=14,
                color="black",
                transform=figure.transFigure,
            )
        )


def _coordinates(rows: pd.DataFrame, quantity: Quantity) -> np.ndarray:
    """Return coordinates, shape (classes, examples, 2)."""
    chosen = rows[(rows["quantity"] == quantity) & (rows["seed"] == 0)]
    wide = chosen.pivot_table(index=["label", "example"], columns="index", values="value")
    return wide.to_numpy().reshape(chosen["label"].nunique(), -1, 2)


def _read_portraits(training: Table) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rows = training[training["quantity"].str.startswith("portrait")]
    if rows.empty:
        raise ProjectError("a portrait shows three classes, and the training has two; name another training")
    return {epoch: _read_portrait(of_epoch) for epoch, of_epoch in rows.groupby("epoch")}


def _read_portrait(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    _scatter_classes(axis, features, alpha=0.45)
    for label, colour in enumerate(CLASS_COLOURS):
        axis.plot(*means[label], "o", ms=8, color=colour, mec="white", mew=0.9, zorder=4)
        # arrows above the dots, so that their heads are seen where classifiers meet means
        arrow = {"arrowstyle": "-|>", "color": COLOURS["black"], "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", classifiers[label], (0, 0), arrowprops=arrow | {"mutation_scale": 9}, zorder=6)
    axis.plot([], [], "o", ms=6, color=COLOURS["grey"], mec="white", label="class means")
    axis.plot([], [], color=COLOURS["black"], marker=">", markevery=[-1], ms=3, lw=1.1, label="classifiers")


def _deviation_panel(axis: Axes, deviations: np.ndarray) -> None:
    _scatter_classes(axis, deviations, alpha=0.5)
    axis.plot(0, 0, "+", color=COLOURS["black"], ms=7, zorder=4)


def _fibre_panel(axis: Axes, features: np.ndarray, half: float | None = None) -> float:
    """Draw features and what their least-squares classifier decides, up to half a side; return its loss."""
    weights, bias, loss = theory.least_squares_classifier(features)
    half = MARGIN * np.abs(features).max() if half is None else half
    x, y = np.meshgrid(np.linspace(-half, half, 201), np.linspace(-half, half, 201))
    decisions = np.argmax(np.stack([x, y], axis=-1) @ weights.T + bias, axis=-1)
    axis.contourf(x, y, decisions, levels=[-0.5, 0.5, 1.5, 2.5], colors=CLASS_COLOURS, alpha=0.15)
    _scatter_classes(axis, features, alpha=0.7)
    axis.set(aspect="equal", xticks=[], yticks=[])
    axis.set_xlabel(f"loss {plain_number(loss, digits=3)}", fontsize=8, labelpad=2, loc="left")
    return loss


def _scatter_classes(axis: Axes, features: np.ndarray, *, alpha: float) -> None:
    for label, colour in enumerate(CLASS_COLOURS):
        x, y = features[label].T
        axis.scatter(x, y, s=5, color=colour, alpha=alpha, linewidths=0, label=f"class {label}")
