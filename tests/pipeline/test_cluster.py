"""What outlived a killed Snakemake is found in `squeue`'s answer; a stand-in gives the answers here."""

from pathlib import Path

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.cluster import check_nothing_left_behind, jobs_of

HERE = Path("/home/someone/project with | in its name")


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def answer(text: str, status: int = 0) -> None:
        (tmp_path / "answer").write_text(text)
        program = tmp_path / "squeue"
        program.write_text(f"#!/bin/sh\ncat '{tmp_path}/answer'\nexit {status}\n")
        program.chmod(0o755)

    return answer


def test_jobs_of_this_folder_are_named_with_their_mend(squeue):
    squeue(f"12|rule_run_wildcards_spectral_bias_small_scale|{HERE}\n9|rule_metrics_metrics|{HERE}\n")
    assert jobs_of(HERE) == ["9", "12"]
    with pytest.raises(ProjectError, match=r"2 jobs .* scancel 9 12$"):
        check_nothing_left_behind(HERE)


@pytest.mark.parametrize(
    "line",
    [
        "12|rule_run_wildcards_spectral_bias_small_scale|/home/someone/elsewhere",
        f"12|(null)|{HERE}",  # a shell or a Snakemake that itself runs under Slurm
        "slurm_load_jobs error: Unable to contact slurm controller",
        "",
    ],
)
def test_others_jobs_do_not_matter(squeue, line):
    squeue(line + "\n")
    check_nothing_left_behind(HERE)


def test_a_controller_that_does_not_answer_stops_nothing(squeue):
    squeue(f"12|rule_run|{HERE}\n", status=1)
    check_nothing_left_behind(HERE)


def test_without_slurm_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert jobs_of(HERE) == []
