"""The power of the initialisation scale in the first singular value beyond the rank, predicted from the gradient."""

import numpy as np

from learning_dynamics.evidence import median
from learning_dynamics.judging import Checks, Finding, claim, equal
from learning_dynamics.papers.deep_linear.completion_exponents.powers import measured_powers, predicted_powers
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Quantity, Table, select, settings_of

Powers = dict[tuple[str, int], np.ndarray]  # by kind of matrices and number of entries: one for each draw

UNEVEN, GAUSSIAN, DEEPER = "uneven singular values, depth 2", "Gaussian factors, depth 2", "uneven, depth 3"


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
) -> Finding:
    r"""A completion that recovers its matrix leaves, from a small initialisation scale $s$, the first singular value
    beyond the rank $r$ as $\sigma_{r+1} \sim s^p$ with $p$ close to $1-\alpha$ at depth 2, and one at depth 3. Here
    $\alpha = \sum \log(1 + \eta g_{r+1}) / \sum \log(1 + \eta g_r)$ over steps $\eta$ until the $r$-th is learned, and
    $g_i$ is the $(i-k)$-th singular value of the gradient outside the $k$ learned so far.

    It is the law of one measurement with a gradient that changes on the way. The ratio comes from one scale,
    {measured_at:g}, and other starts; powers from scales {first:g} to {last:g}. For singular values 3 : 1 the power
    rises from {lowest:.2g} with {fewest} entries to {highest:.2g} with {most}: the fewer entries, the less of what lies
    beyond the rank does a smaller scale remove at depth 2; at depth 3 their number does not matter. (The completion's
    error is another matter: the stopping rule sets it.) With fewer entries than three times the degrees of freedom the
    matrix is not recovered on every draw, and neither power holds.

    Close means nearer than half the way to the $\alpha$ of the path's start. The law is not exact at rank 2: at depth 2
    {above} of {medians} medians lie above it, by {off:.2g} at most and beyond their intervals: directions turn when a
    singular value is learned, which costs a factor that is not paid at once; at scales from {first_coarse:g} to
    {last_coarse:g} by {off_coarse:.2g}. {further} of {paths} draws are further off than the tolerance. A flow's
    rates $g$ in place of $\log(1 + \eta g) / \eta$ would raise predicted powers by {flow:.2g} at most and pass as well;
    so would an average of the ratio along the path, in place of that of sums: at these singular values the two are
    nearly the same.
    """
    counts = sorted(uneven["observed"].unique())
    tables = {UNEVEN: (uneven, uneven_path), GAUSSIAN: (gaussian, gaussian_path), DEEPER: (deeper, uneven_path)}
    slopes = {
        (name, count): measured_powers(ends, count)
        for name, (ends, _) in tables.items()
        for count in sorted(ends["observed"].unique())
    }

    def as_at_depth_2(quantity: Quantity) -> Powers:
        return {(name, count): predicted_powers(tables[name][1], count, quantity) for name, count in slopes}

    def predictions(quantity: Quantity) -> Powers:
        powers = as_at_depth_2(quantity)
        return {key: np.ones_like(values) if key[0] == DEEPER else values for key, values in powers.items()}

    law, start = predictions("alpha"), predictions("alpha_at_the_start")
    gap = np.median([np.abs(start[UNEVEN, count] - law[UNEVEN, count]) for count in counts])
    tolerance = max(share * gap, _whole_step_error(uneven, uneven_path))

    def judge(predicted: Powers) -> Checks:
        for name, count in slopes:
            yield equal(
                f"power of s in the first singular value beyond the rank, less 1 − α, {name}, {count} entries",
                median(slopes[name, count] - predicted[name, count]),
                0.0,
                tolerance=tolerance,
                resolution=gap,
                because=f"{share:g} of what tells the path's α from its start's, but no less than one step makes",
            )

    averages = {name: np.mean([values for key, values in law.items() if key[0] == name], axis=0) for name in tables}
    rivals = {
        "the number of entries does not matter": {(name, count): averages[name] for name, count in law},
        "depth 2 is as depth 3": {key: np.ones_like(values) for key, values in law.items()},
        "depth 3 is as depth 2": as_at_depth_2("alpha"),
        "the ratio at the start of the path": start,
        "the whole gradient's singular values, nothing set aside": predictions("alpha_of_the_whole"),
    }
    facts = {
        "measured_at": settings_of(uneven_path)["scale"],
        "fewest": int(counts[0]),
        "most": int(counts[-1]),
        "lowest": np.nanmedian(slopes[UNEVEN, counts[0]]),
        "highest": np.nanmedian(slopes[UNEVEN, counts[-1]]),
        **_errors({key: slopes[key] - law[key] for key in slopes}, tolerance),
        "flow": max(
            np.nanmedian(values - law[key])
            for key, values in as_at_depth_2("alpha_of_the_flow").items()
            if key[0] != DEEPER
        ),
        "off_coarse": max(abs(np.nanmedian(measured_powers(coarse, count) - law[UNEVEN, count])) for count in counts),
    }
    for ending, table in (("", uneven), ("_coarse", coarse)):
        scales = settings_of(table)["scales"]
        facts |= {f"first{ending}": max(scales), f"last{ending}": min(scales)}
    return Finding(
        judge,
        law,
        rivals,
        facts=facts,
        scaled=lambda powers, factor: {key: factor * values for key, values in powers.items()},
    )


def _whole_step_error(ends: Table, path: Table) -> float:
    """Return the error that a power may have because the r-th singular value is learned after a whole number of steps.

    From each scale the logarithm of the first singular value beyond the rank is off by up to the growth in one step.
    """
    x = np.log(settings_of(ends)["scales"])
    x = x - x.mean()
    return select(path, "step")["value"].median() * np.abs(x).sum() / 2 / (x @ x)


def _errors(differences: Powers, tolerance: float) -> dict[str, float]:
    """Return the largest median error, how many at depth 2 are positive, and how many draws are off by more."""
    medians = {key: np.nanmedian(errors) for key, errors in differences.items()}
    at_depth_2 = [error for (name, _), error in medians.items() if name != DEEPER]
    return {
        "off": max(map(abs, medians.values())),
        "above": int(np.sum(np.greater(at_depth_2, 0))),
        "medians": len(at_depth_2),
        "further": int(sum(np.sum(np.abs(errors) > tolerance) for errors in differences.values())),
        "paths": sum(map(len, differences.values())),
    }
