"""Training of image classifiers: resume points, batches, recorded steps, divergence, arithmetic and devices."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from learning_dynamics import progress
from learning_dynamics.dynamics import training
from learning_dynamics.errors import DivergenceError, ProjectError, UnfinishedError
from learning_dynamics.seeds import seed_sequence
from tests.support import ROOT

RECIPE = training.Recipe(
    loss="mse", learning_rate=0.05, momentum=0.9, weight_decay=1e-3, batch=8, epochs=6, drops=(1 / 3, 2 / 3)
)
RECORDED_EPOCHS = np.array([1, 3, 6])
FIRST_EPOCH = np.array([1])
SEED = 5
ALWAYS = 1e9  # share of the time that resume points may take: one after every epoch


def problem() -> tuple[torch.Tensor, torch.Tensor]:
    """Return 30 noisy images of 4 by 4 pixels, whose mean is their label, and the labels 0, 1 and 2."""
    labels = torch.arange(30) % 3
    noise = torch.randn(30, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    return noise + labels[:, None, None, None], labels


class Classifier(torch.nn.Module):
    """A convolution with batch normalisation, and a linear layer on the means over pixels."""

    def __init__(self) -> None:
        super().__init__()
        convolution = torch.nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.body = torch.nn.Sequential(convolution, torch.nn.BatchNorm2d(4), torch.nn.ReLU())
        self.classifier = torch.nn.Linear(4, 3)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.body(images).mean(dim=(2, 3)))


def network() -> Classifier:
    """Return an untrained classifier, the same each time."""
    with training.seeded(SEED, "initialisation", 0):
        return Classifier()


def states_of_training(
    recipe: training.Recipe = RECIPE, recorded_epochs: np.ndarray = RECORDED_EPOCHS, **options: Any
) -> dict[int, training.State]:
    """Train the classifier on the problem; return, by recorded epoch, its parameters and statistics by name."""
    return training.train(network(), *problem(), recipe, recorded_epochs, **{"seed": SEED, **options})


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def states_of_training_on_gpu(recipe: training.Recipe, **options: Any) -> dict[int, training.State]:
    images, labels = (tensor.cuda() for tensor in problem())
    return training.train(network().cuda(), images, labels, recipe, RECORDED_EPOCHS, seed=SEED, **options)


def assert_same(states: dict[int, training.State], expected: dict[int, training.State]) -> None:
    assert list(states) == list(expected)
    for epoch, state in expected.items():
        for name, value in state.items():
            np.testing.assert_array_equal(states[epoch][name], value, err_msg=f"{name} at epoch {epoch}")


# -- resume points -----------------------------------------------------------------------------------------------------


class KilledError(Exception):
    """Stands for a signal that ends the process."""


def count_epochs(patch, *, killed_in=None):
    """Return a list that grows with each epoch trained from now on; number `killed_in` of them is never saved."""
    whole_epoch = training.one_epoch
    trained = []

    def epoch(*arguments):
        loss = whole_epoch(*arguments)
        trained.append(loss)
        if len(trained) == killed_in:
            raise KilledError  # before the epoch is saved
        return loss

    patch.setattr(training, "one_epoch", epoch)
    return trained


def test_a_training_that_is_killed_twice_ends_as_an_undisturbed_one(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "SHARE", ALWAYS)
    undisturbed = states_of_training()
    for killed_in in (2, 3):
        with monkeypatch.context() as patch:
            count_epochs(patch, killed_in=killed_in)
            with pytest.raises(KilledError):
                states_of_training(resume=tmp_path)
    trained = count_epochs(monkeypatch)
    assert_same(states_of_training(resume=tmp_path), undisturbed)
    # a training from the start would end the same; but the first attempt saved one epoch, the second two more
    assert len(trained) == RECIPE.epochs - 1 - 2


def test_a_training_that_has_ended_is_not_repeated(tmp_path, monkeypatch):
    finished = states_of_training(resume=tmp_path)
    monkeypatch.setattr(training, "one_epoch", lambda *_: pytest.fail("another epoch is trained"))
    assert_same(states_of_training(resume=tmp_path), finished)


class Clock:
    """Stands for the time: each epoch takes some, and so does each save of `last.pt`; all else takes none."""

    def __init__(self, monkeypatch, *, epoch, save):
        self.now, self.saved_at = 0.0, []
        whole_epoch, torch_save = training.one_epoch, torch.save

        def timed_epoch(*arguments):
            self.now += epoch
            return whole_epoch(*arguments)

        def timed_save(what, path):
            torch_save(what, path)
            self.now += save
            self.saved_at.append(self.now)

        monkeypatch.setattr(training, "one_epoch", timed_epoch)
        monkeypatch.setattr(training.torch, "save", timed_save)
        # of the whole process: `progress.time_left` reads it too
        monkeypatch.setattr(training.time, "monotonic", lambda: self.now)

    def train_350_epochs(self, folder):
        states_of_training(replace(RECIPE, batch=30, epochs=350), np.array([1, 350]), resume=folder)


def test_saving_takes_its_share_of_the_time_and_no_epoch_is_far_from_a_save(tmp_path, monkeypatch):
    epoch, save = 5.0, 2.0  # seconds, of VGG11 on CIFAR10
    clock = Clock(monkeypatch, epoch=epoch, save=save)
    clock.train_350_epochs(tmp_path)
    assert (len(clock.saved_at) - 1) * save <= training.SHARE * clock.now  # the save at the end is made in any case
    # the first save is early, as its cost is a guess; the second is made at the end of the first epoch at which the
    # share pays for two saves: after their time over SHARE, plus that epoch at most, plus the save itself; later saves
    # are one cost apart, so nearer
    assert max(np.diff([0.0, *clock.saved_at])) <= (save + save) / training.SHARE + epoch + save


def test_on_a_slow_disk_saves_are_ten_minutes_apart(tmp_path, monkeypatch):
    save = 60.0  # the share pays for one in 3000 s
    clock = Clock(monkeypatch, epoch=5.0, save=save)
    clock.train_350_epochs(tmp_path)
    *saves, _at_the_end = clock.saved_at
    assert len(saves) == 3  # after the first epoch, when the cost of a save is a guess, and twice in the other 1745 s
    # from the end of one save to that of the next: ten minutes, which are a whole number of epochs, and the save
    np.testing.assert_array_equal(np.diff(saves), training.LONGEST + save)


def test_the_last_epoch_is_saved_in_any_case(tmp_path, monkeypatch):
    clock = Clock(monkeypatch, epoch=5.0, save=60.0)
    clock.train_350_epochs(tmp_path)
    # else a training that stops while the next member is trained would repeat the epochs after the last save
    assert clock.saved_at[-1] == clock.now


def test_a_training_whose_time_is_over_stops_at_a_resume_point(tmp_path, monkeypatch):
    undisturbed = states_of_training()
    clock = Clock(monkeypatch, epoch=10.0, save=1.0)

    def train_for(seconds):
        monkeypatch.setattr(progress, "_ends", clock.now + seconds)
        return states_of_training(resume=tmp_path)

    # it stops where less is left than twice the longest epoch, with the save before it, and twice a save: after the
    # first epoch it needs 20 s, as no save has been timed, and has 25 s; after the second more than 22 s, and has 14 s
    for reached in (2, 4):
        with pytest.raises(UnfinishedError, match=f"^{reached} of 6 epochs are trained"):
            train_for(35.0)
    assert_same(train_for(1e6), undisturbed)


def test_a_training_without_a_folder_has_no_limit_of_time(monkeypatch):
    undisturbed = states_of_training()
    monkeypatch.setattr(progress, "_ends", -np.inf)  # the time was over long ago
    assert_same(states_of_training(), undisturbed)


def states_of_epochs(*epochs):
    """Return made-up states, as a training records them, of which each is that of its epoch alone."""
    return {epoch: {"weight": np.full(2, float(epoch))} for epoch in epochs}


def test_each_save_adds_the_states_recorded_since_the_last_and_a_load_returns_all(tmp_path):
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    point = training.ResumePoint(tmp_path)
    for epoch, states, added_files in (
        (4, states_of_epochs(1, 3), ["epoch-1.npz", "epoch-3.npz"]),
        (7, states_of_epochs(1, 3, 6), ["epoch-6.npz"]),
        (8, states_of_epochs(1, 3, 6), []),
    ):
        for file in tmp_path.glob("epoch-*.npz"):
            os.utime(file, (0, 0))  # so that a file that is written again shows
        point.save(net, optimiser, states, epoch)
        written = sorted(file.name for file in tmp_path.glob("epoch-*.npz") if file.stat().st_mtime > 0)
        assert written == added_files, epoch
        loaded_states, loaded_epoch = training.ResumePoint(tmp_path).load(net, optimiser)
        assert loaded_epoch == epoch
        assert_same(loaded_states, states)


def torn_savez(stream, **_states):
    stream.write(b"torn")
    raise KilledError


def torn_save(_what, path):
    path.write_bytes(b"torn")
    raise KilledError


@pytest.mark.parametrize(
    ("library", "name", "torn"),
    [
        pytest.param(np, "savez", torn_savez, id="a recorded state is torn"),
        pytest.param(torch, "save", torn_save, id="the file that names them is torn"),
    ],
)
def test_a_save_that_is_torn_leaves_the_previous_resume_point(library, name, torn, tmp_path, monkeypatch):
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    point = training.ResumePoint(tmp_path)
    point.save(net, optimiser, states_of_epochs(1, 3, 6), epoch=8)
    with monkeypatch.context() as patch:
        patch.setattr(library, name, torn)
        with pytest.raises(KilledError):
            point.save(net, optimiser, states_of_epochs(1, 3, 6, 9), epoch=9)
    loaded_states, loaded_epoch = training.ResumePoint(tmp_path).load(net, optimiser)
    assert loaded_epoch == 8
    assert_same(loaded_states, states_of_epochs(1, 3, 6))


# -- recipes and batches -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "drop_last", "sizes"),
    [(8, False, [8, 8, 8, 6]), (8, True, [8, 8, 8]), (10, True, [10, 10, 10])],
)
def test_a_last_batch_that_is_not_full_can_be_left_out(size, drop_last, sizes):
    assert [len(batch) for batch in training.batches(torch.arange(30), size, drop_last=drop_last)] == sizes


def test_dropping_the_only_batch_is_refused():
    with pytest.raises(ProjectError, match="batch: 31 is more than the 30 images"):
        training.batches(torch.arange(30), 31, drop_last=True)


def test_a_batch_that_is_left_out_moves_neither_parameters_nor_running_averages(monkeypatch):
    images, labels = problem()
    recipe = replace(RECIPE, batch=20, epochs=1, drop_last=True)
    whole_batches = training.batches
    trained_on = []  # the indices of images

    def noted_batches(order, size, *, drop_last):
        batches = whole_batches(order, size, drop_last=drop_last)
        trained_on.extend(torch.cat(batches).tolist())
        return batches

    with monkeypatch.context() as patch:
        patch.setattr(training, "batches", noted_batches)
        expected = training.train(network(), images, labels, recipe, FIRST_EPOCH, seed=SEED)
    left_out = sorted(set(range(len(images))) - set(trained_on))
    assert len(left_out) == len(images) - recipe.batch
    altered = images.clone()
    altered[left_out] = 1e3
    assert_same(training.train(network(), altered, labels, recipe, FIRST_EPOCH, seed=SEED), expected)


@pytest.mark.parametrize("field", ["loss", "precision", "execution", "diverged"])
def test_a_recipe_refuses_a_word_that_is_not_one_of_a_fields_choices(field):
    with pytest.raises(ProjectError, match=f"{field}: `mean` is not one of "):
        replace(RECIPE, **{field: "mean"})


# -- how a step is executed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("execution", "is_compiled"), [("eager", False), ("compiled", True), ("graphs", True)])
def test_a_network_is_compiled_as_the_recipe_says(execution, is_compiled, monkeypatch):
    compiled_networks = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda net: compiled_networks.append(net))
    monkeypatch.setattr(training, "RecordedStep", lambda step: step)  # needs a GPU
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    on_gpu = SimpleNamespace(device=torch.device("cuda"))  # stands for images and targets, which no step reads here
    training.make_step(net, optimiser, on_gpu, on_gpu, replace(RECIPE, execution=execution))
    assert (net in compiled_networks) == is_compiled


class Graph:
    """Stands for a CUDA graph: it repeats its step, with the learning rates that it was recorded with."""

    step: training.RecordedStep
    rates: list[float]  # of the parameter groups, when the step was recorded

    def replay(self) -> None:
        step, indices = self.step._step, self.step._indices
        groups = step.optimiser.param_groups
        # the optimiser's current rates must have no effect, as a graph holds the numbers of its recording
        current_rates = [group["lr"] for group in groups]
        for group, rate in zip(groups, self.rates, strict=True):
            group["lr"] = rate
        self.step._loss.copy_(step(indices))
        for group, rate in zip(groups, current_rates, strict=True):
            group["lr"] = rate


@pytest.fixture
def graphs_on_cpu(monkeypatch):
    """Record every step, without a GPU, however the recipe has steps executed.

    Torch records the operations of a step without executing them. On the CPU the step is executed while it is recorded;
    what it changed is then put back.
    """

    def recorded_steps(net, optimiser, images, targets, recipe):
        Graph.step = training.RecordedStep(training.Step(net, optimiser, images, targets, recipe))
        return Graph.step

    @contextmanager
    def recording(graph):
        state = Graph.step._state()
        before = [tensor.clone() for tensor in state]
        graph.rates = [group["lr"] for group in Graph.step._step.optimiser.param_groups]
        yield
        for tensor, value in zip(Graph.step._state(), before, strict=True):
            tensor.copy_(value)

    monkeypatch.setattr(training, "make_step", recorded_steps)
    stream = SimpleNamespace(wait_stream=lambda _: None)
    for name, stand_in in {
        "CUDAGraph": Graph,
        "graph": recording,
        "Stream": lambda: stream,
        "current_stream": lambda: stream,
        "stream": lambda _: nullcontext(),
        "device": lambda _: nullcontext(),
    }.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)


def states_of_training_without_recording(recipe):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "make_step", training.Step)
        return states_of_training(recipe)


@pytest.mark.parametrize("changes", [{}, {"drop_last": True}, {"momentum": 0.0}, {"loss": "ce"}])
def test_a_training_whose_steps_are_recorded_and_replayed_is_the_same(changes, graphs_on_cpu):
    recipe = replace(RECIPE, **changes)
    assert_same(states_of_training(recipe), states_of_training_without_recording(recipe))


def test_a_batch_that_is_not_full_is_not_replayed(graphs_on_cpu, monkeypatch):
    monkeypatch.setattr(Graph, "replay", lambda _: pytest.fail("a recorded step is replayed"))
    recipe = replace(RECIPE, batch=1000)
    assert_same(states_of_training(recipe), states_of_training_without_recording(recipe))


@needs_gpu
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_recorded_steps_train_as_steps_operation_by_operation(precision):
    recipe = replace(RECIPE, precision=precision)
    expected, found = (
        states_of_training_on_gpu(replace(recipe, execution=execution)) for execution in ("eager", "graphs")
    )
    # a compiled network rounds elsewhere; a learning rate, a momentum or a statistic that a recording leaves changed
    # moves parameters by a tenth
    bound = {"float32": 1e-4, "bfloat16": 2e-2}[precision]
    for epoch, state in expected.items():
        for name, value in state.items():
            np.testing.assert_allclose(found[epoch][name], value, atol=bound, err_msg=f"{name} at epoch {epoch}")


@needs_gpu
def test_recorded_steps_resume_where_they_were_interrupted(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "SHARE", ALWAYS)
    recipe = replace(RECIPE, execution="graphs", drop_last=True)
    undisturbed = states_of_training_on_gpu(recipe)
    with monkeypatch.context() as patch:
        count_epochs(patch, killed_in=4)
        with pytest.raises(KilledError):
            states_of_training_on_gpu(recipe, resume=tmp_path)
    trained = count_epochs(monkeypatch)
    assert_same(states_of_training_on_gpu(recipe, resume=tmp_path), undisturbed)
    assert len(trained) == RECIPE.epochs - 3  # the fourth epoch of the first attempt was not saved


def test_without_a_gpu_the_execution_by_graphs_is_eager_and_a_warning_says_so():
    with pytest.warns(UserWarning, match="execution: graphs needs a GPU; this one trains operation by operation"):
        found = states_of_training(replace(RECIPE, execution="graphs"))
    assert_same(found, states_of_training())


# -- seeds, learning rates and recorded epochs -------------------------------------------------------------------------


def test_other_members_and_other_seeds_are_trained_on_other_batches():
    first, other_member, other_seed = (
        states_of_training(seed=seed, member=member)[RECIPE.epochs]["classifier.weight"]
        for seed, member in ((SEED, 0), (SEED, 1), (SEED + 1, 0))
    )
    assert not np.allclose(first, other_member)
    assert not np.allclose(first, other_seed)


def test_the_learning_rate_drops_to_a_tenth_after_a_third_of_the_epochs_and_again_after_two_thirds():
    recipe = replace(RECIPE, learning_rate=0.1, epochs=350)  # thirds end at 116.7 and 233.3, so with epochs 117 and 233
    rates = [recipe.rate(epoch) for epoch in (117, 118, 233, 234, 350)]
    np.testing.assert_allclose(rates, [0.1, 0.01, 0.01, 0.001, 0.001])


def test_measured_epochs_are_evenly_spaced_on_a_logarithmic_axis_without_repeats():
    last, count = 350, 50
    epochs = training.measured_epochs(last, count)
    assert (epochs[0], epochs[-1]) == (1, last)
    assert (np.diff(epochs) >= 1).all()
    # before rounding, by a half at most, an epoch is the factor times the previous one
    factor = last ** (1 / (count - 1))
    np.testing.assert_allclose(epochs[1:], factor * epochs[:-1], rtol=0, atol=(factor + 1) / 2)


# -- divergence --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [np.inf, np.nan])
def test_divergence_names_the_epoch_and_its_rate(loss, monkeypatch):
    losses = iter([0.5, 0.5, loss])
    monkeypatch.setattr(training, "one_epoch", lambda *_: next(losses))
    # of the six epochs of RECIPE the third, which is not recorded, is the first at a tenth of 0.05
    with pytest.raises(DivergenceError, match=rf"epoch 3: the loss is {loss} at learning rate 0\.005 "):
        states_of_training(recorded_epochs=FIRST_EPOCH)


def test_in_a_sweep_a_diverged_network_counts_as_untrained():
    untrained = {name: value.numpy().copy() for name, value in network().state_dict().items()}
    found = states_of_training(replace(RECIPE, learning_rate=1e30, diverged="reset"))
    assert_same(found, dict.fromkeys(RECORDED_EPOCHS, untrained))


def test_a_running_average_that_is_infinite_is_divergence_though_the_loss_is_finite():
    net = network()
    net.body[1].running_var.fill_(float("inf"))  # of no effect on the loss in training
    with pytest.raises(DivergenceError, match=r"diverged in epoch 1: the loss is 0\.\d"):
        training.train(net, *problem(), RECIPE, FIRST_EPOCH, seed=SEED)


# -- the loss and its arithmetic ---------------------------------------------------------------------------------------


def test_the_squared_loss_is_half_the_sum_over_classes_averaged_over_images():
    """One full-batch step without momentum moves the last bias by the gradient of 1/2 Ave ||Wh + b - y||^2."""
    images, labels = problem()
    net = network()
    outputs = net.train()(images).detach()
    bias = net.classifier.bias.detach().clone()
    rate, decay = 0.01, 0.1
    gradient = (outputs - torch.nn.functional.one_hot(labels, 3)).mean(dim=0) + decay * bias
    recipe = training.Recipe(
        loss="mse", learning_rate=rate, momentum=0.0, weight_decay=decay, batch=len(images), epochs=1, drops=()
    )
    (state,) = training.train(net, images, labels, recipe, FIRST_EPOCH, seed=SEED).values()
    # a bias below 1/2 is rounded by eps / 8, a mean of 30 outputs below 1 by 15 eps, a hundredth of which counts:
    # 2 (1/8 + 15/100) eps for both sides
    np.testing.assert_allclose(state["classifier.bias"], bias - rate * gradient, rtol=0, atol=np.finfo(np.float32).eps)


def test_bfloat16_rounds_the_forward_pass_and_parameters_stay_float32():
    net = network()
    types_of_outputs = set()
    net.classifier.register_forward_hook(lambda _layer, _inputs, output: types_of_outputs.add(output.dtype))
    recipe = replace(RECIPE, precision="bfloat16")
    (state,) = training.train(net, *problem(), recipe, FIRST_EPOCH, seed=SEED).values()
    assert types_of_outputs == {torch.bfloat16}
    assert state["classifier.weight"].dtype == np.float32


def test_bfloat16_trains_as_float32_but_for_its_rounding():
    initial = network().classifier.weight.detach().numpy()
    rounded, exact = (
        states_of_training(replace(RECIPE, loss="ce", precision=precision), FIRST_EPOCH)[1]["classifier.weight"]
        for precision in ("bfloat16", "float32")
    )
    # layers, casts and their gradients round a dozen times, each to 8 bits, so by 2^-8 at most
    assert np.abs(rounded - exact).max() < 12 * 2.0**-8 * np.abs(exact - initial).max()


# -- draws -------------------------------------------------------------------------------------------------------------


def test_draws_of_two_threads_that_take_turns_are_those_of_each_alone():
    turn = threading.Barrier(2, timeout=60)  # where one thread fails, the other must not wait for ever

    def draws(member, wait_for_turn=lambda: None):
        arrays = []
        with training.seeded(SEED, "initialisation", member):
            for _ in range(3):
                wait_for_turn()
                layer = torch.nn.Linear(20, 3)
                arrays += [layer.weight.detach(), layer.bias.detach(), torch.randn(5)]
        return torch.cat([array.ravel() for array in arrays])

    alone = [draws(member) for member in (0, 1)]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda member: draws(member, turn.wait), (0, 1)))
    for member in (0, 1):
        assert torch.equal(alone[member], together[member]), member


def test_seeded_draws_leave_the_generator_of_the_process_as_it_is():
    before = torch.random.get_rng_state()
    network()
    assert torch.equal(torch.random.get_rng_state(), before)


def test_seeded_draws_are_those_of_torchs_own_generator():
    # 63 of the 64 bits of its seed, as `seeded` takes them
    seed = seed_sequence(SEED, "initialisation", 0).generate_state(1, np.uint64)[0] >> 1
    with torch.random.fork_rng():
        torch.manual_seed(int(seed))
        expected = Classifier().state_dict()
    for name, value in network().state_dict().items():
        assert torch.equal(value, expected[name]), name


def test_an_operation_that_cannot_draw_from_a_seeded_generator_is_refused():
    with training.seeded(SEED, "dropout", 0), pytest.raises(RuntimeError, match="native_dropout"):
        torch.native_dropout(torch.ones(5), 0.5, True)


# -- torch's flags, and places on GPUs ---------------------------------------------------------------------------------


def test_flags_of_arithmetic_last_until_the_last_context_ends():
    is_deterministic = torch.are_deterministic_algorithms_enabled
    flags = torch.utils.deterministic
    with ExitStack() as second_context:
        with training.arithmetic():
            second_context.enter_context(training.arithmetic("bfloat16"))
        # the first context has ended, the second has not
        assert is_deterministic()
        assert not flags.fill_uninitialized_memory
    assert not is_deterministic()
    assert flags.fill_uninitialized_memory


def test_arithmetic_raises_where_the_process_only_warns_and_lets_it_warn_again():
    warns_only = torch.is_deterministic_algorithms_warn_only_enabled
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with training.arithmetic():
            assert not warns_only()
        assert warns_only()
    finally:
        torch.use_deterministic_algorithms(False)


def are_products_rounded():
    """Return whether products of float32 are rounded within a context that lets them be."""
    with training.arithmetic("tf32"):
        return torch.backends.cuda.matmul.allow_tf32


def test_threads_of_other_arithmetic_wait_for_each_other():
    with ThreadPoolExecutor(1) as thread:
        with training.arithmetic():
            waiting = thread.submit(are_products_rounded)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.1)  # it takes microseconds if it does not wait
            assert not torch.backends.cuda.matmul.allow_tf32
        assert waiting.result(timeout=10)


def test_one_thread_cannot_open_arithmetic_of_one_kind_within_another():
    with training.arithmetic(), pytest.raises(RuntimeError, match="arithmetic of one kind within another"):
        are_products_rounded()


def test_a_process_holds_one_gpu_and_another_process_takes_the_next(tmp_path):
    names = ("first GPU", "second GPU")
    assert [training.free_place(names, str(tmp_path)) for _ in range(2)] == [0, 0]
    command = (
        f"from learning_dynamics.dynamics.training import free_place; print(free_place({names}, {str(tmp_path)!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "1\n"  # the index of the second
