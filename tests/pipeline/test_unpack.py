"""`unpack` and `make figures FROM=...` make figures and claims from an archive of metrics, without simulations."""

import gzip
import lzma
import re
import tarfile

import pytest

from learning_dynamics.pipeline.store.tables import read_table
from tests.pipeline.conftest import PAPER
from tests.pipeline.test_make import run_make

METRICS = "results/toy/metrics"


@pytest.fixture
def archive(built, tmp_path):
    """An archive of the metrics and data sets of a finished run, packed as docs/commands.md says."""
    file = tmp_path / "metrics.tar"
    ended = built.run("sh", "-c", f"tar -cf {file} results/*/metrics/*.parquet results/*/data/*.npz")
    assert ended.returncode == 0, ended.stderr
    return file


def without(archive, name):
    """Return a copy of an archive, `less.tar`, that lacks a file."""
    copy = archive.with_name("less.tar")
    with tarfile.open(archive) as whole, tarfile.open(copy, "w") as less:
        for member in whole:
            if not member.name.endswith(name):
                less.addfile(member, whole.extractfile(member))
    return copy


def test_make_figures_from_an_archive_makes_figures_and_claims_and_simulates_nothing(archive, built, clean):
    with_a_blank = archive.rename(archive.with_name("my metrics.tar"))
    ended = run_make(clean, "figures", f"FROM={with_a_blank}")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("4 tables are there; figures and claims need no simulation")
    rules = re.findall(r"^ *\d+/\d+  (\w+)", ended.stderr, re.MULTILINE)  # as in " 3/6  figure toy growth"
    assert sorted(rules) == ["all", "claims", "figure", "figure", "page", "texts", "verdicts"]
    assert not (clean.folder / "results/toy/runs").exists()
    for name in ("decay", "growth"):
        assert (clean.folder / f"figures/toy/{name}.svg").is_file(), name
    claims = "results/toy/claims.parquet"
    assert read_table(clean.folder / claims).equals(read_table(built.folder / claims))
    assert clean.would_run() == set()


def test_an_archive_that_lacks_a_table_is_refused_in_one_line_and_nothing_is_run(archive, clean):
    ended = run_make(clean, "figures", f"FROM={without(archive, 'metrics/fast.parquet')}")
    assert ended.returncode != 0
    (line,) = [line for line in ended.stderr.splitlines() if not line.startswith("make")]
    assert line.endswith(
        "less.tar: 1 of 4 tables that figures and claims need are not in it, or of other settings or other code: "
        f"{METRICS}/fast.parquet; snakemake simulates them"
    )
    assert ended.stdout == ""
    # now Snakemake would simulate that run alone, and make no data set: that was in the archive
    would_run = clean.would_run()
    assert {path for path in would_run if path.startswith("results/toy/runs")} == {"results/toy/runs/fast.npz"}
    assert "results/toy/data/starts.npz" not in would_run


def test_tables_of_other_code_or_settings_are_left_out_and_named(archive, clean):
    clean.edit(f"{PAPER}/growth/runs.py", "(1 + rate)", "(1.0 + rate)")
    clean.configure("runs", "descent", "steps", value=499)
    ended = clean.cli("unpack", str(archive))
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[:4] == [
        f"left out: {METRICS}/descent.parquet: its run changed",
        f"left out: {METRICS}/fast.parquet: its run changed",
        f"left out: {METRICS}/slow--steps-20.parquet: its run changed",
        f"left out: {METRICS}/slow.parquet: its run changed",
    ]
    assert "4 of 4 tables that figures and claims need are not in it" in ended.stderr
    # the data set alone is unpacked
    assert [path.name for path in (clean.folder / "results/toy").rglob("*.*")] == ["starts.npz"]


def test_a_missing_table_is_unpacked_and_one_that_is_there_is_not_written_again(archive, workspace):
    missing, there = (workspace.folder / METRICS / f"{run}.parquet" for run in ("fast", "slow"))
    missing.unlink()
    there.touch()
    before = there.stat().st_mtime_ns
    ended = workspace.cli("unpack", str(archive))
    assert ended.returncode == 0, ended.stderr
    assert missing.is_file()
    assert there.stat().st_mtime_ns == before


def test_files_of_an_archive_that_are_no_metrics_or_data_sets_are_not_unpacked(archive, workspace):
    claims, source = "results/toy/claims.parquet", "src/learning_dynamics/errors.py"
    outside = workspace.folder.parent / "outside.txt"
    before = [(workspace.folder / path).read_bytes() for path in (claims, source)]
    with tarfile.open(archive, "a") as tar:
        for name in ("../outside.txt", claims, source):
            tar.add(__file__, arcname=name)
    ended = workspace.cli("unpack", str(archive))
    assert ended.returncode == 0, ended.stderr
    assert [(workspace.folder / path).read_bytes() for path in (claims, source)] == before
    assert not outside.exists()


@pytest.mark.parametrize(
    "content", [pytest.param(None, id="a file that is missing"), pytest.param(b"no archive", id="another file")]
)
def test_a_file_that_is_no_archive_is_refused_in_one_line(content, clean):
    if content is not None:
        (clean.folder / "metrics.tar").write_bytes(content)
    ended = clean.cli("unpack", "metrics.tar")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: metrics.tar: cannot be unpacked (")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "lzma"])
def test_an_archive_that_is_cut_short_is_refused_in_one_line(compress, archive, clean):
    whole = compress(archive.read_bytes())
    (clean.folder / "metrics.tar.z").write_bytes(whole[: len(whole) // 2])
    ended = clean.cli("unpack", "metrics.tar.z")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: metrics.tar.z: cannot be unpacked (Compressed file ended before")
    assert ended.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_named_and_not_the_archive(archive, clean):
    (clean.folder / "results/toy").mkdir(parents=True)
    (clean.folder / METRICS).touch()  # a file where the folder is to be
    ended = clean.cli("unpack", str(archive))
    assert ended.returncode == 1
    assert ended.stderr == f"error: {METRICS}: File exists; fix that, and run the same command again\n"


def test_a_table_that_was_damaged_on_the_way_is_named_and_left_out(archive, clean):
    content = bytearray(archive.read_bytes())
    with tarfile.open(archive) as tar:
        table = tar.getmember(f"{METRICS}/descent.parquet")
    content[table.offset_data + table.size // 2] ^= 1  # a bit in the middle of the table
    archive.write_bytes(content)
    ended = clean.cli("unpack", str(archive))
    assert ended.returncode == 1
    damaged, missing = ended.stderr.splitlines()
    assert damaged.startswith(f"left out: {METRICS}/descent.parquet: damaged, or not written by learning-dynamics (")
    assert "delete it" not in damaged
    assert "1 of 4 tables that figures and claims need are not in it" in missing
    assert not (clean.folder / METRICS / "descent.parquet").exists()
