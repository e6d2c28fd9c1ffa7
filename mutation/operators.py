"""What is changed: cosmic-ray's operators, and some of our own in its form, for arrays and tables."""

import abc
import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import parso
from cosmic_ray.ast import ast_nodes
from cosmic_ray.operators.operator import Example, Operator

COSMIC_RAY = (
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Mul_Add", "Pow_Mul")),
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("FloorDiv_Div", "Mod_Mul", "BitAnd_BitOr", "BitOr_BitAnd")),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_Gt", "Gt_Lt")),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("LtE_GtE", "GtE_LtE", "Eq_NotEq", "NotEq_Eq")),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("Is_IsNot", "IsNot_Is")),
    *(f"ReplaceUnaryOperator_Delete_{name}" for name in ("USub", "Not", "Invert")),
    *("AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop"),
)


class _OfOneNode(Operator):
    """An operator that replaces a node of the syntax tree by one text of several."""

    @abc.abstractmethod
    def texts(self, node: Any) -> Sequence[str]:
        """Return what may replace a node."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        for _ in self.texts(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        return parso.python.tree.Name(self.texts(node)[index], node.start_pos, _first(node).prefix)


class FunctionExchanged(_OfOneNode):
    """``all`` for ``any``, ``sum`` for ``max``, ``np.minimum`` for ``np.maximum``, and the like."""

    PARTNERS: ClassVar[dict[str, list[str]]] = {
        "all": ["any"],
        "any": ["all"],
        "sum": ["max"],
        "max": ["sum", "min"],
        "min": ["max"],
        "minimum": ["maximum"],
        "maximum": ["minimum"],
        "argmin": ["argmax"],
        "argmax": ["argmin"],
        "nanmin": ["nanmax"],
        "nanmax": ["nanmin"],
        "mean": ["max"],
        "cumsum": ["cumprod"],
        "exp": ["expm1"],
        "log": ["log1p"],
    }

    def texts(self, node: Any) -> Sequence[str]:
        if node.type != "name" or node.parent.type == "funcdef":
            return []
        after = node.get_next_leaf()
        is_call = after is not None and after.value == "("
        return self.PARTNERS.get(node.value, []) if is_call else []

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return Example("a = np.all(x)", "a = np.any(x)"), Example("x.max()", "x.min()", 1)


class NumberTimesThousand(_OfOneNode):
    """A number a thousand times as large: a tolerance that refuses nothing, a horizon never reached."""

    def texts(self, node: Any) -> Sequence[str]:
        value = ast.literal_eval(node.value) if node.type == "number" else 0
        return [repr(1000 * value)] if value else []

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return Example("a = b + 1e-9", f"a = b + {1000 * 1e-9!r}"), Example("a = 2", "a = 2000")


class ExponentDoubled(_OfOneNode):
    """``x ** (2 * n)`` for ``x ** n``."""

    def texts(self, node: Any) -> Sequence[str]:
        if node.parent is None or node.parent.type != "power" or node is not node.parent.children[-1]:
            return []
        return [f"(2 * ({_code(node)}))"]

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("a = x ** (1 / n)", "a = x ** (2 * ((1 / n)))"),)


class ArgumentDoubled(_OfOneNode):
    """``f(2 * (x))`` for ``f(x)``."""

    KINDS = ("name", "atom_expr", "arith_expr", "term", "power", "factor")
    # what takes no number as its first argument, which doubled would only raise
    NOT_OF_NUMBERS = (
        *("len", "list", "tuple", "dict", "set", "sorted", "enumerate", "zip", "isinstance", "str", "range", "map"),
        *("append", "extend", "replace", "items", "joined", "rows", "by_draw", "select", "settings_of", "integrate"),
    )

    def texts(self, node: Any) -> Sequence[str]:
        if node.type not in self.KINDS or node.parent is None:
            return []
        arguments = node.parent.parent if node.parent.type == "arglist" else node.parent
        if arguments is None or arguments.type != "trailer" or node.get_previous_leaf() is not arguments.children[0]:
            return []
        function = arguments.get_previous_leaf().value
        is_call = arguments.children[0].value == "("  # not x[0]
        return [f"2 * ({_code(node)})"] if is_call and function not in self.NOT_OF_NUMBERS else []

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return Example("a = f(x, y)", "a = f(2 * (x), y)"), Example("a = f(x[0])", "a = f(2 * (x[0]))")


class OrderKept(_OfOneNode):
    """``x[:]`` for ``x[::-1]``, ``A`` for ``A.T``."""

    def texts(self, node: Any) -> Sequence[str]:
        if node.type != "trailer":
            return []
        code = _code(node)
        if code == ".T":
            return [""]
        if "::-1" in code:
            return [code.replace("::-1", ":")]
        return []

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return Example("a = x[::-1]", "a = x[:]"), Example("a = A.T @ b", "a = A @ b")


class TextExchanged(_OfOneNode):
    """The name of a column, quantity or case: another of the same file in its place."""

    NAME = re.compile(r"""(["'])([A-Za-z_]\w*(?: \w+){0,2})\1""")

    def texts(self, node: Any) -> Sequence[str]:
        if not self._is_name(node):
            return []
        names = sorted({other.value for other in ast_nodes(node.get_root_node()) if self._is_name(other)})
        following = names[(names.index(node.value) + 1) % len(names)]
        return [following] if following != node.value else []

    def _is_name(self, node: Any) -> bool:
        return node.type == "string" and node.parent.type != "simple_stmt" and bool(self.NAME.fullmatch(node.value))

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("a = t['loss'], t['rate']", "a = t['rate'], t['rate']"),)


OURS = {
    kind.__name__: kind
    for kind in (FunctionExchanged, NumberTimesThousand, ExponentDoubled, ArgumentDoubled, OrderKept, TextExchanged)
}
# as cosmic-ray names them, which knows ours by an entry point
OPERATORS = (*(f"core/{name}" for name in COSMIC_RAY), *(f"learning_dynamics/{name}" for name in OURS))


class Provider:
    """What cosmic-ray loads our operators from: their names, and the class of each."""

    def __iter__(self) -> Iterator[str]:
        return iter(OURS)

    def __getitem__(self, name: str) -> type[Operator]:
        return OURS[name]


def _code(node: Any) -> str:
    return str(node.get_code(include_prefix=False))


def _first(node: Any) -> Any:
    return node.get_first_leaf() if hasattr(node, "get_first_leaf") else node
