"""What is measured of a network, against its definition on every image by itself."""

from dataclasses import replace

import numpy as np
import pytest
import scipy
import torch

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.neural_collapse.portrait.figures import fig1
from learning_dynamics.papers.neural_collapse.training import bench, metrics, models, runs
from learning_dynamics.tidy import select
from tests.papers.neural_collapse import oracles

CLASSES = 4
# as `metrics.training` takes them; quantities that end in "--notebook" are of another weight decay, here a quarter of
# the trained one
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
    # batch norm of the second stage: in the last epoch of the second network one feature is -1 before the rectifier on
    # every image, and zero behind it
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
        "maximal_angle_means": np.mean(np.abs(np.array(cosines) + 1 / (CLASSES - 1))),
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
        "maximal_angle_classifiers": np.mean(np.abs(cosines + 1 / (CLASSES - 1))),
        "features": len(H),
        "classes": CLASSES,
        "examples": 12,  # of each class, as `images` has them
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


@pytest.mark.parametrize(("drops", "epoch"), [([0.5], 2), ([0.5, 1.0], 2), ([], 6)])
def test_the_last_layer_is_trained_on_from_the_last_recorded_epoch_at_the_full_rate(trained, drops, epoch):
    """Recorded are epochs 1, 2 and 6 of 6; the first drop comes after epoch 3."""
    dropped = replace(trained, settings=trained.settings | {"drops": drops})
    table = metrics.training(dropped, trained.constants, **MEASURED, robustness_epochs=1)
    trained_on = table[table["quantity"].str.startswith("split_")]
    assert set(trained_on["epoch"]) == {epoch}


def test_robustness_is_measured_along_the_way_to_the_nearest_other_decision(trained):
    table = metrics.training(trained, trained.constants, **MEASURED, robustness_epochs=2)
    rows = table[(table["split"] == "test") & table["quantity"].str.startswith("robustness")]
    # the first and the last: no recorded epoch is without train errors, which would add one
    assert set(rows["epoch"]) == set(trained.time[[0, -1]])
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
    assert last["robustness_fooled"] == 1.0  # its distance is tested in `test_adversarial`


def test_robustness_is_measured_at_the_first_epoch_without_train_errors(trained):
    """Labels are the decisions of the first network, which is the same at the last two of the recorded epochs."""
    pixels = torch.tensor(standard(trained.constants["train_images"], trained.constants["train_images"]))
    decided = restored(trained, 0, -1)(pixels).argmax(1).numpy()
    series = {name: part.copy() for name, part in trained.series.items()}
    for part in series.values():
        part[0, 1] = part[0, 2]
    # cross-entropy: the square loss asks for equally many images of each class
    relabelled = replace(trained, series=series, settings=trained.settings | {"loss": "ce"})
    table = metrics.training(relabelled, trained.constants | {"train_labels": decided}, **MEASURED, robustness_epochs=1)
    errors = select(table, "error", split="train", seed=0)["value"]
    assert (errors == 0).tolist() == [False, True, True]
    assert select(table, "robustness", seed=0)["epoch"].tolist() == trained.time[:2].tolist()


@pytest.mark.parametrize("fooled", [False, True])
def test_deepfools_distance_bounds_only_where_it_changes_the_decision(trained, monkeypatch, fooled):
    def tiny_step(network, images, *, batch):
        return 0.001 * images, torch.full((len(images),), fooled)

    monkeypatch.setattr(bench, "deepfool", tiny_step)
    table = metrics.training(trained, trained.constants, **MEASURED, robustness_epochs=1)
    robustness, fooled_share, crossing, smallest = (
        select(table, f"robustness{suffix}")["value"].to_numpy() for suffix in ("", "_fooled", "_crossing", "_smallest")
    )
    np.testing.assert_allclose(robustness, 0.001, rtol=1e-5)
    assert (fooled_share == fooled).all()
    # a crossing is farther; the second network decides all train images alike and has none, nan
    assert not (crossing <= 0.001).any()
    np.testing.assert_allclose(smallest, robustness if fooled else crossing, rtol=1e-12)


@pytest.fixture
def own_data():
    """Data of a user: a name and arrays, of two classes."""
    pixels, labels = images()
    two = labels < 2
    data = {"name": np.array("own")}
    for split in ("train", "test"):
        data |= {f"{split}_images": pixels[two], f"{split}_labels": labels[two].astype(np.int32)}
    return data


def test_own_data_of_two_classes_are_trained_and_measured_without_a_portrait(own_data, trained):
    settings = trained.settings | {"epochs": 1, "drops": [], "seeds": 1}
    trajectory = runs.training(own_data, **settings)
    trajectory.settings = settings
    table = metrics.training(trajectory, own_data, **MEASURED, robustness_epochs=1)
    assert select(table, "classes")["value"].tolist() == [2]
    assert not table["quantity"].str.startswith("portrait").any()
    with pytest.raises(ProjectError, match="a portrait shows three classes"):
        fig1(table)


def test_own_data_with_unequal_classes_are_refused_under_the_square_loss(own_data, trained):
    uneven = own_data | {name: own_data[name][1:] for name in ("train_images", "train_labels")}
    with pytest.raises(ProjectError, match="data set own: train_labels have 11 to 12 images of a class"):
        runs.training(uneven, **trained.settings)
