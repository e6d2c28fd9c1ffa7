"""What the SNR matrix says of how classes are separated (Definition 2 and what follows it).

The SNR matrix Sigma_W^{-1/2} M, (P, C), with the covariance Sigma_W within C classes of P features and their centred
means M, has the C - 1 singular values omega_j, omega_max the largest and omega_min the least. A draw is one random
feature matrix.
"""

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, every_draw
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    CLASS_SEPARATION,
    CLASS_SEPARATION_WITHOUT_NOISE,
    LEAST_PAIR_DISTANCE,
    LEAST_PAIR_DISTANCE_FLATTENED,
    OMEGA,
    SNR_RANK,
)
from learning_dynamics.papers.neural_collapse.draws import (
    GAUSSIAN_FEATURES,
    ROUNDING,
    Size,
    by_size,
    over_sizes,
    relative_error,
    zero_on_every_draw,
)
from learning_dynamics.tidy import Draws, Table


@claim(
    "Definition 2",
    scope="deviations of renormalised Gaussian features of three sizes, class means that span $1$ to $C-1$ directions",
    correction=r"Of rank at most $C-1$: with $\Sigma_W$ of full rank the SNR matrix has the rank of $\bar M$, which is "
    r"less than $C-1$ where class means are affinely dependent, as wherever $P < C-1$.",
    quantifier="all draws",
    reason="subtracting the global mean bounds the rank from above alone",
)
def snr_rank(features: Table) -> Claim:
    r"""Where $\Sigma_W$ has full rank the SNR matrix is of rank $C-1$, due to global-mean subtraction.

    Subtracting their mean takes one dimension from class means that are linearly independent; three class means on a
    line keep a single one. Each draw is judged with class means that span $1, 2, \dots, C-1$ directions: the rank is
    the number of these. Theorem 3 and Corollaries 1 and 2 need rank $C-1$ at the start, as class means at random have
    it (errata 15).
    """

    def errors(offset: int, per_direction: int) -> np.ndarray:
        """Return the largest |rank - prediction| over class means, shape (draws,).

        The prediction is C - 1 + offset, less `per_direction` for each direction that class means do not span.
        """

        def of_size(size: Size, rank: np.ndarray) -> np.ndarray:
            spanned = np.arange(1, size.classes)  # the class means of SNR_RANK span 1, 2, ..., C - 1 directions
            missing = size.classes - 1 - spanned
            predicted = size.classes - 1 + offset - per_direction * missing
            return np.abs(rank[:, 0] - predicted).max(axis=1)  # rank (draws, 1 time, C - 1)

        return over_sizes(of_size, rank=by_size(features, SNR_RANK))

    # a rival and the correction predict other ranks, and have other errors
    yield zero_on_every_draw(
        "rank of the SNR matrix minus its prediction, the largest difference over class means",
        errors(offset=0, per_direction=0),
        0.0,
        "a rank is a whole number",
        corrected=errors(offset=0, per_direction=1),
        rivals={
            "rank $C$": errors(offset=1, per_direction=0),
            "one more than class means span, as if they were not centred": errors(offset=1, per_direction=1),
        },
    )


@claim("Section 3.2, after Definition 2", scope=GAUSSIAN_FEATURES, quantifier="all draws")
def separation_by_singular_values(features: Table) -> Claim:
    r"""Each singular value of the SNR matrix is the size of the class separation in the direction of its singular
    vector; in this sense the smallest one captures the smallest separation between classes.

    Separation along a direction is the root sum of squares of the centred class means $\bar M$ along it, over the
    standard deviation of the noise, the deviations within classes. Discriminant analysis finds, without the SNR matrix,
    the $C-1$ directions at which it is stationary. Its values there are the singular values $\omega_j$; the smallest is
    the least separation along any direction in the span of $\Sigma_W^{-1} \bar M$. For pairs of classes it is a bound:
    no two class means are nearer than $\sqrt2\,\omega_{\min}$, in units of the noise. A small $\omega_{\min}$ does not
    say that two classes are near. Where it is divided by a thousand, with the class means scaled along the direction of
    least separation, the smallest distance of two of three or more classes keeps {median_share_kept:.2g} of itself
    (median over draws).
    """
    # By size, shape (draws, 1 time, C - 1), both descending. A separation is ||w^T M|| / sqrt(w^T Sigma_W w) at a
    # direction w at which this is stationary
    omegas = by_size(features, OMEGA)
    separations = by_size(features, CLASS_SEPARATION)

    def errors(separations_by_size: dict[Size, np.ndarray]) -> np.ndarray:
        """Return the largest |separation / omega_j - 1| over j, shape (draws,)."""
        return np.concatenate([relative_error(separations_by_size[size], omegas[size]) for size in omegas])

    # omega_min and omega_max, shape (draws,)
    smallest = np.concatenate([omega.min(axis=(1, 2)) for omega in omegas.values()])
    largest = np.concatenate([omega.max(axis=(1, 2)) for omega in omegas.values()])
    yield zero_on_every_draw(
        "separation along a direction at which it is stationary, minus $\\omega_j$, relative",
        errors(separations),
        ROUNDING * (largest / smallest) ** 2,
        "rounding, times $(\\omega_{\\max}/\\omega_{\\min})^2$: discriminant analysis finds squares",
        rivals={  # each takes another separation
            "class means alone, without the noise": errors(by_size(features, CLASS_SEPARATION_WITHOUT_NOISE)),
            "$\\omega_j^2$": errors({size: values**2 for size, values in separations.items()}),
        },
    )
    distance = Draws(features)[LEAST_PAIR_DISTANCE]  # min over pairs of |Sigma_W^(-1/2) (mu_c - mu_c')|
    yield every_draw(
        "smallest distance of two class means over $\\sqrt2\\,\\omega_{\\min}$",
        distance / (np.sqrt(2) * smallest),
        at_least=1 - ROUNDING,
        because="the bound, to rounding",
        rivals={"the largest singular value instead": {"values": distance / (np.sqrt(2) * largest)}},
    )
    # the same distance where omega_min is a thousandth of what it is
    kept = Draws(features)[LEAST_PAIR_DISTANCE_FLATTENED] / distance
    has_several_pairs = Draws(features).column("classes") > 2
    yield Facts(median_share_kept=np.median(kept[has_several_pairs]))
