"""Whether some learning rate, batch and number of steps shows the three phases at the paper's own size."""

import pandas as pd

from learning_dynamics.judging import Check, Checks, Finding, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.cases import CASES, SETTING, case_draws
from learning_dynamics.papers.softmax_dynamics.draws import MORE
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table

NAMES = {"treated": "skewed classes in two dimensions", "equal": "equal classes", "wide": "three dimensions"}


@claim(
    "Figure 4, at eight examples",
    scope="4, 2, 1 and 1 examples in V = 4 classes, d = 2; equal classes; d = 3; cross-entropy, gradient descent from "
    "Gaussian starts; RankMe over all examples",
    empirical=True,
    quantifier="some setting",
)
def eight_examples_show_three_phases(trainings: Table, *, threshold: Positive, typical: Fraction) -> Finding:
    """With eight examples, as many as the paper's controls have, some learning rate, batch and number of steps shows
    the three phases with skewed classes and a bottleneck, and not without one of them: the effective rank falls, rises,
    and falls again while the rare classes are learned.

    A draw counts if its training has learned its examples: none has a loss of log 2 or more at the end, so that each
    example's own class has a probability above one half. Draws that have not count against the claim, with skew and
    bottleneck as without. Of {settings} settings the one with the largest distance between the draws that show the
    phases and those of the controls that do, or have not learned, is chosen on half of the draws and judged on the
    other half: {setting}. There {value:.0%} show them, of {learned:.0%} that learn; with equal classes {equal:.0%} of
    {equal_learned:.0%}, in three dimensions {wide:.0%} of {wide_learned:.0%}. Most often they show at {often}, chosen
    without the controls: in {most:.0%}; there in {most_equal:.0%} with equal classes and in {most_wide:.0%} in three
    dimensions.
    """
    draws = {case: case_draws(trainings, case, "examples", threshold) for case in CASES}

    def best(own: str, controls: list[str]) -> tuple[float, int, int]:
        """Return the setting in which a case exceeds its controls the most, chosen on draws of even number."""
        shares = {case: _shares(draws[case]) for case in draws}
        score = shares[own]["shows"]
        if controls:
            score = score - pd.concat([shares[case]["shows_or_open"] for case in controls], axis=1).max(axis=1)
        return score.idxmax()

    def drawn_at(case: str, setting: tuple[float, int, int]) -> pd.DataFrame:
        rows = draws[case]
        return rows[(rows[SETTING] == list(setting)).all(axis=1)]

    def judged_draws(case: str, setting: tuple[float, int, int]) -> pd.DataFrame:
        rows = drawn_at(case, setting)
        return rows[rows["seed"] % 2 == 1]

    def check(case: str, own: str, setting: tuple[float, int, int]) -> Check:
        rows = judged_draws(case, setting)
        bound = {"at_least": typical} if case == own else {"at_most": typical}
        return share_of_draws(
            f"draws with warm-up, growth and compression, in this order, {NAMES[case]}",
            rows["shows"],
            undecided=~rows["learned"],
            because=MORE if case == own else "what is needed for them is missing",
            excluded={"draws on which the setting was chosen": len(drawn_at(case, setting)) - len(rows)},
            **bound,
        )

    def judge(own: str) -> Checks:
        controls = [case for case in CASES if case != own]
        setting = best(own, controls)
        for case in (own, *controls):
            yield check(case, own, setting)

    best_setting, commonest = best("treated", ["equal", "wide"]), best("treated", [])
    at_best, at_commonest = (
        {case: judged_draws(case, setting)[["shows", "learned"]].mean() for case in CASES}
        for setting in (best_setting, commonest)
    )
    facts = {
        "settings": len(_shares(draws["treated"])),
        "setting": _name(best_setting),
        "learned": at_best["treated"]["learned"],
        "often": _name(commonest),
        "most": at_commonest["treated"]["shows"],
    }
    for case in ("equal", "wide"):
        facts |= {case: at_best[case]["shows"], f"{case}_learned": at_best[case]["learned"]}
        facts[f"most_{case}"] = at_commonest[case]["shows"]
    rivals = {"equal classes in place of skewed ones": "equal", "three dimensions in place of two": "wide"}
    return Finding(judge, "treated", rivals, facts=facts)


def _shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, by setting, the shares of draws of even number that show the phases, and that do or have not learned."""
    even = rows[rows["seed"] % 2 == 0].assign(shows_or_open=lambda table: table["shows"] | ~table["learned"])
    return even.groupby(SETTING)[["shows", "shows_or_open"]].mean()


def _name(setting: tuple[float, int, int]) -> str:
    rate, batch, steps = setting
    return f"{'full batches' if batch == 0 else f'batches of {batch}'}, learning rate {rate:g}, {steps} steps"
