"""Frames decoded once and kept, by the video's bytes, its trim, the sampling and the form: every model sees the same.

`lossless` keeps pixels as they were decoded, uncompressed: reading them back costs a copy, where PNG, two thirds as
large, costs a third of decoding the video again. `jpeg` keeps them small for large collections: JPEG of quality 95 at a
short side of 384; what is decoded again goes through the same compression, so that a hit and a miss are equal.
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from os import PathLike
from pathlib import Path

import numpy as np
from PIL import Image

from media.container import open_video
from media.errors import MediaError
from media.file_cache import FileCache, content_key
from media.frames import Sample
from media.picture import display_size
from media.probe import file_sha256
from media.sampling import Sampling

LOSSLESS, JPEG = "lossless", "jpeg"
FORMS = (LOSSLESS, JPEG)
# Part of the key: change it with what an entry holds.
FORMAT = "frames/3"
SHORT_SIDE, QUALITY = 384, 95
FORM_VERSIONS = {LOSSLESS: "lossless", JPEG: f"jpeg{QUALITY}@{SHORT_SIDE}"}
Decode = Callable[
    [PathLike[str], Sampling, float | None, float | None, tuple[int, int] | None, str, str],
    bytes,
]


@dataclass(frozen=True)
class FrameCache:
    """A cache of frames; `files` None: nothing is cached, and frames are the same.

    `elsewhere` decodes what is not cached, such as on another node; its bytes are those of `packed_frames`. None: here.
    """

    files: FileCache | None = None
    form: str = LOSSLESS
    elsewhere: Decode | None = None

    def read(
        self,
        path: PathLike[str],
        sampling: Sampling,
        start: float | None = None,
        end: float | None = None,
        size: tuple[int, int] | None = None,
        content: str = "",
    ) -> Sample:
        """As `sampling.sample`; `content`: the SHA-256 of the video's bytes where it is known. MediaError: unusable."""
        if self.files is None:
            return self._decoded(path, sampling, start, end, size, content)[0]
        key = self.key(path, sampling, start, end, size, content)
        kept = self.files.get(key)
        if kept is not None:
            found = unpacked(kept)
            if found is not None:
                return found
            self.files.drop(key)
        sample, packed_ = self._decoded(path, sampling, start, end, size, content)
        self.files.put(key, packed_ if packed_ is not None else packed(sample, LOSSLESS))
        return sample

    def key(
        self,
        path: PathLike[str],
        sampling: Sampling,
        start: float | None = None,
        end: float | None = None,
        size: tuple[int, int] | None = None,
        content: str = "",
    ) -> str:
        """What the frames are known by. MediaError: no file, and its bytes are not known."""
        form = LOSSLESS if size is not None else self.form
        return content_key(
            format=FORMAT,
            video=content or _hash_of(path),
            start=start,
            end=end,
            sampling=sampling.version,
            size=size,
            form=FORM_VERSIONS[form],
        )

    def _decoded(
        self,
        path: PathLike[str],
        sampling: Sampling,
        start: float | None,
        end: float | None,
        size: tuple[int, int] | None,
        content: str,
    ) -> tuple[Sample, bytes | None]:
        """As `_made`, here or elsewhere."""
        if self.elsewhere is None:
            return self._made(path, sampling, start, end, size, content)
        kept = self.elsewhere(path, sampling, start, end, size, content, self.form)
        found = unpacked(kept)
        assert found is not None
        return found, kept

    def _made(
        self,
        path: PathLike[str],
        sampling: Sampling,
        start: float | None,
        end: float | None,
        size: tuple[int, int] | None,
        content: str,
    ) -> tuple[Sample, bytes | None]:
        """The frames, and how they are kept where that is what they were read from."""
        # What is drawn is drawn by what the file holds, wherever it lies.
        content = content or (_hash_of(path) if sampling.is_drawn else "")
        # A model that asks for a size gets few pixels anyway.
        if size is not None or self.form == LOSSLESS:
            return sampling.sample(path, start, end, size, content), None
        kept = packed(sampling.sample(path, start, end, _small(path), content), JPEG)
        found = unpacked(kept)
        assert found is not None
        return found, kept


def packed_frames(
    path: PathLike[str],
    sampling: Sampling,
    start: float | None,
    end: float | None,
    size: tuple[int, int] | None,
    content: str,
    form: str,
) -> bytes:
    """Decode frames for a cache of this form: what an entry holds. MediaError: unusable."""
    sample, kept = FrameCache(None, form)._made(path, sampling, start, end, size, content)
    return packed(sample, LOSSLESS) if kept is None else kept


def packed(sample: Sample, form: str) -> bytes:
    """Each distinct frame once, and which of them is where."""
    pictures: list[bytes] = []
    order: list[int] = []
    for at, frame in enumerate(sample.frames):
        if at == 0 or not np.array_equal(frame, sample.frames[at - 1]):
            pictures.append(_picture(frame, form))
        order.append(len(pictures) - 1)
    head: dict[str, object] = {"order": order, "times": [float(time) for time in sample.times]}
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
        times = np.array(said["times"])
        if "shape" in said:
            # Taken by their order: a copy, which callers may write to, and the only one.
            return Sample(np.frombuffer(data, np.uint8, offset=begin).reshape(-1, *said["shape"])[said["order"]], times)
        ends = np.cumsum([begin, *said["sizes"]]).tolist()
        pictures = [np.asarray(Image.open(io.BytesIO(data[one:end])).convert("RGB")) for one, end in pairwise(ends)]
        return Sample(np.stack([pictures[at] for at in said["order"]]), times)
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
