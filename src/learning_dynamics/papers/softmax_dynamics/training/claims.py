"""Whether some learning rate, batch and number of steps shows the three phases at the paper's own size."""

import numpy as np
import pandas as pd

from learning_dynamics.judging import Claim, Facts, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.cases import CASES, SETTING, case_draws
from learning_dynamics.papers.softmax_dynamics.draws import most_draws
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table

# Settings of these claims, whose values stand in workflow/config/softmax_dynamics.yaml:
# - threshold: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise
# - typical: least share of draws that must show the phases with skewed classes in two dimensions, and largest share
#   that may in each control

MISSING = "what is needed for them is missing"
Setting = tuple[float, int, int]  # learning rate, batch, steps


@claim(
    "Figure 4, at eight examples",
    scope="4, 2, 1 and 1 examples in V = 4 classes, d = 2; equal classes; d = 3; cross-entropy, gradient descent from "
    "Gaussian starts; RankMe over all examples",
    empirical=True,
    quantifier="some setting",
)
def eight_examples_show_three_phases(trainings: Table, best: Table, *, threshold: Positive, typical: Fraction) -> Claim:
    """With eight examples, as many as the paper's controls have, some learning rate, batch and number of steps shows
    the three phases with skewed classes and a bottleneck, and not without one of them: the effective rank falls, rises,
    and falls again while the rare classes are learned.

    A draw has learned its examples if none has a loss of log 2 or more at the end, so that each example's own class has
    a probability above one half. Draws that have not learned count against the claim, with skew and bottleneck as
    without. {settings} settings were tried. The one that came nearest to the claim is judged, on draws that did not
    choose it; on the draws that try all settings here it is number {place}: {setting}. There {value:.0%} of the draws
    show the phases ({learned:.0%} learn); with equal classes {equal:.0%} ({equal_learned:.0%} learn), in three
    dimensions {wide:.0%} ({wide_learned:.0%} learn). In no setting does the share of draws that show the phases exceed
    both controls' shares of draws that show them or have not learned by more than {excess:.1%}.
    """
    judged = {case: case_draws(best, case, "examples", threshold) for case in CASES}
    # which draws show the phases, nan for those that have not learned
    shows = {case: np.where(draws["learned"], draws["shows"], np.nan) for case, draws in judged.items()}
    # each rival exchanges the roles of skewed classes in two dimensions and of a control
    equal_classes, three_dimensions = "equal classes instead of skewed ones", "three dimensions instead of two"
    name = "draws with warm-up, growth and compression, in this order, "
    yield most_draws(
        name + "skewed classes in two dimensions",
        shows["treated"],
        typical=typical,
        rivals={equal_classes: shows["equal"], three_dimensions: shows["wide"]},
    )
    yield share_of_draws(
        name + "equal classes",
        shows["equal"],
        at_most=typical,
        because=MISSING,
        rivals={equal_classes: {"holds": shows["treated"]}, three_dimensions: {"holds": shows["equal"]}},
    )
    yield share_of_draws(
        name + "three dimensions",
        shows["wide"],
        at_most=typical,
        because=MISSING,
        rivals={equal_classes: {"holds": shows["wide"]}, three_dimensions: {"holds": shows["treated"]}},
    )
    tried = {case: _shares(case_draws(trainings, case, "examples", threshold)) for case in CASES}
    treated, equal, wide = tried["treated"]["shows"], tried["equal"]["shows_or_open"], tried["wide"]["shows_or_open"]
    # by how much the check that is farthest from it is met, in each setting
    margins = pd.concat([treated - typical, typical - equal, typical - wide], axis=1).min(axis=1)
    (setting,) = judged["treated"].groupby(SETTING).groups
    yield Facts(
        settings=len(margins),
        place=int((margins > margins.get(setting, np.nan)).sum()) + 1,
        setting=_name(setting),
        learned=judged["treated"]["learned"].mean(),
        equal=judged["equal"]["shows"].mean(),
        equal_learned=judged["equal"]["learned"].mean(),
        wide=judged["wide"]["shows"].mean(),
        wide_learned=judged["wide"]["learned"].mean(),
        excess=(treated - np.maximum(equal, wide)).max(),
    )


def _shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, by setting, the shares of draws that show the phases, and that show them or have not learned."""
    shows_or_open = rows["shows"] | ~rows["learned"]
    return rows.assign(shows_or_open=shows_or_open).groupby(SETTING)[["shows", "shows_or_open"]].mean()


def _name(setting: Setting) -> str:
    rate, batch, steps = setting
    return f"{'full batches' if batch == 0 else f'batches of {batch}'}, learning rate {rate:g}, {steps} steps"
