"""Codes of an authenticator app (TOTP, RFC 6238: six digits, 30 seconds) and recovery codes. No table is touched."""

import hashlib
import hmac
import secrets
from datetime import datetime

import pyotp
import segno

from foilworks.core.projects.keys import valid_keys

ISSUER = "Foilworks"
STEP_SECONDS = 30
# Clocks go wrong: the step before and the one after count, too.
DRIFT_STEPS = 1
RECOVERY_CODES = 10
# Read from paper and typed: without letters and digits that look alike. Ten of 32 are 50 bits.
LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
PART_LENGTH = 5


def new_secret() -> str:
    """160 bits in base 32, as apps take it."""
    return pyotp.random_base32()


def provisioning_uri(secret: str, username: str) -> str:
    return pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=ISSUER)


def picture(secret: str, username: str) -> str:
    """The QR code of the address as a data URI of an SVG image."""
    return segno.make(provisioning_uri(secret, username), micro=False).svg_data_uri(scale=5, border=3, light="#fff")


def step_of(secret: str, code: str, now: datetime) -> int | None:
    """Return the time step of this code, among now and its neighbours, or None. In constant time."""
    digits = "".join(code.split())
    current_step, matching_step = int(now.timestamp()) // STEP_SECONDS, None
    totp = pyotp.TOTP(secret)
    for step in range(current_step - DRIFT_STEPS, current_step + DRIFT_STEPS + 1):
        if hmac.compare_digest(totp.at(step * STEP_SECONDS).encode(), digits.encode()):
            matching_step = step
    return matching_step


def new_recovery_codes() -> list[str]:
    return [
        "-".join("".join(secrets.choice(LETTERS) for _ in range(PART_LENGTH)) for _ in range(2))
        for _ in range(RECOVERY_CODES)
    ]


def digests_of(code: str, person_id: int) -> list[str]:
    """Return the hashes of a recovery code under each valid key, the newest first, independent of spaces and case."""
    letters = "".join(letter for letter in code.lower() if letter.isalnum())
    message = f"recovery:{person_id}:{letters}".encode()
    return [hmac.new(key.encode(), message, hashlib.sha256).hexdigest() for key in valid_keys()]
