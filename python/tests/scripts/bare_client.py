"""Client of the agent protocol that trains nothing; an argument names the rule that it breaks."""

import http.client
import json
import os
import signal
import socket
import ssl
import sys
import threading
import time
import urllib.parse
from pathlib import Path

FLAW = sys.argv[1] if len(sys.argv) > 1 else ""
E = {name[7:]: value for name, value in os.environ.items() if name.startswith("KASTOR_")}
POD, SPEC = E["POD"], json.loads(E["JOB_SPEC"])
CHECKPOINT = Path(E["CHECKPOINT_DIR"]) / "checkpoint.json"
PAUSE = 0.05
ENDS = {"COMPLETED": 0, "STOPPED": 0, "LEFT": 0}


class Operator:
    """Connection of one thread."""

    def __init__(self):
        self.connection = None
        self.first_token = Path(E["TOKEN_FILE"]).read_text().strip()

    def ask(self, method, resource, body=None):
        """Status, JSON and term; raises OSError where there is no answer."""
        token = self.first_token if FLAW == "new-token" else Path(E["TOKEN_FILE"]).read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            if self.connection is None:
                url = urllib.parse.urlsplit(E["OPERATOR_URL"])
                context = ssl.create_default_context(cafile=E["CA_FILE"])
                self.connection = http.client.HTTPSConnection(url.hostname, url.port, context=context, timeout=40)
            self.connection.request(method, f"/v1/jobs/{E['NAMESPACE']}/{E['JOB']}/{resource}", body, headers)
            answer = self.connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as e:
            self.connection = None
            raise OSError(str(e)) from e
        return answer.status, json.loads(content or b"{}"), answer.getheader("Kastor-Term", "")


class Replica:
    """Replica whose step is a pause; a connection to each other member stands for the exchange."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.phase, self.generation, self.step = "STARTING", 0, -1
        self.newest, self.terminating = None, False
        self.changed = threading.Condition()
        self.peers, self.accepted = [], []
        self.sequence, self.term, self.shapes = 0, "", set()
        self.unsent_switch, self.reporter = None, Operator()
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.poll, daemon=True).start()

    def accept(self):
        while True:
            self.accepted.append(self.listener.accept()[0])

    def poll(self):
        operator, told = Operator(), 0
        while True:
            asked = (self.phase, self.generation)
            query = {
                **{"pod": POD, "address": f"127.0.0.1:{self.listener.getsockname()[1]}", "generation": self.generation},
                **{"phase": self.phase, "step": self.step, "waiting": "false", "doing": "TRAIN", "wait": 1},
                "client": "bare/1 protocol/2",
            }
            if FLAW == "poll":
                query["phase"] = query["phase"].lower()
            if FLAW == "client":
                del query["client"]
            if FLAW == "steps" and told > 5:
                query["step"] = 1
            told = max(told, query["step"])
            try:
                status, answer, _ = operator.ask("GET", "membership?" + urllib.parse.urlencode(query))
            except OSError:
                status = 0
            if status != 200:
                if FLAW == "busy" and status:
                    os._exit(1)
                time.sleep(0.3)
                continue
            if FLAW == "unknown" and answer["action"] not in ("WAIT", "RUN", "STOP", "LEAVE"):
                raise SystemExit("an unknown action")
            with self.changed:
                if answer["action"] in ("RUN", "STOP", "LEAVE") and answer["generation"] >= self.generation:
                    self.newest = answer
                    self.changed.notify_all()
                if asked == (self.phase, self.generation):
                    self.changed.wait(0.1)

    def moved(self, generation, phase):
        with self.changed:
            self.generation, self.phase = generation, phase
            self.changed.notify_all()

    def wait_for_news(self):
        with self.changed:
            while self.newest is None or not (
                self.newest["action"] != "RUN"
                or (
                    self.newest["generation"] > self.generation
                    and (self.generation or self.rank(self.newest) is not None)
                )
            ):
                self.changed.wait(1)
            return self.newest

    @staticmethod
    def rank(membership):
        return next((m["rank"] for m in membership["members"] if m["pod"] == POD), None)

    def join(self, membership):
        for peer in self.peers:
            peer.close()
        before = len(self.membership["members"]) if self.generation else 0
        self.membership, self.peers = membership, []
        rank = self.rank(membership)
        if FLAW != "killed":
            for member in membership["members"]:
                if member["pod"] != POD:
                    host, port = member["address"].rsplit(":", 1)
                    try:
                        self.peers.append(socket.create_connection((host, int(port)), 5))
                    except OSError:
                        self.peers.append(socket.socket())  # It looks like one whose other end is gone.
        if self.step < 0:
            self.step = json.loads(CHECKPOINT.read_text())["step"] if CHECKPOINT.exists() else 0
            if FLAW == "resume":
                self.step = 0
        if rank == 0:
            switch = {"generation": membership["generation"], "replicasBefore": before}
            cause = {"cause": "RESCALE" if before else "START", "pauseSeconds": 0.01}
            self.unsent_switch = {**switch, "replicasAfter": len(membership["members"]), **cause}
        self.moved(membership["generation"], "TRAINING")

    def broken(self):
        for peer in self.peers:
            try:
                peer.settimeout(0.001)
                if peer.recv(1) == b"":
                    return True
            except TimeoutError:
                pass
            except OSError:
                return True
        return False

    def save(self):
        temporary = CHECKPOINT.with_suffix(f".{POD}")
        temporary.write_text(json.dumps({"step": self.step}))
        os.replace(temporary, CHECKPOINT)
        return {"step": self.step, "bytes": CHECKPOINT.stat().st_size, "savedAtEpochMillis": int(time.time() * 1000)}

    def report(self, checkpoint=None, outcome=None):
        members, batch = self.membership["members"], self.membership["batchPlan"]
        nodes = len({m["node"] for m in members})
        shape = (nodes, len(members), batch["atomicBatchSize"])
        self.shapes.add(shape)
        shapes = self.shapes if self.retell else {shape}
        profiles = [
            {"nodes": n, "replicas": r, "atomicBatchSize": a, "steps": 1, "stepSeconds": PAUSE, "syncSeconds": 0.0}
            for n, r, a in sorted(shapes)
        ]
        body = {
            **{"namespace": E["NAMESPACE"], "job": E["JOB"], "pod": POD, "generation": self.membership["generation"]},
            **{"sequence": self.sequence, "replicas": len(members), "batch": batch, "profiles": profiles},
            "progress": self.progress(),
            "switches": [self.unsent_switch] if self.unsent_switch else [],
        }
        if checkpoint:
            body["checkpoint"] = checkpoint
        if outcome:
            body["outcome"] = outcome
        if FLAW == "report":
            body["temperature"] = 20
        if FLAW == "reporter":
            body["replicas"] = 7
        try:
            status, _, term = self.reporter.ask("POST", "telemetry", json.dumps(body))
        except OSError:
            return
        if status == 204:
            if FLAW != "sequence":
                self.sequence += 1
            self.unsent_switch = None
            self.retell = self.term not in ("", term) and FLAW != "new-operator"
            self.term = term

    def progress(self):
        step = max(0, self.step)
        total = float(SPEC["goodput"]["work"]["steps"])
        rest = {"scaleInvariantSteps": float(step), "totalScaleInvariantSteps": total}
        return {"step": step, **rest, "examples": 32 * step, "epoch": 0}

    def end(self, kind, last=False):
        lost = 3 if FLAW == "audit" else 0
        outcome = {"kind": kind, "lostOrRepeatedExamples": lost, "message": kind.lower(), "progress": self.progress()}
        if last:
            self.report(self.save() if FLAW != "stop" else None, outcome)
        if FLAW != "last-words":
            Path(E["TERMINATION_LOG"]).write_text(json.dumps(outcome))
        os._exit(3 if FLAW == "exit-code" else ENDS[kind])

    def run(self):
        signal.signal(signal.SIGTERM, lambda *_: os._exit(143) if FLAW == "terminated" else None)
        self.retell, self.membership = False, {"members": []}
        self.moved(0, "TRAINING" if FLAW == "phases" else "READY")
        reported = saved = 0.0
        checkpoint = None
        while True:
            if self.generation == 0 or self.phase == "BROKEN":
                membership = self.wait_for_news()
            else:
                membership = self.newest
            if membership["action"] == "LEAVE" and FLAW != "leave":
                self.end("LEFT")
            if membership["action"] == "STOP":
                self.end("STOPPED", self.rank(self.membership) == 0)
            if membership["generation"] > self.generation and membership["action"] == "RUN":
                if self.rank(membership) is not None:
                    self.join(membership)
                elif FLAW != "shrink":
                    self.end("LEFT")
            if self.phase == "TRAINING" and self.broken() and self.newest["generation"] == self.generation:
                self.moved(self.generation, "BROKEN")
                continue
            time.sleep(PAUSE)
            self.step += 1
            first = self.rank(self.membership) == 0
            if self.step >= SPEC["goodput"]["work"]["steps"]:
                self.end("COMPLETED", first)
            if first and time.monotonic() - saved > 0.5:
                checkpoint, saved = self.save(), time.monotonic()
            if first and time.monotonic() - reported > 0.2:
                self.report(checkpoint)
                reported = time.monotonic()


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    Replica().run()
