"""The limit of the gradient flow: Theorem 3.1 and Corollary 3.1.

Z1, Z2 and alpha are those of `quantities`; (P1) and (P2) are the conditions of Proposition C.5.
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Claim, Facts, Untested, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.draws import (
    LEFT_OPEN,
    ROUNDED_BOUND,
    has_several_interpolators,
    steps_by_rtol,
)
from learning_dynamics.papers.spectral_bias.flow import quantities
from learning_dynamics.papers.spectral_bias.quantities import DISTANCE, DISTANCE_BOUND, SIGMA_BETA, SIGMA_W1, SIGMA_W2
from learning_dynamics.tidy import Draws, Table

ONE_INTERPOLATOR = "as many samples as inputs in every run: there is one interpolator; give fewer samples"


@claim(
    "Theorem 3.1 (i)",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, until the relative residual is "
    "near the integrator's tolerance",
)
def theorem_3_1_i(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$ with $\gamma > 0$, labels that can be fitted and $X$ of full rank, the parameters converge, and
    their limit has zero loss.

    By the imbalance, $|\nabla L|^2 \geq 4\gamma\lambda_{\min}(XX^\top) L$ (Lemma 3.2). So at time $t$ the parameters
    are no further from their limit than $|Y - X\beta(t)| / \sqrt{2\gamma\lambda_{\min}(XX^\top)}$. Their distance from
    the end of the flow is compared with this bound at every recorded time: in {draws} draws it is up to {value:.0%} of
    the bound. At the end the bound is {left:.1e} of the parameters' norm at most; the square root of the integrator's
    relative tolerance is allowed.
    """
    draws = Draws(flows, phase="draw")  # rows with one number for a whole flow
    yield every_draw(
        r"largest $|\theta(t) - \theta_\infty|$ over its bound by the residual",
        # |theta(t) - theta_infinity| sqrt(2 gamma lambda_min(X X^T)) / |Y - X beta(t)|
        draws[quantities.DISTANCE_OVER_ITS_BOUND],
        at_most=1.0,
        because="the bound follows from the imbalance",
        rivals={
            # lambda_min = sigma_min(X)^2 and lambda_max = sigma_max(X)^2: the bound, in proportion to lambda^(-1/2),
            # is smaller by the factor sigma_min(X) / sigma_max(X)
            r"the bound with $\lambda_{\max}$ in place of $\lambda_{\min}$": draws[quantities.INVERSE_CONDITION_OF_X],
            "half the bound": 0.5,  # chosen; refused if some draw comes nearer to its bound than half
        },
    )
    yield every_draw(
        "bound on the rest of the way at the end, relative to the parameters' norm",
        draws[quantities.BOUND_AT_END],
        # chosen: far below one, and far above the residual of ten times rtol at which flows are stopped
        at_most=draws.setting("integration.rtol") ** 0.5,
        because="the square root of the relative tolerance: the end is the limit",
        fact="left",
    )


@claim(
    "Theorem 3.1 (ii)",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale",
)
def theorem_3_1_ii(flows: Sequence[Table], unequal: Table) -> Claim:
    r"""From $I_\gamma$ with any $\gamma > 0$, and labels that can be fitted, the predictor converges to the
    interpolator of least $\ell_2$ norm, $\beta_* = X^+ Y$.

    In {draws} draws the distance at the end is {largest:.1e} of $|\beta_*|$ at most, no more than the remaining
    residual leaves open. The theorem needs an imbalance that is a multiple of the identity. From rows of unequal
    lengths, with the same zero second layer and the data of one of these runs, the flow ends at interpolators whose
    distance from $\beta_*$ is {unequal:.2g} of $|\beta_*|$ (median). In the proof, Lemma C.6 prints Woodbury's identity
    with a minus for a plus (errata 11). The conclusion stands: the columns of
    $\beta = 2\gamma\alpha(I - \alpha^\top\alpha)^{-1}$ are in the span of the data.
    """
    if not any(has_several_interpolators(table) for table in flows):
        raise Untested(ONE_INTERPOLATOR)
    limits = Draws(flows, phase="limit")
    distance_from_unequal_rows = float(np.nanmedian(Draws(unequal, phase="limit")[DISTANCE]))
    # chosen: small, and far above what a relative residual of 1e-11, where flows are stopped, leaves open
    rivals = {r"an interpolator $10^{-6}$ away": 1e-6}
    if has_several_interpolators(flows[0]):  # the run from unequal rows has the data of this one
        rivals["an interpolator as far away as the limit from rows of unequal lengths"] = distance_from_unequal_rows
    yield equal_on_every_draw(
        r"$|\beta - \beta_*| / |\beta_*|$ at the end of the flow",
        limits[DISTANCE],
        0.0,
        # the distance of a beta in the row space of X is |X beta - Y| / (sigma_min(X) |beta_*|) at most
        tolerance=limits[DISTANCE_BOUND] * ROUNDED_BOUND + steps_by_rtol(limits),
        relative_to=1.0,
        because=LEFT_OPEN,
        rivals=rivals,
        fact="largest",
    )
    yield Facts(unequal=distance_from_unequal_rows)


@claim(
    "Theorem 3.1 (iii)",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale",
)
def theorem_3_1_iii(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$, with labels that can be fitted, the flow ends, among all interpolating networks, at one that
    minimises $\frac{1}{2}|W_2|^2 + \frac{1}{2}|W_1|^2 - \gamma \log\det(W_1 W_1^\top)$.

    This is checked in two ways. First, both gradients of the Lagrangian, in $W_1$ and in $W_2$, are zero at the end,
    with a multiplier in the row space of $X$ (Proposition C.5). Second, no random perturbation of the end, led back to
    the interpolators, lowers the potential. The paper derives the conditions on the gradients as necessary. They are
    sufficient too: with $S = W_1 W_1^\top$ the problem is to minimise $\frac{1}{2}\mathrm{tr} S - \gamma\log\det S +
    \frac{1}{2}\mathrm{tr}(\beta^\top S^{-1}\beta)$ under $X\beta = Y$, which is convex, so that a stationary point is a
    global minimum. By Lemmas 3.2 and C.3 both gradients are zero along the whole flow, so that their errors are the
    integrator's. Theorem 3.1 (i) says that the end is an interpolator.
    """
    limits = Draws(flows, phase="limit")
    condition = Draws(flows, phase="flow").largest(quantities.CONDITION_OF_Z1)
    tolerance = steps_by_rtol(limits) * condition  # alpha = Z1^{-T} Z2 multiplies the error of Z1 by its condition

    yield every_draw(
        "gradient of the Lagrangian in $W_1$ at the end, relative to $|W_1|$",
        limits[quantities.GRADIENT_W1],  # |Z1 - 2 gamma Z1^{-T} - X^+ X alpha Z2^T| / |Z1|, by (P2)
        at_most=tolerance,
        because="steps times the relative tolerance times the condition number of $Z_1$",
        predicted=0.0,
        rivals={
            "the sum of squares alone, by its gradient": {"values": limits[quantities.GRADIENT_W1_WITHOUT_LOG_DET]},
            # the potential has gamma before the logarithm
            r"$2\gamma$ before the logarithm, by its gradient": {
                "values": limits[quantities.GRADIENT_W1_TWICE_LOG_DET]
            },
        },
    )
    # on draws with a single interpolator the rival changes nothing; those with several refuse it
    rivals_of_W2 = {}
    if any(has_several_interpolators(table) for table in flows):
        gradient_elsewhere = limits[quantities.GRADIENT_W2_ELSEWHERE]
        rivals_of_W2["another interpolator, a thousandth away in $W_2$"] = {"values": gradient_elsewhere}
    yield every_draw(
        "gradient of the Lagrangian in $W_2$ at the end, relative to $|W_2|$",
        limits[quantities.GRADIENT_W2],  # |Z2 - Z1^T X^+ X alpha| / |Z2|, by (P1)
        # Z1^T alpha errs by `tolerance` times |Z1| |alpha|, which is cond(Z1) |Z2| at most, as alpha = Z1^{-T} Z2
        at_most=tolerance * condition,
        because="steps times the relative tolerance times the squared condition number of $Z_1$",
        predicted=0.0,
        rivals=rivals_of_W2,
    )
    yield every_draw(
        "least increase of the potential over perturbations",
        limits[quantities.INCREASE],
        at_least=0.0,
        because="no perturbation lowers it",
        rivals={
            "the sum of squares alone, by perturbations": {"values": limits[quantities.INCREASE_WITHOUT_LOG_DET]},
            r"$2\gamma$ before the logarithm, by perturbations": {"values": limits[quantities.INCREASE_TWICE_LOG_DET]},
        },
    )


@claim(
    "Corollary 3.1",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale",
)
def corollary_3_1(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$, with labels that can be fitted, the hidden layer ends with $\sigma_i(W_1) =
    (\sqrt{\sigma_i(\beta_*)^2 + \gamma^2} + \gamma)^{1/2}$ for $i \leq k$, and $\sqrt{2\gamma}$ for the other $d - k$,
    where $k \leq d$.

    A small scale leaves a hidden layer close to rank $k$, a large one a layer of full rank. The largest error in
    {draws} draws is {largest:.1e} of $\sigma_1$. A second check tests the spectrum of $W_2$, which follows in the same
    way (Lemma C.10).
    """
    limits = Draws(flows, phase="limit")
    sigma_W1, sigma_W2 = limits.entries(SIGMA_W1), limits.entries(SIGMA_W2)
    # by how much |beta - beta_*| <= |X beta - Y| / sigma_min(X) can change a singular value of W1, over sigma_1(W1)
    tolerance = limits[quantities.SIGMA_W1_LEFT_OPEN] * ROUNDED_BOUND + steps_by_rtol(limits)

    def sigma_W1_of(*, beta_times: float = 1.0, gamma_times: float = 1.0) -> np.ndarray:
        """Return sigma_i(W1) by the corollary, for beta_* and gamma multiplied by factors, shape (draws, inputs)."""

        def of_one_table(limit: Draws) -> np.ndarray:
            sigma_star = limit.entries(SIGMA_BETA, column="predicted")  # sigma_i(beta_*), shape (draws, k)
            gamma, inputs = limit.setting("gamma")[:, None], limit.entries(SIGMA_W1).shape[1]
            return theory.hidden_singular_values(beta_times * sigma_star, gamma_times * gamma, inputs)

        return limits.per_table(of_one_table)  # tables may differ in their number of inputs

    yield equal_on_every_draw(
        r"largest error of $\sigma_i(W_1)$ at the end, relative to $\sigma_1$",
        sigma_W1,
        sigma_W1_of(),
        tolerance=tolerance,
        because=LEFT_OPEN,
        rivals={
            r"the square root of $\sigma_i(\beta_*)$, as from balanced layers": sigma_W1_of(gamma_times=0.0),
            r"$\gamma/2$ in place of $\gamma$": sigma_W1_of(gamma_times=0.5),
            "all singular values as at the start": sigma_W1_of(beta_times=0.0),
        },
        fact="largest",
    )
    sigma_star, gamma = limits.entries(SIGMA_BETA, column="predicted"), limits.setting("gamma")[:, None]
    # sigma_1(W1)^2 - sigma_1(W2)^2 = 2 gamma stays (Lemma 3.2): both squares err by the same amount, so that the error
    # relative to sigma_1(W2) is larger by the ratio of the squares, which is one or more but for rounding.
    # No rivals here: each rival above changes beta_* or gamma, and the check of W1 refuses it
    ratio_of_squares = np.maximum((sigma_W1[:, 0] / sigma_W2[:, 0]) ** 2, 1.0)
    yield equal_on_every_draw(
        r"largest error of $\sigma_i(W_2)$ at the end, relative to $\sigma_1$",
        sigma_W2,
        theory.output_singular_values(sigma_star, gamma),
        tolerance=tolerance * ratio_of_squares,
        because=LEFT_OPEN,
    )
