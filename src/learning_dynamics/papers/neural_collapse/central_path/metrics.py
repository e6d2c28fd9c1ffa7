"""The central path: identities of the loss, tangent maps, and spectra along flows and descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.papers.neural_collapse import least_squares_classifier, theory
from learning_dynamics.papers.neural_collapse.central_path import measures, renormalised
from learning_dynamics.papers.neural_collapse.central_path import models as central_path
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

CENTRAL_PATH = (
    Column("classes", "int", "number of classes C"),
    Column("examples", "int", "examples per class N"),
    Column("features", "int", "number of features P"),
    Column("seed", "int", "ensemble member"),
    Column(
        "flow", "str", "orthogonal or printed: the tangent map of the flow; descent: the discrete algorithm; or empty"
    ),
    Column("step", "float", "step size of the discrete algorithm; 0 for flows"),
    Column("time", "float", "flow time; step size times number of steps for the discrete algorithm"),
    Column("quantity", "str", "what the value is; see the metrics function"),
    Column("index", "int", "1, 2, ... along a spectrum, in descending order, or through variants; 0 for scalars"),
    Column("value", "float", "measured"),
    Column("predicted", "float", "what the paper gives for it, where it does", nullable=True),
    Column("corrected", "float", "what the equation derived for the algorithm gives, where it differs", nullable=True),
)
DECAYS = (0.0, 5e-4, 0.1)


@columns(*CENTRAL_PATH)
def free_features(trajectory: Trajectory) -> pd.DataFrame:
    """Measure what holds of any features: the loss's identities, the tangent maps, and the flows' speeds.

    Quantities of features that are neither centred nor normalised: ``classifier_gap``, ``theorem_1_gap``,
    ``theorem_2_gap``, once for each weight decay in `DECAYS` (index 1, 2, ...); ``loss``, ``loss_nc1``, ``loss_nc23``
    without weight decay, predicted from the SNR singular values (Lemma 1); ``prediction_gap``, ``loss_gap`` under
    H -> A H with A positive definite, symmetric, general (index 1, 2, 3). Quantities of the renormalised features:
    ``curve_equation``, ``curve_velocity``, ``codimension`` (Proposition 3); ``image``, ``idempotence``,
    ``tangent_moved``, ``asymmetry`` of each tangent map (Proposition 4); ``adjoint_gradient``, ``printed_gradient``,
    ``gradient_normal`` (Lemma 4); ``omega``, and ``speed``, d omega_j / dt by central differences, with the
    paper's prediction (eq. 27) and that of the algorithm. All gaps are relative.
    """
    rows = []
    for size in trajectory.settings["sizes"]:
        classes, examples, features = size
        label = central_path.size_label(*size)
        for seed in range(trajectory.members):
            H, W, Z, A = (trajectory.series[f"{name}_{label}"][seed, 0] for name in "HWZA")
            table = _CentralPathRows(size, seed)
            for index, decay in enumerate(DECAYS, start=1):
                table.add(measures.classifier_identities(H, W, decay), index=index)
            for index, change in enumerate(A, start=1):
                table.add(measures.invariance_gaps(H, change, classes), index=index)
            X = central_path.renormalised(H, classes)
            omega = central_path.snr_singular_values(X, classes)
            parts = least_squares_classifier.decompose(W, H, 0.0)
            optimum = least_squares_classifier.optimal_classifier(H, classes, 0.0)
            measured = (least_squares_classifier.loss(optimum, H, 0.0), parts.variability, parts.geometry)
            for (name, predicted), value in zip(_spectral_losses(omega, classes).items(), measured, strict=True):
                table.add({name: value}, predicted=predicted)
            gaps = measures.manifold_gaps(X, Z, classes)
            table.add({"codimension": gaps.pop("codimension")}, predicted=features * (features + 1) / 2)
            table.add(gaps)
            table.add(measures.adjoint_gaps(X, classes))
            for flow, tangent_map in renormalised.TANGENT_MAPS.items():
                table.add(measures.map_gaps(X, Z, classes, tangent_map), flow=flow)
            table.add_spectrum("omega", omega)
            for flow, speed in measures.speeds(X, classes).items():
                table.add_spectrum(
                    "speed",
                    speed,
                    theory.snr_velocity(omega, classes, examples),
                    theory.algorithm_velocity(omega, classes, examples),
                    flow=flow,
                )
            rows.append(table.frame())
    return pd.concat(rows, ignore_index=True)


@columns(*CENTRAL_PATH)
def renormalised_flows(trajectory: Trajectory) -> pd.DataFrame:
    """Measure both flows over time.

    Quantities: ``omega``, SNR singular values, with the solution of eq. 9 from the same start and that of the
    algorithm's equation; ``loss``, ``loss_nc1``, ``loss_nc23``, predicted from the measured singular values (Lemma 1);
    ``excess``, omega_max / omega_min - 1; ``drift``, largest entry of |Sigma_W - I|; ``vectors``, ``snr_limit``,
    ``features_limit`` (Lemma 6 and Corollary 2, see `measures.central_path.limit_gaps`); ``nc1``, predicted as
    C sum_j 1 / omega_j**2, ``nc2_norms``, ``nc2_angles``, ``nc3``, ``nc4``.
    """
    rows = []
    for size in trajectory.settings["sizes"]:
        for flow in renormalised.TANGENT_MAPS:
            states = trajectory.series[f"{flow}_{central_path.size_label(*size)}"]
            for seed, X in enumerate(states):
                rows.append(_along_flow(X, trajectory.time, size, seed, flow))
    return pd.concat(rows, ignore_index=True)


@columns(*CENTRAL_PATH)
def renormalised_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure gradient descent with renormalisation.

    Quantities: ``omega``, with the solution of eq. 9 and that of the algorithm's equation at the same time;
    ``omega_exact``, the same value, predicted by iterating the exact map of one step; ``vectors`` (Lemma 6).
    """
    rows = []
    for size in trajectory.settings["sizes"]:
        classes, examples, _ = size
        for number, step in enumerate(trajectory.settings["steps"]):
            states = trajectory.series[f"descent{number}_{central_path.size_label(*size)}"]
            counts = np.round(trajectory.time / step).astype(int)
            for seed, X in enumerate(states):
                table = _CentralPathRows(size, seed)
                where: dict[str, Any] = {"flow": "descent", "step": float(step), "time": trajectory.time}
                omega = _add_omega(table, X, **where)
                table.add_spectrum("omega_exact", omega, _iterated(omega[0], step, counts, classes, examples), **where)
                table.add({"vectors": measures.limit_gaps(X, X[0], classes)["vectors"]}, **where)
                rows.append(table.frame())
    return pd.concat(rows, ignore_index=True)


class _CentralPathRows:
    """Rows of one size and member, gathered quantity by quantity."""

    def __init__(self, size: list[int], seed: int) -> None:
        self.head = {"classes": size[0], "examples": size[1], "features": size[2], "seed": seed}
        self.frames: list[pd.DataFrame] = []

    def add(self, numbers: Mapping, *, flow: str = "", step: float = 0.0, time: Any = 0.0, **rest: Any) -> None:
        """Add scalars, or arrays over `time`."""
        rest = {"index": 0, "predicted": np.nan, "corrected": np.nan} | rest
        for quantity, value in numbers.items():
            places = {"flow": flow, "step": step, "time": np.atleast_1d(time), "quantity": quantity}
            self.frames.append(pd.DataFrame({**self.head, **places, **rest, "value": np.atleast_1d(value)}))

    def add_spectrum(
        self, quantity: str, value: np.ndarray, predicted: Any = np.nan, corrected: Any = np.nan, **where: Any
    ) -> None:
        """Add a spectrum along the last axis of `value`, over `time` along the first if it has two."""
        predicted, corrected = np.broadcast_to(predicted, value.shape), np.broadcast_to(corrected, value.shape)
        for index in range(value.shape[-1]):
            given = {"predicted": predicted[..., index], "corrected": corrected[..., index]}
            self.add({quantity: value[..., index]}, index=index + 1, **where, **given)

    def frame(self) -> pd.DataFrame:
        """Return the rows with the declared columns in order."""
        return pd.concat(self.frames, ignore_index=True)[[column.name for column in CENTRAL_PATH]]


def _spectral_losses(omega: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    return {
        "loss": theory.spectral_loss(omega, classes),
        "loss_nc1": theory.spectral_variability_loss(omega, classes),
        "loss_nc23": theory.spectral_geometry_loss(omega, classes),
    }


def _add_omega(table: _CentralPathRows, X: np.ndarray, **where: Any) -> np.ndarray:
    """Add the SNR singular values over time beside both solutions from their start; return them."""
    classes, examples = table.head["classes"], table.head["examples"]
    time = where["time"][:, None]
    omega = central_path.snr_singular_values(X, classes)
    table.add_spectrum(
        "omega",
        omega,
        theory.snr_closed_form(omega[0], time, classes, examples),
        theory.algorithm_closed_form(omega[0], time, classes, examples),
        **where,
    )
    return omega


def _along_flow(X: np.ndarray, time: np.ndarray, size: list[int], seed: int, flow: str) -> pd.DataFrame:
    """Measure one member's flow, X of shape (times, features, samples)."""
    classes, examples, features = size
    table = _CentralPathRows(size, seed)
    where: dict[str, Any] = {"flow": flow, "time": time}
    omega = _add_omega(table, X, **where)
    W, errors = central_path.classifier(X, classes), central_path.deviations(X, classes)
    lacking = W @ central_path.class_means(X, classes) - (np.eye(classes) - 1 / classes)
    measured = {
        "loss": central_path.loss(X, classes),
        "loss_nc1": 0.5 * np.sum((W @ errors) ** 2, axis=(-2, -1)) / (classes * examples),
        "loss_nc23": 0.5 * np.sum(lacking**2, axis=(-2, -1)) / classes,
    }
    for name, predicted in _spectral_losses(omega, classes).items():
        table.add({name: measured[name]}, predicted=predicted, **where)
    covariance = central_path.within_covariance(X, classes)
    table.add({"excess": omega[:, 0] / omega[:, -1] - 1}, **where)
    table.add({"drift": np.abs(covariance - np.eye(features)).max(axis=(-2, -1))}, **where)
    table.add(measures.limit_gaps(X, X[0], classes), **where)
    collapsed = measures.collapse(X, classes)
    table.add({"nc1": collapsed.pop("nc1")}, predicted=classes * np.sum(omega**-2, axis=-1), **where)
    table.add(collapsed, **where)
    return table.frame()


def _iterated(start: np.ndarray, step: float, counts: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return the exact one-step map iterated, shape (times, classes - 1)."""
    omega, taken, found = start, 0, []
    for count in counts:
        while taken < count:
            omega = theory.algorithm_step(omega, step, classes, examples)
            taken += 1
        found.append(omega)
    return np.stack(found)
