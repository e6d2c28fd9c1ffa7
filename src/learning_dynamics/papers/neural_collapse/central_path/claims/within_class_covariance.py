"""The within-class covariance: what its trace says of neural collapse, and its rank in training.

Sigma_W and Sigma_B are the covariances of P features within C classes and between them, M, (P, C), the class means less
their average, and omega_j the C - 1 non-zero singular values of the SNR matrix Sigma_W^{-1/2} M. The trace is
tr(pinv(Sigma_B) Sigma_W), which is C times NC1, and the sum is that of 1 / omega_j^2 over j. Raw features are not
renormalised, renormalised ones have Sigma_W = I. A draw is one random feature matrix, one start of a flow, or one
training of a network.
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import NOT_CLAIMED, Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.predictions import FLOWS
from learning_dynamics.papers.neural_collapse.central_path.quantities import OMEGA, TRACE, TRACE_RENORMALISED
from learning_dynamics.papers.neural_collapse.draws import (
    GAUSSIAN_FEATURES,
    ROUNDING,
    Size,
    by_size,
    integration_error,
    over_sizes,
    relative_error,
    zero_on_every_draw,
)
from learning_dynamics.papers.neural_collapse.training.quantities import (
    CLASSES,
    DEAD_FEATURES,
    FEATURES,
    NC1,
    RANK,
    SNR,
)
from learning_dynamics.papers.neural_collapse.trainings import at_the_end, by_seed, over_trainings
from learning_dynamics.tidy import Quantity, Table, select


@claim(
    "Appendix D.6, proof of Corollary 2 (NC1)",
    scope=GAUSSIAN_FEATURES + ", raw and renormalised; both flows; last-layer features of trained networks",
    correction=r"$\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) = C\sum_j 1/\omega_j^2$ where class means span an invariant "
    r"subspace of $\Sigma_W$, for example where $\Sigma_W = I$; elsewhere the trace is larger.",
    reason="the trace is neither the sum nor, off the renormalised features, a multiple of it",
    quantifier="all draws",
)
def appendix_d_6(features: Table, flows: Table, trainings: Sequence[Table]) -> Claim:
    r"""The trace that measures variability collapse is a function of the SNR singular values:
    $\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) = \sum_j 1/\omega_j^2$ for any features with $\Sigma_W$ of full rank.

    The last line of the derivation drops a factor $C$, without consequence for the limit. An earlier line inverts a
    product factor by factor, which is right where the class means span an invariant subspace of $\Sigma_W$. With $\bar
    M = USV^\top$, $U^\top\Sigma_WU \ge (U^\top\Sigma_W^{-1}U)^{-1}$ by Schur's complement, so that the trace is never
    below $C\sum_j1/\omega_j^2$. On features that are not renormalised it is up to {largest_ratio_raw:.3g} times this
    bound; in the median network at the end of training, {median_ratio_of_networks:.3g} times. So NC1 follows on the
    renormalised features, for which it is proved. On other features it follows if $\Sigma_W$ is well conditioned too.
    """

    def ratios(table: Table, quantity: Quantity, *, has_factor_C: bool, **where: str) -> np.ndarray:
        """Return the trace over its prediction, shape (draws, times).

        The prediction is C sum_j 1 / omega_j^2, or as printed the sum without the factor C (errata 6).
        """

        def of_size(size: Size, trace: np.ndarray, omega: np.ndarray) -> np.ndarray:
            # trace / (C sum_j 1 / omega_j^2), shape (draws, times)
            over_sum_with_C = trace[..., 0] / theory.trace_bound(omega, size.classes)
            return over_sum_with_C if has_factor_C else size.classes * over_sum_with_C

        return over_sizes(of_size, trace=by_size(table, quantity, **where), omega=by_size(table, OMEGA, **where))

    def errors(table: Table, quantity: Quantity, *, has_factor_C: bool, **where: str) -> np.ndarray:
        """Return the largest |ratio - 1| of each draw, shape (draws,)."""
        return relative_error(ratios(table, quantity, has_factor_C=has_factor_C, **where), 1.0)

    # Phrases of two rivals, wrong corrections. `equality`: the trace equals C sum_j 1 / omega_j^2 everywhere, not on
    # renormalised features alone; it passes there and along flows, and the first check of raw features refuses it.
    # `bound`: the trace is no less than the sum without C; it passes on raw features, and the renormalised ones refuse
    # it
    equality = "$C\\sum_j1/\\omega_j^2$ for any features"
    bound = "a bound without $C$"

    # on renormalised features and along flows an equality: |tr(pinv(Sigma_B) Sigma_W) / (C sum_j 1 / omega_j^2) - 1|,
    # as printed without C
    without_C = errors(features, TRACE_RENORMALISED, has_factor_C=False)
    with_C = errors(features, TRACE_RENORMALISED, has_factor_C=True)
    yield zero_on_every_draw(
        "renormalised features: trace over the sum, minus one",
        without_C,
        ROUNDING,
        "rounding",
        corrected=with_C,
        rivals={equality: with_C, bound: without_C},
    )
    for flow in FLOWS:
        without_C = errors(flows, TRACE, has_factor_C=False, flow=flow)
        with_C = errors(flows, TRACE, has_factor_C=True, flow=flow)
        yield zero_on_every_draw(
            f"along the flow, {flow} map: trace over the sum, minus one",
            without_C,
            integration_error(flows),
            "error of the integrator",
            corrected=with_C,
            rivals={equality: with_C, bound: without_C},
        )

    # on raw features an equality as printed, and a bound as corrected
    yield zero_on_every_draw(
        "raw features: trace over the sum, minus one, an equality",
        errors(features, TRACE, has_factor_C=False),
        ROUNDING,
        "rounding",
        corrected=NOT_CLAIMED,  # the correction has the bound below
        rivals={equality: errors(features, TRACE, has_factor_C=True)},
    )
    # shape (draws,) each: features have one time
    raw = ratios(features, TRACE, has_factor_C=True)[:, 0]
    raw_without_C = ratios(features, TRACE, has_factor_C=False)[:, 0]

    def least_excess(size: Size, omega: np.ndarray) -> np.ndarray:
        """Return the least trace over the sum, minus one, that is allowed, shape (draws,).

        Where class means leave directions free the trace is larger than the sum. Where P = C - 1 they span all
        directions, which is an invariant subspace, and it equals the sum.
        """
        leaves_directions_free = size.features >= size.classes
        return np.full(len(omega), ROUNDING if leaves_directions_free else -ROUNDING)

    yield every_draw(
        "raw features: trace over $C$ times the sum, minus one, a bound",
        raw - 1,
        at_least=over_sizes(least_excess, omega=by_size(features, OMEGA)),
        because="the trace is larger than $C\\sum_j1/\\omega_j^2$ by more than rounding; no less with $C-1$ features",
        printed=NOT_CLAIMED,  # of the correction and the rival `bound` alone: the others are judged as equalities above
        rivals={equality: NOT_CLAIMED, bound: {"values": raw_without_C - 1}},
    )
    # of all trainings, shape (trainings,); those whose covariance lacks rank are left out
    networks, number_rank_deficient = _trace_over_sum_of_networks(trainings)
    yield every_draw(
        "trained networks: trace over the sum",
        networks,
        at_least=1 - 1e-6,  # chosen: about eight units of float32's rounding, 1.2e-7
        because="the trace is no less than $C\\sum_j1/\\omega_j^2$, to rounding of float32 features",
        excluded={"their covariance lacks rank": number_rank_deficient},
        printed=NOT_CLAIMED,  # the correction's bound: paper and rival have an equality, which raw features judge
        rivals={equality: NOT_CLAIMED},
    )
    yield Facts(largest_ratio_raw=raw.max(), median_ratio_of_networks=np.median(networks))


def _trace_over_sum_of_networks(trainings: Sequence[Table]) -> tuple[np.ndarray, int]:
    """Return the trace over C sum_j 1 / omega_j^2 at the last epoch, and how many covariances lack rank.

    The statement is about covariances of full rank, so that networks that lack it are left out. If that is all of them,
    a nan for each is returned, which leaves the check undecided; so does a network without NC1.
    """

    def least_traces(table: Table) -> np.ndarray:
        """Return C sum_j 1 / omega_j^2 of each seed's network at the last epoch."""
        spectra = select(table, SNR, epoch=table["epoch"].max())
        bounds = []
        for seed, classes in by_seed(table, CLASSES).iloc[-1].items():
            omega = select(spectra, seed=seed)["value"].to_numpy()  # shape (C - 1,)
            bounds.append(theory.trace_bound(omega, classes))
        return np.array(bounds)

    traces = at_the_end(trainings, CLASSES) * at_the_end(trainings, NC1)  # NC1 is the trace over C
    ratios = traces / over_trainings(trainings, least_traces)
    is_deficient = at_the_end(trainings, RANK) < at_the_end(trainings, FEATURES)
    included = np.full_like(ratios, np.nan) if is_deficient.all() else ratios[~is_deficient]
    return included, int(is_deficient.sum())


@claim(
    "Section 3, footnote 12",
    scope="networks of three families, every recorded epoch; at the default scale small ones, on 8 x 8 digits",
    empirical=True,
    quantifier="all draws",
)
def covariance_full_rank(trainings: Sequence[Table]) -> Claim:
    r"""The within-class covariance of last-layer features keeps full rank in training, so that $\Sigma_W^{-1/2}$
    exists.

    The rank counts directions whose variance, over the features' mean square, is above the square of float32's
    rounding. It must be the number of features at every recorded epoch. Dead units have no variance: they are a share
    of {median_dead_share:.1g} of all features at the epoch that has most (median over trainings).
    """
    # shape (trainings,) each; the last two over recorded epochs. A rank that is nan leaves its training undecided
    n_features = at_the_end(trainings, FEATURES)
    lowest_rank = over_trainings(trainings, lambda table: by_seed(table, RANK).min(skipna=False))
    largest_dead_share = over_trainings(trainings, lambda table: by_seed(table, DEAD_FEATURES).max())
    yield equal_on_every_draw(
        "directions that $\\Sigma_W$ lacks at its lowest rank, as a share of the features",
        lowest_rank / n_features,
        np.ones_like(n_features),
        tolerance=0.0,
        relative_to=1.0,  # shares are relative already
        because="a rank is a whole number",
        rivals={  # each predicts another share
            "rank $C-1$": (at_the_end(trainings, CLASSES) - 1) / n_features,
            "one feature that never varies": (n_features - 1) / n_features,
        },
        scaled=False,  # no smallest refused error is sought: with a tolerance of zero every other share is refused
    )
    yield Facts(median_dead_share=np.median(largest_dead_share))
