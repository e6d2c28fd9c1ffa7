"""The power of the initialisation scale in the first singular value beyond the rank, predicted from the gradient.

A matrix of rank r is completed by networks of depth N from Gaussian layers, whose entries have standard deviation
s^(1/N) n^(-1/2) at the initialisation scale s, for n rows. At the end sigma_(r+1), the first singular value beyond the
rank, is a power of s, measured as the slope of logarithms over several s. By the law it is 1 - alpha at depth 2, and
one at depth 3. Here alpha is how much the gradient makes log sigma_(r+1) grow along descent until sigma_r is learned,
over how much it makes log sigma_r grow; a singular value is learned when it has passed a share of the true one. The law
is derived in docs/deep_linear_derivations.md, "Completion from a small start".

Besides its own parameters every check takes `rivals` and others, and so does a function with @takes_rivals
(`judging.takes_rivals`). A rival is another prediction of the power. It is refused if at least one of the claim's
checks then fails or is undecided. A check is undecided if its interval and tolerance exceed its `resolution` together,
and also if a draw is nan because one of its runs did not reach its training loss.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from learning_dynamics.evidence import median
from learning_dynamics.judging import Check, Claim, Facts, claim, equal, takes_rivals
from learning_dynamics.papers.deep_linear.completion_exponents.powers import measured_powers, predicted_powers
from learning_dynamics.papers.deep_linear.completion_exponents.quantities import (
    ALPHA,
    ALPHA_AT_START,
    ALPHA_OF_FLOW,
    ALPHA_OF_WHOLE,
    GROWTH_IN_ONE_STEP,
)
from learning_dynamics.papers.deep_linear.quantities import RANK
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Quantity, Table, select, settings_of

# Settings of the claim, whose values are in workflow/config/deep_linear.yaml:
# - share: tolerance of a power, as a share of the difference between alpha along the path and alpha in its first step;
#   chosen. The tolerance is never less than the error that one step of descent makes (`_whole_step_error`)

# kinds of matrices and networks, as names of checks; uneven singular values are 3 : 1 by default
UNEVEN = "uneven singular values, depth 2"
GAUSSIAN = "Gaussian factors, depth 2"
DEEPER = "uneven, depth 3"
DEPTHS = {UNEVEN: 2, GAUSSIAN: 2, DEEPER: 3}


class Cell(NamedTuple):
    """Draws of one kind of matrices and networks, with one number of observed entries; arrays of shape (draws,).

    Draws of `ends` and `path` are the same matrices and entries, in the same order; their starts differ.
    """

    kind: str
    depth: int  # 2 or 3
    entries: int
    ends: Table  # completions from every scale, from which powers are measured
    path: Table  # descent from one scale, along which alpha is measured; of depth 2 for every kind

    def measured(self) -> np.ndarray:
        """Return the power of the initialisation scale in the first singular value beyond the rank."""
        return measured_powers(self.ends, self.entries)

    def law_of_depth_2(self, alpha: Quantity = ALPHA) -> np.ndarray:
        """Return 1 - alpha, which a network of depth 3 does not obey; `alpha` is one of the ratios in `quantities`."""
        return predicted_powers(self.path, self.entries, alpha)

    def law(self, alpha: Quantity = ALPHA) -> np.ndarray:
        """Return the predicted power: 1 - alpha at depth 2; one at depth 3, also of a draw whose alpha is nan."""
        at_depth_2 = self.law_of_depth_2(alpha)
        return at_depth_2 if self.depth == 2 else np.ones_like(at_depth_2)


@claim(
    "Slide 35, Depth leads to larger gaps between singular values",
    quantifier="an average",
    origin="ours",
    scope="completion without noise; at default scale 40 × 40 matrices of rank 2, with singular values 3 : 1 or of "
    "Gaussian factors; three to nine times as many entries as degrees of freedom; plain descent from Gaussian layers "
    "to a training loss of 1e-5; initialisation scales down to 1e-16 at depth 2 and to 1e-5 at depth 3",
)
def completion_exponents(
    uneven: Table,
    uneven_path: Table,
    gaussian: Table,
    gaussian_path: Table,
    deeper: Table,
    coarse: Table,
    *,
    share: Fraction,
) -> Claim:
    r"""From a small initialisation scale $s$, a completion that recovers its matrix leaves the first singular value
    beyond the rank $r$ as $\sigma_{r+1} \sim s^p$. The power $p$ is close to $1-\alpha$ at depth 2, and to one at
    depth 3. Here $\alpha = \sum \log(1 + \eta g_{r+1}) / \sum \log(1 + \eta g_r)$ over steps $\eta$ until the $r$-th
    singular value is learned. While $k$ are learned, $g_i$ is the $(i-k)$-th singular value of the gradient outside
    their singular vectors.

    For each kind of matrix, depth and number of entries the median over draws of the measured power less the predicted
    one is judged: it must be zero to {tolerance:.2g}. At rank 2 and more that is {share:g} times the distance between
    $\alpha$ along the path and the same ratio in its first step (the median over numbers of entries and draws of
    3 : 1), but no less than the error of one step of descent more or less. At rank one the path's ratio hardly leaves
    that of its first step, and the error of one step alone counts.

    $\alpha$ is measured along descent from one scale, {path_scale:g}, from starts other than those of the powers;
    powers are measured at scales {largest_scale:g} to {smallest_scale:g}. For singular values 3 : 1 at depth 2 the
    power is {power_at_fewest:.2g} with {fewest} entries and {power_at_most:.2g} with {most}. Over both depths medians
    are off by {largest_median_error:.2g} at most; {draws_beyond_tolerance} of {all_draws} draws are off by more than
    the tolerance. At scales from {largest_coarse_scale:g} to {smallest_coarse_scale:g}, with uneven values at depth 2,
    medians are off by up to {largest_median_error_at_coarse_scales:.2g}.

    The law is not exact from rank two on: {medians_above} of {medians_at_depth_2} medians at depth 2 are above it,
    {intervals_above} with all of their interval. A likely reason is that directions turn when a singular value is
    learned, which leaves only a share of $\sigma_{r+1}$ along its new direction. At scales in reach this raises the
    power; as $s \to 0$ it is a constant factor (docs/deep_linear_derivations.md). The rates $g$ of a flow, instead of
    $\log(1 + \eta g) / \eta$, would raise predicted powers by {largest_rise_by_flow:.2g}, as a median over draws, at
    the number of entries where they do so most; this is not judged. Under one linear measurement the gradient is a
    multiple of one matrix, and $\alpha$ the ratio of its singular values (`one_measurement`); here they change on the
    way.
    """
    # the powers are measured at the ends of runs from several scales, alpha along paths from one scale
    ends = {UNEVEN: uneven, GAUSSIAN: gaussian, DEEPER: deeper}
    paths = {UNEVEN: uneven_path, GAUSSIAN: gaussian_path, DEEPER: uneven_path}
    cells = [
        Cell(kind, DEPTHS[kind], int(entries), ends[kind], paths[kind])
        for kind in ends
        for entries in sorted(ends[kind]["observed"].unique())
    ]
    uneven_cells = [cell for cell in cells if cell.kind == UNEVEN]
    cells_at_depth_2 = [cell for cell in cells if cell.depth == 2]

    def median_distance_from_law(other: Callable[[Cell], np.ndarray]) -> float:
        """Return the median distance of another prediction from the law, over entries and draws of uneven values."""
        return float(np.median([np.abs(other(cell) - cell.law()) for cell in uneven_cells]))

    # At rank one the path ends when the first singular value is learned. So nothing is set aside, alpha is the ratio of
    # the whole gradient, and it hardly differs from the ratio at the start. The check must then tell the law from
    # another power: one, as at depth 3
    is_rank_one = max(select(path, RANK)["value"].max() for path in (uneven_path, gaussian_path)) == 1
    step_error = _whole_step_error(uneven, uneven_path)
    if is_rank_one:
        resolution = median_distance_from_law(lambda cell: np.ones_like(cell.law()))
        tolerance = step_error
        because = "one step of descent more or less"
    else:
        resolution = median_distance_from_law(lambda cell: cell.law(ALPHA_AT_START))
        tolerance = max(share * resolution, step_error)
        because = f"{share:g} of the difference between the path's α and its start's, but no less than one step makes"

    @takes_rivals("power", scaled=True)
    def check_of_power(cell: Cell, power: np.ndarray) -> Check:
        """Check that the median over draws of a cell's measured power less the predicted one is zero."""
        law = "1 − α" if cell.depth == 2 else "1"
        return equal(
            f"power of s in the first singular value beyond the rank, less {law}, {cell.kind}, {cell.entries} entries",
            median(cell.measured() - power),
            0.0,
            tolerance=tolerance,
            resolution=resolution,
            because=because,
        )

    for cell in cells:
        # A rival equals the law in some cells: "depth 3 is as depth 2" at depth 2, the others at depth 3. Checks of
        # other cells must refuse it
        laws_of_kind = [other.law() for other in cells if other.kind == cell.kind]  # one for each number of entries
        rivals = {
            "the number of entries does not matter": np.mean(laws_of_kind, axis=0),
            "depth 2 is as depth 3": np.ones_like(cell.law()),
            "depth 3 is as depth 2": cell.law_of_depth_2(),
        }
        if not is_rank_one:
            rivals["the ratio at the start of the path"] = cell.law(ALPHA_AT_START)
            rivals["the whole gradient's singular values, nothing set aside"] = cell.law(ALPHA_OF_WHOLE)
        yield check_of_power(cell, cell.law(), rivals=rivals)

    # measured powers less the law's, shape (draws,) for each cell; nan where a run did not converge
    errors_of_cells = [(cell, cell.measured() - cell.law()) for cell in cells]
    errors = [error for _, error in errors_of_cells]
    errors_at_depth_2 = [error for cell, error in errors_of_cells if cell.depth == 2]
    errors_at_coarse_scales = [measured_powers(coarse, cell.entries) - cell.law() for cell in uneven_cells]
    yield Facts(
        tolerance=tolerance,
        largest_median_error=_largest_median(errors),
        largest_median_error_at_coarse_scales=_largest_median(errors_at_coarse_scales),
        draws_beyond_tolerance=int(sum(np.sum(np.abs(error) > tolerance) for error in errors)),
        all_draws=sum(map(len, errors)),
        medians_above=sum(bool(np.nanmedian(error) > 0) for error in errors_at_depth_2),
        intervals_above=sum(median(error).lower > 0 for error in errors_at_depth_2),
        medians_at_depth_2=len(errors_at_depth_2),
    )
    cell_of_fewest, cell_of_most = uneven_cells[0], uneven_cells[-1]
    flow_less_law = [cell.law(ALPHA_OF_FLOW) - cell.law() for cell in cells_at_depth_2]
    yield Facts(
        fewest=cell_of_fewest.entries,
        most=cell_of_most.entries,
        power_at_fewest=np.nanmedian(cell_of_fewest.measured()),
        power_at_most=np.nanmedian(cell_of_most.measured()),
        largest_rise_by_flow=max(map(np.nanmedian, flow_less_law)),
    )
    scales, coarse_scales = settings_of(uneven)["scales"], settings_of(coarse)["scales"]
    yield Facts(
        share=share,
        path_scale=settings_of(uneven_path)["scale"],
        largest_scale=max(scales),
        smallest_scale=min(scales),
        largest_coarse_scale=max(coarse_scales),
        smallest_coarse_scale=min(coarse_scales),
    )


def _largest_median(errors: Sequence[np.ndarray]) -> float:
    """Return the largest absolute value that the median over draws has in any cell."""
    return max(abs(np.nanmedian(error)) for error in errors)


def _whole_step_error(ends: Table, path: Table) -> float:
    """Return the error that a power may have because the r-th singular value is learned after a whole number of steps.

    From each scale the logarithm of the first singular value beyond the rank is off by up to the growth g in one step.
    A power is the slope ``x @ y / (x @ x)`` of such logarithms y against centred logarithms x of the scales. Errors of
    y between 0 and g change it by at most ``sum |x| (g / 2) / (x @ x)``: a common error of g / 2 changes nothing, as
    the x sum to zero. The growth g is the median over draws and numbers of entries, as the claim judges medians over
    draws, with one tolerance for all of them.
    """
    x = np.log(settings_of(ends)["scales"])
    x = x - x.mean()
    growth = select(path, GROWTH_IN_ONE_STEP)["value"].median()
    return np.abs(x).sum() * growth / 2 / (x @ x)
