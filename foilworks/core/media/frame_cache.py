"""Frames decoded once and kept, by the video's bytes, its trim, the sampling and the form: every model sees the same.

`lossless` keeps pixels as they were decoded, uncompressed: reading them back costs a copy, where PNG, two thirds as
large, costs a third of decoding the video again. `jpeg` keeps them small for large collections: JPEG of quality 95 at a
short side of 384; what is decoded again goes through the same compression, so that a hit and a miss are equal.
"""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from os import PathLike
from pathlib import Path

import numpy as np
from PIL import Image

from foilworks.core.media.container import open_video
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_cache import FileCache, content_key
from foilworks.core.media.frames import Sample, Size, frames_on_screen, span_of
from foilworks.core.media.picture import display_size
from foilworks.core.media.probe import file_sha256
from foilworks.core.media.sampling import Sampling

LOSSLESS, JPEG = "lossless", "jpeg"
FORMS = (LOSSLESS, JPEG)
# Part of the key: change it with what an entry holds.
FORMAT = "frames/4"
SHORT_SIDE, QUALITY = 384, 95
FORM_VERSIONS = {LOSSLESS: "lossless", JPEG: f"jpeg{QUALITY}@{SHORT_SIDE}"}
# Decoded together with the frames that are read now: bounds the memory of one decoding.
MAX_FRAMES_TOGETHER = 64


@dataclass(frozen=True)
class FramesAsked:
    """The frames of a clip that a model needs, and the form in which a cache stores them."""

    sampling: Sampling
    size: Size | None = None
    form: str = LOSSLESS

    @property
    def stored(self) -> str:
        """Return the form of its entries: a model that asks for a size gets few pixels anyway."""
        return LOSSLESS if self.size is not None else self.form


@dataclass(frozen=True)
class ClipRequest:
    """The frames of one clip: its file and trim, the sampling, and the size if the model asks for one.

    `content`: the SHA-256 of the video's bytes, if it is known.
    """

    path: PathLike[str]
    sampling: Sampling
    start: float | None = None
    end: float | None = None
    size: Size | None = None
    content: str = ""

    def sample(self, size: Size | None, content: str) -> Sample:
        return self.sampling.sample(self.path, self.start, self.end, size, content)


# A request and the form of the cache -> what an entry contains.
Decode = Callable[[ClipRequest, str], bytes]


@dataclass(frozen=True)
class FrameCache:
    """A cache of frames; `files` None: nothing is cached, and frames are the same.

    `elsewhere` decodes what is not cached, such as on another node; its bytes are those of `packed_frames`. None: here.
    `also`: what other models will read of the same clips. A clip that is decoded here is decoded once for all.
    """

    files: FileCache | None = None
    form: str = LOSSLESS
    elsewhere: Decode | None = None
    also: tuple[FramesAsked, ...] = ()

    def read(self, clip: ClipRequest) -> Sample:
        """Return the frames, as `sampling.sample`. MediaError: unusable."""
        if self.files is None:
            return self._decoded(clip)[0]
        key = self.key(clip)
        entry = self.files.get(key)
        if entry is not None:
            sample = unpacked(entry)
            if sample is not None:
                return sample
            self.files.drop(key)
        together = self._read_together(self.files, clip)
        if together is not None:
            return together
        sample, entry = self._decoded(clip)
        self.files.put(key, entry if entry is not None else packed(sample, LOSSLESS))
        return sample

    def key(self, clip: ClipRequest) -> str:
        """Return the key of the entry. MediaError: no file, and its bytes are not known."""
        form = LOSSLESS if clip.size is not None else self.form
        return content_key(
            format=FORMAT,
            video=clip.content or _hash_of(clip.path),
            start=clip.start,
            end=clip.end,
            sampling=clip.sampling.version,
            size=clip.size,
            form=FORM_VERSIONS[form],
        )

    def _read_together(self, files: FileCache, clip: ClipRequest) -> Sample | None:
        """Decode once for this clip and for `also`, and cache all; None if there is nothing to share, or it fails."""
        if self.elsewhere is not None or clip.sampling.is_drawn:
            return None
        first = FramesAsked(clip.sampling, clip.size, self.form)
        others = [asked for asked in self.also if not asked.sampling.is_drawn]
        keys = {self._key_of(asked, clip): asked for asked in (first, *others)}
        wanted = [(key, asked) for key, asked in keys.items() if asked == first or not files.path(key).exists()]
        if len(wanted) < 2:
            return None
        try:
            samples = _decoded_together(Path(clip.path), [asked for _, asked in wanted], clip.start, clip.end)
        except MediaError:
            # Damage after the last frame of `first` concerns only the others.
            return None
        own_sample = samples[0]
        for (key, asked), sample in zip(wanted, samples, strict=False):
            entry = packed(sample, asked.stored)
            files.put(key, entry)
            if asked == first and asked.stored == JPEG:
                own_sample = unpacked(entry) or own_sample
        return own_sample

    def _key_of(self, asked: FramesAsked, clip: ClipRequest) -> str:
        return replace(self, form=asked.form).key(replace(clip, sampling=asked.sampling, size=asked.size))

    def _decoded(self, clip: ClipRequest) -> tuple[Sample, bytes | None]:
        """As `_made`, here or elsewhere."""
        if self.elsewhere is None:
            return self._made(clip)
        entry = self.elsewhere(clip, self.form)
        sample = unpacked(entry)
        assert sample is not None
        return sample, entry

    def _made(self, clip: ClipRequest) -> tuple[Sample, bytes | None]:
        """Return the frames, and their entry if that is what they were read from."""
        # What is drawn is drawn by the bytes of the file, independent of its path.
        content = clip.content or (_hash_of(clip.path) if clip.sampling.is_drawn else "")
        # A model that asks for a size gets few pixels anyway.
        if clip.size is not None or self.form == LOSSLESS:
            return clip.sample(clip.size, content), None
        entry = packed(clip.sample(_small(clip.path), content), JPEG)
        sample = unpacked(entry)
        assert sample is not None
        return sample, entry


def _decoded_together(path: Path, asked: Sequence[FramesAsked], start: float | None, end: float | None) -> list[Sample]:
    """Return the frames of the first request and of those after it that fit into MAX_FRAMES_TOGETHER."""
    span = span_of(path, start, end)
    small = _small(path) if any(one.stored == JPEG for one in asked) else None
    moments = [one.sampling.moments(span) for one in asked]
    totals = accumulate(map(len, moments))
    fit = max(1, sum(total <= MAX_FRAMES_TOGETHER for total in totals))
    sizes = [small if one.stored == JPEG else one.size for one in asked]
    samples = frames_on_screen(path, list(zip(moments, sizes, strict=True))[:fit])
    return [sample._replace(seconds=span.finish - span.begin) for sample in samples]


def packed_frames(clip: ClipRequest, form: str) -> bytes:
    """Decode frames for a cache of this form: what an entry holds. MediaError: unusable."""
    sample, entry = FrameCache(None, form)._made(clip)
    return packed(sample, LOSSLESS) if entry is None else entry


def packed(sample: Sample, form: str) -> bytes:
    """Each distinct frame once, and which of them is where."""
    pictures: list[bytes] = []
    order: list[int] = []
    for at, frame in enumerate(sample.frames):
        if at == 0 or not np.array_equal(frame, sample.frames[at - 1]):
            pictures.append(_picture(frame, form))
        order.append(len(pictures) - 1)
    times = [float(time) for time in sample.times]
    head: dict[str, object] = {"order": order, "times": times, "seconds": sample.seconds}
    head |= {"sizes": [len(one) for one in pictures]}
    if form == LOSSLESS:
        head["shape"] = sample.frames.shape[1:]
    return json.dumps(head).encode() + b"\n" + b"".join(pictures)


def unpacked(data: bytes) -> Sample | None:
    """What `packed` made; None where the bytes are not whole."""
    try:
        begin = data.index(b"\n") + 1
        said = json.loads(data[:begin])
        if sum(said["sizes"]) != len(data) - begin:
            return None
        facts = np.array(said["times"]), said["seconds"]
        if "shape" in said:
            # Taken by their order: a copy, which callers may write to, and the only one.
            pixels = np.frombuffer(data, np.uint8, offset=begin).reshape(-1, *said["shape"])
            return Sample(pixels[said["order"]], *facts)
        ends = np.cumsum([begin, *said["sizes"]]).tolist()
        pictures = [np.asarray(Image.open(io.BytesIO(data[one:end])).convert("RGB")) for one, end in pairwise(ends)]
        return Sample(np.stack([pictures[at] for at in said["order"]]), *facts)
    except (ValueError, KeyError, TypeError, IndexError, OSError):
        return None


def _picture(frame: np.ndarray, form: str) -> bytes:
    if form == LOSSLESS:
        return np.ascontiguousarray(frame).tobytes()
    out = io.BytesIO()
    Image.fromarray(frame).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def _small(path: PathLike[str]) -> tuple[int, int] | None:
    """(height, width) with the short side SHORT_SIDE; None for a video that is no larger."""
    with open_video(Path(path)) as video:
        for _, frame in video.frames():
            width, height = display_size(video, frame)
            short = min(width, height)
            if short <= SHORT_SIDE:
                return None
            return max(1, round(height * SHORT_SIDE / short)), max(1, round(width * SHORT_SIDE / short))
    raise MediaError(f"{path}: contains no frames; copy it again from its source")


def _hash_of(path: PathLike[str]) -> str:
    try:
        place = Path(path)
        found = place.stat()
    except OSError as error:
        raise MediaError(f"{path}: there is no such file; check the name and the folder") from error
    return _hashed(str(place), found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4096)
def _hashed(path: str, changed: int, size: int) -> str:
    try:
        return file_sha256(Path(path))[0]
    except OSError as error:
        raise MediaError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
