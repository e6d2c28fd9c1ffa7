"""Write docs/reliability.md from the tests of faults: ``python -m tests.pipeline.reliability``."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs/reliability.md"
HEAD = """# What is done to the pipeline on purpose, and what it promises

Each line of the table is a test in `tests/pipeline/test_faults.py`, run by `make test`; the table is made from them by
`python -m tests.pipeline.reliability`.

**Contents.** Every output carries a digest (BLAKE2b, 256 bits) of all its bytes. Each command, the page and the
notebook interface check it before they read. `test_seals.py` flips 1,000 bits in all nine kinds of output: none
changes what a reader gets. A digest costs 0.9 ms of processor time for each MB, once when the file is written and
once for each time it is read: about two seconds for the default run's 0.5 GB, less than 0.2 % of its time. `python -m
learning_dynamics check` looks at everything under `results`, `figures` and `docs/results`. It names what is damaged,
made by other settings or code, or not ours. A digest shows damage and edits. It does not show that somebody forged a
file on purpose and gave it a digest of its own.

**Versions.** `ld.claims`, `summary`, `verdicts` and `compare` say when other settings, other code or an earlier run
made a verdict (`test_api.py`, `test_make.py`). The page says so of the results that it was made from, and names its
version.

**Input.** Wrong values in configuration, files and command lines are tested one by one in `test_hostile.py`,
`test_config.py`, `test_project.py`, `test_signatures.py`, `test_guard.py` and `test_foreign_files.py` of
`tests/pipeline`; `tests/papers/test_any_settings.py` draws settings of every kind of run, extremes included.
`test_fuzz.py` draws whole configurations and command lines: each gives one line or what was asked for.
`FUZZ_EXAMPLES=100000 FUZZ_SEED=7` make it go on.

| fault | promise | test |
|---|---|---|
"""


def table() -> str:
    """Return the document: fault, promise and test, in the tests' order."""
    file = HERE / "test_faults.py"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {
        node.targets[0].id: node.value.value  # type: ignore[attr-defined]
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    rows = []
    for node in tree.body:
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else []:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "fault":
                said = [names[word.id] if isinstance(word, ast.Name) else ast.literal_eval(word) for word in mark.args]
                rows.append(f"| {said[0]} | {said[1]} | `{node.name}` |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(table(), encoding="utf-8")
