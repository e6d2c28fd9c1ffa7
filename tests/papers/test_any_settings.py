"""Settings drawn from each kind's own schema, extremes included: a result, or one line that says why there is none."""

import resource
import signal
import tempfile
import tracemalloc  # noqa: F401  pytest's hook imports it otherwise, where an alarm may fall
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import data, run
from learning_dynamics.pipeline.plan.blocks import overlay
from learning_dynamics.pipeline.plan.signatures import signature_of
from learning_dynamics.pipeline.store.arrays import load_trajectory
from learning_dynamics.pipeline.store.stamps import fingerprint
from tests.support import PAPERS, do_job, smoke

SECONDS = 0.5  # after which an alarm ends a run
OVER = "not finished in time"  # the message of the alarm's error
MEMORY = 4 * 2**30  # bytes that the process may have


def first_run_of_each_kind():
    """Return for each function of runs, a kind, the first run of it at smoke scale: its paper and its name."""
    found = {}
    for paper in PAPERS:
        for name in smoke(paper).config.runs[paper]:
            kind = smoke(paper).run(paper, name)["function"]
            found.setdefault((paper, kind), pytest.param(paper, name, id=f"{paper}.{kind}"))
    return list(found.values())


def values(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy:
    """Return a strategy for a type of settings: small values, and the extremes that its bounds allow."""
    if get_origin(annotation) is Literal:
        return st.sampled_from(get_args(annotation))
    if get_origin(annotation) is list:
        return st.lists(values(get_args(annotation)[0]), min_size=1, max_size=3)
    if get_origin(annotation) is not None and hasattr(annotation, "__metadata__"):
        return values(get_args(annotation)[0], (*metadata, *annotation.__metadata__))
    if get_args(annotation):
        return st.one_of([values(one, metadata) for one in get_args(annotation)])
    least, above, most = _bounds(metadata)
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        low = 0 if least is None else int(least)
        return st.one_of(st.integers(low, low + 3), st.sampled_from([most if most is not None else 2**31]))
    if annotation is float:
        extremes = [0.0, 1e-300, 1e-16, 0.5, 1.0, 3.0, 1e16, 1e300, -1.0, -1e300]
        low, high = -np.inf if least is None else least, np.inf if most is None else most
        return st.sampled_from([one for one in extremes if low <= one <= high and (above is None or one > above)])
    if annotation is type(None):
        return st.none()
    return st.nothing()


def _bounds(metadata: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Return the least value that a setting may have, the one that it must be above, and the most; None where no bound.

    A constraint stands in a field's metadata by itself, or in a group of annotated_types, whose metadata it is then.
    """
    each = [one for item in metadata for one in (item.metadata if hasattr(item, "metadata") else [item])]
    least = next((item.ge for item in each if isinstance(item, Ge)), None)
    above = next((item.gt for item in each if isinstance(item, Gt)), None)
    most = next((item.le for item in each if isinstance(item, Le)), None)
    return least, above, most


@contextmanager
def bounded():
    """Let what is done within take `SECONDS`, and `MEMORY` more than the process has."""

    def over(*_):
        raise ProjectError(OVER)

    before, limits = signal.signal(signal.SIGALRM, over), resource.getrlimit(resource.RLIMIT_DATA)
    # its sixth field is what the limit is of: pages of data and stack
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, limits[1]))
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_DATA, limits)


def is_of_the_alarm(error: BaseException | None) -> bool:
    """Return whether an error is the alarm's, or one that a compiler or solver made of it in words of its own."""
    while error is not None:
        if OVER in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


@pytest.mark.timeout(600, method="thread")  # the method of signals would need the timer that `bounded` sets
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("paper", "name"), first_run_of_each_kind())
def test_a_run_of_any_settings_gives_a_whole_result_or_one_line_and_no_file(paper, name, tmp_path):
    whose = smoke(paper)
    job, source = whose.job("run", paper, name), whose.run_data(paper, name)
    spec, digests = job.spec, whose.science("run", paper, name)
    signature = signature_of("run", paper, spec["function"], name)
    inputs = {}
    if source is not None:
        inputs["data"] = str(tmp_path / "data.npz")
        do_job(data.execute, whose.job("data", paper, source), tmp_path / "data.npz", {})
    # what is imported and compiled once is not to be interrupted
    do_job(run.execute, job, tmp_path / "runs" / "whole.npz", inputs)
    fields = {key: field for key, field in signature.fields.items() if key != "seed"}

    @seed(20261128)  # without it other settings would be tried whenever a line of the test changes
    @settings(max_examples=2, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def try_settings(drawn):
        # one or two settings of the run are others
        keys = drawn.draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=2, unique=True))
        changed = {key: drawn.draw(values(fields[key].annotation, tuple(fields[key].metadata))) for key in keys}
        changed_spec = spec | {"settings": overlay(spec["settings"], changed)}
        try:
            signature.check(changed_spec["settings"], name)
        except ProjectError:
            assume(False)  # refused by the types of settings, before any run
        planned = replace(job, spec=changed_spec, fingerprint=fingerprint("run", changed_spec, digests, job.made_from))
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "runs", "run.npz")
            try:
                with bounded():
                    do_job(run.execute, planned, out, inputs)
            except Exception as error:
                if not isinstance(error, ProjectError) and not is_of_the_alarm(error):
                    raise
                # the alarm may come just after the result was written, whole
                timed_out = OVER in str(error)
                assert timed_out or not out.exists(), changed
                parts = set(out.parent.glob("*.npz*")) - {out}
                assert not parts, changed
            else:
                trajectory, _ = load_trajectory(out)
                assert np.isfinite(trajectory.time).all(), changed

    if fields:
        try_settings()
