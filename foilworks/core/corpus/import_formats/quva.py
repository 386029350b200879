"""`quva`: counting captions from QUVA's repetitions, in the form of ViLMA's template file.

The file is ViLMA's `{"000": {"prefix", "templates", "singular_templates", …}}`. The frames at which the repetitions of
a video end are in its entry (`"frames": [13, 26, …]`), or in QUVA's own file `annotations/PREFIX.npy` beside the
template file. Windows of consecutive repetitions become clips, sampled per video as in ViLMA (ViLMA, Sec. C.2, and
`create_instrument.py` of its code); each gets a template of its video, with its count filled in.

With `foils=published`, a record also gets a foil whose count is drawn in proportion to the windows of all videos, as in
the published code. Without, it is a caption to make foils for.
"""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_content, check_sentence
from foilworks.core.corpus.import_formats.parsing.json_records import Member, members, read_text
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    clip_key,
    default_subtest,
    read_records,
)
from foilworks.core.corpus.import_formats.parsing.windows import Window, draw, draw_count, frequencies, windows
from foilworks.core.corpus.records import MAX_ID, ItemRecord, ReadOutcome, VideoRecord
from foilworks.core.text.language.numbers import WORDS
from foilworks.core.text.quoting import quoted

DATASET, SLOT = "QUVA", "<number>"
FOLDERS = ("annotations", "normalized_annotations")
# QUVA's longest video has 63 repetitions.
MAX_REPETITIONS = 10_000


class QuvaSampling(NamedTuple):
    """The parameters: counts from `low` to `high` in captions, `foil_low` to `foil_high` in foils."""

    subtest: str
    low: int
    high: int
    foil_low: int
    foil_high: int
    per_video: int
    has_foils: bool
    in_words: bool
    seed: int


class Entry(NamedTuple):
    """A video: its frames and templates, plural and singular."""

    key: str
    prefix: str
    templates: tuple[str, ...]
    singular: tuple[str, ...]
    frames: tuple[int, ...]


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """Read the sampled windows of all videos. CorpusError: no complete JSON, or an invalid parameter."""
    sampling, folder = _sampling(path, params), path.parent / str(params.get("annotations") or FOLDERS[0])
    entries = [_entry(path, member, folder) for member in members(path, read_text(path))]
    valid_entries = [entry for _line, entry in entries if isinstance(entry, Entry)]
    choices = frequencies((entry.frames for entry in valid_entries), sampling.foil_low, sampling.foil_high)
    if sampling.has_foils and valid_entries and not choices:
        raise CorpusError(f"{path}: no video has {sampling.foil_low} repetitions; leave out foils=published")
    raw = (record for line, entry in entries for record in _sample_windows(entry, line, sampling, choices))
    yield from read_records(path, raw, lambda record: _parse(record, sampling))


def _sampling(path: Path, params: Mapping[str, Any]) -> QuvaSampling:
    high, threshold = int(params.get("max") or 10), int(params.get("threshold") or 3)
    if not 1 <= threshold < high < len(WORDS):
        problem = f"parameters 'threshold' and 'max' are {threshold} and {high}"
        raise CorpusError(f"{problem}; give whole numbers with 1 <= threshold < max <= {len(WORDS) - 1}")
    per_video = int(params.get("per_video") or 0)
    if per_video < 0:
        raise CorpusError(f"parameter 'per_video' is {per_video}; give a whole number from 0 (all windows)")
    small, large = (1, threshold), (threshold + 1, high)
    counts = params.get("counts") or "all"
    caption, foil = {"easy": (small, large), "difficult": (large, small)}.get(counts, ((1, high), (1, high)))
    return QuvaSampling(
        default_subtest(path, params),
        *caption,
        *foil,
        per_video,
        params.get("foils") == "published",
        params.get("style") != "digits",
        int(params.get("seed") or 0),
    )


def _entry(path: Path, member: Member, folder: Path) -> tuple[int, Entry | ProblemError]:
    try:
        check_content(member.value)
        fields = Fields(member.value)
        prefix = checked_id("prefix", fields.media_name("prefix"))
        frames = fields.get("frames")
        if frames is None:
            frames = _read_annotations(folder / f"{prefix}.npy")
        key = checked_id("id", member.key or fields.label("id", MAX_ID))
        templates, singular = _texts(fields, "templates"), _texts(fields, "singular_templates")
        if not templates:
            raise ProblemError("templates", "is empty", f"give one template with {SLOT}")
        if singular and len(singular) != len(templates):
            problem = f"has {len(singular)} texts, but there are {len(templates)} templates"
            raise ProblemError("singular_templates", problem, "give one per template, or none")
        return member.line, Entry(key, prefix, templates, singular, _check_frames(frames))
    except ProblemError as error:
        return member.line, error


def _read_annotations(path: Path) -> list[int]:
    """Read an annotation file of QUVA. ProblemError: there is none, or it is no list of whole numbers."""
    fix = "add the list of frames, or import the file beside QUVA's folder of annotations"
    if not path.is_file():
        raise ProblemError("frames", f"is missing, and there is no {path.parent.name}/{path.name}", fix)
    try:
        # Mapped, so that a header that states a huge array takes no memory.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ProblemError("frames", f"{path.name} is no array of numbers", fix) from error
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.size > MAX_REPETITIONS:
        raise ProblemError("frames", f"{path.name} is no list of at most {MAX_REPETITIONS} frames", fix)
    values: list[int] = array.tolist()
    return values


def _check_frames(frames: Any) -> tuple[int, ...]:
    if not isinstance(frames, list) or not frames or len(frames) > MAX_REPETITIONS:
        raise ProblemError("frames", "is no list of frames", f"give 1 to {MAX_REPETITIONS} frames")
    before = 0
    for index, frame in enumerate(frames):
        if isinstance(frame, bool) or not isinstance(frame, int | float) or frame != int(frame) or frame <= before:
            problem = f"is {quoted(frame)}, not a whole number after {before}"
            raise ProblemError(f"frames[{index}]", problem, "give the frames at which the repetitions end, in order")
        before = int(frame)
    return tuple(int(frame) for frame in frames)


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    values = fields.get(name)
    if values is None:
        return ()
    if not isinstance(values, list):
        raise ProblemError(name, "is not a list", f"give a list of templates with {SLOT}")
    for index, value in enumerate(values):
        if check_sentence(f"{name}[{index}]", value).count(SLOT) != 1:
            raise ProblemError(f"{name}[{index}]", f"does not contain {SLOT} once", "write it once")
    return tuple(values)


def _sample_windows(
    entry: Entry | ProblemError, line: int, sampling: QuvaSampling, choices: Mapping[int, int]
) -> Iterator[RawRecord]:
    """Yield the sampled windows of a video, each with a template and the count of its foil; equal ones once."""
    if isinstance(entry, ProblemError):
        yield RawRecord(None, {"error": entry}, line)
        return
    rng, yielded_samples = random.Random(f"{sampling.seed}:{entry.prefix}"), set()
    # "exactly one push-up" needs its own template.
    low, foils = (sampling.low, choices) if entry.singular else (max(2, sampling.low), _without_one(choices))
    all_windows = windows(entry.frames, low, sampling.high)
    for window in draw(all_windows, sampling.per_video, rng) if sampling.per_video else all_windows:
        template = rng.randrange(len(entry.templates))
        foil = draw_count(foils, rng) if sampling.has_foils and foils else 0
        while foil == window.count and len(foils) > 1:
            foil = draw_count(foils, rng)
        sample = window, template, foil
        if sample not in yielded_samples:
            yielded_samples.add(sample)
            yield RawRecord(entry.key, {"entry": entry, "drawn": sample}, line)


def _without_one(choices: Mapping[int, int]) -> dict[int, int]:
    return {count: number for count, number in choices.items() if count > 1}


def _parse(raw: RawRecord, sampling: QuvaSampling) -> ItemRecord:
    if "error" in raw.value:
        raise raw.value["error"]
    entry: Entry = raw.value["entry"]
    window, template, foil = raw.value["drawn"]
    name = f"{entry.prefix}.mp4"
    edges = f"{window.start:04d}-{window.end:04d}-{window.count}"
    suffix = f"-{foil}-{template}" if foil else f"-{template}"
    start, end = float(window.start), float(window.end)
    return ItemRecord(
        id=checked_id("id", f"{sampling.subtest}:{entry.key}-{edges}{suffix}"),
        subtest=sampling.subtest,
        video=VideoRecord(
            key=clip_key(DATASET, name, start, end, "frames"),
            file=name,
            source_dataset=DATASET,
            source_id=name,
            start_time=start,
            end_time=end,
            time_unit="frames",
            split="test",
        ),
        caption=_fill_template(entry, template, window.count, sampling),
        foils=(_fill_template(entry, template, foil, sampling),) if foil else (),
        extra={"class": window.count, "classes_foil": [foil]} if foil else {},
        facts=_facts(entry, window, template),
        line=raw.line,
    )


def _facts(entry: Entry, window: Window, template: int) -> dict[str, Any]:
    return {
        "count": window.count,
        "template": entry.templates[template],
        "template_id": template,
        "frames": list(window.edges),
        "repetitions": len(entry.frames),
    }


def _fill_template(entry: Entry, template: int, count: int, sampling: QuvaSampling) -> str:
    text = (entry.singular if count == 1 else entry.templates)[template]
    return text.replace(SLOT, WORDS[count] if sampling.in_words else str(count))
