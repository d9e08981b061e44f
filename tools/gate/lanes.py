"""Lanes in which planned parts run beside each other, each part as soon as what it waits for has ended well."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from . import outcomes, parts
from .plan import Planned

POLL_SECONDS = 0.2
# After so long without a line, one says what still runs.
QUIET_SECONDS = 60.0


def run(
    planned: Sequence[Planned],
    lanes: int,
    begun: float,
    say: Callable[[str], None],
    leave: Callable[[Planned], bool] = lambda part: False,
) -> list[parts.Result]:
    """Runs all parts and returns their results in the order in which they ended.

    A part that waits for one that failed does not run. What ends this function early, an interruption too, ends what
    runs.

    Args:
        planned: parts; those in lanes begin in this order.
        lanes: how many of those in lanes run at once; the others do not count.
        begun: when the gate began, by the monotonic clock, in seconds.
        say: takes a line of progress.
        leave: asked before a part begins; if true, the part does not run.
    """
    waiting = list(planned)
    running: list[tuple[Planned, parts.Running]] = []
    results: list[parts.Result] = []
    good: set[str] = set()
    bad: set[str] = set()
    last_line = time.monotonic()

    def report(text: str) -> None:
        nonlocal last_line
        last_line = time.monotonic()
        say(text)

    try:
        while waiting or running:
            for each in list(waiting):
                busy = sum(other.in_lane for other, _ in running)
                if bad.intersection(each.after):
                    waiting.remove(each)
                    bad.add(each.name)
                    report(f"{each.name}: not run, since {' and '.join(sorted(bad.intersection(each.after)))} failed")
                elif (good.issuperset(each.after) or (each.ready and each.ready())) and not (
                    each.in_lane and busy >= lanes
                ):
                    waiting.remove(each)
                    if leave(each):
                        continue
                    running.append((each, parts.Running(each.make(), begun)))
                    report(f"{each.name}: begins")
            if waiting and not running:
                raise ValueError(f"these parts wait for others that are not planned: {[each.name for each in waiting]}")
            for entry in list(running):
                each, process = entry
                result = process.poll()
                if result is not None:
                    running.remove(entry)
                    results.append(result)
                    # Tests that fail are no reason to leave others out. What has no tests is what others are made of.
                    ready = result.returncode == 0 or any(outcome.test for outcome in result.outcomes)
                    (good if ready else bad).add(each.name)
                    report(line(result))
            if running and time.monotonic() - last_line > QUIET_SECONDS:
                report(f"still running: {', '.join(each.name for each, _ in running)}")
            time.sleep(POLL_SECONDS)
    finally:
        for _, process in running:
            process.end()
            process.poll()
    return results


def line(result: parts.Result) -> str:
    """Returns one line about a part that has ended."""
    counted = dict.fromkeys(outcomes.Status, 0)
    for outcome in result.outcomes:
        counted[outcome.status] += 1
    counts = ", ".join(f"{number} {status.value}" for status, number in counted.items() if number)
    minutes = result.minutes[1] - result.minutes[0]
    return f"{result.part.name}: {counts or 'done'} in {minutes:.1f} min, {result.cpu_seconds:.0f} core-seconds"
