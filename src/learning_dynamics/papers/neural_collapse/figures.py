"""What is drawn: figures from the metrics tables alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from learning_dynamics.papers.neural_collapse import theory
from learning_dynamics.papers.neural_collapse.accuracies import accuracies
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.plotting.training import Cell, curves, shared_legend
from learning_dynamics.settings import Natural

Tables = Mapping[str, pd.DataFrame]

# -- the central path (section 3, appendix D) --------------------------------------------------


def central_path(tables: Tables, *, size: Natural, member: Natural) -> Figure:
    """Renormalised gradient flow on the central path: two flows, and the closed form that each obeys.

    Top left: SNR singular values ω under Riemannian gradient flow (coloured), Proposition 2's closed form on top
    (black, dashed) and its asymptote (4t/N)^¼ (grey). Top middle: the same start under the tangent map that the
    paper prints (coloured), and the algorithm that it describes, gradient descent with renormalisation (circles);
    dashed is the solution of dω/dt = ω/(CN(C + ω²)), grey its asymptote (2t/(CN))^½, dotted what Proposition 2
    gives. Top right: measured dω/dt on fresh draws of several sizes, in units of the paper's formula: one for the
    orthogonal projection, 1 + ω²/C (line) for the printed map and for one step of the algorithm.

    Second row. Left: ω_max/ω_min − 1 falls as 1/t under both flows. Middle: the loss and its two parts, and Lemma 1
    from the singular values (dashed), under Riemannian gradient flow. Right: distance of SNR/ω_max from U₀V₀ᵀ (eq.
    10) and of the renormalised features from its copies (eq. 11), which falls as 1/ω; colours as on the left.

    If a last row is there, it shows the SNR singular values of the last-layer features of a network in
    training, on the epochs at which it was measured. A network is neither on the central path nor renormalised; no
    agreement with either closed form is claimed for it.
    """
    flows, descent = tables["central_path_flows"], tables["central_path_descent"]
    training = tables.get(TRAINING)
    height, rows = (4.9, 2) if training is None else (6.8, 3)
    figure = plt.figure(figsize=(WIDTH, height))
    grid = figure.add_gridspec(rows, 3)
    axes = [figure.add_subplot(grid[row, column]) for row in range(2) for column in range(3)]
    drawn, stepped = (_drawn_member(table, size, member) for table in (flows, descent))
    for axis, flow in zip(axes[:2], ("orthogonal", "printed"), strict=True):
        _omega_panel(axis, drawn[drawn["flow"] == flow], stepped if flow == "printed" else None)
    top = max(axis.get_ylim()[1] for axis in axes[:2])
    for axis in axes[:2]:
        axis.set_ylim(0.5 * drawn.loc[drawn["quantity"] == "omega", "value"].min(), top)
    _speed_panel(axes[2], tables["central_path_features"])
    _excess_panel(axes[3], drawn)
    _spectral_loss_panel(axes[4], drawn[drawn["flow"] == "orthogonal"])
    _limit_panel(axes[5], drawn)
    if training is not None:
        _training_spectrum_panel(figure.add_subplot(grid[2, :]), training)
    return figure


# the run, if it is there, whose SNR singular values over epochs are drawn below the flows
TRAINING = "digits_resnet_mse"
FLOWS = {"orthogonal": ("blue", "orthogonal projection"), "printed": ("vermilion", "printed map")}
DASHED: dict[str, Any] = {"color": COLOURS["black"], "ls": (0, (4, 2)), "lw": 1.0, "zorder": 4}


def _drawn_member(table: pd.DataFrame, size: int, member: int) -> pd.DataFrame:
    classes, examples, features = table.attrs["settings"]["sizes"][size]
    chosen = (table["classes"] == classes) & (table["examples"] == examples) & (table["features"] == features)
    return table[chosen & (table["seed"] == member)]


def _spectrum(table: pd.DataFrame) -> list[pd.DataFrame]:
    rows = table[(table["quantity"] == "omega") & (table["time"] > 0)]
    return [rows[rows["index"] == index] for index in sorted(rows["index"].unique())]


def _omega_panel(axis: Axes, flow: pd.DataFrame, descent: pd.DataFrame | None) -> None:
    """Draw one flow's singular values, its closed form and asymptote; and the discrete algorithm if given."""
    lines = _spectrum(flow)
    colours = sequence(len(lines))
    column = "predicted" if descent is None else "corrected"
    classes, examples = flow["classes"].iloc[0], flow["examples"].iloc[0]
    for line, colour in zip(lines, colours, strict=True):
        axis.plot(line["time"], line["value"], color=colour, lw=2.2)
        axis.plot(line["time"], line[column], **DASHED)
        if descent is not None:
            axis.plot(line["time"], line["predicted"], color=COLOURS["black"], ls=":", lw=0.9)
    time = lines[0]["time"].to_numpy()
    if descent is None:
        asymptote, label = theory.snr_asymptote(time, examples), r"$(4t/N)^{1/4}$"
        axis.set_title("orthogonal projection")
        sizes = f"$C = {classes}$, $N = {examples}$, $P = {flow['features'].iloc[0]}$"
        axis.text(0.97, 0.04, sizes, transform=axis.transAxes, ha="right", fontsize=8.5)
    else:
        asymptote, label = theory.algorithm_asymptote(time, classes, examples), r"$(2t/(CN))^{1/2}$"
        axis.set_title("printed map, algorithm")
        finest = descent[descent["step"] == descent["step"].min()]
        for line, colour in zip(_spectrum(finest), colours, strict=True):
            axis.plot(line["time"], line["value"], "o", ms=3.0, mfc="white", mec=colour, mew=0.8, markevery=3, zorder=5)
    axis.plot(time, asymptote, color=COLOURS["grey"], lw=0.9, zorder=1)
    axis.annotate(
        label, (time[-1], asymptote[-1]), xytext=(-4, -4), textcoords="offset points", ha="right", va="bottom",
        color=COLOURS["grey"], fontsize=8.5,
    )  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel="flow time $t$", ylabel=r"SNR singular values $\omega_j$")


def _speed_panel(axis: Axes, features: pd.DataFrame) -> None:
    """Draw measured speeds in units of the paper's formula against (C + omega^2) / C."""
    keys = ["classes", "examples", "features", "seed", "index"]
    omega = features[features["quantity"] == "omega"].set_index(keys)["value"]
    marks = {"orthogonal": ("o", "blue", 3.0), "printed": ("s", "vermilion", 3.4), "descent": ("x", "black", 2.6)}
    for flow, (mark, colour, width) in marks.items():
        rows = features[(features["quantity"] == "speed") & (features["flow"] == flow)].set_index(keys)
        ratio = rows["value"] / rows["predicted"]
        at = 1 + omega.loc[ratio.index] ** 2 / ratio.index.get_level_values("classes")
        label = FLOWS[flow][1] if flow in FLOWS else "algorithm, one step"
        axis.plot(at, ratio, mark, ms=width, color=COLOURS[colour], mfc="none", mew=0.6, label=label)
    ends = np.array([1.0, at.max()])
    axis.plot(ends, ends, **DASHED)
    axis.plot(ends, np.ones(2), **DASHED)
    axis.set(xlabel=r"$1 + \omega^2/C$", ylabel=r"measured $\dot\omega$ / Lemma 5", ylim=(0, 1.7 * at.max()))
    axis.set_title("speeds on fresh draws")
    axis.legend(loc="upper left", handletextpad=0.1, borderaxespad=0.1, labelspacing=0.25)


def _excess_panel(axis: Axes, drawn: pd.DataFrame) -> None:
    for width, (flow, (colour, label)) in zip((3.4, 1.2), FLOWS.items(), strict=True):
        rows = drawn[(drawn["quantity"] == "excess") & (drawn["flow"] == flow) & (drawn["time"] > 0)]
        axis.plot(rows["time"], rows["value"], color=COLOURS[colour], lw=width, label=label)
    time, value = rows["time"].to_numpy(), rows["value"].to_numpy()
    late = time > 1e-5 * time[-1]
    guide = 5 * value[-1] * time[-1] / time[late]
    axis.plot(time[late], guide, color=COLOURS["grey"], lw=0.9)
    axis.annotate(
        "$1/t$", (time[late][len(guide) // 2], guide[len(guide) // 2]), xytext=(3, 1), textcoords="offset points",
        ha="left", va="bottom", color=COLOURS["grey"],
    )  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel="flow time $t$", ylabel=r"$\omega_{\max}/\omega_{\min} - 1$")
    axis.set_ylim(top=2e3 * drawn.loc[drawn["quantity"] == "excess", "value"].max())
    axis.set_title("approach to equality")
    axis.legend(loc="upper right", borderaxespad=0.1, labelspacing=0.25)


def _spectral_loss_panel(axis: Axes, flow: pd.DataFrame) -> None:
    labels = {
        "loss": ("grey", r"$\mathcal{L}$"),
        "loss_nc1": ("green", r"$\mathcal{L}_{\mathrm{NC1}}$"),
        "loss_nc23": ("purple", r"$\mathcal{L}_{\mathrm{NC2/3}}$"),
    }
    for quantity, (colour, label) in labels.items():
        rows = flow[(flow["quantity"] == quantity) & (flow["time"] > 0)]
        width = 4.0 if quantity == "loss" else 2.0
        axis.plot(rows["time"], rows["value"], color=COLOURS[colour], label=label, lw=width)
        axis.plot(rows["time"], rows["predicted"], **DASHED)
    axis.set(xscale="log", yscale="log", xlabel="flow time $t$", ylabel="loss")
    axis.set_title("loss and Lemma 1")
    axis.legend(loc="lower left", borderaxespad=0.1)


def _limit_panel(axis: Axes, drawn: pd.DataFrame) -> None:
    kinds = {"snr_limit": ("-", "eq. 10"), "features_limit": ((0, (1, 1)), "eq. 11")}
    for width, (flow, (colour, _)) in zip((3.0, 1.2), FLOWS.items(), strict=True):
        for quantity, (dashes, _) in kinds.items():
            rows = drawn[(drawn["quantity"] == quantity) & (drawn["flow"] == flow) & (drawn["time"] > 0)]
            axis.plot(rows["time"], rows["value"], color=COLOURS[colour], ls=dashes, lw=width if dashes == "-" else 1.6)
    axis.set(xscale="log", yscale="log", xlabel="flow time $t$", ylabel="distance from the limit")
    axis.set_title("limit of the features")
    handles = [Line2D([], [], color=COLOURS["black"], ls=dashes, label=label) for dashes, label in kinds.values()]
    axis.legend(handles=handles, loc="lower left", borderaxespad=0.1)


def _training_spectrum_panel(axis: Axes, training: pd.DataFrame) -> None:
    """Draw the SNR singular values of a network's features over epochs, for the first seed."""
    rows = training[(training["quantity"] == "snr") & (training["seed"] == training["seed"].min())]
    indices = sorted(rows["index"].unique())
    for index, colour in zip(indices, sequence(len(indices)), strict=True):
        line = rows[rows["index"] == index].sort_values("epoch")
        axis.plot(line["epoch"], line["value"], "o-", color=colour, ms=2.5, lw=1.1)
    axis.set(xscale="symlog", yscale="log", xlabel="epoch", ylabel=r"SNR singular values $\omega_j$")
    axis.set_xlim(left=0)
    axis.set_title("a network in training (ResNet on digits, MSE)")


# -- training (section 2, appendices A and B) ---------------------------------------------------

CLASS_COLOURS = (COLOURS["blue"], COLOURS["orange"], COLOURS["green"])
Line = dict[str, Any]
MEANS: Line = {"label": "class means", "color": COLOURS["blue"]}
CLASSIFIERS: Line = {"label": "classifiers", "color": COLOURS["orange"]}
TRAIN: Line = {"label": "train", "color": COLOURS["blue"]}
PERTURBATION = r"mean of $\|r\|\,/\,\|x\|$"
TEST: Line = {"label": "test", "color": COLOURS["sky"], "ls": (0, (4, 2)), "split": "test"}


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
    for label, colour in enumerate(CLASS_COLOURS):
        axis.scatter(
            features[label][:, 0],
            features[label][:, 1],
            s=5,
            color=colour,
            alpha=0.5,
            linewidths=0,
            label=f"class {label}",
        )
        axis.scatter(means[label, 0], means[label, 1], s=45, color=colour, edgecolors="white", linewidths=0.8, zorder=4)
        arrow = {"arrowstyle": "-|>", "color": COLOURS["black"], "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", classifiers[label], (0, 0), arrowprops=arrow, zorder=3)
    axis.plot([], [], color=COLOURS["black"], marker=">", markevery=[-1], ms=4, lw=1.2, label="classifiers")


def _deviation_panel(axis: Axes, means: np.ndarray, features: np.ndarray) -> None:
    for label, colour in enumerate(CLASS_COLOURS):
        x, y = (features[label] - means[label]).T
        axis.scatter(x, y, s=5, color=colour, alpha=0.5, linewidths=0)
    axis.plot(0, 0, "+", color=COLOURS["black"], ms=7, zorder=4)


def fig2(tables: Tables) -> Figure:
    """The terms of the MSE loss, of which the deviation from the least-squares classifier becomes the smallest part.

    The loss, weight decay included, is L(NC1) + L(NC2/3) + L(LS⊥) to rounding: within-class variability,
    distance of class means and least-squares classifiers from the simplex, and what the actual classifier
    loses against the least-squares one. Lines: geometric mean over seeds; bands: their range; vertical: the
    first measured epoch without a train error, median over seeds. L(NC1) does not reach zero because weight
    decay keeps the network from the limit; L(LS⊥) drops with the learning rate.
    """
    terms = [
        {"quantity": "loss_nc1", "label": r"$\mathcal{L}_{\mathrm{NC1}}$", "color": COLOURS["blue"]},
        {"quantity": "loss_nc23", "label": r"$\mathcal{L}_{\mathrm{NC2/3}}$", "color": COLOURS["green"]},
        {"quantity": "loss_ls_perp", "label": r"$\mathcal{L}_{\mathrm{LS}}^{\perp}$", "color": COLOURS["purple"]},
    ]
    return curves(tables, terms, ylabel="term of the MSE loss")[0]


def fig3(tables: Tables) -> Figure:
    """Class means and classifiers approach equal norms, under MSE.

    Standard deviation over mean, over classes, of the norms of the centred class means and of the
    classifiers. Lines: geometric mean over seeds; bands: their range; vertical: zero train error.
    """
    return _means_and_classifiers(tables, "equinorm", "std / mean of norms")


def fig4(tables: Tables) -> Figure:
    """Class means and classifiers approach equal angles, under MSE.

    Standard deviation, over pairs of classes, of the cosines between centred class means and between
    classifiers. Lines: geometric mean over seeds; bands: their range; vertical: zero train error.
    """
    return _means_and_classifiers(tables, "equiangular", "std of cosines")


def fig5(tables: Tables) -> Figure:
    """Class means and classifiers approach the largest angles that C vectors can all have, under MSE.

    Mean over pairs of classes of |cos + 1/(C−1)|, for centred class means and for classifiers. Lines:
    geometric mean over seeds; bands: their range; vertical: zero train error.
    """
    return _means_and_classifiers(tables, "maximal_angle", r"mean $|\cos + 1/(C-1)|$")


def _means_and_classifiers(tables: Tables, quantity: str, ylabel: str) -> Figure:
    drawn = [{"quantity": f"{quantity}_means", **MEANS}, {"quantity": f"{quantity}_classifiers", **CLASSIFIERS}]
    return curves(tables, drawn, ylabel=ylabel)[0]


def fig6(tables: Tables) -> Figure:
    """Classifiers and class means approach each other up to scale, under MSE.

    ‖Wᵀ/‖W‖ − M/‖M‖‖² for classifiers W and centred class means M, in Frobenius norms. Lines: geometric mean over
    seeds; bands: their range; vertical: zero train error.
    """
    return curves(tables, [{"quantity": "self_duality", **TRAIN}], ylabel="self-duality distance")[0]


def fig7(tables: Tables) -> Figure:
    """Within-class variability collapses, under MSE.

    Tr(Σ_W pinv(Σ_B)) / C on train images. Lines: geometric mean over seeds; bands: their range; vertical: zero
    train error.
    """
    return curves(tables, [{"quantity": "nc1", **TRAIN}], ylabel=r"$\mathrm{Tr}(\Sigma_W \Sigma_B^\dagger)/C$")[0]


def fig8(tables: Tables) -> Figure:
    """The network's decisions become those of the nearest class mean, under MSE.

    Share of images for which the largest output and the nearest train class mean differ, on train images as
    in the paper, and on test images beside it. Lines: mean over seeds; bands: their range; vertical: zero
    train error.
    """
    drawn = [{"quantity": "nc4", **TRAIN}, {"quantity": "nc4", **TEST}]
    return curves(tables, drawn, ylabel="share that differ", log=False)[0]


def fig9(tables: Tables) -> Figure:
    """Robustness against small perturbations as DeepFool measures it grows beyond zero train error, under MSE.

    Solid: mean over test images of ‖r‖/‖x‖, r the perturbation by which DeepFool changes the network's decision on the
    standardised image x. Dashed: how far the straight way to the nearest differently decided train image leads before
    the decision changes, which bounds the smallest perturbation; where the solid line is above it, DeepFool has
    overshot. Lines: mean over seeds; bands: their range; vertical: zero train error.
    """
    drawn = [
        {**TRAIN, "quantity": "robustness", "split": "test", "label": "DeepFool", "marker": "o", "ms": 3},
        {**TEST, "quantity": "robustness_crossing", "label": "crossing towards a train image"},
    ]
    return curves(tables, drawn, ylabel=PERTURBATION, log=False)[0]


def _losses(quantity: str, split: str = "train", **drawn: Any) -> list[dict[str, Any]]:
    return [
        {"quantity": quantity, "split": split, "loss": "mse", "label": "MSE", "color": COLOURS["blue"], **drawn},
        {"quantity": quantity, "split": split, "loss": "ce", "label": "CE", "color": COLOURS["orange"], **drawn},
    ]


def fig10(tables: Tables) -> Figure:
    """Within-class variability collapses further under MSE than under cross-entropy.

    Tr(Σ_W pinv(Σ_B)) / C on train images, as in figure 7. Lines: geometric mean over seeds; bands: their
    range; dotted: zero train error under each loss.
    """
    return curves(tables, _losses("nc1"), ylabel=r"$\mathrm{Tr}(\Sigma_W \Sigma_B^\dagger)/C$")[0]


def fig11(tables: Tables) -> Figure:
    """Robustness against small perturbations under MSE and under cross-entropy.

    DeepFool's perturbation relative to the image's norm on test images, as in figure 9. Lines: mean over seeds;
    bands: their range; dotted: zero train error under each loss.
    """
    drawn = _losses("robustness", "test", marker="o", ms=3)
    return curves(tables, drawn, ylabel=PERTURBATION, log=False)[0]


def fig12(tables: Tables) -> Figure:
    """Variability collapse on test images, under both losses: slower and less deep than on train images.

    Tr(Σ_W pinv(Σ_B)) / C with means and covariances of the test features; faint dashes repeat the train
    values of figure 10. Lines: geometric mean over seeds; bands: their range; dotted: zero train error under each loss.
    """
    train = [{**line, "label": f"{line['label']}, train", "ls": (0, (4, 2)), "alpha": 0.45} for line in _losses("nc1")]
    test = [{**line, "label": f"{line['label']}, test"} for line in _losses("nc1", "test")]
    return curves(tables, [*test, *train], ylabel=r"$\mathrm{Tr}(\Sigma_W \Sigma_B^\dagger)/C$")[0]


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


def _fibre_panel(axis: Axes, features: np.ndarray) -> None:
    weights, bias, loss = theory.least_squares_classifier(features)
    half = 1.15 * np.abs(features).max()
    x, y = np.meshgrid(np.linspace(-half, half, 201), np.linspace(-half, half, 201))
    decided = np.argmax(np.stack([x, y], axis=-1) @ weights.T + bias, axis=-1)
    axis.contourf(x, y, decided, levels=[-0.5, 0.5, 1.5, 2.5], colors=CLASS_COLOURS, alpha=0.15)
    for label, colour in enumerate(CLASS_COLOURS):
        axis.scatter(
            features[label][:, 0],
            features[label][:, 1],
            s=5,
            color=colour,
            alpha=0.7,
            linewidths=0,
            label=f"class {label}",
        )
    axis.text(0.03, 0.03, f"loss {loss:.6f}", transform=axis.transAxes, fontsize=8)
    axis.set_aspect("equal")
    axis.set_xticks([])
    axis.set_yticks([])


def table1(tables: Tables) -> Figure:
    """Test accuracy at the first measured epoch without a train error, and at the end of training, under MSE.

    Percent, mean over seeds with its standard error. Rows of the paper's data sets carry the paper's
    numbers beside ours; digits are not among them. Trained at the scale of this configuration.
    """
    table = accuracies(tables)
    head = ["data, network", "at zero error", "at the end", "change"]
    rows = [
        [
            Cell(row.data, row.network, "").title,
            _percent(row.zero_error, row.zero_error_se),
            _percent(row.end, row.end_se),
            _percent(row.change, row.change_se, "+"),
        ]
        for row in table.itertuples()
    ]
    if table["paper_end"].notna().any():
        head += ["paper: at zero error", "paper: at the end"]
        for row, published in zip(rows, table[["paper_zero_error", "paper_end"]].to_numpy(), strict=True):
            row += ["" if np.isnan(value) else f"{value:.2f}" for value in published]
    figure, axis = plt.subplots(figsize=(WIDTH, 0.5 + 0.26 * len(rows)))
    axis.axis("off")
    drawn = axis.table(rows, colLabels=head, loc="center", cellLoc="center", edges="horizontal")
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(9)
    drawn.scale(1, 1.4)
    return figure


def _percent(value: float, error: float, sign: str = "") -> str:
    if np.isnan(value):
        return "no zero error"
    return f"{value:{sign}.2f}" + ("" if np.isnan(error) else f" ± {error:.2f}")
