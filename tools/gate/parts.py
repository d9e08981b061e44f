"""Parts of a gate: the processes that run tests, what each is started with, and where each writes its reports."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

from . import groups
from .outcomes import Outcome, ReportError, Status, of_junit

# Modules with Java tests, the longest first: who starts last decides when all end.
MODULES = (
    "operator",
    "cli",
    "simulator",
    "training-agent",
    "engine",
    "local",
    "scheduler-core",
    "traces",
    "crds",
    "plugin-jars",
    "testkit",
    "e2e",
)
# A part that hangs ends, so that the others and the verdict come to their end. No part ends by this on a slow machine.
LIMIT_SECONDS = 80 * 60.0
NOTHING_FOUND = 2  # Exit status of JUnit's console where no test matches.


@dataclasses.dataclass(frozen=True)
class Part:
    """Part of a gate: one process with everything that it starts.

    `again` makes the part that runs failed groups once more, with nothing beside it and without tests that must never
    be retried.
    """

    name: str
    command: Sequence[str]
    folder: pathlib.Path
    reports: pathlib.Path
    read: Callable[[], list[Outcome]]
    again: Callable[[Sequence[str], pathlib.Path], Part] | None = None
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    weight: int = 1
    limit_seconds: float = LIMIT_SECONDS
    # Returns the processor time, in seconds, of what the part has others run for it, outside of its control group.
    beside: Callable[[], float] = float
    # Exit statuses that say nothing but what the reports say as well.
    understood: frozenset[int] = frozenset({0, 1})

    @property
    def log(self) -> pathlib.Path:
        """File of what the part and its children print."""
        return self.reports / "output.log"


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of a part: outcomes of its tests and what it cost."""

    part: Part
    outcomes: list[Outcome]
    minutes: tuple[float, float]
    cpu_seconds: float
    returncode: int

    def failed(self) -> list[Outcome]:
        """Returns what failed; the part itself, where no test of it says why."""
        return [outcome for outcome in self.outcomes if outcome.status is Status.FAILED]


class Running:
    """Running part of a gate, in a control group of its own where this machine lets us make one."""

    def __init__(self, part: Part, begun: float) -> None:
        """Starts the part; `begun` is when the gate began, by the monotonic clock."""
        self.part = part
        self._begun = begun
        self._started = time.monotonic()
        self._group = groups.make(part.name.replace(":", "-"), part.weight)
        part.reports.mkdir(parents=True, exist_ok=True)
        with part.log.open("wb") as log:
            self._process = subprocess.Popen(
                part.command,
                cwd=part.folder,
                env={**os.environ, **part.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=self._prepare,
            )

    def _prepare(self) -> None:
        # Not a session of its own: without control groups nice counts inside a session only.
        os.setpgid(0, 0)
        # A shell starts what it runs in the background with SIGINT ignored, and tests send it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if self._group:
            self._group.enter()
        elif self.part.weight == 1:
            os.nice(10)

    def poll(self) -> Result | None:
        """Returns the result once the part has ended, and ends a part that is over its limit."""
        if time.monotonic() - self._started > self.part.limit_seconds:
            self.end()
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid == 0:
            return None
        self._process.returncode = os.waitstatus_to_exitcode(status)
        cpu_seconds = usage.ru_utime + usage.ru_stime
        if self._group:
            cpu_seconds = max(cpu_seconds, self._group.cpu_seconds())
            self._group.end()
        cpu_seconds += self.part.beside()
        ended = time.monotonic()
        minutes = ((self._started - self._begun) / 60, (ended - self._begun) / 60)
        return Result(self.part, self._outcomes(), minutes, cpu_seconds, self._process.returncode)

    def end(self, patience_seconds: float = 30.0) -> None:
        """Ends the part and everything it started: politely first, since it may have to clean up, then by force."""
        for number, seconds in ((signal.SIGTERM, patience_seconds), (signal.SIGKILL, 5.0)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    return
                time.sleep(0.1)

    def _outcomes(self) -> list[Outcome]:
        code = self._process.returncode
        found: list[Outcome] = []
        problem = ""
        try:
            found = self.part.read()
        except (ReportError, OSError) as error:
            problem = str(error)
        failed = any(outcome.status is Status.FAILED for outcome in found)
        if time.monotonic() - self._started > self.part.limit_seconds:
            problem = f"ended after {self.part.limit_seconds / 60:.0f} minutes, its limit"
        elif code not in self.part.understood or (code != 0 and not failed and not found):
            problem = problem or f"ended with status {code}"
        elif code != 0 and not failed and not any(o.status is Status.CUT for o in found):
            problem = problem or f"ended with status {code}, and no test of it failed"
        if problem:
            reason = f"{problem}; its output is {self.part.log}"
            found.append(Outcome(self.part.name, "", "", Status.FAILED, 0.0, reason))
        return found


def of_module(
    root: pathlib.Path,
    reports: pathlib.Path,
    module: str,
    tags: Sequence[str] = (),
    suffix: str = "",
    classes: Sequence[str] = (),
) -> Part:
    """Makes the part of a module's Java tests: one JVM, on the class path and with the options that the build wrote.

    Args:
        tags: options of JUnit's console about tags.
        suffix: what is added to the module's name for the name of the part.
        classes: the only classes to look for tests in; none for all. Quarkus prepares an application for each profile
            of the classes that JUnit looks at, whether a test of them runs or not.
    """
    folder = root / module
    name = module + suffix

    def command(classes: Sequence[str], where: pathlib.Path, tags: Sequence[str]) -> list[str]:
        selection = [f"--select-class={each}" for each in classes] or [
            f"--scan-classpath={folder / 'target' / 'test-classes'}",
            "--include-classname=.*(Test|IT)",
        ]
        return [
            str(pathlib.Path(os.environ["JAVA_HOME"], "bin", "java")),
            f"@{folder / 'target' / 'test-fork.args'}",
            # A JVM does not look at TMPDIR, and libraries unpack there what a JVM that is killed leaves behind.
            f"-Djava.io.tmpdir={os.environ.get('TMPDIR', tempfile.gettempdir())}",
            "-cp",
            f"{folder / 'target' / 'test-classes'}:{folder / 'target' / 'classes'}:" + class_path(folder),
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            "--disable-banner",
            "--disable-ansi-colors",
            "--details=testfeed",
            "--fail-if-no-tests",
            f"--reports-dir={where}",
            "--config=junit.platform.output.capture.stdout=true",
            "--config=junit.platform.output.capture.stderr=true",
            *selection,
            *tags,
        ]

    def part(name: str, classes: Sequence[str], where: pathlib.Path, tags: Sequence[str], none: bool = False) -> Part:
        return Part(
            name=name,
            command=command(classes, where, tags),
            folder=folder,
            reports=where,
            read=lambda: of_junit(name.removesuffix(":again"), where),
            again=lambda classes, where: part(f"{name}:again", classes, where, ["--exclude-tag=never-retried"], True),
            understood=frozenset({0, 1, NOTHING_FOUND} if none else {0, 1}),
        )

    return part(name, classes, reports / name.replace(":", "-"), tags)


def class_path(folder: pathlib.Path) -> str:
    """Returns the class path of a module's tests, which the build wrote."""
    return (folder / "target" / "test-classpath").read_text(encoding="utf-8").strip()
