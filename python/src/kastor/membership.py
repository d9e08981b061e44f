"""Membership of this replica, kept up to date in the background."""

from __future__ import annotations

import logging
import random
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kastor import __version__
from kastor.config import NEWEST_PROTOCOL
from kastor.operator import OFFLINE, OperatorClient, OperatorError
from kastor.protocol import Action, Doing, Membership, Phase, ProtocolError
from kastor.starting import ReplicaStart

log = logging.getLogger("kastor")

# Short, so that a connection whose other end vanished without a word is found out soon.
_WAIT_SECONDS = 10
_ANSWER_SECONDS = 5.0
_STARTING_PAUSE = 1.0
_NO_NEWS_PAUSE = 0.3
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 3.0


@dataclass(frozen=True)
class Standing:
    """Standing of a replica: its generation, 0 before the first, and its phase."""

    generation: int = 0
    phase: Phase = Phase.STARTING


class MembershipClient:
    """Client that long-polls the operator and keeps the newest membership.

    One thread waits for news. A second one tells the operator at once what changed here: its poll
    ends the one that waits, on a connection of its own, so that no connection is broken off. When
    the operator is away it is asked again with growing, jittered pauses; whoever asks meanwhile gets
    what was known last. Training never waits for the network. Thread-safe.
    """

    def __init__(self, operator: OperatorClient, job: str, pod: str, address: str, software: str = "") -> None:
        self._operator = operator
        self._job, self._pod, self._address = job, pod, address
        self._client = f"kastor-python/{__version__} protocol/{NEWEST_PROTOCOL} {software}".strip()
        self._changed = threading.Condition()
        self._standing = Standing()
        self._newest: Membership | None = None
        self._away = self._closed = False
        self._news = threading.Event()
        self.step = -1
        self.waiting = False
        self.doing = Doing.TRAIN
        self._start: ReplicaStart | None = None
        self.job_gone = False
        self._threads = [
            threading.Thread(target=self._poll, name="kastor-membership", daemon=True),
            threading.Thread(target=self._tell, name="kastor-news", daemon=True),
        ]

    def start(self) -> None:
        """Starts to poll."""
        for thread in self._threads:
            thread.start()

    @property
    def newest(self) -> Membership | None:
        """Newest membership known; None before the first answer."""
        return self._newest

    @property
    def standing(self) -> Standing:
        """Standing that was told last."""
        return self._standing

    def moved(self, generation: int, phase: Phase) -> None:
        """Moves to a generation and phase and tells the operator at once."""
        with self._changed:
            standing = Standing(generation, phase)
            if standing == self._standing:
                return
            self._standing = standing
            self._changed.notify_all()
        self._news.set()

    def started(self, start: ReplicaStart) -> None:
        """Says how the start of this replica ended, at once: the operator measures it by its own clock, too."""
        self._start = start
        self._news.set()

    def ask_now(self) -> None:
        """Asks the operator now instead of waiting for its answer to an earlier question."""
        self._news.set()

    @contextmanager
    def while_doing(self, doing: Doing) -> Iterator[None]:
        """Says for as long as the context lasts that this replica does something other than steps."""
        before, self.doing = self.doing, doing
        self._news.set()
        try:
            yield
        finally:
            self.doing = before
            self._news.set()

    def wait_for(self, wanted: Callable[[Membership], bool], seconds: float) -> Membership | None:
        """Newest membership once ``wanted`` holds for it; None when time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None and wanted(self._newest), seconds)
            newest = self._newest
        return newest if newest is not None and wanted(newest) else None

    def close(self) -> None:
        """Ends the polling; a request under way is left to itself."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._news.set()

    def _query(self, standing: Standing, wait: int) -> str:
        start = self._start
        return "membership?" + urllib.parse.urlencode(
            {
                "pod": self._pod,
                "address": self._address,
                "generation": standing.generation,
                "phase": standing.phase.value,
                "step": self.step,
                "waiting": "true" if self.waiting else "false",
                "wait": wait,
                "doing": self.doing.value,
                "client": self._client,
                **({"start": start.to_text()} if start is not None else {}),
            }
        )

    def _ask(self, standing: Standing, wait: int) -> bool:
        """Asks once; whether the answer is new."""
        try:
            answer = self._operator.get(self._query(standing, wait), wait + _ANSWER_SECONDS)
        except OperatorError as e:
            self.job_gone = e.no_such_job
            raise
        self.job_gone = False
        return self._accept(Membership.from_json(answer.body))

    def _accept(self, answer: Membership) -> bool:
        with self._changed:
            known = self._newest
            if known is not None and (
                answer.generation < known.generation
                or (answer.generation == known.generation and answer.action is Action.WAIT)
            ):
                return False
            self._newest = answer
            self._changed.notify_all()
            return answer != known

    def _tell(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            if self._closed:
                return
            try:
                self._ask(self._standing, 0)
            except (*OFFLINE, OperatorError, ProtocolError) as e:
                log.debug("%s: the operator was not told at once: %s", self._job, e)

    def _poll(self) -> None:
        pause = _FIRST_PAUSE
        while not self._closed:
            standing = self._standing
            started = time.monotonic()
            starting = standing.phase is Phase.STARTING
            try:
                # One who starts expects no news, and is ready at any moment.
                news = self._ask(standing, 0 if starting else _WAIT_SECONDS)
                if self._away:
                    log.info("%s: the operator is back", self._job)
                self._away, pause = False, _FIRST_PAUSE
                if starting:
                    self._pause_while(standing, _STARTING_PAUSE)
                elif not news and time.monotonic() - started < _NO_NEWS_PAUSE:
                    # Until we switch to what is known already, the answer comes at once each time.
                    self._pause_while(standing, _NO_NEWS_PAUSE)
            except (*OFFLINE, OperatorError, ProtocolError) as e:
                if not self._away:
                    log.warning("%s: no membership from the operator: %s", self._job, e)
                self._away = True
                self._pause_while(standing, pause * random.uniform(0.5, 1.5))
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _pause_while(self, same: Standing, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._standing != same, seconds)
