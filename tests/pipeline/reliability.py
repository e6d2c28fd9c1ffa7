"""Write docs/reliability.md from the tests of faults: ``python -m tests.pipeline.reliability``."""

import ast
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs/reliability.md"
HEAD = "| fault | promise | test |\n|---|---|---|\n"


def table() -> str:
    """Return the document with the table that ends it: fault, promise and test, in the tests' order."""
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
    before, head, _ = DOCUMENT.read_text(encoding="utf-8").partition(HEAD)
    return before + head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(table(), encoding="utf-8")
