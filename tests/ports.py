"""Ports for servers that tests and benchmarks start as programs of their own."""

import secrets
import socket

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
