"""Neural collapse along training: NC1 to NC4, under MSE and cross-entropy."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from learning_dynamics.papers.neural_collapse.panels import (
    DASHED,
    LOSSES,
    curves,
    describe_panels,
    ends_under_both_losses,
    mse_first,
    side_by_side,
    under_both_losses,
)
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.trainings import at_the_end
from learning_dynamics.plotting import Plot
from learning_dynamics.tidy import Quantity, Table, settings_of

TRACE = r"$\mathrm{Tr}(\Sigma_W \Sigma_B^\dagger)/C$"


def fig3(trainings: Sequence[Table]) -> Plot:
    """Norms of class means and of classifiers along training.

    Standard deviation over mean of the norms of the centred class means (solid) and of the classifiers (dashed). The
    standard deviation divides by the number of classes, in the authors' code by one fewer. Blue, with bands: MSE, as in
    the paper. Orange: cross-entropy (CE). Lines: geometric mean over seeds. Bands: their range under MSE. Red lines:
    99.9 % train accuracy under MSE (broad) and CE (dashed), median over seeds. Dotted lines: the learning rate drops
    tenfold. In the paper's Figure 3 both fall under MSE. {panels} {recipe}
    """
    return _means_and_classifiers(
        trainings, quantities.EQUINORM_MEANS, quantities.EQUINORM_CLASSIFIERS, "std / mean of norms"
    )


def fig4(trainings: Sequence[Table]) -> Plot:
    """Equality of angles between class means, and between classifiers, along training.

    Standard deviation, over pairs of classes, of the cosines between centred class means (solid) and between
    classifiers (dashed), under both losses. Lines, bands and colours as in `fig3`. Under MSE both fall, as in the
    paper's Figure 4. {panels} {recipe}
    """
    return _means_and_classifiers(
        trainings, quantities.EQUIANGULAR_MEANS, quantities.EQUIANGULAR_CLASSIFIERS, "std of cosines"
    )


def fig5(trainings: Sequence[Table]) -> Plot:
    r"""Distance of angles from those of a simplex, the largest possible, along training.

    Mean over pairs of classes of $|\cos + 1/(C-1)|$, for centred class means (solid) and for classifiers (dashed),
    under both losses. Lines, bands and colours as in `fig3`. Under MSE both fall, as in the paper's Figure 5. {panels}
    {recipe}
    """
    label = r"mean $|\cos + 1/(C-1)|$"
    return _means_and_classifiers(
        trainings, quantities.MAXIMAL_ANGLE_MEANS, quantities.MAXIMAL_ANGLE_CLASSIFIERS, label
    )


def fig6(trainings: Sequence[Table]) -> Plot:
    r"""Distance of classifiers from class means, up to scale, along training.

    Self-duality distance $\|W^\top/\|W\| - \bar M/\|\bar M\|\|^2$ of classifiers $W$ and centred class means $\bar M$,
    in Frobenius norms. Lines, bands and colours as in `fig3`. Under MSE it falls, as in the paper's Figure 6. {panels}
    {recipe}
    """
    return _annotate(
        curves(trainings, mse_first(under_both_losses(quantities.SELF_DUALITY)), ylabel="self-duality distance"),
        trainings,
        quantities.SELF_DUALITY,
        "The squared distance of classifiers from class means",
    )


def fig7(trainings: Sequence[Table]) -> Plot:
    r"""Within-class variability along training, under MSE.

    $\mathrm{Tr}(\Sigma_W\Sigma_B^\dagger)/C$ on train images. Lines: geometric mean over seeds. Bands: their range.
    Broad red line: 99.9 % train accuracy, median over seeds. Dotted lines: the learning rate drops tenfold. It falls,
    as in the paper's Figure 7. {panels} {recipe}
    """
    return _annotate(
        curves(trainings, under_both_losses(quantities.NC1), ylabel=TRACE),
        trainings,
        quantities.NC1,
        "The within-class variability",
    )


def fig8(trainings: Sequence[Table]) -> Plot:
    """Share of images on which network and nearest class mean differ, along training.

    Solid: train images, as in the paper. Dashed: test images. Class means are those of train images. The vertical axis
    is linear below a thousandth. Lines: mean over seeds. Bands: their range under MSE. Colours and vertical lines as in
    `fig3`. Under MSE the share on train images falls, as in the paper's Figure 8. {panels} {recipe}
    """
    lines = [
        *under_both_losses(quantities.NC4, "train", "{}, train"),
        *under_both_losses(quantities.NC4, "test", "{}, test", ls=DASHED),
    ]
    figure = curves(trainings, mse_first(lines), ylabel="share of images that differ", scale="symlog")
    for axis in figure.axes:
        axis.set_ylim(bottom=-2e-4)
        axis.set_yticks([0, 1e-3, 1e-2, 1e-1], ["0", "0.001", "0.01", "0.1"])
    return _annotate(
        figure, trainings, quantities.NC4, "Share of images that the nearest class mean classifies differently"
    )


def fig10(mse: Sequence[Table], ce: Sequence[Table]) -> Plot:
    r"""Within-class variability along training under MSE and under cross-entropy.

    $\mathrm{Tr}(\Sigma_W\Sigma_B^\dagger)/C$ on train images, under MSE (blue) and cross-entropy (CE, orange). Lines:
    geometric mean over seeds. Bands: their range. Red lines: 99.9 % train accuracy under MSE (broad) and CE (dashed).
    Dotted lines: the learning rate drops tenfold. In the paper's Figure 10 the trace tends to fall faster under MSE.
    Ours ends lower under MSE on {lower} of {pairs} networks; the claim on that figure tests the speed. {panels}
    {recipe}
    """
    trainings = [*mse, *ce]
    drawn = _annotate(
        curves(trainings, under_both_losses(quantities.NC1), ylabel=TRACE),
        trainings,
        quantities.NC1,
        "The within-class variability under both losses",
    )
    ends_mse, ends_ce = ends_under_both_losses(mse, ce, quantities.NC1)
    facts = {"lower": int((ends_mse < ends_ce).sum()), "pairs": len(ends_mse)}
    return Plot(drawn.figure, {**drawn.facts, **facts}, drawn.alt)


def recipe(trainings: Sequence[Table]) -> str:
    """Say how networks were trained, for captions."""
    settings = settings_of(trainings[0])
    rates = sorted({settings_of(table)["learning_rate"] for table in trainings})
    rates_in_words = f"rate {rates[0]:g}" if len(rates) == 1 else f"rates {rates[0]:g} to {rates[-1]:g}"
    decays = {settings_of(table)["loss"]: settings_of(table)["weight_decay"] for table in trainings}
    decay = ", ".join(f"{value:g} ({LOSSES[loss]})" for loss, value in decays.items())
    return (
        f"Trained for {settings['epochs']} epochs in batches of {settings['batch']}, weight decay {decay}, momentum "
        f"{settings['momentum']:g}, learning {rates_in_words}; {settings['seeds']} seeds."
    )


def _annotate(figure: Figure, trainings: Sequence[Table], quantity: Quantity, subject: str) -> Plot:
    """Return the plot with its facts and a description: between which values a quantity ends, under MSE if trained."""
    mse = [table for table in trainings if settings_of(table)["loss"] == "mse"]
    final = at_the_end(mse or trainings, quantity)
    least, most = (f"{end:.1g}" for end in (final.min(), final.max()))
    ends = least if least == most else f"{least} to {most}"
    facts = {"recipe": recipe(trainings), "panels": describe_panels(trainings), "ends": ends}
    alt = subject + " against epochs, a panel for each network; under MSE it ends at {ends}."
    return Plot(figure, facts, alt)


def _means_and_classifiers(trainings: Sequence[Table], means: Quantity, classifiers: Quantity, ylabel: str) -> Plot:
    """Draw a quantity of class means and the same of classifiers under both losses."""
    lines = side_by_side(
        under_both_losses(means, label="class means, {}"),
        under_both_losses(classifiers, label="classifiers, {}", ls=DASHED),
    )
    return _annotate(
        curves(trainings, mse_first(lines), ylabel=ylabel), trainings, means, ylabel + " of class means and classifiers"
    )
