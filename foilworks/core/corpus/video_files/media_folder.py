"""A folder of media files with inconsistent spellings.

A name that is not found exactly is compared without regard to Unicode form, letter case and blanks.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from foilworks.core.corpus.video_files.ingest import SUFFIXES, find_media

# The similarity of two names from which one is probably a typing error of the other.
SIMILARITY = 0.8


class FoundFile(NamedTuple):
    """A media file; `differs_in` says how its name differs from the requested one, or ""."""

    path: Path
    requested_name: str
    name: str
    differs_in: str = ""


class MediaFolder:
    """A folder of media files, listed only if a name is not found exactly."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, names: Iterable[str]) -> FoundFile | None:
        """The file with one of the names, with or without a video suffix; else the only one that is spelled alike.

        CorpusError when a link leads out of the folder.
        """
        names = [name for name in names if name]
        exact = find_media(self.folder, names)
        if exact is not None:
            return FoundFile(exact, names[0], exact.name)
        for name in names:
            spelled_names = self._by_spelling.get(spelling(name), [])
            path = find_media(self.folder, spelled_names) if len(spelled_names) == 1 else None
            if path is not None:
                return FoundFile(path, name, spelled_names[0], _difference(name, spelled_names[0]))
        return None

    def similar(self, names: Iterable[str], used: Collection[Path] = ()) -> str:
        """Return the name of the file that is probably meant, or ""; `used` files belong to others."""
        free = {
            key: names_on_disk
            for key, names_on_disk in self._by_spelling.items()
            if not used or not self._all_used(names_on_disk, used)
        }
        for name in names:
            near_spellings = get_close_matches(spelling(name), free, n=1, cutoff=SIMILARITY) if name else []
            if near_spellings:
                return free[near_spellings[0]][0]
        return ""

    def _all_used(self, names: Iterable[str], used: Collection[Path]) -> bool:
        return all((self.folder / name).resolve() in used for name in names)

    @cached_property
    def _by_spelling(self) -> dict[str, list[str]]:
        """Names below the folder by their spelling, with and without a video suffix."""
        names_by_spelling: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(self.folder).as_posix()
                names_by_spelling[spelling(name)].append(name)
                if path.suffix.lower() in SUFFIXES[1:]:
                    names_by_spelling[spelling(name.removesuffix(path.suffix))].append(name)
        return dict(names_by_spelling)


def names_in_folder(folder: Path | None) -> list[str]:
    """Return the names of the files in the folder and below it; none without a folder."""
    return [path.name for path in folder.rglob("*") if path.is_file()] if folder and folder.is_dir() else []


def _unicode_form(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _collapse_blanks(name: str) -> str:
    return "/".join(" ".join(segment.split()) for segment in PurePosixPath(name).parts)


_STEPS = {"Unicode form": _unicode_form, "letter case": str.casefold, "blanks": _collapse_blanks}


def spelling(name: str, without: str = "") -> str:
    """Return a normal form of a name: Unicode form, letter case and blanks, except `without`."""
    # Twice, because case folding may change the form.
    for step in (*_STEPS, *_STEPS):
        name = name if step == without else _STEPS[step](name)
    return name


def _difference(requested_name: str, file_name: str) -> str:
    """Return what two equal-looking names differ in; "" if only the suffix differs."""
    suffix = PurePosixPath(file_name).suffix
    pair = (
        requested_name[: -len(suffix)] if requested_name.lower().endswith(suffix.lower()) else requested_name,
        file_name.removesuffix(suffix),
    )
    ways = [step for step in _STEPS if spelling(pair[0], step) != spelling(pair[1], step)]
    return " and ".join(ways)
