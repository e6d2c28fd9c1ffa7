"""What is measured of a network, against its definition on every image by itself; networks against their wiring."""

from dataclasses import replace

import numpy as np
import pytest
import scipy
import torch
from torch.nn import functional

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.neural_collapse.portrait.figures import fig1
from learning_dynamics.papers.neural_collapse.training import bench, metrics, models, passes, runs
from learning_dynamics.tidy import select
from tests.papers.neural_collapse import oracles

CLASSES = 4
# quantities "--notebook" have the weight decay of the authors' notebook, here a quarter of the trained one
MEASURED = {"batch_statistics": "running", "robustness_images": 2, "notebook_decay": 0.25, "frozen_epochs": 2}


def images(per_class=12, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(CLASSES), per_class)
    patterns = np.random.default_rng(9).standard_normal((CLASSES, 1, 8, 8))
    return (patterns[labels] + 0.8 * rng.standard_normal((len(labels), 1, 8, 8))).astype(np.float32), labels


@pytest.fixture(scope="module")
def trained():
    (train, labels), (test, test_labels) = images(), images(6, seed=1)
    train, test = 50 * train + 100, 50 * test + 100  # not standardised, as data sets are not
    data = {"train_images": train, "train_labels": labels, "test_images": test, "test_labels": test_labels}
    data["name"] = np.array("made up")
    settings = {
        "network": "vgg",
        "stages": [1, 1],
        "width": 4,
        "loss": "mse",
        "learning_rate": 0.05,
        "momentum": 0.9,
        "weight_decay": 0.02,
        "batch": 16,
        "epochs": 6,
        "drops": [0.5],
        "measurements": 3,
        "seeds": 2,
        "seed": 4,
        "device": "cpu",
    }
    trajectory = runs.training(data, **settings)
    trajectory.settings = settings
    # a feature that vanishes on every image, in the last epoch of the second network
    trajectory.series["body.5.weight"][1, -1, 0] = 0.0
    trajectory.series["body.5.bias"][1, -1, 0] = -1.0
    return trajectory


def standard(pixels, train):
    return (pixels - train.mean()) / train.std()


def restored(trajectory, member, point):
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=4)
    states = {name: torch.as_tensor(series[member, point]) for name, series in trajectory.series.items()}
    network.load_state_dict(states)
    return network.eval()


@pytest.fixture(scope="module")
def table(trained):
    return metrics.training(trained, trained.constants, **MEASURED, robustness_epochs=1)


class Recorded:
    """A network as it was at a recorded epoch, and what the table has of it."""

    def __init__(self, trajectory, table, member, point):
        self.data = trajectory.constants
        self.network = restored(trajectory, member, point)
        self.rows = table[(table["seed"] == member) & (table["epoch"] == trajectory.time[point])]
        self.W = self.network.classifier.weight.detach().double().numpy()
        self.b = self.network.classifier.bias.detach().double().numpy()

    def value(self, quantity, split="train"):
        return select(self.rows, quantity, split=split, index=0)["value"].item()

    def features(self, split):
        pixels = torch.tensor(standard(self.data[f"{split}_images"], self.data["train_images"]))
        return self.network.features(pixels).detach().double().numpy().T


@pytest.fixture(scope="module", params=[(0, 0), (1, -1)], ids=["first epoch", "last epoch"])
def recorded(request, trained, table):
    return Recorded(trained, table, *request.param)


@pytest.mark.parametrize("split", ["train", "test"])
def test_collapse_is_what_it_is_defined_as(recorded, split):
    W, H, labels = recorded.W, recorded.features(split), recorded.data[f"{split}_labels"]
    within, between, means = oracles.covariances(H, CLASSES)
    _, _, train_means = oracles.covariances(recorded.features("train"), CLASSES)
    decided = (W @ H + recorded.b[:, None]).argmax(axis=0)
    nearest = scipy.spatial.distance.cdist(H.T, train_means.T).argmin(axis=1)
    centred = means - means.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=0)
    cosines = [
        1 - scipy.spatial.distance.cosine(centred[:, i], centred[:, j]) for i in range(CLASSES) for j in range(i)
    ]
    difference = W.T / np.linalg.norm(W) - centred / np.linalg.norm(centred)
    expected = {
        "error": np.mean(decided != labels),
        "class_error": np.mean([np.mean(decided[labels == label] != label) for label in range(CLASSES)]),
        "nc1": np.trace(np.linalg.pinv(between, rcond=1e-10) @ within) / CLASSES,
        "nc4": np.mean(decided != nearest),
        "equinorm_means": norms.std() / norms.mean(),
        "equiangular_means": np.std(cosines),
        "maximal_angle_means": np.mean(np.abs(np.array(cosines) + 1 / 3)),
        "self_duality": np.linalg.norm(difference) ** 2,
    }
    for quantity, wanted in expected.items():
        assert recorded.value(quantity, split) == pytest.approx(wanted, rel=1e-4, abs=1e-12), quantity


@pytest.mark.parametrize(("suffix", "share"), [("", 1.0), ("--notebook", MEASURED["notebook_decay"])])
def test_the_terms_of_the_loss_are_those_of_solved_classifiers(recorded, trained, suffix, share):
    W, b, H = recorded.W, recorded.b, recorded.features("train")
    decay = share * trained.settings["weight_decay"]
    within, _, _ = oracles.covariances(H, CLASSES)
    solved, offset = oracles.least_squares(H, CLASSES, decay)

    def penalty(weights, biases):
        return 0.5 * decay * (np.sum(weights**2) + np.sum(biases**2))

    total = oracles.square_error(W, b, H, CLASSES) + penalty(W, b)
    least = oracles.square_error(solved, offset, H, CLASSES) + penalty(solved, offset)
    scatter = 0.5 * np.trace(solved @ within @ solved.T)
    expected = {
        "loss": total,
        "loss_decay": penalty(W, b),
        "loss_nc1": scatter + penalty(solved, offset),
        "loss_nc1_decay": penalty(solved, offset),
        "loss_nc23": least - penalty(solved, offset) - scatter,
        "loss_ls_perp": total - least,
        "loss_ls_perp_decay": penalty(W - solved, b - offset),
    }
    for quantity, wanted in expected.items():
        assert recorded.value(f"{quantity}{suffix}") == pytest.approx(wanted, rel=1e-4, abs=1e-12), quantity


def test_classifiers_and_sizes_are_those_of_the_network(recorded):
    H, norms = recorded.features("train"), np.linalg.norm(recorded.W, axis=1)
    cosines = (recorded.W @ recorded.W.T / np.outer(norms, norms))[np.triu_indices(CLASSES, 1)]
    expected = {
        "equinorm_classifiers": norms.std() / norms.mean(),
        "equiangular_classifiers": np.std(cosines),
        "maximal_angle_classifiers": np.mean(np.abs(cosines + 1 / 3)),
        "features": len(H),
        "classes": CLASSES,
        "examples": 12,
        "dead_features": np.mean((H == 0).all(axis=1)),
    }
    for quantity, wanted in expected.items():
        assert recorded.value(quantity) == pytest.approx(wanted, rel=1e-4, abs=1e-12), quantity


def test_the_spectrum_is_that_of_the_features_that_vary(recorded):
    H = recorded.features("train")
    within, _, _ = oracles.covariances(H, CLASSES)
    omega = oracles.singular_values(H[(H != 0).any(axis=1)], CLASSES)
    spectrum = select(recorded.rows, "snr")
    np.testing.assert_allclose(spectrum["value"], omega, rtol=1e-3)
    assert spectrum["index"].tolist() == [1, 2, 3]
    assert recorded.value("rank") == np.linalg.matrix_rank(within, hermitian=True, tol=1e-12)


def test_robustness_is_measured_along_the_way_to_the_nearest_other_decision(trained):
    table = metrics.training(trained, trained.constants, **MEASURED, robustness_epochs=2)
    rows = table[(table["split"] == "test") & table["quantity"].str.startswith("robustness")]
    assert set(rows["epoch"]) == set(trained.time[[0, -1]])  # two epochs; train errors end at none
    network = restored(trained, 0, -1)
    last = rows[(rows["epoch"] == trained.time[-1]) & (rows["seed"] == 0)].set_index("quantity")["value"]
    train, test = (
        standard(trained.constants[f"{split}_images"], trained.constants["train_images"]) for split in ("train", "test")
    )
    with torch.no_grad():
        decided = network(torch.tensor(train)).argmax(1).numpy()
        crossings = []
        # two of the six test images of each class, as MEASURED asks
        for number in [6 * label + place for label in range(CLASSES) for place in range(2)]:
            image = test[number]
            own = network(torch.tensor(image[None])).argmax().item()
            others = train[decided != own]
            target = others[np.argmin([np.linalg.norm(other - image) for other in others])]
            shares = np.linspace(0, 1, 4001, dtype=np.float32)
            along = torch.tensor(image + shares[:, None, None, None] * (target - image))
            changed = network(along).argmax(1).numpy() != own
            crossings.append(shares[changed.argmax()] * np.linalg.norm(target - image) / np.linalg.norm(image))
    assert last["robustness_crossing"] == pytest.approx(np.mean(crossings), abs=2e-3)
    assert 0 < last["robustness_smallest"] <= min(last["robustness_crossing"], last["robustness"]) + 1e-12
    assert last["robustness_fooled"] == 1.0  # DeepFool's own distance is `test_adversarial`'s


def test_robustness_is_measured_at_the_first_epoch_without_train_errors(trained):
    """Labels are the decisions of the first network, which is the same at the last two of the recorded epochs."""
    pixels = torch.tensor(standard(trained.constants["train_images"], trained.constants["train_images"]))
    decided = restored(trained, 0, -1)(pixels).argmax(1).numpy()
    series = {name: part.copy() for name, part in trained.series.items()}
    for part in series.values():
        part[0, 1] = part[0, 2]
    # cross-entropy: the square loss asks for equally many images of each class
    relabelled = replace(trained, series=series, settings=trained.settings | {"loss": "cross_entropy"})
    table = metrics.training(relabelled, trained.constants | {"train_labels": decided}, **MEASURED, robustness_epochs=1)
    errors = select(table, "error", split="train", seed=0)["value"]
    assert (errors == 0).tolist() == [False, True, True]
    assert select(table, "robustness", seed=0)["epoch"].tolist() == trained.time[:2].tolist()


def test_where_deepfool_changes_no_decision_its_distance_bounds_nothing(trained, monkeypatch):
    def unsuccessful(network, images, *, batch):
        return 0.001 * images, torch.zeros(len(images), dtype=torch.bool)

    monkeypatch.setattr(bench, "deepfool", unsuccessful)
    table = metrics.training(trained, trained.constants, **MEASURED, robustness_epochs=1)
    robustness, fooled, crossing, smallest = (
        select(table, f"robustness{suffix}")["value"].to_numpy() for suffix in ("", "_fooled", "_crossing", "_smallest")
    )
    np.testing.assert_allclose(robustness, 0.001, rtol=1e-5)
    assert (fooled == 0).all()
    np.testing.assert_array_equal(smallest, crossing)


def test_statistics_of_unbalanced_labels_weigh_classes_equally():
    network = models.build("vgg", 1, CLASSES, stages=[1], width=3).eval()
    pixels, labels = images(7)
    kept = np.r_[0:7, 7:10, 14:21, 21:23]  # 7, 3, 7 and 2 images
    pixels, labels = torch.tensor(pixels[kept]), torch.tensor(labels[kept])
    layer = passes.LastLayer(network, pixels, labels, batch=5, gigabytes=1.0)
    found = passes.measure(layer)
    H = network.features(pixels).detach().double()
    outputs = network(pixels).detach().double()
    classes = range(CLASSES)
    wrong = [(outputs[labels == c].argmax(1) != c).double().mean() for c in classes]
    square = [
        0.5 * ((outputs[labels == c] - functional.one_hot(torch.tensor(c), CLASSES)) ** 2).sum(1).mean()
        for c in classes
    ]
    assert found.class_error == pytest.approx(float(np.mean(wrong)), rel=1e-6)
    assert found.error == pytest.approx(float((outputs.argmax(1) != labels).double().mean()), rel=1e-12)
    assert found.square_loss == pytest.approx(float(np.mean(square)), rel=1e-5)
    within = np.mean([np.cov(H[labels == c].numpy().T, bias=True) for c in classes], axis=0)
    np.testing.assert_allclose(found.within, within, rtol=0, atol=1e-6 * np.abs(within).max())
    nearest = scipy.spatial.distance.cdist(H, found.means).argmin(axis=1)
    differ = np.mean(outputs.argmax(1).numpy() != nearest)
    assert passes.disagreement(layer, found.means) == pytest.approx(differ, rel=1e-12)
    assert 0 < differ < 1
    computed_again = passes.LastLayer(network, pixels, labels, batch=4, gigabytes=0.0)
    assert passes.measure(computed_again).square_loss == pytest.approx(found.square_loss, rel=1e-6)
    np.testing.assert_allclose(layer.first(6), H[:6], rtol=1e-5)


def test_recomputed_statistics_are_those_of_all_images_in_one_batch():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=3)
    pixels = torch.tensor(images()[0])
    passes.recompute_batch_statistics(network, pixels)
    layers = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    convolutions = [module for module in network.modules() if isinstance(module, torch.nn.Conv2d)]
    first = convolutions[0](pixels).detach()
    np.testing.assert_allclose(layers[0].running_mean, first.mean(dim=(0, 2, 3)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(layers[0].running_var, first.var(dim=(0, 2, 3)), rtol=1e-5)
    spread = (first.var((0, 2, 3), False, keepdim=True) + 1e-5).sqrt()
    normalised = (first - first.mean((0, 2, 3), keepdim=True)) / spread
    second = convolutions[1](functional.max_pool2d(functional.relu(normalised), 2)).detach()
    np.testing.assert_allclose(layers[1].running_mean, second.mean(dim=(0, 2, 3)), rtol=0, atol=1e-4)
    assert all(layer.momentum == 0.1 for layer in layers)
    assert not network.training


class Wiring:
    """A network's convolutions and normalisations in the order in which they were made; it gets random parameters."""

    def __init__(self, network):
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for tensor in network.state_dict().values():
                if tensor.is_floating_point():
                    tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.1)
                    tensor.mul_(torch.where(torch.rand(tensor.shape, generator=generator) < 0.4, -1.0, 1.0))
            for module in network.modules():
                if hasattr(module, "running_var"):
                    module.running_var.abs_()
        self.layers = {
            kind: iter([module for module in network.modules() if isinstance(module, kind)])
            for kind in (torch.nn.Conv2d, torch.nn.BatchNorm2d, torch.nn.BatchNorm1d)
        }
        self.dense = [module for module in network.modules() if isinstance(module, torch.nn.Linear)]

    def conv(self, x, stride=1):
        weight = next(self.layers[torch.nn.Conv2d]).weight
        return functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def norm(self, x):
        layer = next(self.layers[torch.nn.BatchNorm2d if x.dim() == 4 else torch.nn.BatchNorm1d])
        shape = (1, -1) + (1,) * (x.dim() - 2)
        scale = layer.weight / (layer.running_var + 1e-5).sqrt()
        return (x - layer.running_mean.reshape(shape)) * scale.reshape(shape) + layer.bias.reshape(shape)


def vgg(net, x):
    for convolutions in (1, 2):
        for _ in range(convolutions):
            x = net.norm(net.conv(x)).clamp(min=0)
        x = functional.max_pool2d(x, 2)
    x = x.mean((2, 3))
    return net.norm(x @ net.dense[0].weight.T).clamp(min=0)


def resnet(net, x):
    x = net.norm(net.conv(x)).clamp(min=0)
    for stride, widens in ((1, False), (1, False), (2, True), (1, False)):
        y = net.norm(net.conv(x, stride)).clamp(min=0)
        y = net.norm(net.conv(y))
        x = (y + (net.norm(net.conv(x, stride)) if widens else x)).clamp(min=0)
    return x.mean((2, 3))


def resnet_with_bottlenecks(net, x):
    x = net.norm(net.conv(x)).clamp(min=0)
    for stride in (1, 2):
        y = net.norm(net.conv(x)).clamp(min=0)
        y = net.norm(net.conv(y, stride)).clamp(min=0)
        y = net.norm(net.conv(y))
        x = (y + net.norm(net.conv(x, stride))).clamp(min=0)
    return x.mean((2, 3))


def densenet(net, x, bottleneck=False):
    x = net.conv(x)
    for stage, layers in enumerate((2, 1)):
        if stage:
            x = functional.avg_pool2d(net.conv(net.norm(x).clamp(min=0)), 2)
        for _ in range(layers):
            y = net.norm(x).clamp(min=0)
            if bottleneck:
                y = net.norm(net.conv(y)).clamp(min=0)
            x = torch.cat([x, net.conv(y)], dim=1)
    return net.norm(x).clamp(min=0).mean((2, 3))


NETWORKS = {
    "vgg": (vgg, {"stages": [1, 2], "width": 3, "hidden": [5]}),
    "resnet": (resnet, {"stages": [2, 2], "width": 3}),
    "resnet-bottleneck": (resnet_with_bottlenecks, {"stages": [1, 1], "width": 2, "bottleneck": True}),
    "densenet": (densenet, {"stages": [2, 1], "width": 3}),
    "densenet-bottleneck": (
        lambda net, x: densenet(net, x, bottleneck=True),
        {"stages": [2, 1], "width": 4, "bottleneck": True},
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_wired_as_its_family_says(name):
    by_hand, shape = NETWORKS[name]
    network = models.build(name.split("-")[0], 1, CLASSES, **shape).eval()
    net = Wiring(network)
    x = torch.tensor(images(2)[0])
    with torch.no_grad():
        features = by_hand(net, x)
        outputs = features @ net.dense[-1].weight.T + net.dense[-1].bias
        for found, expected in ((network.features(x), features), (network(x), outputs)):
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max()))


def test_convolutions_start_with_the_variance_that_keeps_gradients():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=64)
    weight = [module.weight for module in network.modules() if isinstance(module, torch.nn.Conv2d)][1]
    # He et al. 2015: 2 over the number of outputs times the area; 73,728 numbers
    assert weight.var().item() == pytest.approx(2 / (128 * 9), rel=0.05)


def test_features_are_rectified():
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=64)
    assert (network.features(torch.tensor(images(2)[0])) >= 0).all()


@pytest.fixture
def own():
    """Data with a name and arrays of one's own, of two classes."""
    pixels, labels = images()
    two = labels < 2
    data = {"name": np.array("own")}
    for split in ("train", "test"):
        data |= {f"{split}_images": pixels[two], f"{split}_labels": labels[two].astype(np.int32)}
    return data


def test_own_data_of_two_classes_are_trained_and_measured_without_a_portrait(own, trained):
    settings = trained.settings | {"epochs": 1, "drops": [], "seeds": 1}
    trajectory = runs.training(own, **settings)
    trajectory.settings = settings
    table = metrics.training(trajectory, own, **MEASURED, robustness_epochs=1)
    assert select(table, "classes")["value"].tolist() == [2]
    assert not table["quantity"].str.startswith("portrait").any()
    with pytest.raises(ProjectError, match="a portrait shows three classes"):
        fig1(table)


def test_own_data_with_unequal_classes_are_refused_under_the_square_loss(own, trained):
    uneven = own | {"train_images": own["train_images"][1:], "train_labels": own["train_labels"][1:]}
    with pytest.raises(ProjectError, match="data set own: train_labels have 11 to 12 images of a class"):
        runs.training(uneven, **trained.settings)
