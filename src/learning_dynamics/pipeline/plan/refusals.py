"""Check a configuration against the functions that it names, and its names against each other."""

import difflib
import gc
import hashlib
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError, check_known, suggest_name
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.plan import setting_sources, variation_refusals
from learning_dynamics.pipeline.plan.blocks import flat, run_names
from learning_dynamics.pipeline.plan.config import SECTIONS, Config
from learning_dynamics.pipeline.plan.config_files import Block
from learning_dynamics.pipeline.plan.digests import machinery
from learning_dynamics.pipeline.plan.schema import KEYS
from learning_dynamics.pipeline.plan.signatures import Signature, signature_of
from learning_dynamics.pipeline.plan.sources import PACKAGE, TOPIC_MODULES, definitions

CHECKED = Path(".snakemake/learning_dynamics.checked.json")


def check(config: Config) -> None:
    """Check every paper; the functions that it names are imported.

    Raises
    ------
    ProjectError
        At the first mistake: the file, the key and the fix.
    """
    for paper in config.papers:
        _check_paper(config, paper)


def check_new(config: Config, outputs: Mapping[str, str]) -> None:
    """Check every paper, unless this very configuration of it has been checked in this folder by this very code.

    Checking all five papers takes two seconds of imports. The answer depends on the configuration, on the science, of
    which the outputs' fingerprints are digests, and on the code that checks. A digest of all these is written down
    when nothing is wrong.

    Parameters
    ----------
    outputs : mapping from path to fingerprint
        Those of every output.

    Raises
    ------
    ProjectError
        At the first mistake: the file, the key and the fix.
    """
    code = [machinery(), sys.version, metadata.version("pydantic"), metadata.version("numpy")]
    checked: dict[str, str] = {}
    with suppress(OSError, ValueError):
        checked = json.loads(CHECKED.read_text(encoding="utf-8"))
    digests = {}
    for paper in config.papers:
        of_paper = {path: made for path, made in outputs.items() if f"/{paper}/" in path}
        content = json.dumps([config.papers, config.paper_block(paper), config.layers(paper), of_paper, code])
        digests[paper] = hashlib.sha256(content.encode()).hexdigest()
    for paper in config.papers:
        if checked.get(paper) != digests[paper]:
            _check_paper(config, paper)
    if digests.items() - checked.items() and CHECKED.parent.is_dir():
        with suppress(ProjectError), atomic_write(CHECKED) as partial:  # what is not written is checked again
            partial.write_text(json.dumps(checked | digests), encoding="utf-8")


def _check_paper(config: Config, paper: str) -> None:
    gc.disable()  # what is imported stays: looking for what may go takes as long as importing it
    try:
        _Paper(config, paper).check()
        setting_sources.check_reasons(config, paper)
        variation_refusals.check(config, paper)
    finally:
        gc.freeze()
        gc.enable()


class _Paper:
    """The checks of one paper; each raises `ProjectError` at the first mistake."""

    def __init__(self, config: Config, paper: str) -> None:
        self.config, self.paper = config, paper

    def check(self) -> None:
        """Check every data set, run, figure and claim of the paper, with their names and settings."""
        config, paper = self.config, self.paper
        for name, block in config.blocks(paper, "data").items():
            signature_of("data", paper, block["source"], self.where("data", name, "source"))
            self.check_settings("data", name)

        for name in config.blocks(paper, "runs"):
            self.check_runs_of(name)
        # a sweep is a target of Snakemake, beside papers and their metrics
        taken = {*config.papers, *(f"{other}_metrics" for other in config.papers)}
        for name in config.sweeps(paper):
            if f"{paper}_{name}" in taken:
                raise ProjectError(
                    f"{self.where('runs', name)}: `snakemake {paper}_{name}` makes something else; rename the run"
                )

        for name in config.figures(paper):
            self.check_drawing("figure", name)
        for name in config.motions(paper):
            roles = config.roles("motion", paper, name)
            config.signature("motion", paper, name).check_roles(roles, self.where("figures", name))
            self.check_settings("motion", name)
        topics = {config.function_name("figure", paper, name).partition(".")[0] for name in config.figures(paper)}
        for topic in sorted(topics):
            self.check_motions(f"{PACKAGE}.papers.{paper}.{topic}")
        for name in config.interactives(paper):
            self.check_interactive(name)
        if "lead_figure" in config.paper_block(paper):
            self.check_name("figures", config.paper_block(paper)["lead_figure"], "lead_figure")

        for name in config.blocks(paper, "claims"):
            self.check_claim(name)

    def check_motions(self, topic: str) -> None:
        """Refuse a film of a figure that its topic does not draw."""
        figures = definitions(f"{topic}.{TOPIC_MODULES['figure']}")
        for name in definitions(f"{topic}.{TOPIC_MODULES['motion']}"):
            if name not in figures:
                raise ProjectError(f"{topic}.motion: `{name}` moves no figure{suggest_name(name, figures)}")

    def where(self, *path: str) -> str:
        return self.config.where(self.paper, *path)

    def check_name(self, section: str, name: str, *path: str) -> Block:
        """Return the block that the key at `path` names; refuse a name that no block has."""
        return self.config.declared_block(self.paper, section, name, self.where(*path))

    def check_settings(self, stage: str, name: str, /, **varied: Any) -> None:
        """Check the settings of a job, with any of them varied."""
        settings = self.config.settings(stage, self.paper, name) | varied
        problem = self.config.signature(stage, self.paper, name).find_problem(settings)
        if problem is None:
            return
        (key, *inner), message = problem
        section = SECTIONS.get(stage, stage)
        owner = name
        if section == "runs":
            # blocks have a field of a class of settings under `limit`, or as `limit.rtol`
            owner = self.owner(stage, name, {key, ".".join([key, *inner[:1]])})
        inside = []  # the key of the block in which the setting is
        if varied:
            inside = ["vary"]
        elif stage == "metrics":
            inside = ["measure"]
        nearest = difflib.get_close_matches(key, KEYS.get(stage, KEYS["run"]), n=1)
        has_advice = "did you mean" in message or "it is now" in message
        if message.startswith("unknown") and not has_advice and nearest:
            message = f"unknown key; did you mean `{nearest[0]}`?"
        raise ProjectError(f"{self.where(section, owner, *inside, key, *inner)}: {message}")

    def owner(self, stage: str, name: str, keys: set[str]) -> str:
        """Return the run whose block gives a wrong setting: the run, its sweep, or the nearest that it extends."""
        run, swept = self.config.declared_run(self.paper, name)
        if keys & swept.keys():
            return run
        for owner, block in self.config.ancestry(self.paper, run):
            settings = block.get("measure", {}) if stage == "metrics" else block
            if keys & flat(settings).keys():
                return owner
        return run

    def check_runs_of(self, name: str) -> None:
        """Check a run; of a sweep every value once, since to check all combinations would take long."""
        runs = self.config.runs_of(self.paper, name)
        _, first = runs[0]
        for run, swept in runs:
            n_differing = sum(swept[key] != first[key] for key in first)
            if n_differing <= 1:
                self.check_run(name, run)

    def check_run(self, name: str, run: str) -> None:
        """Check the functions, settings and data set of `run`, which is the run `name` or one of its sweep."""
        paper, where = self.paper, self.where("runs", name)
        block = self.config.block("run", paper, run)
        if not block.get("function"):
            others = [run for run in self.config.blocks(paper, "runs") if run != name]
            nearest = difflib.get_close_matches(name, others, n=1)
            advice = f"name a function of papers/{paper}/<topic>/runs.py"
            if nearest:
                advice = f"did you mean the run `{nearest[0]}`? Else {advice}"
            raise ProjectError(f"{where}.function: missing; {advice}")
        function = signature_of("run", paper, block["function"], f"{where}.function")
        metrics = signature_of("metrics", paper, block["function"], f"{where}.function")
        if not metrics.has("columns"):
            raise ProjectError(f"{metrics.where}: `{metrics.name}` declares no columns; decorate it with @columns(...)")
        self.check_settings("run", run)
        self.check_settings("metrics", run)
        if ("data" in function.arguments) != ("data" in block):
            if "data" in block:
                raise ProjectError(f"{where}.data: `{block['function']}` takes no data set; remove `data:`")
            raise ProjectError(f"{where}.data: `{block['function']}` takes a data set; add `data:`")
        if "data" in block:
            self.check_name("data", block["data"], "runs", name, "data")
        elif "data" in metrics.arguments:
            raise ProjectError(f"{where}.data: `{metrics.name}` of {metrics.where} takes a data set; add `data:`")

    def check_drawing(self, stage: str, name: str) -> Signature:
        """Check the text, roles and settings of a figure, an interactive figure or a claim."""
        section = SECTIONS.get(stage, stage)
        block, where = self.config.block(stage, self.paper, name), self.where(section, name)
        function = signature_of(stage, self.paper, block["function"], f"{where}.function")
        if not self.config.caption(self.paper, name, stage):
            text = "the claim's sentence" if stage == "claims" else "its caption"
            raise ProjectError(f"{function.where}: `{function.name}` has no docstring; write {text} there, first")
        function.check_roles(block["runs"], where)
        for role, runs in block["runs"].items():
            for run in run_names({role: runs}):
                self.check_name("runs", run, section, name, "runs", role)
        self.check_settings(stage, name)
        return function

    def check_interactive(self, name: str) -> None:
        """Check an interactive figure; refuse a second one below the same figure."""
        self.check_drawing("interactive", name)
        interactives = self.config.blocks(self.paper, "interactive")
        figure = interactives[name]["figure"]
        self.check_name("figures", figure, "interactive", name, "figure")
        # the page shows one below its figure
        first = next(other for other, block in interactives.items() if block["figure"] == figure)
        if first != name:
            where = self.where("interactive", name, "figure")
            raise ProjectError(f"{where}: `{first}` is below `{figure}` already; name another")

    def check_claim(self, name: str) -> None:
        """Check a claim, that its figure shows one of its runs, and the values of its ``vary:``."""
        function = self.check_drawing("claims", name)
        if not function.has("claim"):
            raise ProjectError(f"{function.where}: `{function.name}` is no claim; decorate it with @claim(...)")
        block = self.config.block("claims", self.paper, name)
        if "figure" in block:
            figure = self.check_name("figures", block["figure"], "claims", name, "figure")
            if block["runs"] and not set(run_names(block["runs"])) & set(run_names(figure["runs"])):
                raise ProjectError(
                    f"{self.where('claims', name, 'figure')}: `{block['figure']}` shows none of the claim's runs; "
                    "name one that does, or none"
                )
        settings = self.config.settings("claims", self.paper, name)
        for key, values in block.get("vary", {}).items():
            check_known(key, settings, "setting of this claim", self.where("claims", name, "vary", key))
            for value in values:
                self.check_settings("claims", name, **{key: value})
