"""What neural collapse in one sense does not imply: traces and NC1 on features with chosen noise (section 3.3).

C classes of P features have the centred class means M, (P, C), the covariances Sigma_W within classes and Sigma_B
between them, and the least-squares classifier W, (C, P), without weight decay. A draw is one random feature matrix, of
which the deviations from class means are mapped to noise of a chosen Sigma_W: around its own class means in the first
claim, around a simplex frame in the second. Draws with P = C - 1 are left out, as no direction is orthogonal to all
class means.
"""

import numpy as np

from learning_dynamics.judging import (
    NOT_CLAIMED,
    Check,
    Claim,
    Facts,
    Untested,
    claim,
    equal_on_every_draw,
    every_draw,
    premise,
    takes_rivals,
)
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.converses import (
    AT_LARGEST_LEAN,
    AT_SMALLEST_LEAN,
    AT_SMALLEST_NOISE,
    COUPLING,
    NOISES,
)
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    COVARIANCE_CONDITION,
    PRODUCT_NORM,
    PRODUCT_TRACE,
    SMALL_NOISE_NC1,
    SMALL_NOISE_NC4_EXAMPLES,
    SMALL_NOISE_NC4_FAR_POINTS,
    SMALL_NOISE_NC4_FAR_POINTS_UNCOUPLED,
    SMALL_NOISE_SELF_DUALITY,
    SMALL_NOISE_SELF_DUALITY_UNCOUPLED,
)
from learning_dynamics.tidy import Draws, Quantity, Table


def _with_free_directions(features: Table) -> tuple[Draws, dict[str, int]]:
    """Return the draws with P >= C, whose class means leave directions free, and how many are excluded, by the reason.

    A draw that is excluded is a feature matrix, as in the checks.

    Raises
    ------
    Untested
        If there are none.
    """
    included = features[features["features"] >= features["classes"]]
    if not len(included):
        raise Untested("class means span all directions in every size: noise has none of its own; give more features")
    draws = Draws(included)
    n_excluded = len(Draws(features).column("seed")) - len(draws.column("seed"))
    return draws, {"their class means span all directions, and noise has none of its own": n_excluded}


@claim(
    "Appendix D.6, end of the derivation of NC1",
    scope="class means of renormalised Gaussian features of three sizes, large noise in a direction that leans a "
    "little towards them",
    correction=r"$\|\Sigma_B^\dagger\Sigma_W\|_F \le \sqrt{\kappa(\Sigma_W)}\,\mathrm{tr}(\Sigma_B^\dagger\Sigma_W)$ "
    r"with the condition number $\kappa$: the product tends to zero with its trace where $\kappa$ stays bounded, as on "
    r"the renormalised features, where it is one.",
    reason="the norm stays while the trace vanishes",
    quantifier="all draws",
)
def trace_and_product(features: Table) -> Claim:
    r"""Where all eigenvalues of $\Sigma_B^\dagger\Sigma_W$, and so its trace, tend to zero, the matrix itself does.

    Where the trace falls to a tenth the Frobenius norm of the product must fall to a half or less; as the root of the
    trace it would fall to a third. But a product of two symmetric matrices is not symmetric, and can be large while its
    eigenvalues are small. Let $u$ be a direction of the class means and $n$ one orthogonal to all of them. Take noise
    of variance $1/d$ along $du + \sqrt{1-d^2}\,n$, which leans by $d$ towards the class means, and of variance $d$ in
    all other directions. As $d$ falls the trace falls with it, while the norm of the product stays at
    {smallest_norm:.2g} or more. For the bound, write the product as $\Sigma_W^{-1/2}S \Sigma_W^{1/2}$, where the norm
    of the positive $S = \Sigma_W^{1/2}\Sigma_B^\dagger\Sigma_W^{1/2}$ is at most its trace. So small
    $\mathrm{Tr}(\Sigma_W\Sigma_B^\dagger)/C$, which the paper's figures draw (errata 9), says nothing of noise in
    directions in which class means do not differ.
    """
    draws, excluded = _with_free_directions(features)
    # shape (draws, leans) each, the largest lean first
    trace, norm = draws.entries(PRODUCT_TRACE), draws.entries(PRODUCT_NORM)  # of pinv(Sigma_B) Sigma_W
    condition = draws.entries(COVARIANCE_CONDITION)  # kappa(Sigma_W)
    # From lean to lean the trace falls to a tenth. As printed the norm falls with it, to a third if it falls as the
    # root of the trace; as corrected the norm stays. The bound of both checks, a half, is between a third and one. The
    # checks have one name. The first is the printed sentence's, and judges the largest of the changes; the second is
    # the correction's, and judges the least
    norm_from_lean_to_lean = norm[:, 1:] / norm[:, :-1]
    because = "one where the norm stays, a third where it falls as the root of the trace"
    yield every_draw(
        "factor by which the norm of the product changes when the lean of the noise is divided by ten",
        norm_from_lean_to_lean.max(axis=1),
        at_most=0.5,
        because=because,
        excluded=excluded,
        corrected=NOT_CLAIMED,
    )
    yield every_draw(
        "factor by which the norm of the product changes when the lean of the noise is divided by ten",
        norm_from_lean_to_lean.min(axis=1),
        at_least=0.5,
        because=because,
        excluded=excluded,
        printed=NOT_CLAIMED,
    )
    yield premise(
        every_draw(
            "trace at the smallest lean over that at the largest",
            trace[:, AT_SMALLEST_LEAN] / trace[:, AT_LARGEST_LEAN],
            at_most=0.02,  # twice is chosen
            because="eigenvalues fall with the lean, to a hundredth; twice that is allowed",
            excluded=excluded,
        )
    )

    # The correction: norm <= kappa^(1/2) trace, and on these features norm / trace grows as kappa^(1/2). The printed
    # sentence, that the norm falls with the trace (errata 7), names no exponent
    norm_over_trace = norm / trace

    @takes_rivals("exponent", scaled=True)
    def check_bound(exponent: float) -> Check:
        """Check that the norm is at most kappa^exponent times the trace."""
        return every_draw(
            "norm of the product over its trace, smallest lean",
            norm_over_trace[:, AT_SMALLEST_LEAN],
            at_most=condition[:, AT_SMALLEST_LEAN] ** exponent * (1 + 1e-9),  # chosen: a slack for rounding
            because="the bound, to rounding",
            excluded=excluded,
        )

    @takes_rivals("exponent", scaled=True)
    def check_growth(exponent: float) -> Check:
        """Check that the norm over the trace grows as kappa^exponent from the largest lean to the smallest."""
        growth = norm_over_trace[:, AT_SMALLEST_LEAN] / norm_over_trace[:, AT_LARGEST_LEAN]
        growth_of_condition = condition[:, AT_SMALLEST_LEAN] / condition[:, AT_LARGEST_LEAN]
        return equal_on_every_draw(
            "exponent of that ratio's growth in the condition number, minus its prediction",
            np.log(growth) / np.log(growth_of_condition),
            exponent,
            tolerance=0.01,  # the first of LEANS
            relative_to=1.0,  # the difference of two exponents is not divided by anything
            excluded=excluded,
            because="next order: the largest lean, a hundredth",
        )

    # Each rival is another exponent. The second is a looser bound and passes the first check; the second check, of how
    # the ratio grows, refuses it
    rivals = {"the fourth root of the condition number": 0.25, "the condition number itself": 1.0}
    yield check_bound(0.5, printed=NOT_CLAIMED, rivals=rivals)
    yield check_growth(0.5, printed=NOT_CLAIMED, rivals=rivals)
    yield Facts(smallest_norm=norm.min())


@claim(
    "Section 3.3 before Corollary 2, and appendix D.6, its derivation of NC2 to NC4",
    scope="class means that are a simplex frame, in three sizes, without weight decay, and noise of a thousandth of "
    "them; in one direction of the class means the noise is either coupled, with correlation $1/2$, to a direction "
    "orthogonal to all of them, or uncoupled, with 1.5 times the variance",
    correction=r"With $\Sigma_W = \epsilon^2Q$ the classifier tends to "
    r"$(\bar M^\top Q^{-1}\bar M)^\dagger\bar M^\top Q^{-1}$ as $\epsilon \to 0$, which is a multiple of "
    r"$\bar M^\top$ only where class means span an invariant subspace of $Q$, as on the renormalised features. Let "
    r"noise along one direction of the class means and noise along a direction orthogonal to all of them have equal "
    r"variances and the correlation $c$, and let no other noise be correlated. Then the squared distance of NC3 tends "
    r"to $2 - 2/\sqrt{1 + c^2/(C-1)}$. NC4 holds for the features that collapse, but not for all points. With a fixed "
    r"weight decay $\lambda > 0$ and zero global mean NC3 does hold as $\epsilon \to 0$: in extended features the "
    r"classifier tends to $(C\lambda I + \tilde M^\top\tilde M)^{-1}\tilde M^\top$. With another global mean the decay "
    r"of the bias leaves part of it in the classifiers.",
    reason="the classifier keeps a component that cancels noise coupled to the class means",
    quantifier="all draws",
)
def nc1_and_nc2_imply_nc3(features: Table) -> Claim:
    """On the central path, without weight decay, NC1 and NC2 imply NC3 and NC4.

    Where noise is a thousandth of the class means, the squared distance of classifiers from class means (NC3) must be
    zero to a hundred times the square of that ratio. Classifier and nearest class mean must label every example alike
    (NC4). Take class means that are a simplex frame (NC2) and noise that vanishes around them (NC1). Let noise in a
    direction of the class means be correlated with noise in a direction orthogonal to all of them. The least-squares
    classifier subtracts the part that it can predict: its rows keep a component along the orthogonal direction, however
    small the noise is. With noise of a thousandth of the class means the squared distance of classifiers from class
    means (NC3) is still {smallest_distance_coupled:.2g} or more. With noise that is not coupled, but larger in one
    direction than in others, it is at most {largest_distance_uncoupled:.1g}. Decisions are those of the nearest class
    mean (NC4) for every example, but not for all points. Move the class means along the orthogonal direction to either
    side, by ten times the frame's singular value: of these $2C$ points the classifier decides {least_far_points:.0f} or
    more differently. Weight decay that stays while noise vanishes changes this (errata 8).
    """
    draws, excluded = _with_free_directions(features)

    def at_smallest_noise(quantity: Quantity) -> np.ndarray:
        """Return a quantity at the last of NOISES, shape (draws,)."""
        return draws.entries(quantity)[:, AT_SMALLEST_NOISE]

    # Class means M are a simplex frame, noise has the covariance e^2 Q with e the last of NOISES, and W is the
    # least-squares classifier (`converses.simplex_means`). Q is the identity but for one thing: c between a direction
    # of the class means and one orthogonal to all of them (coupled), or 1.5 for the variance along that direction of
    # the class means (uncoupled), which leaves their span invariant. NC3: || W / ||W|| - M^T / ||M|| ||^2 tends to zero
    nc3_coupled = at_smallest_noise(SMALL_NOISE_SELF_DUALITY)
    nc3_uncoupled = at_smallest_noise(SMALL_NOISE_SELF_DUALITY_UNCOUPLED)
    classes = draws.column("classes")
    # the next order is NOISES[AT_SMALLEST_NOISE]^2; a hundred times as much is chosen
    tolerance = (10 * NOISES[AT_SMALLEST_NOISE]) ** 2
    because = "a hundred times the next order, which is the square of noise over signal"
    left_by_coupling = theory.self_duality_under_coupling(COUPLING, classes)  # 2 - 2 / sqrt(1 + c^2 / (C - 1))
    # as printed the distance of NC3 vanishes; as corrected the coupling leaves `left_by_coupling` of it
    yield equal_on_every_draw(
        "squared distance of NC3 minus its prediction, coupled noise",
        nc3_coupled,
        0.0,
        tolerance=tolerance,
        relative_to=1.0,  # both vectors of the distance have unit norm
        # a fifth of the least distance that coupling leaves here, 2 - 2 / sqrt(1 + 0.25 / 5) = 0.048 at C = 6
        resolution=0.01,
        because=because,
        corrected=left_by_coupling,
        rivals={  # each predicts another distance
            "$C$ instead of $C-1$": 2 - 2 / np.sqrt(1 + COUPLING**2 / classes),
            "$c$ for $c^2$": 2 - 2 / np.sqrt(1 + COUPLING / (classes - 1)),
        },
        excluded=excluded,
    )
    yield equal_on_every_draw(
        "squared distance of NC3 minus its prediction, noise that is not coupled",
        nc3_uncoupled,
        0.0,
        tolerance=tolerance,
        relative_to=1.0,  # as above
        resolution=0.01,  # as above
        because=because,
        rivals={"what coupled noise leaves": left_by_coupling},
        scaled=False,  # a multiple of zero is zero
        excluded=excluded,
    )
    yield every_draw(
        "examples that NC4 fails for",
        at_smallest_noise(SMALL_NOISE_NC4_EXAMPLES),
        at_most=0,
        because="every example",
        excluded=excluded,
    )
    far_points = at_smallest_noise(SMALL_NOISE_NC4_FAR_POINTS)
    yield every_draw(
        "points off the class means that NC4 fails for",
        far_points,
        at_least=1,
        because="one point is enough",
        printed=NOT_CLAIMED,  # of which points NC4 is the paper leaves open; the correction says that it is not of all
        rivals={"noise that is not coupled": {"values": at_smallest_noise(SMALL_NOISE_NC4_FAR_POINTS_UNCOUPLED)}},
        excluded=excluded,
    )
    # NC2 holds by construction: the class means are a simplex frame
    yield premise(
        every_draw(
            "NC1",
            at_smallest_noise(SMALL_NOISE_NC1),  # tr(pinv(Sigma_B) Sigma_W) / C
            at_most=0.01**2,
            because="noise of at most a hundredth of the signal",
            excluded=excluded,
        )
    )
    yield Facts(
        smallest_distance_coupled=nc3_coupled.min(),
        largest_distance_uncoupled=nc3_uncoupled.max(),
        least_far_points=far_points.min(),
    )
