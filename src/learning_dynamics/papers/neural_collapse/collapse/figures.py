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

    Lines show the standard deviation of norms over their mean, for centred class means (solid) and classifiers
    (dashed). Blue lines are of MSE, as in the paper, and thin orange lines of cross-entropy (CE). Lines are geometric
    means over seeds; bands, under MSE alone, are ranges. Train errors end (99.9 % train accuracy, median over seeds) at
    the dark orange vertical lines, under MSE (broad and pale) and under CE (dashed). The learning rate drops tenfold at
    the dotted lines. In the paper's Figure 3 both spreads fall. {panels} {recipe}
    """
    # this standard deviation divides by the number of classes, the one of the authors' code by one fewer
    return _means_and_classifiers(
        trainings, quantities.EQUINORM_MEANS, quantities.EQUINORM_CLASSIFIERS, "std / mean of norms"
    )


def fig4(trainings: Sequence[Table]) -> Plot:
    """Equality of angles between class means, and between classifiers, along training.

    Lines show the standard deviation of cosines over pairs of centred class means (solid) and of classifiers (dashed),
    drawn as in `fig3`, of the same trainings. In the paper's Figure 4 both fall. {panels}
    """
    return _means_and_classifiers(
        trainings, quantities.EQUIANGULAR_MEANS, quantities.EQUIANGULAR_CLASSIFIERS, "std of cosines"
    )


def fig5(trainings: Sequence[Table]) -> Plot:
    r"""Distance of angles from the largest possible, those of a simplex, along training.

    On a simplex of $C$ classes all cosines are $-1/(C-1)$. Lines show the mean of $|\cos + 1/(C-1)|$ over pairs of
    centred class means (solid) and of classifiers (dashed), drawn as in `fig3`, of the same trainings. In the paper's
    Figure 5 both fall. {panels}
    """
    label = r"mean $|\cos + 1/(C-1)|$"
    return _means_and_classifiers(
        trainings, quantities.MAXIMAL_ANGLE_MEANS, quantities.MAXIMAL_ANGLE_CLASSIFIERS, label
    )


def fig6(trainings: Sequence[Table]) -> Plot:
    r"""Distance of classifiers from class means, up to scale, along training.

    Lines show $\|W^\top/\|W\| - \bar M/\|\bar M\|\|^2$ of classifiers $W$ and centred class means $\bar M$, in
    Frobenius norms, drawn as in `fig3`, of the same trainings. In the paper's Figure 6 the distance falls. {panels}
    """
    return _annotate(
        curves(trainings, mse_first(under_both_losses(quantities.SELF_DUALITY)), ylabel="self-duality distance"),
        trainings,
        quantities.SELF_DUALITY,
        "The squared distance of classifiers from class means",
    )


def fig7(trainings: Sequence[Table]) -> Plot:
    r"""Within-class variability along training, under MSE.

    Lines show $\mathrm{Tr}(\Sigma_W\Sigma_B^\dagger)/C$ on train images, drawn as in `fig3`, of its trainings under
    MSE. In the paper's Figure 7 the trace falls. {panels}
    """
    return _annotate(
        curves(trainings, under_both_losses(quantities.NC1), ylabel=TRACE),
        trainings,
        quantities.NC1,
        "The within-class variability",
    )


def fig8(trainings: Sequence[Table]) -> Plot:
    """Share of images on which network and nearest class mean decide differently, along training.

    Solid lines are of train images, as in the paper, and dashed lines of test images. Class means are those of train
    images. The vertical axis is linear below a thousandth, where single images make steps. Lines are means over seeds;
    all else is drawn as in `fig3`, of the same trainings. In the paper's Figure 8 the share on train images falls.
    {panels}
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
        figure,
        trainings,
        quantities.NC4,
        "Share of images that network and nearest class mean classify differently",
        "that of train images",
    )


def fig10(mse: Sequence[Table], ce: Sequence[Table]) -> Plot:
    """Within-class variability along training under MSE and under cross-entropy.

    Lines show the trace of `fig7` under MSE (blue) and cross-entropy (CE, orange), geometric means with ranges over
    seeds. Vertical lines and trainings are those of `fig3`. In the paper's Figure 10 it tends to fall faster under MSE.
    Here it ends lower under MSE on {lower} of {pairs} networks. {panels}
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


def recipe(trainings: Sequence[Table], *, shown: int | None = None) -> str:
    """Say how networks were trained, for captions; `shown` is the seed of the one network that a figure shows."""
    settings = settings_of(trainings[0])
    rates = sorted({settings_of(table)["learning_rate"] for table in trainings})
    rates_in_words = f"rate {rates[0]:g}" if len(rates) == 1 else f"rates {rates[0]:g} to {rates[-1]:g}"
    decays = {settings_of(table)["loss"]: settings_of(table)["weight_decay"] for table in trainings}
    decay = " and ".join(f"{value:g} ({LOSSES[loss]})" for loss, value in decays.items())
    how = (
        f"for {settings['epochs']} epochs in batches of {settings['batch']}, with weight decay {decay}, momentum "
        f"{settings['momentum']:g} and learning {rates_in_words}"
    )
    if shown is not None:
        return f"The network is trained {how}; seed {shown} of {settings['seeds']} is shown."
    seeds = "one seed" if settings["seeds"] == 1 else f"{settings['seeds']} seeds each"
    return f"Networks are trained {how}, from {seeds}."


def _annotate(
    figure: Figure, trainings: Sequence[Table], quantity: Quantity, subject: str, ends_of: str = "it"
) -> Plot:
    """Return the plot with its facts, and with a description that says between which values `quantity` ends.

    The values are those of trainings under MSE, if there are any. In the description `subject` names what is drawn, and
    `ends_of` what it is that ends at these values.
    """
    mse = [table for table in trainings if settings_of(table)["loss"] == "mse"]
    final = at_the_end(mse or trainings, quantity)
    least, most = (f"{end:.1g}" for end in (final.min(), final.max()))
    ends = least if least == most else f"{least} to {most}"
    facts = {"recipe": recipe(trainings), "panels": describe_panels(trainings), "ends": ends}
    alt = f"{subject} against epochs, a panel for each network; under MSE {ends_of} ends at {{ends}}."
    return Plot(figure, facts, alt)


def _means_and_classifiers(trainings: Sequence[Table], means: Quantity, classifiers: Quantity, ylabel: str) -> Plot:
    """Draw a quantity of class means and the same of classifiers, under both losses."""
    lines = side_by_side(
        under_both_losses(means, label="class means, {}"),
        under_both_losses(classifiers, label="classifiers, {}", ls=DASHED),
    )
    return _annotate(
        curves(trainings, mse_first(lines), ylabel=ylabel),
        trainings,
        means,
        ylabel + " of class means and classifiers",
        "that of class means",
    )
