"""The papers' full scale: every cell is configured as published, and one cell really runs on small files."""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch
from bench import needs, throughput

from learning_dynamics.datasets import benchmarks
from learning_dynamics.papers.neural_collapse import selection
from learning_dynamics.pipeline.commands import data, metrics, run
from learning_dynamics.pipeline.store.tables import read_table
from tests.datasets import original_formats as formats
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import NETWORKS, made_up
from tests.support import ROOT, do_job, plan, with_settings

PAPER = "neural_collapse"
DATA_SETS = {"mnist": 5000, "fashion_mnist": 6000, "svhn": 4600, "cifar10": 5000, "stl10": 500}
CELLS = ["_".join(cell) for cell in itertools.product(DATA_SETS, NETWORKS, ("mse", "ce"))]
DIGITS = ["_".join(cell) for cell in itertools.product(["digits"], NETWORKS, ("mse", "ce"))]


def depth(settings):
    """The layers with weights that a network is named after."""
    bottleneck = settings.get("bottleneck")
    layers = {"vgg": 1, "resnet": 3 if bottleneck else 2, "densenet": 2 if bottleneck else 1}
    besides = {"vgg": 3, "resnet": 2, "densenet": 1 + len(settings["stages"])}
    return layers[settings["network"]] * sum(settings["stages"]) + besides[settings["network"]]


@pytest.fixture(scope="module")
def full():
    return plan(ROOT / "workflow/config/full.yaml", papers=[PAPER])


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_follows_the_papers_recipe(cell, full):
    settings = full.run(PAPER, cell)["settings"]
    # under MSE the weight decay of a loss that averages over ten classes, in the units of half a sum over them
    decay = 2.5e-3 if cell.endswith("mse") else 5e-4
    assert {"momentum": 0.9, "weight_decay": decay, "batch": 128, "epochs": 350}.items() <= settings.items()
    assert full.measure(PAPER, cell)["settings"]["batch_statistics"] == "running"
    name = full.run_data(PAPER, cell)
    assert cell == f"{name}_{settings['network']}_{settings['loss']}"
    assert full.data(PAPER, name)["settings"]["per_class"] == DATA_SETS[name]


@pytest.mark.parametrize("network", NETWORKS)
def test_the_digits_follow_the_papers_recipe_but_for_the_batch(network):
    here = plan(papers=[PAPER])
    # the decay of a loss that averages over ten classes, as above
    for loss, decay in {"mse": 2.5e-3, "ce": 5e-4}.items():
        settings = here.run(PAPER, f"digits_{network}_{loss}")["settings"]
        assert {"momentum": 0.9, "weight_decay": decay, "batch": 64, "epochs": 350}.items() <= settings.items(), loss
        np.testing.assert_allclose(settings["drops"], [1 / 3, 2 / 3], rtol=0, atol=1e-4, err_msg=loss)


@pytest.mark.parametrize(("overlay", "cells"), [("full", CELLS), ("digits_rates", DIGITS)])
def test_every_cell_has_a_sweep_over_the_authors_25_rates_in_the_units_of_its_loss(overlay, cells):
    whose = plan(ROOT / f"workflow/config/{overlay}.yaml", papers=[PAPER])
    for cell in cells:
        swept = whose.config.sweeps(PAPER)[f"{cell}_rates"]
        rates = [whose.run(PAPER, name)["settings"]["learning_rate"] for name in swept]
        unit = 5 if cell.endswith("mse") else 1
        np.testing.assert_allclose(rates, np.geomspace(1e-4, 0.25, 25) / unit, rtol=6e-3, err_msg=cell)


def test_published_depths(full):
    depths = {cell.rpartition("_")[0]: depth(full.run(PAPER, cell)["settings"]) for cell in CELLS}
    assert [depths[f"{name}_vgg"] for name in DATA_SETS] == [11, 11, 13, 11, 11]
    assert [depths[f"{name}_resnet"] for name in DATA_SETS] == [18, 18, 34, 50, 18]
    assert [depths[f"{name}_densenet"] for name in DATA_SETS] == [40, 250, 40, 100, 201]


def test_full_size_networks_see_digits_and_synthetic_images_where_nothing_can_be_downloaded():
    here = plan(ROOT / "workflow/config/full_size.yaml", papers=[PAPER])
    depths = {"vgg": 11, "resnet": 18, "densenet": 40}
    for images, network, loss in itertools.product(("digits32", "synthetic"), depths, ("mse", "ce")):
        settings = here.run(PAPER, f"{images}_{network}_{loss}")["settings"]
        label = f"{images}, {network}, {loss}"
        assert depth(settings) == depths[network], label
        assert (settings["network"], settings["loss"], settings["epochs"]) == (network, loss, 350), label


def test_what_the_documentation_says_of_each_cell_is_counted(full):
    text = (ROOT / "docs/full_scale.md").read_text(encoding="utf-8")
    assert needs.table(full) in text
    counted = {cell: needs.needs(full, cell) for cell in CELLS if cell.endswith("mse")}
    hours = [sum(getattr(one, what) for one in counted.values()) / 3.6e16 for what in ("operations", "measuring")]
    one_loss = f"One loss costs {hours[0]:.0f} hours of training and {hours[1]:.0f} of measuring"
    assert f"{one_loss}, both losses together {2 * sum(hours):.0f} hours. The sweep" in " ".join(text.split())
    files = sorted(one.disk for one in counted.values())
    assert f"all files together would be {2 * sum(files) / 1e9:.0f} GB" in text
    at_most, four = ((2 * sum(files[-count:])) / 1e9 for count in (1, 4))
    assert f"most {at_most:.0f} GB" in text
    assert four < 37


@pytest.mark.parametrize("cell", CELLS)
def test_no_cell_asks_for_more_than_a_day_or_keeps_what_is_measured(cell, full):
    assert full.resources("run", PAPER, cell)["runtime"] <= 1440
    assert not full.keeps(PAPER, cell)
    settings = full.run(PAPER, cell)["settings"]
    assert settings["drop_last"]
    # twice the assumed hours, or in pieces of a day
    needed = needs.needs(full, cell.replace("_ce", "_mse")).operations / 3.6e16 * 60
    assert full.resources("run", PAPER, cell)["runtime"] >= min(2 * needed, 1440)


def test_the_whole_grid_fits_onto_64_gb(full):
    """Four at a time, each with a resume point as large as its file, beside downloads and data sets; none is kept."""
    sizes = sorted(full.resources("run", PAPER, cell)["disk_mb"] for cell in CELLS)
    assert 2 * sum(sizes[-4:]) + 4000 < 64000


def test_throughput_is_measured_on_the_networks_of_the_configuration(tmp_path):
    out = tmp_path / "throughput.csv"
    sizes = ["--channels", "1", "--size", "8", "--batches", "1", "--seconds", "0.05"]
    throughput.main(["--configfile", "--runs", "digits_resnet_mse", *sizes, "--out", str(out)])
    (row,) = pd.read_csv(out).to_dict("records")
    assert row["run"] == "digits_resnet_mse"
    assert row["parameters"] == 77754
    # a network of small convolutions reaches a part of what one large product does, never much more
    assert 0 < row["share_of_peak"] < 2


def test_one_cell_runs_for_an_epoch_on_small_files(full, tmp_path, monkeypatch):
    torch.set_num_threads(1)  # as the workflow's jobs have it; several threads of one convolution gain nothing here
    monkeypatch.setitem(benchmarks.COUNTS, "mnist", (200, 20))
    formats.write_mnist(tmp_path / "files", train=200, test=20)
    cell, folder = "mnist_resnet_mse", tmp_path / "results" / PAPER
    files = {"folder": str(tmp_path / "files"), "per_class": 13, "checksums": False}
    made = with_settings(full, full.job("data", PAPER, "mnist"), **files)
    small = {"epochs": 1, "device": "cpu", "batch": 65, "stages": [1, 1], "width": 16}
    ran = with_settings(full, full.job("run", PAPER, cell), made.fingerprint, **small)
    few = {"robustness_images": 1, "gigabytes": 0.2}
    measured = with_settings(full, full.job("metrics", PAPER, cell), ran.fingerprint, **few)
    images, states = {"data": str(folder / "data/mnist.npz")}, folder / "runs/cell.npz"
    do_job(data.execute, made, folder / "data/mnist.npz", {}, str(folder))
    do_job(run.execute, ran, states, images, str(folder))
    assert not any((folder / "resume").iterdir())
    do_job(metrics.execute, measured, folder / "metrics/cell.parquet", {**images, "run": str(states)}, str(folder))
    table = read_table(folder / "metrics" / "cell.parquet")
    assert set(table["epoch"]) == {1}
    assert set(table["data"]) == {"mnist"}
    assert {"nc1", "rank", "loss_ls_perp_decay", "robustness_smallest"} <= set(table["quantity"])


@pytest.mark.parametrize(
    ("errors", "chosen", "at_edge"),
    [
        ((0.3, 0.1, 0.1, 0.1, 0.2), 0.04, False),
        ((0.3, 0.1, 0.1, 0.2, 0.2), 0.02, False),
        # within the standard error of the best over its seeds, 0.0058
        ((0.3, 0.105, 0.1, 0.104, 0.105), 0.04, True),
        ((0.3, 0.107, 0.1, 0.107, 0.107), 0.04, False),
        ((0.1, 0.1, 0.1, 0.2, 0.3), 0.02, True),
    ],
)
def test_the_rate_is_the_middle_of_those_that_are_as_good_as_the_best(errors, chosen, at_edge):
    tables = []
    for rate, error in zip((0.01, 0.02, 0.04, 0.08, 0.16), errors, strict=True):
        table = made_up()
        rows = altered.rows_of(table, "error", split="test")
        table.loc[rows, "value"] = error + 0.01 * (table.loc[rows, "seed"] - 1)
        table.attrs["settings"]["learning_rate"] = rate
        tables.append(table)
    found = selection.best_rate(tables)
    assert (found.at, found.at_edge) == (chosen, at_edge)


def test_chosen_rates_are_laid_over_the_runs_whose_sweeps_they_come_from(tmp_path):
    tables = []
    chosen = {"mnist_vgg_mse": 0.02, "mnist_vgg_ce": 0.01}
    for name, best in chosen.items():
        for rate in (0.01, 0.02):
            table = made_up()
            table.attrs["run"] = f"{name}_rates--learning_rate-{rate}"
            table.loc[altered.rows_of(table, "error", split="test"), "value"] = 0.1 if rate == best else 0.2
            table.attrs["settings"]["learning_rate"] = rate
            tables.append(table)
    overlay = tmp_path / "learning_rates.yaml"
    overlay.write_text(selection.learning_rates(tables))
    trained = plan(ROOT / "workflow/config/full.yaml", overlay, papers=[PAPER])
    assert {name: trained.run(PAPER, name)["settings"]["learning_rate"] for name in chosen} == chosen
