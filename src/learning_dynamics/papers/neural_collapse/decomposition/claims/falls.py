"""Along training the terms of the loss add up to it, and L_NC2/3 falls furthest (Theorems 1 and 2, figure 2).

The docstring of `claims/__init__.py` has the symbols.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics import evidence
from learning_dynamics.judging import Check, Claim, Facts, at_least, claim, takes_rivals
from learning_dynamics.papers.neural_collapse.draws import zero_on_every_draw
from learning_dynamics.papers.neural_collapse.training.quantities import (
    LOSS,
    LOSS_LS_PERP,
    LOSS_LS_PERP_DECAY,
    LOSS_NC1,
    LOSS_NC1_DECAY,
    LOSS_NC23,
    Decay,
)
from learning_dynamics.papers.neural_collapse.trainings import (
    EFFECTIVELY_ZERO,
    IN_SCOPE_FEW_STEPS,
    SCOPE,
    after_errors_end,
    by_seed,
    deviation_share,
    last_epoch_at_full_rate,
    loss_term,
    over_trainings,
    values_at_errors_end,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table

# The terms are computed from float64 moments of the features, the loss from float64 outputs of the same features. They
# differ by rounding, 2.2e-16, times the condition number of the regularised second moment S, which is at most the trace
# of S over the decay. Chosen: 1e-10, which allows a condition number of 4.5e5, or a trace of 1,100 at the trained decay
# of 2.5e-3
NETWORK_ROUNDING = 1e-10


@claim(
    "Theorems 1 and 2, Figure 2",
    scope=SCOPE + ", every recorded epoch of every training",
    origin="ours",
    quantifier="all draws",
)
def identity_on_networks(trainings: Sequence[Table]) -> Claim:
    r"""On networks in training, too, the three terms that Figure 2 draws, $L_{NC1}$, $L_{NC2/3}$ and $L_{LS}^\perp$,
    add up to the loss, which is summed example by example.
    """
    # no training is left out: an identity has no exceptions

    def largest_gap(
        *, terms: Sequence[Quantity] = (LOSS_NC1, LOSS_NC23, LOSS_LS_PERP), left_out: Quantity | None = None
    ) -> np.ndarray:
        """Return |sum of terms less what is left out - loss| / loss, the largest over epochs, shape (trainings,)."""

        def of_training(table: Table) -> np.ndarray:
            loss = by_seed(table, LOSS)  # epochs by seeds
            total = sum(by_seed(table, term) for term in terms)
            if left_out:
                total = total - by_seed(table, left_out)
            gap = np.abs(total - loss) / loss
            # nan, and the training undecided, where the gap of one epoch is nan
            return gap.max(skipna=False).to_numpy()

        return over_trainings(trainings, of_training)

    # |L_NC1 + L_NC2/3 + L_LS^perp - L| / L
    yield zero_on_every_draw(
        "sum of the terms minus the loss, relative, at its worst epoch",
        largest_gap(),
        NETWORK_ROUNDING,
        "float64 rounding of moments, times the conditioning of the regularised second moment",
        # chosen: what the rivals leave out is some thousandths of the loss, or more
        resolution=1e-4,
        rivals={
            "no weight decay in $L_{NC1}$": largest_gap(left_out=LOSS_NC1_DECAY),
            "no weight decay in $L_{LS}^\\perp$": largest_gap(left_out=LOSS_LS_PERP_DECAY),
            "the classifier on the central path": largest_gap(terms=[LOSS_NC1, LOSS_NC23]),
        },
    )


# Settings of `nc23_vanishes_first`, whose values are in workflow/config/neural_collapse.yaml:
# - factor: how many times as far as another term L_NC2/3 must fall
# - parts: whether terms are whole (all), or without what weight decay adds to them (data)
# - since: epoch from which on falls are counted: the first recorded one (start), or the end of train errors
#   (zero_error)
# - until: epoch up to which falls are counted: the last (end), or the last before the learning rate drops (drop)
# - decay: the weight decay in the terms: the training's (trained), or a tenth of it, as copies of the authors' notebook
#   have it (notebook)


@claim("Figure 2", scope=SCOPE + IN_SCOPE_FEW_STEPS, empirical=True, quantifier="an average")
def nc23_vanishes_first(
    trainings: Sequence[Table],
    *,
    factor: Positive,
    parts: Literal["all", "data"],
    since: Literal["start", "zero_error"],
    until: Literal["end", "drop"],
    decay: Decay,
) -> Claim:
    r"""Of the three terms of the loss, $L_{NC2/3}$ diminishes fastest, in the mean over trainings.

    The fall of $L_{NC2/3}$ over that of each other term, in the geometric mean over trainings, must be {factor:g} or
    more with its whole 95 % interval. A term's fall is its value at the first recorded epoch over its value at the
    last. A variant counts falls from the end of train errors on. Another leaves out what weight decay adds to the
    terms, which keeps $L_{NC1}$ from zero.

    The comparison with $L_{LS}^\perp$ decides. The comparison with $L_{NC1}$ follows nearly from a formula alone
    (errata 2). Where variability collapses evenly, $L_{NC2/3}$ falls as the square of $L_{NC1}$, whatever the
    arrangement of class means. This is no evidence that class means become a simplex before activations are compressed.

    With the trained weight decay $\lambda$ the terms are those of the loss that was minimised; $L_{NC2/3}$ then falls
    {mean_advantage:.1g} times as far as $L_{LS}^\perp$ (geometric mean; {smallest_advantage:.1g} to
    {largest_advantage:.1g} over trainings). Copies of the authors' notebook, which the paper cites for figure 2, put
    half the optimiser's weight decay into the terms. `MSELoss` is a mean over ten classes, so that in the paper's units
    the trained $\lambda$ is five times the optimiser's, and the notebook's $\lambda$ a tenth of the trained one. With
    it, a variant, $L_{NC2/3}$ falls {mean_advantage_notebook:.2g} times as far as $L_{LS}^\perp$. But its least-squares
    classifier is not the optimum of the loss that was trained, and $L_{LS}^\perp$, which the figure is meant to show as
    negligible, includes the distance between both optima: after the end of train errors it reaches
    {largest_share_notebook:.1g} of $L_{LS}$, with the trained $\lambda$ {largest_share:.1g} (largest over trainings).
    """

    def decades_of_fall(term: Quantity, of_decay: Decay) -> np.ndarray:
        """Return log10 of a term where its fall begins over the term where it ends, shape (trainings,)."""

        def of_training(table: Table) -> pd.Series:
            values = loss_term(table, term, of_decay, without_decay=parts == "data")  # epochs by seeds
            if since == "start":
                first = values.iloc[0]
            else:
                # nan where train errors never end, which leaves the check undecided
                first = values_at_errors_end(values, table, EFFECTIVELY_ZERO)
            if until == "drop":
                values = values[values.index <= last_epoch_at_full_rate(table)]
            return np.log10(first / values.iloc[-1])

        return over_trainings(trainings, of_training)

    nc1_fall, nc23_fall, ls_perp_fall = (decades_of_fall(term, decay) for term in (LOSS_NC1, LOSS_NC23, LOSS_LS_PERP))
    # By a rival another term falls fastest. Its advantage in a check is the fall of that term over the fall of one of
    # the other two. A rival may pass one of the two checks; the other then refuses it
    nc1_first, ls_perp_first = "$L_{NC1}$ first", "$L_{LS}^\\perp$ first"
    yield _check_advantage(
        "$\\log_{10}$ of the fall of $L_{NC2/3}$ over that of $L_{LS}^\\perp$",
        nc23_fall - ls_perp_fall,
        factor,
        rivals={nc1_first: nc1_fall - ls_perp_fall, ls_perp_first: ls_perp_fall - nc1_fall},
    )
    yield _check_advantage(
        "$\\log_{10}$ of the fall of $L_{NC2/3}$ over that of $L_{NC1}$",
        nc23_fall - nc1_fall,
        factor,
        rivals={nc1_first: nc1_fall - nc23_fall, ls_perp_first: ls_perp_fall - nc23_fall},
    )

    def advantage_over_deviation(of_decay: Decay) -> np.ndarray:
        """Return by how many decades L_NC2/3 falls further than L_LS^perp, shape (trainings,)."""
        return decades_of_fall(LOSS_NC23, of_decay) - decades_of_fall(LOSS_LS_PERP, of_decay)

    def largest_deviation_share(of_decay: Decay) -> float:
        """Return the largest L_LS^perp / L_LS after the end of train errors, over epochs and trainings."""
        largest_of_training = []
        for table in trainings:
            shares = after_errors_end(deviation_share(table, of_decay), table, EFFECTIVELY_ZERO)
            largest_of_training.append(shares.max())
        return np.nanmax(np.concatenate(largest_of_training))

    # facts on advantages are nan, and the checks undecided, if one training's advantage is nan
    advantage_if_trained = advantage_over_deviation("trained")
    yield Facts(
        factor=factor,
        mean_advantage=10 ** np.mean(advantage_if_trained),
        smallest_advantage=10 ** np.min(advantage_if_trained),
        largest_advantage=10 ** np.max(advantage_if_trained),
        mean_advantage_notebook=10 ** np.mean(advantage_over_deviation("notebook")),
        largest_share=largest_deviation_share("trained"),
        largest_share_notebook=largest_deviation_share("notebook"),
    )


@takes_rivals("advantage")
def _check_advantage(name: str, advantage: np.ndarray, factor: float) -> Check:
    """Check that one term falls `factor` times as far as another, in the mean over trainings; rivals are advantages.

    `advantage` is in decades, shape (trainings,): log10 of the fall of the one over the fall of the other. A nan leaves
    the check undecided.
    """
    bound = float(np.log10(factor))
    return at_least(
        name,
        evidence.mean(advantage),
        bound,
        because="95 % interval over all trainings",
        # the interval decides; the page says how many trainings have such an advantage, and how many have not
        draws_for=int((advantage >= bound).sum()),
        draws_against=int((advantage < bound).sum()),
        draws_undecided=int(np.isnan(advantage).sum()),
    )
