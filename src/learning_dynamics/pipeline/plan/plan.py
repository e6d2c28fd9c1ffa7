"""What each job is to do: the files that it reads, its settings, and the fingerprint of what it makes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from learning_dynamics.errors import check_known
from learning_dynamics.pipeline.plan import refusals, variations
from learning_dynamics.pipeline.plan.blocks import Spec, map_roles, run_names
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import ConfigFiles, load
from learning_dynamics.pipeline.plan.digests import science
from learning_dynamics.pipeline.plan.jobs import Job
from learning_dynamics.pipeline.plan.sweeps import SweptRuns, runs_of_sweep
from learning_dynamics.pipeline.store.stamps import digest, fingerprint

FORMATS = {"figure": ("pdf", "png", "svg"), "motion": ("webp",), "interactive": ("json",)}


class Plan:
    """Every job of a configuration; its `config` says what there is.

    Checking imports every function that the configuration names; `check` is false where that has been done.

    Raises
    ------
    ProjectError
        At the first mistake in the configuration: the file, the key and the fix.
    """

    def __init__(self, configuration: ConfigFiles, check: bool = True) -> None:
        self.config = Config(configuration)
        if check:
            refusals.check(self.config)
        self._fingerprints: dict[tuple[str, str, str], str] = {}
        self._trajectories: dict[str, dict[str, str]] = {}  # by paper and `_simulation_key`, the run that is simulated
        scale = configuration.scale
        self.results = f"results/{scale}" if scale else "results"
        self.figures = f"figures/{scale}" if scale else "figures"

    @classmethod
    def read(cls, option: Mapping[str, Any], check: bool = True, **given: Any) -> "Plan":
        """Return the plan of a configuration that Snakemake read: its overlays, and what its command line gave."""
        return cls(load([Path(file) for file in option["files"]], {**option["given"], **given}), check)

    # -- what jobs are to do ------------------------------------------------------------------------

    def spec(self, stage: str, paper: str, name: str) -> Spec:
        """What a job of a stage is to do."""
        if stage in FORMATS:
            return self.drawing(stage, paper, name)
        if stage == "claims":
            return self.claims(paper)
        if stage == "bundle":
            return self.bundle(paper, name)
        return self._call(stage, paper, name)

    def _call(self, stage: str, paper: str, name: str, **changes: Any) -> Spec:
        """The function that a job of data, runs or metrics calls, and its settings, with any of them changed."""
        settings = self.config.settings(stage, paper, name, **changes)
        return {
            "source" if stage == "data" else "function": self.config.function_name(stage, paper, name),
            "settings": settings,
        }

    def data(self, paper: str, name: str, **changes: Any) -> Spec:
        """What a data job is to do: source and settings, with any of them changed."""
        return self._call("data", paper, name, **changes)

    def run(self, paper: str, name: str, **changes: Any) -> Spec:
        """What a run job is to do: function and settings, with any of them changed."""
        return self._call("run", paper, name, **changes)

    def measure(self, paper: str, name: str, **changes: Any) -> Spec:
        """What a metrics job is to do: function, and the settings of measuring, with any of them changed."""
        return self._call("metrics", paper, name, **changes)

    def bundle(self, paper: str, name: str) -> Spec:
        """What a bundle's job is to do: the settings that its runs share, and the values in which they differ."""
        check_known(name, list(self.config.bundles[paper]), "bundle", paper)
        runs = self.config.bundles[paper][name]
        first_run = self.run(paper, runs[0])
        sweep, differing = self.config.declared_run(paper, runs[0])
        return {
            "function": first_run["function"],
            "data": self.run_data(paper, runs[0]),
            "settings": first_run["settings"],
            "measure": self.measure(paper, runs[0])["settings"],
            "sweep": sweep,
            "axes": list(differing),
            "rows": [list(self.config.declared_run(paper, run)[1].values()) for run in runs],
        }

    def drawing(self, stage: str, paper: str, name: str) -> Spec:
        """What a drawing job is to do: function, settings, runs by role with their fingerprints."""
        return {
            "function": self.config.function_name(stage, paper, name),
            "runs": map_roles(partial(self.describe_run, paper), self.config.roles(stage, paper, name)),
            "settings": self.config.settings(stage, paper, name),
        }

    def claims(self, paper: str) -> Spec:
        """What a claims job is to do: every claim with its runs and thresholds, and ``values`` of ``robustness:``."""
        entries = {}
        for name, entry in self.config.robustness_entries(paper).items():
            if "values" in entry:
                # a run for each value: `differing` has one setting
                runs = [
                    {"value": str(value), "name": run, "fingerprint": self.fingerprint("metrics", paper, run)}
                    for run, differing in _runs_of_entry(entry)
                    for value in differing.values()
                ]
                entries[name] = {**entry, "swept": runs}
        claims = {name: self.claim(paper, name) for name in self.config.blocks(paper, "claims")}
        return {"claims": claims, "robustness": entries}

    def claim(self, paper: str, name: str, **changes: Any) -> Spec:
        """What is known of one claim: function, runs by role, figure, expected verdict, settings and their variants."""
        block = self.config.block("claims", paper, name)
        return {
            "function": block["function"],
            "runs": map_roles(partial(self.describe_run, paper), block["runs"]),
            "figure": block.get("figure"),
            "expected": self.config.expected_verdict(paper, name),
            "settings": self.config.settings("claims", paper, name, **changes),
            "vary": block.get("vary", {}),
        }

    def describe_run(self, paper: str, name: str) -> Spec:
        """What a job that reads a run's metrics knows of it: name, sweep and bundle if there are, fingerprint."""
        block = self.config.resolved_block(paper, "runs", name)
        sweep, bundle = block.get("sweep"), block.get("bundle", 1)
        fingerprints = [self.fingerprint("metrics", paper, run) for run, _ in runs_of_sweep(name, sweep)]
        described = {"name": name, "sweep": sweep, "fingerprint": digest(fingerprints) if sweep else fingerprints[0]}
        return described if bundle == 1 else described | {"bundle": bundle}

    # -- the files that jobs read, and what they ask for ---------------------------------------------

    def run_data(self, paper: str, name: str) -> str | None:
        """The data set of a run."""
        return self.config.block("run", paper, name).get("data")

    def measured_data(self, paper: str, name: str) -> str | None:
        """The data set of a run whose metrics are measured on it as well; its trajectory's file does not repeat it."""
        if "data" in self.config.definition("metrics", paper, name).arguments:
            return self.run_data(paper, name)
        return None

    def bundle_data(self, paper: str, name: str) -> list[str]:
        """The data sets that a bundle's runs take."""
        data_sets = (self.run_data(paper, run) for run in self.config.bundles[paper][name])
        return [data for data in dict.fromkeys(data_sets) if data]

    def measured_run(self, paper: str, name: str) -> str:
        """The run whose trajectory a run's metrics measure: the first with the same function, settings and data."""
        if paper not in self._trajectories:
            self._trajectories[paper] = {}
            for run in self._unbundled_runs(paper):
                self._trajectories[paper].setdefault(self._simulation_key(paper, run), run)
        return self._trajectories[paper].get(self._simulation_key(paper, name), name)

    def _simulation_key(self, paper: str, name: str) -> str:
        """Return a text that runs have in common if they simulate the same."""
        return json.dumps([self.run(paper, name), self.run_data(paper, name)])

    def _unbundled_runs(self, paper: str) -> list[str]:
        """Return the runs that have jobs of their own."""
        bundled = {run for runs in self.config.bundles[paper].values() for run in runs}
        return [run for run in self.config.runs[paper] if run not in bundled]

    def tables(self, paper: str) -> list[str]:
        """The tables of metrics that jobs make: a run's each, or a bundle's."""
        return [*self._unbundled_runs(paper), *self.config.bundles[paper]]

    def tables_for(self, stage: str, paper: str, name: str = "claims") -> list[str]:
        """The tables of metrics that drawing a figure reads, or judging all claims of a paper."""
        if stage != "claims":
            return self._tables(paper, run_names(self.config.roles(stage, paper, name)))
        claims = self.config.blocks(paper, "claims")
        tables = [table for claim in claims for table in self.tables_for_claim(paper, claim)]
        entries = self.config.robustness_entries(paper).values()
        return list(dict.fromkeys([*tables, *(run for entry in entries for run, _ in _runs_of_entry(entry))]))

    def tables_for_claim(self, paper: str, claim: str) -> list[str]:
        """The tables of metrics that judging one claim reads."""
        return self._tables(paper, run_names(self.config.blocks(paper, "claims")[claim]["runs"]))

    def _tables(self, paper: str, runs: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(table for run in runs for table in self.config.tables(paper, run)))

    def keeps(self, paper: str, name: str) -> bool:
        """Whether a run's file stays once all its metrics are there."""
        return not self.config.block("run", paper, name).get("temporary", False)

    def run_file(self, paper: str, name: str) -> str:
        """The file of the run that a run's metrics measure, below its paper's folder; a temporary one in `scratch`."""
        measured = self.measured_run(paper, name)
        return f"{'runs' if self.keeps(paper, measured) else 'scratch'}/{measured}.npz"

    def data_files(self, paper: str, *data_sets: str | None) -> list[str]:
        """The files of data sets, of those that are named."""
        return [f"{self.results}/{paper}/data/{data}.npz" for data in data_sets if data]

    def metrics_files(self, paper: str, tables: Iterable[str]) -> list[str]:
        """The files of tables of metrics."""
        return [f"{self.results}/{paper}/metrics/{table}.parquet" for table in tables]

    def figure_files(self, paper: str, *formats: str) -> list[str]:
        """The files of all that is drawn of a paper: figures in every format or some, films, interactive figures."""
        return [
            f"{self.figures}/{paper}/{name}.{kind}"
            for stage, names in self.config.drawings(paper).items()
            for name in names
            for kind in FORMATS[stage]
            if not formats or kind in formats
        ]

    def resources(self, stage: str, paper: str, name: str) -> Mapping[str, int]:
        """What the configuration lets a job ask for; nothing for stages other than data, run, metrics and bundle."""
        if stage == "bundle":
            return self.resources("run", paper, self.config.bundles[paper][name][0])
        if stage not in ("data", "run", "metrics"):
            return {}
        key = "measure_resources" if stage == "metrics" else "resources"
        return self.config.block(stage, paper, name).get(key, {})

    def is_long(self, stage: str, paper: str, name: str) -> bool:
        """Whether a job is a data set or run with `resources`, or measures such a run."""
        if stage == "metrics":
            return bool(self.resources("run", paper, name) or self.resources(stage, paper, name))
        return bool(self.resources(stage, paper, name))

    # -- jobs ---------------------------------------------------------------------------------------

    def job(self, stage: str, paper: str, name: str) -> Job:
        """A job of a stage: what it is to do, the files that it reads and the one that it makes, its fingerprint."""
        return Job(
            stage=stage,
            paper=paper,
            name=name,
            folder=f"{self.results}/{paper}",
            spec=self.spec(stage, paper, name),
            inputs=self.inputs(stage, paper, name),
            output=self._output(stage, paper, name),
            made_from=self.made_from(stage, paper, name),
            fingerprint=self.fingerprint(stage, paper, name),
        )

    def jobs(self) -> Iterator[Job]:
        """Every job of every paper."""
        for paper in self.config.papers:
            for name in self.config.blocks(paper, "data"):
                yield self.job("data", paper, name)
            for name in self._unbundled_runs(paper):
                yield self.job("run", paper, name)
                yield self.job("metrics", paper, name)
            for name in self.config.bundles[paper]:
                yield self.job("bundle", paper, name)
            for stage, names in self.config.drawings(paper).items():
                for name in names:
                    yield self.job(stage, paper, name)
            yield self.job("claims", paper, "claims")

    def inputs(self, stage: str, paper: str, name: str) -> dict[str, Any]:
        """The files that a job reads; a job that draws or judges has the folder of all tables."""
        if stage == "data":
            return {}
        if stage == "bundle":
            return {"data": self.data_files(paper, *self.bundle_data(paper, name))}
        if stage not in ("run", "metrics"):
            return {"metrics": f"{self.results}/{paper}/metrics"}
        data = self.run_data(paper, name) if stage == "run" else self.measured_data(paper, name)
        inputs: dict[str, Any] = {"data": f"{self.results}/{paper}/data/{data}.npz"} if data else {}
        if stage == "metrics":
            inputs["run"] = f"{self.results}/{paper}/{self.run_file(paper, name)}"
        return inputs

    def _output(self, stage: str, paper: str, name: str) -> str:
        """The file that a job makes; of a figure the PDF, of claims the folder of their tables."""
        if stage in FORMATS:
            return f"{self.figures}/{paper}/{name}.{FORMATS[stage][0]}"
        if stage == "claims":
            return f"{self.results}/{paper}"
        if stage == "data":
            return f"{self.results}/{paper}/data/{name}.npz"
        if stage == "run":
            return f"{self.results}/{paper}/{'runs' if self.keeps(paper, name) else 'scratch'}/{name}.npz"
        return f"{self.results}/{paper}/metrics/{name}.parquet"

    # -- fingerprints -------------------------------------------------------------------------------

    def science(self, stage: str, paper: str, name: str) -> Mapping[str, str]:
        """The digests of the modules and tables that a job uses, by name."""
        if stage == "claims":
            function_names = {block["function"] for block in self.config.blocks(paper, stage).values()}
            return science(stage, paper, *sorted(function_names))
        if stage == "bundle":
            first_run = self.config.bundles[paper][name][0]
            return {**self.science("run", paper, first_run), **self.science("metrics", paper, first_run)}
        return science(stage, paper, self.config.function_name(stage, paper, name))

    def science_list(self, stage: str, paper: str, name: str = "", function: str = "") -> list[str]:
        """The digests that a job or function depends on, as ``name@digest``: Snakemake prints which of them changed."""
        digests = science(stage, paper, function) if function else self.science(stage, paper, name)
        return sorted(f"{module}@{its_digest}" for module, its_digest in digests.items())

    def made_from(self, stage: str, paper: str, name: str) -> str | None:
        """The fingerprint of a run's data set, or of the run that metrics measure."""
        if stage == "run":
            data = self.run_data(paper, name)
            return self.fingerprint("data", paper, data) if data else None
        if stage == "metrics":
            return self.fingerprint("run", paper, name)
        return None

    def fingerprint(self, stage: str, paper: str, name: str) -> str:
        """What an output is made from, as one digest: settings, science, and inputs' fingerprints."""
        key = (stage, paper, name)
        if key in self._fingerprints:
            return self._fingerprints[key]
        if stage == "bundle":
            made = digest([self.fingerprint("metrics", paper, run) for run in self.config.bundles[paper][name]])
        else:
            spec, made_from = self.spec(stage, paper, name), self.made_from(stage, paper, name)
            made = fingerprint(stage, spec, self.science(stage, paper, name), made_from)
        self._fingerprints[key] = made
        return made

    def claim_fingerprint(self, paper: str, name: str) -> str:
        """What the verdict on one claim is made from: runs with their fingerprints, settings, science; not its text."""
        spec = self.claim(paper, name)
        digests = science("claims", paper, spec["function"], with_statements=False)
        return digest([spec["function"], spec["runs"], spec["settings"], dict(digests)])

    def change_fingerprint(self, paper: str, name: str) -> str:
        """What judging claims again with one thing changed is made from: settings, science, the change, the claims."""
        change = variations.change_named(self.config, paper, name)
        data = {data_set: self.fingerprint("data", paper, data_set) for data_set in self.config.blocks(paper, "data")}
        layers = [variations.layer_of(self.config, paper, change, value) for value in change.grid]
        claims = self.fingerprint("claims", paper, "claims")
        return digest([claims, data, change.claims, change.grid, dict(change.entry), layers])

    @cached_property
    def verdicts_fingerprint(self) -> str:
        """The fingerprint of all papers' verdicts together."""
        return digest({paper: self.fingerprint("claims", paper, "claims") for paper in self.config.papers})

    @cached_property
    def page_fingerprint(self) -> str:
        """The fingerprint of the page: of all verdicts, and of all that is drawn."""
        drawings: dict[str, dict[str, str]] = {stage: {} for stage in FORMATS}
        for paper in self.config.papers:
            for stage, names in self.config.drawings(paper).items():
                drawings[stage] |= {f"{paper}/{name}": self.fingerprint(stage, paper, name) for name in names}
        return digest([self.verdicts_fingerprint, drawings])

    @cached_property
    def output_fingerprints(self) -> dict[str, str]:
        """The fingerprint of every data set, run, metrics table and claims, by its path below the results folder."""
        fingerprints = {}
        for paper in self.config.papers:
            for name in self.config.blocks(paper, "data"):
                fingerprints[f"{paper}/data/{name}.npz"] = self.fingerprint("data", paper, name)
            for name in self.tables(paper):
                if name in self.config.bundles[paper]:
                    fingerprints[f"{paper}/metrics/{name}.parquet"] = self.fingerprint("bundle", paper, name)
                    continue
                fingerprints[f"{paper}/{self.run_file(paper, name)}"] = self.fingerprint("run", paper, name)
                fingerprints[f"{paper}/metrics/{name}.parquet"] = self.fingerprint("metrics", paper, name)
            claims_fingerprint = self.fingerprint("claims", paper, "claims")
            tables = ("claims", "checks", "variations")
            fingerprints |= dict.fromkeys((f"{paper}/{table}.parquet" for table in tables), claims_fingerprint)
        return fingerprints


def _runs_of_entry(entry: Mapping[str, Any]) -> SweptRuns:
    """Return the runs that an entry of ``robustness:`` adds to the default run."""
    return runs_of_sweep(entry["run"], {entry["setting"]: entry["values"]}) if "values" in entry else []
