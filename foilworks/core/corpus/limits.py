"""The settings' limits on what an import decodes."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.conf import settings

from foilworks.core.corpus.import_formats.parsing.column_profiles import names_in
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.table_sample import sample_of
from foilworks.core.media.child import ChildLimits, LimitError, run
from foilworks.core.media.errors import MediaError
from foilworks.core.media.limits import VideoLimits, call_within
from foilworks.core.text.registry import Entry, load, parse_params

Given = ParamSpec("Given")
Found = TypeVar("Found")


def child_limits() -> ChildLimits:
    """Memory and time of one decoding."""
    return ChildLimits(settings.MAX_DECODE_MEMORY_MB * 1024**2, settings.MAX_DECODE_SECONDS)


# A film of which clips are cut may be so many times as long as a clip.
FILM = 10


def video_limits(*, is_film: bool = False) -> VideoLimits:
    """Size and length of one video; `is_film`: clips are cut out of it, whose length `trim_problem` checks."""
    longer = FILM if is_film else 1
    return VideoLimits(
        pixels=settings.MAX_VIDEO_PIXELS,
        frames=settings.MAX_VIDEO_FRAMES * longer,
        seconds=settings.MAX_VIDEO_SECONDS * longer,
        streams=settings.MAX_VIDEO_STREAMS,
    )


def trim_problem(seconds: float, frames: int) -> str:
    """Return what of the limits a clip exceeds, and the setting that raises it; "" if it exceeds none."""
    limits = video_limits()
    if limits.seconds and seconds > limits.seconds:
        return f"the clip has {seconds:.0f} seconds, more than the setting MAX_VIDEO_SECONDS; end it earlier"
    if limits.frames and frames > limits.frames:
        return f"the clip has {frames} frames, more than the setting MAX_VIDEO_FRAMES; end it earlier"
    return ""


def table_limits() -> TableLimits:
    """Size of a decoded table, and memory and time of its decoding."""
    return TableLimits(settings.MAX_TABLE_MB * 1024**2, child_limits())


def table_sample(path: Path, video_names: Collection[str] = ()) -> dict[str, Any]:
    """Return the first rows of a table, small enough to store, and those of the clips' names that they contain.

    CorpusError: the file cannot be read.
    """
    sample = sample_of(path, table_limits())
    return {**sample, "video_names": names_in(sample["rows"], video_names)}


def read_file(entry: Entry, path: Path, params: Mapping[str, Any], video_names: Collection[str] = ()) -> Iterator[Any]:
    """Yield what an importer reads from a file, under the limits of the settings if it takes any.

    `video_names`: names of the clips' files, which show which column names the clip.
    """
    module, parameters = load(entry), parse_params(entry, params)
    limits = table_limits()
    takes_limits = getattr(module, "TAKES_LIMITS", False)
    if takes_limits:
        parameters = {**parameters, "limits": limits, "video_names": video_names}
    yield from module.read(path, params=parameters)


def decode(
    function: Callable[Concatenate[Path, Given], Found],
    path: Path,
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Found:
    """Return `decode_within` of the limits of a whole video."""
    return decode_within(video_limits(), function, path, *args, **kwargs)


def decode_within(
    limits: VideoLimits,
    function: Callable[Concatenate[Path, Given], Found],
    path: Path,
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Found:
    """Return `function(path, …)` of `media`, computed in a child process under the limits.

    MediaError: as `function`, or the file exceeds a limit. OSError: as `function`.
    """
    try:
        return run(child_limits(), call_within, limits, function, path, *args, **kwargs)
    except LimitError as error:
        raise MediaError(f"{path}: {error}") from error
