"""Minimum-norm interpolators and maximum-margin classifiers, by convex programs; for quasi-norms, by enumeration."""

from itertools import combinations
from typing import Any, Literal

import clarabel
import numpy as np
from scipy import sparse

Norm = Literal["l1", "l2", "dft_l1"]
# The norm of the coefficients that the flow's limit minimises, for networks of two layers; that of fully connected ones
# at any depth. In classification the limit, divided by its margin, has the least norm of all classifiers of margin one.
# In regression from a small start it has the least norm of all interpolators.
LIMIT_NORM: dict[str, Norm] = {"fully_connected": "l2", "diagonal": "l1", "convolutional": "dft_l1"}
# The interior-point solver's tolerances, for both the duality gap and feasibility. It aims at TOLERANCE. Where rounding
# stops it before, a solution within ACCEPTED_TOLERANCE is accepted.
TOLERANCE, ACCEPTED_TOLERANCE = 1e-12, 1e-10


def norm_of(z: np.ndarray, norm: Norm) -> np.ndarray:
    """Return l1, l2 or (unitary) dft_l1 norms along the last axis."""
    if norm == "l2":
        return np.linalg.norm(z, axis=-1)
    return np.abs(np.fft.fft(z, norm="ortho") if norm == "dft_l1" else z).sum(axis=-1)


def minimum_norm(X: np.ndarray, y: np.ndarray, norm: Norm, *, classification: bool = False) -> np.ndarray:
    """Minimise a norm of z subject to ``X z = y``, or to ``y_i x_i^T z >= 1`` for classification.

    Parameters
    ----------
    X : ndarray, shape (samples, inputs)
    y : ndarray, shape (samples,)
    norm : str
        l1; l2; or dft_l1, the l1 norm of the unitary discrete Fourier transform.
    classification : bool
        Whether the constraints are those of classification.

    Returns
    -------
    ndarray, shape (inputs,)
        Where minimisers are many, one of them.

    Raises
    ------
    ValueError
        If no z fulfils the constraints.
    """
    samples, inputs = X.shape
    # The solver takes constraints as `bound - data @ z` in a cone. For interpolation this is y - X z, which is to be
    # zero. For classification it is y_i x_i^T z - 1, which is not to be negative: hence both minus signs.
    data = -y[:, None] * X if classification else X
    bound = -np.ones(samples) if classification else y
    cones = [clarabel.NonnegativeConeT(samples) if classification else clarabel.ZeroConeT(samples)]
    if norm == "l2":
        # squared, so that the solution is the one of a strictly convex quadratic program
        return _solve_cone_program(2 * np.eye(inputs), np.zeros(inputs), data, bound, cones=cones, name=norm)
    # Unknowns are z and t, in one vector: the sum of t is minimised, and t_j bounds the size of the j-th entry of z, or
    # of its transform. That is a second-order cone for each j: t_j is at least the length of the vector of the entry's
    # real and imaginary part.
    transform = np.fft.fft(np.eye(inputs), norm="ortho")
    parts = [transform.real, transform.imag] if norm == "dft_l1" else [np.eye(inputs)]
    size = 1 + len(parts)
    # for each j the rows that make (t_j, real part, imaginary part); negative, as the solver takes `bounds - system x`
    cone_rows = np.zeros((inputs, size, 2 * inputs))
    cone_rows[:, 0, inputs:] = -np.eye(inputs)
    for place, part in enumerate(parts, start=1):
        cone_rows[:, place, :inputs] = -part
    # the rows of one j stay together, as its cone is one of the list below
    system = np.concatenate([np.pad(data, ((0, 0), (0, inputs))), cone_rows.reshape(-1, 2 * inputs)])
    cost = np.repeat([0.0, 1.0], inputs)
    bounds = np.concatenate([bound, np.zeros(size * inputs)])
    cones += [clarabel.SecondOrderConeT(size)] * inputs
    return _solve_cone_program(np.zeros((2 * inputs,) * 2), cost, system, bounds, cones=cones, name=norm)[:inputs]


def minimum_matrix_norm(sensors: np.ndarray, y: np.ndarray, norm: Literal["nuclear", "frobenius"]) -> np.ndarray:
    """Minimise a norm of a symmetric matrix Z subject to ``<A_i, Z> = y_i``, for symmetric sensors A_i.

    The nuclear norm is the least sum of traces of two positive semidefinite matrices whose difference is Z.

    Parameters
    ----------
    sensors : ndarray, shape (samples, size, size)
    y : ndarray, shape (samples,)
    norm : str
        nuclear, the sum of singular values; or frobenius.

    Returns
    -------
    ndarray, shape (size, size)
        Where minimisers are many, as they may be of the nuclear norm, one of them.

    Raises
    ------
    ValueError
        If no Z fulfils the constraints.
    """
    samples, size = sensors.shape[:2]
    if norm == "frobenius":
        # symmetric by itself, as the interpolator of least l2 norm is a combination of the sensors
        return minimum_norm(sensors.reshape(samples, -1), y, "l2").reshape(size, size)
    # The solver takes a symmetric matrix as the vector of its upper triangle, column by column, with entries off the
    # diagonal multiplied by the root of two. `np.tril_indices` lists a lower triangle row by row: the same order, with
    # rows and columns exchanged.
    column, row = np.tril_indices(size)
    entries = len(row)
    weights = np.where(row == column, 1.0, np.sqrt(2))
    sensor_vectors = sensors[:, row, column] * weights  # shape (samples, entries)
    # Unknowns are two such vectors, with <A_i, first> - <A_i, second> = y_i. The rows -I make the solver's
    # `bounds - system x` the two vectors themselves, each in the cone of semidefinite matrices.
    system = np.concatenate([np.concatenate([sensor_vectors, -sensor_vectors], axis=1), -np.eye(2 * entries)])
    solution = _solve_cone_program(
        np.zeros((2 * entries,) * 2),
        np.tile((row == column).astype(float), 2),  # the cost is the sum of both traces
        system,
        np.concatenate([y, np.zeros(2 * entries)]),
        cones=[clarabel.ZeroConeT(samples)] + [clarabel.PSDTriangleConeT(size)] * 2,
        name=norm,
    )
    Z = np.zeros((size, size))
    Z[row, column] = Z[column, row] = (solution[:entries] - solution[entries:]) / weights
    return Z


def _solve_cone_program(
    curvature: np.ndarray, cost: np.ndarray, system: np.ndarray, bounds: np.ndarray, *, cones: list[Any], name: str
) -> np.ndarray:
    """Minimise ``x^T curvature x / 2 + cost x`` subject to ``bounds - system x`` in the cones, by interior points.

    The first rows of the system belong to the first cone, the next to the second, and so on. `name` is the norm's, for
    the message of an error.
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = ACCEPTED_TOLERANCE
    # of a symmetric matrix the solver takes the upper triangle
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(curvature)), cost, sparse.csc_matrix(system), bounds, cones, settings
    ).solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise ValueError(f"no {name} solution: the problem is {solution.status}")
    return np.asarray(solution.x)


def least_quasi_norm(features: np.ndarray, y: np.ndarray, power: float) -> float:
    r"""Return the least ``sum_j |rho_j|**power`` subject to ``y_i features_i rho >= 1``, for a power of at most 1.

    The cost is concave on every orthant, so that a minimum is at a vertex of the feasible set in some orthant. Where no
    rho fulfils the constraints the least is inf.

    Parameters
    ----------
    features : ndarray, shape (samples, m)
    y : ndarray, shape (samples,), of 1 and -1
    """
    # the cost of every vertex, shape (vertices,), and its least entry; `initial` is what np.min returns for no vertex
    return float(np.min(np.sum(np.abs(margin_vertices(y[:, None] * features)) ** power, axis=1), initial=np.inf))


def margin_vertices(labelled_points: np.ndarray) -> np.ndarray:
    """Return the vertices of the set where ``labelled_points @ rho >= 1``, orthant by orthant, shape (vertices, m).

    A vertex of the part in an orthant is a feasible point whose nonzero entries are determined by as many constraints
    that are tight there. It may be returned several times, because several choices of them may determine it.

    Parameters
    ----------
    labelled_points : ndarray, shape (samples, m)
        Features of the data points, multiplied by their labels.
    """
    samples, size = labelled_points.shape
    vertices = []
    for count in range(1, samples + 1):
        for tight in combinations(range(samples), count):
            for support in combinations(range(size), count):
                system = labelled_points[np.ix_(tight, support)]
                if abs(np.linalg.det(system)) < 1e-12:  # singular up to rounding: the entries are not determined
                    continue
                vertex = np.zeros(size)
                vertex[list(support)] = np.linalg.solve(system, np.ones(count))
                if (labelled_points @ vertex >= 1 - 1e-9).all():  # feasible up to rounding
                    vertices.append(vertex)
    # where there are none the shape is (0, m)
    return np.array(vertices).reshape(-1, size)
