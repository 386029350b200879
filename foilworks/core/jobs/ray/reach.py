"""Ask whether a Ray cluster answers, without Ray: its own client tries for minutes, and says so only in its log."""

import re
import socket

SECONDS = 5.0
AWAY = "cannot reach Ray at {address} ({why}); check RAY_ADDRESS, and `ray status` on a node of the cluster"


def unreachable(address: str) -> str:
    """Return why nothing answers at `host:port`; an empty text if something does, or if the address has another form
    (`auto`, `ray://…`)."""
    match = re.fullmatch(r"\[?([^/\[\]]+)\]?:(\d+)", address)
    if match is None:
        return ""
    try:
        with socket.create_connection((match[1], int(match[2])), timeout=SECONDS):
            return ""
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
