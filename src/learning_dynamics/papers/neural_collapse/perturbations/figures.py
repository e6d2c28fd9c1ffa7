"""Robustness against small perturbations along training, under MSE and against cross-entropy."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from learning_dynamics.papers.neural_collapse.collapse.figures import recipe
from learning_dynamics.papers.neural_collapse.panels import DASHED, Line, curves, side_by_side, under_both_losses
from learning_dynamics.papers.neural_collapse.training import quantities
from learning_dynamics.papers.neural_collapse.trainings import at_the_end
from learning_dynamics.plotting import Drawn
from learning_dynamics.tidy import Table

PERTURBATION = r"mean of $\|r\|\,/\,\|x\|$"


def fig9(mse: Sequence[Table]) -> Drawn:
    r"""Robustness against small perturbations along training, under MSE, by three measures.

    Mean over test images of $\|r\|/\|x\|$, for the standardised image $x$ and a perturbation $r$ that changes the
    network's decision. Circles: DeepFool's $r$, the paper's measure. Dashed: the straight way to the nearest train
    image that is decided differently, up to where the decision changes. It bounds the smallest perturbation: where the
    circles are above it, DeepFool has overshot. Thick: the smaller of both for each image. Lines: geometric mean over
    seeds. Bands: their range. Vertical red line: 99.9 % train accuracy. Vertical dotted lines: the learning rate drops
    tenfold. In the paper's Figure 9 DeepFool's measure grows beyond zero train error; the claims on that figure test
    whether it does here, and whether it is the smallest perturbation. {recipe}
    """
    return _annotate(curves(mse, _measures(""), ylabel=PERTURBATION), mse)


def fig11(mse: Sequence[Table], ce: Sequence[Table]) -> Drawn:
    r"""Robustness against small perturbations under MSE and under cross-entropy, by three measures.

    As in figure 9, for both losses. The axis is logarithmic, because DeepFool's measure, the paper's, can overshoot by
    far where outputs are flat. Vertical red lines: 99.9 % train accuracy under MSE (solid) and cross-entropy (dashed).
    In the paper's Figure 11 robustness tends to be better under MSE, sometimes by several magnitudes; the claims on
    that figure test both. {recipe}
    """
    return _annotate(curves([*mse, *ce], _measures(", {}"), ylabel=PERTURBATION, height=2.4), [*mse, *ce])


def _measures(named: str) -> list[Line]:
    """Return the lines of three measures, to whose labels what names the loss is added."""
    return side_by_side(
        under_both_losses("robustness", "test", "DeepFool" + named, marker="o", ms=3, lw=1.0),
        under_both_losses("robustness_crossing", "test", "crossing" + named, ls=DASHED, lw=1.0),
        under_both_losses("robustness_smallest", "test", "smaller of both" + named, lw=2.4),
    )


def _annotate(figure: Figure, trainings: Sequence[Table]) -> Drawn:
    facts = {
        "recipe": recipe(trainings),
        "smallest": at_the_end(trainings, quantities.ROBUSTNESS_SMALLEST, "test").mean(),
        "deepfool": at_the_end(trainings, quantities.ROBUSTNESS, "test").mean(),
    }
    alt = (
        "Relative size of perturbations against epochs; at the end {deepfool:.1g} by DeepFool in the mean, "
        "{smallest:.1g} by the smallest that is known."
    )
    return Drawn(figure, facts, alt)
