#!/usr/bin/env python3
"""Installer of PyTorch for a CPU, with pytest, mypy, ruff and hatchling, in a virtual environment in the user's cache.

Prints the path of the environment's Python, and to standard error what it does meanwhile. A second call finds the
environment. Versions and hashes are pinned in tools/requirements. An environment is only renamed into place when it is
complete and has been tried, so that nothing half made is ever used.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

TOOLS = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = TOOLS / "requirements"
STAND_INS = TOOLS / "cuda_stand_ins.py"
# The Python versions for which the pinned PyTorch has wheels.
OLDEST, NEWEST = (3, 11), (3, 14)
NEEDED_BYTES = 3_000_000_000
DESCRIPTION = "Installs PyTorch for a CPU, and the tools of our Python tests, outside this folder; prints its python."
EPILOG = """It downloads 600 MB and takes 1.6 GB in ~/.cache/kastor/pytorch, 0.2 GB more with frameworks. Needs Linux on
x86-64, Python 3.11 to 3.14 with venv, and a C compiler: PyTorch's wheel asks for CUDA libraries that a CPU never calls,
and gets stand-ins for them.
Environment: KASTOR_PYTHON (the Python to use, default: a suitable one on PATH), KASTOR_PYTORCH_CACHE (the folder)."""


class InstallationError(Exception):
    """Reason why there is no environment, and the remedy, in one line."""


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        prog="./kastor pytorch",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--frameworks", action="store_true", help="with Lightning and Transformers")
    parser.add_argument("--remove", action="store_true", help="remove all that earlier calls installed")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        cache = cache_folder()
        if options.remove:
            remove(cache)
        else:
            print(environment(cache, frameworks=options.frameworks))
    except InstallationError as error:
        sys.exit(f"kastor: {error}")
    except OSError as error:
        sys.exit(f"kastor: the folder of PyTorch cannot be written: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def cache_folder() -> pathlib.Path:
    """Returns the folder of all environments."""
    chosen = os.environ.get("KASTOR_PYTORCH_CACHE")
    if chosen:
        return pathlib.Path(chosen).absolute()
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(caches, "kastor", "pytorch")


def environment(cache: pathlib.Path, *, frameworks: bool) -> pathlib.Path:
    """Returns the Python of an environment, which is installed if need be."""
    base, version = base_python()
    sources = [REQUIREMENTS / "pytorch.txt", STAND_INS]
    if frameworks:
        sources.append(REQUIREMENTS / "frameworks.txt")
    fingerprint = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    home = cache / f"python{version}{'-frameworks' if frameworks else ''}-{fingerprint}"
    python = home / "bin" / "python"
    if is_program(python):
        return python
    smaller = environment(cache, frameworks=False).parent.parent if frameworks else None
    with locked(cache):
        if not is_program(python):
            partial = home.with_name(home.name + ".partial")
            log = home.with_name(home.name + ".log")
            remove_tree(partial)
            try:
                if smaller:
                    add_frameworks(smaller, partial, log)
                else:
                    install(base, partial, log)
                remove_tree(home)  # One whose Python has been uninstalled since.
                partial.rename(home)
            finally:
                remove_tree(partial)
            log.unlink()
    return python


def base_python() -> tuple[str, str]:
    """Returns a Python that can make the environment, and its version such as `3.11`."""
    chosen = os.environ.get("KASTOR_PYTHON")
    names = [f"python3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    reasons = []
    for name in [chosen] if chosen else [sys.executable, *names]:
        path = shutil.which(name)
        if path is None:
            reasons.append(f"there is no {name}")
            continue
        probe = "import sys; print(*sys.version_info[:2]); import ensurepip, venv"
        answer = subprocess.run([path, "-I", "-c", probe], capture_output=True, text=True, check=False)
        version = tuple(int(part) for part in answer.stdout.split())
        if not version:
            reasons.append(f"{name} does not run")
        elif not OLDEST <= version <= NEWEST:
            reasons.append(f"{name} is {version[0]}.{version[1]}")
        elif answer.returncode != 0:
            reasons.append(f"{name} has no venv (Debian has it in the package python3-venv)")
        else:
            return path, f"{version[0]}.{version[1]}"
    reason = next((reason for reason in reasons if "venv" in reason), reasons[0])
    raise InstallationError(
        f"PyTorch needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}, and {reason}. Set KASTOR_PYTHON to one."
    )


def install(base: str, home: pathlib.Path, log: pathlib.Path) -> None:
    """Makes the environment in an empty place."""
    check_machine(home.parent)
    step("making a virtual environment", log, base, "-I", "-m", "venv", str(home))
    python = str(home / "bin" / "python")
    pip_install(python, "pytorch.txt", "downloading PyTorch (600 MB with the tools of tests)", log)
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-I", "-c", find], capture_output=True, text=True, check=True).stdout.strip()
    step("making stand-ins for CUDA libraries", log, python, "-I", str(STAND_INS), packages)
    attempt = "import torch, torch.distributed as d; torch.ones(2, 2) @ torch.ones(2, 2); d.ProcessGroupGloo"
    step("trying PyTorch", log, python, "-I", "-c", attempt)
    remove_scripts(home)


def add_frameworks(smaller: pathlib.Path, home: pathlib.Path, log: pathlib.Path) -> None:
    """Makes the environment from one without frameworks, whose files it shares."""
    shutil.copytree(smaller, home, symlinks=True, copy_function=os.link)
    python = str(home / "bin" / "python")
    pip_install(python, "frameworks.txt", "downloading Lightning and Transformers", log)
    step("trying them", log, python, "-I", "-c", "import lightning, transformers; transformers.Trainer")
    remove_scripts(home)


def check_machine(cache: pathlib.Path) -> None:
    """Looks for what would otherwise be found missing after the download."""
    system, machine = os.uname().sysname, os.uname().machine
    if (system, machine) != ("Linux", "x86_64"):
        raise InstallationError(f"PyTorch is installed on Linux on x86-64 alone, and this is {system} on {machine}.")
    for tool in ("cc", "nm", "readelf"):
        if not shutil.which(tool):
            raise InstallationError(f"there is no {tool} on PATH. Install it, for example with: apt-get install gcc")
    free = shutil.disk_usage(cache).free
    if free < NEEDED_BYTES:
        gigabytes = f"{free / 1e9:.1f} GB are free in {cache}, and PyTorch needs {NEEDED_BYTES / 1e9:.0f} GB"
        raise InstallationError(f"{gigabytes}. Make room, or set KASTOR_PYTORCH_CACHE to another folder.")


def pip_install(python: str, requirements: str, what: str, log: pathlib.Path) -> None:
    """Installs exactly the pinned wheels; nothing of a package runs meanwhile."""
    pip = [python, "-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    exact = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--retries", "2"]
    step(what, log, *pip, *exact, "--requirement", str(REQUIREMENTS / requirements))


def step(what: str, log: pathlib.Path, *command: str) -> None:
    """Runs a command, whose output goes to the log, and tells on a terminal how long it has been running."""
    print(f"kastor: {what}", file=sys.stderr, flush=True)
    terminal = sys.stderr.isatty()
    begun = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            close_fds=False,  # It keeps the lock.
        )
    try:
        while process.poll() is None:
            if terminal:
                print(f"\r\033[K  {time.monotonic() - begun:.0f} s", end="", file=sys.stderr, flush=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
    finally:
        if terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        if process.poll() is None:
            process.terminate()
            process.wait()
    if process.returncode != 0:
        raise InstallationError(f"{what} failed: {reason_in(log)}")


def reason_in(log: pathlib.Path) -> str:
    """Returns one line that says why the command failed that wrote this log."""
    text = log.read_text(errors="replace")
    if "connection broken by" in text or "Connection" in text:
        return f"the package registry does not answer; is there a network? The log is {log}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["it said nothing"]
    return f"{errors[-1]} (log: {log})"


def remove_scripts(home: pathlib.Path) -> None:
    """Removes scripts that name the folder of their installation: it is renamed, and `python -m` does as well."""
    for script in (home / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and script.read_bytes()[:4] != b"\x7fELF":
            script.unlink()


@contextlib.contextmanager
def locked(cache: pathlib.Path) -> Iterator[None]:
    """Keeps other installations away, for as long as a command of this one runs, even one that outlives it."""
    cache.mkdir(parents=True, exist_ok=True)
    with cache.with_name(cache.name + ".lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("kastor: waiting for another installation of PyTorch", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove(cache: pathlib.Path) -> None:
    """Removes all environments, complete or not, and their logs; nothing else that may be in the folder."""
    with locked(cache):
        for entry in cache.glob("python3.*-*"):
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
            print(f"kastor: removed {entry}", file=sys.stderr)


def remove_tree(folder: pathlib.Path) -> None:
    """Removes a folder that need not be there."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def is_program(path: pathlib.Path) -> bool:
    """Returns if it can be run: a link to a Python that has been uninstalled cannot."""
    return os.access(path, os.X_OK)


if __name__ == "__main__":
    main()
