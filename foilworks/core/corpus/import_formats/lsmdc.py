"""`lsmdc`: the annotations of LSMDC, tab-separated without a header: clip, start_aligned, end_aligned,
start_extracted, end_extracted, sentence.

The clip names its movie: `0001_American_Beauty_00.00.51.926-00.00.54.129`. A clip with several sentences is several
captions. `splits=within_movies` replaces the published split of whole movies: 80/10/10 % of each movie's clips
(contrast sets, Sec. D.2), so that the characters of a test caption are known from the train captions.

A list of characters beside the file, `characters.tsv` with the columns movie, name, gender and optionally aliases
(separated by "|"), becomes a fact of each caption of the movie, with the number of train sentences that name the
character. The method `identity_swap` reads it.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from foilworks.core.corpus.import_formats.parsing.characters import read_characters
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    default_subtest,
    read_records,
    video_of,
)
from foilworks.core.corpus.import_formats.parsing.splits import split_of
from foilworks.core.corpus.import_formats.parsing.text_lines import lines
from foilworks.core.corpus.records import ItemRecord, ReadOutcome
from foilworks.core.text.quoting import quoted

DATASET, CHARACTERS = "LSMDC", "characters.tsv"
CELLS = 6
WITHIN_MOVIES = "within_movies"
_CLIP = re.compile(r"(?P<movie>.+)_\d{2}\.\d{2}\.\d{2}\.\d{3}-\d{2}\.\d{2}\.\d{2}\.\d{3}")


class Cast(NamedTuple):
    """The characters of a movie, and a pattern of all their names."""

    characters: list[dict[str, Any]]
    pattern: re.Pattern[str]


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the sentences. CorpusError: the file or the list of characters cannot be read."""
    subtest, split, names = default_subtest(path, params), split_of(path, params), Names()
    splits = _within_movies(path, int(params.get("seed") or 0)) if params.get("splits") == WITHIN_MOVIES else {}
    casts = _casts(path, splits, split)

    def parse(raw: RawRecord) -> ItemRecord:
        item = _parse(raw, subtest, names)
        cast = casts.get(item.video.movie)
        return replace(
            item,
            video=replace(item.video, split=splits.get(item.video.source_id, split)),
            facts={"characters": cast.characters} if cast else {},
        )

    yield from read_records(path, _rows(path), parse, own_ids=False)


def _rows(path: Path) -> Iterator[RawRecord]:
    """Yield the rows; a quotation mark is a character of the sentence like any other."""
    for line, text in lines(path):
        cells = (text or "").rstrip("\r").split("\t")
        if len(cells) != CELLS:
            yield RawRecord(None, None, line, f"has {len(cells)} cells, not {CELLS}", "row")
        else:
            yield RawRecord(None, {"clip": cells[0].strip(), "sentence": cells[-1].strip()}, line)


def _parse(raw: RawRecord, subtest: str, names: Names) -> ItemRecord:
    fields = Fields(raw.value)
    clip, sentence = checked_id("clip", fields.media_name("clip")), fields.sentence("sentence")
    return ItemRecord(
        id=checked_id("clip", f"{subtest}:{names.name(clip, sentence)}"),
        subtest=subtest,
        video=replace(video_of(DATASET, clip), movie=_movie(clip)),
        caption=sentence,
        line=raw.line,
    )


def _movie(clip: str) -> str:
    match = _CLIP.fullmatch(clip)
    if match is None:
        raise ProblemError("clip", f"is {quoted(clip)}", "give MOVIE_HH.MM.SS.mmm-HH.MM.SS.mmm")
    return match["movie"]


def _clips(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield movie, clip and sentence of the good rows."""
    for row in _rows(path):
        match = _CLIP.fullmatch(row.value["clip"]) if row.value else None
        if match is not None:
            yield match["movie"], row.value["clip"], row.value["sentence"]


def _within_movies(path: Path, seed: int) -> dict[str, str]:
    """Assign each clip a split: a tenth of its movie's clips is val, a tenth test, the others train."""
    movies: dict[str, set[str]] = defaultdict(set)
    for movie, clip, _sentence in _clips(path):
        movies[movie].add(clip)
    splits = {}
    for clips in movies.values():
        order = sorted(clips, key=lambda clip: hashlib.sha256(f"{seed}:{clip}".encode()).digest())
        tenth = round(len(order) / 10)
        for index, clip in enumerate(order):
            splits[clip] = "val" if index < tenth else "test" if index < 2 * tenth else "train"
    return splits


def _casts(path: Path, splits: Mapping[str, str], split: str) -> dict[str, Cast]:
    """Return the characters by movie, with the number of train sentences that name them."""
    cast_file = path.parent / CHARACTERS
    if not cast_file.is_file():
        return {}
    casts = {movie: Cast(people, names_pattern(_names(people))) for movie, people in read_characters(cast_file).items()}
    for movie, clip, sentence in _clips(path):
        if movie in casts and splits.get(clip, split) in ("", "train"):
            _count(casts[movie], sentence)
    return casts


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Compile a pattern that finds the names as whole words; the longest name wins."""
    return re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\b")


def _names(people: Iterable[Mapping[str, Any]]) -> set[str]:
    return {name for character in people for name in (character["name"], *character.get("aliases", ()))}


def _count(cast: Cast, sentence: str) -> None:
    names_in_sentence = set(cast.pattern.findall(sentence))
    for character in cast.characters:
        character["frequency"] += not names_in_sentence.isdisjoint(_names([character]))
