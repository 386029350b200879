"""Parse values of the environment: numbers, switches, choices, lists, networks.

Pure: only settings.py reads the environment, and passes the values. ImproperlyConfigured says in one line what is wrong
with a value and how to write it. An empty value counts as not set: container files pass such values on.
"""

import hashlib
import ipaddress
import math
import re
from collections.abc import Iterable
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

ON, OFF = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


def variables(path: Path) -> dict[str, str]:
    """Return the variables of a file of KEY=VALUE lines, as UTF-8. Nothing is evaluated: `$`, `&` and `` ` `` stay.

    A value is what follows the first `=`, without a pair of equal quotes around it. Lines that start with `#` are
    comments; shells, Compose and systemd disagree on a `#` after a value, so it is refused after a quoted one.
    ImproperlyConfigured names the line, but not its value, which may be a secret.
    """
    try:
        # Not `splitlines`, which ends lines inside of a value, too, such as at U+2028.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"cannot read {path} ({error}); make it readable UTF-8, or remove it") from error
    values: dict[str, str] = {}
    for line_number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name, value = name.removeprefix("export ").strip(), value.strip()
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise ImproperlyConfigured(f"{path}, line {line_number}: write it as NAME=value, or start it with #")
        is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
        if "\0" in value or (not is_quoted and re.match(r"""(['"]).*\1\s+#""", value)):
            raise ImproperlyConfigured(f"{path}, line {line_number}: end it after the value; write comments above it")
        values[name] = value[1:-1] if is_quoted else value
    return values


def whole_number(name: str, text: str, default: int, least: int = 0) -> int:
    """Return the whole number, or the default if there is no value."""
    if not text.strip():
        return default
    try:
        value = int(text)
    except ValueError:
        wanted = f"not a whole number; write one of at least {least}, or leave it out ({default})"
        raise ImproperlyConfigured(f"{name} is {text!r}, {wanted}") from None
    if value < least:
        wanted = f"write a whole number of at least {least}, or leave it out ({default})"
        raise ImproperlyConfigured(f"{name} is {text}; {wanted}")
    return value


def number(name: str, text: str, default: float, above: float | None = None) -> float:
    """Return the number, at least 0 or above `above`; the default if there is no value."""
    if not text.strip():
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and (value >= 0 if above is None else value > above):
        return value
    said = f"{name} is {text}" if math.isfinite(value) else f"{name} is {text!r}, not a number"
    bound = "of at least 0" if above is None else f"above {above:g}"
    raise ImproperlyConfigured(f"{said}; write one {bound}, or leave it out ({default:g})")


def flag(name: str, text: str, default: bool) -> bool:
    """Return whether the switch is on. Any other word is an error, so that no rule is silently off."""
    word = text.strip().lower()
    if word and word not in ON | OFF:
        raise ImproperlyConfigured(f"{name} is {text!r}; write 1 to switch it on, 0 to switch it off")
    return word in ON if word else default


def resources(name: str, text: str) -> tuple[tuple[str, float, float], ...]:
    """Return (pattern, CPUs, GPUs) of each part of "clip:* 2 0.5, * 4 1"."""
    found = []
    for part in filter(str.strip, text.split(",")):
        try:
            pattern, cpus, gpus = part.split()
            needs = (float(cpus), float(gpus))
        except ValueError:
            needs = (math.nan, 0.0)
        # Ray takes parts of one GPU, or whole ones.
        if not (0 <= needs[0] < math.inf and 0 <= needs[1] < math.inf) or (needs[1] > 1 and needs[1] % 1):
            wanted = "write pattern, CPUs and GPUs, such as 'clip:* 2 0.5, * 4 1'; above 1, GPUs are whole numbers"
            raise ImproperlyConfigured(f"{name} contains {part.strip()!r}; {wanted}")
        found.append((pattern, *needs))
    return tuple(found)


def choice(name: str, text: str, options: Iterable[str]) -> str:
    """Return one of the options; the first is the default."""
    options = tuple(options)
    if text and text not in options:
        raise ImproperlyConfigured(f"{name} is {text!r}; write one of: {', '.join(options)}")
    return text or options[0]


def device(name: str, text: str) -> str:
    if text and not re.fullmatch(r"auto|cpu|cuda(:\d+)?", text):
        raise ImproperlyConfigured(f"{name} is {text!r}; write auto, cpu, cuda or cuda:N, such as cuda:1")
    return text or "auto"


def listed(text: str) -> list[str]:
    """Return the words between commas or spaces."""
    return text.replace(",", " ").split()


def networks(name: str, text: str) -> tuple[str, ...]:
    """Return the networks between commas or spaces. An invalid one fails here, not at the first request."""
    found = tuple(listed(text))
    for each in found:
        try:
            ipaddress.ip_network(each)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}; write networks such as 10.1.0.0/16") from None
    return found


def digest(folder: Path, *versions: str) -> str:
    """Return twelve hexadecimal digits that change with the files below the folder and with the versions."""
    made = hashlib.sha256("\n".join(versions).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        made.update(f"\n{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return made.hexdigest()[:12]


def media_hosts(text: str) -> tuple[str, ...]:
    """Return hosts as origins: "Example.org, http://a" -> ("https://example.org", "http://a")."""
    hosts = text.lower().replace(",", " ").split()
    return tuple(host if "://" in host else f"https://{host}" for host in hosts)
