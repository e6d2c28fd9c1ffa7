"""The limit of the gradient flow: Theorem 3.1 and Corollary 3.1.

A network with d inputs, k outputs and the layers W1 and W2 is trained on X, with n samples as rows, and Y. beta = W1 W2
is its predictor, beta_* = X^+ Y the interpolator of least norm, |.| the Frobenius norm. The flow starts at I_gamma:
W1(0) = sqrt(2 gamma) P with orthonormal rows, P P^T = I, and W2(0) = 0. Z1 = W1 P^T and Z2 = P W2 are the layers in the
span of the rows of P, and alpha = Z1^{-T} Z2. The imbalance Z1^T Z1 - Z2 Z2^T stays 2 gamma I (Lemma 3.2).

With Psi_1(Z1) + Psi_2(Z2) the potential that the limit minimises among interpolators, (P1) and (P2) are the two
conditions of Proposition C.5: Z1^{-T} grad Psi_2(Z2) is in the row space of X, and grad Psi_1(Z1) is this times Z2^T.
Here Psi_2(Z2) = |Z2|^2 / 2, so that Z1^{-T} grad Psi_2(Z2) is alpha.

`quantities` is the module of this topic; names that other topics share are imported from the paper's. Tables have rows
of three phases: `flow`, along the flow; `limit`, at its end; `draw`, one number for a whole flow. A draw is one random
data set and start. At the limit, a draw that did not arrive is nan in all quantities, and the judge counts it as
undecided.
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

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $\theta$ is both layers together.
    By the imbalance of the layers (Lemma 3.2), $|\nabla L|^2 \geq 4\gamma\lambda_{\min}(XX^\top) L$. So at time $t$ the
    parameters are no further from their limit than $|Y - X\beta(t)| / \sqrt{2\gamma\lambda_{\min}(XX^\top)}$. Their
    distance from the end of the flow is compared with this bound at every recorded time: in {draws} draws it is up to
    {value:.0%} of the bound. At the end the bound is {largest_bound_at_end:.1e} of the parameters' norm at most; the
    square root of the integrator's relative tolerance is allowed.
    """
    draws = Draws(flows, phase="draw")
    yield every_draw(
        r"largest $|\theta(t) - \theta_\infty|$ over its bound by the residual",
        # |theta(t) - theta_infinity| sqrt(2 gamma lambda_min(X X^T)) / |Y - X beta(t)|, the largest over times
        draws[quantities.DISTANCE_OVER_ITS_BOUND],
        at_most=1.0,
        because="the bound follows from the imbalance",
        rivals={  # each is another bound on the same ratio
            # lambda_min = sigma_min(X)^2 and lambda_max = sigma_max(X)^2: the bound, in proportion to lambda^(-1/2),
            # is smaller by the factor sigma_min(X) / sigma_max(X)
            r"the bound with $\lambda_{\max}$ in place of $\lambda_{\min}$": draws[quantities.INVERSE_CONDITION_OF_X],
            "half the bound": 0.5,  # chosen; refused if some draw comes nearer to its bound than half
        },
    )
    yield every_draw(
        "bound on the rest of the way at the end, relative to the parameters' norm",
        draws[quantities.BOUND_AT_END],  # |Y - X beta| / (sqrt(2 gamma lambda_min(X X^T)) |theta_infinity|)
        # chosen: far below one, and far above the relative residual at which flows are stopped, ten times rtol
        at_most=draws.setting("integration.rtol") ** 0.5,
        because="the square root of the relative tolerance: the end is the limit",
        fact="largest_bound_at_end",
    )


@claim(
    "Theorem 3.1 (ii)",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale",
)
def theorem_3_1_ii(flows: Sequence[Table], unequal: Table) -> Claim:
    r"""From $I_\gamma$ with any $\gamma > 0$, and labels that can be fitted, the predictor converges to the
    interpolator of least $\ell_2$ norm, $\beta_* = X^+ Y$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$. At the end, the distance of
    $\beta = W_1 W_2$ from $\beta_*$ is at most {largest_distance:.1e} of $|\beta_*|$ in {draws} draws. In each draw it
    is within what the remaining residual and the integrator's error leave open. The theorem needs an imbalance,
    $Z_1^\top Z_1 - Z_2 Z_2^\top$ with $Z_1 = W_1 P^\top$ and $Z_2 = P W_2$, that is a multiple of the identity. If the
    orthogonal rows of $W_1(0)$ have unequal lengths, with $W_2(0) = 0$ and the data of one of these runs, the flow ends
    at interpolators whose distance from $\beta_*$ is {distance_from_unequal_rows:.2g} of $|\beta_*|$ (median). In the
    proof, Lemma C.6 prints Woodbury's identity with a minus for a plus (errata 11). The conclusion stands: the columns
    of $\beta = 2\gamma\alpha(I - \alpha^\top\alpha)^{-1}$, with $\alpha = Z_1^{-\top} Z_2$, are in the span of the
    data.
    """
    if not any(has_several_interpolators(table) for table in flows):
        raise Untested(ONE_INTERPOLATOR)
    limits = Draws(flows, phase="limit")
    # over the draws that arrived: the others are nan
    distance_from_unequal_rows = float(np.nanmedian(Draws(unequal, phase="limit")[DISTANCE]))
    # A rival predicts another distance, the same on every draw. This one is chosen: small, and far above what a
    # relative residual of 1e-11, where flows are stopped, leaves open
    rivals = {r"an interpolator $10^{-6}$ away": 1e-6}
    # the flow from unequal rows has the data of the first of `flows`, by the configuration: with a single interpolator
    # it ends at beta_* as well, and its distance would be no rival
    if has_several_interpolators(flows[0]):
        rivals["an interpolator as far away as the limit from rows of unequal lengths"] = distance_from_unequal_rows
    yield equal_on_every_draw(
        r"$|\beta - \beta_*| / |\beta_*|$ at the end of the flow",
        limits[DISTANCE],
        0.0,
        # The distance of a beta in the row space of X is |X beta - Y| / (sigma_min(X) |beta_*|) at most, but for
        # rounding. The part of beta outside this space, which the residual does not show, is the integrator's error
        tolerance=limits[DISTANCE_BOUND] * ROUNDED_BOUND + steps_by_rtol(limits),
        relative_to=1.0,  # DISTANCE is relative to |beta_*| already
        because=LEFT_OPEN,
        rivals=rivals,
        fact="largest_distance",
    )
    yield Facts(distance_from_unequal_rows=distance_from_unequal_rows)


@claim(
    "Theorem 3.1 (iii)",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale",
)
def theorem_3_1_iii(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$, with labels that can be fitted, the flow ends, among all interpolating networks, at one that
    minimises $\frac{1}{2}|W_2|^2 + \frac{1}{2}|W_1|^2 - \gamma \log\det(W_1 W_1^\top)$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$. The claim is checked in two ways.
    First, both gradients of the Lagrangian, in $W_1$ and in $W_2$, are zero at the end (Proposition C.5). The
    Lagrangian is this potential with a multiplier for $X W_1 W_2 = Y$. Second, no random perturbation of the end within
    the span of $P$, led back to the interpolators, lowers the potential. The paper derives the conditions on the
    gradients as necessary. They are sufficient too: with $S = W_1 W_1^\top$ the problem is to minimise
    $\frac{1}{2}\mathrm{tr} S - \gamma\log\det S + \frac{1}{2}\mathrm{tr}(\beta^\top S^{-1}\beta)$ under $X\beta = Y$,
    which is convex, so that a stationary point is a global minimum. By Lemmas 3.2 and C.3 both gradients are zero along
    the whole flow, so that their errors are the integrator's. Theorem 3.1 (i) says that the end is an interpolator.
    """
    limits = Draws(flows, phase="limit")
    condition = Draws(flows, phase="flow").largest(quantities.CONDITION_OF_Z1)  # sigma_1(Z1) / sigma_d(Z1)
    tolerance = steps_by_rtol(limits) * condition  # alpha = Z1^{-T} Z2 multiplies the error of Z1 by its condition

    # gradients are written in Z1 and Z2, which have the norms of W1 and W2. In all three checks a rival is another
    # potential, or another interpolator, and changes the values: they are what it would make of the same limit
    yield every_draw(
        "gradient of the Lagrangian in $W_1$ at the end, relative to $|W_1|$",
        # |Z1 - 2 gamma Z1^{-T} - X^+ X alpha Z2^T| / |Z1|, by (P2). X^+ X projects on the row space of X, where
        # alpha is by (P1): minus the projection is X^T times the multiplier
        limits[quantities.GRADIENT_W1],
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
    # on draws with a single interpolator the rival's value is zero and passes; draws with several refuse the rival
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
        limits[quantities.INCREASE],  # relative to the perturbation's squared length
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

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; there are $d$ inputs and $k$
    outputs, and $\beta_*$ is the interpolator of least norm. A small scale leaves a hidden layer close to rank $k$, a
    large one a layer of full rank. The largest error in {draws} draws is {largest_error:.1e} of $\sigma_1(W_1)$. A
    second check tests the spectrum of $W_2$, which follows in the same way (Lemma C.10).
    """
    limits = Draws(flows, phase="limit")
    # shapes (draws, d) and (draws, k); tables with fewer inputs are padded with zeros, here and in the prediction
    sigma_W1, sigma_W2 = limits.entries(SIGMA_W1), limits.entries(SIGMA_W2)
    # by how much |beta - beta_*| <= |X beta - Y| / sigma_min(X) can change a singular value of W1, over sigma_1(W1),
    # but for rounding; and the integrator's error of W1
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
        fact="largest_error",
    )
    sigma_star, gamma = limits.entries(SIGMA_BETA, column="predicted"), limits.setting("gamma")[:, None]
    # sigma_1(W1)^2 - sigma_1(W2)^2 = 2 gamma stays (Lemma 3.2): both squares err by the same amount, so that the error
    # relative to sigma_1(W2) is larger by the ratio of the squares. This is one or more but for rounding, which the
    # maximum takes away. No rivals here: each rival above changes beta_* or gamma, and the check of W1 refuses it
    ratio_of_squares = np.maximum((sigma_W1[:, 0] / sigma_W2[:, 0]) ** 2, 1.0)
    yield equal_on_every_draw(
        r"largest error of $\sigma_i(W_2)$ at the end, relative to $\sigma_1$",
        sigma_W2,
        theory.output_singular_values(sigma_star, gamma),
        tolerance=tolerance * ratio_of_squares,
        because=LEFT_OPEN,
    )
