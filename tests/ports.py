"""Ports and addresses of servers that tests start as programs of their own."""

import secrets
import socket
from pathlib import Path
from urllib.parse import quote

from foilworks.site.supervisor.redis_socket import redis_socket_path

# Below what systems give to outgoing connections (Linux from 32768, macOS from 49152): one of those would take the port
# before its server is up, or while it is down.
PORTS = range(20_000, 32_000)


def free_port() -> int:
    """One that nobody listens to on this machine."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def redis_url(home: Path) -> str:
    """Return the address of the embedded Redis of ``home`` as redis-py reads it: ``unix://PATH?db=0``."""
    return f"unix://{quote(str(redis_socket_path(home)))}?db=0"
