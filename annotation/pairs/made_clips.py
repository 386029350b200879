"""Make the clips of a proposal: both are decoded and encoded in the same way, without sound."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from foilworks.core.corpus.limits import decode
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.ingest import StoredMedia, store_media
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.media.errors import MediaError
from generation.pairs.proposals import FASTER, ORDER, REPETITION, REVERSAL, SPEED, Proposal

# Characters of a clip's key before what a made clip appends.
STEM = 150
KEY = "{key}~{name}-{number}"
# Keys of made clips, of earlier versions too: nothing is made of these again.
MADE_CLIP = re.compile(rf"~(?:reversed|(?:{'|'.join((REVERSAL, ORDER, SPEED, REPETITION))})-[0-9a-f]+-[12])$")
HOW_MADE = "Encoded again without sound, played {played}."


class MadeClip(NamedTuple):
    """A clip to create: its key, its stored file, and how it was made."""

    key: str
    media: StoredMedia
    words: str


def make_clips(proposal: Proposal, videos: list[Video]) -> list[MadeClip]:
    """Write and store both clips of a proposal. `videos`: those of its captions.

    MediaError: a file cannot be decoded. CorpusError: the storage cannot be written.
    """
    path = Path(clip_file(videos[0]))
    key = proposal.captions[0].clip[:STEM]
    return [
        MadeClip(
            KEY.format(key=key, name=proposal.name, number=number),
            _stored(lambda target, write=write: decode(write, path, target)),
            HOW_MADE.format(played=played),
        )
        for number, (write, played) in enumerate(zip(_writers(proposal, videos), proposal.played, strict=True), 1)
    ]


def _writers(proposal: Proposal, videos: list[Video]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    from foilworks.core.media.reversal import write_joined, write_paced, write_played

    trims = [(video.start_time, video.end_time) for video in videos]
    if proposal.kind == REVERSAL:
        return partial(write_played, trim=trims[0], backwards=False), partial(
            write_played, trim=trims[0], backwards=True
        )
    if proposal.kind == ORDER:
        return partial(write_joined, trims=trims), partial(write_joined, trims=trims[::-1])
    if proposal.kind == REPETITION:
        return partial(write_joined, trims=trims * 2), partial(write_joined, trims=trims * 3)
    # A clip that is sped up shows every second frame, and so does the same clip at its own speed.
    step, ticks = (2, (2, 1)) if proposal.played[1] == FASTER else (1, (1, 2))
    first, second = (partial(write_paced, trim=trims[0], step=step, ticks=n) for n in ticks)
    return first, second


def _stored(write: Callable[[Path], None]) -> StoredMedia:
    with TemporaryDirectory() as folder:
        target = Path(folder) / "made.mp4"
        write(target)
        media = store_media(target)
    if media.error:
        raise MediaError(media.error)
    return media
