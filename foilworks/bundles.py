"""The scripts and styles of pages as one file each: their modules in the order of their imports. Pure.

A page of many small modules costs a request a module, one after the other. The modules stay as they are written; this
wraps each in a function of its own and hands it what it imports. It knows the two forms that our modules use,
`import { a, b as c } from "./x.js"` and `export function | class | const`, and refuses any other.
"""

import gzip
import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable

from text.errors import ActionableError

# name of a bundle -> its entries, in the order in which a page would load them.
BUNDLES: dict[str, tuple[str, ...]] = {
    "app.css": ("foilworks/tokens.css", "foilworks/base.css", "foilworks/components.css"),
    "app.js": ("foilworks/app.js",),
    "video.js": ("foilworks/video.js",),
    "work.css": (
        "foilworks/tokens.css",
        "foilworks/base.css",
        "foilworks/components.css",
        "foilworks/player.css",
        "annotation/work.css",
    ),
    "work.js": ("foilworks/app.js", "annotation/work.js"),
}
HASH = 12
_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";[^\S\n]*$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)
_UNKNOWN = re.compile(r"^(?:import|export)\b|\bimport\(|\bimport\.meta\b", re.MULTILINE)

Read = Callable[[str], str]


class BundleError(ActionableError):
    """A module cannot be bundled; the message names it and what to write instead."""


def bundled(name: str, read: Read) -> bytes:
    """The bundle's bytes; `read` gives the text of a static file by its path. The same sources give the same bytes."""
    entries = BUNDLES[name]
    text = _styles(entries, read) if name.endswith(".css") else _scripts(entries, read)
    return text.encode()


def hashed_name(name: str, content: bytes) -> str:
    """work.js -> work.0123456789ab.js: another content is another file, so browsers may keep it for good."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{hashlib.sha256(content).hexdigest()[:HASH]}.{suffix}"


def compressed(content: bytes) -> bytes:
    """gzip without a time in it."""
    return gzip.compress(content, 9, mtime=0)


def _styles(paths: Iterable[str], read: Read) -> str:
    found = {path: read(path) for path in paths}
    for path, text in found.items():
        if "url(" in text or "@import" in text:
            raise BundleError(f"{path}: url() and @import would point elsewhere in a bundle; write the rule out")
    return "\n".join(found.values())


def _scripts(entries: Iterable[str], read: Read) -> str:
    order: dict[str, str] = {}
    for entry in entries:
        _add(entry, read, order, ())
    names = {path: f"m{number}" for number, path in enumerate(order)}
    return "\n".join(_wrapped(path, text, names) for path, text in order.items())


def _add(path: str, read: Read, order: dict[str, str], above: tuple[str, ...]) -> None:
    """What the module imports first, then the module, each once."""
    if path in above:
        raise BundleError(
            f"{path}: imports itself by way of {', '.join(above)}; move what they share to a third module"
        )
    if path in order:
        return
    text = read(path)
    for match in _IMPORT.finditer(text):
        _add(_resolved(path, match.group(2)), read, order, (*above, path))
    order[path] = text


def _resolved(path: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), source))


def _wrapped(path: str, text: str, names: dict[str, str]) -> str:
    exported = [match.group(2) for match in _EXPORT.finditer(text)]

    def taken(match: re.Match[str]) -> str:
        wanted = " ".join(match.group(1).split()).replace(" as ", ": ")
        return f"const {{ {wanted} }} = {names[_resolved(path, match.group(2))]};"

    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(taken, text))
    if unknown := _UNKNOWN.search(body):
        line = body[: unknown.start()].count("\n") + 1
        raise BundleError(
            f'{path}:{line}: write `import {{ … }} from "./x.js";` and `export function | class | const`, each at the '
            "start of a line"
        )
    return f"const {names[path]} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"
