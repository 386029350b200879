"""Decode clips in a Ray cluster: a clip is sent as its name, and its frames come back as a cache keeps them."""

import os
from pathlib import Path

from foilworks.core.corpus.video_files.stored_files import StoredFile
from foilworks.core.jobs.ray.decoding import cluster
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frame_cache import ClipRequest, Decode, packed_frames
from foilworks.core.media.sampling import Sampling


def elsewhere() -> Decode | None:
    """Return what decodes a clip in the cluster; None in processes that decode themselves."""
    nodes = cluster()
    if nodes is None:
        return None

    def decoded(clip: ClipRequest, form: str) -> bytes:
        path, size = clip.path, list(clip.size) if clip.size else None
        file = [path.name, path.sha256] if isinstance(path, StoredFile) else [os.fspath(path)]
        how = [clip.sampling.policy, clip.sampling.frames, clip.sampling.seconds]
        reply = nodes.call(decode, file, how, clip.start, clip.end, size, clip.content, form)
        if isinstance(reply, str):
            raise MediaError(reply)
        return bytes(reply)

    return decoded


def decode(
    file: list[str],
    how: tuple[str, int, float],
    start: float | None,
    end: float | None,
    size: list[int] | None,
    content: str,
    form: str,
) -> bytes | str:
    """Return the frames as bytes, or as text why there are none."""
    path = Path(file[0]) if len(file) == 1 else StoredFile(*file)
    clip = ClipRequest(path, Sampling(*how), start, end, (size[0], size[1]) if size else None, content)
    try:
        return packed_frames(clip, form)
    except MediaError as error:
        return str(error)
