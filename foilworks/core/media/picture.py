"""One decoded frame as it is meant to be seen: its way up, its colours, its shape."""

from fractions import Fraction
from typing import NamedTuple, cast

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import Interpolation

from foilworks.core.media.container import OpenVideo
from foilworks.core.media.errors import MediaError

# ITU-T H.273: matrix coefficients, transfer characteristics.
RGB, BT709, UNSPECIFIED, BT601, BT2020 = 0, 1, 2, 6, 9
HDR = {16: "PQ", 18: "HLG"}
FULL_RANGE = 2
# Reserved, unspecified.
UNTAGGED = frozenset({0, UNSPECIFIED, 3})
# Browsers take untagged pictures of this height and more for BT.709, smaller ones for BT.601.
HD_HEIGHT = 720
# By H.273's code; swscale has one table for all names of BT.601 and of BT.2020.
SWSCALE_TABLES = {1: 1, 4: 4, 5: 5, 6: 5, 7: 7, 9: 9, 10: 9}
# Entries of a display matrix are 16.16 fixed point; less than this is a zero that rounding left.
NEARLY_ZERO = 1 << 10


class Orientation(NamedTuple):
    """What turns a stored picture into the one that is shown: rows become columns, then mirrored both ways."""

    transposed: bool = False
    flip_x: bool = False
    flip_y: bool = False

    @property
    def is_mirrored(self) -> bool:
        """Whether no rotation gives it."""
        return (self.transposed + self.flip_x + self.flip_y) % 2 == 1

    def apply(self, picture: np.ndarray) -> np.ndarray:
        """The picture (height, width, channels) as shown."""
        picture = picture.transpose(1, 0, 2) if self.transposed else picture
        return picture[:: -1 if self.flip_y else 1, :: -1 if self.flip_x else 1]


UPRIGHT = Orientation()


def orientation(video: OpenVideo, frame: VideoFrame) -> Orientation:
    """Read the whole display matrix of the frame. MediaError: it turns the picture by no quarter of a circle."""
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return UPRIGHT
    # ISO/IEC 14496-12, 6.2.2: x' = a x + c y, y' = b x + d y, y downwards.
    a, b, _u, c, d, *_rest = np.frombuffer(cast("bytes", matrix), "<i4").tolist()
    if max(abs(b), abs(c)) < NEARLY_ZERO:
        return Orientation(False, a < 0, d < 0)
    if max(abs(a), abs(d)) < NEARLY_ZERO:
        return Orientation(True, c < 0, b < 0)
    raise MediaError(
        f"{video.path}: its display matrix turns the picture by an angle that is not a multiple of 90 degrees;"
        " rotate the picture itself and remove the matrix"
    )


def display_size(video: OpenVideo, frame: VideoFrame) -> tuple[int, int]:
    """(width, height) in pixels as a player shows the frame: pixel shape and display matrix applied."""
    aspect = video.stream.sample_aspect_ratio or Fraction(1)
    width, height = max(1, round(frame.width * aspect)), frame.height
    return (height, width) if orientation(video, frame).transposed else (width, height)


def matrix_of(frame: VideoFrame) -> int:
    """H.273 code of the frame's colour matrix; untagged frames get the one that browsers use, HDR frames BT.2020."""
    if frame.format.is_rgb:
        return RGB
    colour_space = int(frame.colorspace)
    if colour_space in UNTAGGED:
        if hdr_of(frame):
            return BT2020
        return BT709 if frame.height >= HD_HEIGHT else BT601
    return colour_space


def is_tagged(frame: VideoFrame) -> bool:
    """Whether the file says how its colours became red, green and blue."""
    return frame.format.is_rgb or int(frame.colorspace) not in UNTAGGED


def is_full_range(frame: VideoFrame) -> bool:
    """Whether black is 0 and white 255, not 16 and 235."""
    return int(frame.color_range) == FULL_RANGE or "yuvj" in frame.format.name


def colour_tags(frame: VideoFrame, matrix: int) -> tuple[int, int]:
    """H.273 codes of the frame's (primaries, transfer); what is untagged gets that of the matrix."""
    guessed = BT601 if matrix in {5, BT601} else BT709
    primaries, transfer = (
        guessed if tag in UNTAGGED else tag for tag in (int(frame.color_primaries), int(frame.color_trc))
    )
    return primaries, transfer


def hdr_of(frame: VideoFrame) -> str:
    """Return PQ or HLG, which browsers, screens and models each show in other colours; "" for SDR."""
    return HDR.get(int(frame.color_trc), "")


def shown_pixels(video: OpenVideo, frame: VideoFrame, size: tuple[int, int] | None = None) -> np.ndarray:
    """RGB as shown, uint8 (height, width, 3): scaled to `size`, then turned by the display matrix."""
    turn = orientation(video, frame)
    width, height = display_size(video, frame) if size is None else (size[1], size[0])
    if turn.transposed:
        width, height = height, width
    scaled = frame.reformat(
        width=width,
        height=height,
        format="rgb24",
        interpolation=Interpolation.AREA,
        src_colorspace=SWSCALE_TABLES.get(matrix_of(frame)),
    )
    return np.ascontiguousarray(turn.apply(scaled.to_ndarray()))
