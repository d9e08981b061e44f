"""Rendezvous store whose connections prove that they know the job's secret.

Each replica serves one; that of rank 0 serves a generation. A connection opens with a handshake that
proves the secret on both sides and shows it to neither; each message after it carries an HMAC over
its number and direction, so that nobody on the network can take part, change or replay one. Keys and
values are not encrypted: they are the addresses by which the replicas find each other.
"""

from __future__ import annotations

import contextlib
import hmac
import logging
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from kastor.admission import Admission

log = logging.getLogger("kastor")

# Changes with what replicas exchange, not with the store alone: those of another version never form a group.
_MAGIC = b"kastor-store-2"
_NONCE = 32
_CODE = 32
_MAX_HELLO = 1024
_MAX_MESSAGE = 4 * 1024 * 1024
_HANDSHAKE_SECONDS = 5.0
_TURN_SECONDS = 0.25
_OK, _NO = b"\1", b"\0"


class StoreError(Exception):
    """Error of a store that cannot be reached, or whose other side does not know the secret."""


class StoreAbandonedError(StoreError):
    """Error of a wait that was given up because what it waited for is outdated."""


def _receive(connection: socket.socket, length: int, end: float | None = None) -> bytes:
    """Receives so many bytes; with ``end``, all of them before that time of ``time.monotonic``."""
    data = bytearray()
    while len(data) < length:
        if end is not None:
            connection.settimeout(max(0.001, end - time.monotonic()))
        part = connection.recv(length - len(data))
        if end is not None and time.monotonic() > end:
            raise ConnectionError("the handshake takes too long")
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return bytes(data)


def _receive_block(connection: socket.socket, most: int, end: float | None = None) -> bytes:
    (length,) = struct.unpack(">I", _receive(connection, 4, end))
    if length > most:
        raise ConnectionError(f"a message of {length} bytes; at most {most} are accepted")
    return _receive(connection, length, end)


def _pack(parts: Sequence[bytes]) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def _unpack(data: bytes) -> list[bytes]:
    parts, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        parts.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return parts


class _Channel:
    """Messages of an authenticated connection, each sealed with its number and direction."""

    def __init__(self, connection: socket.socket, key: bytes, sends: bytes, receives: bytes) -> None:
        self._connection, self._key = connection, key
        self._sends, self._receives = sends, receives
        self._sent = self._received = 0

    def _code(self, direction: bytes, number: int, data: bytes) -> bytes:
        return hmac.digest(self._key, direction + struct.pack(">Q", number) + data, "sha256")

    def send(self, *parts: bytes) -> None:
        data = _pack(parts)
        code = self._code(self._sends, self._sent, data)
        self._sent += 1
        self._connection.sendall(struct.pack(">I", len(data)) + data + code)

    def receive(self) -> list[bytes]:
        data = _receive_block(self._connection, _MAX_MESSAGE)
        code = _receive(self._connection, _CODE)
        if not hmac.compare_digest(code, self._code(self._receives, self._received, data)):
            raise ConnectionError("a message was changed on its way")
        self._received += 1
        return _unpack(data)


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


class _Secret:
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def code(self, purpose: bytes, hello: bytes, nonce: bytes) -> bytes:
        return hmac.digest(self._secret, purpose + struct.pack(">I", len(hello)) + hello + nonce, "sha256")


class StoreServer:
    """Server of this replica's store. Thread-safe."""

    def __init__(self, host: str, secret: bytes, job: str) -> None:
        """Listens on a free port.

        Args:
            host: address at which other replicas reach us; one that is not loopback is listened for
                on all interfaces.
            secret: what the replicas of the job share.
            job: ``namespace/name``; connections for another job are refused.
        """
        self._secret, self._job = _Secret(secret), job.encode()
        self._data: dict[bytes, bytes] = {}
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._admission = Admission()
        self._connections: set[socket.socket] = set()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        loopback = host.startswith("127.") or host == "::1"
        any_address = "::" if family == socket.AF_INET6 else "0.0.0.0"
        self._listener = socket.create_server((host if loopback else any_address, 0), family=family, backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name="kastor-store", daemon=True)
        self._thread.start()

    def expect(self, members: Iterable[str]) -> None:
        """From now on these addresses have places of their own for their handshakes.

        Args:
            members: each ``host:port``; an IPv6 host stands in brackets.
        """
        self._admission.expect(_host(member) for member in members)

    def forget(self, prefix: str) -> None:
        """Removes the keys of a generation that is over."""
        start = prefix.encode()
        with self._changed:
            for key in [key for key in self._data if key.startswith(start)]:
                del self._data[key]

    def close(self) -> None:
        """Ends all connections."""
        with self._changed:
            self._closed.set()
            connections = list(self._connections)
            self._changed.notify_all()
        for each in (self._listener, *connections):
            with contextlib.suppress(OSError):  # it may have ended already
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._thread.join(_HANDSHAKE_SECONDS)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, address = self._listener.accept()
            except OSError:
                if self._closed.is_set():
                    return
                time.sleep(_TURN_SECONDS)
                continue
            if not self._admission.admit(connection, address[0]):
                log.debug("a connection from %s is refused: it has enough handshakes in progress", address[0])
                connection.close()
                continue
            threading.Thread(target=self._serve, args=(connection,), name="kastor-store-client", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with self._changed:
            self._connections.add(connection)
        try:
            channel = self._handshake(connection)
            self._admission.done(connection)
            while not self._closed.is_set():
                channel.send(*self._answer(channel.receive()))
        except (OSError, ValueError, IndexError, struct.error) as e:
            log.debug("a connection to the store ended: %s", e)
        finally:
            with self._changed:
                self._connections.discard(connection)
            self._admission.done(connection)
            connection.close()

    def _handshake(self, connection: socket.socket) -> _Channel:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = time.monotonic() + _HANDSHAKE_SECONDS
        hello = _receive_block(connection, _MAX_HELLO, end)
        magic, job, nonce = _unpack(hello)
        if magic != _MAGIC or job != self._job or len(nonce) != _NONCE:
            raise ConnectionError("a stranger, or a replica of another job or of another version of Kastor")
        own = os.urandom(_NONCE)
        connection.sendall(own)
        if not hmac.compare_digest(_receive(connection, _CODE, end), self._secret.code(b"C", hello, own)):
            raise ConnectionError("the other side does not know the job's secret")
        connection.sendall(self._secret.code(b"A", hello, own))
        connection.settimeout(None)
        return _Channel(connection, self._secret.code(b"K", hello, own), b"A", b"C")

    def _answer(self, request: list[bytes]) -> list[bytes]:
        operation, *arguments = request
        with self._changed:
            if operation == b"set":
                self._data[arguments[0]] = arguments[1]
                self._changed.notify_all()
                return [_OK]
            if operation == b"add":
                total = int(self._data.get(arguments[0], b"0")) + int(arguments[1])
                self._data[arguments[0]] = str(total).encode()
                self._changed.notify_all()
                return [_OK, self._data[arguments[0]]]
            if operation == b"wait":
                seconds, *keys = arguments
                limit = min(float(seconds), _TURN_SECONDS)
                there = self._changed.wait_for(
                    lambda: self._closed.is_set() or all(key in self._data for key in keys), limit
                )
                return [_OK if there and not self._closed.is_set() else _NO]
            if operation == b"get":
                value = self._data.get(arguments[0])
                return [_NO] if value is None else [_OK, value]
            if operation == b"delete":
                return [_OK if self._data.pop(arguments[0], None) is not None else _NO]
        raise ValueError("an operation that is not known")


class StoreClient:
    """Connection to the store of another replica, or to one's own. Thread-safe."""

    def __init__(
        self,
        address: str,
        secret: bytes,
        job: str,
        seconds: float,
        abandoned: Callable[[], bool] = lambda: False,
    ) -> None:
        """Connects, again and again until ``seconds`` are over or ``abandoned`` says so.

        Raises:
            StoreError: if the store is not reached or does not know the secret.
        """
        self._place = (_host(address), int(address.rpartition(":")[2]))
        self._secret, self._job = _Secret(secret), job.encode()
        self._abandoned = abandoned
        self._lock = threading.Lock()
        end = time.monotonic() + seconds
        while True:
            try:
                self._connection, self._channel = self._connect()
                return
            except OSError as e:
                if abandoned():
                    raise StoreAbandonedError("a newer generation is known") from e
                if time.monotonic() > end:
                    raise StoreError(f"the store at {address} cannot be used: {e}") from e
                time.sleep(0.05)

    def _connect(self) -> tuple[socket.socket, _Channel]:
        connection = socket.create_connection(self._place, _HANDSHAKE_SECONDS)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            hello = _pack([_MAGIC, self._job, os.urandom(_NONCE)])
            connection.sendall(struct.pack(">I", len(hello)) + hello)
            nonce = _receive(connection, _NONCE)
            connection.sendall(self._secret.code(b"C", hello, nonce))
            code = _receive(connection, _CODE)
            if not hmac.compare_digest(code, self._secret.code(b"A", hello, nonce)):
                raise ConnectionError("the other side does not know the job's secret")
            return connection, _Channel(connection, self._secret.code(b"K", hello, nonce), b"C", b"A")
        except BaseException:
            connection.close()
            raise

    def set(self, key: str, value: bytes) -> None:
        """Sets a key."""
        self._call(b"set", key.encode(), value)

    def add(self, key: str, number: int) -> int:
        """Adds to a number, 0 where it is not set, and returns the sum."""
        return int(self._call(b"add", key.encode(), str(number).encode())[1])

    def get(self, key: str, seconds: float) -> bytes:
        """Value of a key, once it is set.

        Raises:
            StoreError: if it is not set in time.
        """
        self.wait([key], seconds)
        answer = self._call(b"get", key.encode())
        if answer[0] != _OK:
            raise StoreError(f"{key} was removed")
        return answer[1]

    def wait(self, keys: Sequence[str], seconds: float) -> None:
        """Waits until all keys are set.

        Raises:
            StoreError: if they are not set in time; StoreAbandonedError: if the wait is given up.
        """
        names = [key.encode() for key in keys]
        end = time.monotonic() + seconds
        while True:
            left = max(0.0, end - time.monotonic())
            if self._call(b"wait", str(left).encode(), *names)[0] == _OK:
                return
            if self._abandoned():
                raise StoreAbandonedError("a newer generation is known")
            if time.monotonic() >= end:
                raise StoreError(f"{', '.join(keys)}: not set within {seconds:.0f} s")

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are set."""
        return self._call(b"wait", b"0", *[key.encode() for key in keys])[0] == _OK

    def delete(self, key: str) -> bool:
        """Removes a key; whether it was set."""
        return self._call(b"delete", key.encode())[0] == _OK

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _call(self, *parts: bytes) -> list[bytes]:
        try:
            with self._lock:
                self._channel.send(*parts)
                return self._channel.receive()
        except OSError as e:
            raise StoreError(f"the store of rank 0 is gone: {e}") from e
