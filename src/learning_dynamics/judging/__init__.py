"""What a claim is: a prediction, a judge that can refuse it, rivals that it must refuse, and the verdict of all draws.

A claim's function is given metrics tables by role and yields checks, the headline first. A check has a number and what
is predicted of it; it may have rivals, a correction, and a fact that the page prints. A rival that alters several
checks is given to each of them, under the same phrase.

Every function of `criteria` takes, besides the parameters that it shows, `rivals`, `printed`, `corrected`, `fact` and
`scaled` (`checks.takes_rivals`). A rival, or a correction, is another value of what the check predicts: the bound of
`at_most`, `at_least`, `every_draw` and `share_of_draws`, `predicted` of `equal` and `equal_on_every_draw`. Where it
changes something else it is a mapping from parameter to argument, as ``{"values": other}``.

- `checks`: a check, and what goes with it
- `inputs`: what a check is given, as arrays
- `criteria`: bounds and equalities, on every draw, on an estimate or on a share of draws
- `verdicts`: from checks to a verdict
"""

from learning_dynamics.judging.checks import (
    NOT_CLAIMED,
    Check,
    Checks,
    Claim,
    Facts,
    Quantifier,
    Reason,
    Untested,
    premise,
    quantifier_of,
    takes_rivals,
)
from learning_dynamics.judging.criteria import (
    at_least,
    at_most,
    at_optimum,
    equal,
    equal_on_every_draw,
    every_draw,
    share_of_draws,
)
from learning_dynamics.judging.verdicts import (
    VERDICTS,
    About,
    Evaluation,
    Judgement,
    claim,
    evaluate,
)

__all__ = [
    "NOT_CLAIMED",
    "VERDICTS",
    "About",
    "Check",
    "Checks",
    "Claim",
    "Evaluation",
    "Facts",
    "Judgement",
    "Quantifier",
    "Reason",
    "Untested",
    "at_least",
    "at_most",
    "at_optimum",
    "claim",
    "equal",
    "equal_on_every_draw",
    "evaluate",
    "every_draw",
    "premise",
    "quantifier_of",
    "share_of_draws",
    "takes_rivals",
]
