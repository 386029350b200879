"""Write the training data of LLM-teacher for trainers outside of Foilworks, as JSON Lines.

A set has a row per caption: the clip, the caption, its negatives and the teacher's cosine of each. Preferences have a
row per caption and negative, for tuning generative models. Only the command line loads this.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.utd.subsets import subset
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.release_records import cluster
from foilworks.core.corpus.video_files.stored_files import clip_file, is_local
from foilworks.core.hub.training.llm_teacher import CAPTION, CLIP, COSINES, NEGATIVES, SPLIT
from foilworks.core.projects.models import Project
from foilworks.core.text.registry import parse_params
from foilworks.site.teacher.asking import CAPTIONS_PER_BATCH, cosines_by_caption, open_teacher
from foilworks.site.teacher.mixtures import Mixture
from foilworks.site.teacher.plan import TEACHING
from foilworks.site.teacher.sources import TrainingTexts, collect, train_videos
from generation.model_paths import with_paths

# What a generative model is asked; the caption is the better answer, the negative the worse one.
PROMPT = "Describe what happens in the video."
SOURCES = ".sources.json"


def export_set(
    project: Project,
    out: Path,
    params: Mapping[str, Any],
    *,
    action_runs: Sequence[int] = (),
    object_runs: Sequence[int] = (),
    splits: Sequence[str] = (),
    videos: Sequence[str] = (),
    preference: bool = False,
    mixture: Mixture | None = None,
) -> dict[str, Any]:
    """Write the rows of the splits into `out`, and what they were made from beside it; return counts by split.

    EvaluationError, HubError: a file that exists, an empty split, a caption without negatives, no such teacher.
    """
    sources_path = out.with_name(out.name + SOURCES)
    for path in (out, sources_path):
        if path.exists():
            raise EvaluationError(f"{path}: exists already; name another file, or remove it")
    full_params = parse_params(TEACHING, params) | {"action_runs": list(action_runs), "object_runs": list(object_runs)}
    full_params |= mixture.params if mixture else {}
    full_params |= with_paths({"model": full_params["teacher"]}, owner=None)
    texts_by_split = {split: _collected(project, full_params, split, videos) for split in dict.fromkeys(splits)}
    wants_cosines = not preference and full_params["lgt"] > 0
    encoder = open_teacher(full_params["model"], full_params["device"]) if wants_cosines else None
    out.parent.mkdir(parents=True, exist_ok=True)
    counts = {}
    with tempfile.NamedTemporaryFile("w", dir=out.parent, prefix=".", encoding="utf-8", delete=False) as file:
        for split, split_texts in texts_by_split.items():
            rows = _preferences(split_texts, split) if preference else _rows(split_texts, split, encoder)
            counts[split] = 0
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                counts[split] += 1
    Path(file.name).replace(out)
    sources = {split: split_texts.provenance for split, split_texts in texts_by_split.items()}
    teacher = f"{encoder.info.model_id}@{encoder.info.revision}" if encoder else ""
    summary = {"rows": counts, "teacher": teacher, "sources": sources}
    sources_path.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return {"file": str(out), **summary}


def _collected(project: Project, params: Mapping[str, Any], split: str, videos: Sequence[str]) -> TrainingTexts:
    return collect(project, {**params, **subset(project, split, videos)}, needs_negatives=True)


def _rows(training_texts: TrainingTexts, split: str, encoder: Any) -> Iterator[dict[str, Any]]:
    clips = _clips(training_texts, split)
    for start in range(0, len(training_texts.captions), CAPTIONS_PER_BATCH):
        batch = training_texts.chunk(start, CAPTIONS_PER_BATCH)
        cosines: list[list[float]] = cosines_by_caption(encoder, batch) if encoder else [[] for _ in batch.captions]
        for caption, video, negatives, values in zip(
            batch.captions, batch.videos, batch.negatives, cosines, strict=True
        ):
            yield {**clips[video], CAPTION: caption, NEGATIVES: negatives, COSINES: values or None}


def _preferences(training_texts: TrainingTexts, split: str) -> Iterator[dict[str, Any]]:
    clips = _clips(training_texts, split)
    for caption, video, negatives in zip(
        training_texts.captions, training_texts.videos, training_texts.negatives, strict=True
    ):
        for text in negatives:
            yield {**clips[video], "prompt": PROMPT, "chosen": caption, "rejected": text}


def _clips(training_texts: TrainingTexts, split: str) -> dict[int, dict[str, Any]]:
    return {pk: _clip(video, split) for pk, video in train_videos(training_texts.videos, split).items()}


def _clip(video: Video, split: str) -> dict[str, Any]:
    """Return the clip: the path of its file on this host, or its name in the object store; its trim in seconds."""
    return {
        CLIP: video.key,
        "file": (str(clip_file(video)) if is_local() else video.file.name) if video.file else "",
        "start": video.start_time,
        "end": video.end_time,
        "sha256": video.sha256,
        "source": cluster(vars(video)),
        SPLIT: split,
    }
