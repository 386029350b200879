"""Make the clips of a proposal: reversed, or joined from two trims of one file."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from foilworks.core.corpus.limits import decode
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.ingest import StoredMedia, store_media
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.media.errors import MediaError
from generation.pairs.proposals import REVERSAL, Proposal

# Characters of a clip's key before what a made clip appends.
STEM = 150
REVERSED = "{key}~reversed"
JOINED = "{key}~{name}-{number}"
BACKWARDS = "Played backwards, without sound."
IN_TURN = "Joined from two trims of one video, without sound."


class MadeClip(NamedTuple):
    """A clip to create: its key, its stored file, and how it was made."""

    key: str
    media: StoredMedia
    words: str


def keys_of(proposal: Proposal) -> tuple[str, ...]:
    """Return the keys of the clips that the proposal adds to the project, in order."""
    key = proposal.captions[0].clip[:STEM]
    if proposal.kind == REVERSAL:
        return (REVERSED.format(key=key),)
    return tuple(JOINED.format(key=key, name=proposal.name, number=number) for number in (1, 2))


def make_clips(proposal: Proposal, videos: list[Video]) -> list[MadeClip]:
    """Write and store the clips of a reversal or an order. `videos`: those of the proposal's captions.

    MediaError: a file cannot be decoded. CorpusError: the storage cannot be written.
    """
    from foilworks.core.media.reversal import write_joined, write_reversed

    trims = [(video.start_time, video.end_time) for video in videos]
    path = Path(clip_file(videos[0]))
    if proposal.kind == REVERSAL:
        stored_clips = [_stored(lambda target: decode(write_reversed, path, target, *trims[0]))]
    else:
        stored_clips = [
            _stored(lambda target, order=order: decode(write_joined, path, target, order))
            for order in (trims, trims[::-1])
        ]
    words = BACKWARDS if proposal.kind == REVERSAL else IN_TURN
    return [MadeClip(key, media, words) for key, media in zip(keys_of(proposal), stored_clips, strict=True)]


def _stored(write: Callable[[Path], None]) -> StoredMedia:
    with TemporaryDirectory() as folder:
        target = Path(folder) / "made.mp4"
        write(target)
        media = store_media(target)
    if media.error:
        raise MediaError(media.error)
    return media
