"""Which addresses a delivery may connect to. A tenant chooses the name; what it resolves to is checked, and that very address is connected to, so
that a name which resolves to something else a moment later gains nothing."""

import ipaddress
import socket
from collections.abc import Callable

from runtime.errors import InvalidRequest, Unavailable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], tuple[str, ...]]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is given out to the open internet; whatever lies outside is local, reserved, or IPv4 in a wrapping that some network still opens."""

_SET_ASIDE = (ipaddress.ip_network("3fff::/20"), ipaddress.ip_network("192.88.99.0/24"))
"""Within what is given out, and known to newer versions of the library only: examples, and relays that are gone."""


def resolved(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, each once, in the order of the system.

    Raises:
        Unavailable: the name does not resolve now.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unavailable("the name of the receiver's host does not resolve", dependency="receiver") from error
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def allowed(addresses: tuple[str, ...], *, private: bool) -> tuple[str, ...]:
    """Those that may be connected to.

    Raises:
        InvalidRequest: none may.
    """
    usable = tuple(address for address in addresses if private or is_public(address))
    if not usable:
        raise InvalidRequest(
            "leads to a loopback, private or reserved address; WA_DELIVERY_PRIVATE_NETWORKS=true allows those", field="receivers.target"
        )
    return usable


def is_public(text: str) -> bool:
    """Whether the address is one of the open internet, whatever it is wrapped in."""
    try:
        address = _unwrapped(ipaddress.ip_address(text.split("%", 1)[0]))
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False
    return address.is_global and not address.is_multicast and not any(address in network for network in _SET_ASIDE)


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if it does."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
