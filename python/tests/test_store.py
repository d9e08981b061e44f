"""Rendezvous store: who may use it, and how it waits."""

from __future__ import annotations

import contextlib
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kastor import admission, store
from kastor.store import StoreAbandonedError, StoreClient, StoreError, StoreServer

SECRET = b"0123456789abcdef" * 2
PATIENCE_SECONDS = 600


@pytest.fixture
def server() -> Iterator[StoreServer]:
    made = StoreServer("127.0.0.1", SECRET, "ns/job")
    try:
        yield made
    finally:
        made.close()


def client(
    server: StoreServer, secret: bytes = SECRET, job: str = "ns/job", seconds: float = PATIENCE_SECONDS
) -> StoreClient:
    return StoreClient(f"127.0.0.1:{server.port}", secret, job, seconds)


def test_values_go_from_one_member_to_another(server: StoreServer) -> None:
    one, other = client(server), client(server)
    threading.Timer(0.2, lambda: one.set("g1/a", b"\0value")).start()
    assert other.get("g1/a", PATIENCE_SECONDS) == b"\0value"
    assert one.add("g1/n", 2) == 2
    assert other.add("g1/n", 3) == 5
    assert other.check(["g1/a", "g1/n"])
    assert not other.check(["g1/a", "g1/x"])
    assert one.delete("g1/n")
    assert not one.delete("g1/n")
    one.close()
    other.close()


def test_a_generation_that_is_over_is_forgotten(server: StoreServer) -> None:
    one = client(server)
    one.set("g1/a", b"1")
    one.set("g11/a", b"2")
    server.forget("g1/")
    assert not one.check(["g1/a"])
    assert one.get("g11/a", PATIENCE_SECONDS) == b"2"
    one.close()


def test_waits_end_in_time_and_when_they_are_given_up(server: StoreServer) -> None:
    given_up = threading.Event()
    patient = StoreClient(f"127.0.0.1:{server.port}", SECRET, "ns/job", PATIENCE_SECONDS, given_up.is_set)
    began = time.monotonic()
    with pytest.raises(StoreError, match="g1/never: not set within 1 s"):
        patient.wait(["g1/never"], 0.6)
    assert time.monotonic() - began > 0.5
    threading.Timer(0.2, given_up.set).start()
    with pytest.raises(StoreAbandonedError):
        patient.wait(["g1/never"], PATIENCE_SECONDS)
    patient.close()


@pytest.mark.never_retried
@pytest.mark.parametrize(("secret", "job"), [(b"x" * 32, "ns/job"), (SECRET, "ns/other")])
def test_strangers_are_refused(server: StoreServer, secret: bytes, job: str) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        client(server, secret, job, 0.3)
    known = client(server)
    known.set("k", b"v")
    assert known.get("k", PATIENCE_SECONDS) == b"v"
    known.close()


@pytest.mark.never_retried
def test_a_replica_with_a_client_of_another_version_is_refused(server: StoreServer) -> None:
    hello = b"".join(struct.pack(">I", len(part)) + part for part in (b"kastor-store-1", b"ns/job", bytes(32)))
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as other:
        other.settimeout(PATIENCE_SECONDS)
        other.sendall(struct.pack(">I", len(hello)) + hello)
        assert other.recv(100) == b""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as same:
        same.settimeout(PATIENCE_SECONDS)
        hello = hello.replace(b"kastor-store-1", b"kastor-store-2")
        same.sendall(struct.pack(">I", len(hello)) + hello)
        assert same.recv(100) != b"", "the control: this version is answered by a nonce"


@pytest.mark.never_retried
def test_a_server_without_the_secret_is_refused() -> None:
    impostor = StoreServer("127.0.0.1", b"y" * 32, "ns/job")
    try:
        with pytest.raises(StoreError) as caught:
            client(impostor, seconds=0.3)
        assert SECRET.decode() not in str(caught.value)
    finally:
        impostor.close()


@pytest.mark.parametrize(
    "garbage", [b"", b"GET / HTTP/1.1\r\n\r\n", struct.pack(">I", 2**31), b"\0\0\0\x08\0\0\0\x20abcd"]
)
def test_garbage_ends_its_own_connection_alone(server: StoreServer, garbage: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as stranger:
        stranger.sendall(garbage)
        # The server may have ended the connection by then.
        with contextlib.suppress(OSError):
            stranger.shutdown(socket.SHUT_WR)
        stranger.settimeout(PATIENCE_SECONDS)
        try:
            assert stranger.recv(100) == b""
        except ConnectionError:
            pass
    known = client(server)
    known.set("k", b"v")
    assert known.check(["k"])
    known.close()


class Tamperer:
    """Relay that changes one byte of what a client sends after the handshake."""

    def __init__(self, port: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._port = port
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        near, _ = self._listener.accept()
        far = socket.create_connection(("127.0.0.1", self._port))
        back = threading.Thread(target=self._copy, args=(far, near, -1), daemon=True)
        back.start()
        hello = 4 + 4 + 14 + 4 + 6 + 4 + 32 + 32
        self._copy(near, far, hello + 20)
        back.join()
        for each in (near, far, self._listener):
            each.close()

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket, change: int) -> None:
        count = 0
        try:
            while data := bytearray(source.recv(4096)):
                if count <= change < count + len(data):
                    data[change - count] ^= 1
                count += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def join(self) -> None:
        self._thread.join(10)


@pytest.mark.never_retried
def test_a_message_that_is_changed_on_its_way_is_refused(server: StoreServer) -> None:
    between = Tamperer(server.port)
    victim = StoreClient(f"127.0.0.1:{between.port}", SECRET, "ns/job", PATIENCE_SECONDS)
    with pytest.raises(StoreError, match="gone"):
        victim.set("g1/address", b"10.0.0.1:1234")
    known = client(server)
    assert not known.check(["g1/address"])
    known.close()
    victim.close()
    between.join()


def test_a_store_that_ends_ends_its_clients(server: StoreServer) -> None:
    one = client(server)
    server.close()
    with pytest.raises(StoreError, match="gone"):
        one.wait(["k"], PATIENCE_SECONDS)
    one.close()
    with pytest.raises(StoreError, match="cannot be used"):
        client(server, seconds=0.2)


STRANGERS = """
import os, resource, sys, time
sys.path.insert(0, sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
from kastor.store import StoreServer
server = StoreServer("127.0.0.1", b"0123456789abcdef" * 2, "ns/job")
if sys.argv[2] == "members":
    server.expect(["127.0.0.1:1"])
print(server.port, flush=True)
for line in sys.stdin:
    with open("/dev/null"):
        print("opened", flush=True)
"""


@pytest.mark.never_retried
@pytest.mark.parametrize("strangers_address", ["members", "strangers"])
def test_strangers_keep_no_member_out_and_take_no_files_from_the_script(strangers_address: str) -> None:
    source = str(Path(store.__file__).parents[1])
    victim = subprocess.Popen(
        [sys.executable, "-c", STRANGERS, source, strangers_address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert victim.stdin is not None
    assert victim.stdout is not None
    open_ones: list[socket.socket] = []
    # As many as there can be at once, and more than a process with 1,024 descriptors could hold.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        port = int(victim.stdout.readline())
        for _ in range(1300):
            stranger = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
            with contextlib.suppress(OSError):  # refused ones are ended at once
                stranger.sendall(b"\0\0\4\0")
            open_ones.append(stranger)
        known = StoreClient(f"127.0.0.1:{port}", SECRET, "ns/job", PATIENCE_SECONDS)
        known.set("k", b"v")
        assert known.get("k", PATIENCE_SECONDS) == b"v"
        known.close()
        victim.stdin.write("open\n")
        victim.stdin.flush()
        assert victim.stdout.readline() == "opened\n"
    finally:
        for each in open_ones:
            each.close()
        victim.kill()
        victim.communicate()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.never_retried
def test_a_hello_that_comes_byte_by_byte_has_an_end(server: StoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_HANDSHAKE_SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as slow:
        slow.settimeout(PATIENCE_SECONDS)
        slow.sendall(b"\0\0\4\0")
        sent = 0
        with contextlib.suppress(ConnectionError):
            # Each byte is in time; all of them would take minutes.
            while sent < 1000:
                slow.sendall(b"x")
                sent += 1
                time.sleep(0.05)
    assert sent < 1000


def test_places_are_given_by_the_address() -> None:
    places = admission.Admission()
    pairs = [socket.socketpair() for _ in range(admission.MEMBER_PLACES + 1)]
    try:
        places.expect(["10.0.0.1"])
        for mine, _ in pairs:
            assert places.admit(mine, "::ffff:10.0.0.1")
        pairs[0][1].settimeout(PATIENCE_SECONDS)
        assert pairs[0][1].recv(1) == b"", "the oldest of a member's address made room"
        strangers = [mine for mine, _ in pairs]
        taken = [places.admit(each, "10.0.0.9") for each in strangers[:6]]
        assert taken == [True] * admission.PLACES_PER_STRANGER + [False] * 2
        places.done(strangers[0])
        assert places.admit(strangers[0], "10.0.0.9")
        others = [places.admit(each, f"10.1.0.{n}") for n, each in enumerate(strangers[10:60])]
        assert sum(others) == admission.STRANGER_PLACES - admission.PLACES_PER_STRANGER
    finally:
        for pair in pairs:
            for each in pair:
                each.close()
