"""Score a typed text and its caption with a model. Only jobs import this module.

A model that sees the clip scores which text fits better: a foil that it prefers to the caption is hard
for it. A text-only model scores how likely both sentences are: the words alone reveal an implausible foil.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.interfaces import Embedder, Frames, ModelInfo, VideoMeta
from foilworks.core.hub.opening import open_adapter
from foilworks.core.media.frames import sample_frames
from foilworks.core.text.errors import ActionableError
from generation.models import Hint

# The kinds of hints (`Hint.kind`).
FITS, READS = "fits", "reads"


def answer(hint: Hint) -> None:
    """Set the hint's values, or its problem if the model or the clip cannot be used. The caller saves it."""
    try:
        adapter = _opened(hint.spec)
        info: ModelInfo = adapter.info
        hint.model_key = f"{info.model_id}@{info.revision}"
        hint.kind, hint.higher_is_better = (FITS if info.needs_video else READS), info.higher_is_better
        hint.of_caption, hint.value = _values(adapter, info, hint)
    except ActionableError as error:
        hint.problem = str(error)[: Hint._meta.get_field("problem").max_length]


def _values(adapter: Any, info: ModelInfo, hint: Hint) -> tuple[float, float]:
    texts = [hint.caption.text, hint.text]
    clip, meta = _clip(hint.caption.video, info) if info.needs_video else (None, None)
    if isinstance(adapter, Embedder):
        scores = adapter.score(adapter.encode_video([clip], [meta]), adapter.encode_text(texts))[0]
        return float(scores[0]), float(scores[1])
    found = adapter.score(clip, texts, "", meta)
    return found[0].value, found[1].value


def _clip(video: Video, info: ModelInfo) -> tuple[Frames, VideoMeta]:
    if not video.file or video.media_state != MediaState.READY:
        raise ActionableError("the video has no file for the model; attach one")
    path, start, end = Path(clip_file(video)), video.start_time, video.end_time
    frames, times = sample_frames(path, info.frames, start, end, info.size)
    return frames, VideoMeta(video.key, tuple(float(time) for time in times), str(path), start, end)


@lru_cache(maxsize=1)
def _opened(spec: str) -> Any:
    return open_adapter(spec)
