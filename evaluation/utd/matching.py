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
    keys_by_id: dict[str, str] = {}
    for name in names:
        stem = stem_of(name)
        key = name if name in keys else sources.get(name) or stems.get(stem) or sources.get(stem)
        if key is not None:
            keys_by_id[name] = key
    ids_by_key = _unique((key, name) for name, key in keys_by_id.items())
    return {name: key for name, key in keys_by_id.items() if ids_by_key.get(key) == name}


def stem_of(name: str) -> str:
    """Return a file name without folder and extension; names without a video's extension keep their dots."""
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in EXTENSIONS else path.name


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    values_by_key: dict[str, set[str]] = {}
    for key, value in pairs:
        if key:
            values_by_key.setdefault(key, set()).add(value)
    return {key: values.pop() for key, values in values_by_key.items() if len(values) == 1}
