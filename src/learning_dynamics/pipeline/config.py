"""The configuration: read, checked, and resolved into what each job is to do. It imports no numerical code."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.pipeline.sources import PACKAGE, module_path, papers
from learning_dynamics.settings import Signature, functions_of, signatures

Spec = dict[str, Any]
RUN_KEYS = {"kind", "data", "like", "sweep", "provenance", "resources", "measuring"}
DATA_KEYS = {"source", "provenance", "resources"}
FIGURE_KEYS = {"runs"}
CLAIM_KEYS = {"runs", "figure", "expected"}


def sweep_members(name: str, sweep: Mapping[str, Sequence[Any]] | None) -> list[tuple[str, Spec]]:
    """Return the runs that a (swept) run stands for: pairs of run name and the settings that differ.

    A run that is not swept stands for itself. Members are the product of the swept values, the last
    setting varying fastest.
    """
    if not sweep:
        return [(name, {})]
    members = []
    for values in itertools.product(*sweep.values()):
        differing = dict(zip(sweep, values, strict=True))
        suffix = "".join(f"--{key}-{value}" for key, value in differing.items())
        members.append((name + suffix, differing))
    return members


class Project:
    """Every job of a configuration.

    Parameters
    ----------
    raw : mapping
        The merged configuration.
    schema : path
        The JSON schema of its structure.
    file : str
        What to call the configuration in error messages.

    Raises
    ------
    ProjectError
        At the first mistake: the file, the key and the mend.
    """

    def __init__(self, raw: Mapping[str, Any], schema: Path, file: str = "config.yaml") -> None:
        self.raw = raw
        self.file = file
        self._check_structure(schema)
        self._resolved: dict[tuple[str, str], Spec] = {}
        self._runs = {paper: dict(self._resolve_runs(paper)) for paper in self.papers}
        self._data = {paper: dict(self._resolve_data(paper)) for paper in self.papers}
        for paper in self.papers:
            self._check_figures(paper)
            self._check_claims(paper)
            self._check_sensitivity(paper)
            self._check_provenance(paper)

    @property
    def papers(self) -> list[str]:
        """The papers, in the order of the configuration."""
        return list(self.raw["papers"])

    def data(self, paper: str, name: str) -> Spec:
        """What a data job is to do: source, settings, resources."""
        return self._find(self._data[paper], name, f"papers.{paper}.data", "data set")

    def run(self, paper: str, name: str) -> Spec:
        """What a run job is to do: kind, data, settings; resources of the run, and of measuring it."""
        if (paper, name) not in self._resolved:
            self._resolved[paper, name] = self._find(self._runs[paper], name, f"papers.{paper}.runs", "run")()
        return self._resolved[paper, name]

    def figure(self, paper: str, name: str) -> Spec:
        """What a figure job is to do: its runs with their sweeps, and its settings."""
        block = self._find(self._paper(paper)["figures"], name, f"papers.{paper}.figures", "figure")
        return {"runs": self._sweeps(paper, block["runs"]), "settings": _settings(block, FIGURE_KEYS)}

    def figures(self, paper: str) -> list[str]:
        """The figures of a paper, in the order of the configuration."""
        return list(self._paper(paper)["figures"])

    def caption(self, paper: str, name: str) -> str:
        """A figure's caption: its function's docstring, up to any section on parameters."""
        docstring = self._function(paper, "figures", name, name).docstring
        return docstring.split("\n\nParameters\n")[0].strip()

    def explanation(self, paper: str, name: str) -> str:
        """A claim's explanation: its function's docstring after the first paragraph, which is the statement."""
        return self._function(paper, "claims", name, name).docstring.partition("\n\n")[2].strip()

    def claims(self, paper: str) -> Spec:
        """What a claims job is to do: every claim with its runs, and the sensitivity checks."""
        claims = {
            name: {
                "runs": self._sweeps(paper, block["runs"]),
                "figure": block.get("figure"),
                "expected": _joined(block["expected"]),
                "settings": _settings(block, CLAIM_KEYS),
            }
            for name, block in self._paper(paper)["claims"].items()
        }
        return {"claims": claims, "sensitivity": self._paper(paper).get("sensitivity", [])}

    def figure_runs(self, paper: str, name: str) -> list[str]:
        """The runs whose metrics a figure needs, sweeps expanded."""
        return self._members(self.figure(paper, name)["runs"])

    def claims_runs(self, paper: str) -> list[str]:
        """The runs whose metrics the claims need, sweeps and sensitivity checks expanded."""
        spec = self.claims(paper)
        runs = [run for claim in spec["claims"].values() for run in self._members(claim["runs"])]
        runs += [
            name
            for check in spec["sensitivity"]
            for name, _ in sweep_members(check["run"], {check["setting"]: check["values"]})
        ]
        return list(dict.fromkeys(runs))

    def runs(self, paper: str) -> list[str]:
        """Every run of a paper, sweeps and sensitivity checks expanded."""
        return list(self._runs[paper])

    # -- resolution ---------------------------------------------------------------------------------

    def _paper(self, paper: str) -> Mapping[str, Any]:
        return self._find(self.raw["papers"], paper, "papers", "paper")

    def _find(self, known: Mapping[str, Any], name: str, where: str, what: str) -> Any:
        if name not in known:
            raise ProjectError(f"{self.file}: {where}: no {what} `{name}`{near(name, known)}")
        return known[name]

    def _sweeps(self, paper: str, runs: Sequence[str]) -> dict[str, Any]:
        blocks = self._paper(paper)["runs"]
        return {name: self._inherited(paper, name).get("sweep") for name in runs if name in blocks}

    @staticmethod
    def _members(runs: Mapping[str, Any]) -> list[str]:
        return [member for name, sweep in runs.items() for member, _ in sweep_members(name, sweep)]

    def _inherited(self, paper: str, name: str, below: tuple[str, ...] = ()) -> Spec:
        where = f"papers.{paper}.runs"
        block = self._find(self._paper(paper)["runs"], name, where, "run")
        if name in below:
            raise ProjectError(f"{self.file}: {where}.{name}.like: refers back to itself; break the circle")
        if "like" not in block:
            return dict(block)
        inherited = self._inherited(paper, block["like"], (*below, name))
        inherited.pop("sweep", None)
        return {**inherited, **{key: value for key, value in block.items() if key != "like"}}

    def _resolve_runs(self, paper: str) -> Iterator[tuple[str, Callable[[], Spec]]]:
        for name in self._paper(paper)["runs"]:
            block = self._inherited(paper, name)
            yield from self._expand(paper, name, block, block.get("sweep"))
        for check in self._paper(paper).get("sensitivity", []):
            block = self._inherited(paper, check["run"])
            yield from self._expand(paper, check["run"], block, {check["setting"]: check["values"]})

    def _expand(
        self, paper: str, name: str, block: Spec, sweep: Mapping[str, Sequence[Any]] | None
    ) -> Iterator[tuple[str, Callable[[], Spec]]]:
        """Yield a run's members and how to resolve each.

        Settings are checked one by one, so that checking every swept value once checks every member: a
        job reads the configuration twice, and must not pay each time for all of a sweep's members.
        """
        members = sweep_members(name, sweep)
        first = block | members[0][1]
        self._run_spec(paper, name, first)
        for key, values in (sweep or {}).items():
            for value in values:
                self._run_spec(paper, name, first | {key: value})
        for member, differing in members:
            yield member, functools.partial(self._run_spec, paper, name, block | differing)

    def _run_spec(self, paper: str, name: str, block: Spec) -> Spec:
        where = f"{self.file}: papers.{paper}.runs.{name}"
        if "kind" not in block:
            raise ProjectError(f"{where}.kind: missing; name a function of papers/{paper}/runs")
        function = self._function(paper, "runs", block["kind"], f"{where}.kind")
        settings = _settings(block, RUN_KEYS)
        if function.takes_seed:
            settings.setdefault("seed", self.raw["seed"])
        function.check(settings, where)
        if ("data" in function.arguments) != ("data" in block):
            mend = "add `data:`" if "data" in function.arguments else "remove `data:`"
            raise ProjectError(f"{where}.data: kind `{block['kind']}` does not agree; {mend}")
        if "data" in block:
            self._find(self._paper(paper).get("data", {}), block["data"], f"papers.{paper}.data", "data set")
        return {
            "kind": block["kind"],
            "data": block.get("data"),
            "settings": settings,
            "resources": block.get("resources", {}),
            "measuring": block.get("measuring", {}),
        }

    def _resolve_data(self, paper: str) -> Iterator[tuple[str, Spec]]:
        for name, block in self._paper(paper).get("data", {}).items():
            where = f"{self.file}: papers.{paper}.data.{name}"
            module, _, function_name = block["source"].rpartition(".")
            path = module_path(f"{PACKAGE}.datasets.{module}")
            if path is None:
                raise ProjectError(f"{where}.source: no module `{module}` in src/{PACKAGE}/datasets")
            functions = signatures(path)
            if function_name not in functions:
                raise ProjectError(f"{where}.source: no function `{function_name}`{near(function_name, functions)}")
            settings = _settings(block, DATA_KEYS)
            if functions[function_name].takes_seed:
                settings.setdefault("seed", self.raw["seed"])
            functions[function_name].check(settings, where)
            yield (
                name,
                {
                    "source": block["source"],
                    "settings": settings,
                    "resources": block.get("resources", {}),
                },
            )

    # -- checks -------------------------------------------------------------------------------------

    def _check_structure(self, schema: Path) -> None:
        validator = jsonschema.Draft202012Validator(yaml.safe_load(schema.read_text()))
        error = jsonschema.exceptions.best_match(validator.iter_errors(self.raw))
        if error is not None:
            where = ".".join(str(part) for part in error.absolute_path) or "top level"
            raise ProjectError(f"{self.file}: {where}: {_mend(error)}")

    def _function(self, paper: str, part: str, name: str, where: str) -> Signature:
        functions = functions_of(paper, part)
        if not functions:
            raise ProjectError(
                f"{self.file}: papers.{paper}: unknown paper, src/{PACKAGE}/papers/{paper}/{part} is not there"
                f"{near(paper, papers())}"
            )
        if name not in functions:
            raise ProjectError(f"{where}: no function `{name}` in papers/{paper}/{part}{near(name, functions)}")
        return functions[name]

    def _check_run_names(self, paper: str, names: Sequence[str], where: str) -> None:
        known = self._paper(paper)["runs"]
        for name in names:
            if name not in known:
                raise ProjectError(f"{where}.runs: no run `{name}`{near(name, known)}")

    def _check_figures(self, paper: str) -> None:
        for name, block in self._paper(paper)["figures"].items():
            where = f"{self.file}: papers.{paper}.figures.{name}"
            self._check_run_names(paper, block["runs"], where)
            self._function(paper, "figures", name, where).check(_settings(block, FIGURE_KEYS), where)

    def _check_claims(self, paper: str) -> None:
        for name, block in self._paper(paper)["claims"].items():
            where = f"{self.file}: papers.{paper}.claims.{name}"
            self._check_run_names(paper, block["runs"], where)
            if "figure" in block:
                self._find(self._paper(paper)["figures"], block["figure"], f"papers.{paper}.figures", "figure")
            self._function(paper, "claims", name, where).check(_settings(block, CLAIM_KEYS), where)

    def _check_sensitivity(self, paper: str) -> None:
        claims = self._paper(paper)["claims"]
        for index, check in enumerate(self._paper(paper).get("sensitivity", [])):
            where = f"{self.file}: papers.{paper}.sensitivity.{index}"
            for claim in check["claims"]:
                if claim not in claims:
                    raise ProjectError(f"{where}.claims: no claim `{claim}`{near(claim, claims)}")
                if check["run"] not in claims[claim]["runs"]:
                    raise ProjectError(f"{where}.run: claim `{claim}` does not use run `{check['run']}`")

    def _check_provenance(self, paper: str) -> None:
        for section, structural in (("data", DATA_KEYS), ("runs", RUN_KEYS)):
            for name, block in self._paper(paper).get(section, {}).items():
                where = f"{self.file}: papers.{paper}.{section}.{name}"
                for key in [*_settings(block, structural), *block.get("sweep", {})]:
                    if self.setting_provenance(paper, section, name, key) is None:
                        raise ProjectError(
                            f"{where}.{key}: where does it come from? add it to papers.{paper}.provenance "
                            "(stated, code, inferred, or {chosen: why})"
                        )

    def setting_provenance(self, paper: str, section: str, name: str, key: str) -> Any:
        """Return where a setting of a run or data set comes from: a word, a mapping with the reason, or None."""
        block = self._paper(paper)[section][name]
        if section == "runs":
            block = self._inherited(paper, name)
        shared = self._paper(paper).get("provenance", {})
        return {**shared, **block.get("provenance", {})}.get(key)

    def chosen(self, paper: str) -> list[Spec]:
        """Return every setting that the paper does not state: section, name, key, value, origin, reason."""
        rows = []
        for section, structural in (("data", DATA_KEYS), ("runs", RUN_KEYS)):
            for name, block in self._paper(paper).get(section, {}).items():
                for key, value in {**_settings(block, structural), **block.get("sweep", {})}.items():
                    origin = self.setting_provenance(paper, section, name, key)
                    word, reason = next(iter(origin.items())) if isinstance(origin, Mapping) else (origin, "")
                    if word != "stated":
                        rows.append(
                            {
                                "section": section,
                                "name": name,
                                "setting": key,
                                "value": value,
                                "origin": word,
                                "reason": reason,
                            }
                        )
        return rows


def load_config(*files: Path) -> Spec:
    """Read configuration files, later ones laid over earlier ones, key by key."""
    merged: Spec = {}
    for file in files:
        _overlay(merged, yaml.safe_load(file.read_text()) or {})
    return merged


def _overlay(below: Spec, above: Mapping[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(key), dict):
            _overlay(below[key], value)
        else:
            below[key] = value


def _joined(expected: str | Sequence[str]) -> str:
    return expected if isinstance(expected, str) else " or ".join(expected)


def _settings(block: Mapping[str, Any], structural: set[str]) -> Spec:
    return {key: value for key, value in block.items() if key not in structural}


def _mend(error: jsonschema.ValidationError) -> str:
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in known)
        return f"unknown key `{unknown}`{near(unknown, known)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"`{missing}` is missing; add it"
    if error.validator == "type":
        return f"must be of type {error.validator_value} (is {error.instance!r})"
    if error.validator == "enum":
        return f"must be one of {', '.join(map(str, error.validator_value))} (is {error.instance!r})"
    return error.message
