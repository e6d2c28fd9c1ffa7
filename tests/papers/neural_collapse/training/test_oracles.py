"""What is measured of a trained network, against definitions that take every image by itself."""

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
MEASURE = {"batch_statistics": "running", "robustness_images": 2, "notebook_decay": 0.25, "frozen_epochs": 2}
TRAIN_IMAGES, TEST_IMAGES = 12, 6  # of each class
ROUNDING = {"rel": 1e-4, "abs": 1e-12}  # of features in float32


def images(per_class=TRAIN_IMAGES, seed=0):
    """Return images of four classes, shape (images, 1, 8, 8), and their labels: a class's pattern with noise.

    They are sorted by class.
    """
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(CLASSES), per_class)
    patterns = np.random.default_rng(9).standard_normal((CLASSES, 1, 8, 8))
    return (patterns[labels] + 0.8 * rng.standard_normal((len(labels), 1, 8, 8))).astype(np.float32), labels


@pytest.fixture(scope="module")
def trained():
    """The trajectory of two small networks, recorded at epochs 1, 2 and 6 of 6; its constants are the images."""
    (train, labels), (test, test_labels) = images(), images(TEST_IMAGES, seed=1)
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
    # one feature of the second network is dead in the last epoch: batch norm of the second stage makes it -1 before the
    # rectifier on every image, and so it is zero
    trajectory.series["body.5.weight"][1, -1, 0] = 0.0
    trajectory.series["body.5.bias"][1, -1, 0] = -1.0
    return trajectory


def standardised(trajectory, split):
    """Return the images of a split as networks see them: less the mean of train images, over their deviation."""
    train = trajectory.constants["train_images"]
    return (trajectory.constants[f"{split}_images"] - train.mean()) / train.std()


def network_at(trajectory, member, point):
    """Return the network of a member, as it was at the recorded epoch of index `point`."""
    network = models.build("vgg", 1, CLASSES, stages=[1, 1], width=4)
    states = {name: torch.as_tensor(series[member, point]) for name, series in trajectory.series.items()}
    network.load_state_dict(states)
    return network.eval()


@pytest.fixture(scope="module")
def table(trained):
    return metrics.training(trained, trained.constants, **MEASURE, robustness_epochs=1)


class Recorded:
    """A network as it was at a recorded epoch, and what the table has of it."""

    def __init__(self, trajectory, table, member, point):
        self.trajectory, self.data = trajectory, trajectory.constants
        self.network = network_at(trajectory, member, point)
        self.rows = table[(table["seed"] == member) & (table["epoch"] == trajectory.time[point])]
        self.W = self.network.classifier.weight.detach().double().numpy()
        self.b = self.network.classifier.bias.detach().double().numpy()

    def value(self, quantity, split="train"):
        """Return a quantity of the table, one number."""
        return select(self.rows, quantity, split=split, index=0)["value"].item()

    def features(self, split):
        """Return last-layer features, shape (P, images)."""
        pixels = torch.tensor(standardised(self.trajectory, split))
        return self.network.features(pixels).detach().double().numpy().T


@pytest.fixture(scope="module", params=[(0, 0), (1, -1)], ids=["first epoch", "last epoch"])
def recorded(request, trained, table):
    return Recorded(trained, table, *request.param)


@pytest.mark.parametrize("split", ["train", "test"])
def test_errors_and_collapse_are_as_defined(recorded, split):
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
    for quantity, value in expected.items():
        assert recorded.value(quantity, split) == pytest.approx(value, **ROUNDING), quantity


@pytest.mark.parametrize(("suffix", "share"), [("", 1.0), ("--notebook", MEASURE["notebook_decay"])])
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
    for quantity, value in expected.items():
        assert recorded.value(f"{quantity}{suffix}") == pytest.approx(value, **ROUNDING), quantity


def test_spreads_of_classifiers_are_as_defined(recorded):
    norms = np.linalg.norm(recorded.W, axis=1)
    cosines = (recorded.W @ recorded.W.T / np.outer(norms, norms))[np.triu_indices(CLASSES, 1)]
    expected = {
        "equinorm_classifiers": norms.std() / norms.mean(),
        "equiangular_classifiers": np.std(cosines),
        "maximal_angle_classifiers": np.mean(np.abs(cosines + 1 / (CLASSES - 1))),
    }
    for quantity, value in expected.items():
        assert recorded.value(quantity) == pytest.approx(value, **ROUNDING), quantity


def test_sizes_and_dead_features_are_counted(recorded):
    H = recorded.features("train")
    expected = {
        "features": len(H),
        "classes": CLASSES,
        "examples": TRAIN_IMAGES,
        "dead_features": np.mean((H == 0).all(axis=1)),
    }
    for quantity, value in expected.items():
        assert recorded.value(quantity) == pytest.approx(value, **ROUNDING), quantity


def test_the_spectrum_is_that_of_the_features_that_vary(recorded):
    H = recorded.features("train")
    omega = oracles.singular_values(H[(H != 0).any(axis=1)], CLASSES)
    spectrum = select(recorded.rows, "snr")
    # ten times the rounding of other quantities: omega divides by the least variances within classes
    np.testing.assert_allclose(spectrum["value"], omega, rtol=10 * ROUNDING["rel"])
    assert spectrum["index"].tolist() == [1, 2, 3]  # one fewer than classes


def test_the_rank_is_that_of_the_within_class_covariance(recorded):
    within, _, _ = oracles.covariances(recorded.features("train"), CLASSES)
    # variances are 1e-6 and more, or zero to the square of float32's rounding, 1e-14
    assert recorded.value("rank") == np.linalg.matrix_rank(within, hermitian=True, tol=1e-12)


@pytest.mark.parametrize(("drops", "epoch"), [([0.5], 2), ([0.5, 1.0], 2), ([], 6)])
def test_the_last_layer_is_trained_on_from_the_last_recorded_epoch_at_the_full_rate(trained, drops, epoch):
    """Recorded are epochs 1, 2 and 6 of 6. A drop at 0.5 of them is after epoch 3, one at 1.0 at the end; without drops
    the rate is always full.
    """
    dropped = replace(trained, settings=trained.settings | {"drops": drops})
    table = metrics.training(dropped, trained.constants, **MEASURE, robustness_epochs=1)
    trained_on = table[table["quantity"].str.startswith("split_")]
    assert set(trained_on["epoch"]) == {epoch}


@pytest.fixture(scope="module")
def robustness_at_end(trained):
    """Rows on the robustness of the first network at the last epoch: measured at the first and the last epoch."""
    table = metrics.training(trained, trained.constants, **MEASURE, robustness_epochs=2)
    rows = table[(table["split"] == "test") & table["quantity"].str.startswith("robustness")]
    # no recorded epoch is without train errors, which would add one
    assert set(rows["epoch"]) == set(trained.time[[0, -1]])
    return rows[(rows["epoch"] == trained.time[-1]) & (rows["seed"] == 0)].set_index("quantity")["value"]


def distance_to_crossing(network, image, train, decisions):
    """Return how far an image is from where its decision changes, over its norm, by trying 4001 points.

    The points are on the way to the nearest of the images `train` that the network decides differently; `decisions` are
    those on these images.
    """
    decision = network(torch.tensor(image[None])).argmax().item()
    others = train[decisions != decision]
    nearest = others[np.argmin([np.linalg.norm(other - image) for other in others])]
    shares = np.linspace(0, 1, 4001, dtype=np.float32)
    along = torch.tensor(image + shares[:, None, None, None] * (nearest - image))
    is_changed = network(along).argmax(1).numpy() != decision
    return shares[is_changed.argmax()] * np.linalg.norm(nearest - image) / np.linalg.norm(image)


def test_the_crossing_is_on_the_way_to_the_nearest_train_image_of_another_decision(trained, robustness_at_end):
    network = network_at(trained, 0, -1)
    train, test = (standardised(trained, split) for split in ("train", "test"))
    # the first test images of each class, as many as are asked for
    measured = [
        TEST_IMAGES * label + place for label in range(CLASSES) for place in range(MEASURE["robustness_images"])
    ]
    with torch.no_grad():
        decisions = network(torch.tensor(train)).argmax(1).numpy()
        distances = [distance_to_crossing(network, test[number], train, decisions) for number in measured]
    # the points that are tried are 1 / 4000 of the way apart, and a way is as long as an image or a few times that
    assert robustness_at_end["robustness_crossing"] == pytest.approx(np.mean(distances), abs=2e-3)


def test_the_smallest_known_perturbation_is_no_larger_than_deepfools_or_a_crossing(robustness_at_end):
    at_most = min(robustness_at_end["robustness_crossing"], robustness_at_end["robustness"])
    assert 0 < robustness_at_end["robustness_smallest"] <= at_most + 1e-12


def test_deepfool_changes_all_decisions(robustness_at_end):
    assert robustness_at_end["robustness_fooled"] == 1.0  # `test_adversarial` tests its distance


def test_robustness_is_measured_at_the_first_epoch_without_train_errors(trained):
    """Train labels are here the decisions of the first network at the last epoch, and it is as it is there also at the
    epoch recorded before: so it is without train errors from the second of three recorded epochs on.
    """
    decisions = network_at(trained, 0, -1)(torch.tensor(standardised(trained, "train"))).argmax(1).numpy()
    series = {name: states.copy() for name, states in trained.series.items()}
    for states in series.values():
        states[0, 1] = states[0, 2]  # of the first member: the second recorded epoch is as the third
    # cross-entropy: the square loss asks for equally many images of each class
    relabelled = replace(trained, series=series, settings=trained.settings | {"loss": "ce"})
    data = trained.constants | {"train_labels": decisions}
    table = metrics.training(relabelled, data, **MEASURE, robustness_epochs=1)
    errors = select(table, "error", split="train", seed=0)["value"]
    assert (errors == 0).tolist() == [False, True, True]
    assert select(table, "robustness", seed=0)["epoch"].tolist() == trained.time[:2].tolist()


@pytest.mark.parametrize("fooled", [False, True])
def test_deepfools_distance_is_known_only_where_it_changes_the_decision(trained, monkeypatch, fooled):
    def tiny_perturbations(network, images, *, batch):
        return 0.001 * images, torch.full((len(images),), fooled)

    monkeypatch.setattr(bench, "deepfool", tiny_perturbations)
    table = metrics.training(trained, trained.constants, **MEASURE, robustness_epochs=1)
    robustness, fooled_share, crossing, smallest = (
        select(table, f"robustness{suffix}")["value"].to_numpy() for suffix in ("", "_fooled", "_crossing", "_smallest")
    )
    np.testing.assert_allclose(robustness, 0.001, rtol=1e-5)
    assert (fooled_share == fooled).all()
    # All crossings are farther. The second network decides all train images alike, so that its crossing is nan, which
    # is not below either
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
    table = metrics.training(trajectory, own_data, **MEASURE, robustness_epochs=1)
    assert select(table, "classes")["value"].tolist() == [2]
    assert not table["quantity"].str.startswith("portrait").any()
    with pytest.raises(ProjectError, match="a portrait shows three classes"):
        fig1(table)


def test_own_data_with_unequal_classes_are_refused_under_the_square_loss(own_data, trained):
    uneven = own_data | {name: own_data[name][1:] for name in ("train_images", "train_labels")}
    with pytest.raises(ProjectError, match="data set own: train_labels have 11 to 12 images of a class"):
        runs.training(uneven, **trained.settings)
