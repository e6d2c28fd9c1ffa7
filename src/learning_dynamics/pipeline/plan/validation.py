"""How a block of the configuration is validated: nothing is converted, no key is unknown, an error is one line."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from learning_dynamics.errors import shortened, suggest_name

# pydantic's types of errors, as what a person has to write
MESSAGES = {
    "missing": "missing; add it",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be text",
    "string_too_long": "must have {max_length} characters or fewer",
    "string_pattern_mismatch": "must match {pattern}",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "too_short": "must have {min_length} values or more",
    "too_long": "must have {max_length} values or fewer",
    "invalid_key": "a key must be text; quote it",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping of settings",
    "model_attributes_type": "must be a mapping of settings",
    "literal_error": "must be {expected}",
}
# keys, and settings of functions, of earlier versions: the old name and the new
RENAMED = {
    "kind": "function",
    "like": "extends",
    "keep": "temporary",
    "telling": "lead_figure",
    "wild": "free",
    "sensitivity": "robustness",
    "turning": "robustness",
    "rare": "exceptions",
    "order": "factor",
    "share": "percent",
    "reference": "parts",
    "steps": "step_sizes",
    "start": "first_time",
    "right": "greedy_share",
}


class Strict(BaseModel):
    """A block whose keys are known, and whose values are of their type already."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, block: Any) -> Any:
        if isinstance(block, Mapping):
            for key in block:
                # where other keys are allowed, one that was renamed is not
                is_old = RENAMED.get(key) in cls.model_fields
                if key not in cls.model_fields and (is_old or cls.model_config["extra"] == "forbid"):
                    advice = f"; it is now `{RENAMED[key]}`" if is_old else suggest_name(key, cls.model_fields)
                    context = {"key": str(key), "what": cls.unknown_key_message(), "nearest": advice}
                    raise PydanticCustomError("unknown_key", "{what}{nearest}", context)
        return block

    @classmethod
    def unknown_key_message(cls) -> str:
        """Return how the error about an unknown key begins; a function's settings have another."""
        return "unknown key"


def find_problem(model: type[BaseModel], block: Any) -> tuple[tuple[str, ...], str] | None:
    """Return the path of keys to the first wrong value of a block, and what is wrong with it; None if all is right."""
    try:
        model.model_validate(block)
    except ValidationError as error:
        details = error.errors(include_url=False)
        # a misspelt key says more than the one that is missing for it
        detail = next((detail for detail in details if detail["type"] != "missing"), details[0])
        return _path(detail, block), _message(detail)
    return None


def _path(detail: ErrorDetails, block: Any) -> tuple[str, ...]:
    """Return the path of keys in the block; pydantic's path goes on, with alternatives of a union and the like."""
    path: list[str] = []
    for part in detail["loc"]:
        try:
            block = block[part]
        except (KeyError, IndexError, TypeError):
            if detail["type"] == "missing":
                path.append(str(part))
            break
        path.append(str(part))
    # the error about an unknown key is of the block; its context has the key
    if "key" in detail.get("ctx", {}):
        path.append(detail["ctx"]["key"])
    return tuple(path)


def _message(detail: ErrorDetails) -> str:
    template = MESSAGES.get(detail["type"])
    message = template.format(**detail.get("ctx", {})) if template else detail["msg"]
    # these name what is wrong by themselves ("form" is of `schema`); of others the value is shown
    if detail["type"] in ("missing", "unknown_key", "form"):
        return message
    return f"{message} (is {shortened(detail['input'])})"
