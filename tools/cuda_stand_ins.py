#!/usr/bin/env python3
"""Makes empty CUDA libraries so that PyTorch's wheel loads on a machine without any.

Every library that PyTorch's own ones need and that is nowhere to be found becomes one whose functions abort. They
are looked for beside PyTorch's own, so nothing has to be set to find them.

Usage: stubs.py SITE_PACKAGES
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", str(library))))


def symbols(library, kind):
    """Names without their versions: those it defines, or those it must find elsewhere."""
    names = set()
    for line in output("nm", "-D", str(library)).splitlines():
        fields = line.split()
        if (fields[-2] == "U") == (kind == "undefined") and fields[-2] not in "wv":
            names.add(fields[-1].split("@")[0])
    return names


def system_libraries():
    """The libraries that the dynamic loader finds by itself: name to path."""
    lines = output("env", "PATH=/usr/sbin:/sbin:/usr/bin:/bin", "ldconfig", "-p").splitlines()
    found = (re.match(r"\s*(\S+) .*=> (.+)", line) for line in lines)
    return {match[1]: pathlib.Path(match[2]) for match in found if match}


def main():
    packages = pathlib.Path(sys.argv[1])
    torch = packages / "torch" / "lib"
    own = [path for path in torch.iterdir() if ".so" in path.name]
    present = system_libraries()
    present |= {path.name: path for path in packages.glob("nvidia/**/*.so*")}
    present |= {path.name: path for path in own}
    wanted = set().union(*(needed(library) for library in own))
    absent = sorted(wanted - present.keys())
    undefined = set().union(*(symbols(library, "undefined") for library in own))
    for library in {present[name] for name in wanted & present.keys()} | set(own):
        undefined -= symbols(library, "defined")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "stubs.c"
        code = "".join(f"void {name}(void) {{ abort(); }}\n" for name in sorted(undefined))
        source.write_text("#include <stdlib.h>\n" + code)
        for name in absent:
            # All functions are in the first one: the loader looks for them in every library.
            text = source if name == absent[0] else "/dev/null"
            out = str(torch / name)
            subprocess.run(
                ["cc", "-w", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", out, "-x", "c", text],
                check=True,
            )
    print(f"{len(absent)} libraries, {len(undefined)} functions: {' '.join(absent)}")


if __name__ == "__main__":
    main()
