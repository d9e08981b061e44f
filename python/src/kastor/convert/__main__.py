"""Command that shows what makes a script elastic."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from kastor.convert.script import NotConvertedError, converted

_DESCRIPTION = """
Shows the lines that make a plain PyTorch script elastic, as a unified diff: `kastor convert train.py | patch train.py`
applies it. What the code does not say, and what would not hold, is named on standard error with its line. The script is
read and not run. Exit status: 0 if all could be said, 1 if something is left to do by hand, 2 for a wrong call.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser("python -m kastor.convert", description=_DESCRIPTION)
    parser.add_argument("script", type=Path, help="script with a loop over batches")
    path: Path = parser.parse_args(arguments).script
    try:
        text = path.read_bytes().decode()
    except OSError as e:
        parser.error(f"cannot read {path}: {e.strerror}")
    except UnicodeDecodeError:
        parser.error(f"{path} is not a text in UTF-8")
    try:
        result = converted(text, str(path))
    except NotConvertedError as e:
        print(f"{path}:{e}", file=sys.stderr)
        return 1
    except SyntaxError as e:
        parser.error(f"{path}:{e.lineno}: {e.msg}")
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", each) for each in (text, result.text))
    for line in difflib.unified_diff(before, after, str(path), str(path)):
        sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    for note in result.notes:
        print(f"{path}:{note}", file=sys.stderr)
    return 1 if result.notes else 0


if __name__ == "__main__":
    sys.exit(main())
