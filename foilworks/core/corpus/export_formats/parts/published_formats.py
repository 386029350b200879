"""Shared by the published formats of one foil per item, and of captions only: which records fit."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.folder import write_folder
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts, released_items
from foilworks.core.corpus.export_formats.parts.tables import by_subtest, is_trimmed
from foilworks.core.corpus.records import ItemRecord, RecordContent, ReleaseContent

Writer = Callable[[Path, list[ItemRecord]], None]


def write_pairs(
    release: ReleaseContent | RecordContent, out: Path, format_name: str, ending: str, write: Writer
) -> list[Path]:
    """Write one file per subtest with the items that have one foil; the manifest names the others.

    CorpusError: there is none, or the folder cannot be written.
    """
    items = released_items(release)
    fitting = [item for item in items if len(item.foils) == 1]
    if not fitting:
        raise CorpusError(f"{release.release or release.project}: has no item with one foil; export another format")
    left_out = sorted(item.id for item in items if len(item.foils) > 1)

    def fill(folder: Path) -> None:
        for name, subtest_items in by_subtest(fitting, ending).items():
            write(folder / name, subtest_items)

    return write_folder(out, {**manifest_facts(release, format_name, len(fitting)), "left_out": left_out}, fill)


def texts_of(items: Iterable[ItemRecord]) -> dict[str, list[str]]:
    """The captions by the name of their clip, each once, in their order. Clips that would share a name, as those of
    two data sets that number their videos, go by their keys."""
    names: dict[str, str] = {}
    captions_by_key: dict[str, dict[str, None]] = {}
    for item in items:
        video = item.video
        names.setdefault(video.key, video.key if is_trimmed(video) else video.source_id or video.key)
        captions_by_key.setdefault(video.key, {})[item.caption] = None
    n_named = Counter(names.values())
    return {
        key if n_named[names[key]] > 1 or names[key] in captions_by_key else names[key]: list(texts)
        for key, texts in captions_by_key.items()
    }


def caption_items(release: ReleaseContent | RecordContent) -> Collection[ItemRecord]:
    """The records with a caption: all of them. CorpusError: there is none."""
    items = released_items(release)
    if not len(items):
        raise CorpusError(f"{release.release or release.project}: has no captions; import some first")
    return items


def kept_fields(item: ItemRecord, taken: Collection[str]) -> Mapping[str, Any]:
    """The unknown fields that the record was imported with, returned."""
    return {name: value for name, value in item.extra.items() if name not in taken}
