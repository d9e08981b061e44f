"""Operator that a script steers: what Kastor's operator does for one job, over TLS."""

from __future__ import annotations

import contextlib
import http.server
import json
import ssl
import subprocess
import threading
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kastor.conformance.document import ApiDocument
from kastor.conformance.rules import Rulebook, Watch

NAMESPACE, JOB = "team-a", "job"
PROTOCOL = 2
NO_PLAN = {"atomicBatchSize": 1, "accumulationSteps": 0}


def certificate(folder: Path) -> tuple[Path, Path]:
    """Certificate for loopback and its key, signed by itself."""
    cert, key = folder / "ca.crt", folder / "tls.key"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    subprocess.run(
        [*command.split(), "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)],
        check=True,
        capture_output=True,
    )
    return cert, key


class ScriptedOperator:
    """Operator of one job: a generation waits until its pods are ready, survivors of a death get theirs at once.

    It answers as ``PollAnswer`` of the Java operator does and refuses what that refuses; what it refused
    is in ``refusals``. Each request is held against the rules of the protocol as well.

    Args:
        folder: for its certificate.
        uri_host: loopback address.
        rules: where verdicts go.
        longest_wait: seconds after which a poll is answered at the latest.
    """

    def __init__(
        self, folder: Path, uri_host: str = "127.0.0.1", rules: Rulebook | None = None, longest_wait: float = 30
    ) -> None:
        self.rules = rules or Rulebook()
        self.watch = Watch(self.rules)
        self.protocols: dict[str, int] = {}
        self.tokens: dict[str, set[str]] = {}
        self.leaving: set[str] = set()
        self.status = 0
        self.unknown_action = ""
        self._longest_wait = longest_wait
        self._document = ApiDocument.shipped()
        self.changed = threading.Condition()
        self.states: dict[str, dict[str, str]] = {}
        self.polls: dict[str, int] = {}
        self.doings: dict[str, set[str]] = {}
        self.starts: dict[str, str] = {}
        self.reports: list[dict[str, Any]] = []
        self.refusals: list[str] = []
        self.headers: list[str] = []
        self.current: dict[str, Any] | None = None
        self.generation = 0
        self.term = "1"
        self.away = False
        self.unanswered = 0
        self.ended = False
        self._wanted: list[str] = []
        self._plan = NO_PLAN
        self._pending = False
        self._closed = False
        cert, key = certificate(folder)
        self.ca = cert
        operator = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                operator.membership(self)

            def do_POST(self) -> None:
                operator.telemetry(self)

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a replica that is killed breaks off its requests

        self._server = Server((uri_host, 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://{uri_host}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    # --- what a script does ---

    def want(self, pods: list[str], atomic: int, accumulation: int = 0) -> None:
        """Publishes a generation of these pods as soon as all are ready."""
        with self.changed:
            self._wanted, self._pending = list(pods), True
            self._plan = {"atomicBatchSize": atomic, "accumulationSteps": accumulation}
            self._advance()

    def died(self, pod: str) -> None:
        """Learns that a pod has ended; survivors of the current generation go on without it."""
        with self.changed:
            self.states.pop(pod, None)
            self.watch.gone(pod)
            members = [m["pod"] for m in self.current["members"]] if self.current else []
            if pod in self._wanted:
                self._wanted.remove(pod)
            if pod in members and self.current is not None and self.current["action"] == "RUN":
                members.remove(pod)
                if members:
                    self._publish(members, self.current["batchPlan"])
                else:
                    self.current = None
                    self.watch.restarted()
            self._advance()

    def stop(self) -> None:
        """Asks all for a checkpoint and to end."""
        with self.changed:
            self._pending = False
            self.generation += 1
            self.leaving.update(self.states)
            before = self.current or {"members": [], "batchPlan": NO_PLAN}
            # Whoever ends by it is still who it was.
            self.watch.published(self.generation, [m["pod"] for m in before["members"]], before["batchPlan"])
            self.current = {"generation": self.generation, "action": "STOP", "members": [], "batchPlan": NO_PLAN}
            self.changed.notify_all()

    def settled(self) -> bool:
        """Whether all members of the newest generation train in it."""
        if self._pending or self.current is None or self.current["action"] != "RUN":
            return False
        states = [self.states.get(m["pod"], {}) for m in self.current["members"]]
        return all(s.get("phase") == "TRAINING" and s["generation"] == str(self.generation) for s in states)

    def step(self, pod: str) -> int:
        """Step that a pod told last."""
        return int(self.states.get(pod, {}).get("step", -1))

    def wait(self, what: str, holds: Callable[[], Any], seconds: float = 600) -> None:
        """Waits until something holds."""
        end = time.monotonic() + seconds
        with self.changed:
            while not holds():
                if time.monotonic() > end:
                    raise AssertionError(
                        f"not within {seconds} s: {what}; {self.current} {self.states} {self.refusals}"
                    )
                self.changed.wait(0.05)

    def token(self, pod: str) -> str:
        """Token by which it knows a pod at first."""
        return f"token of {pod}"

    @property
    def outcome(self) -> dict[str, Any] | None:
        """Outcome in the last report."""
        return next((r["outcome"] for r in reversed(self.reports) if "outcome" in r), None)

    def switches(self) -> list[dict[str, Any]]:
        """Changes that were reported."""
        return [switch for report in self.reports for switch in report["switches"]]

    def close(self) -> None:
        """Ends."""
        with self.changed:
            self._closed = True
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # --- what a replica asks ---

    def _advance(self) -> None:
        ready = all(self.states.get(pod, {}).get("phase", "STARTING") != "STARTING" for pod in self._wanted)
        if self._pending and self._wanted and ready:
            members = [m["pod"] for m in self.current["members"]] if self.current else []
            order = [pod for pod in members if pod in self._wanted]
            self._pending = False
            self._publish(order + [pod for pod in self._wanted if pod not in order], self._plan)
        self.changed.notify_all()

    def _publish(self, pods: list[str], plan: dict[str, int]) -> None:
        self.generation += 1
        members = [
            {"pod": pod, "rank": rank, "address": self.states[pod]["address"], "node": f"node-{pod}", "gpuType": ""}
            for rank, pod in enumerate(pods)
        ]
        self.current = {"generation": self.generation, "action": "RUN", "members": members, "batchPlan": plan}
        self.watch.published(self.generation, pods, plan)
        self.changed.notify_all()

    def _answer(self, pod: str, generation: int) -> dict[str, Any] | None:
        newer = self.current is not None and self.current["generation"] > generation
        listed = self.current is not None and pod in [m["pod"] for m in self.current["members"]]
        leave = {"generation": self.generation, "action": "LEAVE", "members": [], "batchPlan": NO_PLAN}
        if generation > 0:
            return self.current if newer else None
        if listed and newer:
            return self.current
        return leave if self.ended or pod in self.leaving else None

    def membership(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        """Answers a poll."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(handler.path).query, keep_blank_values=True))
        pod = query.get("pod", "")
        if not self._allowed(handler, pod, "membership"):
            return
        with self.changed:
            wrong = self._document.wrong_poll(query)
            self.rules.judge("poll", wrong and f"{pod}: {wrong}")
            if not wrong and int(query["generation"]) > self.generation:
                wrong = f"generation {query['generation']} was never published"
                self.rules.judge("generations", f"{pod}: {wrong}")
            if wrong:
                self.refusals.append(f"{pod}: {wrong}")
                self._send(handler, 400, {"error": wrong})
                return
            self.watch.poll_began(pod, query)
        try:
            answer = self._await_answer(handler, pod, query)
        finally:
            with self.changed:
                self.watch.poll_ended(pod)
        if answer is not None:
            self._send(handler, 200, {**answer, "fieldOfALaterVersion": {"and": ["its", "content"]}})

    def _await_answer(
        self, handler: http.server.BaseHTTPRequestHandler, pod: str, query: dict[str, str]
    ) -> dict[str, Any] | None:
        with self.changed:
            generation = int(query["generation"])
            self.states[pod] = query
            self.doings.setdefault(pod, set()).add(query.get("doing", "TRAIN"))
            if "start" in query:
                self.starts.setdefault(pod, query["start"])
            number = self.polls[pod] = self.polls.get(pod, 0) + 1
            self._advance()
            end = time.monotonic() + min(self._longest_wait, int(query.get("wait", "0")))
            while (answer := self._answer(pod, generation)) is None:
                left = end - time.monotonic()
                # A newer poll of the same replica ends this one.
                if left <= 0 or self.polls[pod] != number or self._closed or self.away:
                    break
                self.changed.wait(left)
            if self.away:
                handler.close_connection = True
                return None
            action = self.unknown_action or "WAIT"
            return answer or {"generation": self.generation, "action": action, "members": [], "batchPlan": NO_PLAN}

    def telemetry(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        """Takes in a report."""
        body = handler.rfile.read(int(handler.headers["Content-Length"] or 0))
        try:
            report = json.loads(body)
        except ValueError:
            report = body.decode(errors="replace")
        pod = str(report.get("pod")) if isinstance(report, dict) else ""
        if not self._allowed(handler, pod, "telemetry"):
            return
        with self.changed:
            wrong = self._document.wrong_report(report, len(body), self.protocols.get(pod, PROTOCOL))
            if not wrong and handler.headers["Content-Type"] != "application/json":
                wrong = f"Content-Type is {handler.headers['Content-Type']}, not application/json"
            if not wrong and (report["namespace"], report["job"]) != (NAMESPACE, JOB):
                wrong = "report of another job"
            generations = [] if wrong else [report["generation"], *[s["generation"] for s in report["switches"]]]
            if generations and max(generations) > self.generation:
                wrong = f"generation {max(generations)} was never published"
            self.rules.judge("report", wrong and f"{pod}: {wrong}")
            if wrong:
                self.refusals.append(f"{pod}: {wrong}: {report}")
                self._send(handler, 400, {"error": wrong})
                return
            if self.watch.reported(report):
                self.reports.append(report)
            self.changed.notify_all()
        handler.send_response(204)
        handler.send_header("Kastor-Term", self.term)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def _allowed(self, handler: http.server.BaseHTTPRequestHandler, pod: str, resource: str) -> bool:
        if self.away:
            handler.close_connection = True
            with self.changed:
                self.unanswered += 1
                self.changed.notify_all()
            return False
        path = urllib.parse.urlsplit(handler.path).path
        known = self.tokens.get(pod, {self.token(pod)})
        right = (
            handler.headers["Authorization"] in {f"Bearer {token}" for token in known}
            and path == f"/v1/jobs/{NAMESPACE}/{JOB}/{resource}"
        )
        with self.changed:
            self.watch.requested(pod)
            self.rules.judge("token", "" if right else f"{pod!r} was refused at {path}")
            if not right:
                self.refusals.append(f"{pod}: 401 {path}")
        if not right:
            self._send(handler, 401, {"error": "token"})
        elif self.status:
            self._send(handler, self.status, {"error": "later"})
        return right and not self.status

    @staticmethod
    def _send(handler: http.server.BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        with contextlib.suppress(OSError):  # whoever asked may be gone
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
