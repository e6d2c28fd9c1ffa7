"""What is measured: errors, norms, ranks, spectra, rates and invariants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import effective_rank, singular_values
from learning_dynamics.models import deep_linear
from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

QUANTITY = Column("quantity", "str", "what the value is; see the metrics function")
VALUE = Column("value", "float", "measured", nullable=True)
PREDICTED = Column("predicted", "float", "what the theory gives for it, where it does", nullable=True)
DRAW = Column("draw", "int", "draw of the matrix, its observed entries and the initialisation")
SEED = Column("seed", "int", "ensemble member")
DEPTH = Column("depth", "int", "number of layers")
TIME = Column("time", "float", "gradient-flow time, or learning rate times iterations")
INDEX = Column("index", "int", "1, 2, ... in descending order for singular values; 0 for scalars")

TOP = 10  # singular values kept of each matrix; the rest are counted in the effective rank
CURVE_POINTS = 150  # iterations at which a loss curve is kept, evenly spaced


def _long(labels: Mapping[str, np.ndarray], measured: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return one row for each member and quantity."""
    parts = [pd.DataFrame({**labels, "quantity": name, "value": values}) for name, values in measured.items()]
    return pd.concat(parts, ignore_index=True)


def _of_matrices(W: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    squares = (W - truth) ** 2
    spectrum, true_spectrum = singular_values(W), singular_values(truth)
    return {
        "error": squares.mean(axis=(-2, -1)),
        "train_loss": np.sum(mask * squares, axis=(-2, -1)) / mask.sum(axis=(-2, -1)),
        "nuclear_norm": spectrum.sum(axis=-1),
        "effective_rank": effective_rank(spectrum),
        "true_nuclear_norm": true_spectrum.sum(axis=-1),
        "true_effective_rank": effective_rank(true_spectrum),
    }


@columns(
    DEPTH,
    Column("scale", "float", "initialisation scale s: layers' entries have deviation s^(1/N) n^(-1/2)"),
    Column("learning_rate", "float", "of plain descent, or of group RMSprop"),
    DRAW,
    Column("converged", "bool", "whether the training loss reached the one asked for"),
    QUANTITY,
    VALUE,
)
def completion(trajectory: Trajectory) -> pd.DataFrame:
    """Measure completed matrices.

    Quantities: ``error``, the mean square over all entries; ``train_loss``, over the observed ones;
    ``nuclear_norm`` and ``effective_rank`` of the completed matrix, and ``true_nuclear_norm``,
    ``true_effective_rank`` of the matrix to complete; ``steps`` taken.
    """
    constants, settings = trajectory.constants, trajectory.settings
    draw = constants["draw"]
    labels = {
        "depth": constants["depth"],
        "scale": constants["scale"],
        "learning_rate": constants["learning_rate"],
        "draw": draw,
        "converged": constants["loss"] <= settings["stop"],
    }
    W = trajectory.series["end_to_end"][:, 0]
    measured = _of_matrices(W, constants["truth"][draw], constants["mask"][draw])
    return _long(labels, measured | {"steps": constants["steps"].astype(float)})


@columns(DRAW, QUANTITY, VALUE)
def nuclear_norm(trajectory: Trajectory) -> pd.DataFrame:
    """Measure nuclear-norm minimisers.

    Quantities: as in `completion`; ``gap``, the proved relative distance of the nuclear norm from the least one;
    ``misfit``, the largest error on an observed entry.
    """
    constants = trajectory.constants
    W = trajectory.series["minimiser"][:, 0]
    measured = _of_matrices(W, constants["truth"], constants["mask"])
    misfit = np.abs(constants["mask"] * (W - constants["truth"])).max(axis=(-2, -1))
    return _long({"draw": np.arange(len(W))}, measured | {"gap": constants["gap"], "misfit": misfit})


@columns(DEPTH, DRAW, TIME, QUANTITY, INDEX, VALUE)
def singular_value_paths(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the end-to-end matrix along descent.

    Quantities: ``sigma``, its largest singular values; ``train_loss``, ``error``, ``effective_rank``;
    ``diagonal`` and ``off_diagonal``, mean absolute entries of U^T grad V on and off the diagonal, for the
    singular vectors U, V of the end-to-end matrix that go with its ten largest singular values.
    """
    constants = trajectory.constants
    truth, mask = constants["truth"][constants["draw"], None], constants["mask"][constants["draw"], None]
    W = trajectory.series["end_to_end"]
    gradient = 2 * mask * (W - truth) / mask.sum(axis=(-2, -1), keepdims=True)
    U, spectrum, Vt = np.linalg.svd(W)
    top = min(TOP, spectrum.shape[-1])
    seen = np.abs(np.swapaxes(U[..., :top], -1, -2) @ gradient @ np.swapaxes(Vt[..., :top, :], -1, -2))
    diagonal = np.einsum("...ii->...", seen) / top
    measured = {
        "sigma": spectrum[..., :top],
        "train_loss": (np.sum(mask * (W - truth) ** 2, axis=(-2, -1)) / mask.sum(axis=(-2, -1)))[..., None],
        "error": np.mean((W - truth) ** 2, axis=(-2, -1))[..., None],
        "effective_rank": effective_rank(spectrum)[..., None],
        "diagonal": diagonal[..., None],
        "off_diagonal": ((seen.sum(axis=(-2, -1)) - top * diagonal) / (top * (top - 1)))[..., None],
    }
    frames = [_over_time(name, values, trajectory.time) for name, values in measured.items()]
    table = pd.concat(frames, ignore_index=True)
    table["depth"], table["draw"] = constants["depth"][table["member"]], constants["draw"][table["member"]]
    step = (table["time"] * constants["iterations"][table["member"]]).round()
    table["time"] = step * constants["learning_rate"][table["member"]]
    return table[[column.name for column in singular_value_paths.columns]]


def _over_time(name: str, values: np.ndarray, times: np.ndarray) -> pd.DataFrame:
    """Return rows for an array of shape (members, times, count)."""
    members, points, count = values.shape
    member, time, index = np.meshgrid(np.arange(members), np.arange(points), np.arange(count), indexing="ij")
    return pd.DataFrame(
        {
            "member": member.ravel(),
            "time": times[time.ravel()].astype(float),
            "quantity": name,
            "index": index.ravel() + (name in ("sigma", "eigenvalue")),
            "value": values.ravel(),
        }
    )


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def single_measurement(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the two singular values (``sigma``) along the flow.

    The second's prediction, for the aligned measurement, is the closed form in the first's measured value.
    """
    settings, constants = trajectory.settings, trajectory.constants
    spectrum = singular_values(trajectory.series["end_to_end"])
    predicted = np.full(spectrum.shape, np.nan)
    if settings["measurement"] == "aligned":
        for member, depth in enumerate(constants["depth"]):
            predicted[member, :, 1] = theory.smaller_singular_value(
                spectrum[member, :, 0], settings["start"], settings["ratio"], int(depth)
            )
    table = _over_time("sigma", spectrum, trajectory.time)
    table["predicted"] = predicted.ravel()
    table["depth"] = constants["depth"][table["member"]]
    table["seed"] = constants["member"][table["member"]]
    return table[[column.name for column in single_measurement.columns]]


@columns(
    DEPTH,
    Column("rule", "str", "network: descent on the layers; end_to_end: the preconditioned update itself"),
    SEED,
    QUANTITY,
    Column("learning_rate", "float", "of the run", nullable=True),
    Column("iteration", "int", "of the loss; 0 for other quantities"),
    VALUE,
)
def lp_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure descent on an l_p regression.

    Quantities: ``iterations`` to the tolerance, one for each learning rate (empty where it was not reached);
    ``excess``, (loss - least loss) / least loss along the run with the best rate; ``features``, how many
    columns the data have.
    """
    constants = trajectory.constants
    grid, iterations, least = constants["learning_rate"], constants["iterations"], float(constants["least_loss"])
    rule = np.where(constants["end_to_end"] == 1, "end_to_end", "network")
    members, rates = iterations.shape
    labels = pd.DataFrame({"depth": constants["depth"], "rule": rule, "seed": constants["member"]})
    tried = labels.loc[np.repeat(np.arange(members), rates)].assign(
        quantity="iterations",
        learning_rate=np.tile(grid, members),
        iteration=0,
        value=np.where(iterations < 0, np.nan, iterations).ravel(),
    )
    best = grid[np.where(iterations < 0, np.iinfo(np.int64).max, iterations).argmin(axis=1)]
    kept = np.unique(np.linspace(0, len(trajectory.time) - 1, CURVE_POINTS).round().astype(int))
    losses = trajectory.series["loss"][:, kept]
    curves = labels.loc[np.repeat(np.arange(members), len(kept))].assign(
        quantity="excess",
        learning_rate=np.repeat(best, len(kept)),
        iteration=np.tile(kept, members),
        value=(losses / least - 1).ravel(),
    )
    about = labels.iloc[:1].assign(
        quantity="features", learning_rate=np.nan, iteration=0, value=float(constants["features"])
    )
    table = pd.concat([tried, curves, about.astype({"learning_rate": float})], ignore_index=True)
    return table[[column.name for column in lp_descent.columns]]


@columns(
    DEPTH,
    Column("init", "str", "balanced, or layer_wise: independent Gaussian layers"),
    Column("deviation", "float", "standard deviation of the layers' entries, or of the end-to-end matrix's (balanced)"),
    SEED,
    QUANTITY,
    VALUE,
)
def initialisation_range(trajectory: Trajectory) -> pd.DataFrame:
    """Measure how long descent takes.

    Quantities: ``steps`` to the optimum at the best learning rate, and that ``learning_rate`` (both empty
    where none converged); ``size``, the end-to-end matrix's Frobenius norm at the start.
    """
    constants = trajectory.constants
    labels = {
        "depth": constants["depth"].astype(int),
        "init": np.where(constants["balanced"] == 1, "balanced", "layer_wise"),
        "deviation": constants["deviation"],
        "seed": constants["member"].astype(int),
    }
    steps = trajectory.series["steps"][:, 0]
    rate = trajectory.series["learning_rate"][:, 0]
    return _long(
        labels,
        {
            "steps": np.where(steps < 0, np.nan, steps),
            "learning_rate": np.where(steps < 0, np.nan, rate),
            "size": constants["size"],
        },
    )


CASES = ("assumptions hold", "beyond a singular matrix", "unbalanced")


@columns(
    Column("case", "str", "which assumption on the initialisation is broken, if any"),
    SEED,
    TIME,
    QUANTITY,
    VALUE,
    PREDICTED,
)
def guarantee(trajectory: Trajectory) -> pd.DataFrame:
    """Measure descent with and without the assumptions.

    Quantities: ``loss``, over the first one, with the guaranteed bound as its prediction; ``imbalance`` at
    the start.
    """
    constants, settings = trajectory.constants, trajectory.settings
    W, target = trajectory.series["end_to_end"], constants["target"][:, None]
    loss = 0.5 * np.sum((W - target) ** 2, axis=(-2, -1))
    time = trajectory.time * settings["learning_rate"]
    table = _over_time("loss", (loss / loss[:, :1])[..., None], time)
    table["predicted"] = np.exp(-theory.guaranteed_rate(settings["margin"], settings["depth"]) * table["time"])
    imbalance = _over_time("imbalance", constants["imbalance"][:, None, None], time[:1]).assign(predicted=np.nan)
    joined = pd.concat([table, imbalance], ignore_index=True)
    joined["case"] = np.array(CASES)[constants["case"][joined["member"]]]
    joined["seed"] = constants["member"][joined["member"]]
    return joined[[column.name for column in guarantee.columns]]


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def end_to_end_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure gradient flow of the layers against the end-to-end dynamics.

    Quantities: ``sigma``, singular values of the layers' product, predicted by the integrated rates;
    ``direct``, those of the end-to-end dynamics; ``difference``, ||product - direct||_F; ``drift``, how far
    the differences W_{j+1}^T W_{j+1} - W_j W_j^T have moved from where they were, and ``imbalance``, their
    size, both as the Frobenius norm over all j; ``scale``, ||product||_F; ``eigenvalue``, the extreme ones of
    P_W built term by term (1 smallest, 2 largest), predicted from the singular values.
    """
    constants = trajectory.constants
    W, direct = trajectory.series["end_to_end"], trajectory.series["direct"]
    differences = trajectory.series["gram_differences"]
    eigenvalues, expected = _extreme_eigenvalues(direct, constants["depth"])
    spectrum = singular_values(W)
    none = np.full((*W.shape[:2], 1), np.nan)
    measured: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "sigma": (spectrum, trajectory.series["singular_values"]),
        "direct": (singular_values(direct), np.full(spectrum.shape, np.nan)),
        "difference": (np.linalg.norm(W - direct, axis=(-2, -1))[..., None], none),
        "drift": (np.linalg.norm(differences - differences[:, :1], axis=-1)[..., None], none),
        "imbalance": (np.linalg.norm(differences, axis=-1)[..., None], none),
        "scale": (np.linalg.norm(W, axis=(-2, -1))[..., None], none),
        "eigenvalue": (eigenvalues, expected),
    }
    frames = [
        _over_time(name, values, trajectory.time).assign(predicted=predicted.ravel())
        for name, (values, predicted) in measured.items()
    ]
    table = pd.concat(frames, ignore_index=True)
    table["depth"] = constants["depth"][table["member"]]
    table["seed"] = constants["member"][table["member"]]
    return table[[column.name for column in end_to_end_flow.columns]]


def _extreme_eigenvalues(W: np.ndarray, depths: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    found, expected = np.empty((*W.shape[:2], 2)), np.empty((*W.shape[:2], 2))
    rows, columns_ = W.shape[-2:]
    for member, depth in enumerate(depths):
        for time, matrix in enumerate(W[member]):
            found[member, time] = np.linalg.eigvalsh(deep_linear.preconditioner(matrix, int(depth)))[[0, -1]]
            values = np.linalg.svd(matrix, compute_uv=False)
            left, right = (np.pad(values, (0, size - len(values))) for size in (rows, columns_))
            factors = deep_linear.preconditioner_factors(left, right, int(depth))
            expected[member, time] = factors.min(), factors.max()
    return found, expected


@columns(Column("learning_rate", "float", "step size"), SEED, QUANTITY, VALUE)
def balancedness_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ``drift``: how far gradient descent has moved the differences of layers' Gram matrices by its end."""
    differences = trajectory.series["gram_differences"]
    labels = {"learning_rate": trajectory.constants["learning_rate"], "seed": trajectory.constants["member"]}
    return _long(labels, {"drift": np.linalg.norm(differences[:, -1] - differences[:, 0], axis=-1)})


CURVES = ("one output, whitened inputs", "one output, correlated inputs", "two outputs, whitened inputs")


@columns(DEPTH, Column("case", "str", "outputs and inputs of the network"), QUANTITY, VALUE, PREDICTED)
def closed_curve(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ``integral``, of P_W vec(grad) along the closed curve, and ``scale``, of its absolute integrand.

    The prediction is the closed form, for one output and whitened inputs.
    """
    constants, settings = trajectory.constants, trajectory.settings
    integrand = np.sum(trajectory.series["velocity"] * trajectory.series["element"], axis=-1)
    case = constants["case"]
    exact = [
        theory.sector_integral(
            int(depth),
            settings["target"],
            settings["inner"],
            settings["outer"],
            settings["first_angle"],
            settings["last_angle"],
        )
        if each == 0
        else np.nan
        for depth, each in zip(constants["depth"], case, strict=True)
    ]
    labels = {"depth": constants["depth"], "case": np.array(CURVES)[case]}
    table = _long(labels, {"integral": integrand.sum(axis=1), "scale": np.abs(integrand).sum(axis=1)})
    return table.assign(predicted=[*exact, *np.full(len(exact), np.nan)])
