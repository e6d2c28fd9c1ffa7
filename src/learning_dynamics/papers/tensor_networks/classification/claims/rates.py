"""How slowly a max-margin direction shows: powers of log t (section 4).

- f is the network, of L layers v_l, and beta are its coefficients, f(x) = x^T beta. M(x) is the data tensor; x_i are
  the points and y_i = +-1 their labels. u is the limit direction of the loss's gradient by beta.
- Two orthogonally decomposable layers have beta = S^T rho, where rho is the entrywise product of the layers' singular
  coordinates. Coordinates are active where the limit of rho, the l1 max-margin solution, is not zero. The others
  vanish.
- Multipliers lambda_i are those of the max-margin problem: -u is along sum_i lambda_i y_i x_i.
- The power of 1 / log t in a quantity is the p with which it falls like (log t)^(-p).
"""

import numpy as np

from learning_dynamics.judging import Claim, Facts, Untested, claim, equal_on_every_draw
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table, draw_columns

# Settings of the claim, whose values are in workflow/config/tensor_networks.yaml:
# - tolerance: error of a power that the fit within a window may make; chosen
# - settled: largest share of the l1 norm that what vanishes may hold at the window's start; in fully connected
#   networks, largest distance of the direction from its limit
# - open_at_most: largest error that what still moves may make in a power that is judged
# The last two are chosen too.

# A law that is off by a hundredth of its power is seen only at large powers: a power of 0.3 is then off by 0.003, the
# setting `tolerance`. How many such powers it takes is chosen: one alone may agree by chance.
LARGE_POWER = 0.3
FEWEST_LARGE_POWERS = 5


@claim(
    "section 4",
    scope="the points of figure 3, several starts and scales, and random separable points; two layers in singular "
    "coordinates, fully connected networks of two and three layers",
    origin="ours",
    quantifier="all draws",
)
def log_time_exponents(
    settling: Table, two: Table, three: Table, *, tolerance: Positive, settled: Positive, open_at_most: Positive
) -> Claim:
    r"""The part that a max-margin direction leaves out vanishes like a power of $1 / \log t$. Take two orthogonally
    decomposable layers, of which the last starts smaller in every singular coordinate, and unique multipliers of the
    max-margin problem, which give $u$. The share of each inactive coordinate in the $\ell_1$ norm falls like $(\log
    t)^{-(1 - s_j)}$, where $s_j$ is its singular value of $M(-u)$ relative to the active ones. Take a fully connected
    network of $L$ layers whose first layer starts with a part outside the span of the support vectors. The share of the
    coefficients' length outside this span falls like $(\log t)^{-1/L}$, unless that part takes the limit direction of
    the other layers' product to zero.

    A coordinate is active if it is not zero in the max-margin solution; $u$ is the limit direction of $X^T r$, and
    $M(-u)$ the data tensor at $-u$. Powers are local: the slope of the logarithm of each share against $\log\log t$
    within a window. A power may be off by {tolerance:g}, for the fit, plus what inexact multipliers and directions that
    still turn leave open. Predicted powers are between {least_power:.3f} and {largest_power:.3f}; of fully connected
    networks the medians of measured powers are {median_power_of_two_layers:.3f} with two layers and
    {median_power_of_three_layers:.3f} with three. An example of the exception is the zero-asymmetric start, $W_l = I$
    and $w_L = 0$, on one point, where nothing is ever outside. (Shares are measured, not angles: an angle is a sum of
    such powers, and shows the slowest of them only late.)

    With two decomposable layers the multipliers come from the convex problem, not from the path. Where they are not
    unique, as in the convolutional case of figure 3, nothing is predicted. With the layers $\eta_1, \eta_2$ in singular
    coordinates, up to phases, and $a, b = \eta_1 \pm \eta_2$, a coordinate is $\rho_j = (a_j^2 - b_j^2) / 4$, where
    $a_j$ grows and $b_j$ falls. The law is exact for the part that grows, $a_j^2 / 2 = (|\eta_{1j}|^2 + |\eta_{2j}|^2)
    / 2 + |\rho_j|$, which is measured. Multipliers may be off as far as the active entries still turn or grow
    unequally.

    In fully connected networks the first layer's part outside the span, $P W_1$ with a projection $P$, does not change.
    It acts on the product $p$ of the later layers. While $p$ still turns, the power of $|P W_1 p| / (|P W_1| |p|)$ adds
    to that of the law, most of all where $P W_1 p$ nearly vanishes.

    The law begins when a flow no longer passes from one vertex of the problem to another: when the vanishing part holds
    at most a share {settled:g} of the $\ell_1$ norm and has the sign of what pushes it. (In fully connected networks
    one minus the cosine to the limit is at most that share.) Where multipliers or turns leave more than
    {open_at_most:g} of a power open, that power is not judged. Late windows follow the flow of a loss whose exponent is
    capped. Its limit is the same as long as the vanishing part is above rounding; data whose margins this cap cannot
    tell apart are left out.
    """
    tables = [table for table in (settling, two, three) if (table["quantity"] == quantities.VANISHING_POWER).any()]
    if not tables:
        raise Untested("no network leaves anything out whose power is predicted")

    # A draw is one entry that vanishes, of one flow: of rho, or in fully connected networks the one share outside of
    # the span. All arrays have shape (draws,), and what is left out is counted in these draws.
    draws = Draws(tables, draw=[*draw_columns(tables[0]), "index"])

    def of_power(column: str) -> np.ndarray:
        """Return a column of the rows of VANISHING_POWER, the power of 1 / log t in the entry's share."""
        return draws.entries(quantities.VANISHING_POWER, column=column)[:, 0]

    power, predicted = of_power("value"), of_power("predicted")
    depth = of_power("depth")
    is_connected = of_power("network") == "fully_connected"
    uncertainty = draws[quantities.POWER_UNCERTAINTY]  # by how much the power may be off, as flows are not at the limit
    # masks by the reason that is printed; a nan is above nothing, and leaves an entry to the other reasons
    is_left_out = {
        "nothing is predicted: multipliers that are zero or not unique, more active entries than tight margins, or "
        "margins too near each other for the cap": ~np.isfinite(predicted),
        "still between vertices, or not yet of the sign of what pushes them": (
            (draws[quantities.REMAINING_DISTANCE] > settled)
            | (draws[quantities.PHASE_COSINE] < 0.99)  # chosen: the push along an entry is off by a hundredth
        ),
        "what stays does not yet grow alike, or still turns": uncertainty > open_at_most,
        "below what the integrator resolves": ~np.isfinite(power),
    }
    # of several reasons an entry has the first, as `np.select` takes it
    reason = np.select(list(is_left_out.values()), list(is_left_out), default="")
    judged = reason == ""
    n_large = int(np.sum(judged & (predicted > LARGE_POWER)))
    if n_large < FEWEST_LARGE_POWERS:
        raise Untested(
            f"{n_large} powers above {LARGE_POWER:g} can be judged; laws a little off need {FEWEST_LARGE_POWERS} to be "
            "told apart"
        )

    yield equal_on_every_draw(
        "largest error of a local power",
        power[judged],
        predicted[judged],
        tolerance=tolerance + uncertainty[judged],
        relative_to=1.0,  # errors of powers are not divided by anything
        because=f"{tolerance:g} for the fit within a window, and what still moves leaves open",
        excluded={words: int((reason == words).sum()) for words in is_left_out},
        rivals={  # other powers
            r"$1/L$ for all": 1 / depth[judged],
            # margins of support vectors differ by constants, whose share in the margins falls like 1 / log t
            "1 for all, as the margins' offsets have": 1.0,
            r"$1/2$ for all, whatever the depth": 0.5,
            # of two decomposable layers, whose prediction is 1 - s_j
            r"$s_j$ in place of $1 - s_j$": np.where(is_connected, predicted, 1 - predicted)[judged],
        },
    )
    yield Facts(
        tolerance=tolerance,
        settled=settled,
        open_at_most=open_at_most,
        least_power=float(np.min(predicted[judged])),
        largest_power=float(np.max(predicted[judged])),
        median_power_of_two_layers=float(np.median(power[judged & is_connected & (depth == 2)])),
        median_power_of_three_layers=float(np.median(power[judged & is_connected & (depth == 3)])),
    )
