"""Passes that last as long as on an accelerator of a given pace, on a machine that has none."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger("kastor")

_WINDOW_SECONDS = 10.0
_MOST_LATE = 1.05
_RESERVE = 1.25
_NEWEST = 0.2


@dataclass(frozen=True)
class Pace:
    """Pace of an accelerator: seconds of a pass without examples, and what each example adds."""

    pass_seconds: float
    example_seconds: float

    @staticmethod
    def parse(text: str) -> Pace:
        """Pace from both numbers of seconds, with a space between them.

        Raises:
            ValueError: if they are not that.
        """
        try:
            a, b = map(float, text.split())
        except ValueError:
            a = b = math.nan
        if not (a >= 0 and b >= 0 and a + b < 3600):
            raise ValueError(
                "it must be two numbers of seconds from 0 on, of a pass and of each example, that are below an hour"
                " together, such as 0.008 0.0026"
            )
        return Pace(a, b)

    def seconds(self, examples: int) -> float:
        """Seconds of a pass."""
        return self.pass_seconds + self.example_seconds * examples


@dataclass(frozen=True)
class Machine:
    """Clocks of the machine that a pacer sleeps on, in seconds; ``computed`` is what this process has computed for."""

    now: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep
    computed: Callable[[], float] = time.process_time
    cores: int = os.cpu_count() or 1


class Pacer:
    """Pacer of passes: each lasts as long as on an accelerator of its pace, and what is left of that is slept.

    Most of it is slept before the computation, so that the gradient is there at the end of the pass, as on an
    accelerator. Where passes take longer than the pace, this machine is too slow or too busy for it: that is logged,
    with the number of such slots that the machine paces. One thread uses it.
    """

    def __init__(self, pace: Pace, machine: Machine | None = None) -> None:
        self._pace, self._machine = pace, machine or Machine()
        self._share: float | None = None
        self._began = self._computed_from = self._planned = 0.0
        self._in_pass = False
        self._quiet = self._to_skip = 0
        self._begin_window()

    def begin(self, examples: int) -> None:
        """Begins a pass over so many examples, and sleeps until it is time to compute."""
        self._began, self._in_pass = self._machine.now(), True
        self._planned = self._pace.seconds(examples)
        share = 1.0 if self._share is None else self._share
        self._sleep_until(self._began + self._planned * max(0.0, 1 - _RESERVE * share))
        self._computed_from = self._machine.now()

    def end(self) -> None:
        """Ends the pass when it is time; a pass that has ended already does not end again."""
        if not self._in_pass:
            return
        self._in_pass = False
        took = (self._machine.now() - self._computed_from) / max(1e-9, self._planned)
        self._share = took if self._share is None else self._share + _NEWEST * (took - self._share)
        self._sleep_until(self._began + self._planned)
        self._window_planned += self._planned
        self._window_took += self._machine.now() - self._began
        if self._window_planned >= _WINDOW_SECONDS:
            self._look()
            self._begin_window()

    def _sleep_until(self, end: float) -> None:
        left = end - self._machine.now()
        if left > 0:
            self._machine.sleep(left)

    def _begin_window(self) -> None:
        self._since, self._computed_before = self._machine.now(), self._machine.computed()
        self._window_planned = self._window_took = 0.0

    def _look(self) -> None:
        """Says where passes take longer than they should: of the first window, then of ever fewer."""
        late = self._window_took / self._window_planned
        if late <= _MOST_LATE:
            return
        if self._to_skip:
            self._to_skip -= 1
            return
        self._quiet = self._to_skip = 2 * self._quiet + 1
        busy = (self._machine.computed() - self._computed_before) / max(1e-9, self._machine.now() - self._since)
        log.warning(
            "passes take %.2f times their pace: this machine is too slow or too busy for it. This replica needs %.2f of"
            " a core, so that the %d here pace %d such slots",
            late,
            busy,
            self._machine.cores,
            int(self._machine.cores / busy) if busy > 0 else 0,
        )
