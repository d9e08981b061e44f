"""Command line of the gate, behind `./kastor test`."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import functools
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

from . import groups, lanes, modules, parts, plan, verdict
from .outcomes import Outcome, Status

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPS = pathlib.Path(__file__).with_name("skips.txt")
# More groups than this that fail are no weather, but a fault of the change: none of them runs again.
MOST_SECOND_TRIES = 6
# A nightly part that would begin later is left to the next gate: the longest takes 12 minutes beside others, and a gate
# of a delivery has 90.
LATEST_NIGHTLY_MINUTES = 55.0
# Commits whose whole gate passed on this machine, and nightly parts that each left to the next gate.
PASSED = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "kastor", "gate", "passed")


def main() -> int:
    """Runs a gate; returns 0 if it passed and 1 if not."""
    options = _options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    os.environ["KASTOR_GATE"] = "true"
    if options.complete or options.all:
        os.environ |= {f"KASTOR_REQUIRE_{what}": "true" for what in ("TRACES", "PYTORCH", "ONEDNN", "GCC")}
    reports = ROOT / "target" / "gate"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    try:
        # What is killed leaves its temporary files, and what a test kills cannot help it.
        with _only_one(), tempfile.TemporaryDirectory(prefix="kastor-gate-", ignore_cleanup_errors=True) as temporary:
            os.environ["TMPDIR"] = temporary
            return Gate(options, reports).run()
    except KeyboardInterrupt:
        return 130


class Gate:
    """Gate with its options: plans the parts, runs them and judges."""

    def __init__(self, options: argparse.Namespace, reports: pathlib.Path) -> None:
        self._options = options
        self._reports = reports
        self._begun = time.monotonic()
        self._machine = plan.Machine(ROOT, reports, options.python)
        self._suite = options.complete or options.all
        self._nightly: set[str] = set()
        self._left: list[str] = []

    def run(self) -> int:
        """Runs all parts, then timing tests alone, then what failed once more; returns the exit status."""
        self._say(groups.trial())
        results = lanes.run(self._beside_each_other(), os.cpu_count() or 1, self._begun, self._say, self._leave)
        if all(result.returncode == 0 for result in results if result.part.name == "build"):
            results += lanes.run(self._alone(), 1, self._begun, self._say)
        joined, notes = self._once_more(results)
        judged = verdict.over(joined, verdict.leaves(SKIPS))
        self._report(results, judged, notes)
        if judged.green and self._suite and self._options.parts is None:
            modules.note_passed(ROOT, PASSED, self._left)
        return 0 if judged.green else 1

    def _beside_each_other(self) -> list[plan.Planned]:
        machine, options = self._machine, self._options
        planned = [machine.build()]
        # It keeps the second processor busy while modules are built that need each other.
        if options.python and not options.changed:
            planned.append(machine.python_alone())
        planned.append(machine.rehearsal())
        left = [] if options.changed else modules.left(ROOT, PASSED)
        found = self._chosen_nightly(left)
        # What was left before begins soon enough not to be left again.
        planned += [part.planned for part in found if part.planned and part.name in left]
        java: Sequence[str] = parts.MODULES
        if options.changed:
            files = self._changes()
            java = sorted(modules.affected(ROOT, files))
            self._say(f"changed files: {len(files)}; modules: {', '.join(java) or 'none'}")
        if options.changed and any(file.startswith(("python/", "tools/", "examples/pytorch/")) for file in files):
            self._say("Python changed: ./kastor test --python")
        if options.python and not options.changed:
            # It takes the longest, and waits most of the time: begun last, it would leave processors idle at the end.
            planned.append(machine.python_processes("python:processes", "--processes"))
        planned += machine.modules(java)
        if not options.changed:
            planned.append(machine.bill())
        planned += [part.planned for part in found if part.planned and part.name not in left]
        self._nightly = {part.name for part in found}
        if self._suite:
            also = [part.name.removeprefix(plan.SCENARIO) for part in found if not part.planned]
            planned += [machine.kubernetes(), machine.suite(also)]
        if options.parts is None:
            return planned
        timing = [name for name in options.parts if name in self._timing()]
        # They run later, on what the build made.
        return plan.only(
            planned, [*(name for name in options.parts if name not in timing), *(["build"] if timing else [])]
        )

    def _chosen_nightly(self, left: Sequence[str]) -> list[plan.Nightly]:
        """Returns the nightly parts of this gate; ``left`` are those that the last one left."""
        options = self._options
        found = [] if options.changed else plan.nightly(self._machine)
        if not self._suite:
            found = [part for part in found if part.planned]
        if not options.python:
            found = [part for part in found if not part.name.startswith("python:")]
        if not options.all and found:
            found = plan.chosen(found, self._changes(), plan.turn(ROOT), left)
        if found:
            self._say(f"nightly parts of this gate: {', '.join(part.name for part in found)}")
        return found

    def _leave(self, part: plan.Planned) -> bool:
        """Returns if a part is nightly and would begin too late, unless all of them are asked for."""
        late = time.monotonic() - self._begun > LATEST_NIGHTLY_MINUTES * 60
        if part.name not in self._nightly or not late or self._options.all or self._options.parts:
            return False
        self._say(f"{part.name}: left to the next gate, since {LATEST_NIGHTLY_MINUTES:.0f} minutes are over")
        self._left.append(part.name)
        return True

    def _timing(self) -> list[str]:
        """Returns the names of the parts that run at last, alone."""
        return [*(f"{name}:timing" for name in plan.with_tag(ROOT, "timing")), "python:timing"]

    def _alone(self) -> list[plan.Planned]:
        found = plan.with_tag(ROOT, "timing")
        if self._options.changed:
            affected = modules.affected(ROOT, self._changes())
            found = {name: files for name, files in found.items() if name in affected}
        planned = [self._machine.tagged(name, "timing", files) for name, files in found.items()]
        if self._options.python and not self._options.changed:
            planned.append(self._machine.python_processes("python:timing", "--timing"))
        wanted = self._options.parts
        return [plan.Planned(each.name, each.make) for each in planned if wanted is None or each.name in wanted]

    def _changes(self) -> list[str]:
        base = modules.base(ROOT, PASSED)
        if self._options.changed:
            return modules.changed_files(ROOT, base or modules.hours_ago(ROOT))
        # Where no gate has passed yet, nothing says what changed since, and nightly parts come by turns alone.
        return modules.changed_files(ROOT, base) if base else []

    def _once_more(self, results: Sequence[parts.Result]) -> tuple[list[Outcome], list[str]]:
        """Runs failed groups once more, alone; returns all outcomes and a line for each test that passed then."""
        joined: list[Outcome] = []
        notes: list[str] = []
        failed = {
            (result.part.name, outcome.group)
            for result in results
            for outcome in result.outcomes
            if outcome.status is Status.FAILED and not outcome.never_retried
        }
        for result in results:
            again = sorted({group for part, group in failed if part == result.part.name})
            retry = result.part.again
            if not again or retry is None or len(failed) > MOST_SECOND_TRIES or "" in again:
                joined += result.outcomes
                continue
            name = f"{result.part.name}:again"
            self._say(f"once more, with nothing beside it: {', '.join(again)}")
            reports = self._reports / name.replace(":", "-")
            alone = plan.Planned(name, functools.partial(retry, again, reports))
            second = lanes.run([alone], 1, self._begun, self._say)[0]
            outcomes, rescued = verdict.second(result.outcomes, second.outcomes)
            joined += outcomes
            for outcome in rescued:
                places = f"{result.part.reports.relative_to(ROOT)} and {reports.relative_to(ROOT)}"
                notes.append(f"passed at the second try: {outcome.name} (first: {outcome.reason}; reports: {places})")
        return joined, notes

    def _report(self, results: Sequence[parts.Result], judged: verdict.Verdict, notes: Sequence[str]) -> None:
        minutes = (time.monotonic() - self._begun) / 60
        print(f"\n{'part':<24}{'from':>7}{'to':>7}{'core-seconds':>14}")
        for result in sorted(results, key=lambda result: result.minutes):
            print(
                f"{result.part.name:<24}{result.minutes[0]:>7.1f}{result.minutes[1]:>7.1f}{result.cpu_seconds:>14.0f}"
            )
        print(f"{'all':<24}{0.0:>7.1f}{minutes:>7.1f}{sum(result.cpu_seconds for result in results):>14.0f}\n")
        for outcome in judged.failed:
            print(verdict.detail(outcome) + "\n")
        for result in results:
            if any(not outcome.group for outcome in result.outcomes):
                print(f"the end of {result.part.log.relative_to(ROOT)}:\n{_end_of(result.part.log)}\n")
        for note in notes:
            print(f"kastor: {note}")
        (self._reports / "parts.json").write_text(
            json.dumps(
                [
                    {"part": r.part.name, "minutes": r.minutes, "coreSeconds": r.cpu_seconds, "status": r.returncode}
                    for r in results
                ],
                indent=1,
            )
        )
        if self._left:
            print(f"kastor: left to the next gate, since this one was late: {', '.join(self._left)}")
        # What this machine lacks, and the launcher left out for it.
        for line in [*os.environ.get("KASTOR_LEFT_OUT", "").splitlines(), *judged.closing_lines()]:
            print(line, flush=True)

    def _say(self, line: str) -> None:
        seconds = int(time.monotonic() - self._begun)
        print(f"{seconds // 60:3d}:{seconds % 60:02d}  {line}", flush=True)


def _end_of(log: pathlib.Path, lines: int = 60) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    """Keeps a second gate away from the reports and the build of this one."""
    with (ROOT / "target" / ".gate-lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("kastor: another gate of this checkout is running.")
        yield


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./kastor test", allow_abbrev=False)
    parser.add_argument("--complete", action="store_true", help="what .ci/run runs: nothing may be missing or left out")
    parser.add_argument("--all", action="store_true", help="that, and all nightly parts")
    parser.add_argument("--changed", action="store_true", help="only modules that changed files can break")
    parser.add_argument(
        "--parts",
        type=lambda text: text.split(","),
        help="only these parts, by the names that the gate prints, and what they need",
    )
    parser.add_argument("--python", type=pathlib.Path, help="interpreter for the Python client; without it, none runs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
