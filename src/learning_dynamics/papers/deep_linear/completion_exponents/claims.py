"""The power of the initialisation scale in the first singular value beyond the rank, predicted from the gradient."""

import numpy as np

from learning_dynamics.evidence import median
from learning_dynamics.judging import Check, Claim, Facts, claim, equal, takes_rivals
from learning_dynamics.papers.deep_linear.completion_exponents.powers import measured_powers, predicted_powers
from learning_dynamics.papers.deep_linear.completion_exponents.quantities import (
    ALPHA,
    ALPHA_AT_START,
    ALPHA_OF_FLOW,
    ALPHA_OF_WHOLE,
    STEP,
)
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Quantity, Table, select, settings_of

Powers = dict[tuple[str, int], np.ndarray]  # by kind of matrices and number of entries, shape (draws,)

# kinds of matrices and networks
UNEVEN = "uneven singular values, depth 2"
GAUSSIAN = "Gaussian factors, depth 2"
DEEPER = "uneven, depth 3"


@claim(
    "Slide 35, Depth leads to larger gaps between singular values",
    quantifier="an average",
    origin="ours",
    scope="completion, without noise, of 40 × 40 matrices of rank 2 at default scale, singular values 3 : 1 and of "
    "Gaussian factors, from three to nine times as many entries as degrees of freedom; plain descent from Gaussian "
    "layers to a training loss of 1e-5, initialisation scales down to 1e-16 at depth 2 and to 1e-5 at depth 3",
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
    r"""A completion that recovers its matrix leaves, from a small initialisation scale $s$, the first singular value
    beyond the rank $r$ as $\sigma_{r+1} \sim s^p$ with $p$ close to $1-\alpha$ at depth 2, and one at depth 3. Here
    $\alpha = \sum \log(1 + \eta g_{r+1}) / \sum \log(1 + \eta g_r)$ over steps $\eta$ until the $r$-th is learned, and
    $g_i$ is the $(i-k)$-th singular value of the gradient outside the $k$ learned so far.

    It is the law of one measurement with a gradient that changes on the way. The ratio comes from one scale,
    {measured_at:g}, and other starts; powers from scales {first:g} to {last:g}. For singular values 3 : 1 the power
    rises from {lowest:.2g} with {fewest} entries to {highest:.2g} with {most}: the fewer entries, the less of what is
    beyond the rank does a smaller scale remove at depth 2; at depth 3 their number does not matter. (The completion's
    error is another matter: the stopping rule sets it.) With fewer entries than three times the degrees of freedom the
    matrix is not recovered on every draw, and neither power holds.

    Close means nearer than half the way to the $\alpha$ of the path's start; at rank one, where the path hardly leaves
    that $\alpha$, to the error that one step of descent more or less makes. The law is not exact at rank 2: at depth 2
    {above} of {medians} medians lie above it, by {off:.2g} at most and beyond their intervals: directions turn when a
    singular value is learned, which costs a factor that is not paid at once; at scales from {first_coarse:g} to
    {last_coarse:g} by {off_coarse:.2g}. {further} of {paths} draws are further off than the tolerance. A flow's
    rates $g$ in place of $\log(1 + \eta g) / \eta$ would raise predicted powers by {flow:.2g} at most and pass as well;
    so would an average of the ratio along the path, in place of that of sums: at these singular values the two are
    nearly the same.
    """
    ends = {UNEVEN: uneven, GAUSSIAN: gaussian, DEEPER: deeper}
    paths = {UNEVEN: uneven_path, GAUSSIAN: gaussian_path, DEEPER: uneven_path}
    measured = {
        (kind, count): measured_powers(table, count)
        for kind, table in ends.items()
        for count in sorted(table["observed"].unique())
    }

    def powers_at_depth_2(alpha: Quantity) -> Powers:
        """Return 1 - alpha along the path of each kind, whatever its depth."""
        return {(kind, count): predicted_powers(paths[kind], count, alpha) for kind, count in measured}

    def powers(alpha: Quantity) -> Powers:
        """Return what the law gives: 1 - alpha at depth 2, and one at depth 3."""
        at_depth_2 = powers_at_depth_2(alpha)
        return {
            (kind, count): np.ones_like(power) if kind == DEEPER else power
            for (kind, count), power in at_depth_2.items()
        }

    law, of_start, of_whole = powers(ALPHA), powers(ALPHA_AT_START), powers(ALPHA_OF_WHOLE)
    as_at_depth_2 = powers_at_depth_2(ALPHA)
    counts = sorted(uneven["observed"].unique())
    average_over_counts = {
        kind: np.mean([power for (other, _), power in law.items() if other == kind], axis=0) for kind in ends
    }

    def distance_from_law(other: Powers) -> float:
        """Return how far another prediction is from the law on uneven singular values, the median."""
        return float(np.median([np.abs(other[UNEVEN, count] - law[UNEVEN, count]) for count in counts]))

    # at rank one no singular value is learned before the last: nothing is set aside, and the path keeps its first ratio
    is_rank_one = all(np.allclose(of_whole[cell], law[cell], rtol=0, atol=1e-9, equal_nan=True) for cell in law)
    step_error = _whole_step_error(uneven, uneven_path)
    if is_rank_one:
        tolerance, told_by = step_error, "one step of descent more or less"
        resolution = distance_from_law({cell: np.ones_like(power) for cell, power in law.items()})
    else:
        resolution = distance_from_law(of_start)
        tolerance = max(share * resolution, step_error)
        told_by = f"{share:g} of the difference between the path's α and its start's, but no less than one step makes"

    @takes_rivals("power", scaled=True)
    def power_is(kind: str, count: int, power: np.ndarray) -> Check:
        return equal(
            f"power of s in the first singular value beyond the rank, less 1 − α, {kind}, {count} entries",
            median(measured[kind, count] - power),
            0.0,
            tolerance=tolerance,
            resolution=resolution,
            because=told_by,
        )

    for kind, count in measured:
        yield power_is(
            kind,
            count,
            law[kind, count],
            rivals={
                "the number of entries does not matter": average_over_counts[kind],
                "depth 2 is as depth 3": np.ones_like(law[kind, count]),
                "depth 3 is as depth 2": as_at_depth_2[kind, count],
                "the ratio at the start of the path": None if is_rank_one else of_start[kind, count],
                "the whole gradient's singular values, nothing set aside": (
                    None if is_rank_one else of_whole[kind, count]
                ),
            },
        )
    errors = {cell: measured[cell] - law[cell] for cell in measured}
    at_depth_2 = [cell for cell in measured if cell[0] != DEEPER]
    of_flow = powers_at_depth_2(ALPHA_OF_FLOW)
    scales, coarse_scales = settings_of(uneven)["scales"], settings_of(coarse)["scales"]
    yield Facts(
        measured_at=settings_of(uneven_path)["scale"],
        fewest=int(counts[0]),
        most=int(counts[-1]),
        lowest=np.nanmedian(measured[UNEVEN, counts[0]]),
        highest=np.nanmedian(measured[UNEVEN, counts[-1]]),
        off=max(abs(np.nanmedian(error)) for error in errors.values()),
        above=sum(bool(np.nanmedian(errors[cell]) > 0) for cell in at_depth_2),
        medians=len(at_depth_2),
        further=int(sum(np.sum(np.abs(error) > tolerance) for error in errors.values())),
        paths=sum(map(len, errors.values())),
        flow=max(np.nanmedian(of_flow[cell] - law[cell]) for cell in at_depth_2),
        off_coarse=max(abs(np.nanmedian(measured_powers(coarse, count) - law[UNEVEN, count])) for count in counts),
        first=max(scales),
        last=min(scales),
        first_coarse=max(coarse_scales),
        last_coarse=min(coarse_scales),
    )


def _whole_step_error(ends: Table, path: Table) -> float:
    """Return the error that a power may have because the r-th singular value is learned after a whole number of steps.

    From each scale the logarithm of the first singular value beyond the rank is off by up to the growth g in one step.
    A power is the slope ``x @ y / (x @ x)`` of such logarithms y against centred logarithms x of the scales. Errors of
    y between 0 and g change it by at most ``sum |x| (g / 2) / (x @ x)``, as the x sum to zero.
    """
    x = np.log(settings_of(ends)["scales"])
    x = x - x.mean()
    growth = select(path, STEP)["value"].median()
    return np.abs(x).sum() * growth / 2 / (x @ x)
