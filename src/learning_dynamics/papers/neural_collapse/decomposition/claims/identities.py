"""Identities of the loss of the least-squares classifier, on any features (section 2, appendices B and C.1).

C classes have the means mu_c, of average mu_G, and lambda is the weight decay. Extended features have a last entry of
one, and extended classifiers W a last column of biases; a tilde marks them in the claims' texts. M, (P + 1, C), has the
extended class means as columns, Sigma_W and Sigma_T are the covariances within classes and in total, and S = Sigma_T +
mu_G mu_G^T + lambda I is the regularised second moment. A draw is one random feature matrix.

All checks but Theorem 1's bound judge a gap, the norm of a difference over the norm of what it is compared with: zero
where the equation holds. The quantity that a check names is such a gap, a rival's is the gap that an altered equation
leaves; where there are several weight decays it is the largest over them. The least-squares solution, and its loss
L_LS, is computed by singular values, without covariances (`central_path.identities.least_squares`).
"""

from learning_dynamics.judging import Claim, claim, every_draw
from learning_dynamics.papers.neural_collapse.central_path import quantities
from learning_dynamics.papers.neural_collapse.draws import ROUNDING, no_gap
from learning_dynamics.tidy import Draws, Table

ANY_FEATURES = "Gaussian features of three sizes, neither centred nor normalised"
ANY_FEATURES_AND_DECAYS = ANY_FEATURES + ", and several weight decays"
ROUNDING_REASON = "rounding: 1000 units; condition numbers are below 500"


@claim("Proposition 1", scope=ANY_FEATURES_AND_DECAYS, quantifier="all draws")
def proposition_1(features: Table) -> Claim:
    r"""For fixed features the loss is least at $\tilde W = \tilde M^\top(\tilde\Sigma_T + \tilde\mu_G\tilde\mu_G^\top +
    \lambda I)^{-1}/C$, in extended features and over balanced classes.

    $\tilde M$ are the extended class means, $\tilde\mu_G$ their mean and $\tilde\Sigma_T$ the total covariance. The
    formula is compared with a solution that forms no covariance: the regularised least-squares problem solved by
    singular values.
    """
    rivals = {
        "half the weight decay": quantities.CLASSIFIER_GAP_HALF_DECAY,  # lambda / 2 for lambda in S
        "the covariance alone": quantities.CLASSIFIER_GAP_WITHOUT_MEAN,  # S without mu_G mu_G^T
    }
    yield no_gap(
        "classifier minus least-squares solution, relative",
        features,
        quantities.CLASSIFIER_GAP,  # of M^T S^{-1} / C from the least-squares solution
        because=ROUNDING_REASON,
        rivals=rivals,
    )


@claim("Theorem 1", scope=ANY_FEATURES_AND_DECAYS, quantifier="all draws")
def theorem_1(features: Table) -> Claim:
    r"""The loss of any classifier is that of the least-squares classifier, $L_{LS}$, plus a deviation $L_{LS}^\perp$
    that is zero for the least-squares classifier alone.

    The loss is quadratic in the classifier. The deviation is half the classifier's squared distance from the optimum in
    the metric of $\tilde S = \tilde\Sigma_T + \tilde\mu_G\tilde\mu_G^\top + \lambda I$, the extended features'
    regularised second moment: $L_{LS}^\perp = \frac12\mathrm{tr}\,(\tilde W - \tilde W_{LS})\,\tilde S\,(\tilde W -
    \tilde W_{LS})^\top$. $L_{LS}$ is computed from the least-squares solution, not from the decomposition. The
    deviation is at least half the squared distance times the smallest eigenvalue $\mu_{\min}$ of $\tilde S$. This is
    above zero under weight decay, and without decay where extended features span all directions, as they do here.
    """
    # L_LS^perp with S less mu_G mu_G^T
    rivals = {"a metric without the global mean's square": quantities.LOSS_DECOMPOSITION_GAP_WITHOUT_MEAN}
    yield no_gap(
        "$L - L_{LS} - L_{LS}^\\perp$, relative to $L$",
        features,
        quantities.LOSS_DECOMPOSITION_GAP,  # |L - L_LS - L_LS^perp| / L
        because=ROUNDING_REASON,
        rivals=rivals,
    )
    # this bound has no rivals: it makes sure that the deviation is zero for the least-squares classifier alone
    yield every_draw(
        "$L_{LS}^\\perp$ over $\\frac12\\mu_{\\min}\\|\\tilde W - \\tilde W_{LS}\\|^2$",
        Draws(features).smallest(quantities.DEVIATION_OVER_LEAST),  # of this ratio, over weight decays
        at_least=1 - ROUNDING,
        because="a quadratic form is no less than its smallest eigenvalue allows, to rounding",
    )


@claim("Theorem 2", scope=ANY_FEATURES_AND_DECAYS, quantifier="all draws")
def theorem_2(features: Table) -> Claim:
    r"""For balanced classes the loss of the least-squares classifier splits into a part from within-class scatter and
    one from class means.

    In extended features these are $L_{NC1} = \frac12\mathrm{tr}\,\tilde W_{LS}(\tilde\Sigma_W + \lambda I)\tilde
    W_{LS}^\top$, which includes weight decay, and $L_{NC2/3} = \frac{1}{2C}\|\tilde W_{LS}\tilde M - I\|_F^2$. The
    squared error separates because deviations from a class's mean sum to zero. The second part gives all class means
    the same weight: classes must be balanced.
    """
    rivals = {
        "no weight decay in the first part": quantities.LS_DECOMPOSITION_GAP_WITHOUT_DECAY,  # L_NC1 without lambda
        "no factor $1/C$": quantities.LS_DECOMPOSITION_GAP_WITHOUT_CLASSES,  # C times as large an L_NC2/3
    }
    yield no_gap(
        "$L_{LS} - L_{NC1} - L_{NC2/3}$, relative to $L_{LS}$",
        features,
        quantities.LS_DECOMPOSITION_GAP,  # |L_LS - L_NC1 - L_NC2/3| / L_LS
        because=ROUNDING_REASON,
        rivals=rivals,
    )


@claim("Equation 6", scope=ANY_FEATURES + "; no weight decay", quantifier="all draws")
def equation_6(features: Table) -> Claim:
    r"""Without weight decay the optimal classifier is $W = \bar M^\top\Sigma_T^{-1}/C$, with the total covariance
    $\Sigma_T$, and its bias $b = \mathbf{1}/C - W\mu_G$: the bias subtracts the features' global mean, as $W\mu_G$, and
    adds the labels', $\mathbf{1}/C$.
    """
    # in features that are not extended, with M the class means less mu_G
    rivals = {
        "$\\Sigma_W$ instead of $\\Sigma_T$": quantities.UNEXTENDED_CLASSIFIER_GAP_WITHIN,
        "a bias of $1/C$ alone": quantities.UNEXTENDED_CLASSIFIER_GAP_CONSTANT_BIAS,
    }
    yield no_gap(
        "classifier and bias minus least-squares solution, relative",
        features,
        quantities.UNEXTENDED_CLASSIFIER_GAP,  # of M^T Sigma_T^{-1} / C and 1/C - W mu_G from the solution
        because=ROUNDING_REASON,
        rivals=rivals,
    )
