"""Memory that full-scale trainings and their metrics need, against a GPU and what jobs request; and where tensors are.

Bytes are counted on the meta device, and devices are tried with fake tensors. Nothing is computed and nothing
allocated, so that networks of any size are tried on any machine. What a GPU's allocator rounds up and what convolutions
borrow is not in the counts.
"""

import functools
from dataclasses import dataclass

import pytest
import torch
from bench.needs import SHAPES
from torch._subclasses.fake_tensor import FakeTensorMode

from learning_dynamics.dynamics.training import measured_epochs
from learning_dynamics.measures.adversarial import crossing_distances
from learning_dynamics.measures.class_moments import ClassMoments
from learning_dynamics.measures.memory import LiveBytes, images_within
from learning_dynamics.papers.neural_collapse.training.models import build, network_of
from tests.papers.neural_collapse.training.made_up import NETWORKS
from tests.support import ROOT, plan

PAPER = "neural_collapse"
CLASSES = 10
FLOAT32, FLOAT64 = 4, 8  # bytes
GPU = 80e9  # bytes of the GPU that full scale is planned for
# settings of small networks, by family
SMALL = {
    "vgg": {"stages": [1, 1], "width": 4, "hidden": [8]},
    "resnet": {"stages": [1, 1], "width": 4, "bottleneck": True},
    "densenet": {"stages": [1, 1], "width": 4, "bottleneck": True},
}

# -- what cells of the full scale need -------------------------------------------------------------


@functools.cache
def full_scale():
    """Return the plan of the full scale."""
    return plan(ROOT / "workflow/config/full.yaml", papers=[PAPER])


@dataclass
class Needs:
    """What a cell under MSE needs, in bytes; cross-entropy needs the same."""

    training: int  # on a GPU
    largest_tensor: int  # in training, in entries
    measuring: float  # on a GPU
    file: int  # of the run, on disk
    main_memory: float  # in training


@functools.cache
def counted(data, family):
    """Count what the cell of a data set and a family of networks needs."""
    full, cell = full_scale(), f"{data}_{family}_mse"
    settings, measure_settings = full.run(PAPER, cell)["settings"], full.measure(PAPER, cell)["settings"]
    channels, size, n_test_images = SHAPES[data]
    n_images = CLASSES * full.data(PAPER, data)["settings"]["per_class"]
    image = FLOAT32 * channels * size**2
    images, test_images = n_images * image, n_test_images * image

    with torch.device("meta"):
        network = network_of(settings, channels, CLASSES)
    batch = torch.empty(settings["batch"], channels, size, size, device="meta")
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)  # any rate needs the same
    with LiveBytes() as step:
        network(batch).square().mean().backward()
        optimiser.step()
    parameters = FLOAT32 * sum(parameter.numel() for parameter in network.parameters())

    width = network.classifier.in_features
    pass_through_network = 1e9 * measure_settings["gigabytes"]
    features = min(FLOAT32 * n_images * width, 1e9 * measure_settings["gigabytes"])  # kept only if they fit
    moments = 4 * FLOAT64 * width**2
    state = sum(value.numel() * value.element_size() for value in network.state_dict().values())
    recorded_states = parameters * settings["measurements"]
    return Needs(
        training=step.peak + parameters + images,
        largest_tensor=step.largest,
        measuring=pass_through_network + features + moments + images + test_images,
        file=state * len(measured_epochs(settings["epochs"], settings["measurements"])),
        # the recorded states, and a copy of them while they are written; the images as bytes and as float32, 1.25 times
        # `images`, doubled; 2 GB for all the rest
        main_memory=2 * recorded_states + 2.5 * images + 2e9,
    )


def requested(stage, data, family, resource):
    """Return what the jobs of a cell request, in bytes."""
    return 1e6 * full_scale().resources(stage, PAPER, f"{data}_{family}_mse")[resource]


def every_cell(test):
    """Run a test for each data set and each family of networks."""
    by_data = pytest.mark.parametrize("data", SHAPES)
    return by_data(pytest.mark.parametrize("family", NETWORKS)(test))


@every_cell
def test_the_training_of_every_cell_leaves_a_tenth_of_a_gpu_free_and_of_the_largest_a_twentieth(data, family):
    share = 0.95 if (data, family) == ("stl10", "densenet") else 0.9
    assert counted(data, family).training < share * GPU


@every_cell
def test_the_metrics_of_every_cell_leave_a_tenth_of_a_gpu_free(data, family):
    assert counted(data, family).measuring < 0.9 * GPU


@every_cell
def test_no_tensor_has_more_entries_than_32_bits_count(data, family):
    assert counted(data, family).largest_tensor < 2**31


@every_cell
def test_every_training_requests_a_fifth_more_gpu_memory_than_counted_and_a_gigabyte(data, family):
    least = 1.2 * counted(data, family).training + 1e9
    assert least <= requested("run", data, family, "gpu_mb") <= least + 1e9  # rounded up


@every_cell
def test_metrics_request_a_gigabyte_more_than_counted_or_up_to_24_gb(data, family):
    least = counted(data, family).measuring + 1e9
    assert least <= requested("metrics", data, family, "gpu_mb") <= 24e9


@every_cell
def test_every_training_requests_the_disk_of_its_file_and_at_most_a_tenth_more(data, family):
    file = counted(data, family).file
    assert file < requested("run", data, family, "disk_mb") <= 1.1 * file + 1e8  # rounded up to 100 MB


@every_cell
def test_every_training_requests_one_to_four_times_the_main_memory_that_it_needs(data, family):
    needed = counted(data, family).main_memory
    assert needed <= requested("run", data, family, "mem_mb") <= 4 * needed


# -- batches within a bound ------------------------------------------------------------------------


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("family", NETWORKS)
def test_ten_times_the_memory_takes_about_ten_times_the_images(family, gradients):
    with torch.device("meta"):
        network = build(family, 3, CLASSES, **SMALL[family])
    # the most images that fit into a hundredth and into a tenth of a gigabyte
    few, many = (
        images_within(network, (3, 32, 32), gigabytes, gradients=gradients, most=10**9) for gigabytes in (0.01, 0.1)
    )
    assert few >= 1
    assert many == pytest.approx(10 * few, rel=0.2)  # few are a whole number, and parameters take a part of the memory


@pytest.mark.parametrize("family", NETWORKS)
def test_a_batch_within_a_bound_keeps_to_it_and_does_not_waste_it(family):
    with torch.device("meta"):
        network = build(family, 3, CLASSES, **SMALL[family]).eval()
    gigabytes = 0.05
    count = images_within(network, (3, 32, 32), gigabytes, gradients=False)
    with LiveBytes() as work, torch.no_grad():
        network(torch.empty(count, 3, 32, 32, device="meta"))
    # the count is extrapolated from batches of two and three images: it may need a tenth more, and no less than half
    assert 0.5e9 * gigabytes < work.peak <= 1.1e9 * gigabytes


# -- devices ---------------------------------------------------------------------------------------


def empty_on_gpu(*shape, **kind):
    return torch.empty(shape, device="cuda", **kind)


@pytest.mark.parametrize("family", NETWORKS)
def test_networks_stay_on_their_device(family):
    """Fake tensors of a GPU refuse to be mixed with those of the processor, as a GPU's own would."""
    with FakeTensorMode(), torch.no_grad():
        network = build(family, 1, CLASSES, **SMALL[family]).eval()
        # parameters and buffers move to the GPU by hand
        for module in network.modules():
            for name, value in list(module._parameters.items()):
                if value is not None:
                    module._parameters[name] = torch.nn.Parameter(empty_on_gpu(*value.shape), requires_grad=False)
            for name, value in list(module._buffers.items()):
                module._buffers[name] = empty_on_gpu(*value.shape, dtype=value.dtype)
        images = empty_on_gpu(30, 1, 8, 8)
        assert network(images).device.type == "cuda"
        with pytest.raises(Exception, match="device"):
            network(torch.empty(2, 1, 8, 8))


# on the meta device, which refuses others too: a build without CUDA cannot index fake tensors of a GPU


def test_class_moments_stay_on_their_device():
    with torch.device("meta"):
        features, labels = torch.empty(30, 8), torch.empty(30, dtype=torch.int64)
        moments = ClassMoments(torch.empty(CLASSES, dtype=torch.int64), 8)
    moments.update(features, labels)
    for name, value in {"within": moments.within, "means": moments.means}.items():
        assert (value.device.type, value.dtype) == ("meta", torch.float64), name


def test_crossing_distances_stay_on_their_device():
    with torch.device("meta"):
        network = build("resnet", 1, CLASSES, **SMALL["resnet"]).eval().requires_grad_(False)
        images = torch.empty(30, 1, 8, 8)
    decisions = network(images).argmax(dim=1)
    distances = crossing_distances(network, images[:4], images, decisions, batch=7, halvings=2)
    assert (distances.device.type, distances.dtype) == ("meta", torch.float64)
