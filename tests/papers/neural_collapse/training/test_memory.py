"""What the networks of every scale need, and that they run on a GPU: counted on the meta device and on fake tensors.

Nothing is computed and no memory taken, so that networks of any size are tried on any machine. What these counts leave
out is what a GPU's allocator rounds up and what convolutions borrow.
"""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from learning_dynamics.dynamics.training import measured_epochs
from learning_dynamics.measures.adversarial import crossing_distances
from learning_dynamics.measures.class_moments import ClassMoments
from learning_dynamics.measures.memory import LiveBytes, images_within
from learning_dynamics.papers.neural_collapse.training.models import build, network_of
from tests.support import ROOT, plan

PAPER = "neural_collapse"
IMAGES = {"mnist": (1, 32), "fashion_mnist": (1, 32), "svhn": (3, 32), "cifar10": (3, 32), "stl10": (3, 96)}
GPU = 80e9  # bytes of the GPU that full scale is planned for
# the largest cell fills such a GPU to the last tenth
GPU_OF = {("stl10", "densenet"): 0.95 * GPU}
NETWORKS = ("vgg", "resnet", "densenet")
SMALL = {
    "vgg": {"stages": [1, 1], "width": 4, "hidden": [8]},
    "resnet": {"stages": [1, 1], "width": 4, "bottleneck": True},
    "densenet": {"stages": [1, 1], "width": 4, "bottleneck": True},
}


@pytest.fixture(scope="module")
def full():
    return plan(ROOT / "workflow/config/full.yaml", papers=[PAPER])


@pytest.mark.parametrize("data", IMAGES)
@pytest.mark.parametrize("family", NETWORKS)
def test_every_cell_of_the_grid_fits_a_gpu_and_its_request(full, data, family):
    spec = full.run(PAPER, f"{data}_{family}_mse")
    settings, (channels, size) = spec["settings"], IMAGES[data]
    per_class = full.data(PAPER, data)["settings"]["per_class"]
    with torch.device("meta"):
        network = network_of(settings, channels, 10)
    images = torch.empty(settings["batch"], channels, size, size, device="meta")
    optimiser = torch.optim.SGD(network.parameters(), 0.1, 0.9)
    with LiveBytes() as step:
        network(images).square().mean().backward()
        optimiser.step()
    parameters = 4 * sum(parameter.numel() for parameter in network.parameters())
    data_set = 4 * 10 * per_class * channels * size**2
    assert step.peak + parameters + data_set < GPU_OF.get((data, family), 0.9 * GPU)
    assert step.largest < 2**31
    gigabytes = full.measure(PAPER, f"{data}_{family}_mse")["settings"]["gigabytes"]
    moments = 8 * 4 * network.classifier.in_features**2
    features = min(4 * 10 * per_class * network.classifier.in_features, 1e9 * gigabytes)
    assert 1e9 * gigabytes + features + moments + 1.2 * data_set < 0.9 * GPU
    # what jobs that share a GPU are counted with: a fifth more than the count, and a gigabyte
    shared = 1e6 * full.resources("run", PAPER, f"{data}_{family}_mse")["gpu_mb"]
    assert 1.2 * (step.peak + parameters + data_set) + 1e9 <= shared <= 1.2 * (step.peak + parameters + data_set) + 2e9
    measuring = 1e6 * full.resources("metrics", PAPER, f"{data}_{family}_mse")["gpu_mb"]
    assert 1e9 * gigabytes + features + moments + 1.2 * data_set + 1e9 <= measuring <= 24e9
    state = sum(value.numel() * value.element_size() for value in network.state_dict().values())
    file = state * len(measured_epochs(settings["epochs"], settings["measurements"]))
    disk = 1e6 * full.resources("run", PAPER, f"{data}_{family}_mse")["disk_mb"]
    assert file < disk <= 1.1 * file + 1e8
    # in main memory: the recorded states, a copy of them while they are written, the images as bytes and as float32
    recorded = parameters * settings["measurements"]
    needed = 2 * recorded + 2.5 * data_set + 2e9
    requested = 1e6 * full.resources("run", PAPER, f"{data}_{family}_mse")["mem_mb"]
    assert needed <= requested <= 4 * needed


@pytest.mark.parametrize("family", NETWORKS)
def test_a_batch_within_a_bound_keeps_it(family):
    with torch.device("meta"):
        network = build(family, 3, 10, **SMALL[family])
    for gradients in (False, True):
        few, many = (images_within(network, (3, 32, 32), each, gradients=gradients, most=10**9) for each in (0.01, 0.1))
        assert 1 <= few < many, f"gradients: {gradients}"
        # ten times the memory takes about ten times the images
        assert many == pytest.approx(10 * few, rel=0.2), f"gradients: {gradients}"
    double = network.eval()
    with LiveBytes() as counted, torch.no_grad():
        images = torch.empty(images_within(network, (3, 32, 32), 0.05, gradients=False), 3, 32, 32, device="meta")
        double(images)
    assert 0.02e9 < counted.peak <= 0.055e9


@pytest.mark.parametrize("family", NETWORKS)
def test_networks_stay_on_their_device(family):
    """Fake tensors of a GPU refuse to be mixed with those of the processor, as a GPU's own would."""

    def on_gpu(*shape, **kind):
        return torch.empty(shape, device="cuda", **kind)

    with FakeTensorMode(), torch.no_grad():
        called = build(family, 1, 10, **SMALL[family]).eval()
        for module in called.modules():
            for name, value in list(module._parameters.items()):
                if value is not None:
                    module._parameters[name] = torch.nn.Parameter(on_gpu(*value.shape), requires_grad=False)
            for name, value in list(module._buffers.items()):
                module._buffers[name] = on_gpu(*value.shape, dtype=value.dtype)
        images = on_gpu(30, 1, 8, 8)
        assert called(images).device.type == "cuda"
        with pytest.raises(Exception, match="device"):
            called(torch.empty(2, 1, 8, 8))


def test_moments_and_crossings_stay_on_their_device():
    """On the meta device, which refuses others too: a build without CUDA cannot index fake tensors of a GPU."""
    with torch.device("meta"):
        network = build("resnet", 1, 10, **SMALL["resnet"]).eval().requires_grad_(False)
        images, labels = torch.empty(30, 1, 8, 8), torch.empty(30, dtype=torch.int64)
        counts = torch.empty(10, dtype=torch.int64)
    moments = ClassMoments(counts, 8)
    moments.update(torch.empty(30, 8, device="meta"), labels)
    decided = network(images).argmax(dim=1)
    distances = crossing_distances(network, images[:4], images, decided, batch=7, halvings=2)
    for name, found in {"within": moments.within, "means": moments.means, "distances": distances}.items():
        assert (found.device.type, found.dtype) == ("meta", torch.float64), name
