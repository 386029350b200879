"""Match the ids of published files to the videos of a project."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from foilworks.core.corpus.models import Video
from foilworks.core.projects.models import Project

EXTENSIONS = frozenset({".mp4", ".avi", ".webm", ".mkv", ".mov", ".m4v", ".mpg", ".mpeg"})


def matched_keys(project: Project, names: Iterable[str]) -> dict[str, str]:
    """Return {published id: key of the video}; ids without a video are left out.

    An id is the key of a video, or else its source id, or else the file name without folder and extension of its key.
    An id that fits several videos, or a video that fits several ids, is left out. One query.
    """
    rows = list(Video.objects.filter(project=project).values_list("key", "source_id"))
    keys = {key for key, _ in rows}
    sources, stems = _unique((source, key) for key, source in rows), _unique((stem_of(key), key) for key in keys)
    found: dict[str, str] = {}
    for name in names:
        stem = stem_of(name)
        key = name if name in keys else sources.get(name) or stems.get(stem) or sources.get(stem)
        if key is not None:
            found[name] = key
    named = _unique((key, name) for name, key in found.items())
    return {name: key for name, key in found.items() if named.get(key) == name}


def stem_of(name: str) -> str:
    """Return a file name without folder and extension; names without a video's extension keep their dots."""
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in EXTENSIONS else path.name


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for one, other in pairs:
        if one:
            found.setdefault(one, set()).add(other)
    return {one: others.pop() for one, others in found.items() if len(others) == 1}
