"""Neural collapse along training: NC1 to NC4, under MSE and against cross-entropy."""

from __future__ import annotations

from matplotlib.figure import Figure

from learning_dynamics.papers.neural_collapse.panels import curves
from learning_dynamics.papers.neural_collapse.training_lines import TEST, TRAIN, Line, under_both_losses
from learning_dynamics.plotting import COLOURS
from learning_dynamics.tables import Tables

MEANS: Line = {"label": "class means", "color": COLOURS["blue"]}
CLASSIFIERS: Line = {"label": "classifiers", "color": COLOURS["orange"]}


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


def fig10(tables: Tables) -> Figure:
    """Within-class variability collapses further under MSE than under cross-entropy.

    Tr(Σ_W pinv(Σ_B)) / C on train images, as in figure 7. Lines: geometric mean over seeds; bands: their
    range; dotted: zero train error under each loss.
    """
    return curves(tables, under_both_losses("nc1"), ylabel=r"$\mathrm{Tr}(\Sigma_W \Sigma_B^\dagger)/C$")[0]


def _means_and_classifiers(tables: Tables, quantity: str, ylabel: str) -> Figure:
    drawn = [{"quantity": f"{quantity}_means", **MEANS}, {"quantity": f"{quantity}_classifiers", **CLASSIFIERS}]
    return curves(tables, drawn, ylabel=ylabel)[0]
