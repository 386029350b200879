"""Read the fields of a clip, in the columns of JSON lines."""

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.records import clip_key
from foilworks.core.corpus.records import MAX_DATASET, MAX_ID, SPLITS, VideoRecord
from foilworks.core.text.quoting import quoted


def clip_of(fields: Fields) -> VideoRecord:
    """Return the clip that the fields name. ProblemError: they name none, or a value is wrong."""
    start, end, unit = fields.trim()
    file, url = fields.media_name("video"), fields.url("url")
    dataset, source = fields.label("source_dataset", MAX_DATASET), fields.label("source_id", MAX_ID)
    key = fields.label("video_key", MAX_ID) or clip_key(dataset, source or file or url, start, end, unit)
    if not (file or url or source or fields.get("video_key")):
        raise ProblemError("video", "is missing", "name the file, or give url, source_id or video_key")
    split = fields.label("split", 10)
    if split not in SPLITS:
        raise ProblemError("split", f"is {quoted(split)}", "give train, val or test")
    return VideoRecord(
        key=key,
        file=file,
        url=url,
        source_dataset=dataset,
        source_id=source,
        start_time=start,
        end_time=end,
        time_unit=unit,
        split=split,
        class_label=fields.label("class_label", MAX_ID),
        category=fields.label("category", MAX_ID),
        movie=fields.label("movie", MAX_ID),
    )


def seconds_of(fields: Fields, name: str) -> float:
    """Return a time from 0 up that a cell holds as text. ProblemError: any other text."""
    text = fields.label(name, MAX_ID)
    try:
        return Fields({name: float(text)}).time(name) or 0.0
    except ValueError as error:
        raise ProblemError(name, f"is {quoted(text)}", "give a number of seconds") from error
