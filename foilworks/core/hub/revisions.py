"""Identify the weights of a name without loading them, so that cached scores belong to these weights.

A folder is identified by the bytes of its files, a hub id by the commit in the local cache. Imports no torch.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from foilworks.core.hub.catalogue.number_formats import AUTO, FLOAT32, OPTION, resolve_dtype, split_dtype
from foilworks.core.hub.catalogue.registry import EVERY
from foilworks.core.hub.opening import open_helper

KINDS = frozenset({".json", ".safetensors", ".txt", ".model", ".jinja"})


def fingerprint(name: str, role: str, *, device: str = "auto") -> str:
    """Return `SLUG:NAME@REVISION` of what `open_helper(name, role)` opens.

    A hub id that was never loaded here is loaded, because the caller needs it next. HubError: it does not load.
    """
    slug, colon, argument = name.partition(":")
    if not colon or slug not in EVERY:
        slug, argument = role, name
    # Another number format gives other numbers, whether the name or the device chooses it.
    if split_dtype(argument)[1] == AUTO and (dtype := resolve_dtype(slug, AUTO, device)) != FLOAT32:
        argument = f"{argument}{'&' if '?' in argument else '?'}{OPTION}{dtype}"
    argument, mark, options = argument.partition("?")
    tail = mark + options + (f" ({EVERY[slug].origin})" if EVERY[slug].origin else "")
    if not argument:
        return f"{slug}:@{tail}"
    if Path(argument).is_dir():
        # Not the path: the same weights elsewhere are the same model.
        return f"{slug}:@{file_hash(argument)}{tail}"
    hub_id, _, revision = argument.partition("@")
    commit = _cached_commit(hub_id, revision)
    if not commit:
        open_helper(name, role, device=device)
        commit = _cached_commit(hub_id, revision)
    return f"{slug}:{hub_id}@{commit or revision}{tail}"


def file_hash(path: str) -> str:
    """Return sixteen hex digits of a file's bytes, or of all files of a folder that a score depends on; "" if neither
    exists.

    Cached for the process until a file changes.
    """
    root = Path(path)
    files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.suffix in KINDS and p.is_file())
    return _hash(tuple((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in files), str(root)) if files else ""


@lru_cache(maxsize=64)
def _hash(files: tuple[tuple[str, int, int], ...], root: str) -> str:
    digest = hashlib.sha256()
    for path, _, _ in files:
        name = Path(path).name if path == root else Path(path).relative_to(root).as_posix()
        digest.update(name.encode())
        with Path(path).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _cached_commit(hub_id: str, revision: str = "") -> str:
    """The commit of the snapshot in the local cache; "" where there is none."""
    try:
        config_path = try_to_load_from_cache(hub_id, "config.json", revision=revision or None)
    except HFValidationError:
        # A fake's seed, or a missing folder, which `open_helper` reports.
        return ""
    return Path(config_path).parent.name[:16] if isinstance(config_path, str) else ""
