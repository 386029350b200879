"""What the words in the environment mean: numbers, switches, choices, lists, networks.

Pure: settings.py alone reads the environment, and hands over what it found. ImproperlyConfigured says in one line what
is wrong with a value and how it is written. An empty value is one that was not given: files of containers pass such on.
"""

import hashlib
import ipaddress
import math
import re
from collections.abc import Iterable
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

ON, OFF = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


def whole_number(name: str, text: str, default: int, least: int = 0) -> int:
    """The whole number, or the default where nothing is written."""
    if not text.strip():
        return default
    try:
        value = int(text)
    except ValueError:
        wanted = f"no whole number; write one from {least} on, or leave it out ({default})"
        raise ImproperlyConfigured(f"{name} is {text!r}, {wanted}") from None
    if value < least:
        wanted = f"write a whole number from {least} on, or leave it out ({default})"
        raise ImproperlyConfigured(f"{name} is {text}; {wanted}")
    return value


def number(name: str, text: str, default: float, above: float | None = None) -> float:
    """The number, from 0 on or above `above`; the default where nothing is written."""
    if not text.strip():
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and (value >= 0 if above is None else value > above):
        return value
    said = f"{name} is {text}" if math.isfinite(value) else f"{name} is {text!r}, no number"
    bound = "from 0 on" if above is None else f"above {above:g}"
    raise ImproperlyConfigured(f"{said}; write one {bound}, or leave it out ({default:g})")


def flag(name: str, text: str, default: bool) -> bool:
    """Whether it is switched on. A word that is neither is no off: a rule that somebody meant to set would not hold."""
    word = text.strip().lower()
    if word and word not in ON | OFF:
        raise ImproperlyConfigured(f"{name} is {text!r}; write 1 to switch it on, 0 to switch it off")
    return word in ON if word else default


def choice(name: str, text: str, options: Iterable[str]) -> str:
    """One of the options; the first is the default."""
    options = tuple(options)
    if text and text not in options:
        raise ImproperlyConfigured(f"{name} is {text!r}; write one of: {', '.join(options)}")
    return text or options[0]


def device(name: str, text: str) -> str:
    if text and not re.fullmatch(r"auto|cpu|cuda(:\d+)?", text):
        raise ImproperlyConfigured(f"{name} is {text!r}; write auto, cpu, cuda or cuda:N, such as cuda:1")
    return text or "auto"


def listed(text: str) -> list[str]:
    """Words with commas or spaces between them."""
    return text.replace(",", " ").split()


def networks(name: str, text: str) -> tuple[str, ...]:
    """Networks with commas or spaces between them; what is none would fail at the request that it was written for."""
    found = tuple(listed(text))
    for each in found:
        try:
            ipaddress.ip_network(each)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}; write networks such as 10.1.0.0/16") from None
    return found


def digest(folder: Path, *versions: str) -> str:
    """Twelve hexadecimal digits that change with the files below the folder and with the versions."""
    made = hashlib.sha256("\n".join(versions).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        made.update(f"\n{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return made.hexdigest()[:12]
