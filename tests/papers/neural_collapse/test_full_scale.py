"""The paper's full scale: its 30 cells are configured as published, fit their machines, and one runs on small files.

A cell is a data set, a network and a loss. The last tests are of learning rates, which sweeps of the cells choose.
"""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import torch
from bench import needs, throughput

from learning_dynamics.datasets import benchmarks
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.neural_collapse import selection
from learning_dynamics.papers.neural_collapse.training import models
from learning_dynamics.pipeline.commands import data, metrics, run
from learning_dynamics.pipeline.store.tables import read_table
from tests.datasets import original_formats as formats
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import NETWORKS, made_up
from tests.support import ROOT, do_job, plan, with_settings

PAPER = "neural_collapse"
LOSSES = ("mse", "ce")
IMAGES_PER_CLASS = {"mnist": 5000, "fashion_mnist": 6000, "svhn": 4600, "cifar10": 5000, "stl10": 500}
CELLS = ["_".join(cell) for cell in itertools.product(IMAGES_PER_CLASS, NETWORKS, LOSSES)]
CELLS_ON_DIGITS = ["_".join(cell) for cell in itertools.product(["digits"], NETWORKS, LOSSES)]
# The authors' weight decay is 5e-4, under both losses. Their MSELoss averages over ten classes, where the loss here is
# half the sum over them: five times as large, so that the same optimum needs five times the decay and a fifth of the
# learning rate
LARGER_THAN_AUTHORS_LOSS = {"mse": 5, "ce": 1}
WEIGHT_DECAY = {loss: factor * 5e-4 for loss, factor in LARGER_THAN_AUTHORS_LOSS.items()}


def loss_of(cell):
    """Return the last part of a cell's name: its loss."""
    return cell.rpartition("_")[2]


def depth(settings):
    """Return how many layers with weights a network has, which it is named after: ResNet18 has 18."""
    bottleneck = settings.get("bottleneck")
    in_each_block = {"vgg": 1, "resnet": 3 if bottleneck else 2, "densenet": 2 if bottleneck else 1}
    # VGG: three fully connected layers; ResNet: the first convolution and the classifier; DenseNet: these two, and a
    # convolution between each two stages
    besides_blocks = {"vgg": 3, "resnet": 2, "densenet": 1 + len(settings["stages"])}
    return in_each_block[settings["network"]] * sum(settings["stages"]) + besides_blocks[settings["network"]]


@pytest.fixture(scope="module")
def full():
    """The plan of the full scale."""
    return plan(ROOT / "workflow/config/full.yaml", papers=[PAPER])


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_trains_its_network_under_its_loss_on_its_data_set(cell, full):
    settings, data = full.run(PAPER, cell)["settings"], full.run_data(PAPER, cell)
    assert cell == f"{data}_{settings['network']}_{settings['loss']}"
    assert full.data(PAPER, data)["settings"]["per_class"] == IMAGES_PER_CLASS[data]


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_follows_the_papers_recipe(cell, full):
    settings = full.run(PAPER, cell)["settings"]
    recipe = {"momentum": 0.9, "weight_decay": WEIGHT_DECAY[loss_of(cell)], "batch": 128, "epochs": 350}
    assert {setting: settings[setting] for setting in recipe} == recipe
    assert full.measure(PAPER, cell)["settings"]["batch_statistics"] == "running"


@pytest.mark.parametrize("cell", CELLS_ON_DIGITS)
def test_the_digits_follow_the_papers_recipe_but_for_the_batch(cell):
    settings = plan(papers=[PAPER]).run(PAPER, cell)["settings"]
    recipe = {"momentum": 0.9, "weight_decay": WEIGHT_DECAY[loss_of(cell)], "batch": 64, "epochs": 350}
    assert {setting: settings[setting] for setting in recipe} == recipe
    # configured with four digits
    np.testing.assert_allclose(settings["drops"], [1 / 3, 2 / 3], rtol=0, atol=1e-4)


@pytest.mark.parametrize(("overlay", "cells"), [("full", CELLS), ("digits_rates", CELLS_ON_DIGITS)])
def test_every_cell_has_a_sweep_over_the_authors_25_rates_in_the_units_of_its_loss(overlay, cells):
    overlaid = plan(ROOT / f"workflow/config/{overlay}.yaml", papers=[PAPER])
    for cell in cells:
        runs = overlaid.config.sweeps(PAPER)[f"{cell}_rates"]
        rates = [overlaid.run(PAPER, run)["settings"]["learning_rate"] for run in runs]
        authors_rates = np.geomspace(1e-4, 0.25, 25)
        # configured with three digits or fewer, which rounds by half a per cent or little more
        np.testing.assert_allclose(
            rates, authors_rates / LARGER_THAN_AUTHORS_LOSS[loss_of(cell)], rtol=6e-3, err_msg=cell
        )


PUBLISHED_DEPTHS = {
    "vgg": {"mnist": 11, "fashion_mnist": 11, "svhn": 13, "cifar10": 11, "stl10": 11},
    "resnet": {"mnist": 18, "fashion_mnist": 18, "svhn": 34, "cifar10": 50, "stl10": 18},
    "densenet": {"mnist": 40, "fashion_mnist": 250, "svhn": 40, "cifar10": 100, "stl10": 201},
}


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_has_the_published_depth(cell, full):
    settings, data = full.run(PAPER, cell)["settings"], full.run_data(PAPER, cell)
    assert depth(settings) == PUBLISHED_DEPTHS[settings["network"]][data]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("images", ["digits32", "synthetic"])
def test_networks_of_published_size_are_configured_on_images_that_need_no_download(images, network, loss):
    full_size = plan(ROOT / "workflow/config/full_size.yaml", papers=[PAPER])
    settings = full_size.run(PAPER, f"{images}_{network}_{loss}")["settings"]
    assert depth(settings) == PUBLISHED_DEPTHS[network]["mnist"]
    assert (settings["network"], settings["loss"], settings["epochs"]) == (network, loss, 350)


OPERATIONS_PER_HOUR = 3600e12 * needs.RATE  # the assumed rate is in TFLOP/s


def test_what_the_documentation_says_of_each_cell_is_counted(full):
    page = (ROOT / "docs/full_scale.md").read_text(encoding="utf-8")
    assert needs.table(full) in page
    text = " ".join(page.split())
    needs_under_mse = [needs.needs(full, cell) for cell in CELLS if loss_of(cell) == "mse"]
    # cross-entropy needs the same as MSE
    training = sum(need.operations for need in needs_under_mse) / OPERATIONS_PER_HOUR
    measuring = sum(need.measuring for need in needs_under_mse) / OPERATIONS_PER_HOUR
    assert f"One loss costs {training:.0f} hours of training and {measuring:.0f} of measuring" in text
    assert f"both losses together {2 * (training + measuring):.0f} hours. The sweep" in text
    # of both losses
    assert f"all files together would be {2 * sum(need.disk for need in needs_under_mse) / 1e9:.0f} GB" in text
    # a training that runs has its file and a resume point as large
    largest_first = sorted((2 * need.disk / 1e9 for need in needs_under_mse), reverse=True)
    one, four = largest_first[0], sum(largest_first[:4])
    assert f"at most {one:.0f} GB, with four {math.ceil(four)} GB" in text


MINUTES_OF_A_DAY = 1440


@pytest.mark.parametrize("cell", CELLS)
def test_no_cell_asks_for_more_than_a_day(cell, full):
    assert full.resources("run", PAPER, cell)["runtime"] <= MINUTES_OF_A_DAY


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_asks_for_twice_the_time_that_is_counted_or_for_a_day(cell, full):
    """A training that takes longer than a day resumes in the next job."""
    counted = needs.needs(full, cell.replace("_ce", "_mse")).operations / OPERATIONS_PER_HOUR * 60
    assert full.resources("run", PAPER, cell)["runtime"] >= min(2 * counted, MINUTES_OF_A_DAY)


@pytest.mark.parametrize("cell", CELLS)
def test_no_cell_keeps_the_file_of_a_run_that_is_measured(cell, full):
    assert not full.keeps(PAPER, cell)


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_drops_the_last_batch_of_an_epoch_which_is_smaller(cell, full):
    assert full.run(PAPER, cell)["settings"]["drop_last"]


def test_the_whole_grid_fits_onto_64_gb(full):
    """Four cells run at a time, each with a resume point as large as its file; no file is kept."""
    files = sorted(full.resources("run", PAPER, cell)["disk_mb"] for cell in CELLS)
    four_files_and_resume_points = 2 * sum(files[-4:])
    downloads_and_data_sets = 3000 + 1000  # MB, as docs/full_scale.md has them
    assert four_files_and_resume_points + downloads_and_data_sets < 64_000


def test_throughput_is_measured_on_the_networks_of_the_configuration(tmp_path):
    out = tmp_path / "throughput.csv"
    sizes = ["--channels", "1", "--size", "8", "--batches", "1", "--seconds", "0.05"]
    throughput.main(["--configfile", "--runs", "digits_resnet_mse", *sizes, "--out", str(out)])
    (row,) = pd.read_csv(out).to_dict("records")
    assert row["run"] == "digits_resnet_mse"
    configured = models.build("resnet", 1, 10, stages=[1, 1, 1], width=16)
    assert row["parameters"] == sum(parameter.numel() for parameter in configured.parameters())
    # Small convolutions reach a part of the rate of one large product. Either is timed for a twentieth of a second, on
    # a machine that others use too: the share may be off, but not by a factor of two
    assert 0 < row["share_of_peak"] < 2


def test_one_cell_is_trained_for_an_epoch_on_small_files_and_measured(full, tmp_path, monkeypatch):
    torch.set_num_threads(1)  # as the workflow's jobs have it; several threads of one convolution gain nothing here
    monkeypatch.setitem(benchmarks.COUNTS, "mnist", (200, 20))
    formats.write_mnist(tmp_path / "files", train=200, test=20)
    cell, folder = "mnist_resnet_mse", tmp_path / "results" / PAPER
    data_file, run_file, table_file = (
        folder / "data/mnist.npz",
        folder / "runs/cell.npz",
        folder / "metrics/cell.parquet",
    )

    data_job = with_settings(
        full, full.job("data", PAPER, "mnist"), folder=str(tmp_path / "files"), per_class=13, checksums=False
    )
    # 130 train images in two batches
    run_settings = {"epochs": 1, "device": "cpu", "batch": 65, "stages": [1, 1], "width": 16}
    run_job = with_settings(full, full.job("run", PAPER, cell), data_job.fingerprint, **run_settings)
    metrics_job = with_settings(
        full, full.job("metrics", PAPER, cell), run_job.fingerprint, robustness_images=1, gigabytes=0.2
    )

    do_job(data.execute, data_job, data_file, {}, str(folder))
    do_job(run.execute, run_job, run_file, {"data": str(data_file)}, str(folder))
    assert not any((folder / "resume").iterdir())  # a training that has ended leaves no resume point
    do_job(metrics.execute, metrics_job, table_file, {"data": str(data_file), "run": str(run_file)}, str(folder))

    table = read_table(table_file)
    assert set(table["epoch"]) == {1}
    assert set(table["data"]) == {"mnist"}
    assert {"nc1", "rank", "loss_ls_perp_decay", "robustness_smallest"} <= set(table["quantity"])


RATES = (0.01, 0.02, 0.04, 0.08, 0.16)


# `errors` are the mean test errors at RATES. Of the three seeds of a rate one has that error, one 0.01 less and one
# 0.01 more: their standard error is 0.01 / sqrt(3) = 0.0058, and rates within it of the best are as good
@pytest.mark.parametrize(
    ("errors", "rate", "reaches_edge"),
    [
        pytest.param((0.3, 0.1, 0.1, 0.1, 0.2), 0.04, False, id="the middle of three equal ones"),
        pytest.param((0.3, 0.1, 0.1, 0.2, 0.2), 0.02, False, id="the smaller of two equal ones"),
        pytest.param((0.3, 0.105, 0.1, 0.104, 0.105), 0.04, True, id="three others within the standard error"),
        pytest.param((0.3, 0.107, 0.1, 0.107, 0.107), 0.04, False, id="no other within the standard error"),
        pytest.param((0.1, 0.1, 0.1, 0.2, 0.3), 0.02, True, id="the middle of three from the edge on"),
    ],
)
def test_the_rate_is_the_middle_of_those_that_are_as_good_as_the_best(errors, rate, reaches_edge):
    """`reaches_edge` is whether the first or the last of RATES is as good."""
    tables = []
    for rate_of_table, error in zip(RATES, errors, strict=True):
        table = made_up()
        rows = altered.rows_of(table, "error", split="test")
        table.loc[rows, "value"] = error + 0.01 * (table.loc[rows, "seed"] - 1)
        table.attrs["settings"]["learning_rate"] = rate_of_table
        tables.append(table)
    chosen = selection.best_rate(tables)
    assert (chosen.rate, chosen.reaches_edge) == (rate, reaches_edge)


def test_with_one_seed_only_equal_test_errors_are_as_good():
    tables = []
    for rate, error in {0.01: 0.1, 0.02: 0.1, 0.04: 0.1, 0.08: 0.1001}.items():
        table = made_up(seeds=1)
        table.loc[altered.rows_of(table, "error", split="test"), "value"] = error
        table.attrs["settings"]["learning_rate"] = rate
        tables.append(table)
    assert selection.best_rate(tables).as_good == (0.01, 0.02, 0.04)


def test_a_table_that_is_of_no_sweep_of_rates_is_refused():
    table = made_up()
    table.attrs["run"] = "mnist_vgg_mse"
    with pytest.raises(ProjectError, match="run mnist_vgg_mse is of no sweep of rates"):
        selection.learning_rates([table])


def test_the_rate_of_least_test_error_in_a_sweep_is_configured_for_its_run(tmp_path):
    tables = []
    best_rates = {"mnist_vgg_mse": 0.02, "mnist_vgg_ce": 0.01}
    for run_name, best in best_rates.items():
        for rate in (0.01, 0.02):
            table = made_up()
            table.attrs["run"] = f"{run_name}_rates--learning_rate-{rate}"
            table.loc[altered.rows_of(table, "error", split="test"), "value"] = 0.1 if rate == best else 0.2
            table.attrs["settings"]["learning_rate"] = rate
            tables.append(table)
    overlay = tmp_path / "learning_rates.yaml"
    overlay.write_text(selection.learning_rates(tables))
    overlaid = plan(ROOT / "workflow/config/full.yaml", overlay, papers=[PAPER])
    configured = {run_name: overlaid.run(PAPER, run_name)["settings"]["learning_rate"] for run_name in best_rates}
    assert configured == best_rates
