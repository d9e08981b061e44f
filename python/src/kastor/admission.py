"""Limits of the handshakes that are in progress at once, by the address that they come from."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
from collections import OrderedDict
from collections.abc import Iterable

MEMBER_PLACES = 256
STRANGER_PLACES = 32
PLACES_PER_STRANGER = 4


class Admission:
    """Places for handshakes. Thread-safe.

    Addresses that the membership names have places of their own, and the newest connection always
    gets one: a member is through before a whole set of others has come after it, even where a
    stranger shares its address. All other addresses have few, and the newest is refused.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._members: frozenset[str] = frozenset()
        self._of_members: OrderedDict[socket.socket, None] = OrderedDict()
        self._of_strangers: dict[socket.socket, str] = {}

    def expect(self, addresses: Iterable[str]) -> None:
        """From now on these are the members' addresses, without ports."""
        with self._lock:
            self._members = frozenset(_plain(address) for address in addresses)

    def admit(self, connection: socket.socket, address: str) -> bool:
        """Whether a new connection from an address has a place for its handshake."""
        address = _plain(address)
        with self._lock:
            if address in self._members:
                if len(self._of_members) >= MEMBER_PLACES:
                    oldest, _ = self._of_members.popitem(last=False)
                    with contextlib.suppress(OSError):  # it may have ended already
                        oldest.shutdown(socket.SHUT_RDWR)
                self._of_members[connection] = None
                return True
            held = sum(1 for other in self._of_strangers.values() if other == address)
            if held >= PLACES_PER_STRANGER or len(self._of_strangers) >= STRANGER_PLACES:
                return False
            self._of_strangers[connection] = address
            return True

    def done(self, connection: socket.socket) -> None:
        """The handshake of a connection is over."""
        with self._lock:
            self._of_members.pop(connection, None)
            self._of_strangers.pop(connection, None)


def _plain(address: str) -> str:
    """One spelling of an address, an IPv4 one in IPv6 form included; a name stays as it is."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(found)
