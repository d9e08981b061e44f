#!/usr/bin/env python3
"""Root of a file system with Python and, unless told otherwise, PyTorch, for images in which the suite runs scripts.

Everything comes from the environment of the Python that runs this (of ./kastor pytorch): its interpreter, its standard
library, PyTorch with what PyTorch requires, and the system libraries that these link against. The rest of a
distribution stays out, a shell included.

Usage: pytorch_root.py [--python-alone] FOLDER
"""

from __future__ import annotations

import compileall
import importlib.metadata
import pathlib
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig

DISTRIBUTIONS = ("torch", "numpy")
# Never imported while a script trains.
STANDARD_LIBRARY_LEFT_OUT = (
    "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "config-*", "site-packages",
    "dist-packages", "__pycache__", "_tkinter*", "readline*", "_curses*", "_dbm*", "_gdbm*", "_test*", "*.a",
)  # fmt: skip
PACKAGES_LEFT_OUT = ("__pycache__", "include", "test", "tests")
USER = "65532"


def main() -> None:
    """Writes the tree into the empty folder that the command line names."""
    root = pathlib.Path(sys.argv[-1])
    alone = "--python-alone" in sys.argv
    python = root / "opt/python"
    program = pathlib.Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
    standard = pathlib.Path(sysconfig.get_path("stdlib"))
    (python / "bin").mkdir(parents=True)
    for name in ("python", "python3", program.name):
        shutil.copy2(program, python / "bin" / name)
    copy(standard, python / "lib" / standard.name, STANDARD_LIBRARY_LEFT_OUT)
    site = pathlib.Path(sysconfig.get_path("purelib"))
    for name in sorted(set() if alone else top_level(site)):
        source, target = site / name, root / "opt/packages" / name
        if source.is_dir():
            copy(source, target, PACKAGES_LEFT_OUT)
        else:
            shutil.copy2(source, target)
    libraries(root, program, standard, site)
    # Files in an image have no times by which compiled code could be found to be up to date.
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(root / "opt", quiet=2, stripdir=str(root), invalidation_mode=mode, workers=2)
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text(f"nonroot:x:{USER}:{USER}::/tmp:/sbin/nologin\n")


def copy(source: pathlib.Path, target: pathlib.Path, left_out: tuple[str, ...]) -> None:
    """Copies a folder without the names that are left out."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*left_out))


def top_level(site: pathlib.Path) -> set[str]:
    """Returns the files and folders of installed packages that PyTorch needs, its own among them."""
    seen: set[str] = set()
    names: set[str] = set()
    wanted = [each.name for each in importlib.metadata.distributions() if each.name.startswith("nvidia-")]
    wanted += DISTRIBUTIONS
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # One for which there is a stand-in, or that other platforms need.
        names |= {pathlib.PurePath(file).parts[0] for file in distribution.files or ()}
        for requirement in distribution.requires or ():
            if "extra ==" not in requirement:
                wanted.append(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])
    return {name for name in names if name not in ("..", "__pycache__") and (site / name).exists()}


def libraries(root: pathlib.Path, program: pathlib.Path, standard: pathlib.Path, site: pathlib.Path) -> None:
    """Copies the system libraries that anything in the tree links against, and the dynamic loader."""
    linked = [program]
    for copied, source in ((root / "opt/python/lib" / standard.name, standard), (root / "opt/packages", site)):
        linked += [source / path.relative_to(copied) for path in copied.rglob("*.so*") if path.is_file()]
    listing = subprocess.run(["ldd", *map(str, linked)], capture_output=True, text=True, check=False).stdout
    for path in {pathlib.Path(found) for found in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", listing, re.MULTILINE)}:
        if path.is_relative_to(site):
            continue  # It is in the tree.
        loader = path.name.startswith("ld-linux")
        target = root / ("lib64" if loader else "lib/x86_64-linux-gnu") / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path.resolve(), target)


if __name__ == "__main__":
    main()
