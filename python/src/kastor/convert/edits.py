"""Changes of a text by the places that its syntax tree names."""

from __future__ import annotations

import ast
import re
from itertools import accumulate


class Edits:
    """Changes of a Python text, applied at once; of several at one place the first stands first."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()
        lines = self._text.splitlines(keepends=True)
        self._starts = [0, *accumulate(len(line) for line in lines)]
        self._newline = "\r\n" if lines and lines[0].endswith(b"\r\n") else "\n"
        self._changes: list[tuple[int, int, str]] = []

    def replace(self, node: ast.expr, text: str) -> None:
        """Puts a text in the place of an expression."""
        self._changes.append((self._first(node), self._last(node), text))

    def append(self, call: ast.Call, argument: str) -> None:
        """Adds an argument to a call."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        at = max((self._last(each) for each in given), default=self._last(call) - 1)
        # Behind the parentheses around the last argument.
        rest = re.sub(rb"#[^\n]*", lambda found: b" " * len(found[0]), self._text[at : self._last(call) - 1])
        at += rest.rfind(b")") + 1
        self._changes.append((at, at, f", {argument}" if given else argument))

    def before(self, statement: ast.stmt, line: str) -> None:
        """Inserts a line before a statement, as far to the right as it."""
        self._insert(statement.lineno - 1, statement.col_offset, line)

    def after(self, statement: ast.stmt, line: str) -> None:
        """Inserts a line after a statement, as far to the right as it."""
        self._insert(statement.end_lineno or statement.lineno, statement.col_offset, line)

    def first(self, line: str) -> None:
        """Inserts a line at the beginning."""
        self._insert(0, 0, line)

    def _insert(self, after_lines: int, indent: int, line: str) -> None:
        at = self._starts[after_lines]
        ended = at == 0 or self._text[at - 1 : at] == b"\n"
        self._changes.append((at, at, f"{'' if ended else self._newline}{' ' * indent}{line}{self._newline}"))

    def _first(self, node: ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _last(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def applied(self) -> str:
        """Text with all changes."""
        parts, at = [], 0
        for first, last, text in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self._text[at:first], text.encode()]
            at = last
        return b"".join([*parts, self._text[at:]]).decode()
