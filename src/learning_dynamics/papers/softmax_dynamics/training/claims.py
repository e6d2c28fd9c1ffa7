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
def eight_examples_show_three_phases(trainings: Table, *, threshold: Positive, typical: Fraction) -> Claim:
    """With eight examples, as many as the paper's controls have, some learning rate, batch and number of steps shows
    the three phases with skewed classes and a bottleneck, and not without one of them: the effective rank falls, rises,
    and falls again while the rare classes are learned.

    A draw has learned its examples if none has a loss of log 2 or more at the end, so that each example's own class has
    a probability above one half. Draws that have not learned count against the claim, with skew and bottleneck as
    without. Half of the draws choose one of {settings} settings, that in which the draws that show the phases exceed
    the draws of the controls that show them or have not learned the most. The other half judge it: {setting}. There
    {value:.0%} of the draws show the phases ({learned:.0%} learn); with equal classes {equal:.0%} ({equal_learned:.0%}
    learn), in three dimensions {wide:.0%} ({wide_learned:.0%} learn). Without regard to the controls the phases show
    most often at {often}, in {most:.0%}; there {most_equal:.0%} show them with equal classes and {most_wide:.0%} in
    three dimensions. On the draws that choose, the excess over the controls is {excess:.1%} at its largest. Where it is
    small, settings nearly tie, and other draws choose another.
    """
    draws = {case: case_draws(trainings, case, "examples", threshold) for case in CASES}
    shares = {case: _shares(rows) for case, rows in draws.items()}

    def excess(own: str, *controls: str) -> pd.Series:
        """Return by how much a case exceeds its controls in each setting, on draws of even number."""
        share = shares[own]["shows"]
        if not controls:
            return share
        return share - pd.concat([shares[case]["shows_or_open"] for case in controls], axis=1).max(axis=1)

    def best(own: str, *controls: str) -> Setting:
        """Return the setting in which a case exceeds its controls the most, chosen on draws of even number."""
        return excess(own, *controls).idxmax()

    def at(case: str, setting: Setting) -> pd.DataFrame:
        rows = draws[case]
        return rows[(rows[SETTING] == list(setting)).all(axis=1)]

    def judged(case: str, setting: Setting) -> pd.DataFrame:
        rows = at(case, setting)
        return rows[rows["seed"] % 2 == 1]

    def shows(case: str, setting: Setting) -> np.ndarray:
        """Return which of the judged draws of a case show the phases, nan for those that have not learned."""
        rows = judged(case, setting)
        return np.where(rows["learned"], rows["shows"], np.nan)

    setting = best("treated", "equal", "wide")
    at_best_of_equal, at_best_of_wide = best("equal", "treated", "wide"), best("wide", "treated", "equal")
    excluded = {"draws on which the setting was chosen": len(at("treated", setting)) - len(judged("treated", setting))}
    # Each rival exchanges the roles of skewed classes in two dimensions and of a control: the control shows the phases,
    # in the setting in which it exceeds the others the most, and skewed classes do not.
    equal_classes, three_dimensions = "equal classes instead of skewed ones", "three dimensions instead of two"
    name = "draws with warm-up, growth and compression, in this order, "
    yield most_draws(
        name + "skewed classes in two dimensions",
        shows("treated", setting),
        typical=typical,
        excluded=excluded,
        rivals={equal_classes: shows("equal", at_best_of_equal), three_dimensions: shows("wide", at_best_of_wide)},
    )
    yield share_of_draws(
        name + "equal classes",
        shows("equal", setting),
        at_most=typical,
        because=MISSING,
        excluded=excluded,
        rivals={
            equal_classes: {"holds": shows("treated", at_best_of_equal)},
            three_dimensions: {"holds": shows("equal", at_best_of_wide)},
        },
    )
    yield share_of_draws(
        name + "three dimensions",
        shows("wide", setting),
        at_most=typical,
        because=MISSING,
        excluded=excluded,
        rivals={
            equal_classes: {"holds": shows("wide", at_best_of_equal)},
            three_dimensions: {"holds": shows("treated", at_best_of_wide)},
        },
    )
    commonest = best("treated")
    at_best, at_commonest = (
        {case: judged(case, chosen)[["shows", "learned"]].mean() for case in CASES} for chosen in (setting, commonest)
    )
    yield Facts(
        settings=len(shares["treated"]),
        setting=_name(setting),
        learned=at_best["treated"]["learned"],
        equal=at_best["equal"]["shows"],
        equal_learned=at_best["equal"]["learned"],
        wide=at_best["wide"]["shows"],
        wide_learned=at_best["wide"]["learned"],
        often=_name(commonest),
        most=at_commonest["treated"]["shows"],
        most_equal=at_commonest["equal"]["shows"],
        most_wide=at_commonest["wide"]["shows"],
        excess=excess("treated", "equal", "wide").max(),
    )


def _shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, by setting, the shares of draws of even number that show the phases, and that do or have not learned."""
    even = rows[rows["seed"] % 2 == 0].assign(shows_or_open=lambda table: table["shows"] | ~table["learned"])
    return even.groupby(SETTING)[["shows", "shows_or_open"]].mean()


def _name(setting: Setting) -> str:
    rate, batch, steps = setting
    return f"{'full batches' if batch == 0 else f'batches of {batch}'}, learning rate {rate:g}, {steps} steps"
