#!/usr/bin/env python3
"""Stand-ins for CUDA libraries, with which PyTorch's wheel loads on a machine without any.

Every library that PyTorch's own ones need and that is nowhere to be found becomes one whose functions abort. They lie
beside PyTorch's own, where these look for them, so nothing has to be set.

Usage: cuda_stand_ins.py SITE_PACKAGES
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile


def main() -> None:
    """Makes what is missing in the folder of installed packages that the command line names."""
    packages = pathlib.Path(sys.argv[1])
    torch = packages / "torch" / "lib"
    own = [path for path in torch.iterdir() if ".so" in path.name]
    present = system_libraries()
    present |= {path.name: path for path in packages.glob("nvidia/**/*.so*")}
    present |= {path.name: path for path in own}
    wanted = set().union(*(needed(library) for library in own))
    absent = sorted(wanted - present.keys())
    undefined = set().union(*(symbols(library, defined=False) for library in own))
    for library in {present[name] for name in wanted & present.keys()} | set(own):
        undefined -= symbols(library, defined=True)
    make(torch, absent, sorted(undefined))
    print(f"{len(absent)} libraries, {len(undefined)} functions: {' '.join(absent)}")


def make(folder: pathlib.Path, libraries: list[str], functions: list[str]) -> None:
    """Compiles the libraries. All functions are in the first: the loader looks for them in every library."""
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "stand_ins.c"
        code = "".join(f"void {name}(void) {{ abort(); }}\n" for name in functions)
        source.write_text("#include <stdlib.h>\n" + code)
        for library in libraries:
            text = str(source) if library == libraries[0] else "/dev/null"
            compiler = ["cc", "-w", "-shared", "-fPIC", f"-Wl,-soname,{library}", "-o", str(folder / library)]
            subprocess.run([*compiler, "-x", "c", text], check=True)


def output(*command: str) -> str:
    """Returns what a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library: pathlib.Path) -> set[str]:
    """Returns the names of the libraries that a library asks the loader for."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", str(library))))


def symbols(library: pathlib.Path, *, defined: bool) -> set[str]:
    """Returns names without their versions: those that a library defines, or those that it must find elsewhere."""
    names = set()
    for line in output("nm", "-D", str(library)).splitlines():
        *_, kind, name = line.split()
        if (kind != "U") == defined and kind not in "wv":
            names.add(name.split("@")[0])
    return names


def system_libraries() -> dict[str, pathlib.Path]:
    """Returns the libraries that the dynamic loader finds by itself: name to path."""
    lines = output("env", "PATH=/usr/sbin:/sbin:/usr/bin:/bin", "ldconfig", "-p").splitlines()
    found = (re.match(r"\s*(\S+) .*=> (.+)", line) for line in lines)
    return {match[1]: pathlib.Path(match[2]) for match in found if match}


if __name__ == "__main__":
    main()
