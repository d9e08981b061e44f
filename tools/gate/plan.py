"""Plan of a gate: which parts run, what each waits for, and which of the nightly parts join them."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import subprocess
from collections.abc import Callable, Collection, Sequence

from . import outcomes, parts

IN_EACH_GATE = ("--exclude-tag=nightly", "--exclude-tag=timing")
TAGGED = {
    "timing": ("--include-tag=timing", "--exclude-tag=nightly"),
    "nightly": ("--include-tag=nightly",),
}
# Modules whose tests start the built operator, agent and command, or read the classes of all modules.
NEED_ALL = ("local", "cli", "e2e")
SOURCE_ROOT = len(("module", "src", "test", "java"))  # Folders above the package of a test.
SUITE_WEIGHT = 2  # It asserts times; the other parts assert none while it runs.
# What this machine's scheduler gives all pods of the suite, in shares of one part.
POD_WEIGHT = "2"


@dataclasses.dataclass(frozen=True)
class Planned:
    """Planned part: made when what it waits for has ended well, since the build writes what it is made of."""

    name: str
    make: Callable[[], parts.Part]
    after: tuple[str, ...] = ()
    in_lane: bool = True
    # Where `after` says more than is needed: the part begins as soon as this holds, while those parts still run.
    ready: Callable[[], bool] | None = None


@dataclasses.dataclass(frozen=True)
class Nightly:
    """Nightly part: what is too long for each gate, and the paths whose changes ask for it at once.

    Without a plan of its own it is a scenario, which runs in the cluster of the suite.
    """

    name: str
    paths: tuple[str, ...]
    planned: Planned | None = None


@dataclasses.dataclass(frozen=True)
class Machine:
    """Machine and tree in which a gate runs."""

    root: pathlib.Path
    reports: pathlib.Path
    python: pathlib.Path | None

    def _complete(self, module: str) -> pathlib.Path:
        """Returns the file that the build writes when a module is complete, before those that need the module."""
        return self.root / module / "target" / "test-fork.args"

    def build(self) -> Planned:
        """Plans the one strict build, on which all tests run."""
        for module in parts.MODULES:
            self._complete(module).unlink(missing_ok=True)
        return self._command("build", [str(self.root / "kastor"), "test", "--build"])

    def rehearsal(self) -> Planned:
        """Plans the caches of classes that local agents start from."""
        return self._command("class caches", [str(self.root / "kastor"), "link"], ("build",))

    def bill(self) -> Planned:
        """Plans the bill of libraries, which fails for a licence that we do not accept."""
        return self._command("bill", [str(self.root / "kastor"), "sbom"], ("build",))

    def kubernetes(self) -> Planned:
        """Plans what the suite needs and a machine makes once: Kubernetes from its sources, parts of nodes."""
        command = [str(self.root / "e2e" / "run"), "--prepare"]
        return self._command("kubernetes", command, in_lane=False)

    def modules(self, names: Sequence[str]) -> list[Planned]:
        """Plans the Java tests of modules that are in each gate, a JVM each."""
        return [self._module(name, IN_EACH_GATE) for name in parts.MODULES if name in names]

    def tagged(self, module: str, tag: str, files: Sequence[pathlib.Path]) -> Planned:
        """Plans the Java tests of a module that have a tag, which are in these files."""
        classes = [".".join(file.with_suffix("").parts[SOURCE_ROOT:]) for file in files]
        return self._module(module, TAGGED[tag], f":{tag}", classes)

    def python_alone(self) -> Planned:
        """Plans checks of our Python and its tests that start no process, which need no build."""
        return Planned("python", lambda: self._python("python", self.reports / "python", ["--alone"]))

    def python_processes(self, name: str, option: str) -> Planned:
        """Plans tests of the Python client that train on the Kastor of this build."""
        where = self.reports / name.replace(":", "-")
        return Planned(name, lambda: self._python(name, where, [option]), ("class caches",))

    def suite(self, also: Sequence[str]) -> Planned:
        """Plans the suite on a real Kubernetes: what is in each gate, and these scenarios whole."""
        make = functools.partial(self._suite, "suite", self.reports / "suite", (), also)
        return Planned("suite", make, ("build", "kubernetes"), in_lane=False)

    def _module(self, module: str, tags: Sequence[str], suffix: str = "", classes: Sequence[str] = ()) -> Planned:
        def make() -> parts.Part:
            return parts.of_module(self.root, self.reports, module, tags, suffix, classes)

        if module in NEED_ALL:
            return Planned(module + suffix, make, ("class caches",))
        return Planned(module + suffix, make, ("build",), ready=self._complete(module).exists)

    def _command(self, name: str, command: Sequence[str], after: tuple[str, ...] = (), in_lane: bool = True) -> Planned:
        where = self.reports / name.replace(" ", "-")
        # Only the build may write to what tests run on.
        environment = {} if name == "build" else {"KASTOR_AS_BUILT": "true"}
        part = parts.Part(name, command, self.root, where, list, environment=environment, understood=frozenset({0}))
        return Planned(name, lambda: part, after, in_lane)

    def _python(self, name: str, where: pathlib.Path, options: Sequence[str]) -> parts.Part:
        command = [str(self.root / "tools" / "test-python"), str(self.python), "--report", str(where), *options]

        def read() -> list[outcomes.Outcome]:
            tests = outcomes.of_junit(name, where)
            failed = any(outcome.status is outcomes.Status.FAILED for outcome in tests)
            # Failed tests are named by themselves.
            return tests + [
                check
                for check in outcomes.of_checks(name, where / "checks.tsv")
                if not (failed and check.group == "tests")
            ]

        def again(files: Sequence[str], where: pathlib.Path) -> parts.Part:
            return self._python(f"{name}:again", where, ["--retry", *files])

        return parts.Part(name, command, self.root, where, read, again, environment={"KASTOR_AS_BUILT": "true"})

    def _suite(self, name: str, where: pathlib.Path, options: Sequence[str], also: Sequence[str]) -> parts.Part:
        logs = where / "logs"
        options = [*options, "--also", ",".join(also)] if also else options
        command = [str(self.root / "kastor"), "e2e", "--seed", "1", "--logs", str(logs), *options]

        def again(scenarios: Sequence[str], where: pathlib.Path) -> parts.Part:
            only = ["--gate", "--only", f"({'|'.join(scenarios)})"]
            return self._suite(f"{name}:again", where, only, [each for each in also if each in scenarios])

        return parts.Part(
            name=name,
            command=command,
            folder=self.root,
            reports=where,
            read=lambda: outcomes.of_suite(name.removesuffix(":again"), logs / "results.tsv") + violations(name, logs),
            again=again,
            environment={"KASTOR_E2E_WEIGHT": POD_WEIGHT, "KASTOR_AS_BUILT": "true"},
            weight=SUITE_WEIGHT,
            beside=lambda: pod_seconds(logs),
            understood=frozenset({0, 1, 3}),
        )


def violations(part: str, folder: pathlib.Path) -> list[outcomes.Outcome]:
    """Returns what the suite's watcher saw that must never be, as failures that are never retried."""
    file = folder / "violations"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [
        outcomes.Outcome(part, "watcher", line, outcomes.Status.FAILED, never_retried=True) for line in lines if line
    ]


def pod_seconds(folder: pathlib.Path) -> float:
    """Returns the processor time of all pods of the suite, which have a control group of their own; 0 if unknown."""
    file = folder / "pods.seconds"
    text = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return float(text or 0)


def with_tag(root: pathlib.Path, tag: str) -> dict[str, list[pathlib.Path]]:
    """Returns the files of Java tests with a tag, below the root, by their module; those without any are left out."""
    mark = f'@Tag("{tag}")'
    found = {
        module: [
            file.relative_to(root)
            for file in sorted((root / module / "src" / "test").rglob("*.java"))
            if mark in file.read_text(encoding="utf-8")
        ]
        for module in parts.MODULES
    }
    return {module: files for module, files in found.items() if files}


def nightly(machine: Machine) -> list[Nightly]:
    """Returns all nightly parts, in the order in which they take turns."""
    found = []
    for module, files in with_tag(machine.root, "nightly").items():
        planned = machine.tagged(module, "nightly", files)
        # A test lies in the package of what it tests.
        packages = {f"{file.parent}".replace("/src/test/", "/src/main/", 1) for file in files}
        found.append(Nightly(planned.name, tuple(sorted(packages)), planned))
    python = machine.python_processes("python:nightly", "--nightly")
    found.append(Nightly(python.name, ("python/src/", "examples/pytorch/"), python))
    found += [Nightly(f"{SCENARIO}{name}", paths) for name, paths in SCENARIOS.items()]
    return found


SCENARIO = "suite:"
# Scenarios of which not all steps are in each gate, and the main code whose change asks for all of them.
SCENARIOS = {
    "Attack": ("operator/src/main/java/dev/kastor/operator/http/", "e2e/src/main/java/dev/kastor/e2e/attack/"),
    "Servers": ("training-agent/src/main/java/dev/kastor/agent/servers/",),
    "Restart": ("operator/src/main/java/dev/kastor/operator/gang/",),
    "PyTorch": ("python/src/",),
    "Documents": ("docs/tutorial.md", "docs/install.md"),
    "Cli": ("cli/src/main/",),
    "Paced": ("traces/profiles/paced.csv",),
    "Refusal": ("operator/src/main/java/dev/kastor/operator/nodes/",),
}


def chosen(found: Sequence[Nightly], changed: Sequence[str], turn: int, left: Collection[str] = ()) -> list[Nightly]:
    """Returns the nightly parts of one gate: those that the last one left, the one whose turn it is and those whose
    packages changed.
    """
    return [
        part
        for number, part in enumerate(found)
        if part.name in left or number == turn % len(found) or any(_in(part.paths, file) for file in changed)
    ]


def _in(paths: Sequence[str], file: str) -> bool:
    """Returns if a file is one of the paths, lies in one that is a package, or below one that ends with `/`."""
    folder = file.rpartition("/")[0]
    return any(file == path or folder == path or (path.endswith("/") and file.startswith(path)) for path in paths)


def only(planned: Sequence[Planned], names: Sequence[str]) -> list[Planned]:
    """Returns the parts of these names, and those that they wait for.

    Throws:
        SystemExit: if there is no part of a name.
    """
    by_name = {part.name: part for part in planned}
    wanted: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in by_name:
            raise SystemExit(f"kastor: there is no part {name}. There are: {', '.join(sorted(by_name))}.")
        if name not in wanted:
            wanted.add(name)
            todo += by_name[name].after
    return [part for part in planned if part.name in wanted]


def turn(root: pathlib.Path) -> int:
    """Returns a number that grows by one with each commit."""
    counted = ["git", "-C", str(root), "rev-list", "--count", "HEAD"]
    return int(subprocess.run(counted, capture_output=True, text=True, check=True).stdout)
