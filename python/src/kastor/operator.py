"""HTTPS client of the operator's agent API for one job."""

from __future__ import annotations

import http.client
import json
import logging
import ssl
import threading
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kastor.config import Config

log = logging.getLogger("kastor")

_CONNECT_SECONDS = 3.0
_MAX_ERROR_CHARS = 300
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_TERM = "Kastor-Term"
_TOKEN_REFUSED = (
    ". It does not accept the token in KASTOR_TOKEN_FILE, which is read anew for each request. The training goes on"
    " meanwhile; if this lasts, delete the pod: another one with a new token takes its place."
)

OFFLINE = (OSError, http.client.HTTPException)
"""Errors of an operator that is away; ``OperatorError`` is one of an operator that answered."""


class OperatorError(Exception):
    """Error status that the operator answered with."""

    def __init__(self, status: int, text: str) -> None:
        remedy = _TOKEN_REFUSED if status in (401, 403) else ""
        super().__init__(f"the operator answered {status}: {text[:_MAX_ERROR_CHARS]}{remedy}")
        self.status = status

    @property
    def refused(self) -> bool:
        """Whether the same request is refused again: its content is at fault, not the moment."""
        return self.status in (400, 413)

    @property
    def no_such_job(self) -> bool:
        """Whether the job is gone."""
        return self.status == 404


@dataclass(frozen=True)
class Answer:
    """Answer of the operator: its JSON, None without a body, and the term of who answered."""

    body: Any
    term: str


class AuthorityFile:
    """TLS settings that trust the authorities which a PEM file holds at the time of each handshake.

    The kubelet replaces the file when the operator's authority changes, and the replica trains on. A
    file that cannot be used changes nothing. Thread-safe.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._pem = file.read_text("iso-8859-1")
        self._context = _trusting(self._pem)

    def context(self) -> ssl.SSLContext:
        """Settings for a new connection."""
        with self._lock:
            try:
                pem = self._file.read_text("iso-8859-1")
                if pem != self._pem:
                    self._context, self._pem = _trusting(pem), pem
                    log.info("the operator's authority is another now")
            except (OSError, ssl.SSLError, ValueError) as e:
                log.warning("the authority in %s cannot be used, the one before stays: %s", self._file, e)
            return self._context


def _trusting(pem: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cadata=pem)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class OperatorClient:
    """Agent API for one job. Thread-safe: each thread has a connection of its own.

    Trusts only the authorities in the configured file. The token is read from its file for each
    request, as the kubelet replaces it before it expires.
    """

    def __init__(self, config: Config) -> None:
        url = urllib.parse.urlsplit(config.operator_url)
        self._host, self._port = url.hostname or "", url.port or 443
        job = urllib.parse.quote(config.namespace) + "/" + urllib.parse.quote(config.job)
        self._base = f"/v1/jobs/{job}/"
        self._token_file = config.token_file
        self._authority = AuthorityFile(config.ca_file)
        self._local = threading.local()

    def get(self, resource: str, seconds: float) -> Answer:
        """Answer to a GET of ``resource`` under the job, within ``seconds``.

        Raises:
            OperatorError: if the answer is an error.
            OSError, http.client.HTTPException: if there is none (``OFFLINE``).
        """
        return self._request("GET", resource, None, seconds)

    def post(self, resource: str, body: bytes, seconds: float) -> Answer:
        """Answer to a POST of JSON; errors as of :meth:`get`."""
        return self._request("POST", resource, body, seconds)

    def close(self) -> None:
        """Closes the calling thread's connection."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()

    def _request(self, method: str, resource: str, body: bytes | None, seconds: float) -> Answer:
        reused = getattr(self._local, "connection", None) is not None
        try:
            return self._attempt(method, resource, body, seconds)
        except (ConnectionError, http.client.BadStatusLine, ssl.SSLEOFError):
            # The operator closes a connection that is idle for long: both requests may be repeated,
            # as reports carry a sequence number.
            if not reused:
                raise
        return self._attempt(method, resource, body, seconds)

    def _attempt(self, method: str, resource: str, body: bytes | None, seconds: float) -> Answer:
        headers = {
            "Authorization": "Bearer " + self._token_file.read_text().strip(),
            "Accept": "application/json",
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection: http.client.HTTPSConnection | None
        connection = getattr(self._local, "connection", None)
        try:
            if connection is None:
                connection = http.client.HTTPSConnection(
                    self._host,
                    self._port,
                    context=self._authority.context(),
                    timeout=_CONNECT_SECONDS,
                )
                connection.connect()
                self._local.connection = connection
            if connection.sock is not None:
                connection.sock.settimeout(seconds)
            connection.request(method, self._base + resource, body, headers)
            response = connection.getresponse()
            content = response.read(_MAX_ANSWER_BYTES)
        except BaseException:
            self._local.connection = None
            if connection is not None:
                connection.close()
            raise
        if response.will_close:
            self.close()
        if response.status // 100 != 2:
            raise OperatorError(response.status, content.decode(errors="replace"))
        try:
            return Answer(json.loads(content) if content else None, response.getheader(_TERM) or "")
        except ValueError as e:
            raise http.client.HTTPException(f"the answer is not JSON: {e}") from e
