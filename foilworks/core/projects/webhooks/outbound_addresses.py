"""Where the server may connect to on somebody's behalf: public addresses, and networks that the operator allows.

A name is resolved once and every address of it is looked at; the connection then goes to one of the addresses that were
looked at, so that a name cannot point elsewhere a moment later.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from foilworks.core.projects.errors import ProjectError
from foilworks.core.text.quoting import shortened

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
PORTS = {"http": 80, "https": 443}
MAX_URL_LENGTH = 500
# Below are the ports of mail, shells, databases of old: a request there could be read as a command.
UNPRIVILEGED = 1024
# They carry an IPv4 address that a gateway may lead to, whatever it is: NAT64, 6to4, Teredo, IPv4-compatible and
# IPv4-translated addresses; or they are special and Python calls them global: site-local, IETF's own, 6to4 relays.
NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "2001::/32",
        "::/96",
        "::ffff:0:0:0/96",
        "fec0::/10",
        # Segment routing and documentation, which Python 3.11 calls global.
        "5f00::/16",
        "3fff::/20",
        "192.0.0.0/24",
        "192.88.99.0/24",
    )
)


@dataclass(frozen=True)
class Target:
    """A checked URL: connect to `ip`, name `host` in TLS and in the Host header."""

    scheme: str
    host: str
    port: int
    ip: str
    path: str


def checked_target(url: str) -> Target:
    """The URL with an address that may be connected to. ProjectError says what is wrong; it resolves the name."""
    scheme, host, port, path = _parts(url)
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ProjectError(_("The host %(host)s was not found. Check the URL.") % {"host": shortened(host)}) from error
    addresses = [ipaddress.ip_address(str(answer[4][0]).partition("%")[0]) for answer in answers]
    for address in addresses:
        allowed = _is_allowed(address)
        if not allowed and not _is_public(address):
            raise ProjectError(
                _("%(host)s is a private address. Enter one that is reachable from the internet.") % {"host": host}
            )
        if not allowed and port < UNPRIVILEGED and port != PORTS["https"] and scheme == "https":
            raise ProjectError(_("Webhooks cannot use port %(port)s. Use 443, or 1024 or higher.") % {"port": port})
        if scheme == "http" and not allowed:
            raise ProjectError(_("Enter an https URL, so that the data is encrypted in transit."))
    return Target(scheme, host, port, str(addresses[0]), path)


def _parts(url: str) -> tuple[str, str, int, str]:
    invalid_url = ProjectError(_("Enter a URL such as https://example.org/hook, without a user name or fragment."))
    if len(url) > MAX_URL_LENGTH or not url.isascii() or not url.isprintable() or " " in url:
        raise invalid_url
    try:
        address = urlsplit(url)
        port = PORTS.get(address.scheme, 0) if address.port is None else address.port
    except ValueError as error:
        raise invalid_url from error
    if address.scheme not in PORTS or not port or not address.hostname or "@" in address.netloc or address.fragment:
        raise invalid_url
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    return address.scheme, address.hostname, port, path


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return _is_public(address.ipv4_mapped)
    if any(address in network for network in NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast


def _is_allowed(address: Address) -> bool:
    unmapped = getattr(address, "ipv4_mapped", None) or address
    return any(unmapped in ipaddress.ip_network(network) for network in settings.WEBHOOK_NETWORKS)
