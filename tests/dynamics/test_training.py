"""Training: killed and taken up again it ends as if left in peace; the recipe's schedule; divergence is named."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from learning_dynamics import progress
from learning_dynamics.dynamics import training
from learning_dynamics.errors import DivergenceError, ProjectError, UnfinishedError
from learning_dynamics.papers.neural_collapse.training import models as convolutional
from tests.support import ROOT

RECIPE = training.Recipe("mse", 0.05, 0.9, 1e-3, 8, 6, (1 / 3, 2 / 3))
RECORD = np.array([1, 3, 6])
ALWAYS = 1e9  # share of the time that resume points may take: one after every epoch


def problem() -> tuple[torch.Tensor, torch.Tensor]:
    labels = torch.arange(30) % 3
    noise = torch.randn(30, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    return noise + labels[:, None, None, None], labels


def network() -> convolutional.Classifier:
    with training.seeded(5, "initialisation", 0):
        return convolutional.resnet(1, 3, stages=[1], width=4)


class KilledError(Exception):
    """Stands for a signal that ends the process."""


def test_killed_twice_equals_left_in_peace(tmp_path, monkeypatch):
    images, labels = problem()
    monkeypatch.setattr(training, "SHARE", ALWAYS)
    undisturbed = training.train(network(), images, labels, RECIPE, RECORD, seed=5)
    whole_epoch = training.one_epoch
    taken = []

    def killed_in(epoch_count):
        def epoch(*arguments):
            taken.append(None)
            result = whole_epoch(*arguments)
            if len(taken) == epoch_count:
                raise KilledError  # the epoch's steps are done, its resume point is not yet written
            return result

        return epoch

    for after in (2, 5):
        monkeypatch.setattr(training, "one_epoch", killed_in(after))
        with pytest.raises(KilledError):
            training.train(network(), images, labels, RECIPE, RECORD, seed=5, resume=tmp_path)
    monkeypatch.setattr(training, "one_epoch", whole_epoch)
    resumed = training.train(network(), images, labels, RECIPE, RECORD, seed=5, resume=tmp_path)
    assert list(resumed) == list(undisturbed)
    for epoch, state in undisturbed.items():
        for name, value in state.items():
            np.testing.assert_array_equal(resumed[epoch][name], value, err_msg=f"{name} at epoch {epoch}")


def test_a_finished_training_is_not_trained_again(tmp_path, monkeypatch):
    images, labels = problem()
    first = training.train(network(), images, labels, RECIPE, RECORD, seed=5, resume=tmp_path)
    monkeypatch.setattr(training, "one_epoch", None)
    again = training.train(network(), images, labels, RECIPE, RECORD, seed=5, resume=tmp_path)
    np.testing.assert_array_equal(again[6]["classifier.weight"], first[6]["classifier.weight"])


SCRIPT = """
import sys; from pathlib import Path; import numpy as np; import torch
torch.set_num_threads(1)
from tests.dynamics.test_training import network, problem
from learning_dynamics.dynamics import training
training.SHARE = 1e9
recipe = training.Recipe("mse", 0.05, 0.9, 1e-3, 8, 60, (1 / 3, 2 / 3))
states = training.train(network(), *problem(), recipe, np.array([1, 60]), seed=5, resume=Path(sys.argv[1]))
np.savez(sys.argv[2], **states[60])
"""


def test_a_process_killed_twice_ends_as_if_left_in_peace(tmp_path):
    def start(name):
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / name), str(tmp_path / f"{name}.npz")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)

    assert start("peace").wait() == 0
    reached = tmp_path / "killed" / "last.pt"
    for _ in range(2):
        before = reached.stat().st_mtime_ns if reached.is_file() else 0
        process = start("killed")
        while not reached.is_file() or reached.stat().st_mtime_ns == before:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "killed.npz").exists()
    assert start("killed").wait() == 0
    with np.load(tmp_path / "peace.npz") as peace, np.load(tmp_path / "killed.npz") as killed:
        for name in peace.files:
            np.testing.assert_array_equal(killed[name], peace[name])


class Clock:
    """Stands for the time: epochs take some, and so does whatever is written down."""

    def __init__(self, monkeypatch, *, epoch, point):
        self.now, self.written = 0.0, []
        whole_epoch, save = training.one_epoch, torch.save

        def timed_epoch(*arguments):
            self.now += epoch
            return whole_epoch(*arguments)

        def timed_save(what, path):
            save(what, path)
            self.now += point
            self.written.append(self.now)

        monkeypatch.setattr(training, "one_epoch", timed_epoch)
        monkeypatch.setattr(training.torch, "save", timed_save)
        monkeypatch.setattr(training.time, "monotonic", lambda: self.now)


@pytest.mark.parametrize(
    ("epoch", "point", "share", "lost"),
    [
        # VGG11 on CIFAR10: one in a hundred seconds; the second is late by the first, whose time was a guess
        (5.0, 2.0, 0.02, 2 * 2.0 / 0.02 + 5.0 + 2.0),
        (195.0, 1.0, 0.02, 195.0 + 1.0),  # epochs that are long anyway
        (5.0, 60.0, 0.11, 600.0 + 5.0 + 60.0),  # a disk so slow that the bound on what may be lost decides
    ],
)
def test_resume_points_take_a_share_of_the_time_and_bound_what_may_be_lost(
    epoch, point, share, lost, tmp_path, monkeypatch
):
    clock = Clock(monkeypatch, epoch=epoch, point=point)
    recipe = training.Recipe("mse", 0.05, 0.9, 1e-3, 30, 350, ())
    training.train(network(), *problem(), recipe, np.array([1, 350]), seed=5, resume=tmp_path)
    *points, last = clock.written
    assert last == clock.now  # at the end, for whoever has other members to train
    assert len(points) * point <= share * clock.now
    assert max(np.diff([0.0, *clock.written])) <= lost


def test_a_training_whose_time_is_over_stops_at_a_resume_point(tmp_path, monkeypatch):
    images, labels = problem()
    undisturbed = training.train(network(), images, labels, RECIPE, RECORD, seed=5)
    clock = Clock(monkeypatch, epoch=10.0, point=1.0)
    trained = []
    for granted in (35.0, 35.0, 1e6):
        # two epochs more, and what writing takes, must fit into what is left after each
        monkeypatch.setattr(progress, "_ends", clock.now + granted)
        try:
            states = training.train(network(), images, labels, RECIPE, RECORD, seed=5, resume=tmp_path)
        except UnfinishedError as reached:
            trained.append(int(str(reached).split()[0]))
    assert trained == [2, 4]
    for epoch, state in undisturbed.items():
        for name, value in state.items():
            np.testing.assert_array_equal(states[epoch][name], value, err_msg=f"{name} at epoch {epoch}")


def test_a_resume_point_has_the_states_that_were_recorded_since_the_last(tmp_path):
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), 0.1, 0.9)
    point, states = training.ResumePoint(tmp_path), {}
    for recorded, epoch in (([1, 3], 4), ([6], 7), ([], 8)):
        states |= {number: {"weight": np.full(2, number)} for number in recorded}
        point.set_down(net, optimiser, states, epoch)
        found, reached = training.ResumePoint(tmp_path).take_up(net, optimiser)
        assert (sorted(found), reached) == (sorted(states), epoch)


def test_without_a_resume_folder_nothing_stops_before_its_end(monkeypatch):
    monkeypatch.setattr(progress, "_ends", -np.inf)
    assert list(training.train(network(), *problem(), RECIPE, RECORD, seed=5)) == list(RECORD)


def test_an_incomplete_last_batch_can_be_left_out():
    order = torch.arange(30)
    assert [len(part) for part in training.batches(order, 8, drop_last=False)] == [8, 8, 8, 6]
    assert [len(part) for part in training.batches(order, 8, drop_last=True)] == [8, 8, 8]
    assert len(training.batches(order, 10, drop_last=True)) == 3
    with pytest.raises(ProjectError, match="batch: 31 is more than the 30 images"):
        training.batches(order, 31, drop_last=True)


def test_what_is_left_out_is_not_trained_on():
    """Of one batch and a half the second half moves nothing: not the parameters, not the running averages."""
    images, labels = problem()
    recipe = training.Recipe("mse", 0.05, 0.9, 1e-3, 20, 1, (), drop_last=True)
    order = np.random.default_rng(training.seed_sequence(5, "batches of epoch 1", 0)).permutation(30)
    altered = images.clone()
    altered[torch.from_numpy(order[20:])] = 1e3
    whole, other = (
        training.train(network(), given, labels, recipe, np.array([1]), seed=5)[1] for given in (images, altered)
    )
    for name, value in whole.items():
        np.testing.assert_array_equal(other[name], value, err_msg=name)


@pytest.mark.parametrize(("execution", "mode"), [("compiled", None), ("graphs", "reduce-overhead")])
def test_a_compiled_network_is_compiled_as_the_recipe_says(execution, mode, monkeypatch):
    asked = []
    monkeypatch.setattr(training.torch, "compile", lambda net, mode: asked.append(mode) or net)
    recipe = training.Recipe("mse", 0.05, 0.9, 1e-3, 8, 6, (), execution=execution)
    net = network()
    assert training.executed(net, recipe, torch.device("cuda")) is net
    assert asked == [mode]


def test_graphs_without_a_gpu_are_eager_and_say_so():
    recipe = training.Recipe("mse", 0.05, 0.9, 1e-3, 8, 6, (1 / 3, 2 / 3), execution="graphs")
    with pytest.warns(UserWarning, match="graphs needs a GPU"):
        found = training.train(network(), *problem(), recipe, RECORD, seed=5)
    eager = training.train(network(), *problem(), RECIPE, RECORD, seed=5)
    np.testing.assert_array_equal(found[6]["classifier.weight"], eager[6]["classifier.weight"])


def test_members_and_seeds_differ_and_repeat():
    images, labels = problem()
    ends = [
        training.train(network(), images, labels, RECIPE, RECORD, seed=seed, member=member)[6]["classifier.weight"]
        for seed, member in ((5, 0), (5, 0), (5, 1), (6, 0))
    ]
    np.testing.assert_array_equal(ends[0], ends[1])
    assert not np.allclose(ends[0], ends[2])
    assert not np.allclose(ends[0], ends[3])


def test_initialisation_leaves_torchs_own_generator_alone():
    before = torch.get_rng_state()
    network()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("epochs", "drops"), [(350, (117, 233)), (150, (50, 100)), (6, (2, 4))])
def test_the_rate_drops_after_a_third_and_two_thirds(epochs, drops):
    recipe = training.Recipe("ce", 0.1, 0.9, 5e-4, 128, epochs, (1 / 3, 2 / 3))
    assert recipe.rate(drops[0]) == 0.1
    assert recipe.rate(drops[0] + 1) == pytest.approx(0.01)
    assert recipe.rate(drops[1]) == pytest.approx(0.01)
    assert recipe.rate(epochs) == pytest.approx(0.001)


def test_measured_epochs_are_denser_early():
    epochs = training.measured_epochs(350, 50)
    assert epochs[0] == 1
    assert epochs[-1] == 350
    assert (np.diff(epochs) >= 1).all()
    assert 35 <= len(epochs) <= 50


def test_divergence_names_the_epoch_and_the_rate():
    images, labels = problem()
    recipe = training.Recipe("mse", 1e30, 0.9, 1e-3, 8, 6, ())
    with pytest.raises(DivergenceError, match=r"epoch 1: .* learning rate 1e\+30"):
        training.train(network(), images, labels, recipe, RECORD, seed=5)


def test_in_a_sweep_a_diverged_network_counts_as_untrained():
    images, labels = problem()
    untrained = {name: value.numpy().copy() for name, value in network().state_dict().items()}
    recipe = training.Recipe("mse", 1e30, 0.9, 1e-3, 8, 6, (), diverged="reset")
    states = training.train(network(), images, labels, recipe, RECORD, seed=5)
    assert list(states) == list(RECORD)
    for name, value in untrained.items():
        np.testing.assert_array_equal(states[int(RECORD[-1])][name], value)


@pytest.mark.parametrize("diverged", ["stop", "reset"])
def test_a_statistic_that_overflows_is_divergence_too(diverged):
    images, labels = problem()
    net = network()
    net.body[1].running_var.fill_(float("inf"))  # of no effect on the loss in training
    recipe = training.Recipe("mse", 0.05, 0.9, 1e-3, 8, 2, (), diverged=diverged)
    if diverged == "stop":
        with pytest.raises(DivergenceError, match="diverged in epoch 2: the loss is 0"):
            training.train(net, images, labels, recipe, np.array([2]), seed=5)
    else:
        assert list(training.train(net, images, labels, recipe, np.array([2]), seed=5)) == [2]


def test_the_loss_is_half_the_sum_over_classes():
    """One full-batch step without momentum moves the last bias by the gradient of 1/2 Ave ||Wh + b - y||^2."""
    images, labels = problem()
    net = network()
    outputs = net.train()(images).detach()
    bias = net.classifier.bias.detach().clone()
    gradient = (outputs - torch.nn.functional.one_hot(labels, 3)).mean(dim=0) + 0.1 * bias
    recipe = training.Recipe("mse", 0.01, 0.0, 0.1, 30, 1, ())
    state = training.train(net, images, labels, recipe, np.array([1]), seed=5)[1]
    np.testing.assert_allclose(state["classifier.bias"], bias - 0.01 * gradient, rtol=1e-5, atol=1e-7)


def test_bfloat16_trains_float32_parameters():
    images, labels = problem()
    recipe = training.Recipe("ce", 0.05, 0.9, 1e-3, 8, 2, (), precision="bfloat16")
    state = training.train(network(), images, labels, recipe, np.array([2]), seed=5)[2]
    assert state["classifier.weight"].dtype == np.float32
    assert np.isfinite(state["classifier.weight"]).all()


def test_draws_of_two_threads_that_take_turns_are_those_of_each_alone():
    turn = threading.Barrier(2)

    def draws(member, wait=lambda: None):
        with training.seeded(5, "initialisation", member):
            drawn = []
            for _ in range(3):
                wait()
                layer = torch.nn.Linear(20, 3)
                drawn += [layer.weight.detach(), layer.bias.detach(), torch.randn(5)]
        return torch.cat([values.ravel() for values in drawn])

    alone, before = [draws(member) for member in (0, 1)], torch.random.get_rng_state()
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda member: draws(member, turn.wait), (0, 1)))
    for one, other in zip(alone, together, strict=True):
        assert torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)  # nor is the process's generator touched


def test_seeded_draws_are_those_of_torchs_own_generator():
    state = training.seed_sequence(5, "initialisation", 0).generate_state(1, np.uint64)[0] >> 1
    with torch.random.fork_rng():
        torch.manual_seed(int(state))
        expected = convolutional.resnet(1, 3, stages=[1], width=4).state_dict()
    for name, value in network().state_dict().items():
        assert torch.equal(value, expected[name]), name


def test_what_can_draw_from_the_process_alone_is_refused():
    with training.seeded(5, "dropout", 0), pytest.raises(RuntimeError, match="native_dropout"):
        torch.native_dropout(torch.ones(5), 0.5, True)


def test_flags_of_arithmetic_last_until_the_last_context_ends():
    deterministic = torch.are_deterministic_algorithms_enabled
    first, second = training.arithmetic(), training.arithmetic("bfloat16")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert deterministic()
    second.__exit__(None, None, None)
    assert not deterministic()


def test_threads_of_other_arithmetic_wait_for_each_other():
    rounds = torch.backends.cuda.matmul

    def rounded():
        with training.arithmetic("tf32"):
            return rounds.allow_tf32

    with ThreadPoolExecutor(1) as thread:
        with training.arithmetic():
            later = thread.submit(rounded)
            with pytest.raises(TimeoutError):
                later.result(timeout=0.1)
            assert not rounds.allow_tf32
            with pytest.raises(RuntimeError, match="arithmetic of one kind within another"):
                rounded()
        assert later.result(timeout=10)


def test_a_process_holds_one_place_and_another_process_takes_the_next(tmp_path):
    names = ("first", "second")
    assert [training.free_place(names, str(tmp_path)) for _ in range(2)] == [0, 0]
    command = (
        f"from learning_dynamics.dynamics.training import free_place; print(free_place({names}, {str(tmp_path)!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    assert subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True).stdout == b"1\n"
