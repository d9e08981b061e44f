"""Trees of plain values with tensors as leaves, as JSON and a list of tensors.

What ``state_dict`` returns is such a tree. No pickle is involved, so reading one runs no code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


class TreeError(ValueError):
    """Error of a tree that holds a value of a kind that cannot be written, or of one that is damaged."""


def flatten(tree: Any, tensor: type[T], path: str = "state") -> tuple[Any, list[T]]:
    """JSON form of ``tree`` and its leaves of type ``tensor``, in the order in which they stand.

    Raises:
        TreeError: naming the path of a value of another kind.
    """
    leaves: list[T] = []

    def walk(node: Any, at: str) -> Any:
        if isinstance(node, tensor):
            leaves.append(node)
            return {"x": len(leaves) - 1}
        if node is None or isinstance(node, (bool, str)):
            return node
        if isinstance(node, Enum):
            raise TreeError(f"{at} holds an enum")
        if isinstance(node, int):
            return int(node)
        if isinstance(node, float):
            return float(node) if math.isfinite(node) else {"f": repr(float(node))}
        if isinstance(node, Mapping):
            kind = "c" if isinstance(node, Counter) else "d"
            return {kind: [[walk(k, f"{at} key"), walk(v, f"{at}.{k}")] for k, v in node.items()]}
        if isinstance(node, tuple):
            return {"t": [walk(v, f"{at}[{i}]") for i, v in enumerate(node)]}
        if isinstance(node, list):
            return [walk(v, f"{at}[{i}]") for i, v in enumerate(node)]
        if hasattr(node, "item") and getattr(node, "ndim", None) == 0:
            return walk(node.item(), at)
        raise TreeError(
            f"{at} holds a {type(node).__module__}.{type(node).__qualname__}, which can neither be"
            " sent to another replica nor saved. Let state_dict() return tensors, numbers, texts,"
            " lists and dicts alone."
        )

    return walk(tree, path), leaves


def unflatten(form: Any, leaves: Sequence[T]) -> Any:
    """Tree of a JSON form and its leaves.

    Raises:
        TreeError: if it is not one.
    """
    readers: dict[str, Callable[[Any], Any]] = {
        "x": lambda v: leaves[v],
        "f": float,
        "t": lambda v: tuple(walk(each) for each in v),
        "d": lambda v: {walk(k): walk(each) for k, each in v},
        "c": lambda v: Counter({walk(k): walk(each) for k, each in v}),
    }

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(each) for each in node]
        if isinstance(node, dict):
            ((kind, value),) = node.items()
            return readers[kind](value)
        return node

    try:
        return walk(form)
    except (KeyError, IndexError, TypeError, ValueError) as e:
        raise TreeError(f"it is not a tree: {e!r}") from e


def places(form: Any) -> tuple[list[str], dict[str, Any]]:
    """Places in the tree of a JSON form, as ``parts.model.weight``: of its leaves in their order, and plain values."""
    found: dict[int, str] = {}
    values: dict[str, Any] = {}

    def walk(node: Any, at: str) -> None:
        if isinstance(node, list):
            for number, each in enumerate(node):
                walk(each, f"{at}.{number}")
        elif isinstance(node, dict):
            ((kind, value),) = node.items()
            if kind == "x":
                found[value] = at.removeprefix(".")
            elif kind == "t":
                walk(value, at)
            elif kind in ("d", "c"):
                for key, each in value:
                    walk(each, f"{at}.{key}")
            else:
                values[at.removeprefix(".")] = value
        else:
            values[at.removeprefix(".")] = node

    walk(form, "")
    return [found[number] for number in range(len(found))], values
