"""Write an export as a complete folder or not at all, with a manifest that names every file.

Files are written into a hidden sibling folder, which is renamed at the end (foilworks.core.text.atomic_folders). An
existing folder is replaced only if it is an unchanged export of ours.
"""

import hashlib
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.manifest import MADE_BY, MANIFEST, read_manifest
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.corpus.rules.canonical import canonical_line
from foilworks.core.text.atomic_folders import abandoned, is_remains_of, set_aside, work_folder

_DIGEST = 6


def write_folder(out: Path, facts: Mapping[str, Any], fill: Callable[[Path], None]) -> list[Path]:
    """Let `fill` write the files, add the manifest with `facts`, put the folder in place; the paths of its files.

    CorpusError: `out` is something else already, or cannot be written.
    """
    out = Path(out)
    try:
        _recover(out)
        _check_target(out)
        with work_folder(out) as work:
            fill(work)
            write_manifest(work, facts)
            _replace(work, out)
    except OSError as error:
        raise CorpusError(f"{out}: cannot be written ({error.strerror}); free space, or name another folder") from error
    return sorted(path for path in out.rglob("*") if path.is_file())


def write_lines(path: Path, records: Iterable[Mapping[str, Any]], *, mode: str = "w") -> None:
    """Write one canonical JSON line per record. OSError if the disk refuses."""
    with path.open(mode, encoding="utf-8", newline="\n") as file:
        file.writelines(canonical_line(record) + "\n" for record in records)


def write_json(path: Path, value: Any) -> None:
    """A JSON document for people and programs: indented, text unescaped. OSError when the disk refuses."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(pretty(value), encoding="utf-8", newline="\n")


def pretty(value: Any) -> str:
    """The one way in which documents are laid out, so that equal content is equal bytes."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True) + "\n"


def write_zip(target: Path | IO[bytes], name: str, out: Path, written: Iterable[Path]) -> None:
    """Write the files of the export `out` into a zip, below a folder `name`."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in written:
            archive.write(path, f"{name}/{path.relative_to(out).as_posix()}")


def self_hash(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the manifest without its own hash, so that a changed byte of it is detected, too."""
    hashed_fields = {name: value for name, value in manifest.items() if name != "manifest_sha256"}
    return hashlib.sha256(pretty(hashed_fields).encode("utf-8")).hexdigest()


def manifest_hash(folder: Path) -> str:
    """Return the hash in a written folder's manifest, which covers every byte of every file."""
    return str(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["manifest_sha256"])


def write_manifest(folder: Path, facts: Mapping[str, Any]) -> None:
    """Describe the files of a folder: `facts`, and the hash and size of each. OSError if the disk refuses."""
    files = {
        path.relative_to(folder).as_posix(): {"sha256": _sha256(path), "bytes": path.stat().st_size}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    manifest = {"made_by": MADE_BY, **facts, "files": files}
    write_json(folder / MANIFEST, {**manifest, "manifest_sha256": self_hash(manifest)})


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_target(out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise CorpusError(f"{out}: is not a folder; name a folder for the export")
    if out.is_dir() and any(out.iterdir()) and not _is_untouched_export(out):
        raise CorpusError(f"{out}: contains other files; name a new or an empty folder")


def _is_untouched_export(folder: Path) -> bool:
    path = folder / MANIFEST
    manifest = read_manifest(path.read_bytes()) if path.is_file() else None
    file_names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return manifest is not None and file_names <= {MANIFEST, *manifest["files"]}


def _recover(out: Path) -> None:
    """Restore the export that a killed process had moved away to replace it."""
    if out.exists() or out.is_symlink():
        return
    for path in abandoned(out.parent):
        if is_remains_of(path, out) and _is_complete(path):
            path.rename(out)
            return


def _is_complete(folder: Path) -> bool:
    """Return whether every file that the manifest names is there in its size."""
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return all((folder / name).stat().st_size == facts["bytes"] for name, facts in files.items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def _replace(work: Path, out: Path) -> None:
    """Rename `work` to `out`; an earlier export is moved away first and restored if that fails."""
    if not (out.is_dir() and any(out.iterdir())):
        work.rename(out)
        return
    with set_aside(out) as aside:
        try:
            work.rename(out)
        except OSError:
            aside.rename(out)
            raise


def safe_name(text: str, limit: int = 80) -> str:
    """A file name that says `text` and can do nothing else: never hidden, never empty.

    ASCII letters, digits, dot, dash and underscore; accents are dropped ("été" becomes "ete"). A digest stands for
    letters that ASCII does not have.
    """
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain)[:limit].strip(".-")
    if not any(char.isalnum() and not char.isascii() for char in plain):
        return name or "unnamed"
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:_DIGEST]
    return f"{name[: limit - _DIGEST - 1].strip('.-')}-{digest}".strip("-")


def unused_name(text: str, taken: set[str]) -> str:
    """A safe name for `text`, different from those in `taken` on disks that ignore case too; it is added there."""
    name = safe_name(text)
    while name.casefold() in taken:
        name += "-again"
    taken.add(name.casefold())
    return name


def keys_in_file(items: Sequence[ItemRecord]) -> dict[str, ItemRecord]:
    """The items of one subtest by their keys in its file. Ids that begin with the subtest lose it again; they choose
    their keys first, and `1` beside `s:1` becomes `1~`."""
    prefix = f"{items[0].subtest}:"
    keys: dict[str, ItemRecord] = {}
    for item in sorted(items, key=lambda item: not item.id.startswith(prefix)):
        key = item.id.removeprefix(prefix)
        while key in keys:
            key += "~"
        keys[key] = item
    return keys
