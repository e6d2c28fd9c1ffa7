"""What keeps a network's classifier off the least-squares one before the learning rate drops (section 3, figure 2).

The package's docstring has the symbols.
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.judging import Claim, Facts, claim, equal
from learning_dynamics.papers.neural_collapse.signs import above_zero, with_every_second_sign_turned
from learning_dynamics.papers.neural_collapse.training.quantities import (
    LOSS_LS_PERP,
    LOSS_NC1,
    LOSS_NC23,
    SPLIT_BATCHES,
    SPLIT_LAW,
    SPLIT_REPLACED,
    SPLIT_SAMPLING,
)
from learning_dynamics.papers.neural_collapse.trainings import (
    EFFECTIVELY_ZERO,
    SCOPE,
    after_errors_end,
    at_the_drop,
    deviation_share,
    last_epoch_at_full_rate,
    without_stl10_exceptions,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table

# A setting of `deviation_split`, whose value is in workflow/config/neural_collapse.yaml:
# - tolerance: by how many decades the measured noise may be off its law, which is of first order in the learning rate;
#   chosen, and below 0.3, a factor of two

REVERSE_ORDER = "the reverse order"  # phrase of a rival of both increases


@claim(
    "Section 3 (A1), Figure 2",
    scope=SCOPE + ", MSE, before the learning rate drops",
    origin="ours",
    empirical=True,
    quantifier="an average",
)
def deviation_split(trainings: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""Before the learning rate drops, the deviation from the least-squares classifier is least, in the mean over
    trainings, for a last layer that is trained alone on fixed features. It is larger where an image's features also
    depend on its batch, and largest in the network, whose features move as well.

    The deviation is $L_{LS}^\perp$. At the last recorded epoch at the full rate the layers before the last one, the
    body, are frozen. The last layer is trained at that rate, starting at the least-squares classifier. On the fixed
    features of evaluation mode only the sampling of batches is left: it keeps $L_{LS}^\perp$ at {sampling_share:.1g} of
    $L_{LS}$. With batch norm in training mode this share is {batches_share:.1g}; in the network it is
    {network_share:.1g} (medians over trainings). Over the recorded epochs from the end of train errors to that epoch
    the network's share is {smallest_network_share:.1g} to {largest_network_share:.1g}.

    On the fixed features, and for batches of $B$ images drawn with replacement, the last layer's $L_{LS}^\perp$ is, to
    first order in the learning rate $\eta$, $\frac{\eta}{4(1-m)}\,\mathrm{Ave}\frac1B\, (\mathrm{Ave}\|e\|^2\|\tilde
    h\|^2 - \lambda^2\|\tilde W_{LS}\|^2)$ with momentum $m$ and errors $e$ of the least-squares classifier. Take the
    logarithm of what is measured over this law, in decades and in the mean over trainings: zero must be in its 95 %
    interval, widened by {tolerance:g} decades to each side.

    The three shares are nested measurements, and no split into causes: what would be left in another order is not
    measured. In a network without batch norm, which `workflow/config/digits_split.yaml` trains, the motion of features
    is added directly to the sampling of batches, and makes most of the deviation (docs/full_scale.md). The sampling of
    batches moves features, too, which a frozen body does not show.
    """
    included, excluded = without_stl10_exceptions(trainings)
    # L_LS^perp at the last recorded epoch at the full learning rate, shape (trainings,) each. The first three are
    # measured on a last layer that is trained on while its body is frozen, the fourth is predicted of the third, and
    # the fifth is the network's own
    fixed_features = at_the_drop(included, SPLIT_SAMPLING)  # on the features of evaluation mode
    batch_features = at_the_drop(included, SPLIT_BATCHES)  # on the features that batch norm takes from each batch
    with_replacement = at_the_drop(included, SPLIT_REPLACED)  # on fixed features, batches drawn with replacement
    law = at_the_drop(included, SPLIT_LAW)  # the first order of `with_replacement` in the learning rate
    network = at_the_drop(included, LOSS_LS_PERP)
    # by how many decades each cause adds to L_LS^perp; each rival is another such increase
    batch_norm_adds = np.log10(batch_features / fixed_features)
    motion_adds = np.log10(network / batch_features)
    yield above_zero(
        "$\\log_{10}$ of the last layer's deviation with the statistics of batches over that without",
        batch_norm_adds,
        excluded=excluded,
        rivals={
            "frozen bodies exchanged in every second training": with_every_second_sign_turned(batch_norm_adds),
            REVERSE_ORDER: -batch_norm_adds,
        },
    )
    yield above_zero(
        "$\\log_{10}$ of the network's deviation over that of a frozen body",
        motion_adds,
        excluded=excluded,
        rivals={
            "networks and frozen bodies exchanged in every second training": with_every_second_sign_turned(motion_adds),
            REVERSE_ORDER: -motion_adds,
        },
    )

    def over_law(factor: float | np.ndarray) -> evidence.Estimate:
        """Return the mean over trainings of log10 of the noise over `factor` times its law."""
        return evidence.mean(np.log10(with_replacement / (law * factor)))

    momentum = Draws(included, draw="seed").setting("momentum")  # m; the law has the factor 1 / (1 - m)
    yield equal(
        "$\\log_{10}$ of the noise of batches drawn with replacement over its law",
        over_law(1.0),
        0.0,
        tolerance=tolerance,
        resolution=0.3,  # a factor of two, which is a rival's
        because="the law is of first order in the learning rate",
        excluded=excluded,
        rivals={  # each is the estimate of the noise over another law
            "a law without momentum": {"estimate": over_law(1 - momentum)},
            "a law twice as large": {"estimate": over_law(2.0)},
        },
    )
    shares_before_drop = [
        after_errors_end(deviation_share(table), table, EFFECTIVELY_ZERO, until=last_epoch_at_full_rate(table))
        for table in included
    ]
    least_squares_loss = at_the_drop(included, LOSS_NC1) + at_the_drop(included, LOSS_NC23)
    yield Facts(
        tolerance=tolerance,
        sampling_share=np.median(fixed_features / least_squares_loss),
        batches_share=np.median(batch_features / least_squares_loss),
        network_share=np.median(network / least_squares_loss),
        smallest_network_share=np.nanmin([shares.min().min() for shares in shares_before_drop]),
        largest_network_share=np.nanmax([shares.max().max() for shares in shares_before_drop]),
    )
