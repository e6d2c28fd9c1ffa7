"""The flow of classification of one data point by two layers: architectures, and filters of several lengths."""

from typing import Literal

from learning_dynamics.papers.tensor_networks.architectures import networks_of
from learning_dynamics.papers.tensor_networks.exponential_flow import (
    Accuracy,
    exponential_flows,
    recorded_log_log_times,
)
from learning_dynamics.papers.tensor_networks.starts import starts_within_condition, undecided, zero_last
from learning_dynamics.settings import Count, Natural, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def single_point(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "general"]],
    lengths: list[Count],
    zero: Literal["last", "none"],
    last: Positive,
    records: Count,
    doublings: Natural,
    integration: Accuracy,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of classification of one point by two layers, of given networks and with given filter lengths.

    With `zero: last` the first layer starts Gaussian and the second, the last, at zero. With `zero: none` both start
    Gaussian, the second made smaller to be within the condition of Theorem 3. The number `last` has nothing to do with
    this: it is a time.

    `networks` are architectures, see `architectures.network_of`; `general` is a Gaussian tensor without structure.

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)): `records` times up to the time `last`, then `last` times 2, 4, ..., 2^`doublings`.
        Each network has a series, and each filter length k the series ``filter_<k>``: the layers v_1 and v_2 in one
        vector, shape (data sets, times, parameters). They are divided by (1 + log(1 + t))^(1/2), the rate at which two
        layers grow: what is left stays of order one. A data set is one point, and a member. Constants X, shape (data
        sets, 1, inputs), and y, shape (data sets, 1).
    """
    X, y = data["X"], data["y"]
    log_log_times = recorded_log_log_times(last, records, doublings)
    names = [*networks, *(f"filter_{length}" for length in lengths)]
    series: Arrays = {}
    for network in networks_of(names, depths=[2], inputs=X.shape[-1], seed=seed):
        if zero == "last":  # the last layer
            starts = zero_last(network, len(X), seed)
        else:
            starts = starts_within_condition(network, X, f"initial_direction.within.{network.name}", seed)
        # one start for each data set: shape (data sets, 1, parameters)
        series[network.name] = exponential_flows(
            network, X, y, starts[:, None], log_log_times=log_log_times, integration=integration
        )
    # undecided are the members one of whose flows the integrator gave up
    return Trajectory(log_log_times, series, {"X": X, "y": y}, undecided=undecided(series))
