"""Whether some class sizes, learning rate and batch show the three phases at the paper's own size.

The three phases are a fall of the effective rank to its trough, the lowest value until the first class is learned, then
a rise, and a fall while the rarest classes are learned. The rank is RankMe of the features of all examples: the
exponential of the entropy of the eigenvalues of their covariance about the mean. V is the number of classes, d the
dimension of the features. The cases, of `cases`, are skew and a bottleneck, d = 2 (treated), equal classes (equal), and
three dimensions (wide).
"""

import numpy as np
import pandas as pd

from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import Claim, Facts, at_least, claim
from learning_dynamics.papers.softmax_dynamics.cases import CASES, SETTING, case_draws
from learning_dynamics.papers.softmax_dynamics.draws import clause_of, most_draws, share_difference
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table

# Settings of the claim, whose values are in workflow/config/softmax_dynamics.yaml:
# - threshold: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise; far above
#   rounding and below the changes that a figure would show; chosen, `vary` in the configuration tries others
# - majority_share: least share of draws that must show the phases with skewed classes in two dimensions

# the controls among the `CASES`, and the rivals in which one has the role of skewed classes in two dimensions
WITHOUT = {"equal": "with equal classes", "wide": "in three dimensions"}
EXCHANGED = {"equal": "equal classes instead of skewed ones", "wide": "three dimensions instead of two"}
SETTING_OF_SIZES = ["counts", *SETTING]  # columns that tell settings of skewed classes apart


@claim(
    "Figure 4, at eight examples",
    scope="eight examples in V = 4 classes, d = 2; equal classes; d = 3; cross-entropy, gradient descent in full and "
    "in small batches from Gaussian starts of scale 1e-4; RankMe over all examples, at every step",
    empirical=True,
    origin="ours",
    quantifier="some setting",
)
def eight_examples_show_three_phases(
    trainings: Table, best: Table, *, threshold: Positive, majority_share: Fraction
) -> Claim:
    """With eight examples, as many as the paper's controls have, the effective rank shows three phases at some class
    sizes, learning rate and batch: it falls, rises, and falls again while the rare classes are learned. It shows them
    in most draws with skewed classes and a bottleneck, and less often without one of these.

    Most draws must show the phases with skewed classes and a bottleneck, and a smaller share in each control. The rank
    is RankMe of all examples, and a fall or a rise counts from {threshold:g} on. A setting is class sizes, scale of the
    start, learning rate and batch; {settings_tried} are tried here. One is judged, on draws that did not choose it:
    {setting}. It came nearest to the claim under another seed; on the draws that try all settings here it is number
    {place}. There {value:.0%} of the draws show the phases ({share_learned:.0%} learn); with equal classes {equal:.0%}
    ({equal_share_learned:.0%} learn), in three dimensions {wide:.0%} ({wide_share_learned:.0%} learn).{full_batches} A
    draw has learned its examples if none has a loss of log 2 or more at the end, so that each example's own class has a
    probability above one half, and if no such probability was below the smallest normal number of double precision on
    the way. Draws that have not learned count against the claim: with skew and bottleneck as if they showed no phases,
    in a control as if they did. The rank is read at every step, because the noise of small batches moves it from step
    to step.
    """
    # by case: skew and a bottleneck (treated), equal classes (equal), three dimensions (wide)
    judged_draws = {case: case_draws(best, case, "examples", threshold) for case in CASES}
    # 1 where a draw shows the phases, 0 where it does not, nan where it has not learned
    shows = {case: np.where(draws["learned"], draws["shows"], np.nan) for case, draws in judged_draws.items()}

    def excess(case: str, other_case: str) -> Estimate:
        """Return by how much more often a case shows the phases than another, of independent starts.

        Draws that have not learned count against an excess: those of `case` as if they showed no phases, those of
        `other_case` as if they did.
        """
        return share_difference(shows[case] == 1, shows[other_case] != 0)

    # Of each control there are two rivals: that it has the role of the treated draws, and that it shows the phases as
    # often as these. Either gives this check the control's draws, as other data; the check of the difference tells the
    # two apart, and the other control's difference stays as it is. A rival is refused if one check does not hold. nan,
    # of a draw that has not learned, counts against the claim in this check.
    yield most_draws(
        "share of draws with warm-up, growth and compression, in this order, skewed classes in two dimensions",
        shows["treated"],
        majority_share=majority_share,
        rivals={
            phrase: shows[control]
            for control, in_words in WITHOUT.items()
            for phrase in (EXCHANGED[control], f"as often {in_words}")
        },
    )
    for control, in_words in WITHOUT.items():
        yield at_least(
            f"share of draws that show the phases, minus that {in_words}",
            excess("treated", control),
            0.0,
            because="what emerges from skew and a bottleneck is rarer without one of them",
            rivals={
                EXCHANGED[control]: {"estimate": excess(control, "treated")},
                f"as often {in_words}": {"estimate": excess(control, control)},
            },
        )
    tried_draws = {case: case_draws(trainings, case, "examples", threshold) for case in CASES}
    treated = _shares(tried_draws["treated"], SETTING_OF_SIZES)["shows"]
    wide = _shares(tried_draws["wide"], SETTING_OF_SIZES)["shows_or_not_learned"]
    # equal classes are the control of all sizes: their shares, without sizes, are repeated for each
    equal = _shares(tried_draws["equal"], SETTING)["shows_or_not_learned"]
    equal = equal.reindex(treated.index.droplevel("counts")).set_axis(treated.index)
    # by setting, the smallest excess of a share over its bound in the three checks: the share must reach
    # `majority_share`, and exceed each control's; negative where one of them fails
    margins = pd.concat([treated - majority_share, treated - equal, treated - wide], axis=1).min(axis=1)
    (setting,) = judged_draws["treated"].groupby(SETTING_OF_SIZES).groups  # all judged draws have one setting
    yield Facts(
        threshold=threshold,
        settings_tried=len(margins),
        place=int((margins > margins.get(setting, np.nan)).sum()) + 1,  # 1 if no setting has a larger margin
        setting=_setting_in_words(setting),
        share_learned=judged_draws["treated"]["learned"].mean(),
        equal=judged_draws["equal"]["shows"].mean(),
        equal_share_learned=judged_draws["equal"]["learned"].mean(),
        wide=judged_draws["wide"]["shows"].mean(),
        wide_share_learned=judged_draws["wide"]["learned"].mean(),
        full_batches=clause_of(
            " In full batches at most {:.0%} of the draws show the phases.",
            treated[treated.index.get_level_values("batch") == 0].max(),
        ),
    )


def _shares(draws: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return, by setting, the shares of draws that show the phases, and that show them or have not learned."""
    either = draws["shows"] | ~draws["learned"]
    return draws.assign(shows_or_not_learned=either).groupby(by)[["shows", "shows_or_not_learned"]].mean()


def _setting_in_words(setting: tuple[str, float, float, int, int]) -> str:
    """Return a setting of `SETTING_OF_SIZES` in words."""
    counts, scale, rate, batch, steps = setting
    batches = "full batches" if batch == 0 else f"batches of {batch}"
    return f"sizes {counts.replace('-', ' : ')}, scale {scale:g}, {batches}, rate {rate:g} and {steps} steps"
