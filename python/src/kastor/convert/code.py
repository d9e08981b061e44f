"""Code of a script, with the questions that its conversion asks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Scope = ast.Module | ast.FunctionDef
Loop = ast.For | ast.While


class Code:
    """Syntax tree of a script; names are looked up in a function and then in the module."""

    def __init__(self, text: str, name: str) -> None:
        """Reads a script.

        Raises:
            SyntaxError: if it is no Python.
        """
        self.tree = ast.parse(text, name)
        self._parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def scope(self, node: ast.AST) -> Scope:
        """Function in which a node is, or the module."""
        while not isinstance(node, (ast.Module, ast.FunctionDef)):
            node = self._parents[node]
        return node

    def around(self, node: ast.AST) -> list[ast.stmt]:
        """Statements around a node in its function, from the closest on; a statement is around itself."""
        found: list[ast.stmt] = []
        while not isinstance(node, (ast.Module, ast.FunctionDef)):
            if isinstance(node, ast.stmt):
                found.append(node)
            node = self._parents[node]
        return found

    def loop_around(self, node: ast.AST) -> Loop | None:
        """Closest loop around a node in its function."""
        return next((each for each in self.around(node) if isinstance(each, Loop) and each is not node), None)

    def calls_of(self, function: ast.FunctionDef) -> list[ast.Call]:
        """Calls of a function of the script by its name."""
        return [call for call in calls(self.tree, function.name) if isinstance(call.func, ast.Name)]

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """Statements beside one, and itself."""
        for _, value in ast.iter_fields(self._parents[statement]):
            if isinstance(value, list) and statement in value:
                return value
        raise AssertionError("a statement stands in a block")

    def in_block(self, statement: ast.stmt, block: list[ast.stmt]) -> ast.stmt | None:
        """Statement of a block in which another one is; None where it is elsewhere."""
        return next((each for each in self.around(statement) if each in block), None)

    def assignments(self, name: str, scope: Scope) -> list[ast.Assign]:
        """Assignments to a name in a function, or else in the module."""
        for each in (scope, self.tree):
            found = [node for names, node in self._assigned(each) if name in names]
            if found:
                return found
        return []

    def assigned(self, scope: Scope) -> dict[str, list[ast.Assign]]:
        """All that is assigned in a function, or else in the module, by its name."""
        names = [name for each in (scope, self.tree) for names, _ in self._assigned(each) for name in names]
        return {name: self.assignments(name, scope) for name in names}

    def _assigned(self, scope: Scope) -> Iterator[tuple[list[str], ast.Assign]]:
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and self.scope(node) is scope:
                yield [target.id for target in node.targets if isinstance(target, ast.Name)], node

    def carried(self, loop: Loop) -> set[str]:
        """Names that a loop passes on from turn to turn: set before it, and set anew in it."""
        before: set[str] = set()
        within: set[str] = set()
        for node in ast.walk(self.scope(loop)):
            if isinstance(node, (ast.Assign, ast.AugAssign)) and self.scope(node) is self.scope(loop):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
                if loop in self.around(node):
                    within |= names
                elif node.lineno < loop.lineno:
                    before |= names
        return before & within

    def shared(self, node: ast.AST) -> set[str]:
        """Names of the module that the function of a node sets anew."""
        scope = self.scope(node)
        if isinstance(scope, ast.Module):
            return set()
        return {name for each in ast.walk(scope) if isinstance(each, ast.Global) for name in each.names}

    def imported(self) -> set[str]:
        """Packages that are imported."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
        return found


def callee(node: ast.AST) -> str:
    """Last part of the name that is called; empty where it is no call of a name."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def owner(call: ast.Call) -> str:
    """Name of the object whose method is called; empty where there is none."""
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    return value.id if isinstance(value, ast.Name) else ""


def calls(node: ast.AST, name: str) -> list[ast.Call]:
    """Calls of a function or method within a node, in their order."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Call) and callee(each) == name]
    return sorted(found, key=lambda each: (each.lineno, each.col_offset))


def given(call: ast.Call) -> list[ast.expr]:
    """Arguments of a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def names_in(node: ast.AST) -> set[str]:
    """Names that a node has."""
    parameters = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return parameters | {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_constant(node: ast.expr, value: object) -> bool:
    """Whether an expression is a constant of that value."""
    return isinstance(node, ast.Constant) and node.value == value
