"""The papers' full scale: every cell is configured as published, and one cell really runs on small files."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from learning_dynamics.tables import read_table

from learning_dynamics.papers.neural_collapse import accuracies, selection, throughput
from learning_dynamics.pipeline.stages import data, metrics, run
from tests.datasets import original_formats as formats
from tests.papers.test_neural_collapse_training_claims import made_up
from tests.support import ROOT, project

PAPER = "neural_collapse"
FULL = (ROOT / "config.yaml", ROOT / "workflow/config/full.yaml")
DATA_SETS = {"mnist": 5000, "fashion_mnist": 6000, "svhn": 4600, "cifar10": 5000, "stl10": 500}
CELLS = [
    f"{name}_{network}_{loss}"
    for name, network, loss in itertools.product(DATA_SETS, ("vgg", "resnet", "densenet"), ("mse", "ce"))
]


def depth(settings):
    """The layers with weights that a network is named after."""
    bottleneck = settings.get("bottleneck")
    layers = {"vgg": 1, "resnet": 3 if bottleneck else 2, "densenet": 2 if bottleneck else 1}
    besides = {"vgg": 3, "resnet": 2, "densenet": 1 + len(settings["stages"])}
    return layers[settings["network"]] * sum(settings["stages"]) + besides[settings["network"]]


@pytest.fixture(scope="module")
def full():
    return project(*FULL)


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_follows_the_papers_recipe(cell, full):
    spec = full.run(PAPER, cell)
    stated = {"momentum": 0.9, "weight_decay": 5e-4, "batch": 128, "epochs": 350, "batch_statistics": "running"}
    assert stated.items() <= spec["settings"].items()
    assert cell == f"{spec['data']}_{spec['settings']['network']}_{spec['settings']['loss']}"
    assert spec["resources"]["gpu"] == 1
    assert full.data(PAPER, spec["data"])["settings"]["per_class"] == DATA_SETS[spec["data"]]


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_has_a_sweep_over_25_learning_rates(cell, full):
    rates = [
        full.run(PAPER, name)["settings"]["learning_rate"]
        for name in full.runs(PAPER)
        if name.startswith(f"{cell}_rates--")
    ]
    np.testing.assert_allclose(rates, np.geomspace(1e-4, 0.25, 25), rtol=6e-3)


def test_published_depths(full):
    depths = {cell.rpartition("_")[0]: depth(full.run(PAPER, cell)["settings"]) for cell in CELLS}
    assert [depths[f"{name}_vgg"] for name in DATA_SETS] == [11, 11, 13, 11, 11]
    assert [depths[f"{name}_resnet"] for name in DATA_SETS] == [18, 18, 34, 50, 18]
    assert [depths[f"{name}_densenet"] for name in DATA_SETS] == [40, 250, 40, 100, 201]


def test_the_whole_grid_enters_the_workflow(tmp_path):
    shutil.copy(FULL[0], tmp_path)
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--nolock", "--directory", str(tmp_path)]
    command += ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(FULL[1])]
    done = subprocess.run(
        [*command, "--", "neural_collapse", "results/neural_collapse/learning_rates.yaml"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    counts = dict(line.split()[:2] for line in done.stdout.splitlines() if len(line.split()) == 2)
    # the grid, its sweeps, and the runs of the theory and of digits that the other figures show
    assert int(counts["run"]) >= len(CELLS) * 26
    assert int(counts["data"]) >= len(DATA_SETS)
    assert "results/neural_collapse/runs/cifar10_resnet_mse_rates--learning_rate-0.25.npz" in done.stdout


def test_full_size_networks_see_digits_and_synthetic_images_where_nothing_can_be_downloaded():
    here = project(ROOT / "config.yaml", ROOT / "workflow/config/full_size.yaml")
    depths = {"vgg": 11, "resnet": 18, "densenet": 40}
    for images, network, loss in itertools.product(("digits32", "synthetic"), depths, ("mse", "ce")):
        spec = here.run(PAPER, f"{images}_{network}_{loss}")
        assert depth(spec["settings"]) == depths[network]
        assert (spec["data"], spec["settings"]["network"], spec["settings"]["loss"]) == (images, network, loss)
        assert spec["resources"]["gpu"] == spec["measuring"]["gpu"] == 1
        assert spec["settings"]["epochs"] == 350


def test_throughput_is_measured_on_the_networks_of_the_configuration(tmp_path):
    settings = project(ROOT / "config.yaml").run(PAPER, "digits_resnet_mse")["settings"]
    files = {kind: tmp_path / f"throughput.{kind}" for kind in ("parquet", "markdown")}
    named = [part for kind, path in files.items() for part in (f"--{kind}", str(path))]
    sizes = ["--channels", "1", "--size", "8", "--batches", "1", "--seconds", "0.05"]
    throughput.main(["--runs", json.dumps({"digits_resnet_mse": settings}), *sizes, *named])
    (row,) = read_table(files["parquet"]).to_dict("records")
    assert row["run"] == "digits_resnet_mse"
    assert row["parameters"] == 77754
    assert row["images_per_second"] > 10
    # a network of small convolutions reaches a part of what one large product does, never much more
    assert 0 < row["share_of_peak"] < 2
    assert "digits_resnet_mse" in files["markdown"].read_text()


def test_one_cell_runs_for_an_epoch_on_small_files(full, tmp_path):
    formats.write_mnist(tmp_path / "files", train=200, test=20)
    made = full.data(PAPER, "mnist")
    made["settings"] |= {"folder": str(tmp_path / "files"), "per_class": 13, "checksums": False}
    spec = full.run(PAPER, "mnist_resnet_mse")
    spec["settings"] |= {"epochs": 1, "robustness_images": 1, "device": "cpu", "batch": 65}
    folder = tmp_path / "results" / PAPER
    data.execute(PAPER, "mnist", made, folder / "data" / "mnist.npz")
    run.execute(PAPER, "mnist_resnet_mse", spec, folder / "data" / "mnist.npz", folder / "runs" / "cell.npz")
    assert not any((folder / "resume").iterdir())
    metrics.execute(PAPER, "mnist_resnet_mse", folder / "runs" / "cell.npz", folder / "metrics" / "cell.parquet")
    table = read_table(folder / "metrics" / "cell.parquet")
    assert set(table["epoch"]) == {1}
    assert {"nc1", "nc1_recomputed", "loss_ls_perp", "robustness"} <= set(table["quantity"])


def test_the_best_rate_has_the_lowest_test_error(tmp_path):
    tables = []
    for rate, error in ((0.01, 0.3), (0.02, 0.1), (0.03, 0.2)):
        table = made_up("mnist_vgg_mse")
        table.loc[(table["quantity"] == "error") & (table["split"] == "test"), "value"] = error
        table.attrs["settings"]["learning_rate"] = rate
        tables.append(table)
    assert selection.best_rate(tables) == 0.02
    assert selection.overlay({"mnist_vgg_mse": 0.02})["papers"][PAPER]["runs"]["mnist_vgg_mse"] == {
        "learning_rate": 0.02
    }


def test_table_1_has_the_papers_numbers_beside_ours():
    table = accuracies.accuracies(
        {"mnist_vgg_mse": made_up("mnist_vgg_mse"), "digits_vgg_mse": made_up("digits_vgg_mse")}
    )
    assert table["paper_end"].tolist()[0] == 99.59
    assert np.isnan(table["paper_end"].tolist()[1])
    np.testing.assert_allclose(table["change"], table["end"] - table["zero_error"])
    assert (table["change"] > 0).all()
