"""Read and write UTD descriptions as files: `{video: {concept: [one text per frame]}}`, one JSON file for all concepts
or one each.

The authors publish pickles, which execute code when opened: they are never read here.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.score_files.json_records import fail
from evaluation.utd.concepts import ACTIVITIES, DESCRIPTION, OBJECTS, SUMMARY, VERBS, frame_text, published_text
from evaluation.utd.described_videos import DescribedVideos
from evaluation.utd.models import Descriptions
from evaluation.utd.samples import frame_texts
from evaluation.utd.streamed_json import members
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.text.storable import storable

# The authors' name of the summaries.
NAMES = {concept: concept for concept in (DESCRIPTION, OBJECTS, ACTIVITIES, VERBS)}
NAMES[SUMMARY] = f"{DESCRIPTION}_15_words"
CONCEPT_OF = {name: concept for concept, name in NAMES.items()} | {SUMMARY: SUMMARY}
MAX_TEXT_LENGTH = 20_000
PUBLISHED_FILE = "annotations_{name}.json"
MAX_FRAMES = 64


def read_descriptions(paths: Sequence[Path]) -> DescribedVideos:
    """Return {video: [{concept: text} per frame]} on disk. EvaluationError names file, video and concept."""
    descriptions = DescribedVideos()
    for path in paths:
        if path.suffix in {".pickle", ".pkl"}:
            raise EvaluationError(f"{path}: a pickle can contain code and is not opened; save it as JSON")
        for video, concepts in members(path):
            descriptions.add(video, _taken(path, video, concepts))
    for video, counts in descriptions.uneven():
        raise EvaluationError(
            f"{video}: its concepts have {counts[0]} to {counts[-1]} frames; give the same number for all"
        )
    return descriptions


def _taken(path: Path, video: str, concepts: Any) -> dict[str, list[str]]:
    own: dict[str, list[str]] = {}
    if not isinstance(concepts, dict):
        fail(path, None, video, "is not an object", "write {concept: [one text per frame]}")
    for name, texts in concepts.items():
        concept = CONCEPT_OF.get(name)
        if concept is None:
            fail(path, None, f"{video}.{name}", "is not a concept", f"name one of {', '.join(NAMES.values())}")
        if not isinstance(texts, list) or not 0 < len(texts) <= MAX_FRAMES:
            fail(
                path, None, f"{video}.{name}", "is not a list of texts", f"give 1 to {MAX_FRAMES} texts, one per frame"
            )
        for text in texts:
            if not isinstance(text, str) or len(text) > MAX_TEXT_LENGTH:
                fail(
                    path,
                    None,
                    f"{video}.{name}",
                    "contains something other than text, or a text that is too long",
                    "give texts",
                )
        own[concept] = [storable(text) for text in texts]
    return own


def written(videos: Mapping[str, Sequence[Mapping[str, str]]]) -> dict[str, dict[str, list[str]]]:
    """Convert the other way: raw answers of each frame, in order."""
    return {
        video: {NAMES[concept]: [frame.get(concept, "") for frame in frames] for concept in frames[0]}
        for video, frames in videos.items()
        if frames
    }


def read_splits(path: Path) -> tuple[list[str], dict[str, list[str] | None]]:
    """Return (all ids, {removed, removed_balanced}) of splits in the authors' format: {"full": [ids], "debiased":
    [ids], …}.

    EvaluationError: not such an object, a duplicate id, or one that is not in the full set.
    """
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        fail(path, None, "JSON", str(error)[:200], "mend the file")
    if not isinstance(data, dict) or "full" not in data or "debiased" not in data:
        fail(path, None, "record", "lacks full or debiased", 'write {"full": [ids], "debiased": [ids]}')
    ids: dict[str, list[str]] = {}
    for name in ("full", "debiased", "debiased-balanced"):
        split_ids = data.get(name)
        if split_ids is None:
            continue
        if not isinstance(split_ids, list) or not all(
            isinstance(sample_id, str) and sample_id for sample_id in split_ids
        ):
            fail(path, None, name, "is not a list of ids", "write the sample ids as text")
        if len(set(split_ids)) != len(split_ids):
            fail(path, None, name, "names a sample twice", "keep one of them")
        if strangers := sorted(set(split_ids) - set(data["full"])):
            fail(
                path,
                None,
                name,
                f"names '{strangers[0][:80]}', which is not in full",
                "list only samples that are in full",
            )
        ids[name] = split_ids
    if not ids["full"]:
        fail(path, None, "full", "is empty", "name at least one sample")
    gone: dict[str, list[str] | None] = {}
    for key, name in (("removed", "debiased"), ("removed_balanced", "debiased-balanced")):
        stays = set(ids[name]) if name in ids else None
        gone[key] = None if stays is None else [sample_id for sample_id in ids["full"] if sample_id not in stays]
    return ids["full"], gone


def sha256_of(paths: Sequence[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def described_videos_of(descriptions: Descriptions) -> dict[str, dict[str, list[str]]]:
    """Return {video: {concept: [one text per frame]}}: the raw answers, which an import accepts unchanged."""
    rows = frame_texts(descriptions).order_by("video", "place")
    videos: dict[str, list[dict[str, str]]] = {}
    for key, raw in rows.values_list("video__key", "raw").iterator():
        videos.setdefault(key, []).append(raw)
    return written(videos)


def published_descriptions_of(descriptions: Descriptions) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Return {file name: descriptions} in the form of the authors' files: one file per split, texts without numbers.

    The splits are those of the videos; videos without one are in a file without a split's name.
    """
    rows = frame_texts(descriptions).order_by("video", "place")
    files: dict[str, dict[str, list[dict[str, str]]]] = {}
    for split, key, raw in rows.values_list("video__split", "video__key", "raw").iterator():
        name = PUBLISHED_FILE.format(name="_".join(filter(None, (descriptions.project.slug, split))))
        texts = {concept: published_text(concept, text) for concept, text in raw.items() if concept in NAMES}
        files.setdefault(name, {}).setdefault(key, []).append(texts)
    return {name: written(videos) for name, videos in files.items()}


def objects_lines(descriptions: Descriptions) -> Iterator[str]:
    """Yield JSON lines of `foilworks objects`: {"video", "time", "objects", "source"} of each frame that names some."""
    rows = frame_texts(descriptions).filter(raw__has_key=OBJECTS).order_by("video", "place")
    for key, time, raw in rows.values_list("video__key", "time", "raw").iterator():
        names = [name[:100] for name in frame_text(OBJECTS, raw[OBJECTS]).split(", ") if name][:60]
        if names:
            line = {"video": key, "time": time, "objects": names, "source": descriptions.describer[:100]}
            yield json.dumps(line, ensure_ascii=False) + "\n"
