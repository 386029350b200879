"""Measure standard video-to-text retrieval of a release: each clip's caption among the captions of all clips.

Scores of a run are pairs of a clip and the texts of its items, so this needs the vectors of a dual encoder. Only the
numbers of better and equal captions are stored: all pairs of a large release would be millions of rows.
"""

from collections.abc import Callable
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.scoring.clip_keys import clip_key
from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import all_pairs
from evaluation.scoring.models import Run
from evaluation.scoring.shards.pending_pairs import clip_as_frozen
from foilworks.core.corpus.models import ReleaseItem
from foilworks.core.corpus.release_records import cluster
from foilworks.core.hub.interfaces import Embedder


def check_standard(adapter: Any, by_item: bool) -> None:
    """Raise EvaluationError if the model gives no vectors, or its scores depend on the texts of an item."""
    if by_item or not isinstance(adapter, Embedder) or not adapter.info.needs_video:
        raise EvaluationError(
            f"{adapter.info.model_id} gives no vectors of clips and texts, so it cannot rank all captions; score it "
            "without standard retrieval"
        )


def measure(run: Run, adapter: Embedder, on_progress: Callable[[int, int], None], **options: Any) -> dict[str, Any]:
    """Return, for each clip of the public items with a file, its source and the rivals of its caption.

    A clip's caption is that of its first item. `choices`: the number of distinct captions. `options`: of `all_pairs`.
    """
    captions: dict[str, str] = {}
    clips: list[tuple[Clip, str]] = []
    members = ReleaseItem.objects.filter(release=run.release, is_private=False).select_related("video")
    for member in members.order_by("position"):
        record = member.record
        key = clip_key(record["video"])
        clip = None if key in captions else clip_as_frozen(key, member.video, record["video"])
        if clip is not None:
            captions[key] = record["caption"]
            clips.append((clip, cluster(record["video"])))
    gallery = list(dict.fromkeys(captions.values()))
    index_by_text = {text: at for at, text in enumerate(gallery)}
    sources = {clip.key: source for clip, source in clips}
    sign = 1 if adapter.info.higher_is_better else -1
    columns: dict[str, list[Any]] = {"sources": [], "above": [], "tied": []}
    for done, (key, values) in enumerate(all_pairs(adapter, [clip for clip, _ in clips], gallery, **options), 1):
        own = values[index_by_text[captions[key]]]
        columns["sources"].append(sources[key])
        columns["above"].append(int((sign * values > sign * own).sum()))
        columns["tied"].append(int((values == own).sum()) - 1)
        on_progress(done, len(clips))
    return {**columns, "choices": len(gallery), "without_file": len(clips) - len(columns["above"])}
