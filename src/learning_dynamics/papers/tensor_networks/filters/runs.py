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
    """Follow the flow of classification of one point by two layers, from a Gaussian first and a zero second layer.

    Where none is zero, layers start within the condition of Theorem 3.

    Returns
    -------
    Trajectory
        Time is log(1 + log(1 + t)): `records` up to `last`, which is then doubled `doublings` times. For each
        network, and as ``filter_<k>`` for each filter length k, a series, shape (data sets, times, parameters): the
        layers divided by (1 + log(1 + t))^(1/2).
    """
    X, y = data["X"], data["y"]
    log_log_times = recorded_log_log_times(last, records, doublings)
    names = [*networks, *(f"filter_{length}" for length in lengths)]
    series: Arrays = {}
    for network in networks_of(names, [2], X.shape[-1], seed):
        if zero == "last":
            starts = zero_last(network, len(X), seed)
        else:
            starts = starts_within_condition(network, X, f"initial_direction.within.{network.name}", seed)
        series[network.name] = exponential_flows(
            network, X, y, starts[:, None], log_log_times=log_log_times, integration=integration
        )
    return Trajectory(log_log_times, series, {"X": X, "y": y}, undecided=undecided(series))
