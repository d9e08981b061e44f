"""Surroundings of a replica: the operator, the other replicas and the folder of checkpoints."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable

import torch

from kastor.checkpoint import Checkpoint, CheckpointFolder
from kastor.config import NEWEST_PROTOCOL, Config, WarmStart
from kastor.ending import EXIT_TERMINATED
from kastor.errors import CheckpointError
from kastor.membership import MembershipClient
from kastor.operator import OperatorClient
from kastor.protocol import Action, Membership, Phase
from kastor.store import StoreClient, StoreServer
from kastor.telemetry import TelemetryClient

log = logging.getLogger("kastor")

_GIVE_UP_SECONDS = 30.0
_CONNECT_SECONDS = 30.0
_POLL_SECONDS = 1.0
_RESERVE_SECONDS = 2.0
_SIGNAL_SECONDS = 0.2


class Pod:
    """Pod of one replica: what it hears from the operator, and what it saves.

    The training's thread owns it; its parts have threads of their own.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._secret = config.ring_secret()
        self._server = StoreServer(config.pod_ip, self._secret, config.job_name)
        host = f"[{config.pod_ip}]" if ":" in config.pod_ip else config.pod_ip
        operator = OperatorClient(config)
        software = f"torch/{torch.__version__}"
        if torch.version.cuda and torch.cuda.is_available():
            software += f" cuda/{torch.version.cuda}"
        self.membership = MembershipClient(
            operator, config.job_name, config.pod, f"{host}:{self._server.port}", software
        )
        self.telemetry = TelemetryClient(operator, config)
        self.generation = 0
        self.save_soon = False
        self._folder = CheckpointFolder(config.checkpoint_dir, config.job_uid, config.spec.keep_last)
        self._saving: threading.Thread | None = None
        self._terminating = threading.Event()
        self._ended = threading.Event()

    def start(self) -> None:
        """Starts to poll and to report, and takes care of signals."""
        if self.config.protocol < NEWEST_PROTOCOL:
            log.info(
                "the operator speaks version %d of the agent protocol, this client %d: it sends nothing newer",
                *(self.config.protocol, NEWEST_PROTOCOL),
            )
        self.membership.start()
        self.telemetry.start()
        if self.config.exit_with_parent:
            threading.Thread(target=self._exit_with_parent, name="kastor-parent", daemon=True).start()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._terminate)
        else:
            log.warning("init() runs outside of the main thread: SIGTERM ends this replica at once")

    # --- generations ---

    def concerns_us(self, membership: Membership) -> bool:
        """Whether a membership is for us: a joiner waits until it is listed, a member that is not listed leaves."""
        if membership.action is Action.RUN:
            return self.generation > 0 or membership.rank(self.config.pod) is not None
        return membership.action is not Action.WAIT

    def newer(self) -> Membership | None:
        """Newest membership beyond the generation we are in."""
        newest = self.membership.newest
        if newest is not None and newest.generation > self.generation and self.concerns_us(newest):
            return newest
        return None

    def given_up(self, seconds: float) -> bool:
        """Whether to give up an exchange that has taken so many seconds: others have a newer generation."""
        return seconds > _GIVE_UP_SECONDS and self.newer() is not None

    def next(self) -> Membership:
        """Waits for something to do other than what we do."""

        def wanted(candidate: Membership) -> bool:
            # Told to end while in no group, we need not ask in which generation.
            return self.concerns_us(candidate) and (
                candidate.action is not Action.RUN or candidate.generation > self.generation
            )

        while True:
            found = self.membership.wait_for(wanted, _POLL_SECONDS)
            if found is not None:
                return found

    def connect(self, membership: Membership) -> Callable[[str], StoreClient]:
        """Connection to the store of a generation's rank 0, given up when a newer one is known."""
        self.generation = max(self.generation, membership.generation)
        self._server.expect(member.address for member in membership.members)

        def connect(address: str) -> StoreClient:
            return StoreClient(
                address,
                self._secret,
                self.config.job_name,
                _CONNECT_SECONDS,
                lambda: self.newer() is not None,
            )

        return connect

    def left(self, generation: int) -> None:
        """Forgets what the members of a generation stored to find each other."""
        self._server.forget(f"g{generation}/")

    def broke(self) -> None:
        """Says that the group broke."""
        self.membership.waiting = False
        self.membership.moved(self.generation, Phase.BROKEN)

    # --- checkpoints ---

    def save(self, checkpoint: Callable[[], Checkpoint], wait: bool) -> None:
        """Copies a state and saves it on another thread; does nothing while a save runs, unless told to wait.

        Raises:
            OSError: if it is not saved and ``wait`` is set.
        """
        if self._saving is not None and self._saving.is_alive():
            if not wait:
                return
            self._saving.join()
        copied = checkpoint()
        if wait:
            self._write(copied)
            return
        self._saving = threading.Thread(
            target=self._write_or_warn, args=(copied,), name="kastor-checkpoint", daemon=True
        )
        self._saving.start()

    def newest_checkpoint(self) -> Checkpoint | None:
        """Newest checkpoint that is whole and of this job."""
        return self._folder.newest()

    def warm_start(self, other: WarmStart, take: Callable[[Checkpoint], None]) -> int:
        """Gives the checkpoint of another job to a function; its step.

        Raises:
            CheckpointError: saying why it cannot be had.
            OSError: if it cannot be read; another try may work.
        """
        try:
            found = self._other_checkpoint(other)
            take(found)
        except CheckpointError as e:
            raise CheckpointError(
                f"spec.checkpoint.warmStart: the parameters of job {other.job} cannot be taken: {e}"
            ) from e
        return found.step

    def _other_checkpoint(self, other: WarmStart) -> Checkpoint:
        if self.config.warm_start_dir is None:
            raise CheckpointError(f"{self.config.warm_start_problem}.")
        folder = CheckpointFolder(self.config.warm_start_dir, self.config.warm_start_uid, 1)
        if other.step is None:
            found = folder.newest()
            if found is None:
                damaged = "none that it saved is whole; the log says why" if folder.steps() else "it has saved none yet"
                raise CheckpointError(f"{damaged}.")
            return found
        try:
            return folder.load(other.step)
        except FileNotFoundError:
            steps = ", ".join(str(step) for step in folder.steps()[:5]) or "no step at all"
            raise CheckpointError(f"it has no checkpoint of step {other.step} but of {steps}.") from None

    def _write(self, checkpoint: Checkpoint) -> None:
        self.telemetry.saved(self._folder.save(checkpoint))

    def _write_or_warn(self, checkpoint: Checkpoint) -> None:
        try:
            self._write(checkpoint)
        except OSError as e:
            log.warning("the checkpoint of step %d is not saved: %s", checkpoint.step, e)
            self.telemetry.unsaved(str(e))

    # --- ends ---

    def close(self) -> None:
        """Ends all threads, after a save in progress and a last report."""
        self._ended.set()
        if self._saving is not None:
            self._saving.join()
        self.telemetry.close()
        self.membership.close()
        self._server.close()

    def _terminate(self, *_: object) -> None:
        """Asked to end, we train on until we are taken out, so that the others lose nothing."""
        if self._terminating.is_set():
            return
        self._terminating.set()
        self.save_soon = True
        threading.Thread(target=self._end_soon, name="kastor-terminate", daemon=True).start()

    def _end_soon(self) -> None:
        log.info("asked to end: a checkpoint is saved after this step")
        self.membership.ask_now()
        end = time.monotonic() + max(0.0, self.config.grace_seconds - _RESERVE_SECONDS)
        while time.monotonic() < end and not self.membership.job_gone:
            if self._ended.wait(_SIGNAL_SECONDS):
                return
        os._exit(EXIT_TERMINATED)

    def _exit_with_parent(self) -> None:
        """Whoever started us holds the other end of standard input; when it is gone, nobody looks after us."""
        try:
            while os.read(0, 64):
                pass
        except OSError:
            pass  # a broken pipe is an end as well
        # The signal may be a moment behind the end of the pipe.
        time.sleep(_SIGNAL_SECONDS)
        if not self._terminating.is_set() and not self._ended.is_set():
            os._exit(EXIT_TERMINATED)
