"""No expression has to be read from the inside out: no conditional expression is within another."""

import ast

from tests.support import ROOT


def nested_conditionals(source: str) -> list[int]:
    """Return the lines of conditional expressions that have others within."""
    expressions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.IfExp)]
    return [
        node.lineno
        for node in expressions
        if any(isinstance(inner, ast.IfExp) for part in ast.iter_child_nodes(node) for inner in ast.walk(part))
    ]


def test_no_conditional_expression_is_within_another():
    found = {}
    for path in sorted(
        file for folder in ("src", "bench", "mutation", "tests") for file in (ROOT / folder).rglob("*.py")
    ):
        lines = nested_conditionals(path.read_text(encoding="utf-8"))
        if lines:
            found[str(path.relative_to(ROOT))] = lines
    assert found == {}


def test_nested_conditionals_are_found_and_neighbours_are_none():
    assert nested_conditionals("x = 1 if a else 2 if b else 3") == [1]
    assert nested_conditionals("\nx = f'{1 if a else 2}' if b else 3") == [2]
    assert nested_conditionals("x = (1 if a else 2) + (3 if b else 4)") == []
