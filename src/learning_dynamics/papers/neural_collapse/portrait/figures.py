"""Features in the plane of three class means: their collapse, and the fibres that they lie on."""

from dataclasses import dataclass
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Polygon
from matplotlib.transforms import Bbox

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.neural_collapse.collapse.figures import recipe
from learning_dynamics.papers.neural_collapse.panels import title_of
from learning_dynamics.papers.neural_collapse.portrait import theory
from learning_dynamics.papers.neural_collapse.trainings import data_and_network
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, plain_number, shared_legend
from learning_dynamics.tidy import Quantity, Table

SEED = 0  # the seed whose features are drawn, the only one that has portraits
CLASS_COLOURS = (COLOURS["blue"], COLOURS["orange"], COLOURS["green"])
INSET = 0.42  # side of the inset, as a share of the panel's shorter side
MARGIN = 1.15  # half a side of a picture of fig13, over the largest coordinate in it
INSET_MARGIN = 1.1  # the same of the insets of fig1 and fig13
SMALL = 0.25  # chosen: features that fill less of a picture of fig13, in width and height, are enlarged in an inset
# the matrices A of fig13: symmetric, positive definite
A_1 = np.array([[1.6, 0.9], [0.9, 0.8]])
A_2 = np.array([[0.7, -0.45], [-0.45, 1.3]])


@dataclass(frozen=True)
class Portrait:
    """What fig1 draws of one epoch: coordinates in the plane of three class means."""

    means: np.ndarray  # shape (3, 2), in units of their mean norm
    classifiers: np.ndarray  # shape (3, 2), in units of their own mean norm
    features: np.ndarray  # shape (3, examples, 2), in the unit of `means`

    @property
    def deviations(self) -> np.ndarray:
        """Features less the means of their classes, shape (3, examples, 2)."""
        return self.features - self.means[:, None]


def fig1(training: Table) -> Plot:
    """Portrait of neural collapse: features, class means and classifiers in the plane of three class means.

    One training under MSE ({network}) is shown at its first, a middle and its last recorded epoch. (a) to (c) Dots are
    last-layer features of {examples} train images of each of the classes 0, 1 and 2. Rings are their class means, and
    arrows are the classifiers. The triangle is the simplex nearest to the class means. All are projected onto the plane
    of the three class means. The origin is the average of these means, whose distances from it average one. Classifiers
    are relative to their own average and their own mean norm. (d) to (f) show each feature minus its class mean, all
    three panels on one scale. The inset enlarges (f) {zoom:.0f} times. The paper's Figure 1, from Papyan, Han and
    Donoho (2020), shows the same two views. {recipe}
    """
    portraits = _read_portraits(training)
    figure, axes = plt.subplots(2, len(portraits), figsize=(WIDTH, 5.0), sharex="row", sharey="row", squeeze=False)
    for column, (epoch, portrait) in zip(axes.T, portraits.items(), strict=True):
        above, below = column
        _portrait_panel(above, portrait)
        _deviation_panel(below, portrait.deviations)
        for axis in column:
            axis.set_title(f"epoch {epoch}")
    last_portrait = portraits[max(portraits)]
    half_width = INSET_MARGIN * np.abs(last_portrait.deviations).max()
    inset = axes[1, -1].inset_axes((0.56, 0.56, INSET, INSET))
    _deviation_panel(inset, last_portrait.deviations)
    inset.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), xticks=[], yticks=[], aspect="equal")
    inset.spines[:].set_visible(True)  # a frame: two sides alone look like axes
    axes[0, 0].set_ylabel("features, means, classifiers")
    axes[1, 0].set_ylabel("deviations from means")
    for axis in axes.ravel():
        axis.set(aspect="equal", xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
    letters(axes.flat)
    shared_legend(figure, ncols=4, markerscale=1.6)
    # at equal aspect the inset is a square, on the shorter side of its panel
    shorter_side = min(np.ptp(axes[1, -1].get_xlim()), np.ptp(axes[1, -1].get_ylim()))
    spread = np.sqrt(np.mean(last_portrait.deviations**2))
    alt = (
        "Three clouds of features shrink onto the corners of a triangle; at the end they deviate by {spread:.1g} of "
        "the means' mean norm."
    )
    facts = {
        # scale of the inset, its side over what it shows, relative to that of its panel
        "zoom": INSET * shorter_side / (2 * half_width),
        "spread": spread,
        "examples": last_portrait.features.shape[1],
        "network": title_of(data_and_network(training)),
        "recipe": recipe([training], shown=SEED),
    }
    return Plot(figure, facts, alt)


def fig13(training: Table) -> Plot:
    r"""Multiplying features $X$ by an invertible matrix $A$ changes neither predictions nor loss: the fibre bundle.

    Columns are the epochs of `fig1`, and dots its features ({network}) in the plane of three class means. The
    pictures of a column, joined by the grey line, belong to one fibre. (a), (b) $A_2X$ and $A_1X$ for two symmetric
    positive-definite matrices. (c) The network's own features $H = \Sigma_W^{1/2} X$. (d) In the base space (darker) is
    the fibre's representative $X$, whose covariance within classes is the identity. Training moves along the arrows.
    Shades show the classes that each picture's least-squares classifier decides for. Its square loss, printed below the
    picture, is the same down a column (to a relative difference of {difference:.0e}) and differs between columns.
    Pictures in (d) have one scale; the black bar is ten standard deviations within classes. Insets and other pictures
    have scales of their own. The paper's Figure 13 describes the same bundle.
    """
    portraits = _read_portraits(training)
    figure, axes = plt.subplots(4, len(portraits), figsize=(WIDTH, 8.0), squeeze=False)
    names = ("(a) $A_2X$", "(b) $A_1X$", r"(c) $H = \Sigma_W^{1/2} X$", "(d) base space: $X$")
    # of each epoch: Sigma_W^(1/2), (2, 2), and the representatives X as rows, (3, examples, 2). As rows features are
    # X Sigma_W^(1/2), because the root is symmetric
    roots, representatives = [], []
    for portrait in portraits.values():
        features = portrait.features - portrait.features.mean(axis=(0, 1))
        root = theory.within_class_root(features)
        roots.append(root)
        representatives.append(features @ np.linalg.inv(root))
    base = MARGIN * np.abs(representatives).max()  # half a side of the base space's pictures
    differences = []
    for column, epoch, root, representative in zip(axes.T, portraits, roots, representatives, strict=True):
        below = column[3]
        losses = [
            _fibre_panel(column[0], representative @ A_2),
            _fibre_panel(column[1], representative @ A_1),
            _fibre_panel(column[2], representative @ root),
            _fibre_panel(below, representative, half_side=base),
        ]
        if np.abs(representative).max() < SMALL * base:
            _enlarge(below, representative)
        differences.append(np.ptp(losses) / losses[0])  # equal losses on a fibre, but for rounding
        column[0].set_title(f"fibre at epoch {epoch}")
        below.set_facecolor("#f4f4f4")
        # a bar of length ten: representatives have standard deviation one within classes
        below.plot([-0.9 * base, -0.9 * base + 10], [-0.9 * base] * 2, color=COLOURS["black"], lw=2.0)
    for axis, name in zip(axes[:, 0], names, strict=True):
        axis.set_ylabel(name)
    shared_legend(figure, ncols=4, markerscale=2)
    figure.canvas.draw()  # lays the panels out, as `_draw_links` needs
    _draw_links(figure, axes)
    alt = (
        "Three columns of pictures; each shows the same clouds stretched differently, and the same classes decided for."
    )
    facts = {
        "difference": max(differences),
        "network": title_of(data_and_network(training)),
        "recipe": recipe([training]),
    }
    return Plot(figure, facts, alt)


def _draw_links(figure: plt.Figure, axes: np.ndarray) -> None:
    """Draw each fibre as a line upwards from its place in the base space, and training as arrows along that space."""
    to_figure = figure.transFigure.inverted()

    def box_of(axis: Axes) -> Bbox:
        """Return where a panel is, in shares of the figure."""
        return axis.get_window_extent().transformed(to_figure)

    for column in axes.T:
        for above, below in pairwise(map(box_of, column)):
            middle = (above.x0 + above.x1) / 2
            figure.add_artist(plt.Line2D([middle, middle], [below.y1, above.y0], color=COLOURS["grey"], lw=1.4))
    for left, right in pairwise(map(box_of, axes[-1])):
        height = (left.y0 + left.y1) / 2
        figure.add_artist(
            FancyArrowPatch(
                (left.x1 + 0.005, height),
                (right.x0 - 0.005, height),
                arrowstyle="-|>",
                mutation_scale=14,
                color="black",
                transform=figure.transFigure,
            )
        )


def _coordinates(rows: pd.DataFrame, quantity: Quantity) -> np.ndarray:
    """Return the coordinates of a quantity in the plane, for `SEED`, shape (classes, examples, 2).

    Class means and classifiers are one example of their class.
    """
    chosen = rows[(rows["quantity"] == quantity) & (rows["seed"] == SEED)]
    # rows are sorted by class, then by example; columns are the coordinates 1 and 2
    wide = chosen.pivot_table(index=["label", "example"], columns="index", values="value")
    return wide.to_numpy().reshape(chosen["label"].nunique(), -1, 2)


def _read_portraits(training: Table) -> dict[int, Portrait]:
    """Return the portraits of a training's `SEED` by epoch, the first epoch first.

    Raises
    ------
    ProjectError
        If the training has none.
    """
    rows = training[training["quantity"].str.startswith("portrait")]
    if rows.empty:
        raise ProjectError("a portrait shows three classes, and the training has two; name another training")
    return {epoch: _read_portrait(of_epoch) for epoch, of_epoch in rows.groupby("epoch")}


def _read_portrait(rows: pd.DataFrame) -> Portrait:
    """Return the portrait that the rows of one epoch hold."""
    means = _coordinates(rows, "portrait_mean")[:, 0]
    classifiers = _coordinates(rows, "portrait_classifier")[:, 0]
    unit = np.linalg.norm(means, axis=1).mean()
    return Portrait(
        means=means / unit,
        classifiers=classifiers / np.linalg.norm(classifiers, axis=1).mean(),
        features=_coordinates(rows, "portrait_feature") / unit,
    )


def _portrait_panel(axis: Axes, portrait: Portrait) -> None:
    """Draw features, class means, classifiers as arrows, and the triangle that is nearest to the class means."""
    simplex = theory.simplex_in_the_plane(portrait.means)
    axis.add_patch(Polygon(simplex, closed=True, fill=False, ec=COLOURS["grey"], lw=1.0, label="simplex"))
    _scatter_classes(axis, portrait.features, alpha=0.45)
    for label, colour in enumerate(CLASS_COLOURS):
        # rings, so that features are seen where they gather at their mean
        axis.plot(*portrait.means[label], "o", ms=10, color=colour, mfc="none", mew=1.8, zorder=4)
        # arrows above the rings, so that their heads are seen where classifiers meet means
        arrow = {"arrowstyle": "-|>", "color": COLOURS["black"], "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", portrait.classifiers[label], (0, 0), arrowprops=arrow | {"mutation_scale": 9}, zorder=6)
    axis.plot([], [], "o", ms=6, color=COLOURS["grey"], mfc="none", mew=1.8, label="class means")
    axis.plot([], [], color=COLOURS["black"], marker=">", markevery=[-1], ms=3, lw=1.1, label="classifiers")


def _deviation_panel(axis: Axes, deviations: np.ndarray) -> None:
    """Draw deviations from class means, shape (3, examples, 2), and a cross where they are zero."""
    _scatter_classes(axis, deviations, alpha=0.5)
    axis.plot(0, 0, "+", color=COLOURS["black"], ms=7, zorder=4, label="no deviation")


def _fibre_panel(axis: Axes, features: np.ndarray, half_side: float | None = None) -> float:
    """Draw features and the decisions of their least-squares classifier in a square around 0; return its loss.

    `features` have shape (3, examples, 2). `half_side` is half the square's side, by default `MARGIN` times the largest
    coordinate.
    """
    loss = _draw_decisions(axis, features, MARGIN * np.abs(features).max() if half_side is None else half_side)
    axis.set_xlabel(f"loss {plain_number(loss, digits=3)}", fontsize=8, labelpad=2, loc="left")
    return loss


def _enlarge(axis: Axes, features: np.ndarray) -> None:
    """Draw features and decisions again in a corner of their panel, on the scale of these features."""
    inset = axis.inset_axes((0.98 - INSET, 0.98 - INSET, INSET, INSET))
    _draw_decisions(inset, features, INSET_MARGIN * np.abs(features).max())
    inset.spines[:].set_visible(True)


def _draw_decisions(axis: Axes, features: np.ndarray, half_side: float) -> float:
    """Draw features and the decisions of their least-squares classifier, and return its loss.

    `features` have shape (3, examples, 2), and `half_side` is half the side of the square around 0 that is drawn.
    """
    weights, bias, loss = theory.least_squares_classifier(features)
    coordinates = np.linspace(-half_side, half_side, 201)
    x, y = np.meshgrid(coordinates, coordinates)
    decisions = np.argmax(np.stack([x, y], axis=-1) @ weights.T + bias, axis=-1)
    axis.contourf(x, y, decisions, levels=[-0.5, 0.5, 1.5, 2.5], colors=CLASS_COLOURS, alpha=0.15)
    _scatter_classes(axis, features, alpha=0.7)
    axis.set(aspect="equal", xticks=[], yticks=[])
    return loss


def _scatter_classes(axis: Axes, features: np.ndarray, *, alpha: float) -> None:
    """Draw features, shape (3, examples, 2), as small dots in the colours of their classes."""
    for label, colour in enumerate(CLASS_COLOURS):
        x, y = features[label].T
        axis.scatter(x, y, s=5, color=colour, alpha=alpha, linewidths=0, label=f"class {label}")
